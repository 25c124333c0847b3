/* twenty_lines.c: builds a Transformer encoder and trains it on a built-in task: who chases whom. The twenty lines are
 * those of train_epoch and main that do something. What they leave out (validation, checkpoints, a config) is in
 * train/. */
#include "tapestry.h"

#include <stdio.h>

static int fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return 1;
}

/* One pass over all batches; the mean loss of a batch. A failed step leaves its reason in the tape. */
static double train_epoch(struct tap_model *model, struct tap_optimizer *adam, struct tap_batches *batches,
                          struct tap_tape *tape, uint64_t epoch)
{
    const struct tap_cross_entropy_options plain = {0};
    struct tap_batch batch;
    double sum = 0;
    tap_batches_start(batches, epoch);
    while (tap_batches_next(batches, 0, &batch)) {
        tap_tape_reset(tape);
        tap_parameters_zero_grad(&model->parameters);
        struct tap_context context = {.tape = tape, .segments = &batch.segments, .training = true, .seed = 1};
        context.step = (uint64_t)tap_optimizer_steps(adam) + 1;
        struct tap_tensor *logits = tap_model_logits(model, &context, batch.tokens);
        struct tap_tensor *loss = tap_cross_entropy(tape, logits, batch.labels, &plain);
        if (tap_backward(tape, loss) != TAP_OK)
            break;
        tap_optimizer_step(adam, 5e-4, 1);
        sum += (double)loss->data[0];
    }
    return sum / tap_batches_count(batches, epoch);
}

int main(void)
{
    struct tap_error error = {0};
    struct tap_data_options source = {.task = "order", .task_options = {2000, "english"}, .seed = 1};
    source.tokenizer = "word";
    source.min_count = 1;
    source.max_vocab = 1000;
    source.max_length = 64;
    struct tap_data *data = tap_data_open(&source, NULL, NULL, 0, &error);
    if (data == NULL)
        return fail(error.message);
    struct tap_model_options shape = tap_model_default_options(tap_tokenizer_n_tokens(data->tokenizer), data->n_labels);
    shape.encoder.attention.heads = 2; /* any field can be changed here */
    struct tap_model *model = tap_model_new(&shape, &error);
    if (model == NULL)
        return fail(error.message);
    tap_parameters_initialize(&model->parameters, 1);
    const struct tap_optimizer_options constants = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    const struct tap_batches_options cut = {.batch_size = 32, .shuffle = true, .seed = 1};
    struct tap_optimizer *adam = tap_optimizer_new(tap_optimizer_find("adam"), &constants, &model->parameters, &error);
    struct tap_batches *batches = tap_batches_new(&data->parts[TAP_PART_TRAIN], &cut, &error);
    struct tap_tape *tape = tap_tape_new(&error);
    if (error.status != TAP_OK)
        return fail(error.message);
    for (uint64_t epoch = 1; epoch <= 6; epoch++) {
        double loss = train_epoch(model, adam, batches, tape, epoch);
        if (tap_tape_failed(tape))
            return fail(tap_tape_error(tape)->message);
        printf("epoch %d  loss %.4f\n", (int)epoch, loss);
    }
    tap_tape_free(tape);
    tap_batches_free(batches);
    tap_optimizer_free(adam);
    tap_model_free(model);
    tap_data_free(data);
    return 0;
}
