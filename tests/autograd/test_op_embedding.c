/* test_op_embedding.c: cases and values of tap_embedding. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* extra: how many ids. They run through the table's rows by a step, so rows come several times, and some never. */
static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    enum { MOST = 301 };
    static uint32_t ids[MOST]; /* borrowed until the tape is reset */
    size_t n = *(const size_t *)extra;
    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)(i * i % inputs[0]->shape[0]);
    return tap_embedding(tape, inputs[0], ids, n);
}

static const size_t no_ids = 0, one_id = 1, seven_ids = 7, many_ids = 301;
static const struct op_case table[] = {
    {"one number", 1, {{2, {1, 1}, 0, 0}}, build, &one_id, 0},
    {"one row several times", 1, {{2, {1, 5}, 0, 0}}, build, &seven_ids, 0},
    {"primes", 1, {{2, {11, 13}, 0, 0}}, build, &seven_ids, 0},
    {"one column", 1, {{2, {5, 1}, 0, 0}}, build, &seven_ids, 0},
    {"one token", 1, {{2, {5, 3}, 0, 0}}, build, &one_id, 0},
    {"no token", 1, {{2, {5, 3}, 0, 0}}, build, &no_ids, 0},
    {"empty table", 1, {{2, {0, 3}, 0, 0}}, build, &no_ids, 0},
    {"no features", 1, {{2, {5, 0}, 0, 0}}, build, &seven_ids, 0},
    {"constant", 1, {{2, {11, 13}, 0, 1}}, build, &seven_ids, 0},
    {"many tokens", 1, {{2, {31, 67}, 0, 0}}, build, &many_ids, 0},
    {"many tokens, one row", 1, {{2, {1, 67}, 0, 0}}, build, &many_ids, 0},
};
OP_CASES(tap_embedding, table);

Test(op_embedding, rows_come_in_the_order_of_the_ids)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {3, 2};
    const uint32_t ids[] = {2, 0, 2};
    struct tap_tensor *rows = tap_variable(tape, 2, shape, (const tap_real[]){1, 2, 3, 4, 5, 6});
    struct tap_tensor *y = tap_embedding(tape, rows, ids, 3);
    assert_values(y, (const double[]){5, 6, 1, 2, 5, 6}, 6, 0);
    struct tap_tensor *dy = tap_input(tape, 2, shape, (const tap_real[]){1, 2, 3, 4, 5, 6});
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, dy), TAP_ALL_AXES, false)), TAP_OK);
    const tap_real right[] = {3, 4, 0, 0, 6, 8};
    for (int i = 0; i < 6; i++)
        cr_assert_eq(rows->grad[i], right[i]);
    tap_tape_free(tape);
}

Test(op_embedding, the_gradient_of_a_sum_counts_occurrences)
{
    struct tap_tape *tape = test_tape();
    enum { V = 10, D = 8 };
    const size_t shape[] = {V, D}, lengths[] = {769, 1000};
    static uint32_t ids[1000];
    for (int k = 0; k < 2; k++)
        for (uint32_t other = 0; other < V; other++) {
            /* one id in four is `other`, the rest are 0 */
            for (size_t i = 0; i < lengths[k]; i++)
                ids[i] = i % 4 == 0 ? other : 0;
            size_t n_other = (lengths[k] + 3) / 4;
            struct tap_tensor *rows = tap_variable(tape, 2, shape, NULL);
            struct tap_tensor *y = tap_embedding(tape, rows, ids, lengths[k]);
            cr_assert_eq(tap_backward(tape, tap_sum(tape, y, TAP_ALL_AXES, false)), TAP_OK);
            for (size_t v = 0; v < V; v++)
                for (size_t j = 0; j < D; j++) {
                    size_t right = (v == 0 ? lengths[k] - n_other : 0) + (v == other ? n_other : 0);
                    cr_assert_eq(rows->grad[v * D + j], (tap_real)right);
                }
            tap_tape_reset(tape);
        }
    tap_tape_free(tape);
}

Test(op_embedding, an_id_beyond_the_table_is_named_with_its_position)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {10, 2}, vector[] = {10};
    const uint32_t ids[] = {9, 0, 10, 4294967295u};
    struct tap_tensor *rows = tap_variable(tape, 2, shape, NULL);
    cr_assert_null(tap_embedding(tape, rows, ids, 4));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    cr_assert_str_eq(tap_tape_error(tape)->message,
                     "tap_embedding: id 10 at position 2; only numbers below 10 are accepted");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_embedding(tape, rows, NULL, 4));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    tap_tape_clear_error(tape);
    cr_assert_null(tap_embedding(tape, tap_input_copy(tape, 1, vector, NULL), ids, 1));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    tap_tape_clear_error(tape);
    cr_assert_not_null(tap_embedding(tape, rows, ids, 2), "the tape is usable again");
    tap_tape_free(tape);
}

Test(op_embedding, planning_needs_no_ids)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {10, 2};
    tap_tape_set_planning(tape, true);
    struct tap_tensor *y = tap_embedding(tape, tap_variable(tape, 2, shape, NULL), NULL, 7);
    cr_assert_not_null(y);
    cr_assert_eq(y->size, 14);
    tap_tape_free(tape);
}
