/* columns.c: see columns.h. */
#include "columns.h"

#include "quote.h"

#include <inttypes.h>
#include <string.h>

#define LARGEST_COLUMN 1000000

enum tap_status tap_column_parse(const char *key, const char *value, struct tap_column *out_column,
                                 struct tap_error *error)
{
    out_column->key = key;
    out_column->name = NULL;
    out_column->number = 0;
    if (value == NULL || value[0] == '\0')
        return tap_error_set(error, TAP_ERR_VALUE, "%s: is empty; a number from 1 or a name is needed", key);
    if (strspn(value, "0123456789") < strlen(value)) {
        out_column->name = value;
        return TAP_OK;
    }
    for (const char *digit = value; *digit != '\0' && out_column->number <= LARGEST_COLUMN; digit++)
        out_column->number = out_column->number * 10 + (size_t)(*digit - '0');
    if (out_column->number == 0 || out_column->number > LARGEST_COLUMN)
        return tap_error_set(error, TAP_ERR_VALUE, "%s: %s; columns are numbered from 1 to %d", key, value,
                             LARGEST_COLUMN);
    return TAP_OK;
}

enum tap_status tap_columns_parse(const struct tap_read_options *options, struct tap_columns *out_columns,
                                  struct tap_error *error)
{
    struct tap_columns columns;
    const char *header = options->header;
    enum tap_status status = tap_column_parse("data.label_column", options->label_column, &columns.label, error);
    if (status == TAP_OK)
        status = tap_column_parse("data.text_column", options->text_column, &columns.text, error);
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
    columns.has_header = is_named || strcmp(header, "yes") == 0;
    *out_columns = columns;
    return TAP_OK;
}

enum tap_status tap_column_read_header(struct tap_column *column, const struct tap_record *header,
                                       const char *file_name, struct tap_error *error)
{
    const char *name = column->name;
    for (size_t i = 0; name != NULL && i < header->n_fields; i++) {
        const struct tap_field *field = &header->fields[i];
        if (strlen(name) != field->n_bytes || memcmp(name, field->bytes, field->n_bytes) != 0)
            continue;
        if (column->number != 0)
            return tap_error_set(error, TAP_ERR_VALUE, "%s:%" PRIu64 ": %s: columns %zu and %zu are both named %s",
                                 file_name, header->line, column->key, column->number, i + 1,
                                 tap_quote(field->bytes, field->n_bytes).text);
        column->number = i + 1;
    }
    if (name != NULL && column->number == 0)
        return tap_error_set(error, TAP_ERR_VALUE, "%s:%" PRIu64 ": %s: no column of the header is named %s", file_name,
                             header->line, column->key, tap_quote(name, strlen(name)).text);
    if (column->number > header->n_fields)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": %zu column%s in the header, but %s is %zu",
                             file_name, header->line, header->n_fields, header->n_fields == 1 ? "" : "s", column->key,
                             column->number);
    return TAP_OK;
}

enum tap_status tap_columns_read_header(struct tap_columns *columns, const struct tap_record *header,
                                        const char *file_name, struct tap_error *error)
{
    enum tap_status status = tap_column_read_header(&columns->label, header, file_name, error);
    if (status == TAP_OK)
        status = tap_column_read_header(&columns->text, header, file_name, error);
    if (status == TAP_OK && columns->label.number == columns->text.number)
        status = tap_error_set(error, TAP_ERR_VALUE,
                               "%s:%" PRIu64 ": data.label_column and data.text_column are both column %zu", file_name,
                               header->line, columns->label.number);
    return status;
}
