/* op_softmax.c: tap_softmax and tap_log_softmax over the last axis. Masks are not known here: a packed batch has no
 * padding (segments.h), and the causal one is tap_attention's. */
#include "ops.h"

#include <math.h>

#include "parallel.h"
#include "vector_math.h"
#include "vector_sum.h"

static size_t row_length(const struct tap_tensor *x)
{
    return x->n_dims == 0 ? 1 : x->shape[x->n_dims - 1];
}

/* y = exp(x - max) */
static void exponentials(size_t n, const tap_real *restrict x, tap_real max, tap_real *restrict y)
{
    TAP_VECTOR_LOOP
    for (size_t j = 0; j < n; j++)
        y[j] = tap_fast_exp(x[j] - max);
}

static void softmax_row(size_t n, const tap_real *restrict x, tap_real *restrict y)
{
    exponentials(n, x, tap_vector_max(n, x), y);
    tap_real inverse = (tap_real)(1 / tap_vector_sum(n, y));
    for (size_t j = 0; j < n; j++)
        y[j] *= inverse;
}

/* dx += y (dy - sum dy y) */
static void softmax_row_gradient(size_t n, const tap_real *restrict y, const tap_real *restrict dy,
                                 tap_real *restrict dx)
{
    tap_real dot = (tap_real)tap_vector_dot(n, dy, y);
    for (size_t j = 0; j < n; j++)
        dx[j] += y[j] * (dy[j] - dot);
}

static void log_softmax_row(size_t n, const tap_real *restrict x, tap_real *restrict y)
{
    tap_real max = tap_vector_max(n, x);
    exponentials(n, x, max, y);
    tap_real log_sum = (tap_real)log(tap_vector_sum(n, y));
    for (size_t j = 0; j < n; j++)
        y[j] = x[j] - max - log_sum;
}

/* dx += dy - exp(y) sum dy */
static void log_softmax_row_gradient(size_t n, const tap_real *restrict y, const tap_real *restrict dy,
                                     tap_real *restrict dx)
{
    tap_real sum = (tap_real)tap_vector_sum(n, dy);
    TAP_VECTOR_LOOP
    for (size_t j = 0; j < n; j++)
        dx[j] += dy[j] - tap_fast_exp(y[j]) * sum;
}

typedef void (*row_function)(size_t n, const tap_real *restrict x, tap_real *restrict y);
typedef void (*row_gradient)(size_t n, const tap_real *restrict y, const tap_real *restrict dy, tap_real *restrict dx);

static double softmax_flops(const struct tap_node *node)
{
    return 20 * (double)node->output->size;
}

static void forward_rows(struct tap_node *node, row_function row_of)
{
    const tap_real *x = node->inputs[0]->data;
    tap_real *y = node->output->data;
    size_t n = row_length(node->output);
    size_t rows = n == 0 ? 0 : node->output->size / n;
    size_t n_blocks = tap_ceil_div(rows, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for(softmax_flops(node)))
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(rows, (block + 1) * TAP_ROW_BLOCK); row++)
            row_of(n, x + row * n, y + row * n);
}

static void backward_rows(struct tap_node *node, row_gradient gradient_of)
{
    if (!tap_wants_grad(node->inputs[0]))
        return;
    tap_real *dx = tap_grad_add(node->inputs[0]);
    const tap_real *y = node->output->data, *dy = node->output->grad;
    size_t n = row_length(node->output);
    size_t rows = n == 0 ? 0 : node->output->size / n;
    size_t n_blocks = tap_ceil_div(rows, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for(softmax_flops(node)))
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(rows, (block + 1) * TAP_ROW_BLOCK); row++)
            gradient_of(n, y + row * n, dy + row * n, dx + row * n);
}

static void softmax_forward(struct tap_node *node)
{
    forward_rows(node, softmax_row);
}

static void softmax_backward(struct tap_node *node)
{
    backward_rows(node, softmax_row_gradient);
}

static void log_softmax_forward(struct tap_node *node)
{
    forward_rows(node, log_softmax_row);
}

static void log_softmax_backward(struct tap_node *node)
{
    backward_rows(node, log_softmax_row_gradient);
}

const struct tap_op tap_softmax_op = {
    .name = "tap_softmax", .forward = softmax_forward, .backward = softmax_backward, .flops = softmax_flops};
const struct tap_op tap_log_softmax_op = {.name = "tap_log_softmax",
                                          .forward = log_softmax_forward,
                                          .backward = log_softmax_backward,
                                          .flops = softmax_flops};

static struct tap_tensor *same_shape_op(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *x)
{
    if (!tap_op_ready(tape, op, &x, 1))
        return NULL;
    struct tap_node *node = tap_node_new(tape, op, &x, 1, x->n_dims, x->shape, 0);
    return node == NULL ? NULL : tap_node_run(node);
}

/* tap_softmax: each row of the last axis as probabilities.
 *
 * Formula    m = max_j x[n,j]; y[n,j] = exp(x[n,j] - m) / sum_k exp(x[n,k] - m)
 * Backward   dx += y (dy - sum_k dy[k] y[k])
 * Shapes     x (.., D) -> y (same); a scalar is a row of one; D = 0 gives no numbers
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_MEMORY. Returns NULL, marks the tape. Finite for any finite row; -inf gets probability 0; a row
 *            with a NaN, with +inf, or of -inf alone becomes NaN
 * Threads    parallel over blocks of rows; a row's bits depend on that row alone
 */
struct tap_tensor *tap_softmax(struct tap_tape *tape, struct tap_tensor *x)
{
    return same_shape_op(tape, &tap_softmax_op, x);
}

/* tap_log_softmax: the logarithm of tap_softmax, without taking the logarithm of small numbers.
 *
 * Formula    m = max_j x[n,j]; y[n,j] = x[n,j] - m - log sum_k exp(x[n,k] - m)
 * Backward   dx += dy - exp(y) sum_k dy[k]
 * Shapes     x (.., D) -> y (same); a scalar is a row of one; D = 0 gives no numbers
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_MEMORY. Returns NULL, marks the tape. For rows that are not finite see tap_softmax
 * Threads    parallel over blocks of rows; a row's bits depend on that row alone
 */
struct tap_tensor *tap_log_softmax(struct tap_tape *tape, struct tap_tensor *x)
{
    return same_shape_op(tape, &tap_log_softmax_op, x);
}
