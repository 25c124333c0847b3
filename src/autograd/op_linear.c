/* op_linear.c: the affine map of every row, the work horse of the encoder. */
#include "gemm.h"
#include "ops.h"
#include "parallel.h"

#include <string.h>

struct linear_shape {
    size_t rows; /* N: all axes but the last */
    size_t in;
    size_t out;
};

static struct linear_shape shape_of(const struct tap_node *node)
{
    const struct tap_tensor *weight = node->inputs[1];
    struct linear_shape s = {0, weight->shape[1], weight->shape[0]};
    s.rows = s.out == 0 ? 0 : node->output->size / s.out;
    return s;
}

static struct tap_matrix row_major(tap_real *data, size_t columns)
{
    return (struct tap_matrix){data, columns, 1};
}

static struct tap_matrix column_major(tap_real *data, size_t columns)
{
    return (struct tap_matrix){data, 1, columns};
}

/* Every row of y starts as the bias, so that the product adds to it. */
static void fill_bias(const struct linear_shape *s, const tap_real *bias, tap_real *y)
{
    size_t n_blocks = tap_ceil_div(s->rows, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for((double)s->rows * (double)s->out))
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(s->rows, (block + 1) * TAP_ROW_BLOCK); row++)
            memcpy(y + row * s->out, bias, s->out * sizeof *y);
}

static void linear_forward(struct tap_node *node)
{
    struct linear_shape s = shape_of(node);
    bool has_bias = node->n_inputs == 3;
    if (has_bias)
        fill_bias(&s, node->inputs[2]->data, node->output->data);
    tap_gemm(tap_gemm_token_rows(s.out, s.in), s.rows, s.out, s.in, 1, row_major(node->inputs[0]->data, s.in),
             column_major(node->inputs[1]->data, s.in), has_bias ? 1 : 0, row_major(node->output->data, s.out),
             tap_scratch(node));
}

/* Blocks of rows whose sums are added in order: the same result for any number of threads. */
#define SUM_ROWS 64

static void add_column_sums(const struct linear_shape *s, const tap_real *dy, tap_real *sums, tap_real *parts)
{
    size_t n_blocks = tap_ceil_div(s->rows, SUM_ROWS);
#pragma omp parallel for num_threads(tap_threads_for((double)s->rows * (double)s->out))
    for (size_t block = 0; block < n_blocks; block++) {
        tap_real *restrict part = parts + block * s->out;
        memset(part, 0, s->out * sizeof *part);
        for (size_t row = block * SUM_ROWS; row < tap_min_size(s->rows, (block + 1) * SUM_ROWS); row++) {
            const tap_real *restrict from = dy + row * s->out;
            for (size_t j = 0; j < s->out; j++)
                part[j] += from[j];
        }
    }
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t j = 0; j < s->out; j++)
            sums[j] += parts[block * s->out + j];
}

static void linear_backward(struct tap_node *node)
{
    struct linear_shape s = shape_of(node);
    struct tap_tensor *x = node->inputs[0];
    struct tap_tensor *weight = node->inputs[1];
    tap_real *dy = node->output->grad;
    tap_real beta;
    if (tap_wants_grad(x)) {
        tap_real *dx = tap_grad_beta(x, &beta);
        tap_gemm(tap_gemm_token_rows(s.in, s.out), s.rows, s.in, s.out, 1, row_major(dy, s.out),
                 row_major(weight->data, s.in), beta, row_major(dx, s.in), tap_scratch(node));
    }
    if (tap_wants_grad(weight)) {
        tap_real *dw = tap_grad_beta(weight, &beta);
        tap_gemm(tap_gemm_weight_rows(s.out), s.out, s.in, s.rows, 1, column_major(dy, s.out),
                 row_major(x->data, s.in), beta, row_major(dw, s.in), tap_scratch(node));
    }
    if (node->n_inputs == 3 && tap_wants_grad(node->inputs[2]))
        add_column_sums(&s, dy, tap_grad_add(node->inputs[2]), tap_scratch(node));
}

static double linear_flops(const struct tap_node *node)
{
    struct linear_shape s = shape_of(node);
    return 2.0 * (double)s.rows * (double)s.in * (double)s.out;
}

static size_t linear_scratch(const struct tap_node *node)
{
    struct linear_shape s = shape_of(node);
    size_t forward = tap_gemm_scratch(tap_gemm_token_rows(s.out, s.in), s.out, s.in);
    size_t dw = tap_gemm_scratch(tap_gemm_weight_rows(s.out), s.in, s.rows);
    size_t db = tap_ceil_div(s.rows, SUM_ROWS) * s.out;
    size_t most = forward > dw ? forward : dw;
    return most > db ? most : db; /* dx: as forward */
}

const struct tap_op tap_linear_op = {
    .name = "tap_linear",
    .forward = linear_forward,
    .backward = linear_backward,
    .flops = linear_flops,
    .scratch = linear_scratch,
};

/* tap_linear: the affine map of the last axis.
 *
 * Formula    y[n] = W x[n] + b
 * Backward   dx += dy W; dW += dy^T x; db += sum_n dy[n]
 * Source     the layout is torch.nn.Linear's: W is (out, in)
 * Shapes     x (..,in), W (out,in), b (out) or NULL -> y (..,out); N = product of the other axes, N >= 0
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when the shapes do not fit; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    over blocks of rows; a row of y has the same bits whatever rows stand around it
 * Cost       2*N*in*out flops
 */
struct tap_tensor *tap_linear(struct tap_tape *tape, struct tap_tensor *x, struct tap_tensor *weight,
                              struct tap_tensor *bias)
{
    struct tap_tensor *inputs[] = {x, weight, bias};
    int n_inputs = bias == NULL ? 2 : 3;
    if (!tap_op_ready(tape, &tap_linear_op, inputs, n_inputs))
        return NULL;
    char text_x[TAP_SHAPE_TEXT_BYTES], text_w[TAP_SHAPE_TEXT_BYTES], text_b[TAP_SHAPE_TEXT_BYTES];
    if (x->n_dims < 1 || weight->n_dims != 2 || x->shape[x->n_dims - 1] != weight->shape[1] ||
        (bias != NULL && (bias->n_dims != 1 || bias->shape[0] != weight->shape[0])))
        return tap_op_fail(tape, &tap_linear_op, TAP_ERR_SHAPE, "x %s, weight %s and bias %s do not fit",
                           tap_shape_text(x->n_dims, x->shape, text_x),
                           tap_shape_text(weight->n_dims, weight->shape, text_w),
                           bias == NULL ? "none" : tap_shape_text(bias->n_dims, bias->shape, text_b));
    size_t shape[TAP_MAX_DIMS];
    for (int i = 0; i < x->n_dims - 1; i++)
        shape[i] = x->shape[i];
    shape[x->n_dims - 1] = weight->shape[0];
    struct tap_node *node = tap_node_new(tape, &tap_linear_op, inputs, n_inputs, x->n_dims, shape, 0);
    return node == NULL ? NULL : tap_node_run(node);
}
