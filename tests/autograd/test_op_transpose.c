/* test_op_transpose.c: cases and values of tap_transpose. */
#include "op_cases.h"

#include <criterion/criterion.h>

struct axes {
    int a, b;
};

static struct tap_tensor *build_transpose(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct axes *axes = extra;
    return tap_transpose(tape, inputs[0], axes->a, axes->b);
}

static struct tap_tensor *build_twice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_mul(tape, build_transpose(tape, inputs, extra), build_transpose(tape, inputs, extra));
}

static const struct axes axes[] = {{0, 1}, {1, 0}, {0, 2}, {1, 2}, {1, 1}, {0, 0}, {1, 3}, {2, 5}};
static const struct op_case transpose_table[] = {
    {"a matrix", 1, {{2, {5, 7}, 0, 0}}, build_transpose, &axes[0], 0},
    {"axes the other way", 1, {{2, {5, 7}, 0, 0}}, build_transpose, &axes[1], 0},
    {"one number", 1, {{1, {1}, 0, 0}}, build_transpose, &axes[5], 0},
    {"one row", 1, {{2, {1, 7}, 0, 0}}, build_transpose, &axes[0], 0},
    {"one column", 1, {{2, {7, 1}, 0, 0}}, build_transpose, &axes[0], 0},
    {"the same axis", 1, {{3, {2, 5, 3}, 0, 0}}, build_transpose, &axes[4], 0},
    {"first and last", 1, {{3, {2, 3, 5}, 0, 0}}, build_transpose, &axes[2], 0},
    {"the last two", 1, {{3, {3, 5, 7}, 0, 0}}, build_transpose, &axes[3], 0},
    {"the first two", 1, {{3, {3, 5, 7}, 0, 0}}, build_transpose, &axes[0], 0},
    {"with axes between and after", 1, {{5, {2, 3, 2, 5, 3}, 0, 0}}, build_transpose, &axes[6], 0},
    {"six axes", 1, {{6, {2, 1, 3, 2, 1, 5}, 0, 0}}, build_transpose, &axes[7], 0},
    {"no rows", 1, {{2, {0, 3}, 0, 0}}, build_transpose, &axes[0], 0},
    {"no columns", 1, {{2, {3, 0}, 0, 0}}, build_transpose, &axes[0], 0},
    {"several tiles", 1, {{2, {211, 101}, 0, 0}}, build_transpose, &axes[0], 0},
    {"many matrices", 1, {{3, {23, 31, 33}, 0, 0}}, build_transpose, &axes[3], 0},
    {"constant", 1, {{2, {3, 5}, 0, 1}}, build_transpose, &axes[0], 0},
    {"twice", 1, {{2, {3, 5}, 0, 0}}, build_twice, &axes[0], 0},
};
OP_CASES(tap_transpose, transpose_table);

Test(op_transpose, numbers_change_places)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3}, cube[] = {2, 2, 2};
    const tap_real values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct tap_tensor *y = tap_transpose(tape, tap_input(tape, 2, shape, values), 0, 1);
    cr_assert(y->shape[0] == 3 && y->shape[1] == 2);
    assert_values(y, (const double[]){1, 4, 2, 5, 3, 6}, 6, 0);
    struct tap_tensor *x = tap_input(tape, 3, cube, values);
    assert_values(tap_transpose(tape, x, 0, 2), (const double[]){1, 5, 3, 7, 2, 6, 4, 8}, 8, 0);
    assert_values(tap_transpose(tape, x, 1, 0), (const double[]){1, 2, 5, 6, 3, 4, 7, 8}, 8, 0);
    tap_tape_free(tape);
}

Test(op_transpose, every_number_of_a_large_one_arrives)
{
    enum { A = 71, M = 3, B = 130 };
    static tap_real x[A * M * B];
    for (size_t i = 0; i < A * M * B; i++)
        x[i] = (tap_real)i;
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {A, M, B};
    struct tap_tensor *y = tap_transpose(tape, tap_input(tape, 3, shape, x), 0, 2);
    for (size_t a = 0; a < A; a++)
        for (size_t m = 0; m < M; m++)
            for (size_t b = 0; b < B; b++)
                cr_assert_eq(y->data[(b * M + m) * A + a], x[(a * M + m) * B + b]);
    tap_tape_free(tape);
}

Test(op_transpose, an_axis_that_is_not_there_is_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    cr_assert_null(tap_transpose(tape, x, 0, 2));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_transpose: shape (2, 3) has no axis 2; axes count from 0");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_transpose(tape, x, -1, 0));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    tap_tape_clear_error(tape);
    cr_assert_null(tap_transpose(tape, NULL, 0, 1));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_transpose: input 1 is NULL");
    tap_tape_free(tape);
}
