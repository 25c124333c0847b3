/* pair_counts.h: how often each pair of neighbouring pieces occurs, in which rows of pieces, and which pair is the most
 * frequent, while merges change the counts. For wordpiece_merges.c. */
#ifndef TAP_PAIR_COUNTS_H
#define TAP_PAIR_COUNTS_H

#include "string_table.h"

#define TAP_NO_PLACE UINT32_MAX

struct tap_pair {
    uint32_t left, right; /* numbers of pieces */
    uint32_t last_place;  /* of the rows that hold it, or held it, a list in `places`; a row may be there twice */
    bool has_risen;       /* since the heap last heard of it */
    uint64_t count;
};

struct tap_pair_place {
    uint32_t row;
    uint32_t before; /* the next entry of the list */
};

struct tap_pair_rank {
    uint64_t count; /* of the pair when it came here; it may have fallen since */
    uint32_t pair;
};

/* Zero-initialise but for the first two; clear to free. */
struct tap_pair_counts {
    const struct tap_string_table *texts; /* of the pieces; borrowed */
    uint64_t least;                       /* pairs that occur less often are never the most frequent one */
    struct tap_pair *pairs;
    uint32_t n;
    size_t capacity;
    uint32_t *slots; /* open addressing: number + 1, 0 for a free slot; at most half of them taken */
    size_t n_slots;  /* a power of two */
    struct tap_pair_place *places;
    uint32_t n_places;
    size_t places_capacity;
    uint32_t *risen; /* pairs with has_risen */
    size_t n_risen, risen_capacity;
    struct tap_pair_rank *heap;
    size_t n_heap, heap_capacity;
};

/* Counts one more neighbourhood in this row, which stands for `count` of them. False when memory runs out. */
bool tap_pair_counts_add(struct tap_pair_counts *pairs, uint32_t left, uint32_t right, uint32_t row, uint64_t count);

/* Takes back what was added. */
void tap_pair_counts_take(struct tap_pair_counts *pairs, uint32_t left, uint32_t right, uint64_t count);

/* The most frequent pair; of equally frequent ones the first by the bytes of its left text, then of its right text.
 * False when none occurs `least` times. Leaves out pairs whose text together is too long for a token. The pair is not
 * found again before its count rises. */
bool tap_pair_counts_pop(struct tap_pair_counts *pairs, uint32_t *out_pair);

void tap_pair_counts_clear(struct tap_pair_counts *pairs);

#endif
