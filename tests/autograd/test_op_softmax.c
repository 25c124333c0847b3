/* test_op_softmax.c: cases and values of tap_softmax and tap_log_softmax. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef struct tap_tensor *(*row_operation)(struct tap_tape *, struct tap_tensor *);

static struct tap_tensor *build_rows(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    row_operation function;
    memcpy(&function, extra, sizeof function);
    return function(tape, inputs[0]);
}

static struct tap_tensor *build_twice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_add(tape, build_rows(tape, inputs, extra), build_rows(tape, inputs, extra));
}

/* A row of one has derivative 0: its gradient check compares with zero. */
#define SOFTMAX_CASES(function)                                                                                        \
    static const row_operation function##_pointer = function;                                                          \
    static const struct op_case function##_table[] = {                                                                 \
        {"scalar", 1, {{0, {0}, 0, 0}}, build_rows, &function##_pointer, 0},                                           \
        {"one number", 1, {{1, {1}, 0, 0}}, build_rows, &function##_pointer, 0},                                       \
        {"one column", 1, {{2, {5, 1}, 0, 0}}, build_rows, &function##_pointer, 0},                                    \
        {"one row", 1, {{2, {1, 7}, 0, 0}}, build_rows, &function##_pointer, 0},                                       \
        {"primes", 1, {{2, {5, 17}, 0, 0}}, build_rows, &function##_pointer, 0},                                       \
        {"three dimensions", 1, {{3, {2, 3, 5}, 0, 0}}, build_rows, &function##_pointer, 0},                           \
        {"no rows", 1, {{2, {0, 3}, 0, 0}}, build_rows, &function##_pointer, 0},                                       \
        {"rows of none", 1, {{2, {3, 0}, 0, 0}}, build_rows, &function##_pointer, 0},                                  \
        {"many rows", 1, {{2, {131, 37}, 0, 0}}, build_rows, &function##_pointer, 0},                                  \
        {"long rows", 1, {{2, {3, 1031}, 0, 0}}, build_rows, &function##_pointer, 0},                                  \
        {"constant", 1, {{2, {3, 5}, 0, 1}}, build_rows, &function##_pointer, 0},                                      \
        {"twice", 1, {{2, {3, 5}, 0, 0}}, build_twice, &function##_pointer, 0},                                        \
    };                                                                                                                 \
    OP_CASES(function, function##_table)
SOFTMAX_CASES(tap_softmax);
SOFTMAX_CASES(tap_log_softmax);

Test(op_softmax, the_maximum_is_each_row_s_own)
{
    /* BR-13 */
    struct tap_tape *tape = test_tape();
    const size_t two[] = {4, 2}, three[] = {1, 3};
    const tap_real pairs[] = {1000, 1000, 0, 0, (tap_real)3e38, (tap_real)3e38, (tap_real)-3e38, (tap_real)3e38};
    const tap_real triple[] = {1000, 0, -1000};
    assert_values(tap_softmax(tape, tap_input(tape, 2, two, pairs)), (const double[]){.5, .5, .5, .5, .5, .5, 0, 1}, 8,
                  0);
    assert_values(tap_softmax(tape, tap_input(tape, 2, three, triple)), (const double[]){1, 0, 0}, 3, 0);
    assert_values(tap_log_softmax(tape, tap_input(tape, 2, three, triple)), (const double[]){0, -1000, -2000}, 3, 0);
    tap_tape_free(tape);
}

Test(op_softmax, rows_agree_with_double_up_to_extreme_logits)
{
    enum { D = 37 };
    const double scales[] = {1e-30, 1, 30, 88.8, 104, 1e4, 1e30};
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {1, D};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        tap_real x[D];
        double max = -INFINITY, sum = 0;
        for (int j = 0; j < D; j++) {
            x[j] = (tap_real)(scales[s] * cos(j * j));
            max = fmax(max, (double)x[j]);
        }
        for (int j = 0; j < D; j++)
            sum += exp((double)x[j] - max);
        struct tap_tensor *y = tap_softmax(tape, tap_input_copy(tape, 2, shape, x));
        struct tap_tensor *log_y = tap_log_softmax(tape, tap_input_copy(tape, 2, shape, x));
        for (int j = 0; j < D; j++) {
            double log_right = (double)x[j] - max - log(sum), right = exp((double)x[j] - max) / sum;
            /* the rounding of x - max, up to |x - max| / 2 units of the last place, is that of y relative to itself */
            double allowed = TAP_REAL_EPSILON * (4 + fabs((double)x[j] - max)) * right + 1e-37;
            cr_assert(fabs((double)y->data[j] - right) <= allowed, "scale %g, %d: %.9g, not %.9g", scales[s], j,
                      (double)y->data[j], right);
            cr_assert(fabs((double)log_y->data[j] - log_right) <= 4 * TAP_REAL_EPSILON * fabs(log_right),
                      "scale %g, %d: %.9g, not %.9g", scales[s], j, (double)log_y->data[j], log_right);
        }
    }
    tap_tape_free(tape);
}

Test(op_softmax, one_class_has_probability_one)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3, 1};
    const tap_real x[] = {(tap_real)-1e30, 0, (tap_real)1e30};
    assert_values(tap_softmax(tape, tap_input(tape, 2, shape, x)), (const double[]){1, 1, 1}, 3, 0);
    assert_values(tap_log_softmax(tape, tap_input(tape, 2, shape, x)), (const double[]){0, 0, 0}, 3, 0);
    tap_tape_free(tape);
}

Test(op_softmax, minus_infinity_has_probability_zero_and_a_nan_shows)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3};
    const tap_real masked[] = {0, -(tap_real)INFINITY, 0}, bad[] = {0, (tap_real)NAN, 0};
    struct tap_tensor *x = tap_variable(tape, 1, shape, masked);
    struct tap_tensor *y = tap_softmax(tape, x);
    assert_values(y, (const double[]){0.5, 0, 0.5}, 3, 0);
    tap_backward(tape, tap_sum(tape, tap_mul(tape, y, y), TAP_ALL_AXES, false));
    cr_assert(tap_is_finite(x->grad, 3));
    y = tap_softmax(tape, tap_input(tape, 1, shape, bad));
    for (int j = 0; j < 3; j++)
        cr_assert(isnan(y->data[j]));
    tap_tape_free(tape);
}

Test(op_softmax, a_row_has_the_same_bits_whatever_rows_are_with_it)
{
    enum { D = 29, ROWS = 70 };
    const row_operation functions[] = {tap_softmax, tap_log_softmax};
    struct tap_tape *tape = test_tape();
    const size_t all_shape[] = {ROWS, D}, one_shape[] = {1, D};
    static tap_real x[ROWS * D];
    fill_values(x, ROWS * D, OP_FILL_NORMAL, 1);
    for (int f = 0; f < 2; f++) {
        struct tap_tensor *all = functions[f](tape, tap_input(tape, 2, all_shape, x));
        for (size_t row = 0; row < ROWS; row++) {
            struct tap_tensor *one = functions[f](tape, tap_input(tape, 2, one_shape, x + row * D));
            cr_assert(memcmp(one->data, all->data + row * D, D * sizeof *x) == 0, "row %zu", row);
        }
    }
    tap_tape_free(tape);
}

Test(op_softmax, a_null_input_is_refused)
{
    struct tap_tape *tape = test_tape();
    cr_assert_null(tap_softmax(tape, NULL));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_softmax: input 1 is NULL");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_log_softmax(tape, NULL));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_log_softmax: input 1 is NULL");
    tap_tape_free(tape);
}
