/* bags.h: lists of ids, one for each token of a packed batch: the hashed n-grams that are added to the token's vector.
 * Bag i holds ids[offsets[i]] .. ids[offsets[i+1]-1], and may be empty. */
#ifndef TAP_BAGS_H
#define TAP_BAGS_H

#include <stdint.h>

struct tap_bags {
    const uint32_t *offsets; /* n + 1 numbers for n bags, not descending, offsets[0] = 0 */
    const uint32_t *ids;     /* offsets[n] numbers; NULL when there is none */
};

/* What a batch's tokens have besides their numbers. Bags of a kind that the model has no table for are not looked at. */
struct tap_ngrams {
    struct tap_bags characters; /* the character n-grams of each token's spelling */
    struct tap_bags bigrams;    /* the token with the one before it: none or one id */
};

#endif
