/* test_op_reduce.c: cases and values of tap_sum, tap_mean, tap_max. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parallel.h"

typedef struct tap_tensor *(*reduce_function)(struct tap_tape *, struct tap_tensor *, int, bool);

struct reduce_case {
    reduce_function function;
    int axis;
    bool keep_axis;
};

static struct tap_tensor *build_reduce(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct reduce_case *c = extra;
    return c->function(tape, inputs[0], c->axis, c->keep_axis);
}

static struct tap_tensor *build_twice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_add(tape, build_reduce(tape, inputs, extra), build_reduce(tape, inputs, extra));
}

#define IN(fill, n_dims, ...)                                                                                          \
    {                                                                                                                  \
        {                                                                                                              \
            n_dims, {__VA_ARGS__}, fill, 0                                                                             \
        }                                                                                                              \
    }
#define REDUCE_CASES(function, fill)                                                                                   \
    static const struct reduce_case function##_ways[] = {                                                              \
        {function, TAP_ALL_AXES, false},                                                                               \
        {function, TAP_ALL_AXES, true},                                                                                \
        {function, 0, false},                                                                                          \
        {function, 0, true},                                                                                           \
        {function, 1, false},                                                                                          \
        {function, 1, true},                                                                                           \
        {function, 2, false},                                                                                          \
        {function, 2, true},                                                                                           \
    };                                                                                                                 \
    static const struct op_case function##_table[] = {                                                                 \
        {"scalar", 1, IN(fill, 0, 0), build_reduce, &function##_ways[0], 0},                                           \
        {"scalar, kept", 1, IN(fill, 0, 0), build_reduce, &function##_ways[1], 0},                                     \
        {"one number", 1, IN(fill, 1, 1), build_reduce, &function##_ways[2], 0},                                       \
        {"all of a matrix", 1, IN(fill, 2, 5, 7), build_reduce, &function##_ways[0], 0},                               \
        {"all of a matrix, kept", 1, IN(fill, 2, 5, 7), build_reduce, &function##_ways[1], 0},                         \
        {"columns", 1, IN(fill, 2, 5, 7), build_reduce, &function##_ways[2], 0},                                       \
        {"columns, kept", 1, IN(fill, 2, 5, 7), build_reduce, &function##_ways[3], 0},                                 \
        {"rows", 1, IN(fill, 2, 5, 7), build_reduce, &function##_ways[4], 0},                                          \
        {"rows, kept", 1, IN(fill, 2, 5, 7), build_reduce, &function##_ways[5], 0},                                    \
        {"a middle axis", 1, IN(fill, 3, 3, 5, 7), build_reduce, &function##_ways[4], 0},                              \
        {"a last axis, kept", 1, IN(fill, 3, 3, 5, 7), build_reduce, &function##_ways[7], 0},                          \
        {"a middle axis of one", 1, IN(fill, 3, 3, 1, 7), build_reduce, &function##_ways[4], 0},                       \
        {"one column", 1, IN(fill, 2, 13, 1), build_reduce, &function##_ways[4], 0},                                   \
        {"no rows", 1, IN(fill, 2, 0, 3), build_reduce, &function##_ways[4], 0},                                       \
        {"no columns", 1, IN(fill, 2, 3, 0), build_reduce, &function##_ways[2], 0},                                    \
        {"several strips", 1, IN(fill, 2, 3, 601), build_reduce, &function##_ways[2], 0},                              \
        {"several parts", 1, IN(fill, 2, 20011, 1), build_reduce, &function##_ways[0], 0},                             \
        {"several parts of columns", 1, IN(fill, 2, 7001, 3), build_reduce, &function##_ways[2], 0},                   \
        {"many rows", 1, IN(fill, 2, 2003, 11), build_reduce, &function##_ways[4], 0},                                 \
        {"twice", 1, IN(fill, 2, 5, 7), build_twice, &function##_ways[2], 0},                                          \
    };                                                                                                                 \
    OP_CASES(function, function##_table)
REDUCE_CASES(tap_sum, OP_FILL_NORMAL);
REDUCE_CASES(tap_mean, OP_FILL_NORMAL);
REDUCE_CASES(tap_max, OP_FILL_DISTINCT);

Test(op_reduce, values_along_each_axis)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    const tap_real values[] = {1, 5, 3, 4, 2, 9};
    struct tap_tensor *x = tap_input(tape, 2, shape, values);
    assert_values(tap_sum(tape, x, 0, false), (const double[]){5, 7, 12}, 3, 0);
    assert_values(tap_sum(tape, x, 1, false), (const double[]){9, 15}, 2, 0);
    assert_values(tap_sum(tape, x, TAP_ALL_AXES, false), (const double[]){24}, 1, 0);
    assert_values(tap_mean(tape, x, 0, false), (const double[]){2.5, 3.5, 6}, 3, 0);
    assert_values(tap_mean(tape, x, 1, false), (const double[]){3, 5}, 2, TAP_REAL_EPSILON * 5);
    assert_values(tap_max(tape, x, 0, false), (const double[]){4, 5, 9}, 3, 0);
    assert_values(tap_max(tape, x, 1, false), (const double[]){5, 9}, 2, 0);
    assert_values(tap_max(tape, x, TAP_ALL_AXES, false), (const double[]){9}, 1, 0);
    tap_tape_free(tape);
}

Test(op_reduce, the_axis_is_dropped_or_kept_with_size_one)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3, 5}, dropped[] = {2, 5}, kept[] = {2, 1, 5}, ones[] = {1, 1, 1};
    struct tap_tensor *x = tap_input_copy(tape, 3, shape, NULL);
    struct tap_tensor *y = tap_sum(tape, x, 1, false);
    cr_assert(y->n_dims == 2 && memcmp(y->shape, dropped, sizeof dropped) == 0);
    y = tap_mean(tape, x, 1, true);
    cr_assert(y->n_dims == 3 && memcmp(y->shape, kept, sizeof kept) == 0);
    y = tap_max(tape, x, TAP_ALL_AXES, true);
    cr_assert(y->n_dims == 3 && memcmp(y->shape, ones, sizeof ones) == 0);
    cr_assert_eq(tap_sum(tape, x, TAP_ALL_AXES, false)->n_dims, 0);
    tap_tape_free(tape);
}

Test(op_reduce, a_million_floats_have_one_sum_for_any_number_of_threads)
{
    /* BR-80 */
    const size_t n = 1000000;
    tap_real *x = malloc(n * sizeof *x);
    uint32_t state = 1;
    for (size_t i = 0; i < n; i++) {
        state = 1664525u * state + 1013904223u;
        x[i] = (tap_real)(state >> 8) / (tap_real)16777216;
    }
    struct tap_tape *tape = test_tape();
    tap_real first = 0;
    for (int threads = 1; threads <= 8; threads++)
        for (int repeat = 0; repeat < 50; repeat++) {
            tap_tape_reset(tape);
            tap_set_threads(threads);
            tap_real sum = *tap_sum(tape, tap_input(tape, 1, &n, x), TAP_ALL_AXES, false)->data;
            if (threads == 1 && repeat == 0)
                first = sum;
            cr_assert(fabs((double)sum - 500279.53) <= 0.05, "%.9g", (double)sum);
            cr_assert_eq(sum, first, "%d threads: %.9g, not %.9g", threads, (double)sum, (double)first);
        }
    tap_tape_free(tape);
    free(x);
}

