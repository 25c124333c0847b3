/* self_attention.c: see self_attention.h. */
#include "self_attention.h"

#include <stdio.h>

#define NAME_BYTES 200 /* room for a prefix and the longest part */

void tap_self_attention_add(struct tap_self_attention *layer, struct tap_parameters *parameters, const char *prefix,
                            const struct tap_self_attention_options *options, struct tap_error *error)
{
    *layer = (struct tap_self_attention){.options = *options};
    size_t d_model = options->d_model;
    if (options->d_head == 0)
        layer->options.d_head = d_model / options->heads;
    size_t inner = options->heads * layer->options.d_head;
    if (!options->project_qkv)
        return;
    const size_t in_shape[] = {3 * inner, d_model};
    char out_name[NAME_BYTES];
    snprintf(out_name, sizeof out_name, "%s.out_proj", prefix);
    layer->in_projection.weight = tap_parameters_add(parameters, prefix, "in_proj_weight", 2, in_shape,
                                                     tap_init_xavier_uniform(d_model, inner), error);
    if (options->bias)
        layer->in_projection.bias = tap_parameters_add(parameters, prefix, "in_proj_bias", 1, in_shape,
                                                       (struct tap_init){TAP_INIT_ZEROS, 0}, error);
    tap_linear_layer_add(&layer->out_projection, parameters, out_name, inner, d_model, options->bias, error);
}

struct tap_tensor *tap_self_attention_forward(const struct tap_self_attention *layer, const struct tap_context *context,
                                              struct tap_tensor *x, uint32_t dropout_place, tap_real *out_weights)
{
    struct tap_tape *tape = context->tape;
    struct tap_attention_options options = {
        .heads = layer->options.heads,
        .causal = layer->options.causal,
        .scale_scores = layer->options.scale_scores,
        .dropout = context->training ? layer->options.dropout : 0,
        .dropout_key = tap_context_dropout_key(context, dropout_place),
        .out_weights = out_weights,
    };
    if (!layer->options.project_qkv)
        return tap_attention(tape, x, x, x, context->segments, &options);
    struct tap_tensor *qkv = tap_linear_layer_forward(&layer->in_projection, context, x);
    return tap_linear_layer_forward(&layer->out_projection, context,
                                    tap_attention_packed(tape, qkv, context->segments, &options));
}
