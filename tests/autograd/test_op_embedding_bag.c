/* test_op_embedding_bag.c: cases and values of tap_embedding_bag. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct extra {
    size_t n;        /* bags */
    uint32_t length; /* ids of the longest one */
};

/* Bags of 0 to `length` ids. They run through the table's rows by a step, so rows come several times, and some never. */
static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    enum { MOST = 301, MOST_IDS = 4096 };
    static uint32_t offsets[MOST + 1], ids[MOST_IDS]; /* borrowed until the tape is reset */
    const struct extra *e = extra;
    uint32_t n_ids = 0;
    for (size_t i = 0; i < e->n; i++) {
        for (uint32_t k = 0; inputs[0]->shape[0] > 0 && k < (i * 7 + 3) % (e->length + 1); k++, n_ids++)
            ids[n_ids] = (uint32_t)((size_t)n_ids * n_ids % inputs[0]->shape[0]);
        offsets[i + 1] = n_ids;
    }
    cr_assert_leq(n_ids, MOST_IDS);
    const struct tap_bags bags = {offsets, ids};
    return tap_embedding_bag(tape, inputs[0], &bags, e->n);
}

static const struct extra no_bags = {0, 3}, one_bag = {1, 3}, empty_bags = {5, 0}, seven = {7, 4}, many = {301, 20}, some = {61, 4};
static const struct op_case table[] = {
    {"one number", 1, {{2, {1, 1}, 0, 0}}, build, &one_bag, 0},
    {"one row several times", 1, {{2, {1, 5}, 0, 0}}, build, &seven, 0},
    {"primes", 1, {{2, {11, 13}, 0, 0}}, build, &seven, 0},
    {"one column", 1, {{2, {5, 1}, 0, 0}}, build, &seven, 0},
    {"one bag", 1, {{2, {5, 3}, 0, 0}}, build, &one_bag, 0},
    {"no bag", 1, {{2, {5, 3}, 0, 0}}, build, &no_bags, 0},
    {"empty bags", 1, {{2, {5, 3}, 0, 0}}, build, &empty_bags, 0},
    {"empty table", 1, {{2, {0, 3}, 0, 0}}, build, &seven, 0},
    {"no features", 1, {{2, {5, 0}, 0, 0}}, build, &seven, 0},
    {"constant", 1, {{2, {11, 13}, 0, 1}}, build, &seven, 0},
    {"many bags", 1, {{2, {31, 67}, 0, 0}}, build, &many, 0},
    {"several bags, one row", 1, {{2, {1, 67}, 0, 0}}, build, &some, 0},
};
OP_CASES(tap_embedding_bag, table);

enum { MOST_NUMBERS = 64 };

/* The numbers of one line of the reference file, which must have this name; false at the file's end. */
static bool read_line(FILE *file, const char *name, size_t *out_n, double *out)
{
    char found[16];
    if (fscanf(file, "%15s %zu", found, out_n) != 2)
        return false;
    cr_assert_str_eq(found, name);
    cr_assert_leq(*out_n, MOST_NUMBERS);
    for (size_t i = 0; i < *out_n; i++)
        cr_assert_eq(fscanf(file, "%lf", &out[i]), 1);
    return true;
}

static size_t read_reals(FILE *file, const char *name, tap_real *out)
{
    double numbers[MOST_NUMBERS];
    size_t n = 0;
    cr_assert(read_line(file, name, &n, numbers));
    for (size_t i = 0; i < n; i++)
        out[i] = (tap_real)numbers[i];
    return n;
}

static void read_ids(FILE *file, const char *name, uint32_t *out)
{
    double numbers[MOST_NUMBERS];
    size_t n = 0;
    cr_assert(read_line(file, name, &n, numbers));
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)numbers[i];
}

