/* test_op_pool.c: cases and values of tap_pool. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

struct extra {
    enum tap_pooling pooling;
    const struct tap_segments *segments;
};

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    return tap_pool(tape, inputs[0], e->segments, e->pooling);
}

static const uint32_t one_token_offsets[] = {0, 1}, unequal_offsets[] = {0, 5, 5, 6, 11, 11}, one_offsets[] = {0, 7},
                      none_offsets[] = {0}, empty_offsets[] = {0, 0, 0},
                      many_offsets[] = {0, 0, 100, 101, 140, 307, 307};
static const struct tap_segments one_token = {1, one_token_offsets, 0}, unequal = {5, unequal_offsets, 0},
                                 one = {1, one_offsets, 0}, none = {0, none_offsets, 0}, empty = {2, empty_offsets, 0},
                                 many = {6, many_offsets, 0};
#define EXTRAS(name, pooling)                                                                                          \
    static const struct extra name##_one_token = {pooling, &one_token}, name##_unequal = {pooling, &unequal},          \
                              name##_one = {pooling, &one}, name##_none = {pooling, &none},                            \
                              name##_empty = {pooling, &empty}, name##_many = {pooling, &many}
EXTRAS(mean, TAP_POOLING_MEAN);
EXTRAS(max, TAP_POOLING_MAX);
EXTRAS(cls, TAP_POOLING_CLS);
EXTRAS(mean_max, TAP_POOLING_MEAN_MAX);

#define POOL_CASES(name)                                                                                               \
    {#name ", one token", 1, {{2, {1, 5}, OP_FILL_DISTINCT, 0}}, build, &name##_one_token, 0},                         \
        {#name ", one sequence", 1, {{2, {7, 3}, OP_FILL_DISTINCT, 0}}, build, &name##_one, 0},                        \
        {#name ", one column", 1, {{2, {7, 1}, OP_FILL_DISTINCT, 0}}, build, &name##_one, 0},                          \
        {#name ", unequal sequences", 1, {{2, {11, 67}, OP_FILL_DISTINCT, 0}}, build, &name##_unequal, 0},             \
        {#name ", no sequence", 1, {{2, {0, 7}, OP_FILL_DISTINCT, 0}}, build, &name##_none, 0},                        \
        {#name ", empty sequences", 1, {{2, {0, 7}, OP_FILL_DISTINCT, 0}}, build, &name##_empty, 0},                   \
        {#name ", no features", 1, {{2, {7, 0}, OP_FILL_DISTINCT, 0}}, build, &name##_one, 0},                         \
        {#name ", constant", 1, {{2, {7, 3}, OP_FILL_DISTINCT, 1}}, build, &name##_one, 0},                            \
    {                                                                                                                  \
#name ", many rows", 1, {{2, {307, 67 }, OP_FILL_DISTINCT, 0 } }, build, &name##_many, 0                       \
    }
static const struct op_case table[] = {POOL_CASES(mean), POOL_CASES(cls), POOL_CASES(max), POOL_CASES(mean_max)};
OP_CASES(tap_pool, table);

static struct tap_tensor *pool_and_walk_back(struct tap_tape *tape, struct tap_tensor *x,
                                             const struct tap_segments *segments, enum tap_pooling pooling)
{
    struct tap_tensor *y = tap_pool(tape, x, segments, pooling);
    const tap_real numbers[] = {1, 2, 4, 8, 16, 32};
    cr_assert_eq(y->size, 6);
    struct tap_tensor *dy = tap_input_copy(tape, 2, y->shape, numbers);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, dy), TAP_ALL_AXES, false)), TAP_OK);
    return y;
}

Test(op_pool, values_and_gradients_of_each_kind)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {4, 2};
    const uint32_t offsets[] = {0, 3, 3, 4};
    const struct tap_segments segments = {3, offsets, 0};
    const tap_real numbers[] = {1, -4, 5, -6, 3, -2, 7, 8};
    const double values[][6] = {{3, -4, 0, 0, 7, 8}, {5, -2, 0, 0, 7, 8}, {1, -4, 0, 0, 7, 8}};
    const double third = 1.0 / 3;
    const double gradients[][8] = {{third, 2 * third, third, 2 * third, third, 2 * third, 16, 32},
                                   {0, 0, 1, 0, 0, 2, 16, 32},
                                   {1, 2, 0, 0, 0, 0, 16, 32}};
    const enum tap_pooling kinds[] = {TAP_POOLING_MEAN, TAP_POOLING_MAX, TAP_POOLING_CLS};
    for (int i = 0; i < 3; i++) {
        struct tap_tensor *x = tap_variable(tape, 2, shape, numbers);
        struct tap_tensor *y = pool_and_walk_back(tape, x, &segments, kinds[i]);
        assert_values(y, values[i], 6, 0);
        for (int j = 0; j < 8; j++)
            cr_assert_float_eq((double)x->grad[j], gradients[i][j], 2 * TAP_REAL_EPSILON);
    }
    tap_tape_free(tape);
}

Test(op_pool, mean_max_is_the_mean_and_after_it_the_maximum)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3, 2}, out_shape[] = {2, 4};
    const uint32_t offsets[] = {0, 2, 3};
    const struct tap_segments segments = {2, offsets, 0};
    struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){1, -4, 5, -6, 7, 8});
    struct tap_tensor *y = tap_pool(tape, x, &segments, TAP_POOLING_MEAN_MAX);
    assert_values(y, (const double[]){3, -5, 5, -4, 7, 8, 7, 8}, 8, 0);
    struct tap_tensor *dy = tap_input_copy(tape, 2, out_shape, (const tap_real[]){2, 4, 8, 16, 32, 64, 128, 256});
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, dy), TAP_ALL_AXES, false)), TAP_OK);
    const tap_real right[] = {1, 2 + 16, 1 + 8, 2, 160, 320};
    cr_assert_eq(memcmp(x->grad, right, sizeof right), 0);
    tap_tape_free(tape);
}

Test(op_pool, the_gradient_of_a_tie_goes_to_the_first_largest)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {4, 1};
    const uint32_t offsets[] = {0, 4};
    const struct tap_segments segments = {1, offsets, 0};
    struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){1, 3, 3, 3});
    cr_assert_eq(tap_backward(tape, tap_pool(tape, x, &segments, TAP_POOLING_MAX)), TAP_OK);
    const tap_real right[] = {0, 1, 0, 0};
    cr_assert_eq(memcmp(x->grad, right, sizeof right), 0);
    tap_tape_free(tape);
}

Test(op_pool, a_maximum_shows_a_nan_and_minus_infinity)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3, 3};
    const uint32_t offsets[] = {0, 3};
    const struct tap_segments segments = {1, offsets, 0};
    const tap_real numbers[] = {NAN, 1, -INFINITY, 5, NAN, -INFINITY, 6, 7, -INFINITY};
    struct tap_tensor *y = tap_pool(tape, tap_input(tape, 2, shape, numbers), &segments, TAP_POOLING_MAX);
    cr_assert(isnan(y->data[0]) && isnan(y->data[1]));
    cr_assert(isinf(y->data[2]) && y->data[2] < 0);
    tap_tape_free(tape);
}

Test(op_pool, a_mean_of_many_rows_keeps_its_digits)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {300000, 1};
    const uint32_t offsets[] = {0, 300000};
    const struct tap_segments segments = {1, offsets, 0};
    const tap_real step = (tap_real)0.1;
    struct tap_tensor *x = tap_add(tape, tap_input_copy(tape, 2, shape, NULL), tap_input(tape, 0, NULL, &step));
    double right = (double)step;
    assert_values(tap_pool(tape, x, &segments, TAP_POOLING_MEAN), &right, 1, TAP_REAL_EPSILON * 0.1 + 1e-12);
    tap_tape_free(tape);
}

Test(op_pool, a_sequence_has_the_same_bits_wherever_it_stands)
{
    struct tap_tape *tape = test_tape();
    enum { T = 13, D = 37, COPIES = 9 };
    tap_real rows[COPIES * T * D];
    uint32_t offsets[COPIES + 1];
    fill_values(rows, T * D, OP_FILL_NORMAL, 1);
    for (size_t i = T * D; i < COPIES * T * D; i++)
        rows[i] = rows[i % (T * D)];
    for (uint32_t s = 0; s <= COPIES; s++)
        offsets[s] = s * T;
    const struct tap_segments alone = {1, offsets, 0}, all = {COPIES, offsets, 0};
    const size_t shape[] = {T, D}, all_shape[] = {COPIES * T, D};
    struct tap_tensor *y = tap_pool(tape, tap_input(tape, 2, shape, rows), &alone, TAP_POOLING_MEAN);
    struct tap_tensor *together = tap_pool(tape, tap_input(tape, 2, all_shape, rows), &all, TAP_POOLING_MEAN);
    for (size_t s = 0; s < COPIES; s++)
        cr_assert_eq(memcmp(y->data, together->data + s * D, D * sizeof *rows), 0);
    tap_tape_free(tape);
}

Test(op_pool, arguments_that_do_not_fit_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {6, 2}, vector[] = {7};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    cr_assert_null(tap_pool(tape, x, &one, TAP_POOLING_MEAN));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_pool: segments cover 7 rows; x has 6");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_pool(tape, tap_input_copy(tape, 1, vector, NULL), &one, TAP_POOLING_MEAN));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_pool: x has shape (7); two dimensions are needed");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_pool(tape, x, NULL, TAP_POOLING_MEAN));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    tap_tape_clear_error(tape);
    int unknown = 4; /* through an int: an enum out of range as a caller of another language may pass it */
    cr_assert_null(tap_pool(tape, x, &one, (enum tap_pooling)unknown));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    cr_assert(strstr(tap_tape_error(tape)->message, "pooling is 4") != NULL);
    tap_tape_free(tape);
}
