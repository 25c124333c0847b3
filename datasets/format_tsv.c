/* format_tsv.c: lines of columns with one tab between them. There is no quoting and no escape: every byte but tab and
 * newline is text. Columns other than label and text are passed over. Empty lines at the end of a file are passed over;
 * an empty line with rows behind it is refused, as a row is missing there. */
#include "column_rows.h"

enum tap_status tap_format_tsv(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                               struct tap_error *error)
{
    return tap_read_column_rows(input, TAP_RECORD_TSV, options, rows, error);
}
