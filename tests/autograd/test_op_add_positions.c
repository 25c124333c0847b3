/* test_op_add_positions.c: cases and values of tap_add_positions, and what all operations on segments refuse. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <string.h>

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_add_positions(tape, inputs[0], inputs[1], extra);
}

static struct tap_tensor *build_self(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    return tap_add_positions(tape, inputs[0], inputs[0], extra);
}

static const uint32_t one_token_offsets[] = {0, 1}, unequal_offsets[] = {0, 5, 5, 6, 11, 11}, one_offsets[] = {0, 7},
                      none_offsets[] = {0}, empty_offsets[] = {0, 0, 0},
                      many_offsets[] = {0, 0, 100, 101, 140, 307, 307};
static const struct tap_segments one_token = {1, one_token_offsets, 0}, unequal = {5, unequal_offsets, 0},
                                 one = {1, one_offsets, 0}, none = {0, none_offsets, 0}, empty = {2, empty_offsets, 0},
                                 many = {6, many_offsets, 0};
static const struct op_case table[] = {
    {"one number", 2, {{2, {1, 1}, 0, 0}, {2, {1, 1}, 0, 0}}, build, &one_token, 0},
    {"one token, longer table", 2, {{2, {1, 5}, 0, 0}, {2, {4, 5}, 0, 0}}, build, &one_token, 0},
    {"one sequence", 2, {{2, {7, 3}, 0, 0}, {2, {7, 3}, 0, 0}}, build, &one, 0},
    {"unequal sequences", 2, {{2, {11, 7}, 0, 0}, {2, {5, 7}, 0, 0}}, build, &unequal, 0},
    {"one column", 2, {{2, {11, 1}, 0, 0}, {2, {6, 1}, 0, 0}}, build, &unequal, 0},
    {"constant table", 2, {{2, {11, 7}, 0, 0}, {2, {6, 7}, 0, 1}}, build, &unequal, 0},
    {"constant x", 2, {{2, {11, 7}, 0, 1}, {2, {6, 7}, 0, 0}}, build, &unequal, 0},
    {"a tensor as its own table", 1, {{2, {7, 3}, 0, 0}}, build_self, &one, 0},
    {"no sequence", 2, {{2, {0, 7}, 0, 0}, {2, {6, 7}, 0, 0}}, build, &none, 0},
    {"empty sequences, empty table", 2, {{2, {0, 7}, 0, 0}, {2, {0, 7}, 0, 0}}, build, &empty, 0},
    {"no features", 2, {{2, {11, 0}, 0, 0}, {2, {6, 0}, 0, 0}}, build, &unequal, 0},
    {"many rows", 2, {{2, {307, 67}, 0, 0}, {2, {170, 67}, 0, 0}}, build, &many, 0},
};
OP_CASES(tap_add_positions, table);

Test(op_add_positions, places_begin_anew_in_every_sequence)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {4, 1}, table_shape[] = {3, 1};
    const uint32_t offsets[] = {0, 3, 3, 4};
    const struct tap_segments segments = {3, offsets, 0};
    struct tap_tensor *x = tap_variable(tape, 2, shape, (const tap_real[]){10, 20, 30, 40});
    struct tap_tensor *places = tap_variable(tape, 2, table_shape, (const tap_real[]){1, 2, 3});
    struct tap_tensor *y = tap_add_positions(tape, x, places, &segments);
    assert_values(y, (const double[]){11, 22, 33, 41}, 4, 0);
    struct tap_tensor *dy = tap_input(tape, 2, shape, (const tap_real[]){1, 2, 4, 8});
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, dy), TAP_ALL_AXES, false)), TAP_OK);
    const tap_real dx[] = {1, 2, 4, 8}, dtable[] = {9, 2, 4};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(x->grad[i], dx[i]);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(places->grad[i], dtable[i]);
    tap_tape_free(tape);
}

/* Clears the error and checks what it was. */
static void assert_refused(struct tap_tape *tape, const struct tap_tensor *y, enum tap_status status,
                           const char *message)
{
    cr_assert_null(y);
    cr_assert_eq(tap_tape_error(tape)->status, status);
    cr_assert_str_eq(tap_tape_error(tape)->message, message);
    tap_tape_clear_error(tape);
}

Test(op_add_positions, a_table_shorter_than_the_longest_sequence_is_refused_with_both_numbers)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {11, 2}, short_shape[] = {4, 2}, other_shape[] = {6, 3}, vector[] = {11};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    assert_refused(tape, tap_add_positions(tape, x, tap_input_copy(tape, 2, short_shape, NULL), &unequal),
                   TAP_ERR_SHAPE, "tap_add_positions: the longest sequence has 5 tokens; the table has 4 rows");
    assert_refused(tape, tap_add_positions(tape, x, tap_input_copy(tape, 2, other_shape, NULL), &unequal),
                   TAP_ERR_SHAPE,
                   "tap_add_positions: x has shape (11, 2), the table (6, 3); (N, D) and (P, D) are needed");
    assert_refused(tape, tap_add_positions(tape, tap_input_copy(tape, 1, vector, NULL), x, &unequal), TAP_ERR_SHAPE,
                   "tap_add_positions: x has shape (11), the table (11, 2); (N, D) and (P, D) are needed");
    tap_tape_free(tape);
}

Test(op_add_positions, broken_segments_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {7, 2};
    const uint32_t late[] = {1, 7}, descending[] = {0, 5, 3, 7}, short_ones[] = {0, 6};
    const struct tap_segments starts_late = {1, late, 0}, descends = {3, descending, 0},
                              ends_early = {1, short_ones, 0}, without_offsets = {1, NULL, 0};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    assert_refused(tape, tap_add_positions(tape, x, x, &starts_late), TAP_ERR_VALUE,
                   "tap_add_positions: segments begin at 1; 0 is needed");
    assert_refused(tape, tap_add_positions(tape, x, x, &descends), TAP_ERR_VALUE,
                   "tap_add_positions: segments descend from 5 to 3 at sequence 1");
    assert_refused(tape, tap_add_positions(tape, x, x, &ends_early), TAP_ERR_SHAPE,
                   "tap_add_positions: segments cover 6 rows; x has 7");
    assert_refused(tape, tap_add_positions(tape, x, x, NULL), TAP_ERR_VALUE, "tap_add_positions: segments are NULL");
    assert_refused(tape, tap_add_positions(tape, x, x, &without_offsets), TAP_ERR_VALUE,
                   "tap_add_positions: segments are NULL");
    tap_tape_free(tape);
}
