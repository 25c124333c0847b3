/* predictor.c: see predictor.h. Texts wait until a batch is full (or the caller flushes); a text's numbers have the
 * same bits in any batch, so the size of a batch is a matter of speed alone. */
#include "predictor.h"

#include <string.h>

#include "mem.h"
#include "tokenizer.h"

#define BATCH_TEXTS 64
#define BATCH_TOKENS 4096
#define BATCH_SHOWN_BYTES ((size_t)1 << 20) /* so that long records do not pile up */

struct predictor {
    const struct trained *trained;
    struct prediction_output *output;
    struct tap_tape *tape;
    struct tap_token_buffer tokens;
    struct tap_ngram_batch ngrams;
    uint32_t offsets[BATCH_TEXTS + 1]; /* of the waiting texts in `tokens` */
    uint32_t n_texts;
    char *shown; /* what the output sees of the waiting texts, one after the other */
    size_t shown_starts[BATCH_TEXTS + 1];
    size_t shown_capacity;
};

struct predictor *predictor_new(const struct trained *trained, struct prediction_output *output,
                                struct tap_error *error)
{
    struct predictor *predictor = tap_mem_new(1, sizeof *predictor);
    if (predictor == NULL) {
        tap_error_memory(error, "a predictor");
        return NULL;
    }
    predictor->trained = trained;
    predictor->output = output;
    predictor->tape = tap_tape_new(error);
    if (predictor->tape == NULL) {
        predictor_free(predictor);
        return NULL;
    }
    tap_tape_set_gradients(predictor->tape, false);
    return predictor;
}

void predictor_free(struct predictor *predictor)
{
    if (predictor == NULL)
        return;
    tap_tape_free(predictor->tape);
    tap_token_buffer_clear(&predictor->tokens);
    tap_ngram_batch_clear(&predictor->ngrams);
    tap_mem_free(predictor->shown);
    tap_mem_free(predictor);
}

/* Gives the results of the batch to the output. */
static enum tap_status write_batch(const struct predictor *predictor, const struct tap_tensor *encoded,
                                   const struct tap_tensor *pooled, const struct tap_tensor *logits,
                                   struct tap_error *error)
{
    size_t width = predictor->trained->model->options.embedding.d_model;
    size_t n_classes = predictor->trained->model->options.classes;
    size_t pooled_width = pooled->shape[1];
    for (uint32_t i = 0; i < predictor->n_texts && error->status == TAP_OK; i++) {
        uint32_t start = predictor->offsets[i];
        const struct prediction prediction = {
            .bytes = predictor->shown + predictor->shown_starts[i],
            .n_bytes = predictor->shown_starts[i + 1] - predictor->shown_starts[i],
            .tokens = predictor->tokens.ids + start,
            .n_tokens = predictor->offsets[i + 1] - start,
            .logits = logits->data + i * n_classes,
            .vector = pooled->data + i * pooled_width,
            .vector_width = pooled_width,
            .token_vectors = encoded->data + start * width,
            .token_width = width,
        };
        prediction_output_write(predictor->output, &prediction, error);
    }
    return error->status;
}

/* Runs the model on the waiting texts. */
static enum tap_status run_batch(struct predictor *predictor, struct tap_error *error)
{
    struct tap_model *model = predictor->trained->model;
    struct tap_tape *tape = predictor->tape;
    struct tap_segments segments = {predictor->n_texts, predictor->offsets, 0};
    struct tap_context context = {.tape = tape, .segments = &segments};
    if (predictor->n_texts == 0)
        return TAP_OK;
    context.ngrams = tap_token_buffer_ngrams(predictor->trained->checkpoint->tokenizer, &predictor->tokens,
                                             &predictor->ngrams, error);
    if (error->status != TAP_OK)
        return error->status;
    tap_tape_reset(tape);
    struct tap_tensor *encoded = tap_model_encode(model, &context, predictor->tokens.ids);
    struct tap_tensor *pooled = tap_model_pool(model, &context, encoded);
    struct tap_tensor *logits = tap_model_classify(model, &context, pooled);
    if (tap_tape_failed(tape))
        return tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
    write_batch(predictor, encoded, pooled, logits, error);
    predictor->n_texts = 0;
    tap_token_buffer_empty(&predictor->tokens);
    return error->status;
}

enum tap_status predictor_add(struct predictor *predictor, const char *text, size_t n_bytes, const char *shown,
                              size_t n_shown_bytes, struct tap_error *error)
{
    uint32_t i = predictor->n_texts;
    size_t start = i == 0 ? 0 : predictor->shown_starts[i];
    if (!tap_mem_reserve(&predictor->shown, &predictor->shown_capacity, start + n_shown_bytes + 1, 1))
        return tap_error_memory(error, "a line");
    memcpy(predictor->shown + start, shown, n_shown_bytes);
    if (tap_tokenizer_encode(predictor->trained->checkpoint->tokenizer, text, n_bytes, &predictor->tokens, NULL,
                             error) != TAP_OK)
        return error->status;
    predictor->shown_starts[i] = start;
    predictor->shown_starts[i + 1] = start + n_shown_bytes;
    predictor->offsets[i + 1] = (uint32_t)predictor->tokens.n;
    predictor->n_texts++;
    if (predictor->n_texts == BATCH_TEXTS || predictor->tokens.n >= BATCH_TOKENS ||
        start + n_shown_bytes >= BATCH_SHOWN_BYTES)
        return run_batch(predictor, error);
    return TAP_OK;
}

enum tap_status predictor_flush(struct predictor *predictor, struct tap_error *error)
{
    if (run_batch(predictor, error) == TAP_OK)
        prediction_output_flush(predictor->output, error);
    return error->status;
}
