/* records.c: see records.h. */
#include "records.h"

#include "json.h"
#include "mem.h"
#include "row_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WHERE_BYTES 600

void tap_records_start(struct tap_records *records, struct tap_input *input, enum tap_record_kind kind,
                       bool keeps_bytes)
{
    *records = (struct tap_records){.input = input, .kind = kind, .keeps_bytes = keeps_bytes, .separator = '\t'};
}

void tap_records_clear(struct tap_records *records)
{
    tap_csv_clear(&records->csv);
    tap_mem_free(records->bytes);
    tap_json_free(records->object);
    *records = (struct tap_records){0};
}

/* --- TSV, JSON lines -----------------------------------------------------------------------------------------------
 */

/* Cuts a line at its tabs; a line of no bytes has one empty field. */
static enum tap_status cut_at_tabs(struct tap_csv_record *cut, const struct tap_line *line, struct tap_error *error)
{
    const char *at = line->bytes;
    const char *end = line->bytes + line->n_bytes;
    cut->n_fields = 0;
    for (const char *tab = at; tab != NULL; at = tab + 1) {
        tab = memchr(at, '\t', (size_t)(end - at));
        if (!tap_mem_reserve(&cut->fields, &cut->fields_capacity, cut->n_fields + 1, sizeof *cut->fields))
            return tap_error_memory(error, "a record of a TSV file");
        cut->fields[cut->n_fields++] = (struct tap_field){at, (size_t)((tab != NULL ? tab : end) - at)};
        if (tab == NULL)
            break;
    }
    return TAP_OK;
}

static enum tap_status parse_object(struct tap_records *records, const struct tap_line *line, struct tap_error *error)
{
    struct tap_error own_error = {0};
    tap_json_free(records->object);
    records->object = tap_json_parse_line(line->bytes, line->n_bytes, records->input->name, line->number, &own_error);
    return own_error.status == TAP_OK ? TAP_OK : tap_error_set(error, own_error.status, "%s", own_error.message);
}

static enum tap_status next_line(struct tap_records *records, struct tap_record *out_record, struct tap_error *error)
{
    struct tap_line line;
    enum tap_status status = tap_next_row_line(records->input, &line, error);
    if (status != TAP_OK)
        return status;
    *out_record = (struct tap_record){.at_end = line.bytes == NULL,
                                      .line = line.number,
                                      .bytes = line.bytes,
                                      .n_bytes = line.n_bytes,
                                      .n_end_bytes = line.n_end_bytes};
    if (out_record->at_end)
        return TAP_OK;
    if (records->kind == TAP_RECORD_TSV) {
        status = cut_at_tabs(&records->csv, &line, error);
        out_record->fields = records->csv.fields;
        out_record->n_fields = records->csv.n_fields;
        return status;
    }
    status = parse_object(records, &line, error);
    out_record->object = records->object;
    return status;
}

/* --- CSV -----------------------------------------------------------------------------------------------------------
 */

/* The next record that is not empty, uncut. */
static enum tap_status next_uncut(struct tap_records *records, struct tap_error *error)
{
    struct tap_csv_record *csv = &records->csv;
    uint64_t empty_line = 0; /* the first of the empty lines just passed, 0 for none */
    for (;;) {
        enum tap_status status = tap_csv_read(records->input, csv, error);
        if (status != TAP_OK || csv->at_end)
            return status;
        if (csv->n_bytes > 0)
            return empty_line > 0 ? tap_empty_line(records->input, empty_line, error) : TAP_OK;
        if (empty_line == 0 && records->n_records > 0)
            empty_line = csv->line;
    }
}

static enum tap_status keep_bytes(struct tap_records *records, struct tap_error *error)
{
    size_t n_bytes = records->csv.n_bytes;
    if (!tap_mem_reserve(&records->bytes, &records->bytes_capacity, n_bytes, 1))
        return tap_error_memory(error, "a record of a CSV file");
    memcpy(records->bytes, records->csv.bytes, n_bytes);
    return TAP_OK;
}

static enum tap_status next_csv(struct tap_records *records, struct tap_record *out_record, struct tap_error *error)
{
    struct tap_csv_record *csv = &records->csv;
    enum tap_status status = next_uncut(records, error);
    out_record->at_end = csv->at_end;
    if (status != TAP_OK || csv->at_end)
        return status;
    *out_record = (struct tap_record){.line = csv->line, .n_bytes = csv->n_bytes, .n_end_bytes = csv->n_end_bytes};
    if (records->n_records == 0)
        records->separator = tap_csv_separator(csv);
    if (records->keeps_bytes)
        status = keep_bytes(records, error);
    if (status == TAP_OK)
        status = tap_csv_cut(csv, records->separator, records->input->name, error);
    if (status != TAP_OK)
        return status;
    if (records->n_records > 0 && csv->n_fields != records->n_columns)
        return tap_error_set(error, TAP_ERR_FORMAT,
                             "%s:%" PRIu64 ": %zu column%s, but line %" PRIu64
                             " has %zu; a field that holds a separator must be quoted",
                             records->input->name, csv->line, csv->n_fields, csv->n_fields == 1 ? "" : "s",
                             records->first_line, records->n_columns);
    out_record->bytes = records->keeps_bytes ? records->bytes : NULL;
    out_record->fields = csv->fields;
    out_record->n_fields = csv->n_fields;
    return TAP_OK;
}

enum tap_status tap_records_next(struct tap_records *records, struct tap_record *out_record, struct tap_error *error)
{
    enum tap_status status =
        records->kind == TAP_RECORD_CSV ? next_csv(records, out_record, error) : next_line(records, out_record, error);
    if (status != TAP_OK || out_record->at_end)
        return status;
    out_record->is_first = records->n_records == 0;
    if (out_record->is_first) {
        records->n_columns = out_record->n_fields;
        records->first_line = out_record->line;
    }
    records->n_records++;
    return TAP_OK;
}

/* --- members of a JSON record --------------------------------------------------------------------------------------
 */

enum tap_status tap_record_name(const struct tap_record *record, const char *file_name, const char *key, char *number,
                                const char **out_name, struct tap_error *error)
{
    char where[WHERE_BYTES];
    struct tap_error own_error = {0};
    snprintf(where, sizeof where, "%.500s:%" PRIu64, file_name, record->line);
    struct tap_json_place object = tap_json_root(record->object, where, &own_error);
    struct tap_json_place member = tap_json_get(&object, key);
    const char *name = number != NULL ? tap_json_as_name(member, number) : tap_json_as_text(member);
    if (own_error.status != TAP_OK)
        return tap_error_set(error, own_error.status, "%s", own_error.message);
    *out_name = name;
    return TAP_OK;
}

enum tap_status tap_record_text(const struct tap_record *record, const char *file_name, const char *key,
                                const char **out_text, struct tap_error *error)
{
    return tap_record_name(record, file_name, key, NULL, out_text, error);
}

bool tap_record_has(const struct tap_record *record, const char *key)
{
    struct tap_error error = {0};
    struct tap_json_place object = tap_json_root(record->object, "", &error);
    return tap_json_has(&object, key);
}

const char *tap_record_text_key(const char *column)
{
    return strcmp(column, "2") == 0 ? "text" : column;
}
