/* test_mem.c: the heap's door: overflow, counting, failing on request. */
#include "mem.h"

#include <criterion/criterion.h>
#include <string.h>

Test(mem, products_and_sums_that_overflow_are_refused_and_write_nothing)
{
    size_t out = 7;
    cr_assert_not(tap_size_mul(SIZE_MAX, 2, &out));
    cr_assert_not(tap_size_mul(SIZE_MAX / 2 + 1, 2, &out));
    cr_assert_not(tap_size_add(SIZE_MAX, 1, &out));
    cr_assert_eq(out, 7);
    cr_assert(tap_size_mul(SIZE_MAX / 2, 2, &out) && out == SIZE_MAX - 1);
    cr_assert(tap_size_mul(SIZE_MAX, 0, &out) && out == 0);
    cr_assert(tap_size_add(SIZE_MAX - 1, 1, &out) && out == SIZE_MAX);
}

Test(mem, a_size_that_overflows_gives_no_memory)
{
    void *kept = tap_mem_new(3, 1);
    cr_assert_null(tap_mem_new(SIZE_MAX, 2));
    cr_assert_null(tap_mem_new_aligned(SIZE_MAX / 4, 8));
    cr_assert_null(tap_mem_resize(kept, SIZE_MAX, 16));
    cr_assert_null(tap_mem_copy_text("a", SIZE_MAX));
    memset(kept, 1, 3); /* still there after the failed resize */
    tap_mem_free(kept);
}

Test(mem, new_memory_is_zero_and_aligned_memory_is_aligned)
{
    for (size_t n = 0; n < 300; n += 37) {
        unsigned char *zeros = tap_mem_new(n, 3);
        void *aligned = tap_mem_new_aligned(n, 4);
        cr_assert(zeros != NULL && aligned != NULL);
        for (size_t i = 0; i < 3 * n; i++)
            cr_assert_eq(zeros[i], 0);
        cr_assert_eq((uintptr_t)aligned % TAP_ALIGNMENT, 0);
        tap_mem_free(zeros);
        tap_mem_free(aligned);
    }
    tap_mem_free(NULL);
}

Test(mem, nothing_of_something_can_be_freed)
{
    void *a = tap_mem_new(0, 8), *b = tap_mem_new(0, 8), *c = tap_mem_resize(NULL, 0, 4);
    cr_assert(a != NULL && b != NULL && c != NULL && a != b);
    tap_mem_free(a);
    tap_mem_free(b);
    tap_mem_free(c);
}

Test(mem, a_copied_text_ends_with_a_zero)
{
    char *copy = tap_mem_copy_text("tapestry", 3), *none = tap_mem_copy_text(NULL, 0);
    cr_assert_str_eq(copy, "tap");
    cr_assert_str_eq(none, "");
    tap_mem_free(copy);
    tap_mem_free(none);
}

Test(mem, the_nth_call_fails_alone_or_with_all_that_follow)
{
    for (int persistent = 0; persistent < 2; persistent++)
        for (uint64_t n = 1; n <= 5; n++) {
            tap_mem_fail_at(n, persistent);
            for (uint64_t call = 1; call <= 6; call++) {
                void *block = call % 2 ? tap_mem_new(1, 1) : tap_mem_new_aligned(1, 1);
                bool fails = persistent ? call >= n : call == n;
                cr_assert_eq(block == NULL, fails, "call %d, failing at %d", (int)call, (int)n);
                tap_mem_free(block);
            }
            tap_mem_fail_at(0, false);
            void *block = tap_mem_new(1, 1);
            cr_assert_not_null(block);
            tap_mem_free(block);
        }
}

Test(mem, every_allocating_call_is_counted_and_freeing_is_not)
{
    uint64_t before = tap_mem_n_calls();
    void *a = tap_mem_new(1, 1), *b = tap_mem_new_aligned(1, 1), *c = tap_mem_copy_text("a", 1);
    a = tap_mem_resize(a, 100, 1);
    cr_assert_eq(tap_mem_n_calls(), before + 4);
    tap_mem_free(a);
    tap_mem_free(b);
    tap_mem_free(c);
    cr_assert_eq(tap_mem_n_calls(), before + 4);
}

Test(mem, a_list_grows_by_doubling_and_keeps_its_items)
{
    int *items = NULL;
    size_t capacity = 0;
    uint64_t before = tap_mem_n_calls();
    for (size_t i = 0; i < 10000; i++) {
        cr_assert(tap_mem_reserve(&items, &capacity, i + 1, sizeof *items));
        items[i] = (int)i;
    }
    for (int i = 0; i < 10000; i++)
        cr_assert_eq(items[i], i);
    cr_assert_leq(tap_mem_n_calls() - before, 12);
    cr_assert(tap_mem_reserve(&items, &capacity, 5, sizeof *items)); /* there already */
    tap_mem_fail_at(1, false);
    int *held = items;
    size_t before_capacity = capacity;
    cr_assert_not(tap_mem_reserve(&items, &capacity, capacity + 1, sizeof *items));
    cr_assert(items == held && capacity == before_capacity);
    cr_assert_not(tap_mem_reserve(&items, &capacity, SIZE_MAX, sizeof *items));
    tap_mem_free(items);
}
