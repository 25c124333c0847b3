/* op_batch_norm.c: tap_batch_norm, normalisation of every feature over the rows of a batch.
 *
 * Threads share out features, FEATURE_BLOCK at a time, and each walks all rows: sums run in double in order of rows, so
 * nothing needs to be put together afterwards and any number of threads gives the same bits. */
#include "ops.h"

#include <math.h>

#include "parallel.h"

/* Features handled together: a cache line of floats. */
#define FEATURE_BLOCK 16

struct batch_norm_attributes {
    struct tap_tensor *gain;  /* NULL: 1 */
    struct tap_tensor *shift; /* NULL: 0 */
    tap_real *running_mean;   /* NULL: not kept */
    tap_real *running_var;
    double momentum;
    double eps;
    bool training;
    double *moments; /* D means, then D times 1 / sqrt(variance + eps); NULL when no gradient is wanted */
};

/* Mean and variance of up to FEATURE_BLOCK features. */
struct moments {
    double mean[FEATURE_BLOCK];
    double variance[FEATURE_BLOCK];
};

static double batch_norm_flops(const struct tap_node *node)
{
    return 8 * (double)node->output->size;
}

/* Two passes: means, then squared deviations from them. x points at the first row's first feature; rows are `step`
 * apart. */
static void batch_moments(size_t n_rows, size_t step, size_t width, const tap_real *restrict x, struct moments *out)
{
    double sums[FEATURE_BLOCK] = {0};
    double rests[FEATURE_BLOCK] = {0};
    double squares[FEATURE_BLOCK] = {0};
    double divisor = n_rows == 0 ? 1 : (double)n_rows;
    for (size_t row = 0; row < n_rows; row++)
        for (size_t j = 0; j < width; j++)
            sums[j] += (double)x[row * step + j];
    for (size_t j = 0; j < width; j++)
        sums[j] /= divisor;
    for (size_t row = 0; row < n_rows; row++)
        for (size_t j = 0; j < width; j++) {
            double deviation = (double)x[row * step + j] - sums[j];
            rests[j] += deviation;
            squares[j] += deviation * deviation;
        }
    for (size_t j = 0; j < width; j++) {
        double rest = rests[j] / divisor; /* what rounding left in the mean */
        out->mean[j] = sums[j] + rest;
        out->variance[j] = fmax(0, squares[j] / divisor - rest * rest);
    }
}

/* running = (1 - momentum) * running + momentum * new. One row says nothing of a variance: running_var stays. */
static void update_running(const struct batch_norm_attributes *attributes, size_t n_rows, size_t start, size_t width,
                           const struct moments *moments)
{
    double momentum = attributes->momentum;
    for (size_t j = 0; j < width && n_rows > 0 && attributes->running_mean != NULL; j++) {
        tap_real *mean = &attributes->running_mean[start + j];
        *mean = (tap_real)((1 - momentum) * (double)*mean + momentum * moments->mean[j]);
    }
    for (size_t j = 0; j < width && n_rows > 1 && attributes->running_var != NULL; j++) {
        tap_real *variance = &attributes->running_var[start + j];
        double unbiased = moments->variance[j] * ((double)n_rows / (double)(n_rows - 1));
        *variance = (tap_real)((1 - momentum) * (double)*variance + momentum * unbiased);
    }
}

static void forward_block(const struct tap_node *node, size_t start)
{
    const struct batch_norm_attributes *attributes = node->attributes;
    const tap_real *x = node->inputs[0]->data;
    tap_real *y = node->output->data;
    size_t n_rows = node->output->shape[0];
    size_t n = node->output->shape[1];
    size_t width = tap_min_size(FEATURE_BLOCK, n - start);
    struct moments moments;
    double reciprocals[FEATURE_BLOCK];
    tap_real gains[FEATURE_BLOCK];
    tap_real shifts[FEATURE_BLOCK];
    if (attributes->training) {
        batch_moments(n_rows, n, width, x + start, &moments);
        update_running(attributes, n_rows, start, width, &moments);
    }
    for (size_t j = 0; j < width; j++) {
        if (!attributes->training) {
            moments.mean[j] = (double)attributes->running_mean[start + j];
            moments.variance[j] = (double)attributes->running_var[start + j];
        }
        reciprocals[j] = 1 / sqrt(moments.variance[j] + attributes->eps);
        gains[j] = attributes->gain == NULL ? 1 : attributes->gain->data[start + j];
        shifts[j] = attributes->shift == NULL ? 0 : attributes->shift->data[start + j];
        if (attributes->moments != NULL) {
            attributes->moments[start + j] = moments.mean[j];
            attributes->moments[n + start + j] = reciprocals[j];
        }
    }
    for (size_t row = 0; row < n_rows; row++)
        for (size_t j = 0; j < width; j++) {
            double deviation = (double)x[row * n + start + j] - moments.mean[j];
            y[row * n + start + j] = TAP_FMA((tap_real)(deviation * reciprocals[j]), gains[j], shifts[j]);
        }
}

