/* string_table.c: see string_table.h. Linear probing; the stored hash spares most comparisons and makes growing cheap.
 */
#include "string_table.h"

#include "error.h"
#include "fnv.h"
#include "mem.h"

#include <string.h>

#define FIRST_SLOTS 64

void tap_string_table_clear(struct tap_string_table *table)
{
    tap_mem_free(table->pool);
    tap_mem_free(table->entries);
    tap_mem_free(table->slots);
    *table = (struct tap_string_table){0};
}

/* The slot of this string, or the free slot where it would go. */
static size_t slot_of(const struct tap_string_table *table, uint64_t hash, const char *bytes, size_t n_bytes)
{
    size_t slot = (size_t)hash & (table->n_slots - 1);
    while (table->slots[slot] != 0) {
        const struct tap_string_entry *entry = &table->entries[table->slots[slot] - 1];
        if (entry->hash == hash && entry->n_bytes == n_bytes &&
            (n_bytes == 0 || memcmp(table->pool + entry->start, bytes, n_bytes) == 0))
            break;
        slot = (slot + 1) & (table->n_slots - 1);
    }
    return slot;
}

static bool grow_slots(struct tap_string_table *table)
{
    size_t n_slots = FIRST_SLOTS;
    if (table->n_slots > 0 && !tap_size_mul(table->n_slots, 2, &n_slots))
        return false;
    uint32_t *slots = tap_mem_new(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t number = 0; number < table->n; number++) {
        size_t slot = (size_t)table->entries[number].hash & (n_slots - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = number + 1;
    }
    tap_mem_free(table->slots);
    table->slots = slots;
    table->n_slots = n_slots;
    return true;
}

/* Room for one more string of n_bytes in each of the three arrays. */
static bool reserve(struct tap_string_table *table, size_t n_bytes)
{
    size_t n_pool_bytes;
    if (table->n >= UINT32_MAX - 1 || !tap_size_add(table->n_pool_bytes, n_bytes, &n_pool_bytes) ||
        !tap_size_add(n_pool_bytes, 1, &n_pool_bytes))
        return false;
    if (!tap_mem_reserve(&table->pool, &table->pool_capacity, n_pool_bytes, 1) ||
        !tap_mem_reserve(&table->entries, &table->entries_capacity, (size_t)table->n + 1, sizeof *table->entries))
        return false;
    return table->n < table->n_slots / 2 || grow_slots(table);
}

bool tap_string_table_add(struct tap_string_table *table, const char *bytes, size_t n_bytes, uint32_t *out_number)
{
    if (tap_string_table_find(table, bytes, n_bytes, out_number))
        return true;
    if (!reserve(table, n_bytes))
        return false;
    uint64_t hash = tap_fnv(TAP_FNV_START, bytes, n_bytes);
    table->slots[slot_of(table, hash, bytes, n_bytes)] = table->n + 1;
    table->entries[table->n] = (struct tap_string_entry){table->n_pool_bytes, n_bytes, hash};
    if (n_bytes > 0)
        memcpy(table->pool + table->n_pool_bytes, bytes, n_bytes);
    table->pool[table->n_pool_bytes + n_bytes] = '\0';
    table->n_pool_bytes += n_bytes + 1;
    *out_number = table->n++;
    return true;
}

bool tap_string_table_find(const struct tap_string_table *table, const char *bytes, size_t n_bytes,
                           uint32_t *out_number)
{
    return tap_string_table_find_hashed(table, tap_fnv(TAP_FNV_START, bytes, n_bytes), bytes, n_bytes, out_number);
}

bool tap_string_table_find_hashed(const struct tap_string_table *table, uint64_t hash, const char *bytes,
                                  size_t n_bytes, uint32_t *out_number)
{
    if (table->n_slots == 0)
        return false;
    uint32_t taken = table->slots[slot_of(table, hash, bytes, n_bytes)];
    if (taken == 0)
        return false;
    *out_number = taken - 1;
    return true;
}

const char *tap_string_table_get(const struct tap_string_table *table, uint32_t number)
{
    TAP_CHECK(number < table->n);
    return table->pool + table->entries[number].start;
}

size_t tap_string_table_length(const struct tap_string_table *table, uint32_t number)
{
    TAP_CHECK(number < table->n);
    return table->entries[number].n_bytes;
}
