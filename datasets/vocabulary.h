/* vocabulary.h: learning a tokenizer's vocabulary from the training part. */
#ifndef TAP_VOCABULARY_H
#define TAP_VOCABULARY_H

#include "tokenizer.h"

/* How often each word or token occurs. Zero-initialise; clear to free. */
struct tap_word_counts {
    struct tap_string_table words;
    uint64_t *counts; /* one for each word */
    size_t capacity;
};

/* Counts the word `times` more. False when memory runs out. */
bool tap_word_counts_add(struct tap_word_counts *counts, const char *word, size_t n_bytes, uint64_t times);
void tap_word_counts_clear(struct tap_word_counts *counts);

/* Adds the words found at least min_count times, the most frequent first, equal ones by their bytes, until the
 * vocabulary holds max_vocab entries. False when memory runs out. */
bool tap_vocabulary_add_most_frequent(struct tap_string_table *vocabulary, const struct tap_word_counts *counts,
                                      int min_count, int max_vocab);

/* Fills the empty vocabulary of a tokenizer whose rules are set. */
enum tap_status tap_vocabulary_learn(struct tap_tokenizer *tokenizer, const struct tap_tokenizer_options *options,
                                     struct tap_row_choice choice, struct tap_error *error);

#endif
