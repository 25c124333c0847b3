/* embedding.h: a vector for each token, to which those of its hashed n-grams are added where the model has any, and the
 * positions, once, before the first layer. */
#ifndef TAP_EMBEDDING_H
#define TAP_EMBEDDING_H

#include "context.h"
#include "parameters.h"

enum tap_positions { TAP_POSITIONS_NONE, TAP_POSITIONS_SINUSOIDAL, TAP_POSITIONS_LEARNED };

struct tap_embedding_options {
    size_t vocabulary;        /* V */
    size_t d_model;           /* D */
    size_t max_length;        /* the longest sequence that positions are there for */
    size_t character_buckets; /* rows of the table of character n-grams; 0: none */
    size_t bigram_buckets;    /* rows of the table of bigrams; 0: none */
    enum tap_positions positions;
    bool scale; /* multiply the token's vector by sqrt(D) */
    double dropout;
};

struct tap_embedding_layer {
    struct tap_embedding_options options;
    struct tap_tensor *weight;     /* "embedding.weight" (V,D), normal of deviation 1/sqrt(D) */
    struct tap_tensor *characters; /* "character_ngrams.weight" (character_buckets,D), zeros; NULL: none */
    struct tap_tensor *bigrams;    /* "bigrams.weight" (bigram_buckets,D), zeros; NULL: none */
    struct tap_tensor *position;   /* "position.weight" (max_length,D) when learned, normal of deviation 0.02 */
    struct tap_tensor sinusoidal;  /* (rows,D), constant, when sinusoidal; grows up to max_length as
                                         longer sequences come */
};

/* Adds the parameters. */
void tap_embedding_layer_add(struct tap_embedding_layer *layer, struct tap_parameters *parameters,
                             const struct tap_embedding_options *options, struct tap_error *error);
void tap_embedding_layer_clear(struct tap_embedding_layer *layer);

/* tap_embedding_layer_forward: the vectors that enter the first layer.
 *
 * Formula    y[n] = dropout(scale (E[token n] + mean of the rows of its character n-grams + row of its bigram)
 *            + position of n in its sequence); scale is 1 or sqrt(D)
 * Shapes     tokens: N ids below V, and context->ngrams where there are tables of n-grams -> (N,D)
 * Ownership  tokens and n-grams are borrowed until the tape is reset. Dropout is number 0 of the model
 * Source     character n-grams: Bojanowski et al. 2017, arXiv:1607.04606; bigrams: Joulin et al. 2017,
 *            arXiv:1607.01759 (both add up and then take one mean over the text; here each token keeps its own) */
struct tap_tensor *tap_embedding_layer_forward(struct tap_embedding_layer *layer, const struct tap_context *context,
                                               const uint32_t *tokens, size_t n_tokens);

/* tap_sinusoidal_positions: fills out (n,D).
 *
 * Formula  PE(p,2i) = sin(p / 10000^(2i/D)), PE(p,2i+1) = cos(p / 10000^(2i/D)), p from 0; D may be odd
 * Source   Vaswani et al. 2017, arXiv:1706.03762 section 3.5 */
void tap_sinusoidal_positions(size_t n, size_t d_model, tap_real *out);

#endif
