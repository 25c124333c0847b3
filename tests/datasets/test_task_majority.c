/* test_task_majority.c: the label is the letter that is there more often than any other. */
#include "task_case.h"

#include <criterion/criterion.h>

#include <string.h>

#define N(list) (sizeof(list) / sizeof(list)[0])

Test(task_majority, the_label_is_there_most_often_and_alone)
{
    const int lengths[] = {1, 3, 32, 33, 7, 4096};
    const int kinds[] = {26, 2, 2, 2, 10, 3};
    const int n_rows[] = {26, 8, 1001, 1000, 1000, 20};
    for (int i = 0; i < 6; i++) {
        struct tap_task_options options = {.rows = n_rows[i], .length = lengths[i], .kinds = kinds[i]};
        struct tap_rows *rows = task_case_rows("majority", &options, 1, 1);
        for (uint32_t row = 0; row < rows->n; row++) {
            const char *text = task_case_text(rows, row);
            const char *label = tap_rows_label(rows, row);
            int counts[256] = {0};
            cr_assert_eq(strlen(text), 2 * (size_t)lengths[i] - 1);
            for (int j = 0; j < lengths[i]; j++) {
                cr_assert(text[2 * j] >= 'a' && text[2 * j] < 'a' + kinds[i]);
                cr_assert(text[2 * j + 1] == (j < lengths[i] - 1 ? ' ' : '\0'));
                counts[(unsigned char)text[2 * j]]++;
            }
            cr_assert_eq(strlen(label), 1);
            for (int letter = 'a'; letter <= 'z'; letter++)
                cr_assert(letter == label[0] || counts[letter] < counts[(unsigned char)label[0]], "'%s' is not %s",
                          text, label);
        }
        task_case_expect_distinct(rows);
        tap_rows_free(rows);
    }
}

Test(task_majority, narrow_wins_are_as_frequent_as_chance_makes_them)
{
    enum { length = 15, n_rows = 3000 };
    struct tap_task_options options = {.rows = n_rows, .length = length, .kinds = 2};
    struct tap_rows *rows = task_case_rows("majority", &options, 1, 1);
    int n_narrow = 0;
    for (uint32_t row = 0; row < rows->n; row++) {
        const char *text = task_case_text(rows, row);
        int n_a = 0;
        for (size_t i = 0; i < strlen(text); i++)
            n_a += text[i] == 'a';
        n_narrow += n_a == 7 || n_a == 8;
    }
    /* 2 * C(15,7) / 2^15 = 0.393: 1178 +- 27 */
    cr_expect(n_narrow > 1040 && n_narrow < 1320, "%d", n_narrow);
    tap_rows_free(rows);
}

Test(task_majority, labels_are_balanced_and_the_seed_decides)
{
    struct tap_task_options options = {.rows = 2000};
    task_case_expect_balance("majority", &options, 2, 1);
    options.kinds = 5;
    task_case_expect_balance("majority", &options, 5, 1);
    task_case_expect_seeded("majority", &options);
}

Test(task_majority, zero_is_the_tasks_own_size)
{
    struct tap_task_options options = {.rows = 40};
    struct tap_rows *rows = task_case_rows("majority", &options, 1, 1);
    cr_expect_eq(strlen(task_case_text(rows, 0)), 2 * 32 - 1);
    cr_expect_eq(rows->labels.n, 2);
    tap_rows_free(rows);
}

Test(task_majority, bad_sizes_are_refused_by_key)
{
    struct tap_task_options options = {.rows = 26};
    const int bad_lengths[] = {-1, 4097, 2147483647};
    const int good_lengths[] = {0, 7, 4096};
    const int bad_kinds[] = {-1, 1, 27};
    const int good_kinds[] = {0, 2, 26};
    const int bad_rows[] = {-1, 0, 1, 1000001};
    const int good_rows[] = {2, 5};
    task_case_expect_refused("majority", &options, &options.length, bad_lengths, N(bad_lengths), "task.length: ");
    task_case_expect_refused("majority", &options, &options.kinds, bad_kinds, N(bad_kinds), "task.kinds: ");
    task_case_expect_refused("majority", &options, &options.rows, bad_rows, N(bad_rows), "task.rows: ");
    task_case_expect_accepted("majority", &options, &options.length, good_lengths, N(good_lengths));
    task_case_expect_accepted("majority", &options, &options.kinds, good_kinds, N(good_kinds));
    task_case_expect_accepted("majority", &options, &options.rows, good_rows, N(good_rows));
    /* of 2 letters only aa and bb have a winner */
    options.length = 2;
    const int too_many[] = {3, 1000};
    const int just_enough[] = {2};
    task_case_expect_refused("majority", &options, &options.rows, too_many, N(too_many), "task.rows: ");
    task_case_expect_accepted("majority", &options, &options.rows, just_enough, N(just_enough));
}

Test(task_majority, memory_may_run_out_anywhere)
{
    struct tap_task_options options = {.rows = 100};
    task_case_expect_memory_errors("majority", &options);
}
