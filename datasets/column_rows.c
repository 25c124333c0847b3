/* column_rows.c: see column_rows.h. */
#include "column_rows.h"

#include "columns.h"
#include "row_lines.h"

#include <inttypes.h>

/* Whoever writes blanks where tabs are meant gets a hint. */
static const char *hint(enum tap_record_kind kind)
{
    return kind == TAP_RECORD_TSV ? "; columns end at a tab" : "";
}

static enum tap_status read_row(struct tap_input *input, enum tap_record_kind kind, const struct tap_record *record,
                                const struct tap_columns *columns, const struct tap_read_options *options,
                                struct tap_rows *rows, struct tap_error *error)
{
    const struct tap_column *wanted[] = {&columns->label, &columns->text};
    for (int i = 0; i < 2; i++)
        if (wanted[i]->number > record->n_fields)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": %zu column%s, but %s is %zu%s", input->name,
                                 record->line, record->n_fields, record->n_fields == 1 ? "" : "s", wanted[i]->key,
                                 wanted[i]->number, hint(kind));
    const struct tap_field *label = &record->fields[columns->label.number - 1];
    const struct tap_field *text = &record->fields[columns->text.number - 1];
    if (label->n_bytes == 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": the label (column %zu) is empty", input->name,
                             record->line, columns->label.number);
    return tap_add_row(input, options, rows, label->bytes, label->n_bytes, text->bytes, text->n_bytes, record->line,
                       error);
}

enum tap_status tap_read_column_rows(struct tap_input *input, enum tap_record_kind kind,
                                     const struct tap_read_options *options, struct tap_rows *rows,
                                     struct tap_error *error)
{
    struct tap_columns columns;
    struct tap_records records;
    struct tap_record record;
    tap_records_start(&records, input, kind, false);
    enum tap_status status = tap_columns_parse(options, &columns, error);
    while (status == TAP_OK) {
        status = tap_records_next(&records, &record, error);
        if (status != TAP_OK || record.at_end)
            break;
        status = record.is_first && columns.has_header ? tap_columns_read_header(&columns, &record, input->name, error)
                                                       : read_row(input, kind, &record, &columns, options, rows, error);
    }
    tap_records_clear(&records);
    return status;
}
