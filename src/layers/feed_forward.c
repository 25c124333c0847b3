/* feed_forward.c: see feed_forward.h. */
#include "feed_forward.h"

#include <stdio.h>

#define NAME_BYTES 200 /* room for a prefix and the longest part */

void tap_feed_forward_add(struct tap_feed_forward *layer, struct tap_parameters *parameters, const char *prefix,
                          size_t d_model, size_t d_ff, enum tap_activation activation, double dropout, bool bias,
                          struct tap_error *error)
{
    char name[NAME_BYTES];
    layer->activation = activation;
    layer->dropout = dropout;
    snprintf(name, sizeof name, "%s.linear1", prefix);
    tap_linear_layer_add(&layer->linear1, parameters, name, d_model, d_ff, bias, error);
    snprintf(name, sizeof name, "%s.linear2", prefix);
    tap_linear_layer_add(&layer->linear2, parameters, name, d_ff, d_model, bias, error);
}

static struct tap_tensor *activate(struct tap_tape *tape, struct tap_tensor *x, enum tap_activation activation)
{
    switch (activation) {
    case TAP_ACTIVATION_RELU:
        return tap_relu(tape, x);
    case TAP_ACTIVATION_GELU:
        return tap_gelu(tape, x);
    case TAP_ACTIVATION_GELU_TANH:
        return tap_gelu_tanh(tape, x);
    case TAP_ACTIVATION_SILU:
        return tap_silu(tape, x);
    }
    return NULL;
}

struct tap_tensor *tap_feed_forward_forward(const struct tap_feed_forward *layer, const struct tap_context *context,
                                            struct tap_tensor *x, uint32_t dropout_place)
{
    x = activate(context->tape, tap_linear_layer_forward(&layer->linear1, context, x), layer->activation);
    x = tap_context_dropout(context, x, layer->dropout, dropout_place);
    return tap_linear_layer_forward(&layer->linear2, context, x);
}
