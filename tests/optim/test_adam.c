/* test_adam.c: what Adam and AMSGrad are known to get wrong, and the edges of eps. */
#include <criterion/criterion.h>
#include <math.h>

#include "optim_support.h"

static const struct support_shape one_number = {2, {1, 1}};

/* One parameter that starts at 0; out: how far each step moves it down. */
static void moves_of(const char *name, const struct tap_optimizer_options *options, double learning_rate, int n_steps,
                     const double *gradients, double *out_moves)
{
    struct tap_parameters parameters = support_parameters(1, &one_number);
    struct tap_optimizer *optimizer = support_optimizer(name, options, &parameters);
    for (int i = 0; i < n_steps; i++) {
        double before = (double)*parameters.data;
        *parameters.grad = (tap_real)gradients[i];
        cr_assert_eq(tap_optimizer_step(optimizer, learning_rate, 1), TAP_OK);
        out_moves[i] = before - (double)*parameters.data;
    }
    tap_optimizer_free(optimizer);
    tap_parameters_clear(&parameters);
}

static void assert_moves(int n, const double *moves, const double *right, double tolerance)
{
    for (int i = 0; i < n; i++)
        cr_assert_float_eq(moves[i], right[i], tolerance * right[i], "step %d: %.9g, not %.9g", i + 1, moves[i],
                           right[i]);
}

/* The right values are given to seven digits; float keeps about as many. */
#define SEVEN_DIGITS 5e-7

Test(adam, eps_is_added_after_the_bias_correction)
{
    const struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    const double gradients[][3] = {{1, 1, 1}, {1e-6, 1e-6, 1e-6}, {1e-8, 1e-8, 1e-8}};
    const double right[] = {9.9999999e-4, 9.900990e-4, 5.000000e-4};
    for (int k = 0; k < 3; k++) {
        double moves[3];
        moves_of("adam", &options, 1e-3, 3, gradients[k], moves);
        assert_moves(3, moves, (const double[]){right[k], right[k], right[k]}, SEVEN_DIGITS);
    }
}

Test(adam, amsgrad_keeps_the_largest_raw_moment)
{
    const double gradients[] = {1, 0, 0};
    struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999, .amsgrad = true};
    double moves[3];
    moves_of("adam", &options, 1, 3, gradients, moves);
    assert_moves(3, moves, (const double[]){1, 0.669723, 0.517439}, 2e-6);
    options.amsgrad = false;
    moves_of("adam", &options, 1, 3, gradients, moves);
    assert_moves(3, moves, (const double[]){1, 0.670058, 0.517957}, 2e-6);
}

Test(adam, a_number_without_gradients_keeps_its_value_when_eps_is_zero)
{
    const struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999};
    const double gradients[] = {0, 0, 2};
    double moves[3];
    moves_of("adam", &options, 1e-3, 3, gradients, moves);
    cr_assert(moves[0] == 0 && moves[1] == 0);
    cr_assert_gt(moves[2], 1e-4);
}

Test(adam, a_gradient_that_is_no_number_shows_in_the_parameter)
{
    const struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999, .amsgrad = true};
    const double gradients[] = {1, NAN, 1};
    double moves[3];
    moves_of("adam", &options, 1e-3, 3, gradients, moves);
    cr_assert(!isnan(moves[0]) && isnan(moves[1]) && isnan(moves[2]), "eps 0 must not hide it");
}

Test(adam, betas_of_zero_give_the_sign_of_the_gradient)
{
    const struct tap_optimizer_options options = {.eps = 0};
    const double gradients[] = {4, 0.25, 4};
    double moves[3];
    moves_of("adam", &options, 0.5, 3, gradients, moves);
    assert_moves(3, moves, (const double[]){0.5, 0.5, 0.5}, 0);
}

Test(adam, gradients_of_1e15_and_1e_minus_15_move_as_far)
{
    const struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999};
    const double large[] = {1e15, 1e15, 1e15}, small[] = {1e-15, 1e-15, 1e-15};
    const double right[] = {1e-3, 1e-3, 1e-3};
    double moves[3];
    moves_of("adam", &options, 1e-3, 3, large, moves);
    assert_moves(3, moves, right, 1e-6);
    moves_of("adam", &options, 1e-3, 3, small, moves);
    assert_moves(3, moves, right, 1e-6);
}

Test(adam, decay_is_decoupled_in_adamw_alone)
{
    /* without a gradient L2 decay is all that Adam sees: it moves by the rate, however small the decay */
    const struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999, .weight_decay = 0.5};
    const char *names[] = {"adam", "adamw"};
    const double right[] = {4 - 0.125, 4 - 0.125 * 0.5 * 4};
    for (int k = 0; k < 2; k++) {
        struct tap_parameters parameters = support_parameters(1, &one_number);
        struct tap_optimizer *optimizer = support_optimizer(names[k], &options, &parameters);
        *parameters.data = 4;
        cr_assert_eq(tap_optimizer_step(optimizer, 0.125, 1), TAP_OK);
        cr_assert_float_eq((double)*parameters.data, right[k], 1e-6, "%s: %g", names[k], (double)*parameters.data);
        tap_optimizer_free(optimizer);
        tap_parameters_clear(&parameters);
    }
}
