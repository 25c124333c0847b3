/* test_op_unary.c: cases and values of the elementwise operations of one tensor. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef struct tap_tensor *(*unary_function)(struct tap_tape *, struct tap_tensor *);

static struct tap_tensor *build_unary(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    unary_function function;
    memcpy(&function, extra, sizeof function);
    return function(tape, inputs[0]);
}

/* The operation twice, added: two parts of the same gradient. */
static struct tap_tensor *build_twice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_add(tape, build_unary(tape, inputs, extra), build_unary(tape, inputs, extra));
}

/* `rows` of 103 are several blocks and enough work for several threads. */
#define UNARY_SHAPES(build, twice, fill, rows, extra)                                                                  \
    {                                                                                                                  \
        {"scalar", 1, {{0, {0}, fill, 0}}, build, extra, 0}, {"one number", 1, {{1, {1}, fill, 0}}, build, extra, 0},  \
            {"a prime", 1, {{1, {17}, fill, 0}}, build, extra, 0},                                                     \
            {"one row", 1, {{2, {1, 31}, fill, 0}}, build, extra, 0},                                                  \
            {"one column", 1, {{2, {13, 1}, fill, 0}}, build, extra, 0},                                               \
            {"three dimensions", 1, {{3, {2, 5, 7}, fill, 0}}, build, extra, 0},                                       \
            {"several blocks", 1, {{2, {rows, 103}, fill, 0}}, build, extra, 0},                                       \
            {"empty", 1, {{2, {0, 3}, fill, 0}}, build, extra, 0},                                                     \
            {"constant", 1, {{2, {3, 5}, fill, 1}}, build, extra, 0},                                                  \
            {"twice", 1, {{2, {3, 5}, fill, 0}}, twice, extra, 0},                                                     \
    }
#define UNARY_CASES(function, fill, rows)                                                                              \
    static const unary_function function##_pointer = function;                                                         \
    static const struct op_case function##_table[] =                                                                   \
        UNARY_SHAPES(build_unary, build_twice, fill, rows, &function##_pointer);                                       \
    OP_CASES(function, function##_table)
UNARY_CASES(tap_relu, OP_FILL_AWAY, 211);
UNARY_CASES(tap_gelu, OP_FILL_NORMAL, 83);
UNARY_CASES(tap_gelu_tanh, OP_FILL_NORMAL, 83);
UNARY_CASES(tap_silu, OP_FILL_NORMAL, 83);
UNARY_CASES(tap_tanh, OP_FILL_NORMAL, 83);
UNARY_CASES(tap_sigmoid, OP_FILL_NORMAL, 83);
UNARY_CASES(tap_exp, OP_FILL_NORMAL, 83);
UNARY_CASES(tap_log, OP_FILL_POSITIVE, 83);
UNARY_CASES(tap_sqrt, OP_FILL_POSITIVE, 211);

static struct tap_tensor *build_pow(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_pow(tape, inputs[0], *(const double *)extra);
}

static const double exponents[] = {2, -1, 0.5, 0, 1, 3};
static const struct op_case pow_table[] = {
    {"a square", 1, {{2, {3, 5}, OP_FILL_NORMAL, 0}}, build_pow, &exponents[0], 0},
    {"an inverse", 1, {{2, {3, 5}, OP_FILL_POSITIVE, 0}}, build_pow, &exponents[1], 0},
    {"a root", 1, {{1, {17}, OP_FILL_POSITIVE, 0}}, build_pow, &exponents[2], 0},
    {"exponent 0", 1, {{1, {17}, OP_FILL_NORMAL, 0}}, build_pow, &exponents[3], 0},
    {"exponent 1", 1, {{0, {0}, OP_FILL_NORMAL, 0}}, build_pow, &exponents[4], 0},
    {"a cube, several blocks", 1, {{2, {83, 101}, OP_FILL_NORMAL, 0}}, build_pow, &exponents[5], 0},
    {"empty", 1, {{2, {5, 0}, OP_FILL_NORMAL, 0}}, build_pow, &exponents[0], 0},
    {"one number", 1, {{1, {1}, OP_FILL_NORMAL, 0}}, build_pow, &exponents[0], 0},
};
OP_CASES(tap_pow, pow_table);

static struct tap_tensor *build_scale(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_scale(tape, inputs[0], *(const double *)extra);
}

static struct tap_tensor *build_scale_twice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_add(tape, build_scale(tape, inputs, extra), build_scale(tape, inputs, extra));
}
static const double factor = -1.75;
static const struct op_case scale_table[] = UNARY_SHAPES(build_scale, build_scale_twice, OP_FILL_NORMAL, 211, &factor);
OP_CASES(tap_scale, scale_table);

/* y and dy/dx of `function` at n places. */
static void value_and_slope(unary_function function, size_t n, const tap_real *x, tap_real *out_y, tap_real *out_slope)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *in = tap_variable(tape, 1, &n, x);
    struct tap_tensor *y = function(tape, in);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, y, TAP_ALL_AXES, false)), TAP_OK);
    memcpy(out_y, y->data, n * sizeof *x);
    memcpy(out_slope, in->grad, n * sizeof *x);
    tap_tape_free(tape);
}

