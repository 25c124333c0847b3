/* encoder_reference.h: what PyTorch gives for a table of small encoders (tests/reference/encoders.txt, written by
 * make_encoders.py beside it, which tells the format): logits, loss, every gradient and, for some, the parameters after
 * ten optimizer steps, in double. Initial parameters are not stored: reference_fill computes them, bit for bit, and all
 * of them are exact in float too.
 *
 * What a comparison has to know: the true gradient of the keys' bias (the middle third of in_proj_bias) is zero, as are
 * some whole tensors of cases whose sequences have one token or whose width is 1; what is stored there is rounding
 * noise, so compare relative to the largest gradient of the whole model. Adam turns such noise into steps: after Adam
 * leave the keys' bias out (no output depends on it). */
#ifndef TAP_ENCODER_REFERENCE_H
#define TAP_ENCODER_REFERENCE_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENCODER_REFERENCE_PATH "tests/reference/encoders.txt" /* from the project's root, where tests run */

/* The learning rates and the decay behind the ten steps; all else is PyTorch's default, full batch, no clipping. */
#define REFERENCE_SGD_LR 0.05
#define REFERENCE_ADAM_LR 1e-2
#define REFERENCE_ADAMW_DECAY 0.1 /* on tensors of two or more dimensions only */
#define REFERENCE_STEPS 10

enum reference_section {
    REFERENCE_GRADIENT, /* of the loss at the initial parameters */
    REFERENCE_SGD,      /* the parameter after ten steps; the name `loss`: the ten losses, each before its step */
    REFERENCE_ADAM,
    REFERENCE_ADAMW,
};

struct reference_array {
    enum reference_section section;
    const char *name; /* PyTorch's, as in our checkpoints; or `loss` */
    size_t n;
    const double *values; /* row-major, (out, in) */
};

/* One configuration. Texts are values of our config's model keys. */
struct encoder_reference {
    const char *name;
    size_t seed; /* of reference_fill */
    size_t d_model, heads, layers, d_ff;
    const char *activation, *norm_position, *positions, *pooling, *embedding_scale;
    double norm_eps, label_smoothing;
    bool causal;
    size_t vocab, classes;
    size_t max_length; /* rows of position.weight */
    size_t n_class_weights;
    const double *class_weights; /* NULL: none */

    size_t n_tokens, n_sequences;
    const uint32_t *tokens;  /* n_tokens; no token is added for cls, it pools the first */
    const uint32_t *offsets; /* n_sequences + 1 */
    const uint32_t *labels;  /* n_sequences */
    const double *logits;    /* (n_sequences, classes) */
    double loss;
    bool has_steps; /* whether the sections sgd, adam and adamw are there */
    size_t n_arrays;
    const struct reference_array *arrays;
};

struct encoder_references {
    size_t n;
    const struct encoder_reference *cases;
};

/* encoder_references_new: reads the whole file; every text and array belongs to the result.
 *
 * Errors   TAP_ERR_IO when it can't be read; TAP_ERR_FORMAT, with the line, for anything but what make_encoders.py
 *          writes, above all a checksum that does not fit; TAP_ERR_MEMORY. Returns NULL */
struct encoder_references *encoder_references_new(const char *path, struct tap_error *error);
void encoder_references_free(struct encoder_references *references); /* accepts NULL */

/* The named gradient, or parameter after ten steps, with its length in *out_n (may be NULL); NULL: not there. */
const double *encoder_reference_find(const struct encoder_reference *reference, enum reference_section section,
                                     const char *name, size_t *out_n);

/* out[i], i < n: the initial values of the parameter `name` (1.5 u; a norm's weight 1 + u/4; u in [-1/2, 1/2)). */
void reference_fill(const struct encoder_reference *reference, const char *name, size_t n, double *out);

/* out[i] = number i of the stream that `seed` and `name` start, each below 2^16. Tokens are those of the name `tokens`
 * modulo vocab, labels those of `labels` modulo classes. */
void reference_stream(size_t seed, const char *name, size_t n, uint32_t *out);

/* FNV-1a, 64 bits; `hash` is REFERENCE_HASH_START, or the hash of what stands before `bytes`. */
#define REFERENCE_HASH_START 0xCBF29CE484222325u
uint64_t reference_hash(uint64_t hash, const void *bytes, size_t n_bytes);

#endif
