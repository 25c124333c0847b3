/* classifier.c: trains a small classifier on a built-in task, saves it, loads it again and lets it judge some
 * sentences, all through tapestry.h. In about a second, on one core.
 *
 *     classifier [FILE.npz]      where to save; classifier.npz in the current folder when not given
 *
 * The task: who chases whom? In half of the sentences the hunter does it, in half the prey, with the same words; so the
 * order of words is all there is to learn from. What ./train does besides (signals, resuming, logs, the best model, a
 * plan of memory) is in train/. */
#include "tapestry.h"

#include <stdio.h>
#include <string.h>

/* Everything of a run. All pointers start as NULL, and every free accepts that. */
struct run {
    struct tap_config config;
    struct tap_data *data;
    struct tap_model *model;
    struct tap_optimizer *optimizer;
    struct tap_batches *batches, *validation;
    struct tap_tape *tape;
};

/* Any key of docs/config.md can stand here, as in a .cfg file. */
static const char config_text[] = "model: {d_model: 32, heads: 2, layers: 1, d_ff: 64}\n"
                                  "data: {task: order, valid_fraction: 0.1}\n"
                                  "task: {rows: 4000, language: english}\n"
                                  "train: {seed: 1, epochs: 3, batch_size: 32}\n"
                                  "optim: {name: adam, lr: 3e-3, warmup: 40, clip_norm: 1}\n";

/* A config tells all its errors at once; here the first one will do. */
static bool read_config(struct tap_config *config, struct tap_error *error)
{
    struct tap_config_errors errors = {0};
    if (!tap_config_init(config, error))
        return false;
    if (tap_config_read_text(config, "classifier.c", config_text, strlen(config_text), &errors))
        tap_config_finish(config, &errors);
    bool is_right = tap_config_errors_count(&errors) == 0;
    if (!is_right)
        tap_error_set(error, TAP_ERR_VALUE, "%s", tap_config_errors_get(&errors, 0));
    tap_config_errors_clear(&errors);
    return is_right;
}

/* Data, model, optimizer and batches as the config says. Returns false with error marked. */
static bool run_open(struct run *run, struct tap_error *error)
{
    if (!read_config(&run->config, error))
        return false;
    const struct tap_config *config = &run->config;
    const struct tap_data_options source = tap_config_data_options(config);
    const struct tap_optimizer_options constants = tap_config_optimizer_options(config);
    const struct tap_batches_options shuffled = {
        .batch_size = (uint32_t)config->train.batch_size, .shuffle = true, .seed = (uint64_t)config->train.seed};
    const struct tap_batches_options in_order = {.batch_size = (uint32_t)config->train.batch_size};
    run->tape = tap_tape_new(error);
    run->data = tap_data_open(&source, NULL, NULL, 0, error);
    if (run->tape == NULL || run->data == NULL)
        return false;
    /* how many tokens and classes there are is known only now */
    const uint32_t n_tokens = tap_tokenizer_n_tokens(run->data->tokenizer);
    run->model = tap_model_build(config, n_tokens, run->data->n_labels, NULL, error);
    if (run->model == NULL)
        return false;
    run->optimizer = tap_optimizer_new(tap_config_optimizer(config), &constants, &run->model->parameters, error);
    run->batches = tap_batches_new(&run->data->parts[TAP_PART_TRAIN], &shuffled, error);
    run->validation = tap_batches_new(&run->data->parts[TAP_PART_VALID], &in_order, error);
    return error->status == TAP_OK;
}

static void run_close(struct run *run)
{
    tap_batches_free(run->validation);
    tap_batches_free(run->batches);
    tap_optimizer_free(run->optimizer);
    tap_model_free(run->model);
    tap_data_free(run->data);
    tap_tape_free(run->tape);
    tap_config_clear(&run->config);
}

/* A failed operation has left its reason on the tape; here it becomes the caller's error. */
static enum tap_status tape_status(const struct tap_tape *tape, struct tap_error *error)
{
    const struct tap_error *failure = tap_tape_error(tape);
    return failure->status == TAP_OK ? TAP_OK : tap_error_set(error, failure->status, "%s", failure->message);
}

/* One step: forward, loss, backward, clip, update. */
static enum tap_status train_step(struct run *run, const struct tap_batch *batch, double rate, double *out_loss,
                                  struct tap_error *error)
{
    const struct tap_context context = {.tape = run->tape,
                                        .segments = &batch->segments,
                                        .ngrams = batch->ngrams,
                                        .training = true, /* dropout on; its random numbers are told by seed and step */
                                        .seed = (uint64_t)run->config.train.seed,
                                        .step = (uint64_t)tap_optimizer_steps(run->optimizer) + 1};
    tap_tape_reset(run->tape);
    tap_parameters_zero_grad(&run->model->parameters);
    struct tap_tensor *logits = tap_model_logits(run->model, &context, batch->tokens);
    struct tap_tensor *loss = tap_cross_entropy(run->tape, logits, batch->labels, NULL);
    if (tap_backward(run->tape, loss) != TAP_OK)
        return tape_status(run->tape, error);
    *out_loss = (double)loss->data[0];
    double norm = tap_parameters_grad_norm(&run->model->parameters);
    enum tap_status status =
        tap_optimizer_step(run->optimizer, rate, tap_clip_factor(norm, run->config.optim.clip_norm));
    return status == TAP_OK ? TAP_OK : tap_error_set(error, status, "a gradient is not finite");
}

/* The class with the largest logit. */
static uint32_t best_class(const tap_real *logits, size_t n_classes)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c < n_classes; c++)
        if (logits[c] > logits[best])
            best = c;
    return best;
}

