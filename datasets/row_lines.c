/* row_lines.c: see row_lines.h. */
#include "row_lines.h"

#include "quote.h"

#include <inttypes.h>
#include <string.h>

enum tap_status tap_empty_line(const struct tap_input *input, uint64_t line, struct tap_error *error)
{
    return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": an empty line; every line holds a row", input->name,
                         line);
}

enum tap_status tap_next_row_line(struct tap_input *input, struct tap_line *out_line, struct tap_error *error)
{
    uint64_t empty_line = 0; /* the first one passed, 0 for none */
    for (;;) {
        enum tap_status status = tap_input_next_line(input, out_line, error);
        if (status != TAP_OK || out_line->bytes == NULL)
            return status;
        if (out_line->n_bytes > 0)
            return empty_line == 0 ? TAP_OK : tap_empty_line(input, empty_line, error);
        if (empty_line == 0)
            empty_line = out_line->number;
    }
}

enum tap_status tap_add_row(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                            const char *label, size_t n_label_bytes, const char *text, size_t n_text_bytes,
                            uint64_t line, struct tap_error *error)
{
    const char *prefix_end = options->label_prefix_end;
    const char *cut = NULL;
    if (prefix_end != NULL && prefix_end[0] != '\0' && n_label_bytes > 0)
        cut = memmem(label, n_label_bytes, prefix_end, strlen(prefix_end));
    if (n_label_bytes == 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": the label is empty", input->name, line);
    if (cut == label)
        return tap_error_set(error, TAP_ERR_FORMAT,
                             "%s:%" PRIu64 ": nothing is left of the label %s: it begins with data.label_prefix_end",
                             input->name, line, tap_quote(label, n_label_bytes).text);
    if (cut != NULL)
        n_label_bytes = (size_t)(cut - label);
    enum tap_status status = tap_rows_append(rows, label, n_label_bytes, text, n_text_bytes, line, error);
    if (status != TAP_OK)
        return status;
    rows->rows[rows->n - 1].n_replaced = (uint32_t)input->decoder.n_replaced; /* lines and records are bounded */
    input->decoder.n_replaced = 0;
    return TAP_OK;
}
