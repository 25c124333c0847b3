/* test_op_mse.c: cases and values of tap_mse. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return tap_mse(tape, inputs[0], inputs[1]);
}

static const struct op_case table[] = {
    {"scalars", 2, {{0, {0}, 0, 0}, {0, {0}, 0, 0}}, build, NULL, 0},
    {"one number", 2, {{1, {1}, 0, 0}, {1, {1}, 0, 0}}, build, NULL, 0},
    {"primes", 2, {{2, {5, 7}, 0, 0}, {2, {5, 7}, 0, 0}}, build, NULL, 0},
    {"three dimensions", 2, {{3, {2, 3, 5}, 0, 0}, {3, {2, 3, 5}, 0, 0}}, build, NULL, 0},
    {"constant target", 2, {{2, {5, 7}, 0, 0}, {2, {5, 7}, 0, 1}}, build, NULL, 0},
    {"constant prediction", 2, {{2, {5, 7}, 0, 1}, {2, {5, 7}, 0, 0}}, build, NULL, 0},
    {"empty", 2, {{2, {0, 7}, 0, 0}, {2, {0, 7}, 0, 0}}, build, NULL, 0},
    {"many numbers", 2, {{2, {101, 67}, 0, 0}, {2, {101, 67}, 0, 0}}, build, NULL, 2e-7},
};
OP_CASES(tap_mse, table);

Test(op_mse, value_and_gradients)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 2};
    struct tap_tensor *a = tap_variable(tape, 2, shape, (const tap_real[]){1, 2, 3, 4});
    struct tap_tensor *b = tap_variable(tape, 2, shape, (const tap_real[]){1, 0, 4, 1});
    struct tap_tensor *y = tap_mse(tape, a, b);
    assert_values(y, (const double[]){3.5}, 1, 0); /* (0 + 4 + 1 + 9) / 4 */
    cr_assert_eq(y->n_dims, 0);
    cr_assert_eq(tap_backward(tape, y), TAP_OK);
    const tap_real right[] = {0, 1, -0.5, 1.5};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(a->grad[i], right[i]);
        cr_assert_eq(b->grad[i], -right[i]);
    }
    tap_tape_free(tape);
}

Test(op_mse, a_tensor_against_itself_has_no_error_and_no_gradient)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3};
    struct tap_tensor *a = tap_variable(tape, 1, shape, (const tap_real[]){1, 2, 3});
    struct tap_tensor *y = tap_mse(tape, a, a);
    assert_values(y, (const double[]){0}, 1, 0);
    cr_assert_eq(tap_backward(tape, y), TAP_OK);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(a->grad[i], 0);
    tap_tape_free(tape);
}

Test(op_mse, the_mean_of_no_numbers_is_zero)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {0};
    struct tap_tensor *a = tap_variable(tape, 1, shape, NULL);
    assert_values(tap_mse(tape, a, a), (const double[]){0}, 1, 0);
    tap_tape_free(tape);
}

Test(op_mse, a_mean_of_many_numbers_keeps_its_digits)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {1000000};
    const tap_real step = (tap_real)0.1;
    struct tap_tensor *zeros = tap_input_copy(tape, 1, shape, NULL);
    struct tap_tensor *tenths = tap_add(tape, zeros, tap_input(tape, 0, NULL, &step));
    double right = (double)step * (double)step;
    assert_values(tap_mse(tape, tenths, zeros), &right, 1, 2 * TAP_REAL_EPSILON * 0.01 + 1e-12);
    tap_tape_free(tape);
}

Test(op_mse, shapes_that_differ_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t matrix[] = {2, 3}, row[] = {3};
    struct tap_tensor *a = tap_input_copy(tape, 2, matrix, NULL);
    cr_assert_null(tap_mse(tape, a, tap_input_copy(tape, 1, row, NULL)));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_mse: shapes (2, 3) and (3) differ");
    tap_tape_free(tape);
}
