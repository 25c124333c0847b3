/* task_maker.h: what the files of the built-in tasks share: a task draws one text after another, and here those that
 * are new become rows. Not for use outside the task_ files. */
#ifndef TAP_TASK_MAKER_H
#define TAP_TASK_MAKER_H

#include "rng.h"
#include "tasks.h"

#include <stdbool.h>

#define TAP_TASK_MOST_ROWS 1000000
#define TAP_TASK_MOST_TOGETHER 2

/* Draws in a row without a new text after which a task gives up: enough to find the last one of a thousand. */
#define TAP_TASK_MOST_DRAWS 10000

/* One text that was drawn. */
struct tap_task_draft {
    char *text; /* room for most_bytes */
    size_t n_bytes;
    const char *label;
};

/* How a task makes its rows. */
struct tap_task_plan {
    const char *name; /* of the task: its random numbers are its own */
    int rows;
    int n_together; /* rows drawn at once, which stay in one part of the data; 1 to TAP_TASK_MOST_TOGETHER */
    int least_rows; /* that make sense */
    size_t most_bytes;
    const void *sizes; /* passed on to draw */
    /* Draws n_together texts with their labels. `number` counts the calls that led to rows: labels that take turns go
     * by it. False: nothing came of it, draw again. */
    bool (*draw)(struct tap_rng *rng, const void *sizes, uint32_t number, struct tap_task_draft *out_drafts);
};

/* Appends plan->rows rows with distinct texts.
 *
 * Errors  TAP_ERR_VALUE, naming task.rows, for a number that is too small, above TAP_TASK_MOST_ROWS, no multiple of
 *         n_together, or of which there are not so many distinct texts; TAP_ERR_MEMORY */
enum tap_status tap_task_make_rows(const struct tap_task_plan *plan, uint64_t seed, struct tap_rows *rows,
                                   uint32_t *out_group_size, struct tap_error *error);

/* One size of a task, as the config gives it; 0 there stands for `initial`. */
struct tap_task_size {
    const char *key; /* "task.length" */
    int initial, least, most;
};

/* Errors  TAP_ERR_VALUE, naming the key, when `given` is neither 0 nor from least to most */
enum tap_status tap_task_choose_size(const struct tap_task_size *size, int given, int *out, struct tap_error *error);

#endif
