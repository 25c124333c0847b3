/* format_tsv.c: lines of columns with one tab between them. There is no quoting and no escape: every byte but tab and
 * newline is text. Columns other than label and text are passed over. Empty lines at the end of a file are passed over;
 * an empty line with rows behind it is refused, as a row is missing there. */
#include "columns.h"
#include "formats.h"
#include "row_lines.h"

#include <inttypes.h>
#include <string.h>

struct field {
    const char *bytes;
    size_t n_bytes;
};

/* Cuts the next field off a line; false when none is left. A line of no bytes has one empty field. */
static bool next_field(struct tap_line *line, struct field *out)
{
    if (line->bytes == NULL)
        return false;
    const char *tab = memchr(line->bytes, '\t', line->n_bytes);
    out->bytes = line->bytes;
    out->n_bytes = tab != NULL ? (size_t)(tab - line->bytes) : line->n_bytes;
    line->n_bytes -= tab != NULL ? out->n_bytes + 1 : out->n_bytes;
    line->bytes = tab != NULL ? tab + 1 : NULL;
    return true;
}

static enum tap_status read_header(const struct tap_input *input, struct tap_line line, struct tap_columns *columns,
                                   struct tap_error *error)
{
    struct field field;
    size_t n_fields = 0;
    while (next_field(&line, &field)) {
        enum tap_status status =
            tap_columns_see_header(columns, ++n_fields, field.bytes, field.n_bytes, input->name, error);
        if (status != TAP_OK)
            return status;
    }
    return tap_columns_end_header(columns, n_fields, input->name, error);
}

static enum tap_status missing_column(const struct tap_input *input, uint64_t line, size_t n_fields,
                                      const struct tap_column *column, struct tap_error *error)
{
    return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": %zu column%s, but %s is %zu; columns end at a tab",
                         input->name, line, n_fields, n_fields == 1 ? "" : "s", column->key, column->number);
}

static enum tap_status read_row(struct tap_input *input, struct tap_line line, const struct tap_columns *columns,
                                const struct tap_read_options *options, struct tap_rows *rows, struct tap_error *error)
{
    struct field field;
    struct field label = {NULL, 0};
    struct field text = {NULL, 0};
    size_t n_fields = 0;
    while (next_field(&line, &field)) {
        n_fields++;
        if (n_fields == columns->label.number)
            label = field;
        if (n_fields == columns->text.number)
            text = field;
    }
    if (label.bytes == NULL)
        return missing_column(input, line.number, n_fields, &columns->label, error);
    if (text.bytes == NULL)
        return missing_column(input, line.number, n_fields, &columns->text, error);
    if (label.n_bytes == 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": the label (column %zu) is empty", input->name,
                             line.number, columns->label.number);
    return tap_add_row(input, options, rows, label.bytes, label.n_bytes, text.bytes, text.n_bytes, line.number, error);
}

enum tap_status tap_format_tsv(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                               struct tap_error *error)
{
    struct tap_columns columns;
    struct tap_line line;
    enum tap_status status = tap_columns_parse(options, &columns, error);
    while (status == TAP_OK) {
        status = tap_next_row_line(input, &line, error);
        if (status != TAP_OK || line.bytes == NULL)
            break;
        status = line.number == 1 && columns.has_header ? read_header(input, line, &columns, error)
                                                        : read_row(input, line, &columns, options, rows, error);
    }
    return status;
}
