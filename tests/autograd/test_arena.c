/* test_arena.c: memory that is handed out piece by piece and taken back at once. */
#include "arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "mem.h"

Test(arena, pieces_are_aligned_and_do_not_overlap)
{
    enum { N = 400 };
    static unsigned char *pieces[N];
    struct tap_arena arena = {0};
    for (size_t i = 0; i < N; i++) {
        pieces[i] = tap_arena_take(&arena, i * 7 % 1000);
        cr_assert_not_null(pieces[i]);
        cr_assert_eq((uintptr_t)pieces[i] % TAP_ALIGNMENT, 0);
        memset(pieces[i], (int)(i % 251), i * 7 % 1000);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i * 7 % 1000; j++)
            cr_assert_eq(pieces[i][j], i % 251, "piece %zu was overwritten", i);
    tap_arena_clear(&arena);
    cr_assert(arena.chunks == NULL && arena.used_bytes == 0 && arena.capacity_bytes == 0);
}

Test(arena, what_a_piece_takes_is_what_is_counted)
{
    struct tap_arena arena = {0};
    size_t expected = 0;
    for (size_t n = 0; n < 500; n += 17) {
        cr_assert_not_null(tap_arena_take(&arena, n));
        expected += tap_arena_piece_bytes(n);
        cr_assert_geq(tap_arena_piece_bytes(n), n);
        cr_assert_eq(arena.used_bytes, expected);
    }
    cr_assert_geq(arena.capacity_bytes, arena.used_bytes);
    tap_arena_clear(&arena);
}

Test(arena, after_a_reset_the_same_pieces_need_no_memory)
{
    struct tap_arena arena = {0};
    for (int round = 0; round < 5; round++) {
        uint64_t before = tap_mem_n_calls();
        for (size_t i = 0; i < 300; i++)
            cr_assert_not_null(tap_arena_take(&arena, 1000 + i));
        cr_assert_eq(tap_mem_n_calls() - before > 0, round == 0, "round %d", round);
        tap_arena_reset(&arena);
        cr_assert_eq(arena.used_bytes, 0);
    }
    tap_arena_clear(&arena);
}

Test(arena, after_a_reserve_that_much_needs_no_memory)
{
    struct tap_arena arena = {0};
    cr_assert(tap_arena_reserve(&arena, 1000 * tap_arena_piece_bytes(100)));
    uint64_t before = tap_mem_n_calls();
    for (int i = 0; i < 1000; i++)
        cr_assert_not_null(tap_arena_take(&arena, 100));
    cr_assert(tap_arena_reserve(&arena, 500 * tap_arena_piece_bytes(100))); /* less: held already */
    cr_assert_eq(tap_mem_n_calls(), before);
    tap_arena_clear(&arena);
}

Test(arena, a_piece_larger_than_any_chunk_is_given)
{
    struct tap_arena arena = {0};
    unsigned char *small = tap_arena_take(&arena, 10), *large = tap_arena_take(&arena, 10000000);
    cr_assert(small != NULL && large != NULL);
    memset(large, 1, 10000000);
    tap_arena_clear(&arena);
}

Test(arena, sizes_that_overflow_are_refused)
{
    struct tap_arena arena = {0};
    cr_assert_null(tap_arena_take(&arena, SIZE_MAX));
    cr_assert_null(tap_arena_take(&arena, SIZE_MAX - 100));
    cr_assert_not(tap_arena_reserve(&arena, SIZE_MAX));
    cr_assert_not_null(tap_arena_take(&arena, 10));
    tap_arena_clear(&arena);
}

Test(arena, memory_that_runs_out_leaves_the_arena_usable)
{
    struct tap_arena arena = {0};
    tap_mem_fail_at(1, false);
    cr_assert_null(tap_arena_take(&arena, 10));
    cr_assert_eq(arena.used_bytes, 0);
    cr_assert_not_null(tap_arena_take(&arena, 10));
    cr_assert_not_null(tap_arena_take(&arena, 200000)); /* a second chunk */
    tap_mem_fail_at(1, false);
    tap_arena_reset(&arena); /* cannot join the two */
    cr_assert_eq(arena.used_bytes, 0);
    cr_assert_not_null(tap_arena_take(&arena, 200000));
    tap_mem_fail_at(1, false);
    cr_assert_not(tap_arena_reserve(&arena, 100000000));
    cr_assert_not_null(tap_arena_take(&arena, 10));
    tap_arena_clear(&arena);
}

#ifdef TAP_CHECKS
Test(arena, fresh_pieces_are_not_numbers)
{
    struct tap_arena arena = {0};
    for (int round = 0; round < 2; round++) {
        double *numbers = tap_arena_take(&arena, 10 * sizeof *numbers);
        for (int i = 0; i < 10; i++) {
            cr_assert(numbers[i] != numbers[i]);
            numbers[i] = 1;
        }
        tap_arena_reset(&arena);
    }
    tap_arena_clear(&arena);
}
#endif
