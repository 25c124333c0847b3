/* test_norm.c: cases of the norm layer, and that it can undo itself. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <math.h>

#include "autograd/op_cases.h"

struct options {
    enum tap_norm kind;
    bool bias;
    double eps;
};

static void add(struct layer_run *run, const struct layer_case *c, struct tap_error *error)
{
    const struct options *options = c->options;
    tap_norm_layer_add(&run->layer.norm, &run->parameters, "norm", options->kind, c->d_model, options->eps, options->bias, error);
}

static struct tap_tensor *forward(struct layer_run *run, const struct tap_context *context)
{
    struct tap_tensor *y = tap_norm_layer_forward(&run->layer.norm, context, run->x);
    return y == run->x ? tap_scale(context->tape, y, 1) : y; /* an operation for the plan to count */
}

static const struct options plain = {TAP_NORM_LAYER, true, 1e-5}, without_bias = {TAP_NORM_LAYER, false, 1e-5},
                            large_eps = {TAP_NORM_LAYER, true, 0.25}, none = {TAP_NORM_NONE, true, 1e-5}, batch = {TAP_NORM_BATCH, true, 1e-5},
                            batch_without_bias = {TAP_NORM_BATCH, false, 1e-3};
static const struct layer_case cases[] = {
    {"layer norm", 6, &plain, false},
    {"no shift", 7, &without_bias, false},
    {"large eps, two columns", 2, &large_eps, false},
    {"none", 5, &none, false},
    {"batch norm", 5, &batch, true},
    {"batch norm, no shift", 3, &batch_without_bias, true},
};
LAYER_CASES(tap_norm_layer, cases, add, forward, NULL);

Test(norm_layer, starts_with_gain_one_and_shift_zero)
{
    struct tap_parameters parameters = {0};
    struct tap_norm_layer layer;
    struct tap_error error = {0};
    tap_norm_layer_add(&layer, &parameters, "norm1", TAP_NORM_LAYER, 5, 1e-5, true, &error);
    initialize_all(&parameters, &error);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(parameter_of(&parameters, "norm1.weight", 5, 0)->data[i], 1);
        cr_assert_eq(parameter_of(&parameters, "norm1.bias", 5, 0)->data[i], 0);
    }
    tap_parameters_clear(&parameters);
}

Test(norm_layer, batch_norm_learns_its_statistics_in_training_and_uses_them_in_evaluation)
{
    enum { ROWS = 4, D = 2 };
    const size_t shape[] = {ROWS, D};
    const tap_real x[] = {1, 10, 2, 20, 3, 30, 6, 60};
    struct tap_tape *tape = test_tape();
    struct tap_parameters parameters = {0};
    struct tap_norm_layer layer;
    struct tap_error error = {0};
    tap_norm_layer_add(&layer, &parameters, "norm", TAP_NORM_BATCH, D, 1e-5, true, &error);
    initialize_all(&parameters, &error);
    struct tap_context training = layer_context(tape, true), evaluation = layer_context(tape, false);
    /* mean (3, 30), unbiased variance 14/3 and 100 times that; a tenth of each goes in, of 0 and 1 nine tenths stay */
    tap_norm_layer_forward(&layer, &training, tap_input(tape, 2, shape, x));
    const double mean[] = {0.3, 3}, variance[] = {0.9 + 1.4 / 3, 0.9 + 140.0 / 3};
    assert_values(layer.running_mean, mean, D, 1e-6);
    assert_values(layer.running_var, variance, D, 1e-5);
    cr_assert_not(layer.running_mean->requires_grad);
    struct tap_tensor *y = tap_norm_layer_forward(&layer, &evaluation, tap_input(tape, 2, shape, x));
    double right[ROWS * D];
    for (int i = 0; i < ROWS * D; i++)
        right[i] = ((double)x[i] - mean[i % D]) / sqrt(variance[i % D] + 1e-5);
    assert_values(y, right, ROWS * D, 1e-5);
    assert_values(layer.running_mean, mean, D, 1e-6);
    tap_tape_free(tape);
    tap_parameters_clear(&parameters);
}

Test(norm_layer, gain_sigma_and_shift_mu_give_the_input_back)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct tap_parameters parameters = {0};
    struct tap_norm_layer layer;
    struct tap_error error = {0};
    const size_t shape[] = {1, 4};
    const tap_real x[] = {2, 4, -1, 7}; /* mean 3, biased variance 8.5 */
    tap_norm_layer_add(&layer, &parameters, "norm", TAP_NORM_LAYER, 4, 1e-12, true, &error);
    initialize_all(&parameters, &error);
    for (int i = 0; i < 4; i++) {
        layer.gain->data[i] = (tap_real)sqrt(8.5);
        layer.shift->data[i] = 3;
    }
    assert_values(tap_norm_layer_forward(&layer, &context, tap_input(tape, 2, shape, x)), (const double[]){2, 4, -1, 7}, 4,
                  20 * TAP_REAL_EPSILON + 1e-11);
    tap_parameters_clear(&parameters);
    tap_tape_free(tape);
}

Test(norm_layer, none_gives_the_tensor_itself_and_has_no_parameters)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, true);
    struct tap_parameters parameters = {0};
    struct tap_norm_layer layer;
    struct tap_error error = {0};
    const size_t shape[] = {3, 4};
    tap_norm_layer_add(&layer, &parameters, "norm", TAP_NORM_NONE, 4, 1e-5, true, &error);
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    cr_assert_eq(tap_norm_layer_forward(&layer, &context, x), x);
    cr_assert_eq(parameters.n, 0);
    tap_parameters_clear(&parameters);
    tap_tape_free(tape);
}
