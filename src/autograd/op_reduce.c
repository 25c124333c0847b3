/* op_reduce.c: reductions over one axis or all: tap_sum, tap_mean, tap_max.
 *
 * The tensor is seen as outer x length x inner (axis.h). Each line of `length` numbers is cut into parts of a size that
 * depends on length and inner alone, and inner into strips of columns; (outer, part, strip) are the units that threads
 * share. A part's result goes into scratch memory (or, when there is one part only, into the result), and the parts of
 * a line are put together in order. Within a part sums are kept in double, so a sum of 2^24 floats is right to 1e-7. */
#include "ops.h"

#include <math.h>

#include "axis.h"
#include "parallel.h"
#include "vector_sum.h"

/* Columns handled together when inner > 1: their running sums fit in the first cache. */
#define STRIP 256
/* Numbers worth a unit of their own, and the most parts that a line is cut into. */
#define UNIT_NUMBERS 8192
#define MAX_PARTS 256

struct reduction {
    struct tap_axis_view view;
    size_t part_length; /* places of the axis in one part */
    size_t n_parts;
    size_t n_strips;
};

static struct reduction reduction_of(const struct tap_tensor *x, int axis)
{
    struct reduction r = {.view = tap_axis_view(x, axis)};
    size_t columns = tap_min_size(r.view.inner, STRIP);
    size_t enough = tap_ceil_div(UNIT_NUMBERS, columns > 0 ? columns : 1);
    size_t longest = tap_ceil_div(r.view.length, MAX_PARTS);
    r.part_length = longest > enough ? longest : enough;
    r.n_parts = tap_ceil_div(r.view.length, r.part_length);
    r.n_strips = tap_ceil_div(r.view.inner, STRIP);
    return r;
}

/* One unit: `length` places of the axis from number `first` of the tensor on, in `columns` neighbouring columns.
 * `result` counts numbers of the result: where the line's own begins. */
struct unit {
    size_t first;
    size_t length;
    size_t columns;
    size_t inner;  /* from one place of the axis to the next */
    size_t result; /* the result's number for the first column */
    size_t part;
};

static struct unit unit_of(const struct reduction *r, size_t number)
{
    size_t strip = number % r->n_strips;
    size_t part = number / r->n_strips % r->n_parts;
    size_t outer = number / r->n_strips / r->n_parts;
    size_t start = part * r->part_length;
    return (struct unit){
        .first = (outer * r->view.length + start) * r->view.inner + strip * STRIP,
        .length = tap_min_size(r->part_length, r->view.length - start),
        .columns = tap_min_size(STRIP, r->view.inner - strip * STRIP),
        .inner = r->view.inner,
        .result = outer * r->view.inner + strip * STRIP,
        .part = part,
    };
}

static size_t n_units(const struct reduction *r)
{
    if (r->n_parts == 0 || r->n_strips == 0)
        return 0;
    return r->view.outer * r->n_parts * r->n_strips;
}

/* out[c] = sum or maximum over the unit's places, x at the unit's first number. */
typedef void (*unit_function)(const struct unit *unit, const tap_real *restrict x, tap_real *restrict out);

static void sum_unit(const struct unit *unit, const tap_real *restrict x, tap_real *restrict out)
{
    if (unit->inner == 1) {
        *out = (tap_real)tap_vector_sum(unit->length, x);
        return;
    }
    double sums[STRIP];
    for (size_t c = 0; c < unit->columns; c++)
        sums[c] = 0;
    for (size_t a = 0; a < unit->length; a++)
        for (size_t c = 0; c < unit->columns; c++)
            sums[c] += (double)x[a * unit->inner + c];
    for (size_t c = 0; c < unit->columns; c++)
        out[c] = (tap_real)sums[c];
}

static void max_unit(const struct unit *unit, const tap_real *restrict x, tap_real *restrict out)
{
    if (unit->inner == 1) {
        *out = tap_vector_max(unit->length, x);
        return;
    }
    for (size_t c = 0; c < unit->columns; c++)
        out[c] = x[c];
    for (size_t a = 1; a < unit->length; a++)
        for (size_t c = 0; c < unit->columns; c++)
            out[c] = tap_larger(out[c], x[a * unit->inner + c]);
}

