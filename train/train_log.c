/* train_log.c: the lines of metrics.jsonl and those that a person reads. */
#include "training.h"

#include <math.h>
#include <stdio.h>

/* A number, or the string "nan" or "inf" where it is none: JSON has no such numbers. */
static void set_number(struct tap_json *object, const char *key, double value, struct tap_error *error)
{
    if (isfinite(value))
        tap_json_set_real(object, key, value, error);
    else
        tap_json_set_text(object, key, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", error);
}

/* "12 s", "3 min 10 s", "2 h 5 min" */
static const char *duration_text(double seconds, char *out, size_t n_bytes)
{
    long long whole = (long long)(seconds + 0.5);
    if (whole < 60)
        snprintf(out, n_bytes, "%lld s", whole);
    else if (whole < 3600)
        snprintf(out, n_bytes, "%lld min %lld s", whole / 60, whole % 60);
    else
        snprintf(out, n_bytes, "%lld h %lld min", whole / 3600, whole / 60 % 60);
    return out;
}

enum tap_status training_log_step(struct training *training, double learning_rate, double norm, struct tap_error *error)
{
    struct tap_progress *progress = &training->progress;
    struct training_interval *interval = &training->interval;
    struct tap_error own = {0};
    double loss = progress->loss_weight > 0 ? progress->loss_sum / progress->loss_weight : progress->loss_sum;
    loss = isnan(loss) ? (double)NAN : loss; /* without a sign: it would be printed */
    double rate = interval->seconds > 0 ? (double)interval->n_tokens / interval->seconds : 0;
    double accuracy = interval->n_rows > 0 ? (double)interval->n_right / (double)interval->n_rows : 0;
    double run_s = now_s() - training->started_s;
    if (training->folder == NULL)
        return error->status;
    struct tap_json *line = tap_json_new_object(&own);
    tap_json_set_text(line, "event", "train", &own);
    tap_json_set_integer(line, "step", progress->step, &own);
    tap_json_set_integer(line, "epoch", progress->epoch, &own);
    set_number(line, "loss", loss, &own);
    set_number(line, "learning_rate", learning_rate, &own);
    set_number(line, "gradient_norm", norm, &own);
    set_number(line, "tokens_per_second", rate, &own);
    if (run_folder_log(training->folder, line, &own) != TAP_OK)
        tap_error_set(error, own.status, "%s", own.message);
    char left[64];
    double steps_left = (double)(training->total_steps - progress->step);
    double steps_done = (double)(progress->step - training->first_step);
    report_progress(training->report, "step %lld/%lld  epoch %lld  loss %.4f  accuracy %.1f%%  %.0f tokens/s  %s left",
                    (long long)progress->step, (long long)training->total_steps, (long long)progress->epoch, loss,
                    100 * accuracy, rate,
                    duration_text(steps_done > 0 ? run_s / steps_done * steps_left : 0, left, sizeof left));
    progress->loss_sum = 0;
    progress->loss_weight = 0;
    *interval = (struct training_interval){0};
    return error->status;
}

enum tap_status training_log_scores(struct training *training, const char *split, int64_t step,
                                    const struct scores *scores, struct tap_error *error)
{
    if (training->folder == NULL)
        return error->status;
    struct tap_json *line = tap_json_new_object(error);
    tap_json_set_text(line, "event", "evaluate", error);
    tap_json_set_text(line, "split", split, error);
    tap_json_set_integer(line, "step", step, error);
    set_number(line, "loss", scores_loss(scores), error);
    set_number(line, "accuracy", scores_accuracy(scores), error);
    set_number(line, "macro_f1", scores_macro_f1(scores), error);
    report_line(training->report, "step %lld  %s: loss %.4f  accuracy %.2f%%  macro F1 %.4f", (long long)step, split,
                scores_loss(scores), 100 * scores_accuracy(scores), scores_macro_f1(scores));
    return run_folder_log(training->folder, line, error);
}

enum tap_status training_log_done(struct training *training, struct tap_error *error)
{
    char text[64];
    double seconds = now_s() - training->started_s;
    struct tap_json *line = tap_json_new_object(error);
    tap_json_set_text(line, "event", "done", error);
    tap_json_set_integer(line, "steps", training->progress.step, error);
    set_number(line, "seconds", seconds, error);
    report_line(training->report, "done: %lld steps in %s, in %s", (long long)training->progress.step,
                duration_text(seconds, text, sizeof text), training->folder->path);
    return run_folder_log(training->folder, line, error);
}
