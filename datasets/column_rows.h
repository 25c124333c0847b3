/* column_rows.h: rows out of records that have columns: what CSV and TSV have in common. */
#ifndef TAP_COLUMN_ROWS_H
#define TAP_COLUMN_ROWS_H

#include "formats.h"
#include "records.h"

/* Appends the label and text columns of all records of a kind (records.h), whose first one may be a header; the other
 * columns are passed over. A record without one of the two, or with an empty label, is refused by line. */
enum tap_status tap_read_column_rows(struct tap_input *input, enum tap_record_kind kind,
                                     const struct tap_read_options *options, struct tap_rows *rows,
                                     struct tap_error *error);

#endif