static void batch_norm_forward(struct tap_node *node)
{
#pragma omp parallel for num_threads(tap_threads_for(batch_norm_flops(node)))
    for (size_t start = 0; start < node->output->shape[1]; start += FEATURE_BLOCK)
        forward_block(node, start);
}

/* Sums over the rows that every gradient needs. */
struct gradient_sums {
    double dy[FEATURE_BLOCK];
    double dy_normalised[FEATURE_BLOCK];
};

static void sum_gradients(const struct tap_node *node, size_t start, size_t width, struct gradient_sums *out)
{
    const struct batch_norm_attributes *attributes = node->attributes;
    size_t n = node->output->shape[1];
    const tap_real *restrict x = node->inputs[0]->data + start;
    const tap_real *restrict dy = node->output->grad + start;
    const double *mean = attributes->moments + start;
    const double *reciprocal = attributes->moments + n + start;
    *out = (struct gradient_sums){{0}, {0}};
    for (size_t row = 0; row < node->output->shape[0]; row++)
        for (size_t j = 0; j < width; j++) {
            double g = (double)dy[row * n + j];
            out->dy[j] += g;
            out->dy_normalised[j] += g * (((double)x[row * n + j] - mean[j]) * reciprocal[j]);
        }
}

/* In evaluation mean and variance are constants, so the two sums do not reach x. */
static void add_dx(const struct tap_node *node, size_t start, size_t width, const struct gradient_sums *sums,
                   tap_real *restrict dx)
{
    const struct batch_norm_attributes *attributes = node->attributes;
    size_t n_rows = node->output->shape[0];
    size_t n = node->output->shape[1];
    const tap_real *restrict x = node->inputs[0]->data + start;
    const tap_real *restrict dy = node->output->grad + start;
    double mean[FEATURE_BLOCK], reciprocal[FEATURE_BLOCK], scale[FEATURE_BLOCK];
    double mean_dy[FEATURE_BLOCK], mean_product[FEATURE_BLOCK];
    double part = attributes->training ? 1 / (double)n_rows : 0;
    for (size_t j = 0; j < width; j++) {
        mean[j] = attributes->moments[start + j];
        reciprocal[j] = attributes->moments[n + start + j];
        scale[j] = reciprocal[j] * (attributes->gain == NULL ? 1 : (double)attributes->gain->data[start + j]);
        mean_dy[j] = sums->dy[j] * part;
        mean_product[j] = sums->dy_normalised[j] * part;
    }
    for (size_t row = 0; row < n_rows; row++)
        for (size_t j = 0; j < width; j++) {
            double normalised = ((double)x[row * n + j] - mean[j]) * reciprocal[j];
            double g = (double)dy[row * n + j] - mean_dy[j] - normalised * mean_product[j];
            dx[row * n + start + j] += (tap_real)(scale[j] * g);
        }
}

static void batch_norm_backward(struct tap_node *node)
{
    const struct batch_norm_attributes *attributes = node->attributes;
    struct tap_tensor *x = node->inputs[0];
    tap_real *dx = tap_wants_grad(x) ? tap_grad_add(x) : NULL;
    bool gain_wanted = attributes->gain != NULL && tap_wants_grad(attributes->gain);
    bool shift_wanted = attributes->shift != NULL && tap_wants_grad(attributes->shift);
    tap_real *dgain = gain_wanted ? tap_grad_add(attributes->gain) : NULL;
    tap_real *dshift = shift_wanted ? tap_grad_add(attributes->shift) : NULL;
    size_t n = node->output->shape[1];
#pragma omp parallel for num_threads(tap_threads_for(2 * batch_norm_flops(node)))
    for (size_t start = 0; start < n; start += FEATURE_BLOCK) {
        size_t width = tap_min_size(FEATURE_BLOCK, n - start);
        struct gradient_sums sums;
        sum_gradients(node, start, width, &sums);
        for (size_t j = 0; j < width && dgain != NULL; j++)
            dgain[start + j] += (tap_real)sums.dy_normalised[j];
        for (size_t j = 0; j < width && dshift != NULL; j++)
            dshift[start + j] += (tap_real)sums.dy[j];
        if (dx != NULL)
            add_dx(node, start, width, &sums, dx);
    }
}

