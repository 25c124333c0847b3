/* test_op_layer_norm.c: cases and values of tap_layer_norm. Values from PyTorch 1.13 in double unless a comment says
 * otherwise. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Inputs: x, then gain and shift as `has` says. With 1 or 2 columns the gradient is a difference of nearly equal
 * numbers unless eps is large. */
struct extra {
    bool has_gain;
    bool has_shift;
    double eps;
};

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    struct tap_tensor *gain = e->has_gain ? inputs[1] : NULL;
    struct tap_tensor *shift = e->has_shift ? inputs[e->has_gain ? 2 : 1] : NULL;
    return tap_layer_norm(tape, inputs[0], gain, shift, e->eps);
}

static struct tap_tensor *build_own_gain(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return tap_layer_norm(tape, inputs[0], inputs[0], inputs[0], 1e-3);
}

static const struct extra both = {true, true, 1e-5}, both_large_eps = {true, true, 0.5},
                          gain_alone = {true, false, 1e-5}, shift_alone = {false, true, 1e-5},
                          neither = {false, false, 1e-5};
#define GAIN_SHIFT(n)                                                                                                  \
    {1, {n}, 0, 0},                                                                                                    \
    {                                                                                                                  \
        1, {n}, 0, 0                                                                                                   \
    }
static const struct op_case table[] = {
    {"one number", 3, {{1, {1}, 0, 0}, GAIN_SHIFT(1)}, build, &both_large_eps, 0},
    {"one column", 3, {{2, {7, 1}, 0, 0}, GAIN_SHIFT(1)}, build, &both_large_eps, 0},
    {"two columns", 3, {{2, {5, 2}, 0, 0}, GAIN_SHIFT(2)}, build, &both_large_eps, 0},
    {"one row", 3, {{2, {1, 13}, 0, 0}, GAIN_SHIFT(13)}, build, &both, 0},
    {"primes", 3, {{2, {11, 7}, 0, 0}, GAIN_SHIFT(7)}, build, &both, 0},
    {"three dimensions", 3, {{3, {2, 3, 5}, 0, 0}, GAIN_SHIFT(5)}, build, &both, 0},
    {"gain alone", 2, {{2, {5, 6}, 0, 0}, {1, {6}, 0, 0}}, build, &gain_alone, 0},
    {"shift alone", 2, {{2, {5, 6}, 0, 0}, {1, {6}, 0, 0}}, build, &shift_alone, 0},
    {"neither", 1, {{2, {5, 6}, 0, 0}}, build, &neither, 0},
    {"constant x", 3, {{2, {5, 6}, 0, 1}, GAIN_SHIFT(6)}, build, &both, 0},
    {"constant gain and shift", 3, {{2, {5, 6}, 0, 0}, {1, {6}, 0, 1}, {1, {6}, 0, 1}}, build, &both, 0},
    {"constant shift", 3, {{2, {5, 6}, 0, 0}, {1, {6}, 0, 0}, {1, {6}, 0, 1}}, build, &both, 0},
    {"a tensor as its own gain and shift", 1, {{1, {9}, 0, 0}}, build_own_gain, NULL, 0},
    {"empty", 3, {{2, {0, 3}, 0, 0}, GAIN_SHIFT(3)}, build, &both, 0},
    {"many rows", 3, {{2, {67, 67}, 0, 0}, GAIN_SHIFT(67)}, build, &both, 0},
    {"wide", 3, {{2, {9, 515}, 0, 0}, GAIN_SHIFT(515)}, build, &both, 0},
};
OP_CASES(tap_layer_norm, table);

/* y of one row without gain and shift. */
static struct tap_tensor *normalise(struct tap_tape *tape, const tap_real *row, size_t n, double eps)
{
    const size_t shape[] = {1, n};
    return tap_layer_norm(tape, tap_input(tape, 2, shape, row), NULL, NULL, eps);
}

