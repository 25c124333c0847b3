/* test_op_linear.c: cases and values of tap_linear. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <string.h>

#include "parallel.h"

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return tap_linear(tape, inputs[0], inputs[1], inputs[2]);
}

static struct tap_tensor *build_without_bias(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return tap_linear(tape, inputs[0], inputs[1], NULL);
}

static const struct op_case cases[] = {
    {"one number", 3, {{2, {1, 1}, 0, 0}, {2, {1, 1}, 0, 0}, {1, {1}, 0, 0}}, build, NULL, 0},
    {"one row", 3, {{2, {1, 5}, 0, 0}, {2, {3, 5}, 0, 0}, {1, {3}, 0, 0}}, build, NULL, 0},
    {"primes", 3, {{2, {7, 5}, 0, 0}, {2, {11, 5}, 0, 0}, {1, {11}, 0, 0}}, build, NULL, 0},
    {"a vector", 3, {{1, {5}, 0, 0}, {2, {3, 5}, 0, 0}, {1, {3}, 0, 0}}, build, NULL, 0},
    {"three dimensions", 3, {{3, {2, 3, 5}, 0, 0}, {2, {7, 5}, 0, 0}, {1, {7}, 0, 0}}, build, NULL, 0},
    {"no bias", 2, {{2, {7, 5}, 0, 0}, {2, {3, 5}, 0, 0}}, build_without_bias, NULL, 0},
    {"one column in", 3, {{2, {7, 1}, 0, 0}, {2, {3, 1}, 0, 0}, {1, {3}, 0, 0}}, build, NULL, 0},
    {"one column out", 3, {{2, {7, 5}, 0, 0}, {2, {1, 5}, 0, 0}, {1, {1}, 0, 0}}, build, NULL, 0},
    {"no rows", 3, {{2, {0, 5}, 0, 0}, {2, {3, 5}, 0, 0}, {1, {3}, 0, 0}}, build, NULL, 0},
    {"a whole block", 3, {{2, {64, 8}, 0, 0}, {2, {16, 8}, 0, 0}, {1, {16}, 0, 0}}, build, NULL, 0},
    {"several blocks", 3, {{2, {197, 16}, 0, 0}, {2, {48, 16}, 0, 0}, {1, {48}, 0, 0}}, build, NULL, 0},
    {"a wide layer", 3, {{2, {300, 64}, 0, 0}, {2, {256, 64}, 0, 0}, {1, {256}, 0, 0}}, build, NULL, 0},
    {"more than a block of shape", 3, {{2, {70, 300}, 0, 0}, {2, {450, 300}, 0, 0}, {1, {450}, 0, 0}}, build, NULL, 0},
    {"frozen weight", 3, {{2, {7, 5}, 0, 0}, {2, {3, 5}, 0, 1}, {1, {3}, 0, 0}}, build, NULL, 0},
    {"constant input", 3, {{2, {7, 5}, 0, 1}, {2, {3, 5}, 0, 0}, {1, {3}, 0, 0}}, build, NULL, 0},
};
OP_CASES(tap_linear, cases);

Test(op_linear, a_row_has_the_same_bits_whatever_rows_stand_around_it)
{
    enum { ROWS = 300 };
    static const size_t shapes[][2] = {{1, 1}, {7, 5}, {16, 64}, {64, 256}, {192, 64}, {77, 96}, {512, 300}};
    static tap_real x[ROWS * 300], w[512 * 300], bias[512];
    struct tap_tape *tape = test_tape();
    fill_values(x, ROWS * 300, OP_FILL_NORMAL, 1);
    fill_values(w, 512 * 300, OP_FILL_NORMAL, 2);
    fill_values(bias, 512, OP_FILL_NORMAL, 3);
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        size_t out = shapes[s][0], in = shapes[s][1];
        const size_t w_shape[] = {out, in}, b_shape[] = {out}, all_shape[] = {ROWS, in};
        tap_tape_reset(tape);
        struct tap_tensor *weight = tap_input(tape, 2, w_shape, w);
        struct tap_tensor *shift = tap_input(tape, 1, b_shape, bias);
        struct tap_tensor *all = tap_linear(tape, tap_input(tape, 2, all_shape, x), weight, shift);
        for (size_t first = 0; first < ROWS; first += 41) {
            size_t n = 1 + first % 97 < ROWS - first ? 1 + first % 97 : ROWS - first;
            const size_t part_shape[] = {n, in};
            struct tap_tensor *part = tap_linear(tape, tap_input(tape, 2, part_shape, x + first * in), weight, shift);
            cr_assert(memcmp(part->data, all->data + first * out, n * out * sizeof *x) == 0, "%zu to %zu, rows %zu..", in,
                      out, first);
        }
    }
    tap_tape_free(tape);
}

Test(op_linear, shapes_that_do_not_fit_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t x_shape[] = {2, 3}, w_shape[] = {5, 4};
    struct tap_tensor *x = tap_input_copy(tape, 2, x_shape, NULL);
    struct tap_tensor *w = tap_input_copy(tape, 2, w_shape, NULL);
    cr_assert_null(tap_linear(tape, x, w, NULL));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_linear: x (2, 3), weight (5, 4) and bias none do not fit");
    tap_tape_free(tape);
}
