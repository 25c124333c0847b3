/* test_clip.c: the clipping factor, the gradient norm, and what a step makes of both. */
#include "clip.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "mem.h"
#include "optim_support.h"
#include "parallel.h"

static const struct support_shape pair = {1, {2}};
static const struct support_shape many[] = {{2, {211, 307}}, {1, {5}},    {2, {16384, 2}},
                                            {0, {0}},        {2, {0, 3}}, {1, {40007}}};

Test(clip, factor_is_that_of_pytorch)
{
    cr_assert_float_eq(tap_clip_factor(5, 1), 1 / 5.000001, 1e-16);
    cr_assert_eq(tap_clip_factor(0.5, 1), 1);
    cr_assert_lt(tap_clip_factor(1, 1), 1, "the guard of 1e-6 already bites at the limit");
    cr_assert_eq(tap_clip_factor(0, 1), 1, "no 0/0");
    cr_assert_eq(tap_clip_factor(0, 1e-30), 1e-30 / 1e-6);
}

Test(clip, a_limit_of_zero_or_infinity_is_off)
{
    cr_assert_eq(tap_clip_factor(1e30, 0), 1);
    cr_assert_eq(tap_clip_factor(1e30, INFINITY), 1);
    cr_assert_eq(tap_clip_factor(0, 0), 1);
}

Test(clip, a_tiny_limit_is_a_limit)
{
    double factor = tap_clip_factor(5, 1e-30);
    cr_assert_float_eq(factor * 5.000001, 1e-30, 1e-45);
}

Test(clip, a_negative_limit_or_none_at_all_stops_the_step)
{
    cr_assert(isnan(tap_clip_factor(5, -1)));
    cr_assert(isnan(tap_clip_factor(5, -INFINITY)));
    cr_assert(isnan(tap_clip_factor(5, NAN)));
}

Test(clip, a_norm_that_is_not_finite_stops_the_step_with_clipping_on_or_off)
{
    const double limits[] = {0, 1, INFINITY};
    for (int i = 0; i < 3; i++) {
        cr_assert(isnan(tap_clip_factor(INFINITY, limits[i])));
        cr_assert(isnan(tap_clip_factor(NAN, limits[i])));
    }
}

Test(clip, a_clipped_step_moves_by_the_limit)
{
    struct tap_parameters parameters = support_parameters(1, &pair);
    struct tap_optimizer *optimizer = support_optimizer("sgd", &(struct tap_optimizer_options){0}, &parameters);
    parameters.grad[0] = 3;
    parameters.grad[1] = 4;
    double norm = tap_parameters_grad_norm(&parameters);
    cr_assert_eq(norm, 5);
    cr_assert_eq(tap_optimizer_step(optimizer, 1, tap_clip_factor(norm, 1)), TAP_OK);
    cr_assert_float_eq((double)parameters.data[0], -0.59999988, 6e-8); /* float's last digit */
    cr_assert_float_eq((double)parameters.data[1], -0.79999984, 6e-8);
    cr_assert(parameters.grad[0] == 3 && parameters.grad[1] == 4, "gradients are not rewritten");
    tap_optimizer_free(optimizer);
    tap_parameters_clear(&parameters);
}

Test(clip, gradients_that_are_not_finite_leave_every_bit_of_parameters_and_states)
{
    const double bad[] = {INFINITY, -INFINITY, NAN};
    const double limits[] = {0, 1};
    for (size_t v = 0; v < support_n_variants; v++)
        for (int b = 0; b < 6; b++) {
            struct tap_parameters parameters = support_parameters(1, &pair);
            struct tap_optimizer *optimizer =
                support_optimizer(support_variants[v].name, &support_variants[v].options, &parameters);
            parameters.grad[0] = parameters.grad[1] = 1;
            cr_assert_eq(tap_optimizer_step(optimizer, 1e-3, 1), TAP_OK);
            tap_real data[2], states[3][2];
            memcpy(data, parameters.data, sizeof data);
            for (size_t i = 0; i < tap_optimizer_n_states(optimizer); i++)
                memcpy(states[i], tap_optimizer_state_block(optimizer, i), sizeof states[i]);
            parameters.grad[0] = (tap_real)bad[b % 3];
            double factor = tap_clip_factor(tap_parameters_grad_norm(&parameters), limits[b / 3]);
            cr_assert_eq(tap_optimizer_step(optimizer, 1e-3, factor), TAP_ERR_NONFINITE);
            cr_assert_arr_eq(data, parameters.data, sizeof data);
            for (size_t i = 0; i < tap_optimizer_n_states(optimizer); i++)
                cr_assert_arr_eq(states[i], tap_optimizer_state_block(optimizer, i), sizeof states[i]);
            cr_assert_eq(tap_optimizer_steps(optimizer), 1);
            tap_optimizer_free(optimizer);
            tap_parameters_clear(&parameters);
        }
}

