/* test_op_reshape.c: cases and values of tap_reshape and tap_detach. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <stdint.h>

struct new_shape {
    int n_dims;
    size_t shape[TAP_MAX_DIMS];
};

static struct tap_tensor *build_reshape(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct new_shape *to = extra;
    return tap_reshape(tape, inputs[0], to->n_dims, to->shape);
}

/* A view and the tensor itself: two parts of the same gradient. */
static struct tap_tensor *build_with_itself(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    struct tap_tensor *y = build_reshape(tape, inputs, extra);
    return tap_mul(tape, y, build_reshape(tape, inputs, extra));
}

static const struct new_shape shapes[] = {
    {0, {0}}, {1, {1}}, {1, {15}}, {2, {5, 3}}, {3, {5, 1, 3}}, {2, {0, 7}}, {2, {101, 211}}, {6, {1, 1, 3, 1, 5, 1}},
};
static const struct op_case reshape_table[] = {
    {"number to scalar", 1, {{1, {1}, 0, 0}}, build_reshape, &shapes[0], 0},
    {"scalar to number", 1, {{0, {0}, 0, 0}}, build_reshape, &shapes[1], 0},
    {"flat", 1, {{2, {3, 5}, 0, 0}}, build_reshape, &shapes[2], 0},
    {"other rows", 1, {{2, {3, 5}, 0, 0}}, build_reshape, &shapes[3], 0},
    {"an axis more", 1, {{2, {5, 3}, 0, 0}}, build_reshape, &shapes[4], 0},
    {"as many axes as there may be", 1, {{1, {15}, 0, 0}}, build_reshape, &shapes[7], 0},
    {"empty", 1, {{2, {3, 0}, 0, 0}}, build_reshape, &shapes[5], 0},
    {"several blocks", 1, {{2, {211, 101}, 0, 0}}, build_reshape, &shapes[6], 0},
    {"constant", 1, {{2, {3, 5}, 0, 1}}, build_reshape, &shapes[3], 0},
    {"twice", 1, {{2, {3, 5}, 0, 0}}, build_with_itself, &shapes[3], 0},
};
OP_CASES(tap_reshape, reshape_table);

static struct tap_tensor *build_detach(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    (void)extra;
    return tap_detach(tape, inputs[0]);
}

static const struct op_case detach_table[] = {
    {"scalar", 1, {{0, {0}, 0, 0}}, build_detach, NULL, 0},
    {"one number", 1, {{1, {1}, 0, 0}}, build_detach, NULL, 0},
    {"a matrix", 1, {{2, {3, 5}, 0, 0}}, build_detach, NULL, 0},
    {"three dimensions", 1, {{3, {2, 3, 5}, 0, 0}}, build_detach, NULL, 0},
    {"empty", 1, {{2, {0, 5}, 0, 0}}, build_detach, NULL, 0},
    {"constant", 1, {{2, {3, 5}, 0, 1}}, build_detach, NULL, 0},
    {"many rows", 1, {{2, {211, 101}, 0, 0}}, build_detach, NULL, 0},
};
OP_CASES(tap_detach, detach_table);

Test(op_reshape, the_numbers_are_shared_not_copied)
{
    struct tap_tape *tape = test_tape();
    const size_t from[] = {2, 3}, to[] = {3, 2};
    const tap_real values[] = {1, 2, 3, 4, 5, 6};
    struct tap_tensor *x = tap_input(tape, 2, from, values);
    struct tap_tensor *y = tap_reshape(tape, x, 2, to);
    cr_assert_eq(y->data, x->data);
    cr_assert(y->n_dims == 2 && y->shape[0] == 3 && y->shape[1] == 2);
    cr_assert_eq(tap_detach(tape, x)->data, x->data);
    tap_tape_free(tape);
}

Test(op_reshape, shapes_of_another_size_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t from[] = {2, 3}, to[] = {4, 2}, huge[] = {SIZE_MAX, 3};
    struct tap_tensor *x = tap_input_copy(tape, 2, from, NULL);
    cr_assert_null(tap_reshape(tape, x, 2, to));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_reshape: shape (2, 3) holds 6 numbers, shape (4, 2) 8");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_reshape(tape, x, 2, huge));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    tap_tape_clear_error(tape);
    cr_assert_null(tap_reshape(tape, x, TAP_MAX_DIMS + 1, from));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_reshape: 7 dimensions; 0 to 6 are possible");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_reshape(tape, NULL, 2, from));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_reshape: input 1 is NULL");
    tap_tape_free(tape);
}

Test(op_reshape, detach_lets_no_gradient_pass)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2};
    const tap_real values[] = {3, -4};
    struct tap_tensor *x = tap_variable(tape, 1, shape, values);
    struct tap_tensor *constant = tap_detach(tape, x);
    cr_assert_not(constant->requires_grad);
    assert_values(constant, (const double[]){3, -4}, 2, 0);
    /* of x * detach(x) only the first factor counts: x, not 2x */
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, x, constant), TAP_ALL_AXES, false)), TAP_OK);
    cr_assert(x->grad[0] == 3 && x->grad[1] == -4);
    cr_assert_null(tap_detach(tape, NULL));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_detach: input 1 is NULL");
    tap_tape_free(tape);
}
