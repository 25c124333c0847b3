/* op_add_positions.c: tap_add_positions, a row of a table for each place in a sequence. */
#include "ops.h"

#include "parallel.h"
#include "segment_rows.h"

struct add_positions_attributes {
    struct tap_segments segments;
    size_t longest;
};

static void add_row(size_t n, const tap_real *restrict a, const tap_real *restrict b, tap_real *restrict y)
{
    for (size_t j = 0; j < n; j++)
        y[j] = a[j] + b[j];
}

static void add_to_row(size_t n, const tap_real *restrict dy, tap_real *restrict dx)
{
    for (size_t j = 0; j < n; j++)
        dx[j] += dy[j];
}

static void add_positions_forward(struct tap_node *node)
{
    const struct add_positions_attributes *attributes = node->attributes;
    const uint32_t *offsets = attributes->segments.offsets;
    const tap_real *x = node->inputs[0]->data;
    const tap_real *table = node->inputs[1]->data;
    size_t n_rows = node->output->shape[0];
    size_t n = node->output->shape[1];
    size_t n_blocks = tap_ceil_div(n_rows, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for((double)node->output->size))
    for (size_t block = 0; block < n_blocks; block++) {
        uint32_t s = tap_segment_of(&attributes->segments, block * TAP_ROW_BLOCK);
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(n_rows, (block + 1) * TAP_ROW_BLOCK); row++) {
            while (row >= offsets[s + 1])
                s++;
            add_row(n, x + row * n, table + (row - offsets[s]) * n, node->output->data + row * n);
        }
    }
}

/* dtable[place] += the rows at that place of every sequence, in order of sequences. Parallel over places. */
static void add_table_gradient(const struct tap_node *node, tap_real *dtable)
{
    const struct add_positions_attributes *attributes = node->attributes;
    const uint32_t *offsets = attributes->segments.offsets;
    const tap_real *dy = node->output->grad;
    size_t n = node->output->shape[1];
#pragma omp parallel for schedule(dynamic, 8) num_threads(tap_threads_for((double)node->output->size))
    for (size_t place = 0; place < attributes->longest; place++)
        for (uint32_t s = 0; s < attributes->segments.n; s++)
            if (place < offsets[s + 1] - offsets[s])
                add_to_row(n, dy + (offsets[s] + place) * n, dtable + place * n);
}

static void add_positions_backward(struct tap_node *node)
{
    struct tap_tensor *x = node->inputs[0];
    struct tap_tensor *table = node->inputs[1];
    if (tap_wants_grad(x)) {
        tap_real *dx = tap_grad_add(x);
        const tap_real *dy = node->output->grad;
        size_t n = x->size;
#pragma omp parallel for simd num_threads(tap_threads_for((double)n))
        for (size_t i = 0; i < n; i++)
            dx[i] += dy[i];
    }
    if (tap_wants_grad(table))
        add_table_gradient(node, tap_grad_add(table));
}

const struct tap_op tap_add_positions_op = {
    .name = "tap_add_positions", .forward = add_positions_forward, .backward = add_positions_backward};

/* tap_add_positions: tells every token its place in its sequence.
 *
 * Formula    y[n] = x[n] + table[p(n)]; p(n) = n - offset of n's sequence
 * Backward   dx += dy; dtable[p] += sum over sequences longer than p of their row p of dy, in order of sequences
 * Source     Vaswani et al. 2017, arXiv:1706.03762 section 3.5
 * Shapes     x (N,D), table (P,D), segments covering N rows -> y (N,D); P at least the longest sequence's length
 * Ownership  segments->offsets are borrowed until tap_tape_reset; y belongs to the tape until then
 * Errors     TAP_ERR_SHAPE when D differs, segments cover another number of rows, or the table is shorter than the
 *            longest sequence; TAP_ERR_VALUE for broken segments; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    forward over blocks of rows, the table's gradient over places; the same bits for any thread count
 * Cost       N*D additions
 */
struct tap_tensor *tap_add_positions(struct tap_tape *tape, struct tap_tensor *x, struct tap_tensor *table,
                                     const struct tap_segments *segments)
{
    struct tap_tensor *inputs[] = {x, table};
    const struct tap_op *op = &tap_add_positions_op;
    if (!tap_op_ready(tape, op, inputs, 2))
        return NULL;
    if (x->n_dims != 2 || table->n_dims != 2 || x->shape[1] != table->shape[1]) {
        char text_x[TAP_SHAPE_TEXT_BYTES], text_table[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "x has shape %s, the table %s; (N, D) and (P, D) are needed",
                           tap_shape_text(x->n_dims, x->shape, text_x),
                           tap_shape_text(table->n_dims, table->shape, text_table));
    }
    if (!tap_op_segments_fit(tape, op, segments, x->shape[0]))
        return NULL;
    size_t longest = tap_longest_segment(segments);
    if (longest > table->shape[0])
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "the longest sequence has %zu tokens; the table has %zu rows",
                           longest, table->shape[0]);
    struct tap_node *node = tap_node_new(tape, op, inputs, 2, 2, x->shape, sizeof(struct add_positions_attributes));
    if (node == NULL)
        return NULL;
    *(struct add_positions_attributes *)node->attributes = (struct add_positions_attributes){*segments, longest};
    return tap_node_run(node);
}
