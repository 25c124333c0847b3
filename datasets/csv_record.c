/* csv_record.c: see csv_record.h. */
#include "csv_record.h"

#include "mem.h"

#include <inttypes.h>
#include <string.h>

static enum tap_status append(struct tap_csv_record *record, const char *bytes, size_t n_bytes, struct tap_error *error)
{
    size_t needed;
    if (!tap_size_add(record->n_bytes, n_bytes, &needed) ||
        !tap_mem_reserve(&record->bytes, &record->capacity, needed + 1, 1))
        return tap_error_memory(error, "a record of a CSV file");
    if (n_bytes > 0)
        memcpy(record->bytes + record->n_bytes, bytes, n_bytes);
    record->n_bytes = needed;
    return TAP_OK;
}

static bool has_odd_quotes(const char *bytes, size_t n_bytes)
{
    bool is_odd = false;
    const char *end = bytes + n_bytes;
    for (const char *at = bytes; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++)
        is_odd = !is_odd;
    return is_odd;
}

enum tap_status tap_csv_read(struct tap_input *input, struct tap_csv_record *record, struct tap_error *error)
{
    struct tap_line line;
    bool is_open = false;
    record->n_bytes = 0;
    record->line = 0;
    record->n_end_bytes = 0;
    do {
        enum tap_status status = tap_input_next_line(input, &line, error);
        if (status != TAP_OK)
            return status;
        record->at_end = line.bytes == NULL && record->line == 0;
        if (line.bytes == NULL)
            break; /* within a record: cutting it finds the open quotation mark */
        if (record->line == 0)
            record->line = line.number;
        status = append(record, record->n_end_bytes == 2 ? "\r\n" : "\n", record->n_end_bytes, error);
        if (status == TAP_OK)
            status = append(record, line.bytes, line.n_bytes, error);
        if (status != TAP_OK)
            return status;
        is_open = is_open != has_odd_quotes(line.bytes, line.n_bytes);
        record->n_end_bytes = line.n_end_bytes;
    } while (is_open && record->n_bytes <= TAP_LINE_MAX_BYTES);
    return TAP_OK;
}

char tap_csv_separator(const struct tap_csv_record *record)
{
    bool is_quoted = false;
    char separator = '\0';
    for (size_t i = 0; i < record->n_bytes; i++) {
        char byte = record->bytes[i];
        if (byte == '"')
            is_quoted = !is_quoted;
        if (byte == '\t' && !is_quoted)
            return byte;
        if ((byte == ',' || byte == ';') && !is_quoted && separator == '\0')
            separator = byte;
    }
    return separator != '\0' ? separator : ',';
}

static enum tap_status refuse(const struct tap_csv_record *record, const char *file_name, const char *what,
                              struct tap_error *error)
{
    return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": column %zu: %s", file_name, record->line,
                         record->n_fields + 1, what);
}

/* Takes the quotation marks off the field that starts with one at `*position`, in place, and moves past the closing
 * one. Returns what is wrong, NULL for nothing. */
static const char *unquote(struct tap_csv_record *record, size_t *position, struct tap_field *out_field)
{
    char *bytes = record->bytes;
    size_t from = *position + 1;
    size_t to = from;
    out_field->bytes = bytes + from;
    for (;; from++) {
        if (from >= record->n_bytes)
            return "a quotation mark opens and never closes";
        bool is_quote = bytes[from] == '"';
        if (is_quote && (from + 1 == record->n_bytes || bytes[from + 1] != '"'))
            break;
        from += is_quote ? 1 : 0;
        bytes[to++] = bytes[from];
    }
    out_field->n_bytes = (size_t)(bytes + to - out_field->bytes);
    *position = from + 1;
    return NULL;
}

/* Reads the field at `*position` and moves to the separator behind it, or to the record's end. */
static const char *cut_field(struct tap_csv_record *record, char separator, size_t *position,
                             struct tap_field *out_field)
{
    const char *start = record->bytes + *position;
    size_t n_left = record->n_bytes - *position;
    if (n_left > 0 && *start == '"') {
        const char *wrong = unquote(record, position, out_field);
        if (wrong == NULL && *position < record->n_bytes && record->bytes[*position] != separator)
            wrong = "text behind a closing quotation mark; a quotation mark inside quoted text is doubled";
        return wrong;
    }
    const char *end = n_left > 0 ? memchr(start, separator, n_left) : NULL;
    out_field->bytes = start;
    out_field->n_bytes = end != NULL ? (size_t)(end - start) : n_left;
    *position += out_field->n_bytes;
    return out_field->n_bytes > 0 && memchr(start, '"', out_field->n_bytes) != NULL
               ? "a quotation mark inside a field that is not quoted; quote the field and double the mark"
               : NULL;
}

enum tap_status tap_csv_cut(struct tap_csv_record *record, char separator, const char *file_name,
                            struct tap_error *error)
{
    size_t position = 0;
    record->n_fields = 0;
    for (;; position++) {
        struct tap_field field = {NULL, 0};
        const char *wrong = cut_field(record, separator, &position, &field);
        if (wrong != NULL)
            return refuse(record, file_name, wrong, error);
        if (!tap_mem_reserve(&record->fields, &record->fields_capacity, record->n_fields + 1, sizeof *record->fields))
            return tap_error_memory(error, "a record of a CSV file");
        record->fields[record->n_fields++] = field;
        if (position == record->n_bytes)
            break;
    }
    if (record->n_bytes > TAP_LINE_MAX_BYTES)
        return tap_error_set(error, TAP_ERR_VALUE, "%s:%" PRIu64 ": a record of more than %zu bytes", file_name,
                             record->line, TAP_LINE_MAX_BYTES);
    return TAP_OK;
}

void tap_csv_clear(struct tap_csv_record *record)
{
    tap_mem_free(record->bytes);
    tap_mem_free(record->fields);
    *record = (struct tap_csv_record){0};
}
