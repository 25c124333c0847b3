/* test_attention_bias.c: values of the additive bias of attention, used as a mask. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const uint32_t offsets[] = {0, 3};
static const struct tap_segments three = {1, offsets, 0};

/* Three tokens, one head of two columns; queries, keys and values of BR-01. */
static const tap_real queries[] = {1, 0, 0, 1, 0, 0}, keys[] = {1, 0, 0, 1, 1, 1}, values[] = {1, 2, 3, 4, 5, 6};
static const size_t shape[] = {3, 2}, mask_shape[] = {1, 3, 3};

struct attended {
    struct tap_tensor *q, *k, *v, *y;
};

/* Attention under a mask, with the gradient of the sum of the first `n_rows` rows. */
static struct attended attend(struct tap_tape *tape, const tap_real *mask, size_t n_rows)
{
    struct attended a = {tap_variable(tape, 2, shape, queries), tap_variable(tape, 2, shape, keys),
                         tap_variable(tape, 2, shape, values), NULL};
    const struct tap_attention_options options = {
        .heads = 1, .scale_scores = true, .bias = tap_input_copy(tape, 3, mask_shape, mask)};
    a.y = tap_attention(tape, a.q, a.k, a.v, &three, &options);
    struct tap_tensor *loss = tap_sum(tape, tap_slice(tape, a.y, 0, 0, n_rows), TAP_ALL_AXES, false);
    cr_assert_eq(tap_backward(tape, loss), TAP_OK, "%s", tap_tape_error(tape)->message);
    return a;
}

Test(attention_bias, a_hidden_key_takes_no_part)
{
    struct tap_tape *tape = test_tape();
    const tap_real mask[] = {0, 0, -INFINITY, 0, 0, -INFINITY, 0, 0, 0};
    struct attended a = attend(tape, mask, 2);
    assert_values(tap_slice(tape, a.y, 0, 0, 2), (const double[]){1.660477, 2.660477, 2.339523, 3.339523}, 4, 1e-6);
    for (size_t c = 0; c < 2; c++) {
        cr_assert_eq(a.k->grad[4 + c], 0);
        cr_assert_eq(a.v->grad[4 + c], 0);
    }
    tap_tape_free(tape);
}

Test(attention_bias, a_token_that_sees_nothing_gets_zeros_and_spoils_no_gradient)
{
    struct tap_tape *tape = test_tape();
    const tap_real sighted[] = {0, 0, -INFINITY, 0, 0, -INFINITY, 0, 0, 0};
    const tap_real blind[] = {0, 0, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0, 0, 0};
    struct attended a = attend(tape, sighted, 1);
    struct attended b = attend(tape, blind, 1);
    cr_assert(memcmp(a.y->data, b.y->data, 2 * sizeof *a.y->data) == 0);
    cr_assert(b.y->data[2] == 0 && b.y->data[3] == 0);
    cr_assert(memcmp(a.q->grad, b.q->grad, 6 * sizeof *a.q->grad) == 0);
    cr_assert(memcmp(a.k->grad, b.k->grad, 6 * sizeof *a.k->grad) == 0);
    cr_assert(memcmp(a.v->grad, b.v->grad, 6 * sizeof *a.v->grad) == 0);
    struct attended all = attend(tape, blind, 3);
    cr_assert(tap_is_finite(all.q->grad, 6) && tap_is_finite(all.k->grad, 6) && tap_is_finite(all.v->grad, 6));
    cr_assert(all.q->grad[2] == 0 && all.q->grad[3] == 0);
    tap_tape_free(tape);
}

/* BR-04: two masks of the most negative float, added, are minus infinity. */
Test(attention_bias, two_masks_added_hide_what_each_hides)
{
    struct tap_tape *tape = test_tape();
    const tap_real most = (tap_real)-3.4028235e38;
    const tap_real first[] = {0, 0, most, 0, 0, 0, most, most, most};
    const tap_real second[] = {most, 0, most, 0, 0, 0, most, most, most};
    tap_real both[9];
    for (size_t i = 0; i < 9; i++)
        both[i] = first[i] + second[i];
    struct attended a = attend(tape, both, 3);
    cr_assert_eq(a.y->data[0], 3);
    cr_assert_eq(a.y->data[1], 4);
    cr_assert(tap_is_finite(a.y->data, 6) && tap_is_finite(a.q->grad, 6) && tap_is_finite(a.k->grad, 6));
    tap_tape_free(tape);
}

Test(attention_bias, a_bias_of_another_shape_is_named)
{
    struct tap_tape *tape = test_tape();
    const size_t wrong[] = {1, 2, 2};
    struct tap_tensor *q = tap_input(tape, 2, shape, queries);
    const struct tap_attention_options options = {.heads = 1, .bias = tap_input_copy(tape, 3, wrong, NULL)};
    cr_assert_null(tap_attention(tape, q, q, q, &three, &options));
    cr_assert_str_eq(tap_tape_error(tape)->message,
                     "tap_attention: bias (1, 2, 2); (1 or 1, T, T) with T at least 3 is needed");
    tap_tape_free(tape);
}
