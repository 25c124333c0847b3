/* test_task_brackets.c: balanced texts are Dyck words, and each broken one is such a word with two brackets swapped. */
#include "task_case.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define N(list) (sizeof(list) / sizeof(list)[0])

/* Takes out neighbours that match until there are none: nothing is left of a Dyck word. */
static bool is_reducible_to_nothing(const char *text)
{
    char left[4097];
    size_t n = strlen(text);
    memcpy(left, text, n + 1);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i + 1 < n && !has_changed; i++) {
            char pair[] = {left[i], left[i + 1], '\0'};
            if (strstr("() [] {} <>", pair) == NULL || pair[0] == ' ' || pair[1] == ' ')
                continue;
            memmove(left + i, left + i + 2, n - i - 1);
            n -= 2;
            has_changed = true;
        }
    }
    return n == 0;
}

static int depth_of(const char *text)
{
    int depth = 0;
    int deepest = 0;
    for (; *text != '\0'; text++) {
        depth += strchr("([{<", *text) != NULL ? 1 : -1;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

static size_t n_differences(const char *a, const char *b)
{
    size_t n = 0;
    for (size_t i = 0; a[i] != '\0'; i++)
        n += a[i] != b[i];
    return n;
}

Test(task_brackets, twins_are_a_dyck_word_and_the_same_with_two_brackets_swapped)
{
    const struct tap_task_options cases[] = {
        {.rows = 4, .length = 2, .depth = 1, .kinds = 2},     {.rows = 2000, .length = 24, .depth = 4, .kinds = 2},
        {.rows = 2000, .length = 17, .depth = 2, .kinds = 4}, {.rows = 400, .length = 40, .depth = 64, .kinds = 1},
        {.rows = 600, .length = 100, .depth = 1, .kinds = 3}, {.rows = 4, .length = 600, .depth = 20, .kinds = 3},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const struct tap_task_options *options = &cases[i];
        struct tap_rows *rows = task_case_rows("brackets", options, 1, 2);
        int deepest = 0;
        for (uint32_t row = 0; row < rows->n; row += 2) {
            char *word = strdup(task_case_text(rows, row));
            const char *broken = task_case_text(rows, row + 1);
            size_t n = strlen(word);
            cr_assert_str_eq(tap_rows_label(rows, row), "balanced");
            cr_assert_str_eq(tap_rows_label(rows, row + 1), "broken");
            cr_assert(is_reducible_to_nothing(word), "%s", word);
            cr_assert_not(is_reducible_to_nothing(broken), "%s", broken);
            cr_assert(2 * n + 3 >= (size_t)options->length && n <= (size_t)options->length && n % 2 == 0);
            cr_assert_eq(strlen(broken), n);
            cr_assert_eq(strspn(word, "()[]{}<>"), n);
            cr_assert_eq(strcspn(word, &"([{<"[options->kinds]), n);
            cr_assert_eq(n_differences(word, broken), 2);
            for (const char *bracket = "()[]{}<>"; *bracket != '\0'; bracket++) {
                int balance = 0;
                for (size_t j = 0; j < n; j++)
                    balance += (word[j] == *bracket) - (broken[j] == *bracket);
                cr_assert_eq(balance, 0, "%s %s", word, broken);
            }
            int depth = depth_of(word);
            deepest = depth > deepest ? depth : deepest;
            free(word);
        }
        cr_expect_leq(deepest, options->depth);
        cr_expect(deepest == options->depth || options->depth > 10);
        task_case_expect_distinct(rows);
        tap_rows_free(rows);
    }
}

Test(task_brackets, labels_are_balanced_and_the_seed_decides)
{
    struct tap_task_options options = {.rows = 2000};
    task_case_expect_balance("brackets", &options, 2, 0);
    task_case_expect_seeded("brackets", &options);
}

Test(task_brackets, twins_are_in_the_same_part)
{
    struct tap_task_options options = {.rows = 1000};
    struct tap_data *data = task_case_data("brackets", &options);
    int part_of_line[1001] = {0};
    for (int part = 0; part < TAP_N_PARTS; part++)
        for (uint32_t row = 0; row < data->parts[part].n_rows; row++)
            part_of_line[data->parts[part].lines[row]] = part + 1;
    for (int line = 1; line <= 1000; line += 2) {
        cr_assert_neq(part_of_line[line], 0);
        cr_assert_eq(part_of_line[line], part_of_line[line + 1]);
    }
    tap_data_free(data);
}

Test(task_brackets, every_bracket_is_a_token)
{
    struct tap_task_options options = {.rows = 400, .kinds = 4};
    struct tap_rows *rows = task_case_rows("brackets", &options, 1, 2);
    struct tap_data *data = task_case_data("brackets", &options);
    size_t n_bytes = 0;
    size_t n_tokens = 0;
    for (int part = 0; part < TAP_N_PARTS; part++)
        n_tokens += data->parts[part].offsets[data->parts[part].n_rows];
    for (uint32_t row = 0; row < rows->n; row++)
        n_bytes += strlen(task_case_text(rows, row));
    cr_expect_eq(n_tokens, n_bytes);
    tap_data_free(data);
    tap_rows_free(rows);
}

Test(task_brackets, zero_is_the_tasks_own_size)
{
    struct tap_task_options zero = {.rows = 100};
    struct tap_task_options own = {.rows = 100, .length = 24, .depth = 4, .kinds = 2};
    struct tap_rows *a = task_case_rows("brackets", &zero, 1, 2);
    struct tap_rows *b = task_case_rows("brackets", &own, 1, 2);
    cr_assert_eq(a->n_pool_bytes, b->n_pool_bytes);
    cr_expect_arr_eq(a->pool, b->pool, a->n_pool_bytes);
    tap_rows_free(a);
    tap_rows_free(b);
}

Test(task_brackets, bad_sizes_are_refused_by_key)
{
    struct tap_task_options options = {.rows = 4};
    const int bad_lengths[] = {-1, 1, 4097, 2147483647};
    const int good_lengths[] = {0, 4, 5, 4096};
    const int bad_depths[] = {-1, 65};
    const int good_depths[] = {0, 1, 64};
    const int bad_kinds[] = {-1, 5};
    const int good_kinds[] = {0, 1, 4};
    const int bad_rows[] = {-2, 0, 2, 5, 1000002};
    const int good_rows[] = {4, 6};
    task_case_expect_refused("brackets", &options, &options.length, bad_lengths, N(bad_lengths), "task.length: ");
    task_case_expect_refused("brackets", &options, &options.depth, bad_depths, N(bad_depths), "task.depth: ");
    task_case_expect_refused("brackets", &options, &options.kinds, bad_kinds, N(bad_kinds), "task.kinds: ");
    task_case_expect_refused("brackets", &options, &options.rows, bad_rows, N(bad_rows), "task.rows: ");
    task_case_expect_accepted("brackets", &options, &options.length, good_lengths, N(good_lengths));
    task_case_expect_accepted("brackets", &options, &options.depth, good_depths, N(good_depths));
    task_case_expect_accepted("brackets", &options, &options.kinds, good_kinds, N(good_kinds));
    task_case_expect_accepted("brackets", &options, &options.rows, good_rows, N(good_rows));
    /* () and [] are the only words of two brackets */
    options.length = 2;
    const int too_many[] = {6, 1000};
    const int just_enough[] = {4};
    task_case_expect_refused("brackets", &options, &options.rows, too_many, N(too_many), "task.rows: ");
    task_case_expect_accepted("brackets", &options, &options.rows, just_enough, N(just_enough));
}

Test(task_brackets, memory_may_run_out_anywhere)
{
    struct tap_task_options options = {.rows = 100};
    task_case_expect_memory_errors("brackets", &options);
}
