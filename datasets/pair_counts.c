/* pair_counts.c: see pair_counts.h. The heap is lazy: a pair that falls stays where it is until it comes to the top,
 * and is then put to its right place; a pair that rises is put in anew, once for each pop. So most changes of a count
 * touch the table alone. */
#include "pair_counts.h"

#include "error.h"
#include "mem.h"
#include "tokenizer_kinds.h"

#include <string.h>

#define FIRST_SLOTS 1024

void tap_pair_counts_clear(struct tap_pair_counts *pairs)
{
    tap_mem_free(pairs->pairs);
    tap_mem_free(pairs->slots);
    tap_mem_free(pairs->places);
    tap_mem_free(pairs->risen);
    tap_mem_free(pairs->heap);
    *pairs = (struct tap_pair_counts){0};
}

/* --- the table -----------------------------------------------------------------------------------------------------
 */

/* The finalizer of MurmurHash3, which is public domain. */
static uint64_t hash_of(uint32_t left, uint32_t right)
{
    uint64_t hash = ((uint64_t)left << 32) | right;
    hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDu;
    hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53u;
    return hash ^ (hash >> 33);
}

/* The slot of this pair, or the free slot where it would go. */
static size_t slot_of(const struct tap_pair_counts *pairs, uint32_t left, uint32_t right)
{
    size_t slot = (size_t)hash_of(left, right) & (pairs->n_slots - 1);
    while (pairs->slots[slot] != 0) {
        const struct tap_pair *pair = &pairs->pairs[pairs->slots[slot] - 1];
        if (pair->left == left && pair->right == right)
            break;
        slot = (slot + 1) & (pairs->n_slots - 1);
    }
    return slot;
}

static bool grow_slots(struct tap_pair_counts *pairs)
{
    size_t n_slots = FIRST_SLOTS;
    if (pairs->n_slots > 0 && !tap_size_mul(pairs->n_slots, 2, &n_slots))
        return false;
    uint32_t *slots = tap_mem_new(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < pairs->n; i++) {
        size_t slot = (size_t)hash_of(pairs->pairs[i].left, pairs->pairs[i].right) & (n_slots - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = i + 1;
    }
    tap_mem_free(pairs->slots);
    pairs->slots = slots;
    pairs->n_slots = n_slots;
    return true;
}

/* The pair, with the count 0 when it is new; NULL when memory runs out. */
static struct tap_pair *find_or_make(struct tap_pair_counts *pairs, uint32_t left, uint32_t right)
{
    if (pairs->n >= UINT32_MAX - 1 ||
        !tap_mem_reserve(&pairs->pairs, &pairs->capacity, (size_t)pairs->n + 1, sizeof *pairs->pairs) ||
        (pairs->n >= pairs->n_slots / 2 && !grow_slots(pairs)))
        return NULL;
    size_t slot = slot_of(pairs, left, right);
    if (pairs->slots[slot] == 0) {
        pairs->pairs[pairs->n] = (struct tap_pair){.left = left, .right = right, .last_place = TAP_NO_PLACE};
        pairs->slots[slot] = ++pairs->n;
    }
    return &pairs->pairs[pairs->slots[slot] - 1];
}

/* Room for one more place, and for the pair to rise, so that tap_pair_counts_pop cannot fail. */
static bool reserve(struct tap_pair_counts *pairs)
{
    return pairs->n_places < TAP_NO_PLACE &&
           tap_mem_reserve(&pairs->places, &pairs->places_capacity, (size_t)pairs->n_places + 1,
                           sizeof *pairs->places) &&
           tap_mem_reserve(&pairs->risen, &pairs->risen_capacity, pairs->n_risen + 1, sizeof *pairs->risen) &&
           tap_mem_reserve(&pairs->heap, &pairs->heap_capacity, pairs->n_heap + pairs->n_risen + 1,
                           sizeof *pairs->heap);
}

bool tap_pair_counts_add(struct tap_pair_counts *pairs, uint32_t left, uint32_t right, uint32_t row, uint64_t count)
{
    struct tap_pair *pair = reserve(pairs) ? find_or_make(pairs, left, right) : NULL;
    if (pair == NULL)
        return false;
    pair->count += count;
    pairs->places[pairs->n_places] = (struct tap_pair_place){row, pair->last_place};
    pair->last_place = pairs->n_places++;
    if (!pair->has_risen)
        pairs->risen[pairs->n_risen++] = (uint32_t)(pair - pairs->pairs);
    pair->has_risen = true;
    return true;
}

void tap_pair_counts_take(struct tap_pair_counts *pairs, uint32_t left, uint32_t right, uint64_t count)
{
    size_t slot = slot_of(pairs, left, right);
    TAP_CHECK(pairs->slots[slot] != 0);
    struct tap_pair *pair = &pairs->pairs[pairs->slots[slot] - 1];
    TAP_CHECK(pair->count >= count);
    pair->count -= count;
}

/* --- the heap ------------------------------------------------------------------------------------------------------
 */

static bool comes_before(const struct tap_pair_counts *pairs, struct tap_pair_rank a, struct tap_pair_rank b)
{
    if (a.count != b.count)
        return a.count > b.count;
    const struct tap_pair *one = &pairs->pairs[a.pair];
    const struct tap_pair *other = &pairs->pairs[b.pair];
    if (one->left != other->left)
        return strcmp(tap_string_table_get(pairs->texts, one->left), tap_string_table_get(pairs->texts, other->left)) <
               0;
    return one->right != other->right &&
           strcmp(tap_string_table_get(pairs->texts, one->right), tap_string_table_get(pairs->texts, other->right)) < 0;
}

static void sift_up(struct tap_pair_counts *pairs, size_t place)
{
    struct tap_pair_rank rank = pairs->heap[place];
    while (place > 0 && comes_before(pairs, rank, pairs->heap[(place - 1) / 2])) {
        pairs->heap[place] = pairs->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    pairs->heap[place] = rank;
}

static void sift_down_top(struct tap_pair_counts *pairs)
{
    struct tap_pair_rank rank = pairs->heap[0];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child + 1 < pairs->n_heap && comes_before(pairs, pairs->heap[child + 1], pairs->heap[child]))
            child++;
        if (child >= pairs->n_heap || !comes_before(pairs, pairs->heap[child], rank))
            break;
        pairs->heap[place] = pairs->heap[child];
        place = child;
    }
    pairs->heap[place] = rank;
}

