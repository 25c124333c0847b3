/* string_table.h: distinct strings numbered 0, 1, 2, ... in the order in which they came, found again by their bytes.
 * Label names, vocabularies and word counts are all such tables. */
#ifndef TAP_STRING_TABLE_H
#define TAP_STRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_string_entry {
    size_t start; /* of the string in the pool */
    size_t n_bytes;
    uint64_t hash;
};

/* Zero-initialise before use. */
struct tap_string_table {
    char *pool; /* all strings, each followed by a zero byte */
    size_t n_pool_bytes, pool_capacity;
    struct tap_string_entry *entries;
    uint32_t n;
    size_t entries_capacity;
    uint32_t *slots; /* open addressing: number + 1, 0 for a free slot; at most half of them taken */
    size_t n_slots;  /* a power of two */
};

/* Frees what the table holds and empties it. */
void tap_string_table_clear(struct tap_string_table *table);

/* The number of this string, which is added when it is new. Returns false, changing nothing, when memory runs out or
 * 2^32 - 1 strings are there. Adding may move the strings that tap_string_table_get gave. */
bool tap_string_table_add(struct tap_string_table *table, const char *bytes, size_t n_bytes, uint32_t *out_number);

/* Finds a string; returns false, writing nothing, when it is not there. */
bool tap_string_table_find(const struct tap_string_table *table, const char *bytes, size_t n_bytes,
                           uint32_t *out_number);

/* The same for who knows its hash, tap_fnv(TAP_FNV_START, bytes, n_bytes), from the hash of its beginning. */
bool tap_string_table_find_hashed(const struct tap_string_table *table, uint64_t hash, const char *bytes,
                                  size_t n_bytes, uint32_t *out_number);

/* A string by its number, with a closing zero. */
const char *tap_string_table_get(const struct tap_string_table *table, uint32_t number);
size_t tap_string_table_length(const struct tap_string_table *table, uint32_t number);

#endif
