/* ngrams.c: see ngrams.h. */
#include "ngrams.h"

#include "fnv.h"
#include "mem.h"
#include "tokenizer.h"
#include "unicode.h"

#include <string.h>

#define WORD_START '<'
#define WORD_END '>'

bool tap_ngrams_wanted(const struct tap_ngram_options *options)
{
    return options->character_buckets > 0 || options->bigram_buckets > 0;
}

void tap_ngram_store_clear(struct tap_ngram_store *store)
{
    tap_mem_free(store->spellings);
    tap_mem_free(store->bigrams);
    tap_mem_free(store->starts);
    tap_mem_free(store->buckets);
    tap_string_table_clear(&store->words);
    *store = (struct tap_ngram_store){0};
}

void tap_ngram_store_empty(struct tap_ngram_store *store)
{
    tap_string_table_clear(&store->words);
    store->n_tokens = 0;
    store->n_buckets = 0;
}

uint64_t tap_ngram_hash(const char *word, size_t n_bytes)
{
    uint64_t hash = tap_fnv(TAP_FNV_START, word, n_bytes);
    return hash != 0 ? hash : 1;
}

static uint32_t bucket_of(uint64_t hash, uint32_t n_buckets)
{
    return (uint32_t)((hash ^ hash >> 32) % n_buckets);
}

/* Appends the buckets of one spelling. */
static bool add_characters(struct tap_ngram_store *store, const struct tap_ngram_options *options, const char *word,
                           size_t n_bytes)
{
    char marked[TAP_TOKEN_MAX_BYTES + 2];
    size_t starts[TAP_TOKEN_MAX_BYTES + 3]; /* of the characters, and the end */
    size_t n_marked = 0;
    size_t n_characters = 0;
    marked[n_marked++] = WORD_START;
    memcpy(marked + n_marked, word, n_bytes);
    n_marked += n_bytes;
    marked[n_marked++] = WORD_END;
    for (size_t at = 0; at < n_marked;) {
        int32_t code_point;
        size_t length = tap_unicode_decode(marked + at, n_marked - at, &code_point);
        starts[n_characters++] = at;
        at += length > 0 ? length : 1;
    }
    starts[n_characters] = n_marked;
    for (size_t first = 0; first < n_characters; first++)
        for (size_t n = options->shortest; n <= options->longest && first + n <= n_characters; n++) {
            uint64_t hash = tap_fnv(TAP_FNV_START, marked + starts[first], starts[first + n] - starts[first]);
            if (!tap_mem_reserve(&store->buckets, &store->buckets_capacity, store->n_buckets + 1,
                                 sizeof *store->buckets))
                return false;
            store->buckets[store->n_buckets++] = bucket_of(hash, options->character_buckets);
        }
    return true;
}

/* The number of a spelling, whose n-grams are added when it is new. */
static bool add_word(struct tap_ngram_store *store, const struct tap_ngram_options *options, const char *word,
                     size_t n_bytes, uint32_t *out_number)
{
    size_t n_buckets = store->n_buckets;
    if (tap_string_table_find(&store->words, word, n_bytes, out_number))
        return true;
    if (!tap_mem_reserve(&store->starts, &store->starts_capacity, (size_t)store->words.n + 2, sizeof *store->starts) ||
        !add_characters(store, options, word, n_bytes) ||
        !tap_string_table_add(&store->words, word, n_bytes, out_number)) {
        store->n_buckets = n_buckets;
        return false;
    }
    store->starts[*out_number] = n_buckets;
    store->starts[*out_number + 1] = store->n_buckets;
    return true;
}

bool tap_ngram_store_add(struct tap_ngram_store *store, const struct tap_ngram_options *options, const char *word,
                         size_t n_bytes, uint64_t previous)
{
    uint32_t spelling = TAP_NO_NGRAM;
    uint32_t bigram = TAP_NO_NGRAM;
    size_t n = store->n_tokens + 1;
    n_bytes = n_bytes < TAP_TOKEN_MAX_BYTES ? n_bytes : TAP_TOKEN_MAX_BYTES;
    if (!tap_mem_reserve(&store->spellings, &store->spellings_capacity, n, sizeof *store->spellings) ||
        !tap_mem_reserve(&store->bigrams, &store->bigrams_capacity, n, sizeof *store->bigrams))
        return false;
    if (word != NULL && options->character_buckets > 0 && !add_word(store, options, word, n_bytes, &spelling))
        return false;
    if (word != NULL && options->bigram_buckets > 0 && previous != 0)
        bigram = bucket_of(tap_fnv(tap_fnv(previous, " ", 1), word, n_bytes), options->bigram_buckets);
    store->spellings[store->n_tokens] = spelling;
    store->bigrams[store->n_tokens++] = bigram;
    return true;
}

