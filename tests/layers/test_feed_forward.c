/* test_feed_forward.c: cases of the feed-forward part, and that it sees each position alone. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "autograd/op_cases.h"

struct options {
    size_t d_ff;
    enum tap_activation activation;
    double dropout;
    bool bias;
};

static void add(struct layer_run *run, const struct layer_case *c, struct tap_error *error)
{
    const struct options *o = c->options;
    tap_feed_forward_add(&run->layer.feed_forward, &run->parameters, "ffn", c->d_model, o->d_ff, o->activation, o->dropout,
                         o->bias, error);
}

static struct tap_tensor *forward(struct layer_run *run, const struct tap_context *context)
{
    return tap_feed_forward_forward(&run->layer.feed_forward, context, run->x, 3);
}

static const struct options relu = {11, TAP_ACTIVATION_RELU, 0, true}, gelu = {8, TAP_ACTIVATION_GELU, 0, true},
                            gelu_tanh = {8, TAP_ACTIVATION_GELU_TANH, 0, true}, silu = {8, TAP_ACTIVATION_SILU, 0, false},
                            dropped = {13, TAP_ACTIVATION_GELU, 0.4, true}, narrow = {1, TAP_ACTIVATION_SILU, 0, true};
static const struct layer_case cases[] = {
    {"relu", 6, &relu, false},           {"gelu", 5, &gelu, false},  {"gelu_tanh", 5, &gelu_tanh, false},
    {"silu, no bias", 7, &silu, false}, {"dropout", 4, &dropped, true}, {"one inner number", 3, &narrow, false},
};
LAYER_CASES(tap_feed_forward, cases, add, forward, NULL);

/* activation(x), element by element, for a layer of width 1 with weights 1. */
Test(feed_forward, each_activation_is_the_one_named)
{
    const enum tap_activation kinds[] = {TAP_ACTIVATION_RELU, TAP_ACTIVATION_GELU, TAP_ACTIVATION_GELU_TANH, TAP_ACTIVATION_SILU};
    const double at_one[] = {1, 0.84134475, 0.84119199, 0.73105858}, at_minus_three[] = {0, -0.00404969, -0.00363739, -0.14227762};
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    for (int i = 0; i < 4; i++) {
        struct tap_parameters parameters = {0};
        struct tap_feed_forward layer;
        struct tap_error error = {0};
        const size_t shape[] = {2, 1};
        const tap_real x[] = {1, -3};
        tap_feed_forward_add(&layer, &parameters, "ffn", 1, 1, kinds[i], 0, true, &error);
        initialize_all(&parameters, &error);
        layer.linear1.weight->data[0] = layer.linear2.weight->data[0] = 1;
        assert_values(tap_feed_forward_forward(&layer, &context, tap_input(tape, 2, shape, x), 0),
                      (const double[]){at_one[i], at_minus_three[i]}, 2, 1e-6);
        tap_parameters_clear(&parameters);
        tap_tape_reset(tape);
    }
    tap_tape_free(tape);
}

Test(feed_forward, every_position_is_treated_alone)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct layer_run run;
    struct tap_error error = {0};
    layer_set_up(&run, &tap_feed_forward_cases, &cases[0], &error);
    struct tap_tensor *whole = forward(&run, &context);
    for (size_t i = 0; i < LAYER_TOKENS; i++) {
        const size_t shape[] = {1, 6};
        struct tap_tensor *alone =
            tap_feed_forward_forward(&run.layer.feed_forward, &context, tap_input(tape, 2, shape, run.x->data + 6 * i), 3);
        cr_assert_eq(memcmp(alone->data, whole->data + 6 * i, 6 * sizeof(tap_real)), 0, "position %zu", i);
    }
    layer_tear_down(&run, &tap_feed_forward_cases);
    tap_tape_free(tape);
}

Test(feed_forward, parameters_have_their_names_and_xavier_bounds)
{
    struct tap_parameters parameters = {0};
    struct tap_feed_forward layer;
    struct tap_error error = {0};
    tap_feed_forward_add(&layer, &parameters, "encoder.layers.3", 40, 160, TAP_ACTIVATION_RELU, 0, true, &error);
    initialize_all(&parameters, &error);
    cr_assert_eq(parameters.n, 4);
    assert_uniform(6400, parameter_of(&parameters, "encoder.layers.3.linear1.weight", 160, 40)->data, sqrt(6.0 / 200));
    assert_uniform(6400, parameter_of(&parameters, "encoder.layers.3.linear2.weight", 40, 160)->data, sqrt(6.0 / 200));
    parameter_of(&parameters, "encoder.layers.3.linear1.bias", 160, 0);
    parameter_of(&parameters, "encoder.layers.3.linear2.bias", 40, 0);
    tap_parameters_clear(&parameters);
}
