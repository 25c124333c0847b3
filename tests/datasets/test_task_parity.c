/* test_task_parity.c: the label is odd or even as the number of ones is. */
#include "task_case.h"

#include <criterion/criterion.h>

#include <string.h>

#define N(list) (sizeof(list) / sizeof(list)[0])

Test(task_parity, the_label_is_the_parity_of_the_ones)
{
    const int lengths[] = {1, 2, 10, 16, 4096};
    const int n_rows[] = {2, 4, 1024, 2001, 20};
    for (int i = 0; i < 5; i++) {
        struct tap_task_options options = {.rows = n_rows[i], .length = lengths[i]};
        struct tap_rows *rows = task_case_rows("parity", &options, 1, 1);
        for (uint32_t row = 0; row < rows->n; row++) {
            const char *text = task_case_text(rows, row);
            int n_ones = 0;
            cr_assert_eq(strlen(text), 2 * (size_t)lengths[i] - 1);
            for (int j = 0; j < lengths[i]; j++) {
                cr_assert(text[2 * j] == '0' || text[2 * j] == '1');
                cr_assert(text[2 * j + 1] == (j < lengths[i] - 1 ? ' ' : '\0'));
                n_ones += text[2 * j] == '1';
            }
            cr_assert_str_eq(tap_rows_label(rows, row), n_ones % 2 == 1 ? "odd" : "even");
        }
        task_case_expect_distinct(rows);
        tap_rows_free(rows);
    }
}

Test(task_parity, no_single_bit_says_anything)
{
    enum { length = 11 };
    struct tap_task_options options = {.rows = 2048, .length = length}; /* every string there is */
    struct tap_rows *rows = task_case_rows("parity", &options, 1, 1);
    int balance[length] = {0};
    for (uint32_t row = 0; row < rows->n; row++)
        for (int i = 0; i < length; i++)
            if (task_case_text(rows, row)[2 * i] == '1')
                balance[i] += tap_rows_label(rows, row)[0] == 'o' ? 1 : -1;
    for (int i = 0; i < length; i++)
        cr_expect_eq(balance[i], 0);
    tap_rows_free(rows);
}

Test(task_parity, labels_are_balanced_and_the_seed_decides)
{
    struct tap_task_options options = {.rows = 2000};
    task_case_expect_balance("parity", &options, 2, 1);
    task_case_expect_seeded("parity", &options);
}

Test(task_parity, zero_is_the_tasks_own_size)
{
    struct tap_task_options options = {.rows = 40};
    struct tap_rows *rows = task_case_rows("parity", &options, 1, 1);
    cr_expect_eq(strlen(task_case_text(rows, 0)), 2 * 16 - 1);
    tap_rows_free(rows);
}

Test(task_parity, bad_sizes_are_refused_by_key)
{
    struct tap_task_options options = {.rows = 16};
    const int bad_lengths[] = {-1, 4097, 2147483647};
    const int good_lengths[] = {0, 4, 4096};
    const int bad_rows[] = {-1, 0, 1, 1000001};
    const int good_rows[] = {2, 5};
    task_case_expect_refused("parity", &options, &options.length, bad_lengths, N(bad_lengths), "task.length: ");
    task_case_expect_refused("parity", &options, &options.rows, bad_rows, N(bad_rows), "task.rows: ");
    task_case_expect_accepted("parity", &options, &options.length, good_lengths, N(good_lengths));
    task_case_expect_accepted("parity", &options, &options.rows, good_rows, N(good_rows));
    options.length = 4;
    const int too_many[] = {17, 1000};
    const int just_enough[] = {16};
    task_case_expect_refused("parity", &options, &options.rows, too_many, N(too_many), "task.rows: ");
    task_case_expect_accepted("parity", &options, &options.rows, just_enough, N(just_enough));
}

Test(task_parity, memory_may_run_out_anywhere)
{
    struct tap_task_options options = {.rows = 100};
    task_case_expect_memory_errors("parity", &options);
}
