/* columns.h: which columns of a table hold label and text, by number from 1 or by name, and whether the first line is a
 * header. Shared by the formats that have columns. */
#ifndef TAP_COLUMNS_H
#define TAP_COLUMNS_H

#include "error.h"
#include "formats.h"
#include "records.h"

#include <stdbool.h>
#include <stddef.h>

struct tap_column {
    const char *key;  /* "data.label_column", for messages */
    const char *name; /* borrowed; NULL when given by number */
    size_t number;    /* from 1; 0: given by name and not yet found */
};

struct tap_columns {
    struct tap_column label, text;
    bool has_header;
};

/* Reads the options: a column spelled in digits alone is a number, else a name. `header` is "auto" (a header when a
 * column is given by name), "yes" or "no". */
enum tap_status tap_columns_parse(const struct tap_read_options *options, struct tap_columns *out_columns,
                                  struct tap_error *error);

/* Finds both in the header, a record of fields. A name that is not there or is there twice is refused, and so are a
 * number beyond the last field, and one column for both. */
enum tap_status tap_columns_read_header(struct tap_columns *columns, const struct tap_record *header,
                                        const char *file_name, struct tap_error *error);

/* The same for one column by itself; `key` is what messages call it. */
enum tap_status tap_column_parse(const char *key, const char *value, struct tap_column *out_column,
                                 struct tap_error *error);
enum tap_status tap_column_read_header(struct tap_column *column, const struct tap_record *header,
                                       const char *file_name, struct tap_error *error);

#endif
