/* mem.h: the only door to the heap. Everything the library allocates goes through here, so tests can count the calls
 * and make the n-th one fail. */
#ifndef TAP_MEM_H
#define TAP_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cache line and widest vector register, in bytes: the alignment of every block of numbers. */
#define TAP_ALIGNMENT 64

/* All of these return NULL when memory runs out or count * item_bytes overflows; a count of 0 gives a unique pointer
 * that can be freed. Free any of them with tap_mem_free. */
void *tap_mem_new(size_t count, size_t item_bytes);                    /* zero-filled */
void *tap_mem_new_aligned(size_t count, size_t item_bytes);            /* TAP_ALIGNMENT, contents undefined */
void *tap_mem_resize(void *block, size_t count, size_t item_bytes);    /* as realloc; on failure `block` stays valid */
char *tap_mem_copy_text(const char *text, size_t n_bytes);             /* n_bytes of text and a closing zero */
void tap_mem_free(void *block);                                        /* accepts NULL */

/* Grows a list that doubles: makes sure that `*items` (holding *capacity items) has room for `needed`. */
bool tap_mem_reserve(void *items_pointer, size_t *capacity, size_t needed, size_t item_bytes);

/* out = a * b, a + b; false, and nothing written, when that does not fit. */
bool tap_size_mul(size_t a, size_t b, size_t *out);
bool tap_size_add(size_t a, size_t b, size_t *out);

/* For tests. The number of allocating calls so far; and make the n-th allocating call from now (1 = the next) fail,
 * that one alone or that one and all after it. n = 0 switches failing off. */
uint64_t tap_mem_n_calls(void);
void tap_mem_fail_at(uint64_t n, bool persistent);

#endif
