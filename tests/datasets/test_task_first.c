/* test_task_first.c: the label is the first letter, and nothing else tells it. */
#include "task_case.h"

#include <criterion/criterion.h>

#include <string.h>

#define N(list) (sizeof(list) / sizeof(list)[0])

Test(task_first, the_label_is_the_first_token)
{
    const int lengths[] = {1, 2, 63, 4096};
    const int kinds[] = {26, 5, 2, 3};
    const int n_rows[] = {26, 20, 1001, 50};
    for (int i = 0; i < 4; i++) {
        struct tap_task_options options = {.rows = n_rows[i], .length = lengths[i], .kinds = kinds[i]};
        struct tap_rows *rows = task_case_rows("first", &options, 1, 1);
        for (uint32_t row = 0; row < rows->n; row++) {
            const char *text = task_case_text(rows, row);
            cr_assert_eq(strlen(text), 2 * (size_t)lengths[i] - 1);
            cr_assert_eq(tap_rows_label(rows, row)[0], text[0]);
            cr_assert_eq(tap_rows_label(rows, row)[1], '\0');
            for (int j = 0; j < lengths[i]; j++) {
                cr_assert(text[2 * j] >= 'a' && text[2 * j] < 'a' + kinds[i]);
                cr_assert(text[2 * j + 1] == (j < lengths[i] - 1 ? ' ' : '\0'));
            }
        }
        task_case_expect_distinct(rows);
        tap_rows_free(rows);
    }
}

Test(task_first, every_letter_is_as_likely_in_every_other_place_whatever_the_label)
{
    enum { length = 8, kinds = 3, n_rows = 3000 };
    struct tap_task_options options = {.rows = n_rows, .length = length, .kinds = kinds};
    struct tap_rows *rows = task_case_rows("first", &options, 1, 1);
    int counts[length][kinds][kinds] = {0}; /* by place, letter there, label */
    for (uint32_t row = 0; row < rows->n; row++)
        for (int i = 0; i < length; i++)
            counts[i][task_case_text(rows, row)[2 * i] - 'a'][tap_rows_label(rows, row)[0] - 'a']++;
    /* 1000 rows of a label, 333 of each letter: standard deviation 15 */
    for (int i = 1; i < length; i++)
        for (int letter = 0; letter < kinds; letter++)
            for (int label = 0; label < kinds; label++)
                cr_expect(counts[i][letter][label] > 333 - 75 && counts[i][letter][label] < 333 + 75);
    tap_rows_free(rows);
}

Test(task_first, labels_are_balanced_and_the_seed_decides)
{
    struct tap_task_options options = {.rows = 2000};
    task_case_expect_balance("first", &options, 4, 1);
    options.kinds = 10;
    task_case_expect_balance("first", &options, 10, 1);
    task_case_expect_seeded("first", &options);
}

Test(task_first, zero_is_the_tasks_own_size)
{
    struct tap_task_options options = {.rows = 40};
    struct tap_rows *rows = task_case_rows("first", &options, 1, 1);
    cr_expect_eq(strlen(task_case_text(rows, 0)), 2 * 64 - 1);
    cr_expect_eq(rows->labels.n, 4);
    tap_rows_free(rows);
}

Test(task_first, bad_sizes_are_refused_by_key)
{
    struct tap_task_options options = {.rows = 26};
    const int bad_lengths[] = {-1, 4097, 2147483647};
    const int good_lengths[] = {0, 3, 4096};
    const int bad_kinds[] = {-1, 1, 27};
    const int good_kinds[] = {0, 2, 26};
    const int bad_rows[] = {-1, 0, 3, 1000001};
    const int good_rows[] = {4, 5};
    task_case_expect_refused("first", &options, &options.length, bad_lengths, N(bad_lengths), "task.length: ");
    task_case_expect_refused("first", &options, &options.kinds, bad_kinds, N(bad_kinds), "task.kinds: ");
    task_case_expect_refused("first", &options, &options.rows, bad_rows, N(bad_rows), "task.rows: ");
    task_case_expect_accepted("first", &options, &options.length, good_lengths, N(good_lengths));
    task_case_expect_accepted("first", &options, &options.kinds, good_kinds, N(good_kinds));
    task_case_expect_accepted("first", &options, &options.rows, good_rows, N(good_rows));
    /* 2 letters at 3 places: 8 texts, and no ninth */
    options.length = 3;
    options.kinds = 2;
    const int too_many[] = {9, 1000};
    const int just_enough[] = {8};
    task_case_expect_refused("first", &options, &options.rows, too_many, N(too_many), "task.rows: ");
    task_case_expect_accepted("first", &options, &options.rows, just_enough, N(just_enough));
}

Test(task_first, memory_may_run_out_anywhere)
{
    struct tap_task_options options = {.rows = 100};
    task_case_expect_memory_errors("first", &options);
}
