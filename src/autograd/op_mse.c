/* op_mse.c: tap_mse, the mean squared error. */
#include "ops.h"

#include "parallel.h"

/* Numbers summed together before the blocks' sums are added. */
#define BLOCK 4096

static size_t mse_scratch(const struct tap_node *node)
{
    return tap_ceil_div(node->inputs[0]->size, BLOCK) * (sizeof(double) / sizeof(tap_real));
}

static double mse_flops(const struct tap_node *node)
{
    return 3 * (double)node->inputs[0]->size;
}

static double sum_of_squares(size_t n, const tap_real *a, const tap_real *b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sum;
}

static void mse_forward(struct tap_node *node)
{
    const struct tap_tensor *prediction = node->inputs[0];
    const tap_real *target = node->inputs[1]->data;
    double *sums = (double *)(void *)tap_scratch(node);
    size_t n = prediction->size;
    size_t n_blocks = tap_ceil_div(n, BLOCK);
#pragma omp parallel for num_threads(tap_threads_for(mse_flops(node)))
    for (size_t block = 0; block < n_blocks; block++) {
        size_t start = block * BLOCK;
        sums[block] = sum_of_squares(tap_min_size(BLOCK, n - start), prediction->data + start, target + start);
    }
    double sum = 0;
    for (size_t block = 0; block < n_blocks; block++)
        sum += sums[block];
    node->output->data[0] = n == 0 ? 0 : (tap_real)(sum / (double)n);
}

/* dx += factor * (x - other). */
static void add_gradient(struct tap_tensor *x, const tap_real *other, double factor)
{
    tap_real *dx = tap_grad_add(x);
    const tap_real *data = x->data;
    size_t n = x->size;
    tap_real scale = (tap_real)factor;
#pragma omp parallel for simd num_threads(tap_threads_for(3 * (double)n))
    for (size_t i = 0; i < n; i++)
        dx[i] += scale * (data[i] - other[i]);
}

static void mse_backward(struct tap_node *node)
{
    struct tap_tensor *prediction = node->inputs[0];
    struct tap_tensor *target = node->inputs[1];
    double factor = prediction->size == 0 ? 0 : 2 * (double)node->output->grad[0] / (double)prediction->size;
    if (tap_wants_grad(prediction))
        add_gradient(prediction, target->data, factor);
    if (tap_wants_grad(target))
        add_gradient(target, prediction->data, factor);
}

const struct tap_op tap_mse_op = {
    .name = "tap_mse", .forward = mse_forward, .backward = mse_backward, .flops = mse_flops, .scratch = mse_scratch};

/* tap_mse: the mean squared error of a prediction.
 *
 * Formula    y = (1/n) sum_i (prediction[i] - target[i])^2; 0 when there are no numbers. Summed in double
 * Backward   dprediction += 2 dy / n * (prediction - target); dtarget += the negative of it
 * Shapes     prediction, target: the same shape of n numbers -> y a scalar
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when the shapes differ; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    sums of blocks of one fixed size, added in order: the same bits for any thread count
 * Cost       3*n flops
 */
struct tap_tensor *tap_mse(struct tap_tape *tape, struct tap_tensor *prediction, struct tap_tensor *target)
{
    struct tap_tensor *inputs[] = {prediction, target};
    const struct tap_op *op = &tap_mse_op;
    if (!tap_op_ready(tape, op, inputs, 2))
        return NULL;
    if (!tap_same_shape(prediction, target)) {
        char text_a[TAP_SHAPE_TEXT_BYTES], text_b[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "shapes %s and %s differ",
                           tap_shape_text(prediction->n_dims, prediction->shape, text_a),
                           tap_shape_text(target->n_dims, target->shape, text_b));
    }
    struct tap_node *node = tap_node_new(tape, op, inputs, 2, 0, NULL, 0);
    return node == NULL ? NULL : tap_node_run(node);
}
