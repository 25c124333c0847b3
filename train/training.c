/* training.c: building a training run from a config, see training.h. */
#include "training.h"

#include <stdio.h>
#include <string.h>

#include "atomic_file.h"
#include "gemm.h"
#include "mem.h"
#include "model_build.h"
#include "parallel.h"

static enum tap_status open_data(struct training *training, const struct tap_checkpoint *from, struct tap_error *error)
{
    struct tap_data_options options = tap_config_data_options(training->config);
    if (from == NULL)
        training->data = tap_data_open(&options, NULL, NULL, 0, error);
    else
        training->data = tap_data_open(&options, from->tokenizer, from->label_names, from->labels.n, error);
    if (training->data == NULL)
        return error->status;
    return from == NULL ? TAP_OK : tap_checkpoint_check_files(from, training->data, error);
}

static enum tap_status build_model(struct training *training, const struct tap_checkpoint *from,
                                   struct tap_error *error)
{
    const struct tap_config *config = training->config;
    size_t n_missing = 0;
    if (from != NULL) {
        training->model = tap_checkpoint_model(from, error);
        return training->model == NULL ? error->status : tap_model_freeze(training->model, config, error);
    }
    training->model = tap_model_build(config, tap_tokenizer_n_tokens(training->data->tokenizer),
                                      training->data->n_labels, &n_missing, error);
    if (n_missing > 0)
        report_error("warning: train.init: %s holds %zu of %zu parameters; the others keep their random start",
                     config->train.init, training->model->parameters.n - n_missing, training->model->parameters.n);
    return error->status;
}

static enum tap_status build_optimizer(struct training *training, const struct tap_checkpoint *from,
                                       struct tap_error *error)
{
    struct tap_optimizer_options options = tap_config_optimizer_options(training->config);
    const struct tap_parameters *parameters = &training->model->parameters;
    training->optimizer = tap_optimizer_new(tap_config_optimizer(training->config), &options, parameters, error);
    if (training->optimizer == NULL || from == NULL)
        return error->status;
    return tap_checkpoint_read_optimizer(from, parameters, training->optimizer, error);
}

/* balanced: rows / (classes * rows of the class), as scikit-learn has it. */
static enum tap_status build_class_weights(struct training *training, struct tap_error *error)
{
    const struct tap_config_weights *weights = &training->config->train.class_weights;
    const struct tap_dataset *train = &training->data->parts[TAP_PART_TRAIN];
    size_t n = training->data->n_labels;
    if (weights->weighting == TAP_CONFIG_CLASS_WEIGHTS_NONE)
        return TAP_OK;
    if (weights->weighting == TAP_CONFIG_CLASS_WEIGHTS_LISTED && weights->n_values != n)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "train.class_weights: %zu numbers; accepted: none, balanced, or a list of %zu, one for "
                             "each label in the order of their bytes",
                             weights->n_values, n);
    training->class_weights = tap_mem_new(n, sizeof(tap_real));
    if (training->class_weights == NULL)
        return tap_error_memory(error, "class weights");
    for (size_t c = 0; c < n; c++)
        training->class_weights[c] =
            weights->weighting == TAP_CONFIG_CLASS_WEIGHTS_LISTED
                ? (tap_real)weights->values[c]
                : (tap_real)((double)train->n_rows / ((double)n * (double)train->label_counts[c]));
    return TAP_OK;
}

static enum tap_status build_batches(struct training *training, struct tap_error *error)
{
    const struct tap_config *config = training->config;
    struct tap_batches_options options = {
        .batch_size = (uint32_t)config->train.batch_size,
        .batch_tokens = (uint32_t)config->train.batch_tokens,
        .shuffle = true,
        .seed = (uint64_t)config->train.seed,
        .word_dropout = config->train.word_dropout,
        .has_cls = training->data->tokenizer->add_cls,
    };
    training->batches = tap_batches_new(&training->data->parts[TAP_PART_TRAIN], &options, error);
    return error->status;
}

/* Optimizer steps of the whole run; an epoch's last window may hold fewer batches than the others. */
static int64_t count_steps(const struct training *training)
{
    enum { MOST_EPOCHS_COUNTED = 1000 };
    const struct tap_config *config = training->config;
    uint32_t accumulate = (uint32_t)config->train.accumulate;
    int64_t total = 0;
    if (config->train.steps >= 0)
        return config->train.steps;
    for (int epoch = 1; epoch <= config->train.epochs; epoch++) {
        if (epoch > MOST_EPOCHS_COUNTED) /* the rest have as many steps as these had, on the whole */
            return (int64_t)((double)total * config->train.epochs / MOST_EPOCHS_COUNTED);
        uint32_t n_batches = tap_batches_count(training->batches, (uint64_t)epoch);
        int64_t steps = n_batches / accumulate + (n_batches % accumulate != 0);
        if (config->train.batch_tokens == 0)
            return steps * config->train.epochs;
        total += steps;
    }
    return total;
}

