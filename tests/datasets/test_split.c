/* test_split.c: stratified, seeded, and never taking the last row of a label out of training. */
#include "split.h"

#include "mem.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_ROWS 4000

static struct tap_error error;
static uint8_t parts[MOST_ROWS], other_parts[MOST_ROWS];

/* Rows with the labels l0, l1, ...; counts[i] of label i, mixed. */
static struct tap_rows *make_rows(const uint32_t *counts, uint32_t n_labels)
{
    struct tap_rows *rows = tap_rows_new();
    uint32_t given[64] = {0};
    bool has_more = true;
    while (has_more) {
        has_more = false;
        for (uint32_t i = 0; i < n_labels; i++) {
            char label[16];
            if (given[i] == counts[i])
                continue;
            given[i]++;
            has_more = true;
            int n = snprintf(label, sizeof label, "l%u", i);
            cr_assert_eq(tap_rows_append(rows, label, (size_t)n, "x", 1, rows->n + 1, &error), TAP_OK);
        }
    }
    return rows;
}

static uint32_t count(const struct tap_rows *rows, const uint8_t *of, enum tap_part part, const char *label)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < rows->n; row++)
        n += of[row] == part && (label == NULL || strcmp(tap_rows_label(rows, row), label) == 0);
    return n;
}

Test(split, each_label_gets_its_share)
{
    struct tap_rows *rows = make_rows((const uint32_t[]){1000, 300, 100}, 3);
    struct tap_split_options options = {0.1, 0.2, 1, 1};
    cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
    cr_expect_eq(count(rows, parts, TAP_PART_VALID, "l0"), 100);
    cr_expect_eq(count(rows, parts, TAP_PART_VALID, "l1"), 30);
    cr_expect_eq(count(rows, parts, TAP_PART_VALID, "l2"), 10);
    cr_expect_eq(count(rows, parts, TAP_PART_TEST, "l0"), 200);
    cr_expect_eq(count(rows, parts, TAP_PART_TEST, "l1"), 60);
    cr_expect_eq(count(rows, parts, TAP_PART_TEST, "l2"), 20);
    tap_rows_free(rows);
}

Test(split, the_whole_fraction_is_exact_when_labels_are_small)
{
    uint32_t counts[50];
    for (int i = 0; i < 50; i++)
        counts[i] = 4; /* a tenth of each is less than half a row */
    struct tap_rows *rows = make_rows(counts, 50);
    struct tap_split_options options = {0.1, 0.25, 3, 1};
    cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
    cr_expect_eq(count(rows, parts, TAP_PART_VALID, NULL), 20);
    cr_expect_eq(count(rows, parts, TAP_PART_TEST, NULL), 50);
    tap_rows_free(rows);
}

Test(split, every_label_keeps_a_row_in_training)
{
    const uint32_t counts[] = {1, 2, 3, 1, 50, 1};
    struct tap_rows *rows = make_rows(counts, 6);
    for (int i = 0; i < 100; i++) {
        struct tap_split_options options = {0.45, 0.5, (uint64_t)i, 1};
        cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
        for (int label = 0; label < 6; label++) {
            char name[16];
            snprintf(name, sizeof name, "l%d", label);
            cr_assert_geq(count(rows, parts, TAP_PART_TRAIN, name), 1);
        }
    }
    tap_rows_free(rows);
}

Test(split, a_small_fraction_gives_at_least_one_row)
{
    struct tap_rows *rows = make_rows((const uint32_t[]){3, 2}, 2);
    struct tap_split_options options = {0.01, 0, 1, 1};
    cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
    cr_expect_eq(count(rows, parts, TAP_PART_VALID, NULL), 1);
    cr_expect_eq(count(rows, parts, TAP_PART_TEST, NULL), 0);
    tap_rows_free(rows);
    rows = make_rows((const uint32_t[]){1, 1}, 2);
    cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
    cr_expect_eq(count(rows, parts, TAP_PART_VALID, NULL), 0, "none to spare");
    tap_rows_free(rows);
}

