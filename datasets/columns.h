/* columns.h: which columns of a table hold label and text, by number from 1 or by name, and whether the first line is a
 * header. Shared by the formats that have columns. */
#ifndef TAP_COLUMNS_H
#define TAP_COLUMNS_H

#include "error.h"
#include "formats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_column {
    const char *key;  /* "data.label_column", for messages */
    const char *name; /* borrowed; NULL when given by number */
    size_t number;    /* from 1; 0: given by name and not yet found */
};

struct tap_columns {
    struct tap_column label, text;
    bool has_header;
    uint64_t header_line; /* in the file; the reader sets it before it tells of the header's fields */
};

/* Reads the options: a column spelled in digits alone is a number, else a name. `header` is "auto" (a header when a
 * column is given by name), "yes" or "no". */
enum tap_status tap_columns_parse(const struct tap_read_options *options, struct tap_columns *out_columns,
                                  struct tap_error *error);

/* Tells the columns one field of the header, number from 1; a wanted name that comes twice is refused. */
enum tap_status tap_columns_see_header(struct tap_columns *columns, size_t number, const char *field, size_t n_bytes,
                                       const char *file_name, struct tap_error *error);

/* After the last field of the header: refuses when a wanted column is not among its `n_fields`. */
enum tap_status tap_columns_end_header(const struct tap_columns *columns, size_t n_fields, const char *file_name,
                                       struct tap_error *error);

#endif
