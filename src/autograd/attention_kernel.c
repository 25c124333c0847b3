/* attention_kernel.c: attention of one head over one sequence. Queries are taken in blocks, so that the scores take
 * memory linear in T; backward makes the weights of a block again from the scores' largest value and sum.
 *
 * In here T is the sequence's length, K the head's width, B the rows of a block; Tp and Kp are padded to whole vectors.
 * All small matrices have padded rows, as tap_small_product wants them. */
#include "attention_kernel.h"

#include <math.h>
#include <string.h>

#include "parallel.h"
#include "small_product.h"
#include "vector_math.h"
#include "vector_sum.h"

#define BLOCK_ROWS 30 /* B: a multiple of the product's tile of 6 rows */

/* One head of one sequence: its place in the views, and its part of the scratch. */
struct head {
    const struct tap_attention_job *job;
    size_t segment, number; /* of the sequence and of the head */
    size_t start, length;   /* of the sequence: first token, T */
    size_t column;          /* first of the head's columns */
    size_t padded_length;   /* Tp */
    size_t padded_width;    /* Kp */
    tap_real *keys;         /* (K,Tp): K transposed; backward: (T,Kp) */
    tap_real *values;       /* (T,Kp); backward: (K,Tp), V transposed */
    tap_real *weights;      /* (B,Tp): scores, then P */
    tap_real *gradients;    /* (B,Tp): dP, then dS */
    tap_real *rows;         /* (B,Kp): a block of Y or dQ, or Q */
    tap_real *upstream;     /* (B,Kp): a block of dY */
    tap_real *keys_grad;    /* (T,Kp): dK */
    tap_real *values_grad;  /* (T,Kp): dV */
    tap_real *keys_transposed; /* (K,Tp) */
    uint32_t *random;       /* (Tp) */
};

/* The pieces of one thread's scratch, in order. */
static size_t lay_out(struct head *head, size_t length, size_t width, tap_real *scratch)
{
    size_t tp = tap_padded(length);
    size_t kp = tap_padded(width);
    size_t across = length * kp > width * tp ? length * kp : width * tp;
    tap_real **pieces[] = {&head->keys,      &head->values,    &head->weights,     &head->gradients,       &head->rows,
                           &head->upstream,  &head->keys_grad, &head->values_grad, &head->keys_transposed, NULL};
    const size_t sizes[] = {across,          across,           BLOCK_ROWS * tp,    BLOCK_ROWS * tp,        BLOCK_ROWS * kp,
                            BLOCK_ROWS * kp, across,           across,             across};
    size_t used = 0;
    for (size_t i = 0; pieces[i] != NULL; i++) {
        *pieces[i] = scratch == NULL ? NULL : scratch + used;
        used += (sizes[i] + TAP_LANES - 1) / TAP_LANES * TAP_LANES;
    }
    head->random = scratch == NULL ? NULL : (uint32_t *)(void *)(scratch + used);
    return used + tp;
}

size_t tap_attention_scratch(size_t longest, size_t width)
{
    struct head unused;
    return lay_out(&unused, longest, width, NULL);
}

static struct head head_of(const struct tap_attention_job *job, size_t segment, size_t number, tap_real *scratch)
{
    struct head head = {.job = job, .segment = segment, .number = number};
    head.start = job->segments.offsets[segment];
    head.length = job->segments.offsets[segment + 1] - head.start;
    head.column = number * job->width;
    head.padded_length = tap_padded(head.length);
    head.padded_width = tap_padded(job->width);
    lay_out(&head, head.length, job->width, scratch);
    return head;
}

/* The head's first number of row `token` (of the sequence) in a view. */
static tap_real *at(const struct head *head, const struct tap_attention_view *view, tap_real *numbers, size_t token)
{
    return numbers + (head->start + token) * view->stride + head->column;
}

/* How many keys query `token` sees. */
static size_t n_visible(const struct head *head, size_t token)
{
    return head->job->options.causal ? token + 1 : head->length;
}

/* The first number of a query's row in the bias, or in its gradient. */
static tap_real *bias_row(const struct head *head, tap_real *numbers, size_t token)
{
    const struct tap_tensor *bias = head->job->bias;
    size_t number = bias->shape[0] == 1 ? 0 : head->number;
    return numbers + (number * bias->shape[1] + token) * bias->shape[2];
}

/* scores = c * Q K^T + bias for the n queries from `first` on; keys is (K,Tp). */
static void block_scores(const struct head *head, const tap_real *keys, size_t first, size_t n)
{
    const struct tap_attention_job *job = head->job;
    tap_small_product(n, head->length, job->width, at(head, &job->q, job->q.data, first), job->q.stride, 1, keys,
                      head->padded_length, head->weights, head->padded_length, false);
    for (size_t i = 0; i < n * head->padded_length; i++)
        head->weights[i] *= job->score_factor;
    for (size_t i = 0; job->bias != NULL && i < n; i++) {
        const tap_real *restrict row = bias_row(head, job->bias->data, first + i);
        tap_real *restrict scores = head->weights + i * head->padded_length;
        for (size_t j = 0; j < head->length; j++)
            scores[j] += row[j];
    }
}

