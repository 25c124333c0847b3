/* test_op_slice.c: cases and values of tap_slice. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <stdint.h>

struct part {
    int axis;
    size_t start, length;
};

static struct tap_tensor *build_slice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct part *part = extra;
    return tap_slice(tape, inputs[0], part->axis, part->start, part->length);
}

/* Two parts that overlap. */
static struct tap_tensor *build_overlap(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct part *part = extra;
    return tap_mul(tape, build_slice(tape, inputs, extra),
                   tap_slice(tape, inputs[0], part->axis, part->start + 1, part->length));
}

static const struct part parts[] = {
    {0, 0, 1}, {0, 1, 3}, {1, 2, 5}, {1, 0, 3}, {2, 3, 2}, {0, 0, 7}, {1, 3, 0}, {0, 31, 101}, {1, 7, 90},
};
static const struct op_case slice_table[] = {
    {"one number", 1, {{1, {1}, 0, 0}}, build_slice, &parts[0], 0},
    {"the first row", 1, {{2, {5, 7}, 0, 0}}, build_slice, &parts[0], 0},
    {"rows", 1, {{2, {5, 7}, 0, 0}}, build_slice, &parts[1], 0},
    {"the last columns", 1, {{2, {5, 7}, 0, 0}}, build_slice, &parts[2], 0},
    {"a middle axis", 1, {{3, {2, 5, 3}, 0, 0}}, build_slice, &parts[3], 0},
    {"a last axis", 1, {{3, {2, 3, 5}, 0, 0}}, build_slice, &parts[4], 0},
    {"all", 1, {{2, {7, 3}, 0, 0}}, build_slice, &parts[5], 0},
    {"nothing", 1, {{2, {5, 7}, 0, 0}}, build_slice, &parts[6], 0},
    {"of no rows", 1, {{2, {0, 7}, 0, 0}}, build_slice, &parts[2], 0},
    {"many rows", 1, {{2, {150, 211}, 0, 0}}, build_slice, &parts[7], 0},
    {"many columns", 1, {{2, {251, 101}, 0, 0}}, build_slice, &parts[8], 0},
    {"constant", 1, {{2, {5, 7}, 0, 1}}, build_slice, &parts[1], 0},
    {"two that overlap", 1, {{2, {5, 7}, 0, 0}}, build_overlap, &parts[1], 0},
};
OP_CASES(tap_slice, slice_table);

Test(op_slice, values_are_those_of_the_part)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    const tap_real values[] = {1, 2, 3, 4, 5, 6};
    struct tap_tensor *x = tap_input(tape, 2, shape, values);
    assert_values(tap_slice(tape, x, 1, 1, 2), (const double[]){2, 3, 5, 6}, 4, 0);
    assert_values(tap_slice(tape, x, 0, 1, 1), (const double[]){4, 5, 6}, 3, 0);
    cr_assert_eq(tap_slice(tape, x, 0, 2, 0)->size, 0);
    tap_tape_free(tape);
}

Test(op_slice, what_lies_outside_gets_no_gradient)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {4};
    struct tap_tensor *x = tap_variable(tape, 1, shape, NULL);
    tap_backward(tape, tap_sum(tape, tap_slice(tape, x, 0, 1, 2), TAP_ALL_AXES, false));
    const double right[] = {0, 1, 1, 0};
    for (int i = 0; i < 4; i++)
        cr_assert_eq((double)x->grad[i], right[i]);
    tap_tape_free(tape);
}

Test(op_slice, parts_beyond_the_axis_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    cr_assert_null(tap_slice(tape, x, 1, 2, 2));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_slice: 2 places from 2 go beyond axis 1 of shape (2, 3)");
    const struct part wrong[] = {{0, 3, 0}, {0, SIZE_MAX, 1}, {0, 1, SIZE_MAX}, {2, 0, 1}, {-1, 0, 1}};
    for (int i = 0; i < 5; i++) {
        tap_tape_clear_error(tape);
        cr_assert_null(tap_slice(tape, x, wrong[i].axis, wrong[i].start, wrong[i].length), "part %d", i);
        cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    }
    tap_tape_clear_error(tape);
    cr_assert_null(tap_slice(tape, NULL, 0, 0, 1));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_slice: input 1 is NULL");
    tap_tape_free(tape);
}

Test(op_slice, a_huge_empty_tensor_takes_no_time)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {SIZE_MAX / 2, 0};
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    struct tap_tensor *y = tap_transpose(tape, tap_slice(tape, x, 1, 0, 0), 0, 1);
    struct tap_tensor *parts_of_two[] = {y, y};
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_concat(tape, parts_of_two, 2, 0), TAP_ALL_AXES, false)), TAP_OK);
    tap_tape_free(tape);
}
