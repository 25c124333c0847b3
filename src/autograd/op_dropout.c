/* op_dropout.c: tap_dropout. Whether an element is kept is a counted random number of its sequence, token and feature,
 * so it depends neither on threads nor on how the batch was cut. */
#include "ops.h"

#include <math.h>
#include <omp.h>

#include "parallel.h"
#include "segment_rows.h"

struct dropout_attributes {
    struct tap_rng_key key;
    struct tap_segments segments; /* for forward alone; offsets NULL: all rows are one sequence */
    uint32_t threshold;           /* kept when the random word is not below it */
    tap_real scale;               /* 1 / (1 - probability) */
    unsigned char *mask;          /* 1: kept; NULL when no gradient is wanted */
};

static size_t n_rows_of(const struct tap_tensor *x)
{
    return x->n_dims == 0 ? 1 : x->shape[0];
}

static size_t row_length(const struct tap_tensor *x)
{
    size_t n_rows = n_rows_of(x);
    return n_rows == 0 ? 0 : x->size / n_rows;
}

/* About what a random word costs, in scalar operations. */
static double dropout_flops(const struct tap_node *node)
{
    return 12 * (double)node->output->size;
}

/* A row of random words for each thread. */
static size_t dropout_scratch(const struct tap_node *node)
{
    return (size_t)tap_get_threads() * row_length(node->output);
}

static void drop_row(size_t n, const uint32_t *restrict words, const struct dropout_attributes *attributes,
                     const tap_real *restrict x, tap_real *restrict y, unsigned char *restrict mask)
{
    uint32_t threshold = attributes->threshold;
    tap_real scale = attributes->scale;
    for (size_t j = 0; j < n; j++)
        y[j] = words[j] >= threshold ? x[j] * scale : 0;
    if (mask != NULL)
        for (size_t j = 0; j < n; j++)
            mask[j] = words[j] >= threshold;
}

/* Rows start .. end-1, which may lie in several sequences. */
static void drop_rows(const struct tap_node *node, size_t start, size_t end, uint32_t *words)
{
    const struct dropout_attributes *attributes = node->attributes;
    const struct tap_segments *segments = &attributes->segments;
    size_t n = row_length(node->output);
    uint32_t sequence = segments->offsets == NULL ? 0 : tap_segment_of(segments, start);
    for (size_t row = start; row < end; row++) {
        size_t token = row;
        if (segments->offsets != NULL) {
            while (row >= segments->offsets[sequence + 1])
                sequence++;
            token = row - segments->offsets[sequence];
        }
        tap_rng_row(attributes->key, segments->first + sequence, (uint32_t)token, 0, (uint32_t)n, words);
        drop_row(n, words, attributes, node->inputs[0]->data + row * n, node->output->data + row * n,
                 attributes->mask == NULL ? NULL : attributes->mask + row * n);
    }
}

static void dropout_forward(struct tap_node *node)
{
    size_t n = row_length(node->output);
    size_t n_rows = n == 0 ? 0 : n_rows_of(node->output);
    size_t n_blocks = tap_ceil_div(n_rows, TAP_ROW_BLOCK);
    uint32_t *words = (uint32_t *)(void *)tap_scratch(node);
#pragma omp parallel for num_threads(tap_threads_for(dropout_flops(node)))
    for (size_t block = 0; block < n_blocks; block++)
        drop_rows(node, block * TAP_ROW_BLOCK, tap_min_size(n_rows, (block + 1) * TAP_ROW_BLOCK),
                  words + (size_t)omp_get_thread_num() * n);
}

static void dropout_backward(struct tap_node *node)
{
    const struct dropout_attributes *attributes = node->attributes;
    const unsigned char *mask = attributes->mask;
    const tap_real *dy = node->output->grad;
    tap_real scale = attributes->scale;
    tap_real *dx = tap_grad_add(node->inputs[0]);
    size_t n = node->output->size;
#pragma omp parallel for simd num_threads(tap_threads_for(2 * (double)n))
    for (size_t i = 0; i < n; i++)
        dx[i] += mask[i] != 0 ? dy[i] * scale : 0;
}

const struct tap_op tap_dropout_op = {.name = "tap_dropout",
                                      .forward = dropout_forward,
                                      .backward = dropout_backward,
                                      .flops = dropout_flops,
                                      .scratch = dropout_scratch};

/* tap_dropout: sets elements to zero at random and scales the others, so that the mean stays.
 *
 * Formula    y = x * keep / (1-p); keep = 1 when a uniform 32-bit word is at least p * 2^32. The word of feature f of
 *            token t (place in its sequence) of sequence s is word f of tap_rng_row(key, segments->first + s, t, 0,
 *            ..); segments NULL: s = 0, t = the row's number. p = 0 returns x itself
 * Backward   dx += dy * keep / (1-p)
 * Source     Srivastava et al. 2014, JMLR 15, pages 1929-1958, scaled in training ("inverted"); see rng.h
 * Shapes     x (N,F..) -> y the same; N the number of tokens of `segments`; below 2^32 rows of below 2^31 numbers
 * Ownership  segments are borrowed for the call; y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_VALUE unless probability is in [0, 1), or for broken segments; TAP_ERR_SHAPE when segments cover
 *            another number of rows, or for too many rows or features; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    parallel over blocks of rows; the same bits for any thread count and however a batch is cut into
 *            micro-batches that number their sequences on (segments->first)
 * Cost       12 operations a number; 1 byte saved for each
 */
struct tap_tensor *tap_dropout(struct tap_tape *tape, struct tap_tensor *x, double probability, struct tap_rng_key key,
                               const struct tap_segments *segments)
{
    const struct tap_op *op = &tap_dropout_op;
    if (!tap_op_ready(tape, op, &x, 1))
        return NULL;
    if (!(probability >= 0 && probability < 1))
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "probability is %g; at least 0 and below 1 is accepted",
                           probability);
    if (segments != NULL && !tap_op_segments_fit(tape, op, segments, n_rows_of(x)))
        return NULL;
    if (probability == 0)
        return x;
    if (n_rows_of(x) > UINT32_MAX || row_length(x) > INT32_MAX) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "shape %s; at most 2^32-1 rows of 2^31-1 numbers are possible",
                           tap_shape_text(x->n_dims, x->shape, text));
    }
    struct tap_node *node = tap_node_new(tape, op, &x, 1, x->n_dims, x->shape, sizeof(struct dropout_attributes));
    void *mask;
    if (node == NULL || !tap_node_save_bytes(node, x->size, &mask))
        return NULL;
    struct dropout_attributes *attributes = node->attributes;
    attributes->key = key;
    if (segments != NULL)
        attributes->segments = *segments;
    attributes->threshold = (uint32_t)fmin(rint(probability * 0x1p32), UINT32_MAX);
    attributes->scale = (tap_real)(1 / (1 - probability));
    attributes->mask = mask;
    return tap_node_run(node);
}
