/* test_task_listops.c: generated labels are right, the rules are those of the published data, and its labels agree. */
#include "listops.h"
#include "task_case.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(list) (sizeof(list) / sizeof(list)[0])

static struct tap_error error;

/* What there is of a tree beside its value. */
struct shape {
    int levels, n_tokens, n_lists, n_members[6], n_operations[4], n_digits[10];
};

static int compare_values(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* A second evaluator, from the definition: reads one tree at *at, which goes behind it. */
static int read_tree(const char **at, int level, struct shape *shape)
{
    static const char *const names[] = {"[MIN ", "[MAX ", "[MED ", "[SM "};
    int values[64];
    size_t n = 0;
    int operation = 0;
    int sum = 0;
    shape->levels = level > shape->levels ? level : shape->levels;
    shape->n_tokens++;
    if (**at != '[') {
        cr_assert(**at >= '0' && **at <= '9', "%s", *at);
        int value = *(*at)++ - '0';
        shape->n_digits[value]++;
        *at += **at == ' ';
        return value;
    }
    while (strncmp(*at, names[operation], strlen(names[operation])) != 0)
        cr_assert_lt(++operation, 4);
    *at += strlen(names[operation]);
    while (**at != ']') {
        values[n] = read_tree(at, level + 1, shape);
        sum += values[n++];
        cr_assert_leq(n, 5);
    }
    (*at)++;
    *at += **at == ' ';
    shape->n_tokens++;
    shape->n_lists++;
    shape->n_members[n]++;
    shape->n_operations[operation]++;
    qsort(values, n, sizeof *values, compare_values);
    const int results[] = {values[0], values[n - 1],
                           n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2, sum % 10};
    return results[operation];
}

Test(task_listops, labels_are_the_values_of_the_trees)
{
    const struct tap_task_options cases[] = {{.rows = 5000},
                                             {.rows = 5000, .length = 20, .depth = 3},
                                             {.rows = 410, .length = 4},
                                             {.rows = 2000, .depth = 2},
                                             {.rows = 3000, .length = 4096, .depth = 128}};
    const int lengths[] = {100, 20, 4, 100, 4096};
    const int depths[] = {20, 3, 20, 2, 128};
    for (size_t i = 0; i < N(cases); i++) {
        struct tap_rows *rows = task_case_rows("listops", &cases[i], 1, 1);
        int most_tokens = 0;
        for (uint32_t row = 0; row < rows->n; row++) {
            struct shape shape = {0};
            const char *text = task_case_text(rows, row);
            const char *at = text;
            char value[] = {(char)('0' + read_tree(&at, 1, &shape)), '\0'};
            cr_assert_eq(*at, '\0', "%s", text);
            cr_assert_str_eq(tap_rows_label(rows, row), value, "%s", text);
            cr_assert_leq(shape.n_tokens, lengths[i]);
            cr_assert_leq(shape.levels, depths[i]);
            most_tokens = shape.n_tokens > most_tokens ? shape.n_tokens : most_tokens;
        }
        cr_expect(most_tokens == lengths[i] || i >= 3);
        task_case_expect_distinct(rows);
        tap_rows_free(rows);
    }
}

Test(task_listops, choices_are_as_frequent_as_the_rules_say)
{
    struct tap_task_options options = {.rows = 20000, .length = 4096};
    struct tap_rows *rows = task_case_rows("listops", &options, 3, 1);
    struct shape all = {0};
    uint32_t n_by_label[10] = {0};
    int n_short = 0;
    for (uint32_t row = 0; row < rows->n; row++) {
        struct shape shape = {0};
        const char *at = task_case_text(rows, row);
        n_by_label[read_tree(&at, 1, &shape)]++;
        n_short += shape.n_tokens <= 16;
        all.n_tokens += shape.n_tokens;
        all.n_lists += shape.n_lists;
        for (int i = 0; i < 4; i++)
            all.n_operations[i] += shape.n_operations[i];
        for (int i = 2; i <= 5; i++)
            all.n_members[i] += shape.n_members[i];
        for (int i = 0; i < 10; i++)
            all.n_digits[i] += shape.n_digits[i];
    }
    int n_digits = all.n_tokens - 2 * all.n_lists;
    for (int i = 0; i < 4; i++)
        cr_expect_float_eq(all.n_operations[i] / (double)all.n_lists, 0.25, 0.01);
    for (int i = 0; i < 10; i++)
        cr_expect_float_eq(all.n_digits[i] / (double)n_digits, 0.1, 0.005);
    for (int i = 2; i <= 5; i++) /* short lists come twice more often, and then count once */
        cr_expect_float_eq(all.n_members[i] / (double)all.n_lists, 0.25, 0.02);
    /* of all trees below the first level one in four is a list, give or take what the last level takes off */
    cr_expect_float_eq((all.n_lists - 20000) / (double)(n_digits + all.n_lists - 20000), 0.25, 0.01);
    /* the published file: mean 42.8, median 16 */
    cr_expect_float_eq(all.n_tokens / 20000.0, 42.8, 3);
    cr_expect(n_short > 9300 && n_short < 11300, "%d", n_short);
    for (int i = 0; i < 10; i++)
        cr_expect(n_by_label[i] > 1600 && n_by_label[i] < 2600, "%u of label %d", n_by_label[i], i);
    tap_rows_free(rows);
}

static int value_of(const char *text)
{
    int value = -1;
    tap_error_clear(&error);
    cr_assert_eq(tap_listops_value(text, strlen(text), &value, &error), TAP_OK, "%s: %s", text, error.message);
    return value;
}

Test(task_listops, the_evaluator_follows_the_definitions)
{
    cr_expect_eq(value_of("7"), 7);
    cr_expect_eq(value_of("( 0 )"), 0);
    cr_expect_eq(value_of("[MIN 4 2 9 ]"), 2);
    cr_expect_eq(value_of("[MAX 4 2 9 3 ]"), 9);
    cr_expect_eq(value_of("[SM 9 9 9 ]"), 7);
    cr_expect_eq(value_of("[SM 5 5 ]"), 0);
    cr_expect_eq(value_of("[MED 9 1 4 ]"), 4);
    cr_expect_eq(value_of("[MED 6 8 ]"), 7);
    cr_expect_eq(value_of("[MED 8 1 ]"), 4); /* 4.5, cut down */
    cr_expect_eq(value_of("[MED 0 1 9 9 ]"), 5);
    cr_expect_eq(value_of("[MED 3 3 3 9 9 ]"), 3);
    cr_expect_eq(value_of("[MED 5 ]"), 5);
    cr_expect_eq(value_of("[MAX 2 [MIN 8 3 ] 0 ]"), 3);
    cr_expect_eq(value_of(" ( ( ( [MED 6 ) 8 ) ] ) "), 7);
}

Test(task_listops, what_is_no_tree_is_refused)
{
    const char *const texts[] = {"",   " ",   "( )",       "[MIN",       "[MIN 1",    "[MIN 1 ] ]",
                                 "]",  "1 2", "[MIN ]",    "[MIN 1 ] 2", "[min 1 ]",  "[AVG 1 ]",
                                 "12", "a",   "[MIN 1 2]", "-",          "[ MIN 1 ]", "[MAX 1 ] [MAX 1 ]"};
    for (size_t i = 0; i < N(texts); i++) {
        int value = 77;
        tap_error_clear(&error);
        cr_expect_eq(tap_listops_value(texts[i], strlen(texts[i]), &value, &error), TAP_ERR_FORMAT, "'%s'", texts[i]);
        cr_expect_eq(value, 77);
        cr_expect_eq(strncmp(error.message, "listops: ", 9), 0, "%s", error.message);
    }
    for (size_t depth = 127; depth <= 130; depth++) {
        char text[130 * 8] = "";
        int value = 77;
        for (size_t i = 0; i < depth; i++)
            strcat(text, "[MIN ");
        strcat(text, "3");
        for (size_t i = 0; i < depth; i++)
            strcat(text, " ]");
        tap_error_clear(&error);
        cr_expect_eq(tap_listops_value(text, strlen(text), &value, &error), depth <= 128 ? TAP_OK : TAP_ERR_FORMAT);
        cr_expect_eq(value, depth <= 128 ? 3 : 77);
    }
}

/* The published test file, or NULL, said so, where it is not at hand. */
static FILE *open_published(void)
{
    const char *data = getenv("TAPESTRY_DATA");
    char path[512];
    snprintf(path, sizeof path, "%s/listops/test_d20s.tsv", data != NULL ? data : "../shared/data");
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        cr_skip_test("no published ListOps data at %s", path);
    return file;
}

Test(task_listops, all_published_labels_agree)
{
    FILE *file = open_published();
    char *line = NULL;
    size_t capacity = 0;
    int n_rows = 0;
    for (ssize_t n; (n = getline(&line, &capacity, file)) > 0; n_rows++) {
        int value = -1;
        cr_assert(n > 3 && line[1] == '\t' && line[n - 1] == '\n');
        tap_error_clear(&error);
        cr_assert_eq(tap_listops_value(line + 2, (size_t)n - 3, &value, &error), TAP_OK, "row %d: %s", n_rows + 1,
                     error.message);
        cr_assert_eq(value, line[0] - '0', "row %d", n_rows + 1);
    }
    cr_expect_eq(n_rows, 10000);
    free(line);
    fclose(file);
}

/* Small trees are so few that both have them; of the larger ones none is in both. */
Test(task_listops, no_large_tree_is_among_the_published_ones)
{
    FILE *file = open_published();
    struct tap_string_table published = {0};
    char *line = NULL;
    size_t capacity = 0;
    uint32_t number;
    for (ssize_t n; (n = getline(&line, &capacity, file)) > 0;) {
        size_t n_kept = 0;
        char *blank = NULL;
        for (char *token = strtok_r(line + 2, " \n", &blank); token != NULL; token = strtok_r(NULL, " \n", &blank)) {
            if (token[0] == '(' || token[0] == ')')
                continue;
            size_t n_bytes = strlen(token);
            memmove(line + n_kept, token, n_bytes);
            n_kept += n_bytes;
            line[n_kept++] = ' ';
        }
        cr_assert(tap_string_table_add(&published, line, n_kept - 1, &number));
    }
    cr_assert_eq(published.n, 10000);
    struct tap_task_options options = {.rows = 20000};
    struct tap_rows *rows = task_case_rows("listops", &options, 1, 1);
    uint32_t n_common = 0;
    for (uint32_t row = 0; row < rows->n; row++) {
        const char *text = task_case_text(rows, row);
        if (!tap_string_table_find(&published, text, strlen(text), &number))
            continue;
        struct shape shape = {0};
        const char *at = text;
        read_tree(&at, 1, &shape);
        cr_expect_leq(shape.n_tokens, 7, "%s", text);
        n_common++;
    }
    cr_expect_lt(n_common, rows->n / 10);
    tap_rows_free(rows);
    tap_string_table_clear(&published);
    free(line);
    fclose(file);
}

Test(task_listops, the_seed_decides_and_parts_have_every_label)
{
    struct tap_task_options options = {.rows = 2000};
    task_case_expect_seeded("listops", &options);
    struct tap_data *data = task_case_data("listops", &options);
    cr_assert_eq(data->n_labels, 10);
    for (int part = 0; part < TAP_N_PARTS; part++)
        for (size_t label = 0; label < 10; label++) {
            double share = (double)data->parts[part].label_counts[label] / data->parts[part].n_rows;
            cr_expect(share > 0.06 && share < 0.15, "%g of label %zu in part %d", share, label, part);
        }
    tap_data_free(data);
}

/* data.max_length has to be one third above task.length. */
Test(task_listops, word_tokens_are_up_to_a_third_more)
{
    struct tap_task_options options = {.rows = 3000, .length = 90};
    struct tap_data *data = task_case_data("listops", &options);
    uint32_t longest = 0;
    for (uint32_t row = 0; row < data->parts[TAP_PART_TRAIN].n_rows; row++) {
        uint32_t n =
            (uint32_t)(data->parts[TAP_PART_TRAIN].offsets[row + 1] - data->parts[TAP_PART_TRAIN].offsets[row]);
        longest = n > longest ? n : longest;
    }
    cr_expect(longest > 100 && longest <= 120, "%u", longest);
    tap_data_free(data);
}

Test(task_listops, zero_is_the_tasks_own_size)
{
    struct tap_task_options zero = {.rows = 300};
    struct tap_task_options own = {.rows = 300, .length = 100, .depth = 20};
    struct tap_rows *a = task_case_rows("listops", &zero, 1, 1);
    struct tap_rows *b = task_case_rows("listops", &own, 1, 1);
    cr_assert_eq(a->n_pool_bytes, b->n_pool_bytes);
    cr_expect_arr_eq(a->pool, b->pool, a->n_pool_bytes);
    tap_rows_free(a);
    tap_rows_free(b);
}

Test(task_listops, bad_sizes_are_refused_by_key)
{
    struct tap_task_options options = {.rows = 100};
    const int bad_lengths[] = {-1, 3, 4097, 2147483647};
    const int good_lengths[] = {0, 4, 4096};
    const int bad_depths[] = {-1, 1, 129};
    const int good_depths[] = {0, 2, 128};
    const int bad_rows[] = {-1, 0, 9, 1000001};
    const int good_rows[] = {10, 11};
    task_case_expect_refused("listops", &options, &options.length, bad_lengths, N(bad_lengths), "task.length: ");
    task_case_expect_refused("listops", &options, &options.depth, bad_depths, N(bad_depths), "task.depth: ");
    task_case_expect_refused("listops", &options, &options.rows, bad_rows, N(bad_rows), "task.rows: ");
    task_case_expect_accepted("listops", &options, &options.length, good_lengths, N(good_lengths));
    task_case_expect_accepted("listops", &options, &options.depth, good_depths, N(good_depths));
    task_case_expect_accepted("listops", &options, &options.rows, good_rows, N(good_rows));
    /* ten digits, and two of them under each operation */
    options.length = 4;
    const int too_many[] = {411};
    task_case_expect_refused("listops", &options, &options.rows, too_many, N(too_many), "task.rows: ");
}

Test(task_listops, memory_may_run_out_anywhere)
{
    struct tap_task_options options = {.rows = 100};
    task_case_expect_memory_errors("listops", &options);
}
