/* checkpoint.h: a run in one file: parameters, optimizer state, where the run stands, config, labels and vocabulary.
 * The file alone is enough to predict; with the data files, to evaluate and to go on. Layout: npz.h and, for meta.json,
 * checkpoint_meta.c. */
#ifndef TAP_CHECKPOINT_H
#define TAP_CHECKPOINT_H

#include <stdint.h>

#include "config.h"
#include "data.h"
#include "model.h"
#include "npz.h"
#include "optimizer.h"

#define TAP_CHECKPOINT_FORMAT 1

/* Where a run stands, between two optimizer steps. */
struct tap_progress {
    int64_t step;     /* optimizer steps done */
    int64_t epoch;    /* from 1; 0 before the first step */
    int64_t position; /* rows of that epoch already used */
    double loss_sum;  /* of the sequences since the last log line, weighted */
    double loss_weight;
    bool has_best;
    double best_metric;
    int64_t best_step;
    int64_t stale_evaluations; /* since the best one */
};

/* What a save needs; all borrowed. */
struct tap_checkpoint_content {
    const struct tap_config *config;
    const struct tap_model *model;
    const struct tap_optimizer *optimizer; /* NULL: none */
    const struct tap_data *data;
    struct tap_progress progress;
    int threads;
};

/* Writes the file atomically (atomic_file.h). Errors: TAP_ERR_IO with path and reason; TAP_ERR_MEMORY;
 * TAP_ERR_NONFINITE when a parameter or state is not finite: nothing is written then. */
enum tap_status tap_checkpoint_save(const char *path, const struct tap_checkpoint_content *content, int compression,
                                    struct tap_error *error);

/* A checkpoint opened for reading: the description is parsed and checked, the arrays are still in the file. */
struct tap_checkpoint {
    char *path;
    struct tap_npz *npz;
    struct tap_config config; /* finished */
    struct tap_progress progress;
    struct tap_string_table labels; /* in the order of the logits */
    const char **label_names;       /* the same as a list */
    struct tap_tokenizer *tokenizer;
    struct tap_fingerprint files[TAP_N_PARTS];
    char *kernel_family; /* that the run used */
};

/* Opens and checks a checkpoint: the sum over the whole file, and every field of its description. Error messages name
 * the file. Parameters are read by tap_checkpoint_model. */
struct tap_checkpoint *tap_checkpoint_open(const char *path, struct tap_error *error);
void tap_checkpoint_close(struct tap_checkpoint *checkpoint); /* accepts NULL */

/* The model that the checkpoint holds, with its parameters. The caller frees it. */
struct tap_model *tap_checkpoint_model(const struct tap_checkpoint *checkpoint, struct tap_error *error);

/* Checks that the files that `data` was made of are those that the checkpoint was trained on. TAP_ERR_VALUE names the
 * one that has changed. */
enum tap_status tap_checkpoint_check_files(const struct tap_checkpoint *checkpoint, const struct tap_data *data,
                                           struct tap_error *error);

/* Reads the optimizer's states and its count of steps. All are checked before any is overwritten. */
enum tap_status tap_checkpoint_read_optimizer(const struct tap_checkpoint *checkpoint,
                                              const struct tap_parameters *parameters, struct tap_optimizer *optimizer,
                                              struct tap_error *error);

/* tap_parameters_read: sets parameters by name from an .npz. Every name and shape is checked before any number changes;
 * `partial`: a parameter that the file does not hold keeps its value, and *out_n_missing counts those (may be NULL).
 *
 * Errors  TAP_ERR_FORMAT for one that is missing, TAP_ERR_SHAPE for another shape, each naming file and parameter;
 *         TAP_ERR_NONFINITE for a number that is not finite; what tap_npz_read_real refuses */
enum tap_status tap_parameters_read(struct tap_parameters *parameters, struct tap_npz *npz, const char *path,
                                    bool partial, size_t *out_n_missing, struct tap_error *error);

/* A model with parameters from an .npz of any origin, as train.init says. */
enum tap_status tap_parameters_read_file(struct tap_parameters *parameters, const char *path, bool partial,
                                         size_t *out_n_missing, struct tap_error *error);

#endif