static tap_real largest_of(size_t n, const tap_real *scores)
{
    tap_real largest = scores[0];
#pragma omp simd reduction(max : largest)
    for (size_t j = 0; j < n; j++)
        largest = scores[j] > largest ? scores[j] : largest;
    return largest;
}

/* scores -> exp(score - largest) * factor for the n visible keys, 0 for the others and in the padding. */
static void exponentials(size_t n, size_t padded, tap_real largest, tap_real factor, tap_real *scores)
{
    TAP_VECTOR_LOOP
    for (size_t j = 0; j < n; j++)
        scores[j] = tap_fast_exp(scores[j] - largest) * factor;
    for (size_t j = n; j < padded; j++)
        scores[j] = 0;
}

/* One row of scores becomes one row of weights; `saved` (2) takes what makes them again, or is NULL. Where a bias hides
 * every key, all weights are 0. */
static void softmax_row(size_t n, size_t padded, tap_real *row, tap_real *saved)
{
    tap_real largest = largest_of(n, row);
    bool is_blind = largest == -INFINITY;
    if (is_blind)
        largest = 0;
    exponentials(n, padded, largest, 1, row);
    tap_real inverse = is_blind ? 0 : (tap_real)(1 / tap_vector_sum(padded, row));
    for (size_t j = 0; j < n; j++)
        row[j] *= inverse;
    if (saved != NULL) {
        saved[0] = largest;
        saved[1] = inverse;
    }
}

static tap_real *saved_of(const struct head *head, size_t token)
{
    tap_real *softmax = head->job->softmax;
    return softmax == NULL ? NULL
                           : softmax + 2 * ((head->start + token) * head->job->options.heads + head->number);
}

/* Multiplies a row by keep / (1 - p): which keys are kept is counted by sequence, query, head and key. */
static void drop_row(const struct head *head, size_t token, tap_real *row)
{
    const struct tap_attention_options *options = &head->job->options;
    uint32_t threshold = (uint32_t)(options->dropout * 4294967296.0);
    tap_real scale = (tap_real)(1 / (1 - options->dropout));
    tap_rng_row(options->dropout_key, head->job->segments.first + (uint32_t)head->segment, (uint32_t)token,
                (uint32_t)head->number, (uint32_t)head->length, head->random);
    for (size_t j = 0; j < head->length; j++)
        row[j] *= head->random[j] >= threshold ? scale : 0;
}

/* Keeps the weights of the queries first .. first+n-1 where the caller asked for them. */
static void keep_weights(const struct head *head, size_t first, size_t n)
{
    const struct tap_attention_job *job = head->job;
    if (job->options.out_weights == NULL)
        return;
    size_t offset = 0;
    for (size_t s = 0; s < head->segment; s++) {
        size_t length = job->segments.offsets[s + 1] - job->segments.offsets[s];
        offset += job->options.heads * length * length;
    }
    tap_real *to = job->options.out_weights + offset + (head->number * head->length + first) * head->length;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * head->length, head->weights + i * head->padded_length, head->length * sizeof *to);
}

void tap_attention_head_forward(const struct tap_attention_job *job, size_t segment, size_t number, tap_real *scratch)
{
    struct head head = head_of(job, segment, number, scratch);
    size_t width = job->width;
    if (head.length == 0)
        return;
    tap_copy_transposed(head.length, width, at(&head, &job->k, job->k.data, 0), job->k.stride, head.keys,
                        head.padded_length);
    tap_copy_padded(head.length, width, at(&head, &job->v, job->v.data, 0), job->v.stride, head.values,
                    head.padded_width);
    for (size_t first = 0; first < head.length; first += BLOCK_ROWS) {
        size_t n = tap_min_size(BLOCK_ROWS, head.length - first);
        block_scores(&head, head.keys, first, n);
        for (size_t i = 0; i < n; i++) {
            tap_real *row = head.weights + i * head.padded_length;
            softmax_row(n_visible(&head, first + i), head.padded_length, row, saved_of(&head, first + i));
            if (job->options.dropout > 0)
                drop_row(&head, first + i, row);
        }
        keep_weights(&head, first, n);
        tap_small_product(n, width, head.length, head.weights, head.padded_length, 1, head.values, head.padded_width,
                          head.rows, head.padded_width, false);
        for (size_t i = 0; i < n; i++)
            memcpy(at(&head, &job->y, job->y.data, first + i), head.rows + i * head.padded_width,
                   width * sizeof *head.rows);
    }
}