void tap_ngram_store_remove(struct tap_ngram_store *store, size_t first, size_t n)
{
    size_t n_after = store->n_tokens - first - n;
    memmove(store->spellings + first, store->spellings + first + n, n_after * sizeof *store->spellings);
    memmove(store->bigrams + first, store->bigrams + first + n, n_after * sizeof *store->bigrams);
    store->n_tokens -= n;
}

void tap_ngram_store_cut(struct tap_ngram_store *store, size_t first)
{
    if (first < store->n_tokens)
        store->n_tokens = first;
}

static size_t count_of(const struct tap_ngram_store *store, size_t token)
{
    uint32_t spelling = store->spellings[token];
    return spelling == TAP_NO_NGRAM ? 0 : store->starts[spelling + 1] - store->starts[spelling];
}

size_t tap_ngram_store_count(const struct tap_ngram_store *store, size_t first, size_t n)
{
    size_t count = 0;
    for (size_t token = first; token < first + n; token++)
        count += count_of(store, token);
    return count;
}

void tap_ngram_batch_clear(struct tap_ngram_batch *batch)
{
    tap_mem_free(batch->character_offsets);
    tap_mem_free(batch->characters);
    tap_mem_free(batch->bigram_offsets);
    tap_mem_free(batch->bigrams);
    *batch = (struct tap_ngram_batch){0};
}

bool tap_ngram_batch_reserve(struct tap_ngram_batch *batch, size_t n_tokens, size_t n_characters)
{
    return n_tokens < UINT32_MAX && n_characters < UINT32_MAX &&
           tap_mem_reserve(&batch->character_offsets, &batch->character_offsets_capacity, n_tokens + 1,
                           sizeof *batch->character_offsets) &&
           tap_mem_reserve(&batch->bigram_offsets, &batch->bigram_offsets_capacity, n_tokens + 1,
                           sizeof *batch->bigram_offsets) &&
           tap_mem_reserve(&batch->bigrams, &batch->bigrams_capacity, n_tokens + 1, sizeof *batch->bigrams) &&
           tap_mem_reserve(&batch->characters, &batch->characters_capacity, n_characters + 1,
                           sizeof *batch->characters);
}

void tap_ngram_batch_start(struct tap_ngram_batch *batch)
{
    batch->n_tokens = 0;
}

bool tap_ngram_batch_add(struct tap_ngram_batch *batch, const struct tap_ngram_store *store, size_t first, size_t n,
                         const bool *dropped)
{
    size_t n_characters = batch->n_tokens > 0 ? batch->character_offsets[batch->n_tokens] : 0;
    size_t n_bigrams = batch->n_tokens > 0 ? batch->bigram_offsets[batch->n_tokens] : 0;
    if (!tap_ngram_batch_reserve(batch, batch->n_tokens + n, n_characters + tap_ngram_store_count(store, first, n)))
        return false;
    batch->character_offsets[0] = 0;
    batch->bigram_offsets[0] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t n_own = count_of(store, first + i);
        bool is_broken = dropped != NULL && (dropped[i] || (i > 0 && dropped[i - 1]));
        if (n_own > 0)
            memcpy(batch->characters + n_characters, store->buckets + store->starts[store->spellings[first + i]],
                   n_own * sizeof *batch->characters);
        n_characters += n_own;
        if (store->bigrams[first + i] != TAP_NO_NGRAM && !is_broken)
            batch->bigrams[n_bigrams++] = store->bigrams[first + i];
        batch->n_tokens++;
        batch->character_offsets[batch->n_tokens] = (uint32_t)n_characters;
        batch->bigram_offsets[batch->n_tokens] = (uint32_t)n_bigrams;
    }
    return true;
}

const struct tap_ngrams *tap_ngram_batch_view(struct tap_ngram_batch *batch)
{
    batch->view = (struct tap_ngrams){
        .characters = {batch->character_offsets, batch->characters},
        .bigrams = {batch->bigram_offsets, batch->bigrams},
    };
    return &batch->view;
}
