/* columns.c: see columns.h. */
#include "columns.h"

#include "quote.h"

#include <inttypes.h>
#include <string.h>

#define LARGEST_COLUMN 1000000

static enum tap_status parse_column(const char *key, const char *value, struct tap_column *out, struct tap_error *error)
{
    out->key = key;
    out->name = NULL;
    out->number = 0;
    if (value == NULL || value[0] == '\0')
        return tap_error_set(error, TAP_ERR_VALUE, "%s: is empty; a number from 1 or a name is needed", key);
    if (strspn(value, "0123456789") < strlen(value)) {
        out->name = value;
        return TAP_OK;
    }
    for (const char *digit = value; *digit != '\0' && out->number <= LARGEST_COLUMN; digit++)
        out->number = out->number * 10 + (size_t)(*digit - '0');
    if (out->number == 0 || out->number > LARGEST_COLUMN)
        return tap_error_set(error, TAP_ERR_VALUE, "%s: %s; columns are numbered from 1 to %d", key, value,
                             LARGEST_COLUMN);
    return TAP_OK;
}

enum tap_status tap_columns_parse(const struct tap_read_options *options, struct tap_columns *out_columns,
                                  struct tap_error *error)
{
    struct tap_columns columns;
    const char *header = options->header;
    enum tap_status status = parse_column("data.label_column", options->label_column, &columns.label, error);
    if (status == TAP_OK)
        status = parse_column("data.text_column", options->text_column, &columns.text, error);
    if (status != TAP_OK)
        return status;
    bool is_named = columns.label.name != NULL || columns.text.name != NULL;
    if (header == NULL || (strcmp(header, "auto") != 0 && strcmp(header, "yes") != 0 && strcmp(header, "no") != 0))
        return tap_error_set(error, TAP_ERR_VALUE, "data.header: %s; accepted: auto, yes, no",
                             header == NULL ? "missing" : tap_quote(header, strlen(header)).text);
    if (is_named && strcmp(header, "no") == 0) {
        const struct tap_column *named = columns.label.name != NULL ? &columns.label : &columns.text;
        return tap_error_set(error, TAP_ERR_VALUE, "%s: is given by name (%s), but data.header is no", named->key,
                             tap_quote(named->name, strlen(named->name)).text);
    }
    if (strcmp(options->label_column, options->text_column) == 0 ||
        (!is_named && columns.label.number == columns.text.number))
        return tap_error_set(error, TAP_ERR_VALUE, "data.label_column: is the same as data.text_column: %s",
                             tap_quote(options->label_column, strlen(options->label_column)).text);
    columns.header_line = 1;
    columns.has_header = is_named || strcmp(header, "yes") == 0;
    *out_columns = columns;
    return TAP_OK;
}

enum tap_status tap_columns_see_header(struct tap_columns *columns, size_t number, const char *field, size_t n_bytes,
                                       const char *file_name, struct tap_error *error)
{
    struct tap_column *wanted[] = {&columns->label, &columns->text};
    for (int i = 0; i < 2; i++) {
        struct tap_column *column = wanted[i];
        if (column->name == NULL || strlen(column->name) != n_bytes || memcmp(column->name, field, n_bytes) != 0)
            continue;
        if (column->number != 0)
            return tap_error_set(error, TAP_ERR_VALUE, "%s:%" PRIu64 ": %s: columns %zu and %zu are both named %s",
                                 file_name, columns->header_line, column->key, column->number, number,
                                 tap_quote(field, n_bytes).text);
        column->number = number;
    }
    return TAP_OK;
}

enum tap_status tap_columns_end_header(const struct tap_columns *columns, size_t n_fields, const char *file_name,
                                       struct tap_error *error)
{
    const struct tap_column *wanted[] = {&columns->label, &columns->text};
    for (int i = 0; i < 2; i++)
        if (wanted[i]->number == 0)
            return tap_error_set(error, TAP_ERR_VALUE, "%s:%" PRIu64 ": %s: no column of the header is named %s",
                                 file_name, columns->header_line, wanted[i]->key,
                                 tap_quote(wanted[i]->name, strlen(wanted[i]->name)).text);
    if (columns->label.number == columns->text.number)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "%s:%" PRIu64 ": data.label_column and data.text_column are both column %zu", file_name,
                             columns->header_line, columns->label.number);
    for (int i = 0; i < 2; i++)
        if (wanted[i]->number > n_fields)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": %zu column%s in the header, but %s is %zu",
                                 file_name, columns->header_line, n_fields, n_fields == 1 ? "" : "s", wanted[i]->key,
                                 wanted[i]->number);
    return TAP_OK;
}