/* The fraction of the validation part that the model gets right. The same path as in training, without dropout and with
 * nothing kept for gradients. */
static enum tap_status validate(struct run *run, double *out_accuracy, struct tap_error *error)
{
    struct tap_batch batch;
    uint32_t n_right = 0;
    bool with_gradients = tap_tape_set_gradients(run->tape, false);
    tap_batches_start(run->validation, 1);
    while (error->status == TAP_OK && tap_batches_next(run->validation, 0, &batch)) {
        const struct tap_context context = {.tape = run->tape, .segments = &batch.segments, .ngrams = batch.ngrams};
        tap_tape_reset(run->tape);
        struct tap_tensor *logits = tap_model_logits(run->model, &context, batch.tokens);
        if (tape_status(run->tape, error) != TAP_OK)
            break;
        for (uint32_t s = 0; s < batch.segments.n; s++)
            n_right += best_class(logits->data + s * run->data->n_labels, run->data->n_labels) == batch.labels[s];
    }
    tap_tape_set_gradients(run->tape, with_gradients);
    *out_accuracy = (double)n_right / run->data->parts[TAP_PART_VALID].n_rows;
    return error->status;
}

static enum tap_status train(struct run *run, struct tap_error *error)
{
    const uint64_t n_epochs = (uint64_t)run->config.train.epochs;
    const uint32_t n_batches = tap_batches_count(run->batches, 1);
    const struct tap_schedule_options schedule =
        tap_config_schedule_options(&run->config, (long)(n_epochs * n_batches));
    for (uint64_t epoch = 1; epoch <= n_epochs; epoch++) {
        struct tap_batch batch;
        double sum = 0, loss = 0, accuracy = 0;
        tap_batches_start(run->batches, epoch); /* a new order, by the seed */
        while (tap_batches_next(run->batches, 0, &batch)) {
            double rate = tap_schedule_rate(&schedule, tap_optimizer_steps(run->optimizer) + 1);
            if (train_step(run, &batch, rate, &loss, error) != TAP_OK)
                return error->status;
            sum += loss;
        }
        if (validate(run, &accuracy, error) != TAP_OK)
            return error->status;
        printf("epoch %d  loss %.4f  accuracy %.3f\n", (int)epoch, sum / n_batches, accuracy);
    }
    return TAP_OK;
}

/* One file with parameters, config, labels and vocabulary; no optimizer, as this run is not to be resumed. */
static enum tap_status save(const struct run *run, const char *path, struct tap_error *error)
{
    const struct tap_checkpoint_content content = {
        .config = &run->config,
        .model = run->model,
        .data = run->data,
        .progress = {.step = tap_optimizer_steps(run->optimizer), .epoch = run->config.train.epochs},
        .threads = tap_get_threads(),
    };
    return tap_checkpoint_save(path, &content, 0, error);
}

/* Text to label: tokens, logits, the largest. */
static enum tap_status predict(const struct tap_checkpoint *checkpoint, struct tap_model *model, struct tap_tape *tape,
                               const char *text, struct tap_error *error)
{
    struct tap_token_buffer tokens = {0};
    struct tap_ngram_batch ngrams = {0};
    const struct tap_tokenizer *tokenizer = checkpoint->tokenizer;
    if (tap_tokenizer_encode(tokenizer, text, strlen(text), &tokens, NULL, error) == TAP_OK) {
        const uint32_t offsets[] = {0, (uint32_t)tokens.n}; /* a batch of one sequence */
        const struct tap_segments segments = {1, offsets, 0};
        const struct tap_context context = {
            .tape = tape,
            .segments = &segments,
            .ngrams = tap_token_buffer_ngrams(tokenizer, &tokens, &ngrams, error), /* NULL: this tokenizer has none */
        };
        tap_tape_reset(tape);
        struct tap_tensor *probabilities = tap_softmax(tape, tap_model_logits(model, &context, tokens.ids));
        if (error->status == TAP_OK && tape_status(tape, error) == TAP_OK) {
            uint32_t best = best_class(probabilities->data, model->options.classes);
            printf("%s -> %s (%.2f)\n", text, checkpoint->label_names[best], (double)probabilities->data[best]);
        }
    }
    tap_token_buffer_clear(&tokens);
    tap_ngram_batch_clear(&ngrams);
    return error->status;
}

/* All that prediction needs comes from the file. */
static enum tap_status load_and_predict(const char *path, struct tap_error *error)
{
    static const char *const texts[] = {"the cat chases the mouse", "the mouse chases the cat",
                                        "in winter a small rabbit bites this hungry wolf",
                                        "in winter this hungry wolf bites a small rabbit"};
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(path, error);
    struct tap_model *model = checkpoint == NULL ? NULL : tap_checkpoint_model(checkpoint, error);
    struct tap_tape *tape = model == NULL ? NULL : tap_tape_new(error);
    if (tape != NULL)
        tap_tape_set_gradients(tape, false);
    for (size_t i = 0; tape != NULL && error->status == TAP_OK && i < sizeof texts / sizeof texts[0]; i++)
        predict(checkpoint, model, tape, texts[i], error);
    tap_tape_free(tape);
    tap_model_free(model);
    tap_checkpoint_close(checkpoint);
    return error->status;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "classifier.npz";
    struct tap_error error = {0}; /* keeps the first error, and its message */
    struct run run = {0};
    if (run_open(&run, &error) && train(&run, &error) == TAP_OK && save(&run, path, &error) == TAP_OK) {
        printf("saved %s\n", path);
        load_and_predict(path, &error);
    }
    run_close(&run);
    if (error.status != TAP_OK)
        fprintf(stderr, "classifier: %s\n", error.message);
    return error.status == TAP_OK ? 0 : 1;
}
