/* op_layer_norm.c: tap_layer_norm, normalisation of every row by its own mean and variance.
 *
 * Statistics are formed in double, in two passes: a mean of 1e4 with a spread of 1 leaves a float three digits of the
 * deviation, and the mean of the squares minus the squared mean none. The second pass also sums the deviations, whose
 * mean is what rounding left in the first pass's mean: a row of equal numbers deviates by exactly 0. */
#include "ops.h"

#include <math.h>
#include <string.h>

#include "parallel.h"

/* Columns whose partial sums one thread adds up together. */
#define COLUMN_BLOCK 64

struct row_moments {
    double mean;
    double reciprocal; /* 1 / sqrt(variance + eps) */
};

struct layer_norm_attributes {
    struct tap_tensor *gain;  /* NULL: 1 */
    struct tap_tensor *shift; /* NULL: 0 */
    double eps;
    struct row_moments *moments; /* N of them; NULL when no gradient is wanted */
};

static size_t row_length(const struct tap_node *node)
{
    return node->output->shape[node->output->n_dims - 1];
}

static size_t n_row_blocks(const struct tap_node *node)
{
    return tap_ceil_div(node->output->size / row_length(node), TAP_ROW_BLOCK);
}

static double layer_norm_flops(const struct tap_node *node)
{
    return 8 * (double)node->output->size;
}

/* For each block of rows its part of dgain (D numbers), then of dshift. */
static size_t layer_norm_scratch(const struct tap_node *node)
{
    const struct layer_norm_attributes *attributes = node->attributes;
    bool wanted = (attributes->gain != NULL && tap_wants_grad(attributes->gain)) ||
                  (attributes->shift != NULL && tap_wants_grad(attributes->shift));
    return wanted ? n_row_blocks(node) * 2 * row_length(node) : 0;
}

static struct row_moments moments_of(size_t n, const tap_real *x, double eps)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < n; j++)
        sum += (double)x[j];
    double mean = sum / (double)n;
    double rest = 0;
    double squares = 0;
#pragma omp simd reduction(+ : rest, squares)
    for (size_t j = 0; j < n; j++) {
        double deviation = (double)x[j] - mean;
        rest += deviation;
        squares += deviation * deviation;
    }
    rest /= (double)n;
    double variance = fmax(0, squares / (double)n - rest * rest);
    return (struct row_moments){mean + rest, 1 / sqrt(variance + eps)};
}

static void forward_row(size_t n, const tap_real *restrict x, struct row_moments moments, const tap_real *restrict gain,
                        const tap_real *restrict shift, tap_real *restrict y)
{
    for (size_t j = 0; j < n; j++)
        y[j] = (tap_real)(((double)x[j] - moments.mean) * moments.reciprocal);
    if (gain != NULL && shift != NULL)
        for (size_t j = 0; j < n; j++)
            y[j] = TAP_FMA(y[j], gain[j], shift[j]);
    else if (gain != NULL)
        for (size_t j = 0; j < n; j++)
            y[j] *= gain[j];
    else if (shift != NULL)
        for (size_t j = 0; j < n; j++)
            y[j] += shift[j];
}

static void layer_norm_forward(struct tap_node *node)
{
    const struct layer_norm_attributes *attributes = node->attributes;
    const tap_real *x = node->inputs[0]->data;
    const tap_real *gain = attributes->gain == NULL ? NULL : attributes->gain->data;
    const tap_real *shift = attributes->shift == NULL ? NULL : attributes->shift->data;
    size_t n = row_length(node);
    size_t n_rows = node->output->size / n;
#pragma omp parallel for num_threads(tap_threads_for(layer_norm_flops(node)))
    for (size_t block = 0; block < n_row_blocks(node); block++)
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(n_rows, (block + 1) * TAP_ROW_BLOCK); row++) {
            struct row_moments moments = moments_of(n, x + row * n, attributes->eps);
            forward_row(n, x + row * n, moments, gain, shift, node->output->data + row * n);
            if (attributes->moments != NULL)
                attributes->moments[row] = moments;
        }
}