Test(grad_norm, no_parameters_or_zero_gradients_give_zero)
{
    struct tap_parameters none = support_parameters(0, NULL);
    cr_assert_eq(tap_parameters_grad_norm(&none), 0);
    tap_parameters_clear(&none);
    struct tap_parameters empty = support_parameters(1, &many[4]);
    cr_assert_eq(tap_parameters_grad_norm(&empty), 0);
    tap_parameters_clear(&empty);
    struct tap_parameters zero = support_parameters(6, many);
    cr_assert_eq(tap_parameters_grad_norm(&zero), 0);
    tap_parameters_clear(&zero);
}

Test(grad_norm, is_the_root_of_the_sum_of_squares_of_every_gradient)
{
    struct tap_parameters parameters = support_parameters(6, many);
    support_fill_grad(&parameters, 7);
    long double sum = 0;
    for (size_t p = 0; p < parameters.n; p++)
        for (size_t i = 0; i < parameters.items[p]->tensor.size; i++)
            sum += (long double)parameters.items[p]->tensor.grad[i] * parameters.items[p]->tensor.grad[i];
    double right = (double)sqrtl(sum);
    cr_assert_float_eq(tap_parameters_grad_norm(&parameters), right, 1e-13 * right); /* sums in double */
    tap_parameters_clear(&parameters);
}

Test(grad_norm, gradients_of_1e30_and_1e_minus_30_do_not_overflow_or_vanish)
{
    struct tap_parameters parameters = support_parameters(1, &pair);
    const double sizes[] = {1e30, 1e-30};
    for (int i = 0; i < 2; i++) {
        parameters.grad[0] = (tap_real)(3 * sizes[i]);
        parameters.grad[1] = (tap_real)(4 * sizes[i]);
        cr_assert_float_eq(tap_parameters_grad_norm(&parameters) / sizes[i], 5, 1e-6);
    }
    tap_parameters_clear(&parameters);
}

Test(grad_norm, one_bad_gradient_anywhere_shows)
{
    struct tap_parameters parameters = support_parameters(6, many);
    const double bad[] = {INFINITY, -INFINITY, NAN};
    support_fill_grad(&parameters, 7);
    for (size_t p = 0; p < parameters.n; p++) {
        size_t size = parameters.items[p]->tensor.size;
        const size_t places[] = {0, size / 2, size - 1};
        for (int k = 0; k < 9 && size > 0; k++) {
            tap_real *place = &parameters.items[p]->tensor.grad[places[k / 3]];
            tap_real kept = *place;
            *place = (tap_real)bad[k % 3];
            double norm = tap_parameters_grad_norm(&parameters);
            cr_assert(k % 3 == 2 ? isnan(norm) : isinf(norm), "parameter %zu, %g: norm %g", p, bad[k % 3], norm);
            *place = kept;
        }
    }
    cr_assert(isfinite(tap_parameters_grad_norm(&parameters)));
    tap_parameters_clear(&parameters);
}

Test(grad_norm, has_the_same_bits_for_any_thread_count_and_allocates_nothing)
{
    struct tap_parameters parameters = support_parameters(6, many);
    support_fill_grad(&parameters, 7);
    tap_set_threads(1);
    double one = tap_parameters_grad_norm(&parameters);
    for (int threads = 2; threads <= 4; threads++) {
        tap_set_threads(threads);
        uint64_t n_calls = tap_mem_n_calls();
        cr_assert_eq(tap_parameters_grad_norm(&parameters), one, "%d threads", threads);
        cr_assert_eq(tap_mem_n_calls(), n_calls);
    }
    tap_parameters_clear(&parameters);
}

/* More numbers than the fixed number of parts can hold at their least length, so that the parts grow. */
Test(grad_norm, counts_every_number_of_a_large_block)
{
    const struct support_shape large = {1, {256 * 8192 + 300001}};
    struct tap_parameters parameters = support_parameters(1, &large);
    for (size_t i = 0; i < large.shape[0]; i++)
        parameters.grad[i] = 1;
    cr_assert_eq(tap_parameters_grad_norm(&parameters), sqrt(256 * 8192 + 300001));
    tap_parameters_clear(&parameters);
}
