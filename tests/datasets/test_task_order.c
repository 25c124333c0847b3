/* test_task_order.c: the task can be solved by the order of words and by nothing else. */
#include "data.h"
#include "data_fixture.h"
#include "tasks.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_rows = 4000 };

static struct tap_error error;

static struct tap_rows *make(const char *language, int rows, uint64_t seed)
{
    struct tap_task_options options = {.rows = rows, .language = language};
    struct tap_rows *made = tap_rows_new();
    uint32_t group_size = 0;
    cr_assert_eq(tap_task_make("order", &options, seed, made, &group_size, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(group_size, 2);
    return made;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Counts labels by bag of words (sorted token numbers), over one part of encoded data. */
static void expect_uninformative_bags(const struct tap_dataset *dataset)
{
    struct tap_string_table bags = {0};
    static int balance[n_rows]; /* +1 for label 0, -1 for label 1 */
    memset(balance, 0, sizeof balance);
    for (uint32_t row = 0; row < dataset->n_rows; row++) {
        size_t begin = dataset->offsets[row];
        size_t n = dataset->offsets[row + 1] - begin;
        uint32_t ids[256];
        uint32_t bag;
        cr_assert_leq(n, 256);
        memcpy(ids, dataset->tokens + begin, n * sizeof *ids);
        qsort(ids, n, sizeof *ids, compare_ids);
        cr_assert(tap_string_table_add(&bags, (const char *)ids, n * sizeof *ids, &bag));
        balance[bag] += dataset->labels[row] == 0 ? 1 : -1;
    }
    for (uint32_t bag = 0; bag < bags.n; bag++)
        cr_assert_eq(balance[bag], 0, "bag %u", bag);
    cr_expect_gt(bags.n, dataset->n_rows / 4, "many different bags");
    tap_string_table_clear(&bags);
}

static struct tap_data *open_task(const char *language, const char *tokenizer)
{
    struct tap_data_options options = fixture_data_options();
    options.task = "order";
    options.task_options = (struct tap_task_options){.rows = n_rows, .language = language};
    options.tokenizer = tokenizer;
    options.test_fraction = 0.1;
    struct tap_data *data = tap_data_open(&options, NULL, NULL, 0, &error);
    cr_assert_not_null(data, "%s", error.message);
    return data;
}

Test(task_order, no_bag_of_words_says_anything_of_the_label)
{
    const char *languages[] = {"english", "chinese", "both"};
    const char *tokenizers[] = {"word", "char", "byte"};
    for (int i = 0; i < 9; i++) {
        struct tap_data *data = open_task(languages[i % 3], tokenizers[i / 3]);
        const uint32_t expected[] = {n_rows * 8 / 10, n_rows / 10, n_rows / 10};
        for (int part = 0; part < TAP_N_PARTS; part++) {
            cr_assert_eq(data->parts[part].n_rows, expected[part]);
            cr_assert_eq(data->parts[part].label_counts[0], expected[part] / 2);
            expect_uninformative_bags(&data->parts[part]);
        }
        tap_data_free(data);
    }
}

Test(task_order, sentences_are_distinct_and_in_one_part)
{
    const char *languages[] = {"english", "chinese", "both"};
    for (int i = 0; i < 3; i++) {
        struct tap_rows *rows = make(languages[i], n_rows, 1);
        struct tap_string_table texts = {0};
        cr_assert_eq(rows->n, n_rows);
        for (uint32_t row = 0; row < rows->n; row++) {
            size_t n_bytes;
            uint32_t number;
            const char *text = tap_rows_text(rows, row, &n_bytes);
            cr_assert(tap_string_table_add(&texts, text, n_bytes, &number));
            cr_assert_eq(number, row, "'%.*s' comes twice", (int)n_bytes, text);
            cr_assert_str_eq(tap_rows_label(rows, row), row % 2 == 0 ? "hunter" : "prey");
        }
        tap_string_table_clear(&texts);
        tap_rows_free(rows);
    }
    /* distinct rows, each in one part: no sentence is in two; and a twin is on the next line */
    struct tap_data *data = open_task("both", "word");
    static int part_of_line[n_rows + 1];
    for (int part = 0; part < TAP_N_PARTS; part++)
        for (uint32_t row = 0; row < data->parts[part].n_rows; row++)
            part_of_line[data->parts[part].lines[row]] = part + 1;
    for (int line = 1; line <= n_rows; line += 2) {
        cr_assert_neq(part_of_line[line], 0);
        cr_assert_eq(part_of_line[line], part_of_line[line + 1]);
    }
    tap_data_free(data);
}

static bool has_text(const struct tap_rows *rows, const char *wanted)
{
    for (uint32_t row = 0; row < rows->n; row++) {
        size_t n_bytes;
        const char *text = tap_rows_text(rows, row, &n_bytes);
        if (memmem(text, n_bytes, wanted, strlen(wanted)) != NULL)
            return true;
    }
    return false;
}

Test(task_order, every_animal_chases_and_is_chased)
{
    static const char *const hunters[] = {" cat ",  " dog ",  " fox ",   " wolf ", " tiger ",
                                          " lion ", " hawk ", " snake ", " bear ", " leopard "};
    struct tap_rows *rows = make("english", n_rows, 1);
    uint32_t n_wrong = 0;
    /* the label follows from which kind of animal is named first, in every row */
    for (uint32_t row = 0; row < rows->n; row++) {
        char text[256];
        size_t n_bytes;
        const char *bytes = tap_rows_text(rows, row, &n_bytes);
        snprintf(text, sizeof text, " %.*s ", (int)n_bytes, bytes);
        const char *hunter = NULL;
        for (size_t i = 0; i < sizeof hunters / sizeof hunters[0] && hunter == NULL; i++)
            hunter = strstr(text, hunters[i]);
        cr_assert_not_null(hunter);
        const char *verb = NULL;
        static const char *const verbs[] = {" chases ",  " follows ", " hunts ",   " catches ",
                                            " watches ", " bites ",   " attacks ", " frightens "};
        for (size_t i = 0; i < sizeof verbs / sizeof verbs[0] && verb == NULL; i++)
            verb = strstr(text, verbs[i]);
        cr_assert_not_null(verb);
        n_wrong += (hunter < verb) != (strcmp(tap_rows_label(rows, row), "hunter") == 0);
    }
    cr_expect_eq(n_wrong, 0);
    tap_rows_free(rows);
}

Test(task_order, languages_are_what_was_asked)
{
    struct tap_rows *english = make("english", 1000, 1);
    struct tap_rows *chinese = make("chinese", 1000, 1);
    struct tap_rows *both = make("both", 1000, 1);
    cr_expect(has_text(english, "chases"));
    cr_expect_not(has_text(english, "\xE8\xBF\xBD"));
    cr_expect(has_text(chinese, "\xE8\xBF\xBD"));
    cr_expect_not(has_text(chinese, "chases"));
    cr_expect_not(has_text(chinese, " "));
    cr_expect(has_text(both, "chases"));
    cr_expect(has_text(both, "\xE8\xBF\xBD"));
    tap_rows_free(english);
    tap_rows_free(chinese);
    tap_rows_free(both);
}

Test(task_order, the_seed_decides)
{
    struct tap_rows *first = make("both", 500, 0);
    struct tap_rows *again = make("both", 500, 0);
    struct tap_rows *other = make("both", 500, 1);
    cr_assert_eq(first->n_pool_bytes, again->n_pool_bytes);
    cr_expect_arr_eq(first->pool, again->pool, first->n_pool_bytes);
    cr_expect(first->n_pool_bytes != other->n_pool_bytes || memcmp(first->pool, other->pool, first->n_pool_bytes) != 0);
    tap_rows_free(first);
    tap_rows_free(again);
    tap_rows_free(other);
}

Test(task_order, bad_options_are_refused_by_key)
{
    const int bad_rows[] = {-2, 0, 2, 5, 1000002};
    struct tap_rows *rows = tap_rows_new();
    uint32_t group_size;
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
        struct tap_task_options options = {.rows = bad_rows[i], .language = "english"};
        tap_error_clear(&error);
        cr_expect_eq(tap_task_make("order", &options, 1, rows, &group_size, &error), TAP_ERR_VALUE);
        cr_expect_not_null(strstr(error.message, "task.rows: "), "%s", error.message);
    }
    struct tap_task_options options = {.rows = 100, .language = "French"};
    tap_error_clear(&error);
    cr_expect_eq(tap_task_make("order", &options, 1, rows, &group_size, &error), TAP_ERR_VALUE);
    cr_expect_str_eq(error.message, "task.language: 'French'; accepted: english, chinese, both");
    cr_expect_eq(rows->n, 0);
    tap_rows_free(rows);
}
