/* test_op_binary.c: cases and values of tap_add, tap_sub, tap_mul, tap_div. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct tap_tensor *(*binary_function)(struct tap_tape *, struct tap_tensor *, struct tap_tensor *);

static struct tap_tensor *build_binary(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    binary_function function;
    memcpy(&function, extra, sizeof function);
    return function(tape, inputs[0], inputs[1]);
}

static struct tap_tensor *build_twice(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    binary_function function;
    memcpy(&function, extra, sizeof function);
    return function(tape, inputs[0], inputs[0]);
}

/* The shape pairs that broadcasting must get right, for each of the four. */
#define BINARY_CASES(function, second_fill)                                                                            \
    static const binary_function function##_pointer = function;                                                        \
    static const struct op_case function##_table[] = {                                                                 \
        {"scalars", 2, {{0, {0}, 0, 0}, {0, {0}, second_fill, 0}}, build_binary, &function##_pointer, 0},              \
        {"one number", 2, {{1, {1}, 0, 0}, {1, {1}, second_fill, 0}}, build_binary, &function##_pointer, 0},           \
        {"same shape", 2, {{2, {5, 7}, 0, 0}, {2, {5, 7}, second_fill, 0}}, build_binary, &function##_pointer, 0},     \
        {"row", 2, {{2, {5, 7}, 0, 0}, {1, {7}, second_fill, 0}}, build_binary, &function##_pointer, 0},               \
        {"column", 2, {{2, {5, 7}, 0, 0}, {2, {5, 1}, second_fill, 0}}, build_binary, &function##_pointer, 0},         \
        {"column and row", 2, {{2, {5, 1}, 0, 0}, {2, {1, 7}, second_fill, 0}}, build_binary, &function##_pointer, 0}, \
        {"scalar left", 2, {{0, {0}, 0, 0}, {3, {2, 3, 5}, second_fill, 0}}, build_binary, &function##_pointer, 0},    \
        {"four dimensions",                                                                                            \
         2,                                                                                                            \
         {{4, {2, 1, 3, 5}, 0, 0}, {4, {1, 7, 3, 1}, second_fill, 0}},                                                 \
         build_binary,                                                                                                 \
         &function##_pointer,                                                                                          \
         0},                                                                                                           \
        {"same tensor twice", 1, {{2, {3, 5}, second_fill, 0}}, build_twice, &function##_pointer, 0},                  \
        {"many rows", 2, {{2, {307, 101}, 0, 0}, {2, {307, 101}, second_fill, 1}}, build_binary, &function##_pointer, 0},\
        {"empty", 2, {{2, {0, 3}, 0, 0}, {1, {3}, second_fill, 0}}, build_binary, &function##_pointer, 0},             \
        {"constant left", 2, {{2, {3, 5}, 0, 1}, {1, {5}, second_fill, 0}}, build_binary, &function##_pointer, 0},     \
    };                                                                                                                 \
    OP_CASES(function, function##_table)
BINARY_CASES(tap_add, OP_FILL_NORMAL);
BINARY_CASES(tap_sub, OP_FILL_NORMAL);
BINARY_CASES(tap_mul, OP_FILL_NORMAL);
BINARY_CASES(tap_div, OP_FILL_POSITIVE);

Test(op_binary, values_broadcast_as_in_numpy)
{
    struct tap_tape *tape = test_tape();
    const size_t column[] = {2, 1}, row[] = {3};
    const tap_real a[] = {10, 20}, b[] = {1, 2, 4};
    struct tap_tensor *x = tap_input(tape, 2, column, a);
    struct tap_tensor *y = tap_input(tape, 1, row, b);
    assert_values(tap_add(tape, x, y), (const double[]){11, 12, 14, 21, 22, 24}, 6, 0);
    assert_values(tap_sub(tape, x, y), (const double[]){9, 8, 6, 19, 18, 16}, 6, 0);
    assert_values(tap_mul(tape, x, y), (const double[]){10, 20, 40, 20, 40, 80}, 6, 0);
    assert_values(tap_div(tape, x, y), (const double[]){10, 5, 2.5, 20, 10, 5}, 6, 0);
    tap_tape_free(tape);
}

Test(op_binary, shapes_that_do_not_broadcast_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t two_three[] = {2, 3}, two_four[] = {2, 4};
    struct tap_tensor *a = tap_input_copy(tape, 2, two_three, NULL);
    struct tap_tensor *b = tap_input_copy(tape, 2, two_four, NULL);
    cr_assert_null(tap_add(tape, a, b));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_add: shapes (2, 3) and (2, 4) do not broadcast");
    tap_tape_clear_error(tape);
    cr_assert_not_null(tap_add(tape, a, a), "the tape is usable again");
    tap_tape_free(tape);
}
