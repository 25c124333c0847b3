/* op_attention.c: scaled dot-product attention over packed sequences, with heads: the public functions tap_attention
 * and tap_attention_packed and their shape rules. The arithmetic of one sequence and head is attention_kernel.c's. */
#include "attention_kernel.h"
#include "ops.h"
#include "parallel.h"
#include "segment_rows.h"

#include <math.h>
#include <omp.h>
#include <string.h>

struct attention_attributes {
    struct tap_segments segments;
    struct tap_attention_options options;
    size_t width;        /* K, of one head */
    size_t longest;      /* T of the longest sequence */
    tap_real *softmax;   /* (N,H,2): each row's largest score and 1 / sum of exponentials */
    bool is_packed;      /* one input (N,3HK) instead of three (N,HK); a bias comes after them */
};

/* Number `which` (0 Q, 1 K, 2 V) of the three inputs, as a matrix of rows `stride` apart. */
static struct tap_attention_view view_of(const struct tap_node *node, int which, bool with_grad)
{
    const struct attention_attributes *p = node->attributes;
    struct tap_tensor *x = node->inputs[p->is_packed ? 0 : which];
    size_t columns = p->options.heads * p->width;
    size_t skipped = p->is_packed ? (size_t)which * columns : 0;
    struct tap_attention_view view = {x->data + skipped, NULL, p->is_packed ? 3 * columns : columns};
    if (with_grad && tap_wants_grad(x))
        view.grad = tap_grad_add(x) + skipped;
    return view;
}

static struct tap_attention_job job_of(const struct tap_node *node, bool with_grad)
{
    const struct attention_attributes *p = node->attributes;
    return (struct tap_attention_job){
        .q = view_of(node, 0, with_grad),
        .k = view_of(node, 1, with_grad),
        .v = view_of(node, 2, with_grad),
        .bias = p->options.bias,
        .y = {node->output->data, node->output->grad, p->options.heads * p->width},
        .segments = p->segments,
        .options = p->options,
        .width = p->width,
        .longest = p->longest,
        .score_factor = p->options.scale_scores ? (tap_real)(1 / sqrt((double)p->width)) : 1,
        .softmax = p->softmax,
    };
}

/* Runs the kernel for every sequence and head; each works on numbers of its own, but for the gradient of a bias, which
 * is added up in their order on one thread. */
static void for_each_head(struct tap_node *node, bool backward)
{
    const struct tap_tensor *bias = ((const struct attention_attributes *)node->attributes)->options.bias;
    bool is_shared = backward && bias != NULL && tap_wants_grad(bias);
    struct tap_attention_job job = job_of(node, backward);
    size_t n_items = (size_t)job.segments.n * job.options.heads;
    size_t per_thread = tap_attention_scratch(job.longest, job.width);
    tap_real *scratch = tap_scratch(node);
#pragma omp parallel for schedule(dynamic, 1) num_threads(is_shared ? 1 : tap_threads_for(node->op->flops(node)))
    for (size_t item = 0; item < n_items; item++) {
        tap_real *own = scratch + (size_t)omp_get_thread_num() * per_thread;
        size_t segment = item / job.options.heads;
        size_t head = item % job.options.heads;
        if (backward)
            tap_attention_head_backward(&job, segment, head, own);
        else
            tap_attention_head_forward(&job, segment, head, own);
    }
}

static void attention_forward(struct tap_node *node)
{
    for_each_head(node, false);
}

static void attention_backward(struct tap_node *node)
{
    for_each_head(node, true);
}

static double attention_flops(const struct tap_node *node)
{
    const struct attention_attributes *p = node->attributes;
    double pairs = 0;
    for (uint32_t s = 0; s < p->segments.n; s++) {
        double length = (double)(p->segments.offsets[s + 1] - p->segments.offsets[s]);
        pairs += length * length;
    }
    return pairs * (double)p->options.heads * (4.0 * (double)p->width + 8.0);
}

static size_t attention_scratch(const struct tap_node *node)
{
    const struct attention_attributes *p = node->attributes;
    return (size_t)tap_get_threads() * tap_attention_scratch(p->longest, p->width);
}

const struct tap_op tap_attention_op = {
    .name = "tap_attention",
    .forward = attention_forward,
    .backward = attention_backward,
    .flops = attention_flops,
    .scratch = attention_scratch,
};

const struct tap_op tap_attention_packed_op = {
    .name = "tap_attention_packed",
    .forward = attention_forward,
    .backward = attention_backward,
    .flops = attention_flops,
    .scratch = attention_scratch,
};

static bool bias_fits(struct tap_tape *tape, const struct tap_op *op, const struct tap_attention_options *options,
                      size_t longest)
{
    const struct tap_tensor *bias = options->bias;
    if (bias == NULL)
        return true;
    if (bias->n_dims == 3 && (bias->shape[0] == 1 || bias->shape[0] == options->heads) &&
        bias->shape[1] == bias->shape[2] && bias->shape[1] >= longest)
        return true;
    char text[TAP_SHAPE_TEXT_BYTES];
    tap_op_fail(tape, op, TAP_ERR_SHAPE, "bias %s; (1 or %zu, T, T) with T at least %zu is needed",
                tap_shape_text(bias->n_dims, bias->shape, text), options->heads, longest);
    return false;
}

