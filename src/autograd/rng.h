/* rng.h: counted randomness. Philox 4x32-10 turns a key and a counter into 128 random bits with no state at all, so
 * a number depends on what it is for (seed, step, place, sequence, token, feature), never on what was drawn before.
 *
 * Source  Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3", SC11, doi 10.1145/2063384.2063405 */
#ifndef TAP_RNG_H
#define TAP_RNG_H

#include <stdint.h>

/* One family of random numbers: everything drawn for one purpose at one step. */
struct tap_rng_key {
    uint32_t word[2];
};

/* What the numbers are for; part of the key, so that no two purposes ever share numbers. */
enum tap_rng_purpose {
    TAP_RNG_INIT = 1,     /* initial parameters; place = number of the parameter */
    TAP_RNG_SHUFFLE,      /* order of an epoch; step = epoch */
    TAP_RNG_SPLIT,        /* which rows go to validation and test */
    TAP_RNG_DROPOUT,      /* step = optimizer step, place = number of the dropout in the model */
    TAP_RNG_TASK,         /* rows of a built-in task; place = the task's own */
    TAP_RNG_TEST,         /* tests and checks */
    TAP_RNG_WORD_DROPOUT, /* step = epoch, place = row */
};

struct tap_rng_key tap_rng_key(uint64_t seed, enum tap_rng_purpose purpose, uint64_t step, uint32_t place);

/* Four uniform 32-bit words for one counter. */
void tap_rng_words(struct tap_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t out[4]);

/* A sequence drawn from one key, for code that wants one number after another (shuffles, grammars). */
struct tap_rng {
    struct tap_rng_key key;
    uint64_t n_drawn; /* words drawn so far; setting it goes to that place */
};
uint32_t tap_rng_next(struct tap_rng *rng);
uint32_t tap_rng_below(struct tap_rng *rng, uint32_t bound); /* uniform in 0 .. bound-1, unbiased; bound >= 1 */
double tap_rng_uniform(struct tap_rng *rng);                 /* uniform in [0, 1), 53 bits */
double tap_rng_normal(struct tap_rng *rng);                  /* mean 0, variance 1 (Box-Muller) */

/* A uniformly random order of items 0 .. n-1 (Fisher-Yates). */
void tap_rng_permutation(struct tap_rng *rng, uint32_t *out_items, uint32_t n);

/* out[i] = word i of the row (c0, c1, c2), i = 0 .. n-1: words 4j .. 4j+3 are those of counter (c0, c1, c2, j). */
void tap_rng_row(struct tap_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t n, uint32_t *out);

#endif
