/* test_op_batch_norm.c: cases and values of tap_batch_norm. Values from PyTorch 1.13 in double unless a comment says
 * otherwise. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { WIDEST = 67 };

/* In evaluation the running statistics are 0.1 j - 1 and 0.5 + 0.1 j. */
static struct tap_tensor *build_with(struct tap_tape *tape, struct tap_tensor *const *inputs, int n_vectors,
                                     bool training, double eps)
{
    tap_real mean[WIDEST], variance[WIDEST];
    for (int j = 0; j < WIDEST; j++) {
        mean[j] = (tap_real)(0.1 * j - 1);
        variance[j] = (tap_real)(0.5 + 0.1 * j);
    }
    return tap_batch_norm(tape, inputs[0], n_vectors > 0 ? inputs[1] : NULL, n_vectors > 1 ? inputs[2] : NULL, mean,
                          variance, 0.1, eps, training);
}

static struct tap_tensor *build_training(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return build_with(tape, inputs, 2, true, 1e-2);
}

static struct tap_tensor *build_evaluation(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return build_with(tape, inputs, 2, false, 1e-5);
}

static struct tap_tensor *build_plain(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return build_with(tape, inputs, 0, true, 1e-2);
}

static struct tap_tensor *build_untracked(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return tap_batch_norm(tape, inputs[0], NULL, inputs[1], NULL, NULL, 0.1, 1e-2, true);
}

#define GAIN_SHIFT(n)                                                                                                  \
    {1, {n}, 0, 0},                                                                                                    \
    {                                                                                                                  \
        1, {n}, 0, 0                                                                                                   \
    }
static const struct op_case table[] = {
    {"one row", 3, {{2, {1, 5}, 0, 0}, GAIN_SHIFT(5)}, build_training, NULL, 0},
    {"one number", 3, {{2, {1, 1}, 0, 0}, GAIN_SHIFT(1)}, build_training, NULL, 0},
    {"one column", 3, {{2, {7, 1}, 0, 0}, GAIN_SHIFT(1)}, build_training, NULL, 0},
    {"primes", 3, {{2, {11, 7}, 0, 0}, GAIN_SHIFT(7)}, build_training, NULL, 0},
    {"features of two blocks", 3, {{2, {5, 17}, 0, 0}, GAIN_SHIFT(17)}, build_training, NULL, 0},
    {"no gain, no shift", 1, {{2, {5, 6}, 0, 0}}, build_plain, NULL, 0},
    {"no gain, no running statistics", 2, {{2, {5, 6}, 0, 0}, {1, {6}, 0, 0}}, build_untracked, NULL, 0},
    {"constant x", 3, {{2, {5, 6}, 0, 1}, GAIN_SHIFT(6)}, build_training, NULL, 0},
    {"constant gain and shift", 3, {{2, {5, 6}, 0, 0}, {1, {6}, 0, 1}, {1, {6}, 0, 1}}, build_training, NULL, 0},
    {"evaluation", 3, {{2, {11, 7}, 0, 0}, GAIN_SHIFT(7)}, build_evaluation, NULL, 0},
    {"evaluation, many rows", 3, {{2, {67, 67}, 0, 0}, GAIN_SHIFT(67)}, build_evaluation, NULL, 0},
    {"empty", 3, {{2, {0, 3}, 0, 0}, GAIN_SHIFT(3)}, build_training, NULL, 0},
    {"no features", 3, {{2, {3, 0}, 0, 0}, GAIN_SHIFT(0)}, build_training, NULL, 0},
    {"many rows", 3, {{2, {67, 67}, 0, 0}, GAIN_SHIFT(67)}, build_training, NULL, 0},
};
OP_CASES(tap_batch_norm, table);

struct setup {
    struct tap_tensor *x, *gain, *shift, *dy;
    tap_real mean[2], variance[2];
};

static struct setup set_up(struct tap_tape *tape)
{
    const size_t shape[] = {3, 2}, two[] = {2};
    return (struct setup){.x = tap_variable(tape, 2, shape, (const tap_real[]){1, 2, 3, -1, 0, 4}),
                          .gain = tap_variable(tape, 1, two, (const tap_real[]){1.5, -2}),
                          .shift = tap_variable(tape, 1, two, (const tap_real[]){0.5, 1}),
                          .dy = tap_input_copy(tape, 2, shape, (const tap_real[]){1, -1, 2, 0.5, -3, 1}),
                          .mean = {(tap_real)0.1, (tap_real)0.2},
                          .variance = {1, 2}};
}

