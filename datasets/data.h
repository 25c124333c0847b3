/* data.h: everything that training or evaluating needs of the data: parts, labels, tokenizer, and what the files were.
 * Made either from files or from a built-in task. */
#ifndef TAP_DATA_H
#define TAP_DATA_H

#include "data_summary.h"
#include "dataset.h"
#include "split.h"
#include "tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The keys of the config's data and task groups. An empty string or NULL: none. */
struct tap_data_options {
    const char *task;                     /* a built-in task, */
    const char *train, *valid, *test;     /* or files; "-" (once) is standard input */
    double valid_fraction, test_fraction; /* of the training file (or the task), where no file is given */
    uint64_t seed;                        /* of the split, and of a task's rows */
    const char *format, *header, *label_column, *text_column; /* as in struct tap_read_options, and so are */
    const char *encoding, *bad_bytes, *label_prefix_end;
    const char *tokenizer;
    bool lowercase;
    int min_count, max_vocab, max_length;
    struct tap_ngram_options ngrams;
    const char *truncate; /* as in struct tap_tokenizer_options */
    bool add_cls;
    struct tap_task_options task_options;
    bool keep_rows; /* as they were read, in tap_data.rows */
};

struct tap_data {
    const char *const
        *labels; /* names in the order of their numbers: that of their bytes, unless stored ones were given */
    size_t n_labels;
    const struct tap_tokenizer *tokenizer;
    struct tap_dataset parts[TAP_N_PARTS];     /* by enum tap_part; n_rows == 0: absent (never the training part) */
    struct tap_fingerprint files[TAP_N_PARTS]; /* path NULL: that part has no file of its own */
    struct tap_data_summary summaries[TAP_N_PARTS];
    struct tap_row_choice rows[TAP_N_PARTS]; /* with keep_rows: each part's texts, in the order of its rows */

    struct tap_string_table label_names;    /* what `labels` points to */
    struct tap_tokenizer *own_tokenizer;    /* the learned one; NULL when a stored one was given */
    struct tap_rows *own_rows[TAP_N_PARTS]; /* what `rows` points to */
    uint8_t *own_choice;
};

/* Reads, splits, learns (vocabulary and labels come from the training part alone) and encodes.
 *
 * Resuming or evaluating gives the checkpoint's tokenizer and labels, which are then used as they are; the tokenizer is
 * borrowed until tap_data_free, the labels are copied. Otherwise NULL, NULL, 0.
 * Returns NULL, with the error set: bad options, unreadable file, a label that the training part does not have (with
 * file and line), fewer than two labels, no memory. */
struct tap_data *tap_data_open(const struct tap_data_options *options, const struct tap_tokenizer *stored_tokenizer,
                               const char *const *stored_labels, size_t n_stored_labels, struct tap_error *error);

void tap_data_free(struct tap_data *data);

/* The part of the options that says how a file is read. */
struct tap_read_options tap_data_read_options(const struct tap_data_options *options);

#endif
