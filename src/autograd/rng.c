/* rng.c: Philox 4x32-10 (see rng.h for the source). tap_rng_row is written so that the compiler turns its loop over
 * counters into vector instructions; its numbers are those of tap_rng_words. */
#include "rng.h"

#include <math.h>

#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u
#define PHILOX_ROUNDS 10
#define LANES 16

void tap_rng_words(struct tap_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t out[4])
{
    uint32_t k0 = key.word[0];
    uint32_t k1 = key.word[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c0;
        uint64_t p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* LANES counters (c0, c1, c2, first + lane) at once. */
static void philox_lanes(struct tap_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t first,
                         uint32_t *restrict out)
{
    uint32_t x0[LANES], x1[LANES], x2[LANES], x3[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        x0[lane] = c0;
        x1[lane] = c1;
        x2[lane] = c2;
        x3[lane] = first + lane;
    }
    uint32_t k0 = key.word[0];
    uint32_t k1 = key.word[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
#pragma omp simd
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t p0 = (uint64_t)PHILOX_M0 * x0[lane];
            uint64_t p1 = (uint64_t)PHILOX_M1 * x2[lane];
            x0[lane] = (uint32_t)(p1 >> 32) ^ x1[lane] ^ k0;
            x2[lane] = (uint32_t)(p0 >> 32) ^ x3[lane] ^ k1;
            x1[lane] = (uint32_t)p1;
            x3[lane] = (uint32_t)p0;
        }
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    for (int lane = 0; lane < LANES; lane++) {
        out[4 * lane] = x0[lane];
        out[4 * lane + 1] = x1[lane];
        out[4 * lane + 2] = x2[lane];
        out[4 * lane + 3] = x3[lane];
    }
}

void tap_rng_row(struct tap_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t n, uint32_t *out)
{
    uint32_t counter = 0;
    uint32_t i = 0;
    for (; n - i >= 4 * LANES; i += 4 * LANES, counter += LANES)
        philox_lanes(key, c0, c1, c2, counter, out + i);
    for (; i < n; i += 4, counter++) {
        uint32_t words[4];
        tap_rng_words(key, c0, c1, c2, counter, words);
        for (uint32_t j = 0; j < 4 && i + j < n; j++)
            out[i + j] = words[j];
    }
}

struct tap_rng_key tap_rng_key(uint64_t seed, enum tap_rng_purpose purpose, uint64_t step, uint32_t place)
{
    struct tap_rng_key seed_key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    uint32_t words[4];
    tap_rng_words(seed_key, (uint32_t)step, (uint32_t)(step >> 32), place, (uint32_t)purpose, words);
    return (struct tap_rng_key){{words[0], words[1]}};
}

uint32_t tap_rng_next(struct tap_rng *rng)
{
    uint32_t words[4];
    uint64_t counter = rng->n_drawn / 4;
    tap_rng_words(rng->key, (uint32_t)counter, (uint32_t)(counter >> 32), 0, 0, words);
    return words[rng->n_drawn++ % 4];
}

uint32_t tap_rng_below(struct tap_rng *rng, uint32_t bound)
{
    /* numbers below 2^32 mod bound would make the first remainders likelier: draw again */
    uint32_t refused = (0u - bound) % bound;
    uint32_t number;
    do
        number = tap_rng_next(rng);
    while (number < refused);
    return number % bound;
}

double tap_rng_uniform(struct tap_rng *rng)
{
    uint64_t high = tap_rng_next(rng) >> 5; /* 27 bits */
    uint64_t low = tap_rng_next(rng) >> 6;  /* 26 bits */
    return (double)(high << 26 | low) * 0x1p-53;
}

double tap_rng_normal(struct tap_rng *rng)
{
    double radius = sqrt(-2.0 * log(1.0 - tap_rng_uniform(rng)));
    return radius * cos(6.283185307179586476925 * tap_rng_uniform(rng));
}

void tap_rng_permutation(struct tap_rng *rng, uint32_t *out_items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out_items[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = tap_rng_below(rng, i);
        uint32_t swapped = out_items[i - 1];
        out_items[i - 1] = out_items[j];
        out_items[j] = swapped;
    }
}