static void remove_top(struct tap_pair_counts *pairs)
{
    pairs->heap[0] = pairs->heap[--pairs->n_heap];
    if (pairs->n_heap > 0)
        sift_down_top(pairs);
}

static bool fits_a_token(const struct tap_pair_counts *pairs, const struct tap_pair *pair)
{
    return tap_string_table_length(pairs->texts, pair->left) + tap_string_table_length(pairs->texts, pair->right) <=
           TAP_TOKEN_MAX_BYTES + TAP_PIECE_PREFIX_BYTES;
}

static void put_risen(struct tap_pair_counts *pairs)
{
    for (size_t i = 0; i < pairs->n_risen; i++) {
        struct tap_pair *pair = &pairs->pairs[pairs->risen[i]];
        pair->has_risen = false;
        if (pair->count < pairs->least || !fits_a_token(pairs, pair))
            continue;
        pairs->heap[pairs->n_heap] = (struct tap_pair_rank){pair->count, pairs->risen[i]};
        sift_up(pairs, pairs->n_heap++);
    }
    pairs->n_risen = 0;
}

bool tap_pair_counts_pop(struct tap_pair_counts *pairs, uint32_t *out_pair)
{
    put_risen(pairs);
    while (pairs->n_heap > 0) {
        struct tap_pair_rank *top = &pairs->heap[0];
        uint64_t count = pairs->pairs[top->pair].count;
        if (count == top->count) {
            *out_pair = top->pair;
            remove_top(pairs);
            return true;
        }
        TAP_CHECK(count < top->count); /* had it risen, it would have come here anew */
        if (count >= pairs->least) {
            top->count = count;
            sift_down_top(pairs);
        } else {
            remove_top(pairs);
        }
    }
    return false;
}
