/* training.h: everything a training run holds, made from a config, and the run itself. A run works in a folder, or in
 * memory alone: then it writes and tells nothing, and leaves the model that it was for. */
#ifndef TRAINING_H
#define TRAINING_H

#include "config_use.h"
#include "evaluation.h"
#include "report.h"
#include "run_folder.h"

/* What was done since the last log line, for the progress line alone; loss and weight are in tap_progress. */
struct training_interval {
    uint64_t n_rows;
    uint64_t n_right;
    uint64_t n_tokens;
    double seconds;
};

/* What the run will take. */
struct training_needs {
    size_t parameter_bytes;
    double forward_flops_per_token; /* a training step does about three times as much */
    size_t peak_bytes;              /* resident memory at its highest */
};

struct training {
    const struct tap_config *config; /* finished; borrowed */
    struct report *report;           /* borrowed */
    struct tap_data *data;
    struct tap_model *model;
    struct tap_optimizer *optimizer;
    struct tap_batches *batches;
    struct tap_tape *tape;
    struct evaluator valid;  /* batches NULL: there is no validation part */
    tap_real *class_weights; /* C numbers; NULL: all 1 */
    struct tap_schedule_options schedule;
    int64_t total_steps;
    struct tap_progress progress;
    struct training_interval interval;
    struct run_folder *folder; /* borrowed; NULL: in memory alone, */
    tap_real *best_parameters; /* and this is the block of the best evaluation; NULL: none yet */
    bool is_resumed;           /* it began with a checkpoint, */
    bool is_new_folder;        /* and whose folder is not that of the checkpoint */
    double started_s;
    int64_t first_step; /* where this process began */
    struct training_needs needs;
};

/* Reads the data and builds model, optimizer and tape, all at their start or, with a checkpoint, where it stands. The
 * checkpoint must stay open as long as the training. Frees what it made when it fails. */
enum tap_status training_init(struct training *training, const struct tap_config *config, struct report *report,
                              const struct tap_checkpoint *from, struct tap_error *error);
void training_clear(struct training *training);

/* Writes config.cfg and data.json into the folder and starts metrics.jsonl there. */
enum tap_status training_start_folder(struct training *training, struct run_folder *folder, bool resumed,
                                      struct tap_error *error);

/* How a run ended. */
enum training_end { TRAINING_DONE, TRAINING_STOPPED_AFTER, TRAINING_SIGNALLED };

/* Trains until the end, stop_after or a signal, logging, evaluating and saving as the config says. Without a folder
 * nothing is logged or saved and the test part is left alone; a run that is done leaves the best model where there is a
 * validation part, else the last one. */
enum tap_status training_run(struct training *training, enum training_end *out_end, struct tap_error *error);

/* One optimizer step (train_step.c): the gradients of up to `accumulate` batches, clipped, given to the optimizer.
 * *out_norm: the gradient's norm before clipping. TAP_ERR_NONFINITE names the step, the rate and the first bad tensor.
 */
enum tap_status training_step(struct training *training, double learning_rate, double *out_norm,
                              struct tap_error *error);

/* Fills training->needs, whose peak_bytes holds what was resident before optimizer and tape (memory_plan.c). */
enum tap_status training_plan(struct training *training, struct tap_error *error);
size_t resident_bytes(void); /* 0 where the system does not tell */

/* Lines of metrics.jsonl and of standard output (train_log.c); none without a folder. */
enum tap_status training_log_step(struct training *training, double learning_rate, double norm,
                                  struct tap_error *error);
enum tap_status training_log_scores(struct training *training, const char *split, int64_t step,
                                    const struct scores *scores, struct tap_error *error);
enum tap_status training_log_done(struct training *training, struct tap_error *error);

/* data.json (data_report.c), for tap_mem_free. */
char *data_report(const struct tap_data *data, struct tap_error *error);
const char *part_name(enum tap_part part);
double unknown_rate(const struct tap_data *data, enum tap_part part); /* unknown tokens, as a fraction of all */

/* The same in a few lines of standard output (data_lines.c). */
void data_lines(const struct tap_data *data, struct report *report);

/* Seconds since some fixed moment. */
double now_s(void);

/* After signals_start, the first SIGINT or SIGTERM is noted and a second one ends the process at once. 0: none yet. */
void signals_start(void);
int signals_received(void);

/* Writes to a closed pipe or past a size limit fail with an error, which is told, in place of a silent death. */
void ignore_broken_pipes(void);

#endif
