/* model.h: the classifier: embedding and positions, encoder, pooling, one linear map to the classes. */
#ifndef TAP_MODEL_H
#define TAP_MODEL_H

#include "embedding.h"
#include "encoder.h"
#include "linear.h"
#include "parameters.h"

struct tap_model_options {
    struct tap_embedding_options embedding; /* its d_model holds for the whole model */
    struct tap_encoder_options encoder;
    enum tap_pooling pooling;
    size_t classes; /* C */
};

/* Options with the config's defaults: D 64, 4 heads, 2 layers, F 256, dropout 0.1, post-norm, ReLU, sinusoidal, mean. */
struct tap_model_options tap_model_default_options(size_t vocabulary, size_t classes);

/* Numbers of a sequence's vector: D, with mean_max 2D. */
size_t tap_model_pooled_width(const struct tap_model_options *options);

struct tap_model {
    struct tap_model_options options;
    struct tap_parameters parameters; /* named as the checkpoint has them */
    struct tap_embedding_layer embedding;
    struct tap_encoder encoder;
    struct tap_linear_layer classifier;
};

/* A new model with zero parameters: tap_parameters_initialize or a checkpoint sets them. NULL with error marked: sizes
 * that do not fit (heads and d_model), no memory. Free with tap_model_free. */
struct tap_model *tap_model_new(const struct tap_model_options *options, struct tap_error *error);
void tap_model_free(struct tap_model *model); /* accepts NULL */

/* The encoder's output for every token (N,D). tokens: N ids, the sequences packed as context->segments says; both
 * borrowed until the tape is reset. */
struct tap_tensor *tap_model_encode(struct tap_model *model, const struct tap_context *context, const uint32_t *tokens);

/* Each sequence's vector (S,D), with mean_max (S,2D), and its logits (S,C). */
struct tap_tensor *tap_model_pool(struct tap_model *model, const struct tap_context *context,
                                  struct tap_tensor *encoded);
struct tap_tensor *tap_model_classify(struct tap_model *model, const struct tap_context *context,
                                      struct tap_tensor *pooled);

/* The three above in a row: (S,C). */
struct tap_tensor *tap_model_logits(struct tap_model *model, const struct tap_context *context, const uint32_t *tokens);

/* What one training step (forward, loss, backward) of a batch of at most so many sequences and tokens takes on the
 * tape. tap_tape_reserve with it, and no step allocates. Resets the tape. */
enum tap_status tap_model_plan(struct tap_model *model, struct tap_tape *tape, uint32_t n_sequences, uint32_t n_tokens,
                               uint32_t longest, struct tap_tape_use *out_use, struct tap_error *error);

#endif