Test(op_reduce, more_than_two_to_the_24_numbers_are_summed_to_1e_6)
{
    const size_t n = ((size_t)1 << 24) + 12345;
    tap_real *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (tap_real)0.1;
    struct tap_tape *tape = test_tape();
    double right = (double)(tap_real)0.1 * (double)n;
    const size_t column[] = {n, 1}, pairs[] = {n / 3, 3};
    double sum = (double)*tap_sum(tape, tap_input(tape, 1, &n, x), 0, false)->data;
    cr_assert(fabs(sum - right) <= 1e-6 * right, "%.9g, not %.9g", sum, right);
    sum = (double)*tap_sum(tape, tap_input(tape, 2, column, x), 0, false)->data;
    cr_assert(fabs(sum - right) <= 1e-6 * right, "%.9g, not %.9g", sum, right);
    double mean = (double)tap_mean(tape, tap_input(tape, 2, pairs, x), 0, false)->data[2];
    cr_assert(fabs(mean - (double)(tap_real)0.1) <= 1e-7, "%.9g", mean);
    tap_tape_free(tape);
    free(x);
}

Test(op_reduce, large_numbers_that_cancel_leave_the_small_one)
{
    struct tap_tape *tape = test_tape();
    const size_t n = 4;
    const tap_real x[] = {(tap_real)1e7, (tap_real)0.25, (tap_real)-1e7, (tap_real)0.5};
    cr_assert_eq(*tap_sum(tape, tap_input(tape, 1, &n, x), 0, false)->data, (tap_real)0.75);
    tap_tape_free(tape);
}

