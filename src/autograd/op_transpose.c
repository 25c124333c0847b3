/* op_transpose.c: tap_transpose, a copy with two axes swapped. */
#include "ops.h"

#include "axis.h"
#include "parallel.h"

/* Squares of this side are turned at a time, so that both sides of the copy stay in the cache. */
#define TILE 32

/* x seen as (outer, a, middle, b, inner); the result is (outer, b, middle, a, inner). */
struct transpose_attributes {
    size_t outer, a, middle, b, inner;
};

/* One tile: numbers (row, m, column, i) of `to`, seen as (rows, middle, columns, inner), are set to or raised by
 * (column, m, row, i) of `from`. */
static void turn_tile(const struct transpose_attributes *t, const tap_real *restrict from, tap_real *restrict to,
                      size_t rows, size_t columns, size_t first_row, size_t first_column, bool add)
{
    size_t last_row = tap_min_size(rows, first_row + TILE), last_column = tap_min_size(columns, first_column + TILE);
    for (size_t row = first_row; row < last_row; row++)
        for (size_t m = 0; m < t->middle; m++)
            for (size_t column = first_column; column < last_column; column++) {
                const tap_real *restrict source = from + ((column * t->middle + m) * rows + row) * t->inner;
                tap_real *restrict target = to + ((row * t->middle + m) * columns + column) * t->inner;
                if (add)
                    for (size_t i = 0; i < t->inner; i++)
                        target[i] += source[i];
                else
                    for (size_t i = 0; i < t->inner; i++)
                        target[i] = source[i];
            }
}

/* All of it; every block writes rows of its own. `to` has `rows` where `from` has `columns`. */
static void turn(const struct transpose_attributes *t, const tap_real *from, tap_real *to, size_t rows, size_t columns,
                 bool add)
{
    size_t row_blocks = tap_ceil_div(rows, TILE);
    size_t piece = rows * t->middle * columns * t->inner;
    if (piece == 0)
        return;
#pragma omp parallel for num_threads(tap_threads_for((double)t->outer *(double)piece))
    for (size_t block = 0; block < t->outer * row_blocks; block++) {
        size_t start = block / row_blocks * piece;
        for (size_t column = 0; column < columns; column += TILE)
            turn_tile(t, from + start, to + start, rows, columns, block % row_blocks * TILE, column, add);
    }
}

static void transpose_forward(struct tap_node *node)
{
    const struct transpose_attributes *t = node->attributes;
    turn(t, node->inputs[0]->data, node->output->data, t->b, t->a, false);
}

static void transpose_backward(struct tap_node *node)
{
    const struct transpose_attributes *t = node->attributes;
    if (tap_wants_grad(node->inputs[0]))
        turn(t, node->output->grad, tap_grad_add(node->inputs[0]), t->a, t->b, true);
}

const struct tap_op tap_transpose_op = {
    .name = "tap_transpose", .forward = transpose_forward, .backward = transpose_backward};

static struct transpose_attributes attributes_of(const struct tap_tensor *x, int first, int second)
{
    struct transpose_attributes t = {1, 1, 1, 1, 1};
    for (int i = 0; i < x->n_dims; i++)
        *(i < first     ? &t.outer
          : i == first  ? &t.a
          : i < second  ? &t.middle
          : i == second ? &t.b
                        : &t.inner) *= x->shape[i];
    return t;
}

/* tap_transpose: y is x with two axes swapped, as a copy.
 *
 * Formula    y[.., j, .., i, ..] = x[.., i, .., j, ..] at axis_a and axis_b
 * Backward   dx += dy with the axes swapped back
 * Shapes     x (any) -> y (its shape with the two sizes swapped); axis_a = axis_b copies
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when x has no such axis; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    parallel over blocks of rows of the result
 */
struct tap_tensor *tap_transpose(struct tap_tape *tape, struct tap_tensor *x, int axis_a, int axis_b)
{
    if (!tap_op_ready(tape, &tap_transpose_op, &x, 1) || !tap_axis_exists(tape, &tap_transpose_op, x, axis_a) ||
        !tap_axis_exists(tape, &tap_transpose_op, x, axis_b))
        return NULL;
    size_t shape[TAP_MAX_DIMS];
    for (int i = 0; i < x->n_dims; i++)
        shape[i] = x->shape[i == axis_a ? axis_b : i == axis_b ? axis_a : i];
    struct tap_node *node =
        tap_node_new(tape, &tap_transpose_op, &x, 1, x->n_dims, shape, sizeof(struct transpose_attributes));
    if (node == NULL)
        return NULL;
    struct transpose_attributes *attributes = node->attributes;
    *attributes = attributes_of(x, axis_a < axis_b ? axis_a : axis_b, axis_a < axis_b ? axis_b : axis_a);
    return tap_node_run(node);
}
