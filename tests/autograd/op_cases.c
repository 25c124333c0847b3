/* op_cases.c: see op_cases.h. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>

struct tap_tape *test_tape(void)
{
    struct tap_error error = {0};
    struct tap_tape *tape = tap_tape_new(&error);
    cr_assert(tape != NULL, "%s", error.message);
    return tape;
}

void assert_values(const struct tap_tensor *y, const double *right, size_t n, double tolerance)
{
    cr_assert(y != NULL, "the operation failed");
    cr_assert_eq(y->size, n, "%zu numbers, not %zu", y->size, n);
    for (size_t i = 0; i < n; i++)
        cr_assert(fabs((double)y->data[i] - right[i]) <= tolerance, "number %zu is %.9g, not %.9g", i,
                  (double)y->data[i], right[i]);
}

void fill_values(tap_real *out, size_t n, enum op_fill fill, uint32_t place)
{
    struct tap_rng rng = {.key = tap_rng_key(2017, TAP_RNG_TEST, 0, place)};
    if (fill == OP_FILL_DISTINCT) {
        /* a seeded walk over the places by a step that has no divisor in common with n visits each once */
        size_t step = n / 2 + 1;
        for (size_t a = step, b = n; b != 0 && n > 1;) {
            size_t rest = a % b;
            a = b;
            b = rest;
            if (b == 0 && a != 1) {
                step++;
                a = step;
                b = n;
            }
        }
        for (size_t i = 0; i < n; i++)
            out[i * step % n] = (tap_real)(0.02 * (double)i - 0.01 * (double)n + 0.005 * tap_rng_uniform(&rng));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double value = fill == OP_FILL_POSITIVE ? 0.5 + 1.5 * tap_rng_uniform(&rng) : tap_rng_normal(&rng);
        if (fill == OP_FILL_AWAY)
            value += value < 0 ? -0.1 : 0.1;
        out[i] = (tap_real)value;
    }
}