static void assert_gradient(const struct tap_tensor *x, const double *right)
{
    for (size_t i = 0; i < x->size; i++)
        cr_assert_float_eq((double)x->grad[i], right[i], 60 * TAP_REAL_EPSILON + 1e-10,
                           "gradient %zu is %.9g, not %.9g", i, (double)x->grad[i], right[i]);
}

Test(op_batch_norm, training_is_that_of_pytorch)
{
    struct tap_tape *tape = test_tape();
    struct setup s = set_up(tape);
    struct tap_tensor *y = tap_batch_norm(tape, s.x, s.gain, s.shift, s.mean, s.variance, 0.1, 1e-5, true);
    assert_values(
        y,
        (const double[]){0.0991094257061, 0.675557541946, 2.50445287147, 3.59553966443, -1.10356229718, -1.27109720638},
        6, 20 * TAP_REAL_EPSILON + 1e-11);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, s.dy), TAP_ALL_AXES, false)), TAP_OK);
    assert_gradient(s.x, (const double[]){1.80400371862, 1.15262448159, -0.601316532912, -0.46104948527, -1.2026871857,
                                          -0.69157499632});
    assert_gradient(s.gain, (const double[]){5.61246804011, 0.324442458054});
    assert_gradient(s.shift, (const double[]){0, 0.5});
    const double mean[] = {0.223333333333, 0.346666666667}, variance[] = {1.13333333333, 2.43333333333};
    for (int j = 0; j < 2; j++) {
        cr_assert_float_eq((double)s.mean[j], mean[j], 2 * TAP_REAL_EPSILON + 1e-11);
        cr_assert_float_eq((double)s.variance[j], variance[j], 4 * TAP_REAL_EPSILON + 1e-11);
    }
    tap_tape_free(tape);
}

Test(op_batch_norm, evaluation_is_that_of_pytorch_and_changes_no_statistics)
{
    struct tap_tape *tape = test_tape();
    struct setup s = set_up(tape);
    const double means[] = {0.22333333333333333, 0.34666666666666667},
                 variances[] = {1.1333333333333333, 2.4333333333333333};
    for (int j = 0; j < 2; j++) {
        s.mean[j] = (tap_real)means[j];
        s.variance[j] = (tap_real)variances[j];
    }
    struct setup before = s;
    struct tap_tensor *y = tap_batch_norm(tape, s.x, s.gain, s.shift, s.mean, s.variance, 0.1, 1e-5, false);
    assert_values(
        y,
        (const double[]){1.59432212079, -1.11976990644, 4.41231899836, 2.72658677863, 0.185323682005, -3.68400769649},
        6, 20 * TAP_REAL_EPSILON + 1e-10);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, s.dy), TAP_ALL_AXES, false)), TAP_OK);
    assert_gradient(s.x, (const double[]){1.40899843879, 1.28211889502, 2.81799687757, -0.641059447512, -4.22699531636,
                                          -1.28211889502});
    assert_gradient(s.gain, (const double[]){6.57532604767, 0.850472200366});
    assert_gradient(s.shift, (const double[]){0, 0.5});
    cr_assert_eq(memcmp(before.mean, s.mean, sizeof s.mean), 0);
    cr_assert_eq(memcmp(before.variance, s.variance, sizeof s.variance), 0);
    tap_tape_free(tape);
}

Test(op_batch_norm, one_row_gives_the_shift_and_leaves_the_running_variance)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {1, 2};
    struct setup s = set_up(tape);
    struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){7, -3});
    struct tap_tensor *y = tap_batch_norm(tape, x, s.gain, s.shift, s.mean, s.variance, 0.5, 1e-5, true);
    assert_values(y, (const double[]){0.5, 1}, 2, 0);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, y, TAP_ALL_AXES, false)), TAP_OK);
    assert_gradient(x, (const double[]){0, 0});
    cr_assert_float_eq((double)s.mean[0], 3.55, 1e-6); /* (0.1 + 7) / 2 */
    cr_assert_float_eq((double)s.mean[1], -1.4, 1e-6);
    cr_assert(s.variance[0] == 1 && s.variance[1] == 2);
    tap_tape_free(tape);
}

