/* batches.h: the rows of a part as packed batches, in an order that seed and epoch alone decide. */
#ifndef TAP_BATCHES_H
#define TAP_BATCHES_H

#include "dataset.h"
#include "segments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arrays belong to the batch maker, until its next call. */
struct tap_batch {
    uint32_t n_tokens;
    const uint32_t *tokens; /* n_tokens */
    struct tap_segments segments;
    const uint32_t *labels;          /* segments.n */
    const struct tap_ngrams *ngrams; /* of the tokens; NULL when the tokenizer has none */
};

struct tap_batches_options {
    uint32_t batch_size;   /* sequences of a batch (the epoch's last one may have fewer); at least 1 */
    uint32_t batch_tokens; /* when above 0, instead: as many sequences as fit, in order, at least one */
    bool shuffle;          /* a new order each epoch; otherwise the order of the rows, always */
    uint64_t seed;
    double word_dropout; /* probability with which a token becomes the unknown one, anew each epoch: so the model learns
                            what to do with words that it does not know. Its character n-grams stay, its bigrams go, as
                            with a word that training never saw; [CLS] stays. Seed, epoch and row alone decide */
    bool has_cls;        /* every row begins with [CLS] */
};

struct tap_batches;

/* A batch maker at the start of epoch 1 (`dataset`, not empty, must outlive it). Takes all its memory here; nothing
 * that follows allocates. NULL, with the error set, when a batch could hold more than 2^32 - 1 tokens or n-grams, or
 * memory runs out. */
struct tap_batches *tap_batches_new(const struct tap_dataset *dataset, const struct tap_batches_options *options,
                                    struct tap_error *error);
void tap_batches_free(struct tap_batches *batches);

/* Goes to the start of an epoch. */
void tap_batches_start(struct tap_batches *batches, uint64_t epoch);

/* The next batch; false at the end of the epoch. `first_sequence` becomes segments.first. */
bool tap_batches_next(struct tap_batches *batches, uint32_t first_sequence, struct tap_batch *out_batch);

/* Rows of this epoch already given. Starting the same epoch and seeking to a position that was read after some batch
 * goes on exactly there. Seeking beyond the last row returns false and does nothing. */
uint32_t tap_batches_position(const struct tap_batches *batches);
bool tap_batches_seek(struct tap_batches *batches, uint32_t position);

/* The number of batches of an epoch; the place in the current one stays as it is. */
uint32_t tap_batches_count(struct tap_batches *batches, uint64_t epoch);

/* What no batch of any epoch exceeds: sequences, tokens, and tokens of one sequence. */
void tap_batches_upper_bound(const struct tap_batches *batches, uint32_t *out_n_sequences, uint32_t *out_n_tokens,
                             uint32_t *out_longest);

#endif
