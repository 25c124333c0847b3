/* format_jsonl.c: one JSON object a line. Its label (a text or an integer) and its text stand under the keys that
 * data.label_column and data.text_column name: "label" and "text" while these are left at 1 and 2. Other keys are
 * passed over, but what stands there must be JSON whose numbers fit int64 or double. Empty lines at the end of a file
 * are passed over. */
#include "formats.h"
#include "json.h"
#include "records.h"
#include "row_lines.h"

#include <string.h>

static enum tap_status read_row(struct tap_input *input, const struct tap_record *record, const char *label_key,
                                const char *text_key, const struct tap_read_options *options, struct tap_rows *rows,
                                struct tap_error *error)
{
    char number[TAP_JSON_NUMBER_BYTES];
    const char *label;
    const char *text;
    enum tap_status status = tap_record_name(record, input->name, label_key, number, &label, error);
    if (status == TAP_OK)
        status = tap_record_text(record, input->name, text_key, &text, error);
    if (status == TAP_OK)
        status = tap_add_row(input, options, rows, label, strlen(label), text, strlen(text), record->line, error);
    return status;
}

enum tap_status tap_format_jsonl(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                                 struct tap_error *error)
{
    struct tap_records records;
    struct tap_record record;
    const char *label_key = strcmp(options->label_column, "1") == 0 ? "label" : options->label_column;
    const char *text_key = tap_record_text_key(options->text_column);
    enum tap_status status = TAP_OK;
    if (strcmp(label_key, text_key) == 0)
        return tap_error_set(error, TAP_ERR_VALUE, "data.label_column: is the same as data.text_column: '%.60s'",
                             label_key);
    tap_records_start(&records, input, TAP_RECORD_JSONL, false);
    while (status == TAP_OK) {
        status = tap_records_next(&records, &record, error);
        if (status != TAP_OK || record.at_end)
            break;
        status = read_row(input, &record, label_key, text_key, options, rows, error);
    }
    tap_records_clear(&records);
    return status;
}
