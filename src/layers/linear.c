/* linear.c: see linear.h. */
#include "linear.h"

void tap_linear_layer_add(struct tap_linear_layer *layer, struct tap_parameters *parameters, const char *prefix,
                          size_t in, size_t out, bool with_bias, struct tap_error *error)
{
    const size_t shape[] = {out, in};
    layer->weight = tap_parameters_add(parameters, prefix, "weight", 2, shape, tap_init_xavier_uniform(in, out), error);
    layer->bias = with_bias ? tap_parameters_add(parameters, prefix, "bias", 1, shape,
                                                 (struct tap_init){TAP_INIT_ZEROS, 0}, error)
                            : NULL;
}

struct tap_tensor *tap_linear_layer_forward(const struct tap_linear_layer *layer, const struct tap_context *context,
                                            struct tap_tensor *x)
{
    return tap_linear(context->tape, x, layer->weight, layer->bias);
}
