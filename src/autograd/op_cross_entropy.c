/* op_cross_entropy.c: tap_cross_entropy, the loss of a classifier.
 *
 * A row's loss and gradient are formed together in forward, in double: the largest logit is taken out first and 1 + the
 * rest of the sum of exponentials goes through log1p, so logits of 1e30 overflow nothing and a loss of 1e-12 keeps its
 * digits. For the same reason the label's own gradient is made from the other classes' probabilities, not from 1 - p.
 * What is saved is the gradient before it is divided. */
#include "ops.h"

#include <math.h>
#include <string.h>

#include "parallel.h"

struct cross_entropy_attributes {
    const uint32_t *labels;
    struct tap_cross_entropy_options options;
    double factor;      /* 1 / divisor; 0 when no row counts */
    tap_real *gradient; /* (N,C), times the divisor; NULL when not wanted */
};

/* What all rows share. */
struct rule {
    size_t n_classes;
    const tap_real *weights; /* NULL: all 1 */
    double sum_weights;
    double on_label; /* target: this on the label, times its weight, */
    double on_every; /* and this on every class, times the class's weight */
};

static double weight_of(const struct rule *rule, size_t class_)
{
    return rule->weights == NULL ? 1 : (double)rule->weights[class_];
}

static struct rule rule_of(const struct tap_node *node)
{
    const struct cross_entropy_attributes *attributes = node->attributes;
    double smoothing = attributes->options.label_smoothing;
    size_t n_classes = node->inputs[0]->shape[1];
    struct rule rule = {.n_classes = n_classes,
                        .weights = attributes->options.class_weights,
                        .on_label = 1 - smoothing,
                        .on_every = smoothing / (double)n_classes};
    for (size_t c = 0; c < n_classes; c++)
        rule.sum_weights += weight_of(&rule, c);
    return rule;
}

static double cross_entropy_flops(const struct tap_node *node)
{
    return 20 * (double)node->inputs[0]->size;
}

/* Two doubles for each block of rows: the sums of losses and of weights. */
static size_t cross_entropy_scratch(const struct tap_node *node)
{
    return 2 * tap_ceil_div(node->inputs[0]->shape[0], TAP_ROW_BLOCK) * (sizeof(double) / sizeof(tap_real));
}

/* Turns exp(x - largest) in `gradient` into the row's gradient: sum of targets * softmax - target. rest: the sum of all
 * exponentials but that of `top`, the class of the largest logit. */
static void finish_gradient(const struct rule *rule, const tap_real *x, uint32_t label, size_t top, double rest,
                            tap_real *restrict gradient)
{
    double total = 1 + rest;
    double others = label == top ? rest : total - exp((double)x[label] - (double)x[top]);
    double label_weight = weight_of(rule, label);
    double sum_targets = rule->on_label * label_weight + rule->on_every * rule->sum_weights;
    double scale = sum_targets / total;
    for (size_t c = 0; c < rule->n_classes; c++)
        gradient[c] = (tap_real)((double)gradient[c] * scale);
    if (rule->on_every > 0)
        for (size_t c = 0; c < rule->n_classes; c++)
            gradient[c] -= (tap_real)(rule->on_every * weight_of(rule, c));
    gradient[label] = (tap_real)(rule->on_every * (rule->sum_weights - label_weight) - scale * others);
}

/* One row's loss; its gradient too unless `gradient` is NULL. */
static double row_loss(const struct rule *rule, const tap_real *x, uint32_t label, tap_real *restrict gradient)
{
    size_t top = 0;
    for (size_t c = 1; c < rule->n_classes; c++)
        if (x[c] > x[top])
            top = c;
    double largest = (double)x[top];
    double rest = 0;
    for (size_t c = 0; c < rule->n_classes; c++) {
        double e = exp((double)x[c] - largest);
        rest += c == top ? e - 1 : e; /* e - 1 is 0, or NaN when the largest is infinite or NaN */
        if (gradient != NULL)
            gradient[c] = (tap_real)e;
    }
    double log_sum = log1p(rest);
    double loss = rule->on_label * weight_of(rule, label) * ((largest - (double)x[label]) + log_sum);
    if (rule->on_every > 0)
        for (size_t c = 0; c < rule->n_classes; c++)
            loss += rule->on_every * weight_of(rule, c) * ((largest - (double)x[c]) + log_sum);
    if (gradient != NULL)
        finish_gradient(rule, x, label, top, rest, gradient);
    return loss;
}

