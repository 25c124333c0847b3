/* op_reshape.c: operations whose result shares its input's numbers: tap_reshape, tap_detach. */
#include "ops.h"

#include "parallel.h"

/* Numbers handled together in backward. */
#define BLOCK 4096

static void reshape_backward(struct tap_node *node)
{
    struct tap_tensor *x = node->inputs[0];
    if (!tap_wants_grad(x))
        return;
    tap_real *restrict dx = tap_grad_add(x);
    const tap_real *restrict dy = node->output->grad;
    size_t n_blocks = tap_ceil_div(x->size, BLOCK);
#pragma omp parallel for num_threads(tap_threads_for((double)x->size))
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t j = block * BLOCK; j < tap_min_size(x->size, (block + 1) * BLOCK); j++)
            dx[j] += dy[j];
}

static double no_flops(const struct tap_node *node)
{
    (void)node;
    return 0;
}

const struct tap_op tap_reshape_op = {.name = "tap_reshape", .backward = reshape_backward, .flops = no_flops};
const struct tap_op tap_detach_op = {.name = "tap_detach", .flops = no_flops};

/* tap_reshape: the same numbers, in the same order, under another shape.
 *
 * Backward   dx += dy
 * Shapes     x (any) -> y (shape), as many numbers; no size is worked out from the others
 * Ownership  y belongs to the tape until tap_tape_reset and shares x's numbers: nothing is copied
 * Errors     TAP_ERR_SHAPE when the number of numbers differs, shape overflows or n_dims is not in 0 .. TAP_MAX_DIMS;
 *            TAP_ERR_MEMORY. Returns NULL, marks the tape
 */
struct tap_tensor *tap_reshape(struct tap_tape *tape, struct tap_tensor *x, int n_dims, const size_t *shape)
{
    struct tap_node *node = tap_node_new_view(tape, &tap_reshape_op, &x, n_dims, shape, 0);
    if (node == NULL)
        return NULL;
    if (node->output->size != x->size) {
        char from[TAP_SHAPE_TEXT_BYTES], to[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, &tap_reshape_op, TAP_ERR_SHAPE, "shape %s holds %zu numbers, shape %s %zu",
                           tap_shape_text(x->n_dims, x->shape, from), x->size, tap_shape_text(n_dims, shape, to),
                           node->output->size);
    }
    return tap_node_run(node);
}

/* tap_detach: y = x as a constant: no gradient passes.
 *
 * Shapes     x (any) -> y (same)
 * Ownership  y belongs to the tape until tap_tape_reset and shares x's numbers
 * Errors     TAP_ERR_MEMORY. Returns NULL, marks the tape
 */
struct tap_tensor *tap_detach(struct tap_tape *tape, struct tap_tensor *x)
{
    if (!tap_op_ready(tape, &tap_detach_op, &x, 1))
        return NULL;
    struct tap_node *node = tap_node_new_view(tape, &tap_detach_op, &x, x->n_dims, x->shape, 0);
    if (node == NULL)
        return NULL;
    node->output->requires_grad = false;
    return tap_node_run(node);
}
