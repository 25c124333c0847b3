/* test_op_dropout.c: cases and values of tap_dropout. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

struct extra {
    double probability;
    const struct tap_segments *segments;
};

static struct tap_rng_key key(void)
{
    return tap_rng_key(2017, TAP_RNG_DROPOUT, 3, 5);
}

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    return tap_dropout(tape, inputs[0], e->probability, key(), e->segments);
}

static const uint32_t unequal_offsets[] = {0, 5, 5, 6, 11, 11}, one_offsets[] = {0, 7}, none_offsets[] = {0},
                      many_offsets[] = {0, 100, 101, 140, 140};
static const struct tap_segments unequal = {5, unequal_offsets, 0}, one = {1, one_offsets, 4},
                                 none = {0, none_offsets, 0}, many = {4, many_offsets, 0};
static const struct extra tenth = {0.1, NULL}, half = {0.5, NULL}, most = {0.99, NULL}, half_unequal = {0.5, &unequal},
                          half_one = {0.5, &one}, half_none = {0.5, &none}, tenth_many = {0.1, &many};
static const struct op_case table[] = {
    {"scalar", 1, {{0, {0}, 0, 0}}, build, &tenth, 0},
    {"one number", 1, {{1, {1}, 0, 0}}, build, &tenth, 0},
    {"one row", 1, {{2, {1, 13}, 0, 0}}, build, &half, 0},
    {"one column", 1, {{2, {13, 1}, 0, 0}}, build, &half, 0},
    {"unequal sequences", 1, {{2, {11, 7}, 0, 0}}, build, &half_unequal, 0},
    {"one sequence, three dimensions", 1, {{3, {7, 3, 5}, 0, 0}}, build, &half_one, 0},
    {"nearly all dropped", 1, {{2, {11, 7}, 0, 0}}, build, &most, 0},
    {"constant", 1, {{2, {11, 7}, 0, 1}}, build, &half, 0},
    {"no sequence", 1, {{2, {0, 7}, 0, 0}}, build, &half_none, 0},
    {"no features", 1, {{2, {7, 0}, 0, 0}}, build, &half_one, 0},
    {"many rows", 1, {{2, {140, 37}, 0, 0}}, build, &tenth_many, 0},
};
OP_CASES(tap_dropout, table);

/* Dropout of ones: which elements were kept. */
static struct tap_tensor *dropped_ones(struct tap_tape *tape, size_t n, size_t width, double probability,
                                       struct tap_rng_key dropout_key, const struct tap_segments *segments)
{
    const size_t shape[] = {n, width};
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    for (size_t i = 0; i < x->size; i++)
        x->data[i] = 1;
    return tap_dropout(tape, x, probability, dropout_key, segments);
}

Test(op_dropout, an_element_is_decided_by_the_random_word_of_its_sequence_token_and_feature)
{
    struct tap_tape *tape = test_tape();
    enum { WIDTH = 67 };
    struct tap_segments segments = {5, unequal_offsets, 8};
    struct tap_tensor *y = dropped_ones(tape, 11, WIDTH, 0.25, key(), &segments);
    uint32_t words[WIDTH];
    for (uint32_t s = 0; s < segments.n; s++)
        for (uint32_t row = unequal_offsets[s]; row < unequal_offsets[s + 1]; row++) {
            tap_rng_row(key(), 8 + s, row - unequal_offsets[s], 0, WIDTH, words);
            for (size_t j = 0; j < WIDTH; j++)
                cr_assert_eq(y->data[row * WIDTH + j], words[j] >= UINT32_C(0x40000000) ? (tap_real)(4.0 / 3) : 0);
        }
    tap_tape_free(tape);
}

Test(op_dropout, without_segments_rows_are_one_sequence)
{
    struct tap_tape *tape = test_tape();
    const uint32_t offsets[] = {0, 40};
    const struct tap_segments whole = {1, offsets, 0};
    struct tap_tensor *a = dropped_ones(tape, 40, 9, 0.5, key(), NULL);
    struct tap_tensor *b = dropped_ones(tape, 40, 9, 0.5, key(), &whole);
    cr_assert_eq(memcmp(a->data, b->data, a->size * sizeof *a->data), 0);
    tap_tape_free(tape);
}

Test(op_dropout, a_batch_cut_into_micro_batches_drops_the_same)
{
    struct tap_tape *tape = test_tape();
    enum { WIDTH = 19 };
    const uint32_t whole_offsets[] = {0, 3, 4, 4, 11, 20, 22}, first_offsets[] = {0, 3, 4, 4},
                   second_offsets[] = {0, 7, 16}, third_offsets[] = {0, 2};
    const struct tap_segments whole = {6, whole_offsets, 10},
                              cuts[] = {{3, first_offsets, 10}, {2, second_offsets, 13}, {1, third_offsets, 15}};
    struct tap_tensor *y = dropped_ones(tape, 22, WIDTH, 0.3, key(), &whole);
    size_t row = 0;
    for (int i = 0; i < 3; i++) {
        size_t n = cuts[i].offsets[cuts[i].n];
        struct tap_tensor *part = dropped_ones(tape, n, WIDTH, 0.3, key(), &cuts[i]);
        cr_assert_eq(memcmp(part->data, y->data + row * WIDTH, n * WIDTH * sizeof *y->data), 0, "part %d", i);
        row += n;
    }
    cr_assert_eq(row, 22);
    tap_tape_free(tape);
}

