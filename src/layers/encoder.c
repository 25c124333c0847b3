/* encoder.c: see encoder.h. */
#include "encoder.h"

#include <stdio.h>

#include "mem.h"

#define PREFIX_BYTES 48
#define NAME_BYTES (PREFIX_BYTES + 16)

/* The dropouts of a layer; the model's number 0 is the embedding's. */
enum dropout_place { ATTENTION_WEIGHTS, AFTER_ATTENTION, INSIDE_FEED_FORWARD, AFTER_FEED_FORWARD, N_DROPOUTS };

static uint32_t dropout_number(size_t layer, enum dropout_place place)
{
    return 1 + (uint32_t)layer * N_DROPOUTS + (uint32_t)place;
}

static void add_layer(struct tap_encoder_layer *layer, struct tap_parameters *parameters, const char *prefix,
                      const struct tap_encoder_options *options, struct tap_error *error)
{
    size_t d_model = options->attention.d_model;
    bool bias = options->attention.bias;
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.self_attn", prefix);
    tap_self_attention_add(&layer->self_attention, parameters, name, &options->attention, error);
    tap_feed_forward_add(&layer->feed_forward, parameters, prefix, d_model, options->d_ff, options->activation,
                         options->ffn_dropout, bias, error);
    snprintf(name, sizeof name, "%s.norm1", prefix);
    tap_norm_layer_add(&layer->norm1, parameters, name, options->norm, d_model, options->norm_eps, bias, error);
    snprintf(name, sizeof name, "%s.norm2", prefix);
    tap_norm_layer_add(&layer->norm2, parameters, name, options->norm, d_model, options->norm_eps, bias, error);
}

void tap_encoder_add(struct tap_encoder *encoder, struct tap_parameters *parameters,
                     const struct tap_encoder_options *options, struct tap_error *error)
{
    *encoder = (struct tap_encoder){.options = *options};
    encoder->layers = tap_mem_new(options->layers, sizeof *encoder->layers);
    if (encoder->layers == NULL) {
        tap_error_memory(error, "encoder layers");
        return;
    }
    for (size_t l = 0; l < options->layers && error->status == TAP_OK; l++) {
        char prefix[PREFIX_BYTES];
        snprintf(prefix, sizeof prefix, "encoder.layers.%zu", l);
        add_layer(&encoder->layers[l], parameters, prefix, options, error);
    }
    if (options->norm_position == TAP_NORM_POSITION_PRE)
        tap_norm_layer_add(&encoder->norm, parameters, "encoder.norm", options->norm, options->attention.d_model,
                           options->norm_eps, options->attention.bias, error);
}

void tap_encoder_clear(struct tap_encoder *encoder)
{
    tap_mem_free(encoder->layers);
    *encoder = (struct tap_encoder){0};
}

/* x + dropout(part), or the part alone where residuals are off. */
static struct tap_tensor *add_residual(const struct tap_encoder_options *options, const struct tap_context *context,
                                       struct tap_tensor *x, struct tap_tensor *part, uint32_t place)
{
    part = tap_context_dropout(context, part, options->residual_dropout, place);
    return options->residual ? tap_add(context->tape, x, part) : part;
}

struct tap_tensor *tap_encoder_layer_forward(const struct tap_encoder_layer *layer,
                                             const struct tap_encoder_options *options,
                                             const struct tap_context *context, struct tap_tensor *x, size_t number)
{
    bool pre = options->norm_position == TAP_NORM_POSITION_PRE;
    tap_real *out_weights = number == 0 ? context->out_attention_weights : NULL;
    struct tap_tensor *normed = pre ? tap_norm_layer_forward(&layer->norm1, context, x) : x;
    struct tap_tensor *part = tap_self_attention_forward(&layer->self_attention, context, normed,
                                                         dropout_number(number, ATTENTION_WEIGHTS), out_weights);
    x = add_residual(options, context, x, part, dropout_number(number, AFTER_ATTENTION));
    if (!pre)
        x = tap_norm_layer_forward(&layer->norm1, context, x);
    normed = pre ? tap_norm_layer_forward(&layer->norm2, context, x) : x;
    part = tap_feed_forward_forward(&layer->feed_forward, context, normed, dropout_number(number, INSIDE_FEED_FORWARD));
    x = add_residual(options, context, x, part, dropout_number(number, AFTER_FEED_FORWARD));
    return pre ? x : tap_norm_layer_forward(&layer->norm2, context, x);
}

struct tap_tensor *tap_encoder_forward(const struct tap_encoder *encoder, const struct tap_context *context,
                                       struct tap_tensor *x)
{
    for (size_t l = 0; l < encoder->options.layers; l++)
        x = tap_encoder_layer_forward(&encoder->layers[l], &encoder->options, context, x, l);
    if (encoder->options.norm_position == TAP_NORM_POSITION_PRE)
        x = tap_norm_layer_forward(&encoder->norm, context, x);
    return x;
}
