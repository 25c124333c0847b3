/* tasks.h: built-in tasks: labelled texts made by a rule, for a first run without any file and for tests that need to
 * know the right answer. A task is one file (task_<name>.c) and one line in tasks.def. */
#ifndef TAP_TASKS_H
#define TAP_TASKS_H

#include "error.h"
#include "rows.h"

#include <stdint.h>

/* The keys of the config's task group; a task reads those that are its own. */
struct tap_task_options {
    int rows;                 /* of all parts together */
    const char *language;     /* order: "english", "chinese", "both" */
    int length, depth, kinds; /* 0: the task's own */
};

/* Appends the task's rows to `rows`; the same options and seed give the same rows. `*out_group_size` rows in a row
 * belong together and must land in the same part (1: each row for itself). */
typedef enum tap_status tap_task_function(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                                          uint32_t *out_group_size, struct tap_error *error);
#define TAP_TASK(name, function, summary) tap_task_function function;
#include "tasks.def"
#undef TAP_TASK

/* Makes the rows of the task of that name; an unknown one is refused together with the known names. */
enum tap_status tap_task_make(const char *name, const struct tap_task_options *options, uint64_t seed,
                              struct tap_rows *rows, uint32_t *out_group_size, struct tap_error *error);

#endif