Test(op_embedding_bag, values_and_gradients_are_those_of_PyTorch)
{
    FILE *file = fopen("tests/reference/embedding_bag.txt", "r");
    struct tap_tape *tape = test_tape();
    double shape[MOST_NUMBERS];
    size_t n_shape;
    int n_cases = 0;
    cr_assert_not_null(file);
    for (; read_line(file, "shape", &n_shape, shape); n_cases++) {
        const size_t table_shape[] = {(size_t)shape[0], (size_t)shape[1]}, y_shape[] = {(size_t)shape[2], (size_t)shape[1]};
        uint32_t offsets[MOST_NUMBERS], ids[MOST_NUMBERS];
        tap_real rows[MOST_NUMBERS], dy[MOST_NUMBERS];
        double y_right[MOST_NUMBERS], dtable_right[MOST_NUMBERS];
        size_t n_y, n_table;
        read_ids(file, "offsets", offsets);
        read_ids(file, "ids", ids);
        read_reals(file, "table", rows);
        read_reals(file, "dy", dy);
        cr_assert(read_line(file, "y", &n_y, y_right) && read_line(file, "dtable", &n_table, dtable_right));
        const struct tap_bags bags = {offsets, ids};
        tap_tape_reset(tape);
        struct tap_tensor *weights = tap_variable(tape, 2, table_shape, rows);
        struct tap_tensor *y = tap_embedding_bag(tape, weights, &bags, y_shape[0]);
        assert_values(y, y_right, n_y, 4 * TAP_REAL_EPSILON);
        struct tap_tensor *product = tap_mul(tape, y, tap_input(tape, 2, y_shape, dy));
        cr_assert_eq(tap_backward(tape, tap_sum(tape, product, TAP_ALL_AXES, false)), TAP_OK);
        for (size_t i = 0; i < n_table; i++)
            cr_assert_float_eq((double)weights->grad[i], dtable_right[i], 8 * TAP_REAL_EPSILON, "case %d, number %zu", n_cases, i);
    }
    cr_assert_eq(n_cases, 3);
    fclose(file);
    tap_tape_free(tape);
}

static void expect_refused(struct tap_tape *tape, const struct tap_bags *bags, size_t n, const char *message)
{
    const size_t shape[] = {10, 2};
    cr_expect_null(tap_embedding_bag(tape, tap_variable(tape, 2, shape, NULL), bags, n));
    cr_expect_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    cr_expect_str_eq(tap_tape_error(tape)->message, message);
    tap_tape_clear_error(tape);
}

Test(op_embedding_bag, broken_bags_are_refused_with_the_place)
{
    struct tap_tape *tape = test_tape();
    const size_t vector[] = {10};
    const uint32_t offsets[] = {0, 2, 3}, falling[] = {0, 2, 1}, late[] = {1, 2, 3}, ids[] = {9, 0, 10};
    const struct tap_bags high = {offsets, ids}, no_ids = {offsets, NULL}, no_offsets = {NULL, ids}, fallen = {falling, ids}, started = {late, ids};
    expect_refused(tape, NULL, 2, "tap_embedding_bag: the bags of 2 rows are missing");
    expect_refused(tape, &no_offsets, 2, "tap_embedding_bag: the bags of 2 rows are missing");
    expect_refused(tape, &no_ids, 2, "tap_embedding_bag: the bags of 2 rows are missing");
    expect_refused(tape, &fallen, 2, "tap_embedding_bag: offset 2 is 1, below the one before it, 2");
    expect_refused(tape, &started, 2, "tap_embedding_bag: offset 0 is 1; 0 is needed");
    expect_refused(tape, &high, 2, "tap_embedding_bag: id 10 at position 2; only numbers below 10 are accepted");
    cr_assert_null(tap_embedding_bag(tape, tap_input_copy(tape, 1, vector, NULL), &high, 1));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    tap_tape_clear_error(tape);
    const size_t shape[] = {10, 2};
    cr_assert_not_null(tap_embedding_bag(tape, tap_variable(tape, 2, shape, NULL), &high, 1), "the tape is usable again");
    tap_tape_free(tape);
}

Test(op_embedding_bag, planning_needs_no_bags)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {10, 2};
    tap_tape_set_planning(tape, true);
    struct tap_tensor *y = tap_embedding_bag(tape, tap_variable(tape, 2, shape, NULL), NULL, 7);
    cr_assert_not_null(y);
    cr_assert_eq(y->size, 14);
    tap_tape_free(tape);
}
