/* op_concat.c: tap_concat, tensors joined along one axis. */
#include "ops.h"

#include <string.h>

#include "axis.h"
#include "mem.h"
#include "parallel.h"

struct concat_attributes {
    struct tap_axis_view view; /* of y */
};

/* At each outer place, the numbers of y that come from one part are one run of its length * inner numbers. */
static void concat_forward(struct tap_node *node)
{
    const struct concat_attributes *attributes = node->attributes;
    size_t outer = attributes->view.outer, y_step = attributes->view.length * attributes->view.inner;
    tap_real *y = node->output->data;
    for (int k = 0; k < node->n_inputs; k++) {
        const struct tap_tensor *part = node->inputs[k];
        if (part->size == 0)
            continue;
        size_t run = part->size / outer;
#pragma omp parallel for num_threads(tap_threads_for((double)part->size))
        for (size_t o = 0; o < outer; o++)
            memcpy(y + o * y_step, part->data + o * run, run * sizeof *y);
        y += run;
    }
}

static void concat_backward(struct tap_node *node)
{
    const struct concat_attributes *attributes = node->attributes;
    size_t outer = attributes->view.outer, y_step = attributes->view.length * attributes->view.inner;
    const tap_real *dy = node->output->grad;
    for (int k = 0; k < node->n_inputs; k++) {
        struct tap_tensor *part = node->inputs[k];
        if (part->size == 0)
            continue;
        size_t run = part->size / outer;
        if (tap_wants_grad(part)) {
            tap_real *dx = tap_grad_add(part);
#pragma omp parallel for num_threads(tap_threads_for((double)part->size))
            for (size_t o = 0; o < outer; o++) {
                tap_real *restrict to = dx + o * run;
                const tap_real *restrict from = dy + o * y_step;
                for (size_t j = 0; j < run; j++)
                    to[j] += from[j];
            }
        }
        dy += run;
    }
}

const struct tap_op tap_concat_op = {.name = "tap_concat", .forward = concat_forward, .backward = concat_backward};

/* True when the parts have the same shape but for the axis; else marks the tape. */
static bool parts_fit(struct tap_tape *tape, struct tap_tensor *const *parts, int n_parts, int axis)
{
    if (!tap_axis_exists(tape, &tap_concat_op, parts[0], axis))
        return false;
    for (int k = 1; k < n_parts; k++) {
        bool same = parts[k]->n_dims == parts[0]->n_dims;
        for (int i = 0; same && i < parts[0]->n_dims; i++)
            same = i == axis || parts[k]->shape[i] == parts[0]->shape[i];
        if (!same) {
            char first[TAP_SHAPE_TEXT_BYTES], other[TAP_SHAPE_TEXT_BYTES];
            tap_op_fail(tape, &tap_concat_op, TAP_ERR_SHAPE, "shapes %s and %s differ in more than axis %d",
                        tap_shape_text(parts[0]->n_dims, parts[0]->shape, first),
                        tap_shape_text(parts[k]->n_dims, parts[k]->shape, other), axis);
            return false;
        }
    }
    return true;
}

/* tap_concat: the parts one after the other along an axis.
 *
 * Formula    y[.., i, ..] = parts[k][.., i - (lengths before k), ..]
 * Backward   d parts[k] += its part of dy
 * Shapes     parts (.., n_k, ..), equal but for the axis -> y (.., sum n_k, ..); n_parts >= 1; a tensor may come twice
 * Ownership  y belongs to the tape until tap_tape_reset; the array `parts` is read during the call only
 * Errors     TAP_ERR_VALUE for n_parts < 1; TAP_ERR_SHAPE when shapes differ elsewhere or lack the axis;
 *            TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    part by part, each parallel over the places before the axis
 */
struct tap_tensor *tap_concat(struct tap_tape *tape, struct tap_tensor *const *parts, int n_parts, int axis)
{
    if (!tap_tape_failed(tape) && n_parts < 1)
        return tap_op_fail(tape, &tap_concat_op, TAP_ERR_VALUE, "%d parts; at least 1 is needed", n_parts);
    if (!tap_op_ready(tape, &tap_concat_op, parts, n_parts) || !parts_fit(tape, parts, n_parts, axis))
        return NULL;
    size_t shape[TAP_MAX_DIMS];
    for (int i = 0; i < parts[0]->n_dims; i++)
        shape[i] = parts[0]->shape[i];
    for (int k = 1; k < n_parts; k++)
        if (!tap_size_add(shape[axis], parts[k]->shape[axis], &shape[axis]))
            return tap_op_fail(tape, &tap_concat_op, TAP_ERR_SHAPE, "the sum of the sizes of axis %d overflows", axis);
    struct tap_node *node =
        tap_node_new(tape, &tap_concat_op, parts, n_parts, parts[0]->n_dims, shape, sizeof(struct concat_attributes));
    if (node == NULL)
        return NULL;
    struct concat_attributes *attributes = node->attributes;
    attributes->view = tap_axis_view(node->output, axis);
    return tap_node_run(node);
}
