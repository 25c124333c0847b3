/* train_step.c: one optimizer step. The loss is summed over the sequences of all its batches and the sum's gradient is
 * divided by their weight when the optimizer takes it, so that it does not matter how the step was cut into batches. */
#include "training.h"

#include <math.h>
#include <stdio.h>

#include "clip.h"

/* The parameter that `tensor` is, NULL when it is none. */
static const struct tap_parameter *parameter_of(const struct tap_parameters *parameters,
                                                const struct tap_tensor *tensor)
{
    for (size_t p = 0; p < parameters->n; p++)
        if (&parameters->items[p]->tensor == tensor)
            return parameters->items[p];
    return NULL;
}

static const struct tap_parameter *first_nonfinite_value(const struct tap_parameters *parameters, bool gradients)
{
    for (size_t p = 0; p < parameters->n; p++) {
        const struct tap_tensor *tensor = &parameters->items[p]->tensor;
        if (!tap_is_finite(gradients ? tensor->grad : tensor->data, tensor->size))
            return parameters->items[p];
    }
    return NULL;
}

/* Names the first tensor that is not finite: a parameter, else a result on the tape, else a gradient. */
static void name_first_bad(const struct training *training, char *out, size_t n_bytes)
{
    const struct tap_parameters *parameters = &training->model->parameters;
    const struct tap_parameter *parameter = first_nonfinite_value(parameters, false);
    const struct tap_tensor *result = tap_tape_first_nonfinite(training->tape);
    if (parameter != NULL) {
        snprintf(out, n_bytes, "parameter %s", parameter->name);
    } else if (result != NULL) {
        char shape[TAP_SHAPE_TEXT_BYTES];
        const struct tap_parameter *input = NULL;
        for (int i = 0; result->node != NULL && input == NULL && i < result->node->n_inputs; i++)
            input = parameter_of(parameters, result->node->inputs[i]);
        snprintf(out, n_bytes, "result %s of %s%s%s", tap_shape_text(result->n_dims, result->shape, shape),
                 tap_tensor_operation(result), input != NULL ? " with " : "", input != NULL ? input->name : "");
    } else {
        parameter = first_nonfinite_value(parameters, true);
        snprintf(out, n_bytes, "gradient of %s", parameter != NULL ? parameter->name : "no parameter");
    }
}

static enum tap_status fail_nonfinite(const struct training *training, const char *what, double value,
                                      double learning_rate, struct tap_error *error)
{
    char bad[512];
    name_first_bad(training, bad, sizeof bad);
    value = isnan(value) ? (double)NAN : value; /* without a sign: it means nothing, and would be printed */
    return tap_error_set(error, TAP_ERR_NONFINITE, "step %lld: %s is %g (learning rate %g); first bad tensor: %s",
                         (long long)training->progress.step + 1, what, value, learning_rate, bad);
}

/* The sum of the weights of a batch's sequences. */
static double batch_weight(const struct training *training, const struct tap_batch *batch)
{
    double weight = 0;
    if (training->class_weights == NULL)
        return batch->segments.n;
    for (uint32_t s = 0; s < batch->segments.n; s++)
        weight += (double)training->class_weights[batch->labels[s]];
    return weight;
}

/* Adds the gradient of one batch's summed loss. */
static enum tap_status add_batch(struct training *training, const struct tap_batch *batch, double learning_rate,
                                 double *loss_sum, struct tap_error *error)
{
    struct tap_tape *tape = training->tape;
    struct tap_context context = {
        .tape = tape,
        .segments = &batch->segments,
        .ngrams = batch->ngrams,
        .training = true,
        .seed = (uint64_t)training->config->train.seed,
        .step = (uint64_t)training->progress.step + 1,
    };
    struct tap_cross_entropy_options options = {
        .label_smoothing = training->config->train.label_smoothing,
        .class_weights = training->class_weights,
        .divisor = 1,
    };
    tap_tape_reset(tape);
    struct tap_tensor *logits = tap_model_logits(training->model, &context, batch->tokens);
    struct tap_tensor *loss = tap_cross_entropy(tape, logits, batch->labels, &options);
    if (tap_backward(tape, loss) != TAP_OK)
        return tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
    *loss_sum += (double)loss->data[0];
    if (!isfinite(*loss_sum))
        return fail_nonfinite(training, "loss", *loss_sum, learning_rate, error);
    size_t n_classes = training->model->options.classes;
    for (uint32_t s = 0; s < batch->segments.n; s++)
        training->interval.n_right += largest_class(logits->data + s * n_classes, n_classes) == batch->labels[s];
    training->interval.n_rows += batch->segments.n;
    training->interval.n_tokens += batch->n_tokens;
    return TAP_OK;
}

/* After the very first gradient: names parameters that it left out, for they will never learn. */
static void warn_of_unused(const struct training *training)
{
    const struct tap_parameters *parameters = &training->model->parameters;
    for (size_t p = 0; p < parameters->n; p++) {
        const struct tap_tensor *tensor = &parameters->items[p]->tensor;
        bool has_gradient = !tensor->requires_grad;
        for (size_t i = 0; i < tensor->size && !has_gradient; i++)
            has_gradient = tensor->grad[i] != 0;
        if (!has_gradient)
            report_error("warning: %s got no gradient in the first step", parameters->items[p]->name);
    }
}

enum tap_status training_step(struct training *training, double learning_rate, double *out_norm,
                              struct tap_error *error)
{
    struct tap_parameters *parameters = &training->model->parameters;
    struct tap_batch batch;
    double loss_sum = 0;
    double weight = 0;
    uint32_t n_sequences = 0;
    *out_norm = NAN;
    tap_parameters_zero_grad(parameters);
    for (int i = 0; i < training->config->train.accumulate; i++) {
        if (!tap_batches_next(training->batches, n_sequences, &batch))
            break;
        weight += batch_weight(training, &batch);
        n_sequences += batch.segments.n;
        if (add_batch(training, &batch, learning_rate, &loss_sum, error) != TAP_OK) {
            training->progress.loss_sum = NAN; /* what the log is to show */
            return error->status;
        }
    }
    /* a step of nothing but classes of weight 0 has no gradient */
    double divisor = weight > 0 ? weight : 1;
    *out_norm = tap_parameters_grad_norm(parameters) / divisor;
    training->progress.loss_sum += loss_sum;
    training->progress.loss_weight += weight;
    if (!isfinite(*out_norm))
        return fail_nonfinite(training, "gradient norm", *out_norm, learning_rate, error);
    if (training->progress.step == 0 && training->folder != NULL)
        warn_of_unused(training);
    double factor = tap_clip_factor(*out_norm, training->config->optim.clip_norm) / divisor;
    if (tap_optimizer_step(training->optimizer, learning_rate, factor) != TAP_OK)
        return fail_nonfinite(training, "learning rate", learning_rate, learning_rate, error);
    const struct tap_parameter *bad = first_nonfinite_value(parameters, false);
    for (size_t i = 0; bad != NULL && i < bad->tensor.size; i++)
        if (!isfinite(bad->tensor.data[i]))
            return fail_nonfinite(training, "a parameter", (double)bad->tensor.data[i], learning_rate, error);
    return TAP_OK;
}