Test(split, fractions_of_nothing_give_nothing)
{
    struct tap_rows *rows = make_rows((const uint32_t[]){100, 100}, 2);
    struct tap_split_options options = {0, 0, 1, 1};
    cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
    cr_expect_eq(count(rows, parts, TAP_PART_TRAIN, NULL), 200);
    tap_rows_free(rows);
}

Test(split, the_seed_decides)
{
    struct tap_rows *rows = make_rows((const uint32_t[]){100, 100}, 2);
    struct tap_split_options options = {0.2, 0.2, 0, 1};
    cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
    cr_assert_eq(tap_split_rows(rows, &options, other_parts, &error), TAP_OK);
    cr_expect_arr_eq(parts, other_parts, rows->n);
    const uint64_t seeds[] = {1, 2, (uint64_t)1 << 32, (uint64_t)1 << 63};
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        options.seed = seeds[i];
        cr_assert_eq(tap_split_rows(rows, &options, other_parts, &error), TAP_OK);
        cr_expect_arr_neq(parts, other_parts, rows->n);
    }
    tap_rows_free(rows);
}

Test(split, every_row_is_as_likely_as_any_other)
{
    /* 20 rows of one label, 5 of them drawn, 2,000 seeds: 500 times each, standard deviation 19.4 */
    struct tap_rows *rows = make_rows((const uint32_t[]){20}, 1);
    uint32_t n_drawn[20] = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct tap_split_options options = {0.25, 0, seed, 1};
        cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
        for (int row = 0; row < 20; row++)
            n_drawn[row] += parts[row] == TAP_PART_VALID;
    }
    for (int row = 0; row < 20; row++)
        cr_expect(fabs(n_drawn[row] - 500.0) < 5 * 19.4, "row %d: %u", row, n_drawn[row]);
    tap_rows_free(rows);
}

Test(split, groups_stay_together)
{
    struct tap_rows *rows = make_rows((const uint32_t[]){300, 300, 300}, 3); /* l0 l1 l2 l0 l1 l2 ... */
    struct tap_split_options options = {0.1, 0.1, 7, 3};
    cr_assert_eq(tap_split_rows(rows, &options, parts, &error), TAP_OK);
    for (uint32_t row = 0; row < rows->n; row++)
        cr_assert_eq(parts[row], parts[row - row % 3]);
    cr_expect_eq(count(rows, parts, TAP_PART_VALID, NULL), 90);
    cr_expect_eq(count(rows, parts, TAP_PART_TEST, "l2"), 30);
    tap_rows_free(rows);
}

Test(split, bad_fractions_are_refused_by_key)
{
    struct tap_rows *rows = make_rows((const uint32_t[]){10, 10}, 2);
    const struct {
        double valid, test;
        const char *words;
    } cases[] = {
        {-0.1, 0, "data.valid_fraction: -0.1"},
        {1, 0, "data.valid_fraction: 1"},
        {NAN, 0, "data.valid_fraction: "},
        {0, INFINITY, "data.test_fraction: inf"},
        {0, -1, "data.test_fraction: -1"},
        {0.5, 0.5, "data.test_fraction: 0.5, with data.valid_fraction 0.5; below 1 together"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tap_split_options options = {cases[i].valid, cases[i].test, 1, 1};
        tap_error_clear(&error);
        cr_expect_eq(tap_split_rows(rows, &options, parts, &error), TAP_ERR_VALUE);
        cr_expect_not_null(strstr(error.message, cases[i].words), "%s", error.message);
    }
    tap_rows_free(rows);
}

Test(split, every_failed_allocation_is_an_error)
{
    struct tap_rows *rows = make_rows((const uint32_t[]){10, 10}, 2);
    struct tap_split_options options = {0.2, 0.2, 1, 1};
    uint64_t call = 1;
    for (;; call++) {
        tap_error_clear(&error);
        tap_mem_fail_at(call, false);
        enum tap_status status = tap_split_rows(rows, &options, parts, &error);
        tap_mem_fail_at(0, false);
        if (status == TAP_OK)
            break;
        cr_assert_eq(status, TAP_ERR_MEMORY);
    }
    cr_expect_gt(call, 3);
    tap_rows_free(rows);
}
