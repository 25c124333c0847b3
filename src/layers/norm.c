/* norm.c: see norm.h. */
#include "norm.h"

void tap_norm_layer_add(struct tap_norm_layer *layer, struct tap_parameters *parameters, const char *prefix,
                        enum tap_norm kind, size_t d_model, double eps, bool with_bias, struct tap_error *error)
{
    const size_t shape[] = {d_model};
    *layer = (struct tap_norm_layer){.kind = kind, .eps = eps};
    if (kind == TAP_NORM_NONE)
        return;
    layer->gain = tap_parameters_add(parameters, prefix, "weight", 1, shape, (struct tap_init){TAP_INIT_ONES, 0}, error);
    if (with_bias)
        layer->shift =
            tap_parameters_add(parameters, prefix, "bias", 1, shape, (struct tap_init){TAP_INIT_ZEROS, 0}, error);
}

struct tap_tensor *tap_norm_layer_forward(const struct tap_norm_layer *layer, const struct tap_context *context,
                                          struct tap_tensor *x)
{
    if (layer->kind == TAP_NORM_NONE)
        return x;
    return tap_layer_norm(context->tape, x, layer->gain, layer->shift, layer->eps);
}
