/* format_space.c: a label, one space, the text. A line without a space is a label whose text is empty. */
#include "formats.h"
#include "row_lines.h"

#include <string.h>

enum tap_status tap_format_space(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                                 struct tap_error *error)
{
    struct tap_line line;
    enum tap_status status = TAP_OK;
    while (status == TAP_OK) {
        status = tap_next_row_line(input, &line, error);
        if (status != TAP_OK || line.bytes == NULL)
            break;
        const char *space = memchr(line.bytes, ' ', line.n_bytes);
        size_t n_label_bytes = space != NULL ? (size_t)(space - line.bytes) : line.n_bytes;
        size_t n_passed = n_label_bytes + (space != NULL ? 1 : 0);
        status = tap_add_row(input, options, rows, line.bytes, n_label_bytes, line.bytes + n_passed,
                             line.n_bytes - n_passed, line.number, error);
    }
    return status;
}
