/* rows.h: labelled texts as a reader or a task brings them, before any tokenizer: one pool of bytes, label names held
 * once, and the file and line each row came from, so that a later complaint can name them. */
#ifndef TAP_ROWS_H
#define TAP_ROWS_H

#include "error.h"
#include "string_table.h"

struct tap_row {
    size_t text_start; /* in the pool */
    size_t n_text_bytes;
    uint64_t line;       /* in the file, from 1 */
    uint32_t label;      /* number in `labels` */
    uint32_t n_replaced; /* bytes of its lines that became U+FFFD */
};

/* The rows from this one on, up to the first of the next file. */
struct tap_rows_file {
    char *name;
    uint32_t first_row;
};

struct tap_rows {
    char *pool;
    size_t n_pool_bytes, pool_capacity;
    struct tap_row *rows;
    uint32_t n;
    size_t rows_capacity;
    struct tap_string_table labels; /* in order of first appearance */
    struct tap_rows_file *files;    /* in the order in which they were read; none: the rows come from no file */
    size_t n_files, files_capacity;
};

/* No rows yet; NULL when memory runs out. */
struct tap_rows *tap_rows_new(void);
void tap_rows_free(struct tap_rows *rows);

/* Adds a row, copying both texts. At most 2^32 - 1 rows. */
enum tap_status tap_rows_append(struct tap_rows *rows, const char *label, size_t n_label_bytes, const char *text,
                                size_t n_text_bytes, uint64_t line, struct tap_error *error);

/* The text of a row (no closing zero), valid until the next append. */
const char *tap_rows_text(const struct tap_rows *rows, uint32_t row, size_t *out_n_bytes);
const char *tap_rows_label(const struct tap_rows *rows, uint32_t row);

/* From now on rows come from the file of this name, which is copied. */
enum tap_status tap_rows_start_file(struct tap_rows *rows, const char *name, struct tap_error *error);

/* The file that a row came from, NULL when none was started before it. */
const char *tap_rows_file(const struct tap_rows *rows, uint32_t row);

#endif
