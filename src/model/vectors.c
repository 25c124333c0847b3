/* vectors.c: see vectors.h. */
#include "vectors.h"

/* The model on one sequence of tokens. Nothing is kept for backward, so the tokens need not outlive the call. */
static struct tap_tensor *vectors_of(struct tap_model *model, struct tap_tape *tape,
                                     const struct tap_token_buffer *tokens, const struct tap_ngrams *ngrams,
                                     enum tap_vectors which)
{
    const uint32_t offsets[] = {0, (uint32_t)tokens->n};
    const struct tap_segments segments = {1, offsets, 0};
    const struct tap_context context = {.tape = tape, .segments = &segments, .ngrams = ngrams};
    struct tap_tensor *encoded = tap_model_encode(model, &context, tokens->ids);
    return which == TAP_VECTORS_TOKEN ? encoded : tap_model_pool(model, &context, encoded);
}

struct tap_tensor *tap_model_vectors(struct tap_model *model, const struct tap_tokenizer *tokenizer,
                                     struct tap_tape *tape, const char *text, size_t n_bytes, enum tap_vectors which,
                                     struct tap_error *error)
{
    struct tap_token_buffer tokens = {0};
    struct tap_ngram_batch batch = {0};
    struct tap_tensor *vectors = NULL;
    if (error->status != TAP_OK)
        return NULL;
    tap_tape_reset(tape);
    if (tap_tokenizer_encode(tokenizer, text, n_bytes, &tokens, NULL, error) == TAP_OK) {
        const struct tap_ngrams *ngrams = tap_token_buffer_ngrams(tokenizer, &tokens, &batch, error);
        bool with_gradients = tap_tape_set_gradients(tape, false);
        vectors = error->status == TAP_OK ? vectors_of(model, tape, &tokens, ngrams, which) : NULL;
        tap_tape_set_gradients(tape, with_gradients);
        if (vectors == NULL && error->status == TAP_OK)
            tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
    }
    tap_token_buffer_clear(&tokens);
    tap_ngram_batch_clear(&batch);
    return vectors;
}
