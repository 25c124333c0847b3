/* embedding.c: see embedding.h. The deviation 1/sqrt(D) gives a token's vector length 1 at the start, as the 2017
 * paper's own code has it (tensor2tensor, modality symbol_modality: normal, D^-0.5); learned positions start as
 * BERT's (Devlin et al. 2019: normal, 0.02). Tables of n-grams start at zero, so that an n-gram that training never saw
 * adds nothing to its token. */
#include "embedding.h"

#include <math.h>

#include "mem.h"
#include "segment_rows.h"

#define EMBEDDING_DROPOUT_PLACE 0

void tap_sinusoidal_positions(size_t n, size_t d_model, tap_real *out)
{
    for (size_t j = 0; j < d_model; j++) {
        double frequency = pow(10000, -(double)(j - j % 2) / (double)d_model);
        for (size_t p = 0; p < n; p++) {
            double angle = (double)p * frequency;
            out[p * d_model + j] = (tap_real)(j % 2 == 0 ? sin(angle) : cos(angle));
        }
    }
}

/* Makes the table hold the positions of the batch's longest sequence, twice as many as before at least, so that a run
 * soon has all it needs. Results on the tape do not look at the old table again: it is constant. */
static bool grow_sinusoidal(struct tap_embedding_layer *layer, const struct tap_segments *segments)
{
    enum { FEWEST = 64 };
    struct tap_tensor *table = &layer->sinusoidal;
    size_t size = 0;
    size_t longest = segments != NULL ? tap_longest_segment(segments) : 0; /* the operation refuses NULL */
    size_t max_length = layer->options.max_length;
    if (table->data != NULL && (longest <= table->shape[0] || table->shape[0] == max_length))
        return true;
    size_t rows = 2 * table->shape[0] > longest ? 2 * table->shape[0] : longest;
    rows = rows < FEWEST ? FEWEST : rows;
    rows = rows > max_length ? max_length : rows; /* a longer sequence is refused by the operation */
    tap_real *data = tap_size_mul(rows, layer->options.d_model, &size) ? tap_mem_new_aligned(size, sizeof *data) : NULL;
    if (data == NULL)
        return false;
    tap_sinusoidal_positions(rows, layer->options.d_model, data);
    tap_mem_free(table->data);
    *table = (struct tap_tensor){.data = data, .size = size, .n_dims = 2, .shape = {rows, layer->options.d_model}};
    return true;
}

void tap_embedding_layer_add(struct tap_embedding_layer *layer, struct tap_parameters *parameters,
                             const struct tap_embedding_options *options, struct tap_error *error)
{
    const size_t shape[] = {options->vocabulary, options->d_model};
    const size_t position_shape[] = {options->max_length, options->d_model};
    const struct tap_init zeros = {TAP_INIT_ZEROS, 0};
    *layer = (struct tap_embedding_layer){.options = *options};
    layer->weight = tap_parameters_add(parameters, "embedding", "weight", 2, shape,
                                       (struct tap_init){TAP_INIT_NORMAL, 1 / sqrt((double)options->d_model)}, error);
    if (options->character_buckets > 0)
        layer->characters =
            tap_parameters_add(parameters, "character_ngrams", "weight", 2,
                               (const size_t[]){options->character_buckets, options->d_model}, zeros, error);
    if (options->bigram_buckets > 0)
        layer->bigrams = tap_parameters_add(parameters, "bigrams", "weight", 2,
                                            (const size_t[]){options->bigram_buckets, options->d_model}, zeros, error);
    if (options->positions == TAP_POSITIONS_LEARNED)
        layer->position = tap_parameters_add(parameters, "position", "weight", 2, position_shape,
                                             (struct tap_init){TAP_INIT_NORMAL, 0.02}, error);
}

void tap_embedding_layer_clear(struct tap_embedding_layer *layer)
{
    tap_mem_free(layer->sinusoidal.data);
    *layer = (struct tap_embedding_layer){0};
}

/* Adds the vectors of the tokens' n-grams. A batch without any is refused by the operation. */
static struct tap_tensor *add_ngrams(const struct tap_embedding_layer *layer, const struct tap_context *context,
                                     struct tap_tensor *x, size_t n_tokens)
{
    struct tap_tape *tape = context->tape;
    const struct tap_ngrams *ngrams = context->ngrams;
    if (layer->characters != NULL)
        x = tap_add(tape, x,
                    tap_embedding_bag(tape, layer->characters, ngrams == NULL ? NULL : &ngrams->characters, n_tokens));
    if (layer->bigrams != NULL)
        x = tap_add(tape, x,
                    tap_embedding_bag(tape, layer->bigrams, ngrams == NULL ? NULL : &ngrams->bigrams, n_tokens));
    return x;
}

struct tap_tensor *tap_embedding_layer_forward(struct tap_embedding_layer *layer, const struct tap_context *context,
                                               const uint32_t *tokens, size_t n_tokens)
{
    struct tap_tape *tape = context->tape;
    struct tap_tensor *x = tap_embedding(tape, layer->weight, tokens, n_tokens);
    x = add_ngrams(layer, context, x, n_tokens);
    if (layer->options.scale)
        x = tap_scale(tape, x, sqrt((double)layer->options.d_model));
    if (layer->options.positions == TAP_POSITIONS_LEARNED)
        x = tap_add_positions(tape, x, layer->position, context->segments);
    if (layer->options.positions == TAP_POSITIONS_SINUSOIDAL && !tap_tape_failed(tape)) {
        if (!grow_sinusoidal(layer, context->segments))
            return tap_tape_fail_memory(tape, "sinusoidal positions");
        x = tap_add_positions(tape, x, &layer->sinusoidal, context->segments);
    }
    return tap_context_dropout(context, x, layer->options.dropout, EMBEDDING_DROPOUT_PLACE);
}
