/* test_rng.c: counted randomness against the known answers of its authors, and the distributions made from it. */
#include "rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct tap_rng_key any_key = {{0xa4093822u, 0x299f31d0u}};

/* The known-answer vectors of philox4x32-10 in the Random123 distribution (kat_vectors). */
Test(rng, known_answers_come_out)
{
    static const struct {
        uint32_t counter[4], key[2], right[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}, {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
        {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}, {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t words[4];
        const struct tap_rng_key key = {{known[i].key[0], known[i].key[1]}};
        const uint32_t *c = known[i].counter;
        tap_rng_words(key, c[0], c[1], c[2], c[3], words);
        cr_assert_eq(memcmp(words, known[i].right, sizeof words), 0, "vector %zu", i);
    }
}

Test(rng, a_row_is_made_of_the_words_of_its_counters)
{
    uint32_t row[300], words[4];
    for (uint32_t n = 0; n < 300; n += n < 70 ? 1 : 13) {
        memset(row, 0xab, sizeof row);
        tap_rng_row(any_key, 7, n, 9, n, row);
        for (uint32_t i = 0; i < n; i++) {
            tap_rng_words(any_key, 7, n, 9, i / 4, words);
            cr_assert_eq(row[i], words[i % 4], "word %u of %u", i, n);
        }
        cr_assert_eq(row[n], 0xabababab, "wrote behind %u words", n);
    }
}

Test(rng, every_part_of_a_key_makes_another_one)
{
    const struct tap_rng_key keys[] = {
        tap_rng_key(1, TAP_RNG_INIT, 0, 0),    tap_rng_key(0, TAP_RNG_INIT, 0, 0),
        tap_rng_key(1, TAP_RNG_DROPOUT, 0, 0), tap_rng_key(1, TAP_RNG_INIT, 1, 0),
        tap_rng_key(1, TAP_RNG_INIT, 0, 1),    tap_rng_key(UINT64_C(1) << 32, TAP_RNG_INIT, 0, 0),
        tap_rng_key(UINT64_C(1) << 63, TAP_RNG_INIT, 0, 0),
        tap_rng_key(UINT64_MAX, TAP_RNG_INIT, 0, 0), tap_rng_key(1, TAP_RNG_INIT, UINT64_C(1) << 32, 0),
    };
    enum { N = sizeof keys / sizeof keys[0] };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            cr_assert_neq(memcmp(&keys[i], &keys[j], sizeof keys[i]), 0, "%d and %d", i, j);
}

/* What any change of the generator or of the key's making would change: results of old runs could not be made again. */
Test(rng, the_first_numbers_of_a_seed_are_these)
{
    static const uint32_t right[] = {0xc488dea4u, 0x967c57feu, 0xc18936f0u, 0xbba963f2u,
                                     0x474dfc35u, 0x299fdeebu, 0x45d6b651u, 0x7bcbff6fu};
    struct tap_rng rng = {.key = tap_rng_key(1, TAP_RNG_INIT, 0, 0)};
    for (int i = 0; i < 8; i++)
        cr_assert_eq(tap_rng_next(&rng), right[i]);
    cr_assert_eq(rng.n_drawn, 8);
}

Test(rng, a_sequence_can_go_on_at_any_place)
{
    struct tap_rng rng = {.key = any_key}, other = {.key = any_key};
    uint32_t drawn[50];
    for (int i = 0; i < 50; i++)
        drawn[i] = tap_rng_next(&rng);
    for (int i = 49; i >= 0; i--) {
        other.n_drawn = (uint64_t)i;
        cr_assert_eq(tap_rng_next(&other), drawn[i]);
    }
    other.n_drawn = UINT64_C(1) << 34; /* the counter's second word counts too */
    cr_assert_neq(tap_rng_next(&other), drawn[0]);
}

Test(rng, numbers_below_a_bound_are_equally_likely)
{
    static const uint32_t bounds[] = {1, 2, 3, 7, 10, 1000};
    enum { DRAWS = 200000 };
    struct tap_rng rng = {.key = any_key};
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        uint32_t bound = bounds[b];
        unsigned counts[1000] = {0};
        for (int i = 0; i < DRAWS; i++) {
            uint32_t number = tap_rng_below(&rng, bound);
            cr_assert_lt(number, bound);
            counts[number]++;
        }
        double expected = (double)DRAWS / bound;
        for (uint32_t i = 0; i < bound; i++)
            cr_assert_leq(fabs(counts[i] - expected), 5.5 * sqrt(expected), "%u of %u: %u times", i, bound, counts[i]);
    }
}

Test(rng, a_large_bound_is_not_biased)
{
    /* 3 * 2^30: without refusal the lowest third would be drawn twice as often as the others */
    enum { DRAWS = 100000 };
    struct tap_rng rng = {.key = any_key};
    unsigned counts[3] = {0};
    for (int i = 0; i < DRAWS; i++)
        counts[tap_rng_below(&rng, UINT32_C(3) << 30) >> 30]++;
    for (int i = 0; i < 3; i++)
        cr_assert_leq(fabs(counts[i] - DRAWS / 3.0), 5 * sqrt(DRAWS * 2 / 9.0), "third %d: %u", i, counts[i]);
}

/* Mean, variance, third and fourth moment about the mean given. */
static void moments_of(double (*draw)(struct tap_rng *), double mean, double out[4])
{
    enum { DRAWS = 400000 };
    struct tap_rng rng = {.key = any_key};
    memset(out, 0, 4 * sizeof *out);
    for (int i = 0; i < DRAWS; i++) {
        double x = draw(&rng) - mean, power = 1;
        for (int k = 0; k < 4; k++)
            out[k] += (power *= x) / DRAWS;
    }
}

/* Tolerances: five standard deviations of each moment's mean over 400,000 draws. */
Test(rng, uniform_numbers_have_the_moments_of_the_uniform_distribution)
{
    double m[4];
    moments_of(tap_rng_uniform, 0.5, m);
    cr_assert_float_eq(m[0], 0, 0.0023);
    cr_assert_float_eq(m[1], 1.0 / 12, 0.0006);
    cr_assert_float_eq(m[2], 0, 0.0004);
    cr_assert_float_eq(m[3], 1.0 / 80, 0.0002);
    struct tap_rng rng = {.key = any_key};
    for (int i = 0; i < 100000; i++) {
        double u = tap_rng_uniform(&rng);
        cr_assert(u >= 0 && u < 1);
    }
}

Test(rng, normal_numbers_have_the_moments_of_the_normal_distribution)
{
    double m[4];
    moments_of(tap_rng_normal, 0, m);
    cr_assert_float_eq(m[0], 0, 0.008);
    cr_assert_float_eq(m[1], 1, 0.012);
    cr_assert_float_eq(m[2], 0, 0.031);
    cr_assert_float_eq(m[3], 3, 0.08);
    struct tap_rng rng = {.key = any_key};
    for (int i = 0; i < 100000; i++)
        cr_assert(isfinite(tap_rng_normal(&rng)));
}

Test(rng, a_permutation_holds_every_item_once)
{
    struct tap_rng rng = {.key = any_key};
    for (uint32_t n = 0; n < 200; n++) {
        uint32_t items[201];
        bool seen[200] = {false};
        items[n] = 12345;
        tap_rng_permutation(&rng, items, n);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert(items[i] < n && !seen[items[i]]);
            seen[items[i]] = true;
        }
        cr_assert_eq(items[n], 12345);
    }
}

Test(rng, every_order_is_equally_likely)
{
    enum { DRAWS = 60000 };
    struct tap_rng rng = {.key = any_key};
    unsigned counts[64] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t items[3];
        tap_rng_permutation(&rng, items, 3);
        counts[items[0] * 16 + items[1] * 4 + items[2]]++;
    }
    int n_orders = 0;
    for (int i = 0; i < 64; i++) {
        n_orders += counts[i] > 0;
        if (counts[i] > 0)
            cr_assert_leq(fabs(counts[i] - DRAWS / 6.0), 5 * sqrt(DRAWS / 6.0), "%u", counts[i]);
    }
    cr_assert_eq(n_orders, 6);
}
