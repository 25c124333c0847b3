/* format_csv.c: columns by RFC 4180: between commas, semicolons or tabs (told by the first record), quoted where a
 * field holds a separator, a quotation mark or a line end. Every record has as many columns as the first. A record is
 * named by the line on which it starts. Empty lines at the start and the end of a file are passed over; an empty line
 * with records on both sides is refused, as a row is missing there. */
#include "columns.h"
#include "csv_record.h"
#include "formats.h"
#include "row_lines.h"

#include <inttypes.h>

struct csv_file {
    struct tap_input *input;
    struct tap_columns columns;
    char separator;
    size_t n_columns;    /* 0: no record yet */
    uint64_t first_line; /* of the first record */
};

static enum tap_status read_header(struct csv_file *file, const struct tap_csv_record *record, struct tap_error *error)
{
    enum tap_status status = TAP_OK;
    file->columns.header_line = record->line;
    for (size_t i = 0; i < record->n_fields && status == TAP_OK; i++)
        status = tap_columns_see_header(&file->columns, i + 1, record->fields[i].bytes, record->fields[i].n_bytes,
                                        file->input->name, error);
    return status == TAP_OK ? tap_columns_end_header(&file->columns, record->n_fields, file->input->name, error)
                            : status;
}

static enum tap_status read_row(const struct csv_file *file, const struct tap_csv_record *record,
                                const struct tap_read_options *options, struct tap_rows *rows, struct tap_error *error)
{
    const struct tap_column *wanted[] = {&file->columns.label, &file->columns.text};
    if (record->n_fields != file->n_columns)
        return tap_error_set(error, TAP_ERR_FORMAT,
                             "%s:%" PRIu64 ": %zu column%s, but line %" PRIu64
                             " has %zu; a field that holds a separator must be quoted",
                             file->input->name, record->line, record->n_fields, record->n_fields == 1 ? "" : "s",
                             file->first_line, file->n_columns);
    for (int i = 0; i < 2; i++)
        if (wanted[i]->number > record->n_fields)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": %zu column%s, but %s is %zu",
                                 file->input->name, record->line, record->n_fields, record->n_fields == 1 ? "" : "s",
                                 wanted[i]->key, wanted[i]->number);
    const struct tap_csv_field *label = &record->fields[file->columns.label.number - 1];
    const struct tap_csv_field *text = &record->fields[file->columns.text.number - 1];
    return tap_add_row(file->input, options, rows, label->bytes, label->n_bytes, text->bytes, text->n_bytes,
                       record->line, error);
}

static enum tap_status take_record(struct csv_file *file, struct tap_csv_record *record,
                                   const struct tap_read_options *options, struct tap_rows *rows,
                                   struct tap_error *error)
{
    bool is_first = file->n_columns == 0;
    if (is_first)
        file->separator = tap_csv_separator(record);
    enum tap_status status = tap_csv_cut(record, file->separator, file->input->name, error);
    if (status != TAP_OK)
        return status;
    if (is_first) {
        file->n_columns = record->n_fields;
        file->first_line = record->line;
    }
    return is_first && file->columns.has_header ? read_header(file, record, error)
                                                : read_row(file, record, options, rows, error);
}

enum tap_status tap_format_csv(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                               struct tap_error *error)
{
    struct csv_file file = {.input = input};
    struct tap_csv_record record = {0};
    uint64_t empty_line = 0; /* the first of the empty lines just passed, 0 for none */
    enum tap_status status = tap_columns_parse(options, &file.columns, error);
    while (status == TAP_OK) {
        status = tap_csv_read(input, &record, error);
        if (status != TAP_OK || record.at_end)
            break;
        if (record.n_bytes == 0 && empty_line == 0 && file.n_columns > 0)
            empty_line = record.line;
        if (record.n_bytes == 0)
            continue;
        status = empty_line > 0 ? tap_empty_line(input, empty_line, error)
                                : take_record(&file, &record, options, rows, error);
    }
    tap_csv_clear(&record);
    return status;
}