/* Computes all parts; with one part a line they are the result already. Part p of result i is scratch[p * size + i]. */
static void reduce_parts(struct tap_node *node, unit_function reduce_unit)
{
    const struct reduction *r = node->attributes;
    const tap_real *x = node->inputs[0]->data;
    tap_real *parts = r->n_parts > 1 ? tap_scratch(node) : node->output->data;
    size_t size = node->output->size, n = n_units(r);
#pragma omp parallel for num_threads(tap_threads_for((double)node->inputs[0]->size))
    for (size_t number = 0; number < n; number++) {
        struct unit unit = unit_of(r, number);
        reduce_unit(&unit, x + unit.first, parts + unit.part * size + unit.result);
    }
}

/* y = factor * (sum of the parts, in order) */
static void sum_forward_times(struct tap_node *node, double factor)
{
    const struct reduction *r = node->attributes;
    tap_real *y = node->output->data;
    size_t size = node->output->size;
    reduce_parts(node, sum_unit);
    const tap_real *parts = r->n_parts > 1 ? tap_scratch(node) : y;
    for (size_t i = 0; i < size; i++) {
        double sum = 0;
        for (size_t part = 0; part < r->n_parts; part++)
            sum += (double)parts[part * size + i];
        y[i] = (tap_real)(sum * factor);
    }
}

static void max_forward(struct tap_node *node)
{
    const struct reduction *r = node->attributes;
    tap_real *y = node->output->data;
    size_t size = node->output->size;
    reduce_parts(node, max_unit);
    if (r->n_parts <= 1)
        return;
    const tap_real *parts = tap_scratch(node);
    for (size_t i = 0; i < size; i++) {
        y[i] = parts[i];
        for (size_t part = 1; part < r->n_parts; part++)
            y[i] = tap_larger(y[i], parts[part * size + i]);
    }
}

/* dx = dx + factor * dy, dy repeated along the axis */
static void sum_backward_times(struct tap_node *node, tap_real factor)
{
    const struct reduction *r = node->attributes;
    if (!tap_wants_grad(node->inputs[0]))
        return;
    const tap_real *gradient = node->output->grad;
    tap_real *all_dx = tap_grad_add(node->inputs[0]);
    size_t n = n_units(r);
#pragma omp parallel for num_threads(tap_threads_for((double)node->inputs[0]->size))
    for (size_t number = 0; number < n; number++) {
        struct unit unit = unit_of(r, number);
        tap_real *restrict dx = all_dx + unit.first;
        const tap_real *restrict dy = gradient + unit.result;
        if (unit.inner == 1) {
            tap_real dy_of_line = factor * *dy;
            for (size_t a = 0; a < unit.length; a++)
                dx[a] += dy_of_line;
        } else {
            for (size_t a = 0; a < unit.length; a++)
                for (size_t c = 0; c < unit.columns; c++)
                    dx[a * unit.inner + c] += factor * dy[c];
        }
    }
}

/* The first place of a line whose number is its maximum (or a NaN, when the maximum is one). */
static size_t first_largest(const tap_real *x, size_t length, size_t step, tap_real max)
{
    for (size_t a = 0; a < length; a++)
        if (x[a * step] == max || x[a * step] != x[a * step])
            return a;
    return 0;
}

static void max_backward(struct tap_node *node)
{
    const struct reduction *r = node->attributes;
    if (!tap_wants_grad(node->inputs[0]))
        return;
    const tap_real *x = node->inputs[0]->data, *y = node->output->data, *dy = node->output->grad;
    tap_real *dx = tap_grad_add(node->inputs[0]);
    size_t inner = r->view.inner, lines = node->output->size;
#pragma omp parallel for num_threads(tap_threads_for((double)node->inputs[0]->size))
    for (size_t line = 0; line < lines; line++) {
        size_t first = line / inner * r->view.length * inner + line % inner;
        dx[first + first_largest(x + first, r->view.length, inner, y[line]) * inner] += dy[line];
    }
}

static void sum_forward(struct tap_node *node)
{
    sum_forward_times(node, 1);
}

static void sum_backward(struct tap_node *node)
{
    sum_backward_times(node, 1);
}

static void mean_forward(struct tap_node *node)
{
    const struct reduction *r = node->attributes;
    sum_forward_times(node, 1 / (double)r->view.length);
}