/* Memory for the largest step, so that none allocates. */
static enum tap_status reserve_tape(struct training *training, struct tap_error *error)
{
    uint32_t n_sequences, n_tokens, longest;
    struct tap_tape_use use;
    training->tape = tap_tape_new(error);
    if (training->tape == NULL)
        return error->status;
    if (training_plan(training, error) != TAP_OK)
        return error->status;
    tap_batches_upper_bound(training->batches, &n_sequences, &n_tokens, &longest);
    if (tap_model_plan(training->model, training->tape, n_sequences, n_tokens, longest, &use, error) != TAP_OK)
        return error->status;
    if (tap_tape_reserve(training->tape, &use) != TAP_OK)
        tap_error_set(error, TAP_ERR_MEMORY, "%s", tap_tape_error(training->tape)->message);
    return error->status;
}

/* Goes to the place in the data where a checkpoint stands; false when there is none such. */
static bool seek(struct tap_batches *batches, const struct tap_progress *progress)
{
    if (progress->epoch == 0)
        return true;
    tap_batches_start(batches, (uint64_t)progress->epoch);
    return tap_batches_seek(batches, (uint32_t)progress->position);
}

static enum tap_status build(struct training *training, const struct tap_checkpoint *from, struct tap_error *error)
{
    const struct tap_dataset *valid;
    if (tap_gemm_start(error) != TAP_OK || open_data(training, from, error) != TAP_OK ||
        build_model(training, from, error) != TAP_OK)
        return error->status;
    training->needs.peak_bytes = resident_bytes();
    if (build_optimizer(training, from, error) != TAP_OK || build_class_weights(training, error) != TAP_OK ||
        build_batches(training, error) != TAP_OK || reserve_tape(training, error) != TAP_OK)
        return error->status;
    valid = &training->data->parts[TAP_PART_VALID];
    if (valid->n_rows > 0 && evaluator_init(&training->valid, training->model, training->tape, valid,
                                            (uint32_t)training->config->train.batch_size, error) != TAP_OK)
        return error->status;
    training->total_steps = count_steps(training);
    training->schedule = tap_config_schedule_options(training->config, (long)training->total_steps);
    if (from == NULL)
        return TAP_OK;
    training->progress = from->progress;
    training->is_resumed = true;
    if (!seek(training->batches, &from->progress))
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: position %lld of an epoch of %u rows", from->path,
                             (long long)from->progress.position,
                             (unsigned)training->data->parts[TAP_PART_TRAIN].n_rows);
    if (strcmp(from->kernel_family, tap_gemm_kernel_family()) != 0)
        report_error("warning: %s was written with the %s kernels, this run uses %s: last digits will differ",
                     from->path, from->kernel_family, tap_gemm_kernel_family());
    return TAP_OK;
}

enum tap_status training_init(struct training *training, const struct tap_config *config, struct report *report,
                              const struct tap_checkpoint *from, struct tap_error *error)
{
    *training = (struct training){.config = config, .report = report, .started_s = now_s()};
    tap_set_threads(config->train.threads);
    if (build(training, from, error) != TAP_OK)
        training_clear(training);
    return error->status;
}

void training_clear(struct training *training)
{
    evaluator_clear(&training->valid);
    tap_tape_free(training->tape);
    tap_batches_free(training->batches);
    tap_optimizer_free(training->optimizer);
    tap_model_free(training->model);
    tap_mem_free(training->class_weights);
    tap_mem_free(training->best_parameters);
    tap_data_free(training->data);
    *training = (struct training){0};
}

static enum tap_status write_text(const struct run_folder *folder, const char *name, const char *text, size_t n_bytes,
                                  struct tap_error *error)
{
    char *path = path_join(folder->path, name, error);
    if (path != NULL)
        tap_file_write(path, text, n_bytes, error);
    tap_mem_free(path);
    return error->status;
}

enum tap_status training_start_folder(struct training *training, struct run_folder *folder, bool resumed,
                                      struct tap_error *error)
{
    struct tap_config_text text = {0};
    tap_config_write(training->config, &text);
    if (text.out_of_memory)
        tap_error_memory(error, "config.cfg");
    else
        write_text(folder, "config.cfg", text.bytes, text.n_bytes, error);
    tap_config_text_clear(&text);
    char *report = error->status == TAP_OK ? data_report(training->data, error) : NULL;
    if (report != NULL)
        write_text(folder, "data.json", report, strlen(report), error);
    tap_mem_free(report);
    training->folder = folder;
    training->is_new_folder = !resumed;
    if (error->status != TAP_OK)
        return error->status;
    return run_folder_start_metrics(folder, resumed ? training->progress.step : -1, error);
}
