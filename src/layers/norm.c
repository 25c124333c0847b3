/* norm.c: see norm.h. */
#include "norm.h"

/* What a batch adds to the running statistics: PyTorch's default. */
#define MOMENTUM 0.1

static struct tap_tensor *add_statistic(struct tap_parameters *parameters, const char *prefix, const char *name,
                                        size_t d_model, enum tap_init_kind start, struct tap_error *error)
{
    struct tap_tensor *tensor =
        tap_parameters_add(parameters, prefix, name, 1, &d_model, (struct tap_init){start, 0}, error);
    if (tensor != NULL)
        tensor->requires_grad = false;
    return tensor;
}

void tap_norm_layer_add(struct tap_norm_layer *layer, struct tap_parameters *parameters, const char *prefix,
                        enum tap_norm kind, size_t d_model, double eps, bool with_bias, struct tap_error *error)
{
    const size_t shape[] = {d_model};
    *layer = (struct tap_norm_layer){.kind = kind, .eps = eps};
    if (kind == TAP_NORM_NONE)
        return;
    layer->gain =
        tap_parameters_add(parameters, prefix, "weight", 1, shape, (struct tap_init){TAP_INIT_ONES, 0}, error);
    if (kind == TAP_NORM_BATCH) {
        layer->running_mean = add_statistic(parameters, prefix, "running_mean", d_model, TAP_INIT_ZEROS, error);
        layer->running_var = add_statistic(parameters, prefix, "running_var", d_model, TAP_INIT_ONES, error);
    }
    if (with_bias)
        layer->shift =
            tap_parameters_add(parameters, prefix, "bias", 1, shape, (struct tap_init){TAP_INIT_ZEROS, 0}, error);
}

struct tap_tensor *tap_norm_layer_forward(const struct tap_norm_layer *layer, const struct tap_context *context,
                                          struct tap_tensor *x)
{
    if (layer->kind == TAP_NORM_NONE)
        return x;
    if (layer->kind == TAP_NORM_BATCH)
        return tap_batch_norm(context->tape, x, layer->gain, layer->shift, layer->running_mean->data,
                              layer->running_var->data, MOMENTUM, layer->eps, context->training);
    return tap_layer_norm(context->tape, x, layer->gain, layer->shift, layer->eps);
}