const struct tap_op tap_batch_norm_op = {.name = "tap_batch_norm",
                                         .forward = batch_norm_forward,
                                         .backward = batch_norm_backward,
                                         .flops = batch_norm_flops};

/* Marks the tape when an argument is not acceptable. */
static bool arguments_fit(struct tap_tape *tape, const struct tap_tensor *x,
                          const struct batch_norm_attributes *arguments)
{
    const struct tap_op *op = &tap_batch_norm_op;
    const struct tap_tensor *vectors[] = {arguments->gain, arguments->shift};
    char text[TAP_SHAPE_TEXT_BYTES], text_x[TAP_SHAPE_TEXT_BYTES];
    tap_shape_text(x->n_dims, x->shape, text_x);
    if (x->n_dims != 2)
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "x has shape %s; two dimensions are needed", text_x) != NULL;
    for (int i = 0; i < 2; i++)
        if (vectors[i] != NULL && (vectors[i]->n_dims != 1 || vectors[i]->shape[0] != x->shape[1]))
            return tap_op_fail(tape, op, TAP_ERR_SHAPE, "%s has shape %s; x has %s", i == 0 ? "gain" : "shift",
                               tap_shape_text(vectors[i]->n_dims, vectors[i]->shape, text), text_x) != NULL;
    if (!(arguments->eps > 0) || !isfinite(arguments->eps))
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "eps is %g; a number above 0 is needed", arguments->eps) != NULL;
    if (!(arguments->momentum >= 0 && arguments->momentum <= 1))
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "momentum is %g; 0 to 1 is accepted", arguments->momentum) != NULL;
    if (!arguments->training && (arguments->running_mean == NULL || arguments->running_var == NULL))
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "evaluation needs running_mean and running_var") != NULL;
    return true;
}

/* tap_batch_norm: normalise every feature over the rows, then scale and shift.
 *
 * Formula    training: mu, v = mean and biased variance of column j; evaluation: running_mean[j], running_var[j]; r =
 *            1/sqrt(v+eps); y = (x-mu)*r*gain + shift. Training also sets running_mean = (1-momentum)*running_mean +
 *            momentum*mu and running_var likewise with the unbiased variance v*N/(N-1). With one row y is shift, and
 *            running_var stays as it is, for a single row has no unbiased variance; with none both stay
 * Backward   training: dx += gain*r*(dy - mean_n dy - xhat*mean_n(dy*xhat)); evaluation: dx += gain*r*dy; dgain +=
 *            sum_n dy*xhat; dshift += sum_n dy
 * Source     Ioffe, Szegedy 2015, arXiv:1502.03167, algorithm 1; running statistics as PyTorch's BatchNorm1d
 * Shapes     x (N,D), gain (D) or NULL for 1, shift (D) or NULL for 0, running_mean and running_var D numbers -> y
 *            (N,D)
 * Units      eps in squared units of x; momentum is the weight of the new value
 * Ownership  running_mean and running_var are the caller's; written in training, once, unless the tape plans; in
 *            training either may be NULL. y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when x is no matrix or D differs; TAP_ERR_VALUE unless eps > 0, momentum in [0, 1] and, in
 *            evaluation, both running arrays are there; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    parallel over blocks of features; every result has the same bits for any thread count
 * Cost       8*N*D flops; the statistics in double
 */
struct tap_tensor *tap_batch_norm(struct tap_tape *tape, struct tap_tensor *x, struct tap_tensor *gain,
                                  struct tap_tensor *shift, tap_real *running_mean, tap_real *running_var,
                                  double momentum, double eps, bool training)
{
    const struct tap_op *op = &tap_batch_norm_op;
    struct batch_norm_attributes arguments = {gain, shift, running_mean, running_var, momentum, eps, training, NULL};
    struct tap_tensor *inputs[3] = {x};
    int n_inputs = 1;
    if (gain != NULL)
        inputs[n_inputs++] = gain;
    if (shift != NULL)
        inputs[n_inputs++] = shift;
    if (!tap_op_ready(tape, op, inputs, n_inputs) || !arguments_fit(tape, x, &arguments))
        return NULL;
    struct tap_node *node = tap_node_new(tape, op, inputs, n_inputs, 2, x->shape, sizeof arguments);
    void *moments;
    if (node == NULL || !tap_node_save_bytes(node, 2 * x->shape[1] * sizeof(double), &moments))
        return NULL;
    arguments.moments = moments;
    *(struct batch_norm_attributes *)node->attributes = arguments;
    return tap_node_run(node);
}