static void forward_block(const struct tap_node *node, const struct rule *rule, size_t block, double *sums)
{
    const struct cross_entropy_attributes *attributes = node->attributes;
    const tap_real *x = node->inputs[0]->data;
    size_t n = rule->n_classes;
    size_t end = tap_min_size(node->inputs[0]->shape[0], (block + 1) * TAP_ROW_BLOCK);
    sums[0] = 0;
    sums[1] = 0;
    for (size_t row = block * TAP_ROW_BLOCK; row < end; row++) {
        uint32_t label = attributes->labels[row];
        tap_real *gradient = attributes->gradient == NULL ? NULL : attributes->gradient + row * n;
        double loss = 0;
        if (label != TAP_IGNORE_LABEL) {
            loss = row_loss(rule, x + row * n, label, gradient);
            sums[1] += weight_of(rule, label);
        } else if (gradient != NULL) {
            memset(gradient, 0, n * sizeof *gradient);
        }
        sums[0] += loss;
        if (attributes->options.out_row_losses != NULL)
            attributes->options.out_row_losses[row] = (tap_real)loss;
    }
}

static void cross_entropy_forward(struct tap_node *node)
{
    struct cross_entropy_attributes *attributes = node->attributes;
    struct rule rule = rule_of(node);
    double *sums = (double *)(void *)tap_scratch(node);
    size_t n_blocks = tap_ceil_div(node->inputs[0]->shape[0], TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for(cross_entropy_flops(node)))
    for (size_t block = 0; block < n_blocks; block++)
        forward_block(node, &rule, block, sums + 2 * block);
    double loss = 0;
    double weights = 0;
    for (size_t block = 0; block < n_blocks; block++) {
        loss += sums[2 * block];
        weights += sums[2 * block + 1];
    }
    double divisor = attributes->options.divisor > 0 ? attributes->options.divisor : weights;
    attributes->factor = divisor > 0 ? 1 / divisor : 0;
    node->output->data[0] = divisor > 0 ? (tap_real)(loss / divisor) : 0;
}

static void cross_entropy_backward(struct tap_node *node)
{
    const struct cross_entropy_attributes *attributes = node->attributes;
    const tap_real *gradient = attributes->gradient;
    tap_real scale = (tap_real)((double)node->output->grad[0] * attributes->factor);
    tap_real *dx = tap_grad_add(node->inputs[0]);
    size_t n = node->inputs[0]->size;
#pragma omp parallel for simd num_threads(tap_threads_for(2 * (double)n))
    for (size_t i = 0; i < n; i++)
        dx[i] += scale * gradient[i];
}

const struct tap_op tap_cross_entropy_op = {.name = "tap_cross_entropy",
                                            .forward = cross_entropy_forward,
                                            .backward = cross_entropy_backward,
                                            .flops = cross_entropy_flops,
                                            .scratch = cross_entropy_scratch};

/* Marks the tape when an option is not acceptable. The weights are not looked at while planning. */
static bool options_fit(struct tap_tape *tape, const struct tap_cross_entropy_options *options, size_t n_classes)
{
    const struct tap_op *op = &tap_cross_entropy_op;
    if (!(options->label_smoothing >= 0 && options->label_smoothing < 1)) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "label_smoothing is %g; at least 0 and below 1 is accepted",
                    options->label_smoothing);
        return false;
    }
    if (!(options->divisor >= 0) || !isfinite(options->divisor)) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "divisor is %g; a finite number of at least 0 is accepted",
                    options->divisor);
        return false;
    }
    if (options->class_weights == NULL || tap_tape_is_planning(tape))
        return true;
    for (size_t c = 0; c < n_classes; c++)
        if (!(options->class_weights[c] >= 0) || !isfinite(options->class_weights[c])) {
            tap_op_fail(tape, op, TAP_ERR_VALUE,
                        "the weight of class %zu is %g; finite numbers of at least 0 are accepted", c,
                        (double)options->class_weights[c]);
            return false;
        }
    return true;
}