/* P of a block from the scores, as forward made it (before dropout). */
static void weights_again(const struct head *head, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const tap_real *saved = saved_of(head, first + i);
        exponentials(n_visible(head, first + i), head->padded_length, saved[0], saved[1],
                     head->weights + i * head->padded_length);
    }
}

/* dS of one row, times the score factor, from P and dP: P * (dP - sum_j dP_j P_j); without that factor it is added to
 * the bias's gradient, where one is wanted. The sum over keys is taken here
 * although it equals dY . Y: with the rounding of this dP it cancels best, and one token alone gets exactly zero. */
static void softmax_backward_row(size_t length, size_t padded, const tap_real *restrict p, tap_real score_factor, tap_real *restrict dp,
                                 tap_real *restrict bias_grad)
{
    tap_real delta = (tap_real)tap_vector_dot(padded, dp, p);
    for (size_t j = 0; bias_grad != NULL && j < length; j++)
        bias_grad[j] += p[j] * (dp[j] - delta);
    for (size_t j = 0; j < length; j++)
        dp[j] = p[j] * (dp[j] - delta) * score_factor;
}

/* From P (weights) and dP (gradients, before dropout's own factor): weights become dropout(P), gradients become dS. */
static void block_softmax_backward(const struct head *head, size_t first, size_t n)
{
    const struct tap_attention_job *job = head->job;
    for (size_t i = 0; i < n; i++) {
        tap_real *p = head->weights + i * head->padded_length;
        tap_real *dp = head->gradients + i * head->padded_length;
        if (job->options.dropout > 0)
            drop_row(head, first + i, dp);
        tap_real *bias_grad = job->bias != NULL && tap_wants_grad(job->bias)
                                  ? bias_row(head, tap_grad_add(job->bias), first + i)
                                  : NULL;
        softmax_backward_row(head->length, head->padded_length, p, job->score_factor, dp, bias_grad);
        if (job->options.dropout > 0)
            drop_row(head, first + i, p);
    }
}

/* grad += rows (n, K), for the tokens from `first` on. */
static void add_rows(const struct head *head, const struct tap_attention_view *view, size_t first, size_t n,
                     const tap_real *rows)
{
    for (size_t i = 0; i < n; i++) {
        tap_real *restrict to = at(head, view, view->grad, first + i);
        const tap_real *restrict from = rows + i * head->padded_width;
        for (size_t c = 0; c < head->job->width; c++)
            to[c] += from[c];
    }
}

/* One block of queries: its dQ is added to the gradient, its parts of dK and dV to keys_grad and values_grad. */
static void block_backward(const struct head *head, size_t first, size_t n)
{
    const struct tap_attention_job *job = head->job;
    size_t tp = head->padded_length;
    size_t kp = head->padded_width;
    block_scores(head, head->keys_transposed, first, n);
    weights_again(head, first, n);
    tap_small_product(n, head->length, job->width, at(head, &job->y, job->y.grad, first), job->y.stride, 1,
                      head->values, tp, head->gradients, tp, false);
    block_softmax_backward(head, first, n);
    if (job->v.grad != NULL) {
        tap_copy_padded(n, job->width, at(head, &job->y, job->y.grad, first), job->y.stride, head->upstream, kp);
        tap_small_product(head->length, job->width, n, head->weights, 1, tp, head->upstream, kp, head->values_grad, kp,
                          first > 0);
    }
    if (job->k.grad != NULL) {
        tap_copy_padded(n, job->width, at(head, &job->q, job->q.data, first), job->q.stride, head->rows, kp);
        tap_small_product(head->length, job->width, n, head->gradients, 1, tp, head->rows, kp, head->keys_grad, kp,
                          first > 0);
    }
    if (job->q.grad != NULL) {
        tap_small_product(n, job->width, head->length, head->gradients, tp, 1, head->keys, kp, head->rows, kp, false);
        add_rows(head, &job->q, first, n, head->rows);
    }
}

void tap_attention_head_backward(const struct tap_attention_job *job, size_t segment, size_t number, tap_real *scratch)
{
    struct head head = head_of(job, segment, number, scratch);
    if (head.length == 0)
        return;
    tap_real *k = at(&head, &job->k, job->k.data, 0);
    tap_copy_transposed(head.length, job->width, k, job->k.stride, head.keys_transposed, head.padded_length);
    tap_copy_padded(head.length, job->width, k, job->k.stride, head.keys, head.padded_width);
    tap_copy_transposed(head.length, job->width, at(&head, &job->v, job->v.data, 0), job->v.stride, head.values,
                        head.padded_length);
    for (size_t first = 0; first < head.length; first += BLOCK_ROWS)
        block_backward(&head, first, tap_min_size(BLOCK_ROWS, head.length - first));
    if (job->k.grad != NULL)
        add_rows(&head, &job->k, 0, head.length, head.keys_grad);
    if (job->v.grad != NULL)
        add_rows(&head, &job->v, 0, head.length, head.values_grad);
}
