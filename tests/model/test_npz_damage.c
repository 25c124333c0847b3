/* test_npz_damage.c: whatever befalls the bytes of a checkpoint, it is refused: bits, lengths, blocks. */
#include "mem.h"
#include "npz.h"
#include "rng.h"
#include "scratch_folder.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(npz_damage, .fini = scratch_remove);

#if defined(__SANITIZE_ADDRESS__)
#define BIT_STRIDE 13 /* the instrumented build is slower; a stride that is prime meets every bit of a byte */
#else
#define BIT_STRIDE 1
#endif
#define BLOCK_BYTES ((size_t)4096)

/* The bytes of a checkpoint of about 16 KB; `seed` makes another one of the same length. */
static unsigned char *checkpoint(int compression, uint64_t seed, size_t *out_n)
{
    struct tap_error error = {0};
    struct tap_rng rng = {.key = tap_rng_key(seed, TAP_RNG_TEST, 0, 0)};
    static tap_real numbers[14000 / sizeof(tap_real)];
    size_t n = sizeof numbers / sizeof *numbers;
    for (size_t i = 0; i < n; i++)
        numbers[i] = (tap_real)tap_rng_normal(&rng);
    struct tap_npz_writer *writer = tap_npz_create(scratch_path("x.npz"), compression, &error);
    tap_npz_add_bytes(writer, "meta.json", "{\"step\":1}", 10);
    tap_npz_add_real(writer, "embedding.weight", 1, (size_t[]){n / 2}, numbers);
    tap_npz_add_real(writer, "optim/exp_avg/embedding.weight", 1, (size_t[]){n / 2}, numbers + n / 2);
    cr_assert_eq(tap_npz_commit(writer, &error), TAP_OK, "%s", error.message);
    return (unsigned char *)scratch_read(scratch_path("x.npz"), out_n);
}

static bool is_refused(const void *bytes, size_t n)
{
    struct tap_error error = {0};
    struct tap_npz *npz = tap_npz_open_memory(bytes, n, "x.npz", true, &error);
    bool refused = npz == NULL && error.status == TAP_ERR_FORMAT && strncmp(error.message, "x.npz: ", 7) == 0;
    tap_npz_close(npz);
    return refused;
}

Test(npz_damage, every_flipped_bit_is_refused)
{
    for (int compression = 0; compression <= 6; compression += 6) {
        size_t n;
        unsigned char *bytes = checkpoint(compression, 1, &n);
        cr_assert(n > 12000 && n <= 16384, "%zu", n);
        cr_assert_not(is_refused(bytes, n));
        for (size_t bit = 0; bit < 8 * n; bit += BIT_STRIDE) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            cr_assert(is_refused(bytes, n), "bit %zu", bit);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        tap_mem_free(bytes);
    }
}

Test(npz_damage, every_truncation_is_refused)
{
    for (int compression = 0; compression <= 6; compression += 6) {
        size_t n;
        unsigned char *bytes = checkpoint(compression, 1, &n);
        for (size_t length = 0; length < n; length++)
            cr_assert(is_refused(bytes, length), "length %zu", length);
        tap_mem_free(bytes);
    }
}

Test(npz_damage, whatever_is_appended_or_put_in_front_is_refused)
{
    size_t n;
    unsigned char *bytes = checkpoint(0, 1, &n);
    unsigned char *longer = tap_mem_new(2, n);
    const size_t lengths[] = {1, 8, 4096, n};
    for (size_t i = 0; i < 4; i++) {
        memset(longer, 0, 2 * n);
        memcpy(longer, bytes, n);
        if (i == 3)
            memcpy(longer + n, bytes, n);
        cr_assert(is_refused(longer, n + lengths[i]));
        memset(longer, 0, n);
        memcpy(longer + lengths[i], bytes, n);
        cr_assert(is_refused(longer, n + lengths[i]));
    }
    tap_mem_free(longer);
    tap_mem_free(bytes);
}

Test(npz_damage, blocks_zeroed_swapped_or_of_another_checkpoint_are_refused)
{
    size_t n, n_other;
    unsigned char *bytes = checkpoint(0, 1, &n);
    unsigned char *other = checkpoint(0, 2, &n_other);
    unsigned char *damaged = tap_mem_new(n, 1);
    cr_assert_eq(n, n_other);
    for (size_t a = 0; a < n; a += BLOCK_BYTES) {
        size_t n_block = n - a < BLOCK_BYTES ? n - a : BLOCK_BYTES;
        memcpy(damaged, bytes, n);
        memset(damaged + a, 0, n_block);
        cr_assert(is_refused(damaged, n));
        memcpy(damaged + a, other + a, n_block);
        cr_assert(is_refused(damaged, n));
        for (size_t b = 0; b + BLOCK_BYTES <= a && n_block == BLOCK_BYTES; b += BLOCK_BYTES) {
            memcpy(damaged, bytes, n);
            memcpy(damaged + a, bytes + b, BLOCK_BYTES);
            memcpy(damaged + b, bytes + a, BLOCK_BYTES);
            cr_assert(is_refused(damaged, n));
        }
    }
    tap_mem_free(damaged);
    tap_mem_free(other);
    tap_mem_free(bytes);
}

Test(npz_damage, random_bytes_are_refused_with_and_without_a_checksum)
{
    struct tap_rng rng = {.key = tap_rng_key(3, TAP_RNG_TEST, 0, 0)};
    size_t n;
    unsigned char *bytes = checkpoint(6, 1, &n);
    unsigned char *damaged = tap_mem_new(n, 1);
    for (int round = 0; round < 2000; round++) {
        memcpy(damaged, bytes, n);
        for (uint32_t i = tap_rng_below(&rng, 8) + 1; i > 0; i--)
            damaged[n - 1 - tap_rng_below(&rng, round % 2 == 0 ? 300 : (uint32_t)n)] =
                (unsigned char)tap_rng_next(&rng);
        if (memcmp(damaged, bytes, n) == 0)
            continue;
        cr_assert(is_refused(damaged, n));
        memcpy(damaged + n - 8, "no  sum.", 8); /* a comment that is no checksum: the structure is all there is */
        struct tap_npz *npz = tap_npz_open_memory(damaged, n, "x.npz", false, NULL);
        for (size_t i = 0; npz != NULL && i < tap_npz_n_members(npz); i++) {
            static tap_real out[2000];
            if (tap_npz_is_array(npz, i))
                tap_npz_read_real(npz, i, out, 7000 / sizeof *out, NULL);
        }
        tap_npz_close(npz);
    }
    tap_mem_free(damaged);
    tap_mem_free(bytes);
}