/* dx += r * (g - mean g - xhat * mean(g * xhat)) with g = dy * gain. */
static void backward_row(size_t n, const tap_real *restrict x, struct row_moments moments,
                         const tap_real *restrict gain, const tap_real *restrict dy, tap_real *restrict dx)
{
    double mean = moments.mean;
    double reciprocal = moments.reciprocal;
    double sum = 0;
    double product = 0;
#pragma omp simd reduction(+ : sum, product)
    for (size_t j = 0; j < n; j++) {
        double g = gain == NULL ? (double)dy[j] : (double)dy[j] * (double)gain[j];
        sum += g;
        product += g * (((double)x[j] - mean) * reciprocal);
    }
    sum /= (double)n;
    product /= (double)n;
    for (size_t j = 0; j < n; j++) {
        double g = gain == NULL ? (double)dy[j] : (double)dy[j] * (double)gain[j];
        double normalised = ((double)x[j] - mean) * reciprocal;
        dx[j] += (tap_real)(reciprocal * (g - sum - normalised * product));
    }
}

/* dgain += dy * xhat, dshift += dy, for one row. */
static void add_row_parts(size_t n, const tap_real *restrict x, struct row_moments moments, const tap_real *restrict dy,
                          tap_real *restrict dgain, tap_real *restrict dshift)
{
    for (size_t j = 0; j < n; j++) {
        tap_real normalised = (tap_real)(((double)x[j] - moments.mean) * moments.reciprocal);
        dgain[j] += dy[j] * normalised;
        dshift[j] += dy[j];
    }
}

/* gradient[j] += the sum of the blocks' parts, in order of blocks. A block's numbers for it begin `first` (0 or n) into
 * its 2 n. */
static void add_parts(size_t n, size_t n_blocks, const tap_real *parts, size_t first, tap_real *gradient)
{
#pragma omp parallel for num_threads(tap_threads_for((double)n *(double)n_blocks))
    for (size_t start = 0; start < n; start += COLUMN_BLOCK) {
        size_t width = tap_min_size(COLUMN_BLOCK, n - start);
        double sums[COLUMN_BLOCK] = {0};
        for (size_t block = 0; block < n_blocks; block++)
            for (size_t j = 0; j < width; j++)
                sums[j] += (double)parts[block * 2 * n + first + start + j];
        for (size_t j = 0; j < width; j++)
            gradient[start + j] += (tap_real)sums[j];
    }
}

/* What one block of rows adds: to dx (NULL: not wanted) in place, to gain and shift (parts NULL: neither wanted). */
static void backward_block(const struct tap_node *node, size_t block, tap_real *dx, tap_real *parts)
{
    const struct layer_norm_attributes *attributes = node->attributes;
    const tap_real *x = node->inputs[0]->data;
    const tap_real *gain = attributes->gain == NULL ? NULL : attributes->gain->data;
    const tap_real *dy = node->output->grad;
    size_t n = row_length(node);
    size_t end = tap_min_size(node->output->size / n, (block + 1) * TAP_ROW_BLOCK);
    if (parts != NULL)
        memset(parts, 0, 2 * n * sizeof *parts);
    for (size_t row = block * TAP_ROW_BLOCK; row < end; row++) {
        struct row_moments moments = attributes->moments[row];
        if (parts != NULL)
            add_row_parts(n, x + row * n, moments, dy + row * n, parts, parts + n);
        if (dx != NULL)
            backward_row(n, x + row * n, moments, gain, dy + row * n, dx + row * n);
    }
}

static void layer_norm_backward(struct tap_node *node)
{
    const struct layer_norm_attributes *attributes = node->attributes;
    size_t n = row_length(node);
    size_t n_blocks = n_row_blocks(node);
    tap_real *dx = tap_wants_grad(node->inputs[0]) ? tap_grad_add(node->inputs[0]) : NULL;
    tap_real *parts = layer_norm_scratch(node) > 0 ? tap_scratch(node) : NULL;
#pragma omp parallel for num_threads(tap_threads_for(2 * layer_norm_flops(node)))
    for (size_t block = 0; block < n_blocks; block++)
        backward_block(node, block, dx, parts == NULL ? NULL : parts + block * 2 * n);
    if (attributes->gain != NULL && tap_wants_grad(attributes->gain))
        add_parts(n, n_blocks, parts, 0, tap_grad_add(attributes->gain));
    if (attributes->shift != NULL && tap_wants_grad(attributes->shift))
        add_parts(n, n_blocks, parts, n, tap_grad_add(attributes->shift));
}