static void assert_near(const tap_real *values, const double *right, size_t n, double tolerance, const char *what)
{
    for (size_t i = 0; i < n; i++)
        cr_assert(fabs((double)values[i] - right[i]) <= tolerance, "%s %zu is %.9g, not %.9g", what, i,
                  (double)values[i], right[i]);
}

Test(op_unary, gelu_forms_have_their_own_values)
{
    /* BR-16; the constants are given to 8 places */
    const tap_real x[] = {1, 3, -1, -3};
    tap_real y[4], slope[4];
    value_and_slope(tap_gelu, 4, x, y, slope);
    assert_near(y, (const double[]){0.84134475, 2.99595031, -0.15865525, -0.00404969}, 4, 3e-7, "gelu");
    cr_assert_float_eq((double)slope[0], 1.0833155, 5e-7);
    value_and_slope(tap_gelu_tanh, 4, x, y, slope);
    assert_near(y, (const double[]){0.84119199, 2.99636261, -0.15880801, -0.00363739}, 4, 3e-7, "gelu_tanh");
    cr_assert_float_eq((double)slope[0], 1.0829641, 5e-7);
}

Test(op_unary, gelu_gradients_saturate_without_a_nan)
{
    /* BR-15 */
    const tap_real x[] = {-100, -50, -10, -1, 0, 1, 10, 50, 100};
    const unary_function functions[] = {tap_gelu, tap_gelu_tanh};
    for (int f = 0; f < 2; f++) {
        tap_real y[9], slope[9];
        value_and_slope(functions[f], 9, x, y, slope);
        for (int i = 0; i < 9; i++)
            cr_assert(isfinite(y[i]) && isfinite(slope[i]), "at %g: %g, slope %g", (double)x[i], (double)y[i],
                      (double)slope[i]);
        cr_assert_lt(fabs((double)slope[0]), 1e-30);
        cr_assert_lt(fabs((double)slope[1]), 1e-30);
        cr_assert_eq(slope[4], (tap_real)0.5);
        for (int i = 6; i < 9; i++)
            cr_assert_float_eq((double)slope[i], 1, 2e-7);
        cr_assert_eq(y[8], 100);
    }
}

Test(op_unary, no_finite_input_makes_a_nan)
{
    const tap_real big = (tap_real)3e38;
    const tap_real x[] = {
        -big, (tap_real)-1e30, -104, (tap_real)-88.8, (tap_real)-1e-30, 0, (tap_real)1e-30, (tap_real)88.8,
        104,  (tap_real)1e30,  big};
    const unary_function functions[] = {tap_relu, tap_gelu, tap_gelu_tanh, tap_silu, tap_tanh, tap_sigmoid};
    enum { N = sizeof x / sizeof x[0] };
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        tap_real y[N], slope[N];
        value_and_slope(functions[f], N, x, y, slope);
        for (int i = 0; i < N; i++)
            cr_assert(isfinite(y[i]) && isfinite(slope[i]), "function %zu at %g: %g, slope %g", f, (double)x[i],
                      (double)y[i], (double)slope[i]);
        bool is_activation = f < 4;
        cr_assert_eq(y[N - 1], is_activation ? big : 1);
        cr_assert_eq(slope[N - 1], is_activation ? 1 : 0);
        cr_assert_eq(y[0], functions[f] == tap_tanh ? -1 : 0);
        cr_assert_eq(slope[0], 0);
    }
}

