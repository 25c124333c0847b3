/* format_csv.c: columns by RFC 4180: between commas, semicolons or tabs (told by the first record), quoted where a
 * field holds a separator, a quotation mark or a line end. records.h has the rules. */
#include "column_rows.h"

enum tap_status tap_format_csv(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                               struct tap_error *error)
{
    return tap_read_column_rows(input, TAP_RECORD_CSV, options, rows, error);
}
