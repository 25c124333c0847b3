/* baselines.c: see baselines.h. The n-gram baseline is a training like any other, without a folder. */
#include "baselines.h"

#include <stdio.h>
#include <string.h>

#include "training.h"

/* What makes the baseline, over the defaults of all keys. */
static const char *const ngram_settings[] = {
    "model.layers=0",          "model.positions=none",  "model.pooling=mean",        "model.heads=1",
    "model.d_model=64",        "model.dropout=0",       "model.embedding_dropout=0", "train.class_weights=none",
    "train.label_smoothing=0", "train.epochs=20",       "train.batch_size=32",       "optim.name=adam",
    "optim.lr=5e-3",           "optim.schedule=linear", "optim.final_lr=0",          "data.bigrams=50000",
    "data.char_ngrams=0",
};

/* Keys that the baseline has from the model. */
static bool is_shared(const char *group, const char *key)
{
    return strcmp(group, "data") == 0 || strcmp(group, "task") == 0 ||
           (strcmp(group, "train") == 0 && (strcmp(key, "seed") == 0 || strcmp(key, "metric") == 0));
}

static void copy_shared(struct tap_config *out, const struct tap_config *of, struct tap_config_errors *errors)
{
    for (size_t i = 0; i < tap_config_n_keys(); i++) {
        const char *group = tap_config_key_group(i);
        const char *key = tap_config_key_name(i);
        struct tap_config_text value = {0};
        if (!is_shared(group, key))
            continue;
        tap_config_get_text(of, i, &value);
        if (value.out_of_memory)
            tap_config_errors_memory(errors);
        else
            tap_config_set_text(out, group, key, value.bytes == NULL ? "" : value.bytes, "the model's config", errors);
        tap_config_text_clear(&value);
    }
}

enum tap_status baselines_config(struct tap_config *out, const struct tap_config *of, int threads,
                                 struct tap_error *error)
{
    struct tap_config_errors errors = {0};
    char threads_setting[64];
    if (!tap_config_init(out, error))
        return tap_error_memory(error, "a config");
    snprintf(threads_setting, sizeof threads_setting, "train.threads=%d", threads);
    copy_shared(out, of, &errors);
    for (size_t i = 0; i < sizeof ngram_settings / sizeof ngram_settings[0]; i++)
        tap_config_set(out, ngram_settings[i], &errors);
    tap_config_set(out, threads_setting, &errors);
    tap_config_finish(out, &errors);
    if (errors.out_of_memory)
        tap_error_memory(error, "a config");
    else if (tap_config_errors_count(&errors) > 0)
        tap_error_set(error, TAP_ERR_VALUE, "%s", tap_config_errors_get(&errors, 0));
    tap_config_errors_clear(&errors);
    return error->status;
}

/* What was trained on must be what the model was trained on, down to the numbers of the labels. */
static enum tap_status check_data(const struct tap_checkpoint *checkpoint, const struct tap_data *data,
                                  struct tap_error *error)
{
    if (tap_checkpoint_check_files(checkpoint, data, error) != TAP_OK)
        return error->status;
    bool same = data->n_labels == checkpoint->labels.n;
    for (size_t c = 0; c < data->n_labels && same; c++)
        same = strcmp(data->labels[c], checkpoint->label_names[c]) == 0;
    return same ? TAP_OK : tap_error_set(error, TAP_ERR_VALUE, "the data have other labels than the model");
}

static enum tap_status score_majority(struct baselines *baselines, const struct tap_dataset *train,
                                      const struct tap_dataset *rows, struct tap_error *error)
{
    baselines->majority_label = 0;
    for (uint32_t c = 1; c < train->n_labels; c++)
        if (train->label_counts[c] > train->label_counts[baselines->majority_label])
            baselines->majority_label = c;
    if (scores_init(&baselines->majority, train->n_labels, error) != TAP_OK)
        return error->status;
    for (uint32_t row = 0; row < rows->n_rows; row++)
        scores_add(&baselines->majority, rows->labels[row], baselines->majority_label, 0);
    return TAP_OK;
}

/* The rows are encoded anew: the baseline's tokenizer is its own. */
static enum tap_status score_ngram(struct baselines *baselines, const struct training *training,
                                   const struct scored_rows *rows, struct tap_error *error)
{
    struct tap_dataset dataset = {0};
    struct evaluator evaluator = {0};
    if (tap_dataset_encode(rows->texts, rows->source, training->data->tokenizer, training->data->labels,
                           training->data->n_labels, &dataset, error) == TAP_OK &&
        evaluator_init(&evaluator, training->model, training->tape, &dataset,
                       (uint32_t)training->config->train.batch_size, error) == TAP_OK &&
        evaluator_run(&evaluator, error) == TAP_OK) {
        baselines->ngram = evaluator.scores;
        evaluator.scores = (struct scores){0};
    }
    evaluator_clear(&evaluator);
    tap_dataset_clear(&dataset);
    return error->status;
}

static enum tap_status train_and_score(struct baselines *baselines, const struct tap_config *config,
                                       const struct tap_checkpoint *checkpoint, const struct scored_rows *rows,
                                       struct tap_error *error)
{
    struct report silent = {.quiet = true};
    struct training training = {0};
    enum training_end end;
    if (training_init(&training, config, &silent, NULL, error) != TAP_OK)
        return error->status;
    if (check_data(checkpoint, training.data, error) == TAP_OK &&
        score_majority(baselines, &training.data->parts[TAP_PART_TRAIN], rows->dataset, error) == TAP_OK &&
        training_run(&training, &end, error) == TAP_OK)
        score_ngram(baselines, &training, rows, error);
    training_clear(&training);
    return error->status;
}

/* Standard input gives its bytes once; the rows to score may have been these. */
static bool is_used_up(const struct tap_config_data *data, const struct scored_rows *rows)
{
    const char *files[] = {data->train, data->valid, data->test};
    bool is_training_data = false;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        is_training_data = is_training_data || strcmp(files[i], "-") == 0;
    return is_training_data && (rows->data != NULL || strcmp(rows->source, "standard input") == 0);
}

enum tap_status baselines_score(struct baselines *baselines, const struct tap_checkpoint *checkpoint,
                                const struct scored_rows *rows, int threads, struct tap_error *error)
{
    struct tap_error own = {0};
    struct tap_config config;
    *baselines = (struct baselines){0};
    if (is_used_up(&checkpoint->config.data, rows))
        return tap_error_set(
            error, TAP_ERR_VALUE,
            "--baselines: the model's data came from standard input, which cannot be read twice; score "
            "a file with --data FILE, and give the training data on standard input");
    if (baselines_config(&config, &checkpoint->config, threads, &own) == TAP_OK)
        train_and_score(baselines, &config, checkpoint, rows, &own);
    tap_config_clear(&config);
    return own.status == TAP_OK ? TAP_OK : tap_error_set(error, own.status, "--baselines: %s", own.message);
}

void baselines_clear(struct baselines *baselines)
{
    scores_clear(&baselines->majority);
    scores_clear(&baselines->ngram);
    *baselines = (struct baselines){0};
}
