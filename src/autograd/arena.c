/* arena.c: see arena.h. A chunk is one block of aligned memory; its header stands in front of the pieces. Under the
 * address sanitizer a gap behind each piece, and all that is not handed out, is poisoned. */
#include "arena.h"

#include <stdint.h>
#include <string.h>

#include "mem.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define GAP_BYTES TAP_ALIGNMENT
#define POISON(address, n_bytes) ASAN_POISON_MEMORY_REGION(address, n_bytes)
#define UNPOISON(address, n_bytes) ASAN_UNPOISON_MEMORY_REGION(address, n_bytes)
#else
#define GAP_BYTES 0
#define POISON(address, n_bytes) ((void)(address), (void)(n_bytes))
#define UNPOISON(address, n_bytes) ((void)(address), (void)(n_bytes))
#endif

#define SMALLEST_CHUNK_BYTES ((size_t)64 * 1024)

struct tap_arena_chunk {
    struct tap_arena_chunk *older;
    size_t capacity_bytes; /* of the pieces, without this header */
    size_t used_bytes;
};
#define HEADER_BYTES TAP_ALIGNMENT

static unsigned char *pieces_of(struct tap_arena_chunk *chunk)
{
    return (unsigned char *)chunk + HEADER_BYTES;
}

size_t tap_arena_piece_bytes(size_t n_bytes)
{
    size_t rounded;
    if (!tap_size_add(n_bytes, TAP_ALIGNMENT - 1 + GAP_BYTES, &rounded))
        return SIZE_MAX;
    return rounded / TAP_ALIGNMENT * TAP_ALIGNMENT;
}

static bool add_chunk(struct tap_arena *arena, size_t capacity_bytes)
{
    size_t total;
    if (!tap_size_add(capacity_bytes, HEADER_BYTES, &total))
        return false;
    struct tap_arena_chunk *chunk = tap_mem_new_aligned(total, 1);
    if (chunk == NULL)
        return false;
    *chunk = (struct tap_arena_chunk){.older = arena->chunks, .capacity_bytes = capacity_bytes};
    POISON(pieces_of(chunk), capacity_bytes);
    arena->chunks = chunk;
    arena->capacity_bytes += capacity_bytes;
    return true;
}

static void free_chunks(struct tap_arena *arena)
{
    while (arena->chunks != NULL) {
        struct tap_arena_chunk *older = arena->chunks->older;
        UNPOISON(pieces_of(arena->chunks), arena->chunks->capacity_bytes);
        tap_mem_free(arena->chunks);
        arena->chunks = older;
    }
    arena->capacity_bytes = 0;
}

void *tap_arena_take(struct tap_arena *arena, size_t n_bytes)
{
    size_t piece_bytes = tap_arena_piece_bytes(n_bytes);
    struct tap_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->capacity_bytes - chunk->used_bytes < piece_bytes) {
        size_t capacity = arena->capacity_bytes > SMALLEST_CHUNK_BYTES ? arena->capacity_bytes : SMALLEST_CHUNK_BYTES;
        if (!add_chunk(arena, capacity > piece_bytes ? capacity : piece_bytes))
            return NULL;
        chunk = arena->chunks;
    }
    unsigned char *piece = pieces_of(chunk) + chunk->used_bytes;
    UNPOISON(piece, n_bytes);
#ifdef TAP_CHECKS
    memset(piece, 0xff, n_bytes); /* every real of it is NaN: what is read before it is written shows */
#endif
    chunk->used_bytes += piece_bytes;
    arena->used_bytes += piece_bytes;
    return piece;
}

void tap_arena_reset(struct tap_arena *arena)
{
    size_t wanted = arena->capacity_bytes;
    if (arena->chunks != NULL && arena->chunks->older != NULL) {
        free_chunks(arena);
        /* without memory now, the next tap_arena_take asks again and reports it */
        add_chunk(arena, wanted);
    }
    if (arena->chunks != NULL) {
        POISON(pieces_of(arena->chunks), arena->chunks->capacity_bytes);
        arena->chunks->used_bytes = 0;
    }
    arena->used_bytes = 0;
}

bool tap_arena_reserve(struct tap_arena *arena, size_t n_bytes)
{
    tap_arena_reset(arena);
    if (arena->capacity_bytes >= n_bytes)
        return true;
    free_chunks(arena);
    return add_chunk(arena, n_bytes);
}

void tap_arena_clear(struct tap_arena *arena)
{
    free_chunks(arena);
    *arena = (struct tap_arena){0};
}