Test(op_reduce, the_gradient_of_a_maximum_goes_to_the_first_of_equals)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    const tap_real values[] = {7, 7, 1, 2, 9, 9};
    struct tap_tensor *x = tap_variable(tape, 2, shape, values);
    tap_backward(tape, tap_sum(tape, tap_max(tape, x, 1, false), 0, false));
    const double rows[] = {1, 0, 0, 0, 1, 0};
    for (int i = 0; i < 6; i++)
        cr_assert_eq((double)x->grad[i], rows[i]);
    tap_backward(tape, tap_max(tape, x, TAP_ALL_AXES, false));
    cr_assert_eq(x->grad[4], 2);
    cr_assert_eq(x->grad[5], 0);
    tap_tape_free(tape);
}

Test(op_reduce, a_nan_is_a_maximum_and_takes_the_gradient)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3, 2};
    const tap_real values[] = {1, 2, (tap_real)NAN, 0, 5, 4};
    struct tap_tensor *x = tap_variable(tape, 2, shape, values);
    struct tap_tensor *y = tap_max(tape, x, 0, false);
    cr_assert(isnan(y->data[0]));
    cr_assert_eq(y->data[1], 4);
    tap_backward(tape, tap_sum(tape, y, 0, false));
    cr_assert_eq(x->grad[2], 1);
    cr_assert_eq(x->grad[4], 0);
    cr_assert_eq(x->grad[5], 1);
    tap_tape_free(tape);
}

Test(op_reduce, the_sum_of_nothing_is_zero_and_its_mean_and_maximum_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {0, 3};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    assert_values(tap_sum(tape, x, 0, false), (const double[]){0, 0, 0}, 3, 0);
    assert_values(tap_sum(tape, x, TAP_ALL_AXES, false), (const double[]){0}, 1, 0);
    cr_assert_eq(tap_mean(tape, x, 1, false)->size, 0);
    cr_assert_null(tap_mean(tape, x, 0, false));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_mean: shape (0, 3) holds nothing to take it of");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_max(tape, x, TAP_ALL_AXES, false));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_max: shape (0, 3) holds nothing to take it of");
    tap_tape_free(tape);
}

Test(op_reduce, an_axis_that_is_not_there_is_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    const int wrong[] = {2, -2, 100};
    for (int i = 0; i < 3; i++) {
        cr_assert_null(tap_sum(tape, x, wrong[i], false));
        cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
        tap_tape_clear_error(tape);
    }
    cr_assert_null(tap_sum(tape, x, 2, false));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_sum: shape (2, 3) has no axis 2; axes count from 0");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_max(tape, NULL, 0, false));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_max: input 1 is NULL");
    tap_tape_free(tape);
}