Test(op_layer_norm, values_and_gradients_are_those_of_pytorch)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3}, row[] = {3};
    struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){1, 2, 4, 0.5, -1, 3});
    struct tap_tensor *gain = tap_variable(tape, 1, row, (const tap_real[]){1, 2, -1});
    struct tap_tensor *shift = tap_variable(tape, 1, row, (const tap_real[]){0, 1, 0.5});
    struct tap_tensor *y = tap_layer_norm(tape, x, gain, shift, 1e-5);
    assert_values(y,
                  (const double[]){-1.06904153145, 0.465479234275, -0.836301914313, -0.202030137835, -1.22233151619,
                                   -0.813195895928},
                  6, 20 * TAP_REAL_EPSILON + 1e-11);
    struct tap_tensor *dy = tap_input(tape, 2, shape, (const tap_real[]){1, -2, 3, 0.5, 1, -1});
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, dy), TAP_ALL_AXES, false)), TAP_OK);
    const double dx[] = {1.25994916817,   -1.88991086657, 0.629961698401,
                         -0.445290764586, 0.278307655552, 0.166983109034};
    const double dgain[] = {-1.17005660037, -0.576644992367, 2.69570984701}, dshift[] = {1.5, -1, 2};
    for (int i = 0; i < 6; i++)
        cr_expect_float_eq((double)x->grad[i], dx[i], 40 * TAP_REAL_EPSILON + 1e-11);
    for (int i = 0; i < 3; i++) {
        cr_expect_float_eq((double)gain->grad[i], dgain[i], 40 * TAP_REAL_EPSILON + 1e-11);
        cr_expect_float_eq((double)shift->grad[i], dshift[i], 40 * TAP_REAL_EPSILON);
    }
    tap_tape_free(tape);
}

Test(op_layer_norm, a_large_mean_does_not_drown_a_small_spread)
{
    struct tap_tape *tape = test_tape();
    /* deviations -1.5, -0.5, 0.5, 1.5; variance 1.25: by hand */
    const double right[] = {-1.341635, -0.447212, 0.447212, 1.341635};
    assert_values(normalise(tape, (const tap_real[]){2000, 2001, 2002, 2003}, 4, 1e-5), right, 4, 1e-5);
    assert_values(normalise(tape, (const tap_real[]){40000, 40001, 40002, 40003}, 4, 1e-5), right, 4, 1e-5);
    tap_real row[1000];
    for (int j = 0; j < 1000; j++)
        row[j] = (tap_real)(10000 + (j % 4));
    struct tap_tensor *y = normalise(tape, row, 1000, 1e-5);
    for (int j = 0; j < 1000; j++)
        cr_assert_float_eq((double)y->data[j], right[j % 4], 2e-6);
#ifdef TAP_REAL_IS_DOUBLE
    assert_values(normalise(tape, (const tap_real[]){1e6, 1e6 + 0.01, 1e6 + 0.02, 1e6 + 0.03}, 4, 1e-8),
                  (const double[]){-1.34158712015, -0.447195704087, 0.447195711972, 1.34158712803}, 4, 3e-8);
#endif
    tap_tape_free(tape);
}

Test(op_layer_norm, huge_numbers_are_normalised)
{
    struct tap_tape *tape = test_tape();
    assert_values(normalise(tape, (const tap_real[]){1e30, -1e30}, 2, 1e-5), (const double[]){1, -1}, 2, 1e-6);
    assert_values(normalise(tape, (const tap_real[]){3e38, -3e38, 3e38, -3e38}, 4, 1e-5),
                  (const double[]){1, -1, 1, -1}, 4, 1e-6);
    tap_tape_free(tape);
}

Test(op_layer_norm, a_single_feature_gives_exactly_the_shift_whatever_the_gain)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {1, 1}, one[] = {1};
    const tap_real gains[] = {(tap_real)1e10, (tap_real)1e20};
    for (int i = 0; i < 2; i++) {
        struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){-3});
        struct tap_tensor *y = tap_layer_norm(tape, x, tap_input(tape, 1, one, &gains[i]),
                                              tap_input(tape, 1, one, (const tap_real[]){-1}), 0.1);
        assert_values(y, (const double[]){-1}, 1, 0);
        cr_assert_eq(tap_backward(tape, y), TAP_OK);
        cr_assert_eq(x->grad[0], 0);
    }
    tap_tape_free(tape);
}

Test(op_layer_norm, equal_numbers_give_exactly_the_shift)
{
    struct tap_tape *tape = test_tape();
    tap_real x[97], gain[97], shift[97];
    for (size_t n = 1; n <= 97; n++) {
        for (size_t j = 0; j < n; j++) {
            x[j] = (tap_real)0.1;
            gain[j] = (tap_real)1e10;
            shift[j] = (tap_real)j;
        }
        struct tap_tensor *y = tap_layer_norm(tape, tap_input(tape, 1, &n, x), tap_input(tape, 1, &n, gain),
                                              tap_input(tape, 1, &n, shift), 1e-5);
        for (size_t j = 0; j < n; j++)
            cr_assert_eq(y->data[j], shift[j], "%zu numbers: %g, not %zu", n, (double)y->data[j], j);
    }
    tap_tape_free(tape);
}