const struct tap_op tap_layer_norm_op = {.name = "tap_layer_norm",
                                         .forward = layer_norm_forward,
                                         .backward = layer_norm_backward,
                                         .flops = layer_norm_flops,
                                         .scratch = layer_norm_scratch};

/* Marks the tape when `vector` (NULL: none) does not hold one number for each place of x's last axis. */
static bool vector_fits(struct tap_tape *tape, const char *name, const struct tap_tensor *vector,
                        const struct tap_tensor *x)
{
    if (vector == NULL || (vector->n_dims == 1 && vector->shape[0] == x->shape[x->n_dims - 1]))
        return true;
    char text[TAP_SHAPE_TEXT_BYTES], text_x[TAP_SHAPE_TEXT_BYTES];
    tap_op_fail(tape, &tap_layer_norm_op, TAP_ERR_SHAPE, "%s has shape %s; x has %s", name,
                tap_shape_text(vector->n_dims, vector->shape, text), tap_shape_text(x->n_dims, x->shape, text_x));
    return false;
}

/* tap_layer_norm: normalise the last axis, then scale and shift.
 *
 * Formula    mu = mean_j x[n,j]; v = mean_j (x[n,j]-mu)^2; r = 1/sqrt(v+eps); y = (x-mu)*r*gain + shift
 * Backward   g = dy*gain; dx += r*(g - mean_j g - xhat*mean_j(g*xhat)); dgain += sum_n dy*xhat; dshift += sum_n dy
 * Source     Ba, Kiros, Hinton 2016, arXiv:1607.06450 section 3; biased variance; our eps sits inside the root
 * Shapes     x (..,D), gain (D) or NULL for 1, shift (D) or NULL for 0 -> y as x; D >= 1, any number of rows
 * Units      eps in squared units of x
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when x is a scalar, D is 0 or differs; TAP_ERR_VALUE unless eps > 0; TAP_ERR_MEMORY.
 *            Returns NULL, marks the tape
 * Threads    parallel over blocks of rows; every result has the same bits for any thread count, a row of y for any
 *            other rows
 * Cost       8*N*D flops; the statistics in double
 */
struct tap_tensor *tap_layer_norm(struct tap_tape *tape, struct tap_tensor *x, struct tap_tensor *gain,
                                  struct tap_tensor *shift, double eps)
{
    const struct tap_op *op = &tap_layer_norm_op;
    struct tap_tensor *inputs[3] = {x};
    int n_inputs = 1;
    if (gain != NULL)
        inputs[n_inputs++] = gain;
    if (shift != NULL)
        inputs[n_inputs++] = shift;
    if (!tap_op_ready(tape, op, inputs, n_inputs))
        return NULL;
    if (x->n_dims == 0 || x->shape[x->n_dims - 1] == 0)
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "x needs a last axis of at least one number");
    if (!vector_fits(tape, "gain", gain, x) || !vector_fits(tape, "shift", shift, x))
        return NULL;
    if (!(eps > 0) || !isfinite(eps))
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "eps is %g; a number above 0 is needed", eps);
    struct tap_node *node =
        tap_node_new(tape, op, inputs, n_inputs, x->n_dims, x->shape, sizeof(struct layer_norm_attributes));
    if (node == NULL)
        return NULL;
    struct layer_norm_attributes *attributes = node->attributes;
    void *moments;
    if (!tap_node_save_bytes(node, x->size / x->shape[x->n_dims - 1] * sizeof(struct row_moments), &moments))
        return NULL;
    *attributes = (struct layer_norm_attributes){gain, shift, eps, moments};
    return tap_node_run(node);
}
