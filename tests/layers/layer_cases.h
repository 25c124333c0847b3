/* layer_cases.h: what a layer's test file gives to the generic tests (test_layers.c), which gradient-check every case in
 * double, compare the bits for 1 to 4 threads, compare plan and run, and inject allocation failures. */
#ifndef TAP_LAYER_CASES_H
#define TAP_LAYER_CASES_H

#include "embedding.h"
#include "encoder.h"
#include "feed_forward.h"
#include "linear.h"
#include "norm.h"
#include "self_attention.h"

/* The batch of all cases: sequences of 3, 0, 1 and 5 tokens below LAYER_VOCABULARY. */
#define LAYER_TOKENS 9
#define LAYER_VOCABULARY 7
extern const struct tap_segments layer_segments;
extern const uint32_t layer_tokens[LAYER_TOKENS];

/* Its n-grams, for layers that have tables of them. */
#define LAYER_CHARACTER_BUCKETS 5
#define LAYER_BIGRAM_BUCKETS 3
extern const struct tap_ngrams layer_ngrams;

/* One case set up. */
struct layer_run {
    struct tap_parameters parameters;
    struct tap_tensor *x; /* (LAYER_TOKENS, D): a parameter too, so that its gradient is checked */
    union {
        struct tap_linear_layer linear;
        struct tap_embedding_layer embedding;
        struct tap_norm_layer norm;
        struct tap_self_attention self_attention;
        struct tap_feed_forward feed_forward;
        struct tap_encoder encoder;
    } layer;
};

struct layer_case {
    const char *name;
    size_t d_model; /* columns of x */
    const void *options; /* the case's own */
    bool training;  /* dropout on, with a fixed key */
};

struct layer_cases {
    const struct layer_case *cases;
    size_t n;
    void (*add)(struct layer_run *run, const struct layer_case *c, struct tap_error *error);
    struct tap_tensor *(*forward)(struct layer_run *run, const struct tap_context *context);
    void (*clear)(struct layer_run *run); /* NULL: nothing to free */
};

/* Every layer of layers.def must define `const struct layer_cases <name>_cases`; without it the tests do not link. */
#define TAP_LAYER(name, formula) extern const struct layer_cases name##_cases;
#include "layers.def"
#undef TAP_LAYER

#define LAYER_CASES(name, table, add, forward, clear)                                                                  \
    const struct layer_cases name##_cases = {table, sizeof(table) / sizeof((table)[0]), add, forward, clear}

/* Adds x and the layer's parameters and gives all of them random numbers (gains near 1). Errors go to `error`. */
void layer_set_up(struct layer_run *run, const struct layer_cases *cases, const struct layer_case *c, struct tap_error *error);
void layer_tear_down(struct layer_run *run, const struct layer_cases *cases);

/* The context of all cases. */
struct tap_context layer_context(struct tap_tape *tape, bool training);

/* A set of parameters allocated and initialised; fails the test when error is marked. */
void initialize_all(struct tap_parameters *parameters, struct tap_error *error);

/* The parameter of that name, which must be there with these sizes (columns 0: one dimension). */
struct tap_tensor *parameter_of(const struct tap_parameters *parameters, const char *name, size_t rows, size_t columns);

/* Fails unless the tensor is uniform in +-bound: none outside, variance bound^2/3 within five standard deviations. */
void assert_uniform(size_t n, const tap_real *data, double bound);

#endif