Test(op_layer_norm, a_constant_row_has_a_finite_gradient)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {1, 4};
    const double epsilons[] = {1e-5, 1e-12, 1e-300};
    for (int i = 0; i < 3; i++) {
        struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){5, 5, 5, 5});
        struct tap_tensor *y = tap_layer_norm(tape, x, NULL, NULL, epsilons[i]);
        assert_values(y, (const double[]){0, 0, 0, 0}, 4, 0);
        struct tap_tensor *dy = tap_input(tape, 2, shape, (const tap_real[]){1, 2, 3, 4});
        cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, dy), TAP_ALL_AXES, false)), TAP_OK);
        for (int j = 0; j < 4 && epsilons[i] > 1e-100; j++) /* r (j - 1.5), r = 1/sqrt(eps): by hand */
            cr_assert_float_eq((double)x->grad[j] * sqrt(epsilons[i]), j - 1.5, 1e-6);
    }
    tap_tape_free(tape);
}

Test(op_layer_norm, a_row_has_the_same_bits_wherever_it_stands)
{
    struct tap_tape *tape = test_tape();
    enum { WIDTH = 61, ROWS = 70 };
    tap_real rows[ROWS * WIDTH];
    fill_values(rows, WIDTH, OP_FILL_NORMAL, 1);
    for (size_t i = WIDTH; i < ROWS * WIDTH; i++)
        rows[i] = rows[i % WIDTH];
    const size_t many[] = {ROWS, WIDTH};
    struct tap_tensor *alone = normalise(tape, rows, WIDTH, 1e-5);
    struct tap_tensor *together = tap_layer_norm(tape, tap_input(tape, 2, many, rows), NULL, NULL, 1e-5);
    for (size_t row = 0; row < ROWS; row++)
        cr_assert_eq(memcmp(alone->data, together->data + row * WIDTH, WIDTH * sizeof *rows), 0, "row %zu", row);
    tap_tape_free(tape);
}

Test(op_layer_norm, the_gradient_of_the_shift_keeps_its_digits_over_many_rows)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {100000, 2}, two[] = {2};
    const tap_real tenth = (tap_real)0.1;
    struct tap_tensor *shift = tap_variable(tape, 1, two, NULL);
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    struct tap_tensor *y = tap_layer_norm(tape, x, NULL, shift, 1e-5);
    cr_assert_eq(
        tap_backward(tape, tap_sum(tape, tap_mul(tape, y, tap_input(tape, 0, NULL, &tenth)), TAP_ALL_AXES, false)),
        TAP_OK);
    cr_assert_float_eq((double)shift->grad[0], 10000, 1e-2); /* a plain float sum is off by 1 */
    tap_tape_free(tape);
}

Test(op_layer_norm, shapes_and_eps_that_do_not_fit_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t two_four[] = {2, 4}, three[] = {3}, two_zero[] = {2, 0};
    struct tap_tensor *x = tap_input_copy(tape, 2, two_four, NULL);
    struct tap_tensor *vector = tap_input_copy(tape, 1, three, NULL);
    struct tap_tensor *scalar = tap_input_copy(tape, 0, NULL, NULL);
    struct tap_tensor *no_columns = tap_input_copy(tape, 2, two_zero, NULL);
    cr_assert_null(tap_layer_norm(tape, x, vector, NULL, 1e-5));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_layer_norm: gain has shape (3); x has (2, 4)");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_layer_norm(tape, x, NULL, x, 1e-5));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_layer_norm: shift has shape (2, 4); x has (2, 4)");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_layer_norm(tape, scalar, NULL, NULL, 1e-5));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    tap_tape_clear_error(tape);
    cr_assert_null(tap_layer_norm(tape, no_columns, NULL, NULL, 1e-5));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    const double refused[] = {0, -1e-5, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        tap_tape_clear_error(tape);
        cr_assert_null(tap_layer_norm(tape, x, NULL, NULL, refused[i]));
        cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
        cr_assert(strstr(tap_tape_error(tape)->message, "eps") != NULL);
    }
    tap_tape_clear_error(tape);
    cr_assert_null(tap_layer_norm(tape, NULL, NULL, NULL, 1e-5));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_layer_norm: input 1 is NULL");
    tap_tape_free(tape);
}
