/* test_op_concat.c: cases and values of tap_concat. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <stdint.h>

struct joint {
    int n_parts, axis;
};

static struct tap_tensor *build_concat(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct joint *joint = extra;
    return tap_concat(tape, inputs, joint->n_parts, joint->axis);
}

static struct tap_tensor *build_same_twice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct joint *joint = extra;
    struct tap_tensor *parts[] = {inputs[0], inputs[1], inputs[0]};
    return tap_concat(tape, parts, 3, joint->axis);
}

static const struct joint joints[] = {{1, 0}, {2, 0}, {2, 1}, {3, 1}, {4, 0}, {2, 2}};
static const struct op_case concat_table[] = {
    {"one part", 1, {{2, {3, 5}, 0, 0}}, build_concat, &joints[0], 0},
    {"numbers", 4, {{1, {1}, 0, 0}, {1, {1}, 0, 0}, {1, {1}, 0, 0}, {1, {1}, 0, 0}}, build_concat, &joints[4], 0},
    {"rows", 2, {{2, {3, 5}, 0, 0}, {2, {2, 5}, 0, 0}}, build_concat, &joints[1], 0},
    {"columns", 2, {{2, {3, 5}, 0, 0}, {2, {3, 2}, 0, 0}}, build_concat, &joints[2], 0},
    {"a middle axis",
     3,
     {{3, {2, 3, 5}, 0, 0}, {3, {2, 1, 5}, 0, 0}, {3, {2, 7, 5}, 0, 0}},
     build_concat,
     &joints[3],
     0},
    {"a last axis", 2, {{3, {2, 3, 5}, 0, 0}, {3, {2, 3, 1}, 0, 0}}, build_concat, &joints[5], 0},
    {"an empty part between",
     3,
     {{2, {3, 2}, 0, 0}, {2, {3, 0}, 0, 0}, {2, {3, 5}, 0, 0}},
     build_concat,
     &joints[3],
     0},
    {"nothing but empty parts", 2, {{2, {0, 5}, 0, 0}, {2, {0, 2}, 0, 0}}, build_concat, &joints[2], 0},
    {"a constant part", 2, {{2, {3, 5}, 0, 1}, {2, {3, 2}, 0, 0}}, build_concat, &joints[2], 0},
    {"many rows", 2, {{2, {211, 101}, 0, 0}, {2, {211, 7}, 0, 0}}, build_concat, &joints[2], 0},
    {"many rows below each other", 2, {{2, {211, 101}, 0, 0}, {2, {7, 101}, 0, 0}}, build_concat, &joints[1], 0},
    {"the same twice", 2, {{2, {3, 5}, 0, 0}, {2, {3, 2}, 0, 0}}, build_same_twice, &joints[2], 0},
};
OP_CASES(tap_concat, concat_table);

Test(op_concat, parts_follow_each_other)
{
    struct tap_tape *tape = test_tape();
    const size_t two[] = {2, 2}, one[] = {2, 1};
    const tap_real a[] = {1, 2, 3, 4}, b[] = {9, 8};
    struct tap_tensor *parts[] = {tap_input(tape, 2, two, a), tap_input(tape, 2, one, b)};
    assert_values(tap_concat(tape, parts, 2, 1), (const double[]){1, 2, 9, 3, 4, 8}, 6, 0);
    parts[1] = parts[0];
    assert_values(tap_concat(tape, parts, 2, 0), (const double[]){1, 2, 3, 4, 1, 2, 3, 4}, 8, 0);
    tap_tape_free(tape);
}

Test(op_concat, parts_that_do_not_fit_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t two_three[] = {2, 3}, four_three[] = {4, 3}, three[] = {3};
    struct tap_tensor *parts[] = {tap_input_copy(tape, 2, two_three, NULL), tap_input_copy(tape, 2, four_three, NULL)};
    cr_assert_null(tap_concat(tape, parts, 2, 1));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_concat: shapes (2, 3) and (4, 3) differ in more than axis 1");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_concat(tape, parts, 2, 2));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_concat: shape (2, 3) has no axis 2; axes count from 0");
    tap_tape_clear_error(tape);
    parts[1] = tap_input_copy(tape, 1, three, NULL);
    cr_assert_null(tap_concat(tape, parts, 2, 0));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    tap_tape_free(tape);
}

Test(op_concat, no_parts_and_a_null_part_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3};
    struct tap_tensor *parts[] = {tap_input_copy(tape, 1, shape, NULL), NULL};
    cr_assert_null(tap_concat(tape, parts, 0, 0));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_concat: 0 parts; at least 1 is needed");
    cr_assert_null(tap_concat(tape, parts, 0, 0), "the tape has failed");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_concat(tape, parts, 2, 0));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_concat: input 2 is NULL");
    tap_tape_free(tape);
}

Test(op_concat, sizes_whose_sum_overflows_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {0, SIZE_MAX};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    struct tap_tensor *parts[] = {x, x};
    cr_assert_null(tap_concat(tape, parts, 2, 1));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_concat: the sum of the sizes of axis 1 overflows");
    tap_tape_free(tape);
}
