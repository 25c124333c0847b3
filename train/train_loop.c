/* train_loop.c: the run: steps, and between them log lines, evaluations and saves. */
#include "training.h"

#include "best_model.h"

static double metric_of(const struct training *training, const struct scores *scores)
{
    switch (training->config->train.metric) {
    case TAP_CONFIG_METRIC_ACCURACY:
        return scores_accuracy(scores);
    case TAP_CONFIG_METRIC_LOSS:
        return scores_loss(scores);
    case TAP_CONFIG_METRIC_MACRO_F1:
        return scores_macro_f1(scores);
    case TAP_CONFIG_METRIC_MCC:
        return scores_mcc(scores);
    }
    return 0;
}

static bool is_better(const struct training *training, double metric, double than)
{
    return training->config->train.metric == TAP_CONFIG_METRIC_LOSS ? metric < than : metric > than;
}

/* Scores the validation part; *out_is_best tells whether the model is better than any before it. */
static enum tap_status evaluate(struct training *training, bool *out_is_best, struct tap_error *error)
{
    struct tap_progress *progress = &training->progress;
    if (evaluator_run(&training->valid, error) != TAP_OK)
        return error->status;
    double metric = metric_of(training, &training->valid.scores);
    *out_is_best = !progress->has_best || is_better(training, metric, progress->best_metric);
    if (*out_is_best) {
        progress->has_best = true;
        progress->best_metric = metric;
        progress->best_step = progress->step;
        progress->stale_evaluations = 0;
    } else {
        progress->stale_evaluations++;
    }
    return training_log_scores(training, "valid", progress->step, &training->valid.scores, error);
}

static enum tap_status save(struct training *training, bool is_best, struct tap_error *error)
{
    const struct tap_config *config = training->config;
    if (training->folder == NULL)
        return is_best ? best_model_remember(training, error) : TAP_OK;
    struct tap_checkpoint_content content = {
        .config = config,
        .model = training->model,
        .optimizer = training->optimizer,
        .data = training->data,
        .progress = training->progress,
        .threads = config->train.threads,
    };
    if (run_folder_save(training->folder, &content, config->checkpoint.compression, config->checkpoint.keep, is_best,
                        error) == TAP_OK)
        report_line(training->report, "saved step %lld", (long long)training->progress.step);
    return error->status;
}

static bool is_out_of_patience(const struct training *training)
{
    int patience = training->config->train.patience;
    return patience > 0 && training->progress.stale_evaluations >= patience;
}

static bool is_epoch_over(const struct training *training)
{
    return training->progress.position >= training->data->parts[TAP_PART_TRAIN].n_rows;
}

/* After a step: what is due at its number. *out_end tells whether the run is to leave here. */
static enum tap_status after_step(struct training *training, bool is_last, enum training_end *out_end,
                                  struct tap_error *error)
{
    const struct tap_config *config = training->config;
    int64_t step = training->progress.step;
    bool due = step > 0 &&
               (config->train.evaluate_every > 0 ? step % config->train.evaluate_every == 0 : is_epoch_over(training));
    bool is_best = false;
    bool saves = due || is_last || (config->checkpoint.every > 0 && step % config->checkpoint.every == 0);
    if (training->valid.batches != NULL && (due || is_last) && evaluate(training, &is_best, error) != TAP_OK)
        return error->status;
    /* asked once, so that no step is left behind without the save that belongs to leaving */
    if (signals_received() != 0)
        *out_end = TRAINING_SIGNALLED;
    else if (step == config->train.stop_after)
        *out_end = TRAINING_STOPPED_AFTER;
    return saves || *out_end != TRAINING_DONE ? save(training, is_best, error) : TAP_OK;
}

/* One step with its log line. */
static enum tap_status do_step(struct training *training, struct tap_error *error)
{
    struct tap_progress *progress = &training->progress;
    double norm;
    double start_s = now_s();
    double rate = tap_schedule_rate(&training->schedule, (long)progress->step + 1);
    if (progress->epoch == 0 || is_epoch_over(training)) {
        progress->epoch++;
        tap_batches_start(training->batches, (uint64_t)progress->epoch);
    }
    enum tap_status status = training_step(training, rate, &norm, error);
    progress->step++;
    progress->position = tap_batches_position(training->batches);
    training->interval.seconds += now_s() - start_s;
    if (status != TAP_OK || progress->step % training->config->train.log_every == 0)
        training_log_step(training, rate, norm, error);
    return error->status;
}

/* The test part, with the best model where there is one. */
static enum tap_status test(struct training *training, struct tap_error *error)
{
    const struct tap_dataset *dataset = &training->data->parts[TAP_PART_TEST];
    struct evaluator evaluator = {0};
    int64_t step = training->progress.step;
    if (dataset->n_rows == 0)
        return TAP_OK;
    if (training->progress.has_best && best_model_read(training, error))
        step = training->progress.best_step;
    if (error->status == TAP_OK &&
        evaluator_init(&evaluator, training->model, training->tape, dataset,
                       (uint32_t)training->config->train.batch_size, error) == TAP_OK &&
        evaluator_run(&evaluator, error) == TAP_OK)
        training_log_scores(training, "test", step, &evaluator.scores, error);
    evaluator_clear(&evaluator);
    return error->status;
}

static bool is_over(const struct training *training)
{
    return training->progress.step >= training->total_steps || is_out_of_patience(training);
}

/* What is due before the first step: a run without steps, or one that leaves after step 0, saves the initial model; one
 * that has nothing left to do saves what it came with into its new folder. */
static enum tap_status before_steps(struct training *training, enum training_end *out_end, struct tap_error *error)
{
    bool is_fresh = training->progress.step == 0 && !training->is_resumed;
    if (is_fresh && (is_over(training) || training->config->train.stop_after == 0))
        return after_step(training, is_over(training), out_end, error);
    return is_over(training) && training->is_new_folder ? save(training, false, error) : TAP_OK;
}

enum tap_status training_run(struct training *training, enum training_end *out_end, struct tap_error *error)
{
    struct tap_progress *progress = &training->progress;
    *out_end = TRAINING_DONE;
    training->first_step = progress->step;
    if (before_steps(training, out_end, error) != TAP_OK)
        return error->status;
    while (*out_end == TRAINING_DONE && !is_over(training))
        if (do_step(training, error) != TAP_OK ||
            after_step(training, progress->step >= training->total_steps, out_end, error) != TAP_OK)
            return error->status;
    if (*out_end != TRAINING_DONE)
        return TAP_OK;
    if (training->folder == NULL) {
        best_model_recall(training);
        return TAP_OK;
    }
    if (test(training, error) != TAP_OK)
        return error->status;
    return training_log_done(training, error);
}
