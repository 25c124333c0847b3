/* op_slice.c: tap_slice, a part of a tensor along one axis. */
#include "ops.h"

#include <string.h>

#include "axis.h"
#include "parallel.h"

struct slice_attributes {
    struct tap_axis_view view; /* of x */
    size_t start;
    size_t length;
};

/* The numbers of y and x that belong together are runs of length * inner, one for each outer place. */
static void slice_forward(struct tap_node *node)
{
    const struct slice_attributes *slice = node->attributes;
    size_t run = slice->length * slice->view.inner, x_step = slice->view.length * slice->view.inner;
    const tap_real *x = node->inputs[0]->data + slice->start * slice->view.inner;
    tap_real *y = node->output->data;
    if (run == 0)
        return;
#pragma omp parallel for num_threads(tap_threads_for((double)node->output->size))
    for (size_t o = 0; o < slice->view.outer; o++)
        memcpy(y + o * run, x + o * x_step, run * sizeof *y);
}

static void slice_backward(struct tap_node *node)
{
    const struct slice_attributes *slice = node->attributes;
    size_t run = slice->length * slice->view.inner, x_step = slice->view.length * slice->view.inner;
    if (!tap_wants_grad(node->inputs[0]) || run == 0)
        return;
    tap_real *dx = tap_grad_add(node->inputs[0]) + slice->start * slice->view.inner;
    const tap_real *dy = node->output->grad;
#pragma omp parallel for num_threads(tap_threads_for((double)node->output->size))
    for (size_t o = 0; o < slice->view.outer; o++) {
        tap_real *restrict to = dx + o * x_step;
        const tap_real *restrict from = dy + o * run;
        for (size_t j = 0; j < run; j++)
            to[j] += from[j];
    }
}

const struct tap_op tap_slice_op = {.name = "tap_slice", .forward = slice_forward, .backward = slice_backward};

/* tap_slice: `length` places of x along an axis, from `start`, as a copy.
 *
 * Formula    y[.., i, ..] = x[.., start + i, ..], i < length
 * Backward   dx[.., start + i, ..] += dy[.., i, ..]
 * Shapes     x (.., n, ..) -> y (.., length, ..); start + length <= n; length 0 gives an empty tensor
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when x has no such axis or the part ends beyond it; TAP_ERR_MEMORY. Returns NULL, marks the
 *            tape
 * Threads    parallel over the places before the axis
 */
struct tap_tensor *tap_slice(struct tap_tape *tape, struct tap_tensor *x, int axis, size_t start, size_t length)
{
    if (!tap_op_ready(tape, &tap_slice_op, &x, 1) || !tap_axis_exists(tape, &tap_slice_op, x, axis))
        return NULL;
    if (start > x->shape[axis] || length > x->shape[axis] - start) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, &tap_slice_op, TAP_ERR_SHAPE, "%zu places from %zu go beyond axis %d of shape %s",
                           length, start, axis, tap_shape_text(x->n_dims, x->shape, text));
    }
    size_t shape[TAP_MAX_DIMS];
    for (int i = 0; i < x->n_dims; i++)
        shape[i] = i == axis ? length : x->shape[i];
    struct tap_node *node = tap_node_new(tape, &tap_slice_op, &x, 1, x->n_dims, shape, sizeof(struct slice_attributes));
    if (node == NULL)
        return NULL;
    struct slice_attributes *slice = node->attributes;
    *slice = (struct slice_attributes){tap_axis_view(x, axis), start, length};
    return tap_node_run(node);
}