Test(op_dropout, the_share_of_dropped_elements_is_the_probability)
{
    struct tap_tape *tape = test_tape();
    const double probabilities[] = {0.01, 0.1, 0.5, 0.9};
    for (int i = 0; i < 4; i++) {
        double p = probabilities[i];
        size_t n_dropped = 0, n = 0;
        struct tap_tensor *y = dropped_ones(tape, 1000, 100, p, key(), NULL);
        for (; n < y->size; n++)
            n_dropped += y->data[n] == 0;
        /* five standard deviations of a binomial share */
        cr_assert_float_eq((double)n_dropped / (double)n, p, 5 * sqrt(p * (1 - p) / (double)n));
    }
    tap_tape_free(tape);
}

Test(op_dropout, other_keys_drop_other_elements)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *a = dropped_ones(tape, 8, 32, 0.5, key(), NULL);
    struct tap_tensor *b = dropped_ones(tape, 8, 32, 0.5, tap_rng_key(2017, TAP_RNG_DROPOUT, 4, 5), NULL);
    size_t n_equal = 0;
    for (size_t i = 0; i < a->size; i++)
        n_equal += a->data[i] == b->data[i];
    cr_assert(n_equal > 64 && n_equal < 192, "%zu of 256 are equal", n_equal);
    tap_tape_free(tape);
}

Test(op_dropout, the_gradient_passes_where_the_value_did)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *y = dropped_ones(tape, 50, 7, 0.4, key(), NULL);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, y, TAP_ALL_AXES, false)), TAP_OK);
    const struct tap_tensor *x = y->node->inputs[0];
    cr_assert_eq(memcmp(x->grad, y->data, y->size * sizeof *y->data), 0); /* x = 1, dy = 1: both are keep / (1-p) */
    tap_tape_free(tape);
}

Test(op_dropout, a_dropped_infinity_is_zero)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {64};
    tap_real numbers[64];
    size_t n_zero = 0;
    for (int i = 0; i < 64; i++)
        numbers[i] = INFINITY;
    struct tap_tensor *y = tap_dropout(tape, tap_input(tape, 1, shape, numbers), 0.5, key(), NULL);
    for (int i = 0; i < 64; i++) {
        cr_assert(y->data[i] == 0 || isinf(y->data[i]));
        n_zero += y->data[i] == 0;
    }
    cr_assert(n_zero > 0 && n_zero < 64);
    tap_tape_free(tape);
}

Test(op_dropout, probability_zero_gives_the_tensor_itself)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {7, 3};
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    cr_assert_eq(tap_dropout(tape, x, 0, key(), &one), x);
    cr_assert_eq(tap_tape_use(tape).n_nodes, 0);
    tap_tape_free(tape);
}

Test(op_dropout, a_probability_next_to_zero_keeps_and_next_to_one_stays_finite)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *kept = dropped_ones(tape, 10, 10, 1e-12, key(), NULL);
    struct tap_tensor *dropped = dropped_ones(tape, 10, 10, 1 - 1e-12, key(), NULL);
    for (int i = 0; i < 100; i++) {
        cr_assert_float_eq((double)kept->data[i], 1, 1e-6);
        cr_assert_eq(dropped->data[i], 0);
    }
    tap_tape_free(tape);
}

Test(op_dropout, arguments_out_of_range_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {7, 3}, six[] = {6, 3};
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    const double refused[] = {1, -0.1, 1.5, NAN};
    for (int i = 0; i < 4; i++) {
        cr_assert_null(tap_dropout(tape, x, refused[i], key(), NULL));
        cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
        cr_assert(strstr(tap_tape_error(tape)->message, "probability") != NULL);
        tap_tape_clear_error(tape);
    }
    cr_assert_null(tap_dropout(tape, tap_input_copy(tape, 2, six, NULL), 0.5, key(), &one));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_dropout: segments cover 7 rows; x has 6");
    tap_tape_free(tape);
}

Test(op_dropout, more_rows_or_features_than_can_be_counted_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shapes[][2] = {{(size_t)1 << 32, 1}, {1, (size_t)1 << 31}};
    tap_tape_set_planning(tape, true);
    for (int i = 0; i < 2; i++) {
        cr_assert_null(tap_dropout(tape, tap_input(tape, 2, shapes[i], NULL), 0.5, key(), NULL));
        cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
        tap_tape_clear_error(tape);
    }
    tap_tape_free(tape);
}
