/* scored_rows.h: the labelled rows that ./evaluate scores, together with their texts as they were read. */
#ifndef SCORED_ROWS_H
#define SCORED_ROWS_H

#include "checkpoint.h"

struct scored_rows {
    const struct tap_dataset *dataset;
    struct tap_row_choice texts; /* the r-th chosen one is row r of the dataset */
    const char *source;          /* the file, folder or built-in task that they come from */

    /* What these point to: a file's rows, or all data of the model. */
    struct tap_dataset own_dataset;
    struct tap_rows *own_texts;
    struct tap_data *data;
};

/* Reads the rows of `path` (`format` NULL: read as the training files were); or, with path NULL, the data that the
 * checkpoint's model was trained on, whose test part, else validation part, it takes. The checkpoint stays open as long
 * as the rows. Clear them also after an error. */
enum tap_status scored_rows_open(struct scored_rows *rows, const struct tap_checkpoint *checkpoint, const char *path,
                                 const char *format, struct tap_error *error);
/* The file that a text comes from: one of a folder's, else `source`. */
const char *scored_rows_file(const struct scored_rows *rows, uint32_t text);

void scored_rows_clear(struct scored_rows *rows);

#endif
