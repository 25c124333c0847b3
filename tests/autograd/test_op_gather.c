/* test_op_gather.c: cases and values of tap_gather. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <string.h>

struct extra {
    int axis;
    size_t n;
};

/* Indices run through the axis by a step, so places come several times, and some never. */
static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    enum { MOST = 301 };
    static uint32_t index[MOST]; /* borrowed until the tape is reset */
    const struct extra *e = extra;
    for (size_t i = 0; i < e->n; i++)
        index[i] = (uint32_t)((i * i + 1) % inputs[0]->shape[e->axis]);
    return tap_gather(tape, inputs[0], e->axis, index, e->n);
}

static const struct extra first_one = {0, 1}, first_seven = {0, 7}, second_seven = {1, 7}, third_seven = {2, 7},
                          second_none = {1, 0}, first_many = {0, 301}, second_many = {1, 301};
static const struct op_case table[] = {
    {"one number", 1, {{1, {1}, 0, 0}}, build, &first_one, 0},
    {"vector", 1, {{1, {5}, 0, 0}}, build, &first_seven, 0},
    {"rows", 1, {{2, {5, 3}, 0, 0}}, build, &first_seven, 0},
    {"columns", 1, {{2, {5, 3}, 0, 0}}, build, &second_seven, 0},
    {"first of three", 1, {{3, {5, 2, 3}, 0, 0}}, build, &first_seven, 0},
    {"middle of three", 1, {{3, {2, 5, 3}, 0, 0}}, build, &second_seven, 0},
    {"last of three", 1, {{3, {2, 3, 5}, 0, 0}}, build, &third_seven, 0},
    {"no place", 1, {{3, {2, 5, 3}, 0, 0}}, build, &second_none, 0},
    {"empty", 1, {{2, {0, 3}, 0, 0}}, build, &second_seven, 0},
    {"no features", 1, {{2, {3, 0}, 0, 0}}, build, &first_seven, 0},
    {"constant", 1, {{2, {5, 3}, 0, 1}}, build, &first_seven, 0},
    {"many rows", 1, {{2, {31, 67}, 0, 0}}, build, &first_many, 0},
    {"many columns", 1, {{2, {67, 31}, 0, 0}}, build, &second_many, 0},
};
OP_CASES(tap_gather, table);

Test(op_gather, places_come_in_the_order_of_the_index)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    const uint32_t columns[] = {2, 2, 0, 1}, rows[] = {1};
    struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){1, 2, 3, 4, 5, 6});
    struct tap_tensor *y = tap_gather(tape, x, 1, columns, 4);
    cr_assert(y->n_dims == 2 && y->shape[0] == 2 && y->shape[1] == 4);
    assert_values(y, (const double[]){3, 3, 1, 2, 6, 6, 4, 5}, 8, 0);
    assert_values(tap_gather(tape, x, 0, rows, 1), (const double[]){4, 5, 6}, 3, 0);
    struct tap_tensor *dy = tap_input(tape, 2, y->shape, (const tap_real[]){1, 2, 3, 4, 5, 6, 7, 8});
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, dy), TAP_ALL_AXES, false)), TAP_OK);
    const tap_real right[] = {3, 4, 3, 7, 8, 11};
    for (int i = 0; i < 6; i++)
        cr_assert_eq(x->grad[i], right[i]);
    tap_tape_free(tape);
}

Test(op_gather, an_axis_or_index_out_of_range_is_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    const uint32_t index[] = {0, 3};
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    cr_assert_null(tap_gather(tape, x, 1, index, 2));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    cr_assert_str_eq(tap_tape_error(tape)->message,
                     "tap_gather: index 3 at position 1; only numbers below 3 are accepted");
    const int axes[] = {2, -1};
    for (int i = 0; i < 2; i++) {
        tap_tape_clear_error(tape);
        cr_assert_null(tap_gather(tape, x, axes[i], index, 1));
        cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    }
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_gather: shape (2, 3) has no axis -1");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_gather(tape, x, 0, NULL, 1));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    tap_tape_free(tape);
}
