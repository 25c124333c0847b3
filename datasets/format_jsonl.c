/* format_jsonl.c: one JSON object a line. Its label (a text or an integer) and its text stand under the keys that
 * data.label_column and data.text_column name: "label" and "text" while these are left at 1 and 2. Other keys are
 * passed over, but what stands there must be JSON whose numbers fit int64 or double. Empty lines at the end of a file
 * are passed over. */
#include "formats.h"
#include "json.h"
#include "row_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WHERE_BYTES 600

static enum tap_status read_row(struct tap_input *input, struct tap_line line, const char *label_key,
                                const char *text_key, const struct tap_read_options *options, struct tap_rows *rows,
                                struct tap_error *error)
{
    char where[WHERE_BYTES];
    char number[TAP_JSON_NUMBER_BYTES];
    struct tap_error own_error = {0};
    struct tap_json *value = tap_json_parse_line(line.bytes, line.n_bytes, input->name, line.number, &own_error);
    snprintf(where, sizeof where, "%.500s:%" PRIu64, input->name, line.number);
    struct tap_json_place object = tap_json_root(value, where, &own_error);
    if (value != NULL) {
        const char *label = tap_json_as_name(tap_json_get(&object, label_key), number);
        const char *text = own_error.status == TAP_OK ? tap_json_get_text(&object, text_key) : "";
        if (own_error.status == TAP_OK)
            tap_add_row(input, options, rows, label, strlen(label), text, strlen(text), line.number, &own_error);
    }
    tap_json_free(value);
    return own_error.status == TAP_OK ? TAP_OK : tap_error_set(error, own_error.status, "%s", own_error.message);
}

static const char *key_of(const char *column, const char *initial, const char *key)
{
    return strcmp(column, initial) == 0 ? key : column;
}

enum tap_status tap_format_jsonl(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                                 struct tap_error *error)
{
    struct tap_line line;
    const char *label_key = key_of(options->label_column, "1", "label");
    const char *text_key = key_of(options->text_column, "2", "text");
    enum tap_status status = TAP_OK;
    if (strcmp(label_key, text_key) == 0)
        return tap_error_set(error, TAP_ERR_VALUE, "data.label_column: is the same as data.text_column: '%.60s'",
                             label_key);
    while (status == TAP_OK) {
        status = tap_next_row_line(input, &line, error);
        if (status != TAP_OK || line.bytes == NULL)
            break;
        status = read_row(input, line, label_key, text_key, options, rows, error);
    }
    return status;
}
