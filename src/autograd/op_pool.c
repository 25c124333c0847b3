/* op_pool.c: tap_pool, one vector for each sequence. Work is cut into sequences and pieces of columns. */
#include "ops.h"

#include <math.h>
#include <string.h>

#include "mem.h"
#include "parallel.h"
#include "segment_rows.h"

/* Columns handled together. */
#define PIECE 64

struct pool_attributes {
    struct tap_segments segments;
    enum tap_pooling pooling;
    uint32_t *largest; /* as y: the place in its sequence of each maximum; NULL unless backward needs it */
};

/* Some columns of one sequence. */
struct piece {
    enum tap_pooling pooling; /* mean, max or cls: mean_max has pieces of two kinds */
    size_t n_rows;
    size_t step;  /* from a row to the next */
    size_t width; /* 1 .. PIECE columns */
    size_t in;    /* where its first number lies in x */
    size_t out;   /* and in y */
};

/* mean_max is a mean and, in the columns after it, a maximum. */
static size_t n_parts(const struct tap_node *node)
{
    const struct pool_attributes *attributes = node->attributes;
    return attributes->pooling == TAP_POOLING_MEAN_MAX ? 2 : 1;
}

static size_t n_pieces_of(const struct tap_node *node)
{
    return node->output->shape[0] * n_parts(node) * tap_ceil_div(node->inputs[0]->shape[1], PIECE);
}

static struct piece piece_of(const struct tap_node *node, size_t item)
{
    const struct pool_attributes *attributes = node->attributes;
    const uint32_t *offsets = attributes->segments.offsets;
    size_t n = node->inputs[0]->shape[1];
    size_t in_part = tap_ceil_div(n, PIECE);
    size_t part = item / in_part % n_parts(node);
    size_t s = item / in_part / n_parts(node);
    size_t start = item % in_part * PIECE;
    enum tap_pooling pooling = attributes->pooling;
    if (pooling == TAP_POOLING_MEAN_MAX)
        pooling = part == 0 ? TAP_POOLING_MEAN : TAP_POOLING_MAX;
    return (struct piece){.pooling = pooling,
                          .n_rows = offsets[s + 1] - offsets[s],
                          .step = n,
                          .width = tap_min_size(PIECE, n - start),
                          .in = offsets[s] * n + start,
                          .out = (s * n_parts(node) + part) * n + start};
}

static double pool_flops(const struct tap_node *node)
{
    return (double)n_parts(node) * (double)node->inputs[0]->size + (double)node->output->size;
}

static void mean_piece(struct piece p, const tap_real *restrict x, tap_real *restrict y)
{
    double sums[PIECE] = {0};
    for (size_t row = 0; row < p.n_rows; row++)
        for (size_t j = 0; j < p.width; j++)
            sums[j] += (double)x[row * p.step + j];
    for (size_t j = 0; j < p.width; j++)
        y[j] = (tap_real)(sums[j] / (double)p.n_rows);
}

/* A NaN is larger than everything, so that it shows in the result. */
static void max_piece(struct piece p, const tap_real *restrict x, tap_real *restrict y, uint32_t *restrict largest)
{
    tap_real best[PIECE];
    uint32_t place[PIECE] = {0};
    memcpy(best, x, p.width * sizeof *x);
    for (size_t row = 1; row < p.n_rows; row++)
        for (size_t j = 0; j < p.width; j++) {
            tap_real value = x[row * p.step + j];
            bool larger = value > best[j] || (isnan(value) && !isnan(best[j]));
            best[j] = larger ? value : best[j];
            place[j] = larger ? (uint32_t)row : place[j];
        }
    memcpy(y, best, p.width * sizeof *y);
    if (largest != NULL)
        memcpy(largest, place, p.width * sizeof *largest);
}

static void forward_piece(const struct tap_node *node, struct piece p)
{
    const struct pool_attributes *attributes = node->attributes;
    const tap_real *x = node->inputs[0]->data + p.in;
    tap_real *y = node->output->data + p.out;
    if (p.n_rows == 0)
        memset(y, 0, p.width * sizeof *y);
    else if (p.pooling == TAP_POOLING_MEAN)
        mean_piece(p, x, y);
    else if (p.pooling == TAP_POOLING_MAX)
        max_piece(p, x, y, attributes->largest == NULL ? NULL : attributes->largest + p.out);
    else
        memcpy(y, x, p.width * sizeof *y);
}

