/* axis.h: a tensor seen along one axis, as outer x length x inner numbers: number (o, a, i) lies at
 * (o * length + a) * inner + i. For the operations that cut, join or reduce along an axis. */
#ifndef TAP_AXIS_H
#define TAP_AXIS_H

#include "op.h"
#include "ops.h"

struct tap_axis_view {
    size_t outer;
    size_t length;
    size_t inner;
};

/* The view along an axis that exists, or of all numbers as one line for TAP_ALL_AXES. */
static inline struct tap_axis_view tap_axis_view(const struct tap_tensor *x, int axis)
{
    struct tap_axis_view view = {1, 1, 1};
    if (axis == TAP_ALL_AXES) {
        view.length = x->size;
        return view;
    }
    for (int i = 0; i < axis; i++)
        view.outer *= x->shape[i];
    view.length = x->shape[axis];
    for (int i = axis + 1; i < x->n_dims; i++)
        view.inner *= x->shape[i];
    return view;
}

/* True when x has the axis; else marks the tape. */
static inline bool tap_axis_exists(struct tap_tape *tape, const struct tap_op *op, const struct tap_tensor *x, int axis)
{
    if (axis >= 0 && axis < x->n_dims)
        return true;
    char text[TAP_SHAPE_TEXT_BYTES];
    tap_op_fail(tape, op, TAP_ERR_SHAPE, "shape %s has no axis %d; axes count from 0",
                tap_shape_text(x->n_dims, x->shape, text), axis);
    return false;
}

#endif