Test(op_unary, infinities_keep_their_limits_and_a_nan_stays)
{
    const tap_real x[] = {-(tap_real)INFINITY, (tap_real)INFINITY, (tap_real)NAN};
    const unary_function functions[] = {tap_relu, tap_gelu, tap_gelu_tanh, tap_silu, tap_tanh, tap_sigmoid, tap_exp};
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        tap_real y[3], slope[3];
        value_and_slope(functions[f], 3, x, y, slope);
        cr_assert_eq(y[0], functions[f] == tap_tanh ? -1 : 0, "function %zu: %g", f, (double)y[0]);
        cr_assert(functions[f] == tap_tanh || functions[f] == tap_sigmoid ? y[1] == 1 : isinf(y[1]), "function %zu", f);
        cr_assert(isnan(y[2]), "function %zu", f);
    }
}

Test(op_unary, values_agree_with_the_c_library_in_double)
{
    enum { N = 2001 };
    tap_real x[N], y[N], slope[N];
    for (int i = 0; i < N; i++)
        x[i] = (tap_real)((i - 1000) * 0.0171);
    double tolerance = TAP_REAL_EPSILON * 4; /* relative: a handful of roundings */
    for (int f = 0; f < 5; f++) {
        const unary_function functions[] = {tap_gelu, tap_gelu_tanh, tap_silu, tap_tanh, tap_sigmoid};
        value_and_slope(functions[f], N, x, y, slope);
        for (int i = 0; i < N; i++) {
            double v = (double)x[i], right;
            if (f == 0)
                right = v * 0.5 * erfc(-v / sqrt(2));
            else if (f == 1)
                right = v / (1 + exp(-2 * sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
            else if (f == 3)
                right = tanh(v);
            else
                right = (f == 2 ? v : 1) / (1 + exp(-v));
            /* a relative rounding e of the exponent u makes exp(u) wrong by u e */
            double allowed = tolerance * (1 + fabs(log(fabs(right) + 1e-300))) * fabs(right) + 1e-37;
            cr_assert(fabs((double)y[i] - right) <= allowed, "function %d at %.9g: %.9g, not %.9g", f, v, (double)y[i],
                      right);
        }
    }
}

Test(op_unary, relu_is_flat_at_zero)
{
    const tap_real x[] = {-2, 0, 3};
    tap_real y[3], slope[3];
    value_and_slope(tap_relu, 3, x, y, slope);
    assert_near(y, (const double[]){0, 0, 3}, 3, 0, "relu");
    assert_near(slope, (const double[]){0, 0, 1}, 3, 0, "slope");
}

Test(op_unary, powers_have_their_values)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {4};
    const tap_real values[] = {-2, 0, 1, 3};
    struct tap_tensor *x = tap_variable(tape, 1, shape, values);
    assert_values(tap_pow(tape, x, 2), (const double[]){4, 0, 1, 9}, 4, 0);
    struct tap_tensor *constant = tap_pow(tape, x, 0);
    assert_values(constant, (const double[]){1, 1, 1, 1}, 4, 0);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, constant, TAP_ALL_AXES, false)), TAP_OK);
    assert_near(x->grad, (const double[]){0, 0, 0, 0}, 4, 0, "slope");
    assert_values(tap_scale(tape, x, -0.5), (const double[]){1, 0, -0.5, -1.5}, 4, 0);
    tap_tape_free(tape);
}

Test(op_unary, parameters_that_are_no_numbers_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2};
    struct tap_tensor *x = tap_input_copy(tape, 1, shape, NULL);
    cr_assert_null(tap_scale(tape, x, (double)NAN));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_scale: factor nan is not a finite " TAP_REAL_NAME);
    cr_assert_null(tap_scale(tape, x, 1), "the tape has failed");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_pow(tape, x, (double)INFINITY));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_pow: exponent inf is not a finite " TAP_REAL_NAME);
    tap_tape_clear_error(tape);
    cr_assert_null(tap_gelu(tape, NULL));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_gelu: input 1 is NULL");
    tap_tape_free(tape);
}

Test(op_unary, a_number_has_the_same_bits_wherever_it_stands)
{
    /* vector loop and remainder: one value in rows of every length up to 70 */
    const unary_function functions[] = {tap_relu, tap_gelu, tap_gelu_tanh, tap_silu, tap_tanh, tap_sigmoid, tap_exp};
    tap_real x[70], y[70], slope[70];
    for (int i = 0; i < 70; i++)
        x[i] = (tap_real)-0.737;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        tap_real first_y, first_slope;
        value_and_slope(functions[f], 1, x, &first_y, &first_slope);
        for (size_t n = 2; n <= 70; n++) {
            value_and_slope(functions[f], n, x, y, slope);
            for (size_t i = 0; i < n; i++)
                cr_assert(y[i] == first_y && slope[i] == first_slope, "function %zu, number %zu of %zu", f, i, n);
        }
    }
}
