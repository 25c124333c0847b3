/* wordpiece_merges.h: learning the pieces of the wordpiece tokenizer. */
#ifndef TAP_WORDPIECE_MERGES_H
#define TAP_WORDPIECE_MERGES_H

#include "vocabulary.h"

/* Fills a vocabulary, which holds the special tokens, with pieces of the counted words.
 *
 * Words begin as their characters, the first as itself, the following with ## in front. These are the first pieces, by
 * falling count, then by bytes; those rarer than options->min_count are left out, and so are words that hold one. Then
 * the most frequent pair of neighbours is merged into one piece, again and again, everywhere at once, in each word from
 * left to right. Among equally frequent pairs the one whose left text has the smaller bytes comes first, then the one
 * whose right text has. It ends when the vocabulary holds options->max_vocab entries or no pair occurs
 * max(2, min_count) times. A pair whose text would be longer than TAP_TOKEN_MAX_BYTES is not merged.
 *
 * The result depends on words and counts alone, not on their order.
 *
 * Source  Sennrich, Haddow, Birch 2016, arXiv:1508.07909 (the merges)
 * Errors  false when memory runs out
 * Cost    the words' characters, times the logarithm of the number of pairs */
bool tap_wordpiece_learn(struct tap_string_table *vocabulary, const struct tap_word_counts *words,
                         const struct tap_tokenizer_options *options);

#endif
