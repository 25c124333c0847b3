/* op_gather.c: tap_gather, places along an axis chosen by a list. */
#include "ops.h"

#include "index_rows.h"

static void gather_forward(struct tap_node *node)
{
    tap_gather_rows(node->attributes, node->inputs[0]->data, node->output->data);
}

static void gather_backward(struct tap_node *node)
{
    tap_scatter_add_rows(node->attributes, node->output->grad, tap_grad_add(node->inputs[0]));
}

const struct tap_op tap_gather_op = {.name = "tap_gather", .forward = gather_forward, .backward = gather_backward};

/* tap_gather: the places of an axis that a list names, in the list's order; a place may come several times or never.
 *
 * Formula    y[.., i, ..] = x[.., index[i], ..] along axis
 * Backward   dx[.., a, ..] += sum over i with index[i] = a of dy[.., i, ..], in order of i
 * Shapes     x (A_0,..,A_axis,..), index n numbers below A_axis -> y as x with n in place of A_axis; n >= 0
 * Ownership  index is borrowed until tap_tape_reset; y belongs to the tape until then
 * Errors     TAP_ERR_SHAPE when x has no such axis; TAP_ERR_VALUE naming the first index out of range and its position;
 *            TAP_ERR_MEMORY. Returns NULL, marks the tape. While planning index is not looked at and may be NULL
 * Threads    forward over blocks of rows; backward over the other axes; the same bits for any thread count
 * Cost       no arithmetic forward, one addition for each number of y backward
 */
struct tap_tensor *tap_gather(struct tap_tape *tape, struct tap_tensor *x, int axis, const uint32_t *index, size_t n)
{
    const struct tap_op *op = &tap_gather_op;
    if (!tap_op_ready(tape, op, &x, 1))
        return NULL;
    if (axis < 0 || axis >= x->n_dims) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "shape %s has no axis %d",
                           tap_shape_text(x->n_dims, x->shape, text), axis);
    }
    if (!tap_op_index_fits(tape, op, "index", index, n, x->shape[axis]))
        return NULL;
    struct tap_row_index rows = {.outer = 1, .axis_size = x->shape[axis], .inner = 1, .index = index, .n = n};
    size_t shape[TAP_MAX_DIMS];
    for (int i = 0; i < x->n_dims; i++) {
        shape[i] = i == axis ? n : x->shape[i];
        rows.outer *= i < axis ? x->shape[i] : 1;
        rows.inner *= i > axis ? x->shape[i] : 1;
    }
    struct tap_node *node = tap_node_new(tape, op, &x, 1, x->n_dims, shape, sizeof rows);
    if (node == NULL)
        return NULL;
    *(struct tap_row_index *)node->attributes = rows;
    return tap_node_run(node);
}