/* Checks what both functions share, for rows of `columns` = H*K numbers, and records the node. `inputs` has room for the
 * bias. */
static struct tap_tensor *record(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor **inputs,
                                 int n_inputs, size_t columns, const struct tap_segments *segments,
                                 const struct tap_attention_options *options)
{
    size_t rows = inputs[0]->shape[0];
    if (!tap_op_segments_fit(tape, op, segments, rows))
        return NULL;
    if (options->heads < 1 || options->heads > columns || columns % options->heads != 0)
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "%zu heads do not divide %zu columns", options->heads, columns);
    if (!(options->dropout >= 0 && options->dropout < 1))
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "dropout %g is not in [0, 1)", options->dropout);
    size_t longest = tap_longest_segment(segments);
    if (!bias_fits(tape, op, options, longest))
        return NULL;
    bool is_packed = n_inputs == 1;
    if (options->bias != NULL)
        inputs[n_inputs++] = options->bias;
    const size_t shape[] = {rows, columns};
    struct tap_node *node = tap_node_new(tape, op, inputs, n_inputs, 2, shape, sizeof(struct attention_attributes));
    if (node == NULL)
        return NULL;
    struct attention_attributes *p = node->attributes;
    p->segments = *segments;
    p->options = *options;
    p->width = columns / options->heads;
    p->is_packed = is_packed;
    p->longest = longest;
    if (!tap_node_save(node, 2 * rows * options->heads, &p->softmax))
        return NULL;
    return tap_node_run(node);
}

/* tap_attention: scaled dot-product attention of every sequence with itself, in H heads.
 *
 * Formula    S = c Q K^T + bias with c = 1/sqrt(K) or 1; P = softmax(S) over the keys that a token may see; Y = dropout(P) V;
 *            head h works on the columns h*K .. (h+1)*K-1 of Q, K, V and Y
 * Backward   with dP = dY V^T (dropped alike): dS = P * (dP - sum_j dP_j P_j); dQ += c dS K;
 *            dK += c dS^T Q; dV += dropout(P)^T dY; dbias += dS, summed over sequences (and heads, for one bias). P is made again from Q, K and two saved numbers a row
 * Source     Vaswani et al. 2017, arXiv:1706.03762 section 3.2; recomputation: Dao et al. 2022, arXiv:2205.14135
 * Shapes     q, k, v (N,H*K) with N = segments->offsets[S] -> y (N,H*K); sequences may be empty; N >= 0
 * Ownership  y belongs to the tape until tap_tape_reset; segments' arrays are borrowed until then
 * Errors     TAP_ERR_SHAPE when shapes differ, the bias has another shape, heads do not divide the columns (at least as many) or segments cover
 *            another number of rows; TAP_ERR_VALUE for a dropout outside [0, 1) or broken segments; TAP_ERR_MEMORY.
 *            Returns NULL, marks the tape
 * Threads    over sequences and heads; a sequence's numbers have the same bits whatever stands beside it
 * Cost       4*K*H*sum T^2 flops; memory linear in T
 */
struct tap_tensor *tap_attention(struct tap_tape *tape, struct tap_tensor *q, struct tap_tensor *k,
                                 struct tap_tensor *v, const struct tap_segments *segments,
                                 const struct tap_attention_options *options)
{
    struct tap_tensor *inputs[] = {q, k, v, NULL};
    if (!tap_op_ready(tape, &tap_attention_op, inputs, 3))
        return NULL;
    if (q->n_dims != 2 || !tap_same_shape(q, k) || !tap_same_shape(q, v)) {
        char text_q[TAP_SHAPE_TEXT_BYTES], text_k[TAP_SHAPE_TEXT_BYTES], text_v[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, &tap_attention_op, TAP_ERR_SHAPE, "q %s, k %s and v %s; one shape (N, H*K) is needed",
                           tap_shape_text(q->n_dims, q->shape, text_q), tap_shape_text(k->n_dims, k->shape, text_k),
                           tap_shape_text(v->n_dims, v->shape, text_v));
    }
    return record(tape, &tap_attention_op, inputs, 3, q->shape[1], segments, options);
}

/* tap_attention_packed: tap_attention of the three thirds of the last axis, as one in-projection makes them.
 *
 * Formula    y = tap_attention(qkv[:, :H*K], qkv[:, H*K:2*H*K], qkv[:, 2*H*K:])
 * Shapes     qkv (N,3*H*K) -> y (N,H*K)
 * Ownership, errors, threads and cost as tap_attention
 */
struct tap_tensor *tap_attention_packed(struct tap_tape *tape, struct tap_tensor *qkv,
                                        const struct tap_segments *segments,
                                        const struct tap_attention_options *options)
{
    struct tap_tensor *inputs[] = {qkv, NULL};
    if (!tap_op_ready(tape, &tap_attention_packed_op, inputs, 1))
        return NULL;
    if (qkv->n_dims != 2 || qkv->shape[1] % 3 != 0) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, &tap_attention_packed_op, TAP_ERR_SHAPE, "qkv %s; (N, 3*H*K) is needed",
                           tap_shape_text(qkv->n_dims, qkv->shape, text));
    }
    return record(tape, &tap_attention_packed_op, inputs, 1, qkv->shape[1] / 3, segments, options);
}
