/* evaluation.c: see evaluation.h. */
#include "evaluation.h"

#include <math.h>

#include "mem.h"

enum tap_status evaluator_init(struct evaluator *evaluator, struct tap_model *model, struct tap_tape *tape,
                               const struct tap_dataset *dataset, uint32_t batch_size, struct tap_error *error)
{
    const struct tap_batches_options options = {.batch_size = batch_size};
    *evaluator = (struct evaluator){.model = model, .tape = tape};
    uint32_t n_sequences = 0; /* of the largest batch: the data may hold fewer rows than batch_size */
    uint32_t n_tokens, longest;
    evaluator->batches = tap_batches_new(dataset, &options, error);
    if (evaluator->batches == NULL)
        return error->status;
    tap_batches_upper_bound(evaluator->batches, &n_sequences, &n_tokens, &longest);
    evaluator->row_losses = tap_mem_new_aligned(n_sequences, sizeof(tap_real));
    if (evaluator->row_losses == NULL)
        tap_error_memory(error, "losses");
    if (error->status == TAP_OK)
        scores_init(&evaluator->scores, model->options.classes, error);
    return error->status;
}

void evaluator_clear(struct evaluator *evaluator)
{
    tap_batches_free(evaluator->batches);
    tap_mem_free(evaluator->row_losses);
    tap_mem_free(evaluator->answers);
    scores_clear(&evaluator->scores);
    *evaluator = (struct evaluator){0};
}

enum tap_status evaluator_want_answers(struct evaluator *evaluator, const struct tap_dataset *dataset,
                                       struct tap_error *error)
{
    evaluator->answers = tap_mem_new(dataset->n_rows, sizeof *evaluator->answers);
    return evaluator->answers == NULL ? tap_error_memory(error, "the answers of a model") : TAP_OK;
}

uint32_t largest_class(const tap_real *logits, size_t n_classes)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c < n_classes; c++)
        if (logits[c] > logits[best])
            best = c;
    return best;
}

/* softmax's value for the class with the largest logit, in double. */
static double largest_probability(const tap_real *logits, size_t n_classes, uint32_t largest)
{
    double sum = 0;
    for (size_t c = 0; c < n_classes; c++)
        sum += exp((double)logits[c] - (double)logits[largest]);
    return 1 / sum;
}

static void add_row(struct evaluator *evaluator, uint32_t label, const tap_real *logits, double loss)
{
    size_t n_classes = evaluator->model->options.classes;
    uint32_t predicted = largest_class(logits, n_classes);
    if (evaluator->answers != NULL)
        evaluator->answers[evaluator->scores.n_rows] =
            (struct answer){predicted, largest_probability(logits, n_classes, predicted)};
    scores_add(&evaluator->scores, label, predicted, loss);
}

static enum tap_status add_batch(struct evaluator *evaluator, const struct tap_batch *batch, struct tap_error *error)
{
    struct tap_tape *tape = evaluator->tape;
    struct tap_context context = {.tape = tape, .segments = &batch->segments, .ngrams = batch->ngrams};
    struct tap_cross_entropy_options options = {.out_row_losses = evaluator->row_losses};
    size_t n_classes = evaluator->model->options.classes;
    tap_tape_reset(tape);
    struct tap_tensor *logits = tap_model_logits(evaluator->model, &context, batch->tokens);
    tap_cross_entropy(tape, logits, batch->labels, &options);
    if (tap_tape_failed(tape))
        return tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
    for (uint32_t s = 0; s < batch->segments.n; s++) {
        double loss = (double)evaluator->row_losses[s];
        if (!isfinite(loss))
            return tap_error_set(error, TAP_ERR_NONFINITE, "the loss of a row is not finite in evaluation");
        add_row(evaluator, batch->labels[s], logits->data + s * n_classes, loss);
    }
    return TAP_OK;
}

enum tap_status evaluator_run(struct evaluator *evaluator, struct tap_error *error)
{
    struct tap_batch batch;
    scores_reset(&evaluator->scores);
    tap_batches_start(evaluator->batches, 1);
    bool before = tap_tape_set_gradients(evaluator->tape, false);
    while (error->status == TAP_OK && tap_batches_next(evaluator->batches, 0, &batch))
        add_batch(evaluator, &batch, error);
    tap_tape_set_gradients(evaluator->tape, before);
    tap_tape_reset(evaluator->tape);
    return error->status;
}
