/* test_linear.c: cases of the linear layer and how it starts. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <math.h>

struct options {
    size_t out;
    bool bias;
};

static void add(struct layer_run *run, const struct layer_case *c, struct tap_error *error)
{
    const struct options *options = c->options;
    tap_linear_layer_add(&run->layer.linear, &run->parameters, "linear", c->d_model, options->out, options->bias, error);
}

static struct tap_tensor *forward(struct layer_run *run, const struct tap_context *context)
{
    return tap_linear_layer_forward(&run->layer.linear, context, run->x);
}

static const struct options five = {5, true}, one = {1, true}, without_bias = {13, false};
static const struct layer_case cases[] = {
    {"plain", 6, &five, false},
    {"one to one", 1, &one, false},
    {"no bias", 7, &without_bias, false},
};
LAYER_CASES(tap_linear_layer, cases, add, forward, NULL);

Test(linear_layer, starts_xavier_uniform_with_a_bias_of_zero)
{
    struct tap_parameters parameters = {0};
    struct tap_linear_layer layer;
    struct tap_error error = {0};
    tap_linear_layer_add(&layer, &parameters, "classifier", 90, 110, true, &error);
    initialize_all(&parameters, &error);
    cr_assert_eq(parameter_of(&parameters, "classifier.weight", 110, 90), layer.weight);
    cr_assert_eq(parameter_of(&parameters, "classifier.bias", 110, 0), layer.bias);
    assert_uniform(layer.weight->size, layer.weight->data, sqrt(6.0 / 200));
    for (int i = 0; i < 110; i++)
        cr_assert_eq(layer.bias->data[i], 0);
    tap_parameters_clear(&parameters);
}

Test(linear_layer, without_bias_there_is_no_such_parameter)
{
    struct tap_parameters parameters = {0};
    struct tap_linear_layer layer;
    struct tap_error error = {0};
    tap_linear_layer_add(&layer, &parameters, "a", 3, 4, false, &error);
    cr_assert(parameters.n == 1 && layer.bias == NULL);
    tap_parameters_clear(&parameters);
}
