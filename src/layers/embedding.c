/* embedding.c: see embedding.h. The deviation 1/sqrt(D) gives a token's vector length 1 at the start, as the 2017
 * paper's own code has it (tensor2tensor, modality symbol_modality: normal, D^-0.5); learned positions start as
 * BERT's (Devlin et al. 2019: normal, 0.02). */
#include "embedding.h"

#include <math.h>

#include "mem.h"

#define EMBEDDING_DROPOUT_PLACE 0

void tap_sinusoidal_positions(size_t n, size_t d_model, tap_real *out)
{
    for (size_t p = 0; p < n; p++)
        for (size_t j = 0; j < d_model; j++) {
            double frequency = pow(10000, -(double)(j - j % 2) / (double)d_model);
            double angle = (double)p * frequency;
            out[p * d_model + j] = (tap_real)(j % 2 == 0 ? sin(angle) : cos(angle));
        }
}

static void add_sinusoidal(struct tap_embedding_layer *layer, struct tap_error *error)
{
    struct tap_tensor *table = &layer->sinusoidal;
    *table = (struct tap_tensor){.n_dims = 2, .shape = {layer->options.max_length, layer->options.d_model}};
    if (tap_size_mul(table->shape[0], table->shape[1], &table->size))
        table->data = tap_mem_new_aligned(table->size, sizeof(tap_real));
    if (table->data == NULL)
        tap_error_memory(error, "sinusoidal positions");
    else
        tap_sinusoidal_positions(table->shape[0], table->shape[1], table->data);
}

void tap_embedding_layer_add(struct tap_embedding_layer *layer, struct tap_parameters *parameters,
                             const struct tap_embedding_options *options, struct tap_error *error)
{
    const size_t shape[] = {options->vocabulary, options->d_model};
    const size_t position_shape[] = {options->max_length, options->d_model};
    *layer = (struct tap_embedding_layer){.options = *options};
    layer->weight = tap_parameters_add(parameters, "embedding", "weight", 2, shape,
                                       (struct tap_init){TAP_INIT_NORMAL, 1 / sqrt((double)options->d_model)}, error);
    if (options->positions == TAP_POSITIONS_LEARNED)
        layer->position = tap_parameters_add(parameters, "position", "weight", 2, position_shape,
                                             (struct tap_init){TAP_INIT_NORMAL, 0.02}, error);
    if (options->positions == TAP_POSITIONS_SINUSOIDAL)
        add_sinusoidal(layer, error);
}

void tap_embedding_layer_clear(struct tap_embedding_layer *layer)
{
    tap_mem_free(layer->sinusoidal.data);
    *layer = (struct tap_embedding_layer){0};
}

struct tap_tensor *tap_embedding_layer_forward(struct tap_embedding_layer *layer, const struct tap_context *context,
                                               const uint32_t *tokens, size_t n_tokens)
{
    struct tap_tape *tape = context->tape;
    struct tap_tensor *x = tap_embedding(tape, layer->weight, tokens, n_tokens);
    if (layer->options.scale)
        x = tap_scale(tape, x, sqrt((double)layer->options.d_model));
    if (layer->options.positions == TAP_POSITIONS_LEARNED)
        x = tap_add_positions(tape, x, layer->position, context->segments);
    if (layer->options.positions == TAP_POSITIONS_SINUSOIDAL)
        x = tap_add_positions(tape, x, &layer->sinusoidal, context->segments);
    return tap_context_dropout(context, x, layer->options.dropout, EMBEDDING_DROPOUT_PLACE);
}
