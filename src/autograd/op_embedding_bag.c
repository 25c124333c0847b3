/* op_embedding_bag.c: tap_embedding_bag, means of rows of a table chosen by bags of ids. */
#include "ops.h"

#include <string.h>

#include "parallel.h"

/* Columns that one thread adds at a time in backward: two cache lines of floats. */
#define PIECE 32

struct bag_attributes {
    struct tap_bags bags;
    size_t n_ids; /* 0 while planning */
};

static double bag_flops(const struct tap_node *node)
{
    const struct bag_attributes *attributes = node->attributes;
    return ((double)attributes->n_ids + (double)node->output->shape[0]) * (double)node->output->shape[1];
}

/* y = mean of the rows of bag i. */
static void bag_mean(const struct tap_bags *bags, size_t i, size_t width, const tap_real *table, tap_real *restrict y)
{
    size_t n_ids = bags->offsets[i + 1] - bags->offsets[i];
    memset(y, 0, width * sizeof *y);
    for (size_t k = bags->offsets[i]; k < bags->offsets[i + 1]; k++) {
        const tap_real *restrict row = table + bags->ids[k] * width;
        for (size_t j = 0; j < width; j++)
            y[j] += row[j];
    }
    tap_real part = n_ids > 0 ? (tap_real)(1 / (double)n_ids) : 0;
    for (size_t j = 0; j < width; j++)
        y[j] *= part;
}

static void bag_forward(struct tap_node *node)
{
    const struct tap_bags *bags = &((const struct bag_attributes *)node->attributes)->bags;
    size_t n = node->output->shape[0];
    size_t width = node->output->shape[1];
    size_t n_blocks = tap_ceil_div(n, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for(bag_flops(node)))
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t i = block * TAP_ROW_BLOCK; i < tap_min_size(n, (block + 1) * TAP_ROW_BLOCK); i++)
            bag_mean(bags, i, width, node->inputs[0]->data, node->output->data + i * width);
}

/* Some columns, from `start`, of all bags. No two threads share a column, so each row's sum is made in order. */
static void add_columns(const struct tap_node *node, size_t start, tap_real *dtable)
{
    const struct tap_bags *bags = &((const struct bag_attributes *)node->attributes)->bags;
    size_t width = node->output->shape[1];
    size_t n_columns = tap_min_size(PIECE, width - start);
    for (size_t i = 0; i < node->output->shape[0]; i++) {
        const tap_real *dy = node->output->grad + i * width + start;
        size_t n_ids = bags->offsets[i + 1] - bags->offsets[i];
        tap_real part = n_ids > 0 ? (tap_real)(1 / (double)n_ids) : 0;
        tap_real scaled[PIECE];
        for (size_t j = 0; j < n_columns; j++)
            scaled[j] = part * dy[j];
        for (size_t k = bags->offsets[i]; k < bags->offsets[i + 1]; k++) {
            tap_real *restrict to = dtable + bags->ids[k] * width + start;
            for (size_t j = 0; j < n_columns; j++)
                to[j] += scaled[j];
        }
    }
}

static void bag_backward(struct tap_node *node)
{
    tap_real *dtable = tap_grad_add(node->inputs[0]);
    size_t n_pieces = tap_ceil_div(node->output->shape[1], PIECE);
#pragma omp parallel for num_threads(tap_threads_for(bag_flops(node)))
    for (size_t piece = 0; piece < n_pieces; piece++)
        add_columns(node, piece * PIECE, dtable);
}

const struct tap_op tap_embedding_bag_op = {
    .name = "tap_embedding_bag", .forward = bag_forward, .backward = bag_backward, .flops = bag_flops};

/* True when the bags are sound and all ids are below `limit`; else marks the tape. */
static bool bags_fit(struct tap_tape *tape, const struct tap_bags *bags, size_t n, size_t limit)
{
    const struct tap_op *op = &tap_embedding_bag_op;
    const uint32_t *offsets = bags == NULL ? NULL : bags->offsets;
    uint32_t n_ids = offsets == NULL ? 0 : offsets[n];
    if (offsets == NULL || (bags->ids == NULL && n_ids > 0)) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "the bags of %zu rows are missing", n);
        return false;
    }
    if (offsets[0] != 0) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "offset 0 is %u; 0 is needed", offsets[0]);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (offsets[i + 1] < offsets[i]) {
            tap_op_fail(tape, op, TAP_ERR_VALUE, "offset %zu is %u, below the one before it, %u", i + 1, offsets[i + 1],
                        offsets[i]);
            return false;
        }
    for (uint32_t i = 0; i < n_ids; i++)
        if (bags->ids[i] >= limit) {
            tap_op_fail(tape, op, TAP_ERR_VALUE, "id %u at position %u; only numbers below %zu are accepted",
                        bags->ids[i], i, limit);
            return false;
        }
    return true;
}

/* tap_embedding_bag: the mean of some rows of a table, for each of n bags of ids.
 *
 * Formula    y[i] = (1/m) sum over the m ids k of bag i of table[k]; an empty bag gives zeros
 * Backward   dtable[k] += dy[i] / m for every occurrence of k, in order of i
 * Shapes     table (V,D), n bags of ids below V -> y (n,D); n >= 0
 * Ownership  offsets and ids are borrowed until tap_tape_reset; y belongs to the tape until then
 * Errors     TAP_ERR_SHAPE when table is no matrix; TAP_ERR_VALUE for missing bags, descending offsets, or naming the
 *            first id >= V and its position; TAP_ERR_MEMORY. Returns NULL, marks the tape. While planning the bags are
 *            not looked at and may be NULL
 * Threads    forward over blocks of bags; backward over pieces of D; the same bits for any thread count
 * Cost       M*D additions each way for M ids
 * Source     PyTorch's EmbeddingBag with mode "mean"; subword vectors: Bojanowski et al. 2017, arXiv:1607.04606
 */
struct tap_tensor *tap_embedding_bag(struct tap_tape *tape, struct tap_tensor *table, const struct tap_bags *bags,
                                     size_t n)
{
    const struct tap_op *op = &tap_embedding_bag_op;
    bool plans = tap_tape_is_planning(tape);
    if (!tap_op_ready(tape, op, &table, 1))
        return NULL;
    if (table->n_dims != 2) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "the table has shape %s; two dimensions are needed",
                           tap_shape_text(table->n_dims, table->shape, text));
    }
    if (!plans && !bags_fit(tape, bags, n, table->shape[0]))
        return NULL;
    const size_t shape[] = {n, table->shape[1]};
    struct tap_node *node = tap_node_new(tape, op, &table, 1, 2, shape, sizeof(struct bag_attributes));
    if (node == NULL)
        return NULL;
    if (!plans)
        *(struct bag_attributes *)node->attributes = (struct bag_attributes){*bags, bags->offsets[n]};
    return tap_node_run(node);
}