static void mean_backward(struct tap_node *node)
{
    const struct reduction *r = node->attributes;
    sum_backward_times(node, (tap_real)(1 / (double)r->view.length));
}

static double reduction_flops(const struct tap_node *node)
{
    return (double)node->inputs[0]->size;
}

static size_t reduction_scratch(const struct tap_node *node)
{
    const struct reduction *r = node->attributes;
    return r->n_parts > 1 ? r->n_parts * node->output->size : 0;
}

#define REDUCTION(function, forward_of, backward_of)                                                                   \
    const struct tap_op function##_op = {.name = #function,                                                            \
                                         .forward = forward_of,                                                        \
                                         .backward = backward_of,                                                      \
                                         .flops = reduction_flops,                                                     \
                                         .scratch = reduction_scratch}
REDUCTION(tap_sum, sum_forward, sum_backward);
REDUCTION(tap_mean, mean_forward, mean_backward);
REDUCTION(tap_max, max_forward, max_backward);
#undef REDUCTION

/* The shape without the axis, or with size 1 there; returns its number of dimensions. */
static int reduced_shape(const struct tap_tensor *x, int axis, bool keep_axis, size_t *out_shape)
{
    int n_dims = 0;
    for (int i = 0; i < x->n_dims; i++) {
        bool reduced = axis == TAP_ALL_AXES || i == axis;
        if (!reduced || keep_axis)
            out_shape[n_dims++] = reduced ? 1 : x->shape[i];
    }
    return n_dims;
}

static struct tap_tensor *reduce(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *x, int axis,
                                 bool keep_axis, bool may_be_empty)
{
    if (!tap_op_ready(tape, op, &x, 1) || (axis != TAP_ALL_AXES && !tap_axis_exists(tape, op, x, axis)))
        return NULL;
    struct reduction r = reduction_of(x, axis);
    if (r.view.length == 0 && !may_be_empty) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "shape %s holds nothing to take it of",
                           tap_shape_text(x->n_dims, x->shape, text));
    }
    size_t shape[TAP_MAX_DIMS];
    int n_dims = reduced_shape(x, axis, keep_axis, shape);
    struct tap_node *node = tap_node_new(tape, op, &x, 1, n_dims, shape, sizeof r);
    if (node == NULL)
        return NULL;
    struct reduction *attributes = node->attributes;
    *attributes = r;
    return tap_node_run(node);
}

/* tap_sum: the sum over an axis, or over all numbers.
 *
 * Formula    y[..] = sum_i x[.., i, ..]
 * Backward   dx[.., i, ..] += dy[..]
 * Shapes     x (.., n, ..) -> y (.., ..), with keep_axis (.., 1, ..); TAP_ALL_AXES: a scalar, with keep_axis all sizes
 *            1; n = 0 gives zeros
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when x has no such axis; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    parallel over parts of lines and strips of columns, put together in order: same bits for any thread count
 * Cost       one read of x; sums in double, rounded once for each part of 8192 or more numbers and once at the end
 */
struct tap_tensor *tap_sum(struct tap_tape *tape, struct tap_tensor *x, int axis, bool keep_axis)
{
    return reduce(tape, &tap_sum_op, x, axis, keep_axis, true);
}

/* tap_mean: the mean over an axis, or over all numbers.
 *
 * Formula    y[..] = (1/n) sum_i x[.., i, ..]
 * Backward   dx[.., i, ..] += dy[..] / n
 * Shapes     as tap_sum's, but n >= 1
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when x has no such axis or the axis has size 0; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    as tap_sum
 */
struct tap_tensor *tap_mean(struct tap_tape *tape, struct tap_tensor *x, int axis, bool keep_axis)
{
    return reduce(tape, &tap_mean_op, x, axis, keep_axis, false);
}

/* tap_max: the largest number along an axis, or of all.
 *
 * Formula    y[..] = max_i x[.., i, ..]; a NaN when there is one
 * Backward   dx[.., i, ..] += dy[..] for the first i with x[.., i, ..] = y[..]
 * Shapes     as tap_sum's, but n >= 1
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when x has no such axis or the axis has size 0; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    as tap_sum
 */
struct tap_tensor *tap_max(struct tap_tape *tape, struct tap_tensor *x, int axis, bool keep_axis)
{
    return reduce(tape, &tap_max_op, x, axis, keep_axis, false);
}
