/* task_case.h: what the tests of the built-in tasks share. */
#ifndef TASK_CASE_H
#define TASK_CASE_H

#include "data.h"

#define TASK_CASE_TEXT_BYTES 32768

/* The rows of a task; stops the test where they cannot be made or do not come in groups of that size. */
struct tap_rows *task_case_rows(const char *task, const struct tap_task_options *options, uint64_t seed,
                                uint32_t group_size);

/* The text of a row with a closing zero, until the next call. */
const char *task_case_text(const struct tap_rows *rows, uint32_t row);

/* The data of a task, cut into 80, 10 and 10 %, by words. */
struct tap_data *task_case_data(const char *task, const struct tap_task_options *options);

/* Texts are distinct; the same seed gives the same rows, another one others. */
void task_case_expect_distinct(const struct tap_rows *rows);
void task_case_expect_seeded(const char *task, const struct tap_task_options *options);

/* Each label has n_rows / n_labels rows in all, and its share, to within `spread` rows, of each part. */
void task_case_expect_balance(const char *task, const struct tap_task_options *options, uint32_t n_labels,
                              uint32_t spread);

/* With each of the n values of `field` (in options) the task is refused in one line that begins with the key. */
void task_case_expect_refused(const char *task, struct tap_task_options *options, int *field, const int *values,
                              size_t n, const char *key);
/* ... and with these it makes rows. */
void task_case_expect_accepted(const char *task, struct tap_task_options *options, int *field, const int *values,
                               size_t n);

/* Every failing allocation gives TAP_ERR_MEMORY, until the rows are made. */
void task_case_expect_memory_errors(const char *task, const struct tap_task_options *options);

#endif
