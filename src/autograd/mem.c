/* mem.c: see mem.h. The counters are atomic because OpenMP threads may allocate. */
#include "mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t n_calls;
static atomic_uint_fast64_t fail_call; /* the number of the call that fails; 0: none */
static atomic_bool fail_persistent;

bool tap_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool tap_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

/* Counts an allocating call; false when a test asked for this one to fail. */
static bool may_allocate(void)
{
    uint64_t call = atomic_fetch_add(&n_calls, 1) + 1;
    uint64_t failing = atomic_load(&fail_call);
    return failing == 0 || (atomic_load(&fail_persistent) ? call < failing : call != failing);
}

void *tap_mem_new(size_t count, size_t item_bytes)
{
    size_t n_bytes;
    if (!may_allocate() || !tap_size_mul(count, item_bytes, &n_bytes))
        return NULL;
    return calloc(n_bytes > 0 ? n_bytes : 1, 1);
}

void *tap_mem_new_aligned(size_t count, size_t item_bytes)
{
    size_t n_bytes;
    void *block = NULL;
    if (!may_allocate() || !tap_size_mul(count, item_bytes, &n_bytes))
        return NULL;
    if (posix_memalign(&block, TAP_ALIGNMENT, n_bytes > 0 ? n_bytes : 1) != 0)
        return NULL;
    return block;
}

void *tap_mem_resize(void *block, size_t count, size_t item_bytes)
{
    size_t n_bytes;
    if (!may_allocate() || !tap_size_mul(count, item_bytes, &n_bytes))
        return NULL;
    return realloc(block, n_bytes > 0 ? n_bytes : 1);
}

char *tap_mem_copy_text(const char *text, size_t n_bytes)
{
    size_t total;
    if (!tap_size_add(n_bytes, 1, &total))
        return NULL;
    char *copy = tap_mem_new(total, 1);
    if (copy != NULL && n_bytes > 0)
        memcpy(copy, text, n_bytes);
    return copy;
}

void tap_mem_free(void *block)
{
    free(block);
}

bool tap_mem_reserve(void *items_pointer, size_t *capacity, size_t needed, size_t item_bytes)
{
    void *items;
    memcpy(&items, items_pointer, sizeof items);
    if (needed <= *capacity)
        return true;
    size_t target = *capacity > SIZE_MAX / 2 ? needed : *capacity * 2;
    if (target < needed)
        target = needed;
    if (target < 16)
        target = 16;
    void *grown = tap_mem_resize(items, target, item_bytes);
    if (grown == NULL)
        return false;
    memcpy(items_pointer, &grown, sizeof grown);
    *capacity = target;
    return true;
}

uint64_t tap_mem_n_calls(void)
{
    return atomic_load(&n_calls);
}

void tap_mem_fail_at(uint64_t n, bool persistent)
{
    atomic_store(&fail_persistent, persistent);
    atomic_store(&fail_call, n == 0 ? 0 : atomic_load(&n_calls) + n);
}
