/* tiny_run.h: small training runs in this process, and what two runs are compared by. */
#ifndef TINY_RUN_H
#define TINY_RUN_H

#include "training.h"

/* A built-in task of 80 sentences, 64 of them to train on: with batches of 10, 7 batches an epoch, the last one of 4.
 */
#define TINY_CONFIG                                                                                                    \
    "model: {d_model: 8, heads: 2, layers: 1, d_ff: 16, dropout: 0.1}\n"                                               \
    "data: {task: order, valid_fraction: 0.2}\n"                                                                       \
    "task: {rows: 80, language: english}\n"

/* Labelled texts in three classes, `n_rows` of them, as a TSV file. */
void write_tiny_data(const char *path, int n_rows);

/* Trains in `folder` (new, unless resume) as config and the NULL-ended list of group.key=value say, until the end or
 * stop_after. Fails the test on any error. */
void tiny_train(const char *folder, bool resume, const char *config, const char *const *sets);

/* The same, but errors are the caller's. */
enum tap_status tiny_try(const char *folder, bool resume, const char *config, const char *const *sets,
                         struct tap_error *error);

/* The same, from a checkpoint file into a new folder. */
void tiny_train_from(const char *file, const char *folder, const char *config, const char *const *sets);

/* The lines of a metrics.jsonl without what depends on time: good until the test ends. */
const char *timeless_metrics(const char *folder);

/* Asserts that two run folders hold the same: metrics but for times, last.npz to the byte, the
 * arrays of best.npz. `what` names the
 * case in messages. */
void expect_same_runs(const char *a, const char *b, const char *what);

/* The bytes of all arrays of an .npz, one after the other, without meta.json; for tap_mem_free. */
char *npz_arrays(const char *path, size_t *out_n);
bool same_arrays(const char *a, const char *b);

/* The text of meta.json of an .npz; good until the test ends. */
const char *npz_meta(const char *path);

#endif
