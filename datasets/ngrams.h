/* ngrams.h: hashed n-grams beside the numbers of tokens, so that words which the vocabulary does not hold are not all
 * alike (character n-grams), and so that two words in a row mean something by themselves (bigrams).
 *
 * An n-gram has no number of its own: its hash chooses one of a fixed number of buckets, which are rows of a table of
 * the model. So nothing is learned here and nothing has to be stored but the options. */
#ifndef TAP_NGRAMS_H
#define TAP_NGRAMS_H

#include "bags.h"
#include "error.h"
#include "string_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_ngram_options {
    uint32_t character_buckets; /* 0: no character n-grams */
    uint32_t shortest, longest; /* their characters; 1 <= shortest <= longest when there are any */
    uint32_t bigram_buckets;    /* 0: no bigrams */
};
bool tap_ngrams_wanted(const struct tap_ngram_options *options);

#define TAP_NO_NGRAM UINT32_MAX

/* The n-grams of a growing list of tokens. Character n-grams are kept once for each spelling. Zero-initialise. */
struct tap_ngram_store {
    uint32_t *spellings; /* of each token, its number among `words`; TAP_NO_NGRAM: the token is no text ([CLS]) */
    uint32_t *bigrams;   /* of each token, its bucket with the one before it; TAP_NO_NGRAM: it is the first */
    struct tap_string_table words;
    size_t *starts; /* words.n + 1: where the buckets of each word begin */
    uint32_t *buckets;
    size_t n_tokens, n_buckets;
    size_t spellings_capacity, bigrams_capacity, starts_capacity, buckets_capacity;
};
void tap_ngram_store_clear(struct tap_ngram_store *store); /* frees */
void tap_ngram_store_empty(struct tap_ngram_store *store); /* keeps the memory of lists for the next ones */

/* Adds a token: `word` is its spelling (NULL: it is no text), `previous` the hash of the spelling before it (0: there is
 * none), from tap_ngram_hash. Character n-grams are those of <word>, the marks counting as characters, of shortest to
 * longest characters. False, with nothing added, when memory runs out.
 *
 * Source  Bojanowski et al. 2017, arXiv:1607.04606 */
bool tap_ngram_store_add(struct tap_ngram_store *store, const struct tap_ngram_options *options, const char *word,
                         size_t n_bytes, uint64_t previous);
uint64_t tap_ngram_hash(const char *word, size_t n_bytes); /* never 0 */

/* Takes the tokens from `first` on away: n of them, or all. */
void tap_ngram_store_remove(struct tap_ngram_store *store, size_t first, size_t n);
void tap_ngram_store_cut(struct tap_ngram_store *store, size_t first);

/* The number of character n-grams of tokens first .. first+n-1. */
size_t tap_ngram_store_count(const struct tap_ngram_store *store, size_t first, size_t n);

/* The n-grams of a batch, as the model takes them. Zero-initialise. */
struct tap_ngram_batch {
    uint32_t *character_offsets, *characters, *bigram_offsets, *bigrams;
    size_t character_offsets_capacity, characters_capacity, bigram_offsets_capacity, bigrams_capacity;
    size_t n_tokens;
    struct tap_ngrams view;
};
void tap_ngram_batch_clear(struct tap_ngram_batch *batch); /* frees */

/* Memory for batches of so many tokens and character n-grams: adding up to that many takes none. False: there is none,
 * or a batch could hold more n-grams than 32 bits count. */
bool tap_ngram_batch_reserve(struct tap_ngram_batch *batch, size_t n_tokens, size_t n_characters);

/* Begins a batch; then appends tokens first .. first+n-1 of a store. Tokens that `dropped` (n flags; NULL: none) marks
 * keep their character n-grams and lose the bigrams that they are part of, as words do that training never saw.
 * False when memory runs out. */
void tap_ngram_batch_start(struct tap_ngram_batch *batch);
bool tap_ngram_batch_add(struct tap_ngram_batch *batch, const struct tap_ngram_store *store, size_t first, size_t n,
                         const bool *dropped);

/* What was added, valid until the next change. */
const struct tap_ngrams *tap_ngram_batch_view(struct tap_ngram_batch *batch);

#endif