Test(op_batch_norm, no_rows_leave_the_running_statistics)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {0, 2};
    struct setup s = set_up(tape);
    struct setup before = s;
    cr_assert_not_null(tap_batch_norm(tape, tap_input_copy(tape, 2, shape, NULL), s.gain, s.shift, s.mean, s.variance,
                                      0.5, 1e-5, true));
    cr_assert_eq(memcmp(before.mean, s.mean, sizeof s.mean), 0);
    cr_assert_eq(memcmp(before.variance, s.variance, sizeof s.variance), 0);
    tap_tape_free(tape);
}

Test(op_batch_norm, planning_leaves_the_running_statistics)
{
    struct tap_tape *tape = test_tape();
    tap_tape_set_planning(tape, true);
    struct setup s = set_up(tape);
    struct setup before = s;
    cr_assert_not_null(tap_batch_norm(tape, s.x, s.gain, s.shift, s.mean, s.variance, 0.5, 1e-5, true));
    cr_assert_eq(memcmp(before.mean, s.mean, sizeof s.mean), 0);
    cr_assert_eq(memcmp(before.variance, s.variance, sizeof s.variance), 0);
    tap_tape_free(tape);
}

Test(op_batch_norm, a_large_mean_does_not_drown_a_small_spread)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {4, 1};
    struct tap_tensor *x = tap_input(tape, 2, shape, (const tap_real[]){40000, 40001, 40002, 40003});
    assert_values(tap_batch_norm(tape, x, NULL, NULL, NULL, NULL, 0.1, 1e-5, true),
                  (const double[]){-1.341635, -0.447212, 0.447212, 1.341635}, 4, 1e-6); /* by hand */
    struct tap_tensor *huge = tap_input(tape, 2, shape, (const tap_real[]){1e30, -1e30, 1e30, -1e30});
    assert_values(tap_batch_norm(tape, huge, NULL, NULL, NULL, NULL, 0.1, 1e-5, true), (const double[]){1, -1, 1, -1},
                  4, 1e-6);
    tap_tape_free(tape);
}

/* Clears the error and checks what it was. */
static void assert_refused(struct tap_tape *tape, const struct tap_tensor *y, enum tap_status status,
                           const char *message)
{
    cr_assert_null(y);
    cr_assert_eq(tap_tape_error(tape)->status, status);
    cr_assert_str_eq(tap_tape_error(tape)->message, message);
    tap_tape_clear_error(tape);
}

Test(op_batch_norm, arguments_that_do_not_fit_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t three_dims[] = {3, 2, 1};
    struct setup s = set_up(tape);
    struct tap_tensor *cube = tap_input_copy(tape, 3, three_dims, NULL);
    assert_refused(tape, tap_batch_norm(tape, cube, NULL, NULL, NULL, NULL, 0.1, 1e-5, true), TAP_ERR_SHAPE,
                   "tap_batch_norm: x has shape (3, 2, 1); two dimensions are needed");
    assert_refused(tape, tap_batch_norm(tape, s.x, s.dy, NULL, NULL, NULL, 0.1, 1e-5, true), TAP_ERR_SHAPE,
                   "tap_batch_norm: gain has shape (3, 2); x has (3, 2)");
    assert_refused(tape, tap_batch_norm(tape, s.x, s.gain, s.dy, NULL, NULL, 0.1, 1e-5, true), TAP_ERR_SHAPE,
                   "tap_batch_norm: shift has shape (3, 2); x has (3, 2)");
    assert_refused(tape, tap_batch_norm(tape, s.x, s.gain, NULL, NULL, NULL, 0.1, 0, true), TAP_ERR_VALUE,
                   "tap_batch_norm: eps is 0; a number above 0 is needed");
    assert_refused(tape, tap_batch_norm(tape, s.x, s.gain, NULL, NULL, NULL, 1.5, 1e-5, true), TAP_ERR_VALUE,
                   "tap_batch_norm: momentum is 1.5; 0 to 1 is accepted");
    cr_assert_null(tap_batch_norm(tape, s.x, s.gain, NULL, NULL, NULL, NAN, 1e-5, true));
    tap_tape_clear_error(tape);
    assert_refused(tape, tap_batch_norm(tape, s.x, s.gain, NULL, s.mean, NULL, 0.1, 1e-5, false), TAP_ERR_VALUE,
                   "tap_batch_norm: evaluation needs running_mean and running_var");
    tap_tape_free(tape);
}
