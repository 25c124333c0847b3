/* context.h: what every layer's forward gets besides its input: the tape, the sequences, and whether and with which
 * random numbers to drop out. Training and evaluation are one path; `training` only switches dropout on. */
#ifndef TAP_CONTEXT_H
#define TAP_CONTEXT_H

#include "ops.h"

struct tap_context {
    struct tap_tape *tape;
    const struct tap_segments *segments; /* borrowed until the tape is reset */
    const struct tap_ngrams *ngrams;     /* of the batch's tokens, borrowed likewise; NULL for a model without any */
    bool training;
    uint64_t seed; /* of dropout */
    uint64_t step; /* optimizer step: the same for all micro-batches of one step */
    tap_real
        *out_attention_weights; /* where the first layer keeps its attention weights (tap_attention_options), or NULL */
};

/* Drops out elements of `x` while training; `place` numbers the dropout within the model. Other times x itself. */
struct tap_tensor *tap_context_dropout(const struct tap_context *context, struct tap_tensor *x, double probability,
                                       uint32_t place);

/* The key of the random numbers of dropout `place` at this step. */
struct tap_rng_key tap_context_dropout_key(const struct tap_context *context, uint32_t place);

#endif
