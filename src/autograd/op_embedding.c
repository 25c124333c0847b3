/* op_embedding.c: tap_embedding, rows of a table chosen by ids. */
#include "ops.h"

#include "index_rows.h"

static void embedding_forward(struct tap_node *node)
{
    tap_gather_rows(node->attributes, node->inputs[0]->data, node->output->data);
}

static void embedding_backward(struct tap_node *node)
{
    tap_scatter_add_rows(node->attributes, node->output->grad, tap_grad_add(node->inputs[0]));
}

const struct tap_op tap_embedding_op = {
    .name = "tap_embedding", .forward = embedding_forward, .backward = embedding_backward};

/* tap_embedding: the vectors of a list of tokens.
 *
 * Formula    y[i] = table[ids[i]]
 * Backward   dtable[v] += sum over i with ids[i] = v of dy[i], in order of i
 * Shapes     table (V,D), ids n numbers below V -> y (n,D); n >= 0
 * Ownership  ids are borrowed until tap_tape_reset; y belongs to the tape until then
 * Errors     TAP_ERR_SHAPE when table is no matrix; TAP_ERR_VALUE naming the first id >= V and its position;
 *            TAP_ERR_MEMORY. Returns NULL, marks the tape. While planning ids are not looked at and may be NULL
 * Threads    forward over blocks of tokens; backward over pieces of D; the same bits for any thread count
 * Cost       no arithmetic forward, n*D additions backward
 */
struct tap_tensor *tap_embedding(struct tap_tape *tape, struct tap_tensor *table, const uint32_t *ids, size_t n)
{
    const struct tap_op *op = &tap_embedding_op;
    if (!tap_op_ready(tape, op, &table, 1))
        return NULL;
    if (table->n_dims != 2) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "the table has shape %s; two dimensions are needed",
                           tap_shape_text(table->n_dims, table->shape, text));
    }
    if (!tap_op_index_fits(tape, op, "id", ids, n, table->shape[0]))
        return NULL;
    const size_t shape[] = {n, table->shape[1]};
    struct tap_node *node = tap_node_new(tape, op, &table, 1, 2, shape, sizeof(struct tap_row_index));
    if (node == NULL)
        return NULL;
    *(struct tap_row_index *)node->attributes = (struct tap_row_index){
        .outer = 1, .axis_size = table->shape[0], .inner = table->shape[1], .index = ids, .n = n};
    return tap_node_run(node);
}
