/* arena.h: memory that is handed out piece by piece and taken back all at once. */
#ifndef TAP_ARENA_H
#define TAP_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct tap_arena_chunk;

/* Zero-initialise; free with tap_arena_clear. */
struct tap_arena {
    struct tap_arena_chunk *chunks; /* newest first */
    size_t used_bytes;              /* handed out since the last reset */
    size_t capacity_bytes;          /* held in chunks */
};

/* A piece of TAP_ALIGNMENT, contents undefined (NaN patterns in checked builds); NULL when memory runs out. */
void *tap_arena_take(struct tap_arena *arena, size_t n_bytes);

/* Takes every piece back. What several chunks held is put into one, so that the next round needs no new one. */
void tap_arena_reset(struct tap_arena *arena);

/* Makes sure that `n_bytes` in all can be handed out without asking for memory; for an empty (reset) arena. */
bool tap_arena_reserve(struct tap_arena *arena, size_t n_bytes);

void tap_arena_clear(struct tap_arena *arena);

/* What one piece of n_bytes takes, rounding included. */
size_t tap_arena_piece_bytes(size_t n_bytes);

#endif