static bool labels_fit(struct tap_tape *tape, const uint32_t *labels, size_t n_rows, size_t n_classes)
{
    const struct tap_op *op = &tap_cross_entropy_op;
    if (tap_tape_is_planning(tape))
        return true;
    if (labels == NULL && n_rows > 0) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "labels are NULL");
        return false;
    }
    for (size_t i = 0; i < n_rows; i++)
        if (labels[i] >= n_classes && labels[i] != TAP_IGNORE_LABEL) {
            tap_op_fail(tape, op, TAP_ERR_VALUE, "label %u of row %zu; only numbers below %zu are accepted", labels[i],
                        i, n_classes);
            return false;
        }
    return true;
}

/* tap_cross_entropy: the loss of logits whose right classes are known.
 *
 * Formula    e = label_smoothing, w = class_weights; row n with label k: l[n] = (1-e) w_k (-log p_k) + (e/C) sum_c w_c
 *            (-log p_c), p = softmax(logits[n]); y = sum_n l[n] / divisor, where divisor 0 stands for sum_n w_{label of
 *            n}. Rows labelled TAP_IGNORE_LABEL are in neither sum; y = 0, and gradients 0, when that leaves no weight
 *            to divide by
 * Backward   dlogits[n] += dy / divisor * (p * sum_c t_c - t), t = (1-e) w_k [c = k] + (e/C) w_c; exactly 0 for ignored
 *            rows
 * Source     PyTorch's CrossEntropyLoss(weight, label_smoothing, reduction="mean"), to the formula; smoothing: Szegedy
 *            et al. 2016, arXiv:1512.00567 section 7
 * Shapes     logits (N,C), labels N numbers below C or TAP_IGNORE_LABEL -> y a scalar; C >= 1, N >= 0.
 *            options->out_row_losses: l[n], undivided, 0 for ignored rows
 * Ownership  labels and options->class_weights are borrowed until tap_tape_reset; options NULL: all zero; y belongs to
 *            the tape until reset
 * Errors     TAP_ERR_SHAPE when logits is no matrix or C is 0; TAP_ERR_VALUE naming the first label >= C and its row,
 *            or the option out of range; TAP_ERR_MEMORY. Returns NULL, marks the tape. While planning labels and
 *            weights are not looked at and may be NULL
 * Threads    parallel over blocks of rows, whose sums are added in order: the same bits for any thread count
 * Cost       N*C exponentials in double
 */
struct tap_tensor *tap_cross_entropy(struct tap_tape *tape, struct tap_tensor *logits, const uint32_t *labels,
                                     const struct tap_cross_entropy_options *options)
{
    static const struct tap_cross_entropy_options defaults;
    const struct tap_op *op = &tap_cross_entropy_op;
    if (!tap_op_ready(tape, op, &logits, 1))
        return NULL;
    if (options == NULL)
        options = &defaults;
    if (logits->n_dims != 2 || logits->shape[1] == 0) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_op_fail(tape, op, TAP_ERR_SHAPE, "logits have shape %s; (N, C) with at least one class is needed",
                           tap_shape_text(logits->n_dims, logits->shape, text));
    }
    if (!options_fit(tape, options, logits->shape[1]) || !labels_fit(tape, labels, logits->shape[0], logits->shape[1]))
        return NULL;
    struct tap_node *node = tap_node_new(tape, op, &logits, 1, 0, NULL, sizeof(struct cross_entropy_attributes));
    tap_real *gradient;
    if (node == NULL || !tap_node_save(node, logits->size, &gradient))
        return NULL;
    *(struct cross_entropy_attributes *)node->attributes =
        (struct cross_entropy_attributes){labels, *options, 0, gradient};
    return tap_node_run(node);
}