static void pool_forward(struct tap_node *node)
{
#pragma omp parallel for schedule(dynamic) num_threads(tap_threads_for(pool_flops(node)))
    for (size_t item = 0; item < n_pieces_of(node); item++)
        forward_piece(node, piece_of(node, item));
}

static void mean_gradient(struct piece p, const tap_real *restrict dy, tap_real *restrict dx)
{
    tap_real part = (tap_real)(1 / (double)p.n_rows);
    for (size_t row = 0; row < p.n_rows; row++)
        for (size_t j = 0; j < p.width; j++)
            dx[row * p.step + j] += dy[j] * part;
}

static void backward_piece(const struct tap_node *node, struct piece p, tap_real *dx)
{
    const struct pool_attributes *attributes = node->attributes;
    const tap_real *dy = node->output->grad + p.out;
    if (p.n_rows == 0)
        return;
    if (p.pooling == TAP_POOLING_MEAN) {
        mean_gradient(p, dy, dx + p.in);
        return;
    }
    for (size_t j = 0; j < p.width; j++) {
        size_t row = p.pooling == TAP_POOLING_MAX ? attributes->largest[p.out + j] : 0;
        dx[p.in + row * p.step + j] += dy[j];
    }
}

static void pool_backward(struct tap_node *node)
{
    tap_real *dx = tap_grad_add(node->inputs[0]);
#pragma omp parallel for schedule(dynamic) num_threads(tap_threads_for(pool_flops(node)))
    for (size_t item = 0; item < n_pieces_of(node); item++)
        backward_piece(node, piece_of(node, item), dx);
}

const struct tap_op tap_pool_op = {
    .name = "tap_pool", .forward = pool_forward, .backward = pool_backward, .flops = pool_flops};

/* tap_pool: one vector for each sequence of a packed batch.
 *
 * Formula    mean: y[s] = (1/T) sum_t x[t]; max: y[s,j] = max_t x[t,j]; cls: y[s] = x[first token]; mean_max: the mean,
 *            then the maximum; t runs over the T tokens of sequence s. A sequence without tokens gives zeros
 * Backward   mean: dx[t] += dy[s] / T; max: dx[t,j] += dy[s,j] for the first largest t alone; cls: dx[first] += dy[s]
 * Shapes     x (N,D), segments of S sequences covering N rows -> y (S,D); mean_max: (S,2D)
 * Ownership  segments->offsets are borrowed until tap_tape_reset; y belongs to the tape until then
 * Errors     TAP_ERR_SHAPE when x is no matrix, its width overflows or segments cover another number of rows;
 *            TAP_ERR_VALUE for broken segments or an unknown pooling; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    parallel over sequences and pieces of D; the same bits for any thread count, a sequence's for any others
 * Cost       N*D operations; means summed in double
 */
struct tap_tensor *tap_pool(struct tap_tape *tape, struct tap_tensor *x, const struct tap_segments *segments,
                            enum tap_pooling pooling)
{
    const struct tap_op *op = &tap_pool_op;
    if (!tap_op_ready(tape, op, &x, 1))
        return NULL;
    if (x->n_dims != 2) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "x has shape %s; two dimensions are needed",
                           tap_shape_text(x->n_dims, x->shape, text));
    }
    if (pooling != TAP_POOLING_MEAN && pooling != TAP_POOLING_MAX && pooling != TAP_POOLING_CLS &&
        pooling != TAP_POOLING_MEAN_MAX)
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "pooling is %d; mean, max, cls and mean_max are %d, %d, %d and %d",
                           (int)pooling, TAP_POOLING_MEAN, TAP_POOLING_MAX, TAP_POOLING_CLS, TAP_POOLING_MEAN_MAX);
    if (!tap_op_segments_fit(tape, op, segments, x->shape[0]))
        return NULL;
    size_t width = x->shape[1];
    if (pooling == TAP_POOLING_MEAN_MAX && !tap_size_mul(width, 2, &width))
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "x has %zu columns; twice as many are too many", x->shape[1]);
    const size_t shape[] = {segments->n, width};
    struct tap_node *node = tap_node_new(tape, op, &x, 1, 2, shape, sizeof(struct pool_attributes));
    if (node == NULL)
        return NULL;
    void *largest = NULL;
    if ((pooling == TAP_POOLING_MAX || pooling == TAP_POOLING_MEAN_MAX) &&
        !tap_node_save_bytes(node, node->output->size * sizeof(uint32_t), &largest))
        return NULL;
    *(struct pool_attributes *)node->attributes = (struct pool_attributes){*segments, pooling, largest};
    return tap_node_run(node);
}
