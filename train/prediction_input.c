/* prediction_input.c: see prediction_input.h. */
#include "prediction_input.h"

#include <inttypes.h>
#include <string.h>

#include "columns.h"
#include "config_use.h"

/* An input on its way to the predictor. */
struct reading {
    struct tap_input *input;
    const struct prediction_input_options *options;
    struct predictor *predictor;
    struct prediction_output *output;
    enum prediction_format format;
    struct tap_records records;
    struct tap_column column; /* of CSV and TSV */
    bool has_header;
};

static const char *const source_names[] = {"text", "csv", "tsv", "jsonl"};

static enum tap_record_kind record_kind(enum prediction_source source)
{
    return source == SOURCE_CSV ? TAP_RECORD_CSV : source == SOURCE_JSONL ? TAP_RECORD_JSONL : TAP_RECORD_TSV;
}

static bool is_number(const char *column)
{
    return column[0] != '\0' && column[strspn(column, "0123456789")] == '\0';
}

enum tap_status prediction_input_columns(struct prediction_input_options *options, const struct tap_config *config,
                                         struct tap_error *error)
{
    const struct tap_data_options data = tap_config_data_options(config);
    const char *trained_on =
        data.train != NULL && data.train[0] != '\0' ? tap_format_of(data.format, data.train) : NULL;
    options->column_key = "--text-column";
    if (options->text_column == NULL && trained_on != NULL && strcmp(trained_on, source_names[options->source]) == 0) {
        options->column_key = "the model's data.text_column (--text-column names another)";
        options->text_column =
            options->source == SOURCE_JSONL ? tap_record_text_key(data.text_column) : data.text_column;
        bool names_label = options->source != SOURCE_JSONL && !is_number(data.label_column);
        if (options->header == NULL) /* a label column by name makes training's `auto` a header, too */
            options->header = strcmp(data.header, "auto") == 0 && names_label ? "yes" : data.header;
    }
    if (options->text_column == NULL)
        options->text_column = options->source == SOURCE_JSONL ? "text" : "1";
    if (options->header == NULL)
        options->header = "auto";
    if (strcmp(options->header, "no") == 0 && !is_number(options->text_column))
        return tap_error_set(error, TAP_ERR_VALUE, "--header: no, but %s is given by name (%.60s)", options->column_key,
                             options->text_column);
    return TAP_OK;
}

/* A tap_input's before_read: nobody waits for a result while the input waits for its writer. */
static enum tap_status answer(void *context, struct tap_error *error)
{
    struct tap_error own_error = {0};
    if (predictor_flush(context, &own_error) == TAP_OK)
        return TAP_OK;
    return tap_error_set(error, own_error.status, "%s", own_error.message);
}

static enum tap_status read_texts(struct reading *reading, struct tap_error *error)
{
    struct tap_line line;
    enum tap_status status = prediction_output_start(reading->output, TAP_RECORD_TSV, '\t', false, error);
    while (status == TAP_OK) {
        status = tap_input_next_line(reading->input, &line, error);
        if (status != TAP_OK || line.bytes == NULL)
            break;
        status = predictor_add(reading->predictor, line.bytes, line.n_bytes, line.bytes, line.n_bytes, error);
    }
    return status;
}

/* Refuses a table that has a column of a name that is to be added. */
static enum tap_status check_names(const struct reading *reading, const struct tap_record *record,
                                   struct tap_error *error)
{
    bool is_json = reading->options->source == SOURCE_JSONL;
    for (size_t i = 0; i < prediction_output_n_columns(reading->output); i++) {
        const char *name = prediction_output_column(reading->output, i);
        bool is_there = is_json && tap_record_has(record, name);
        for (size_t f = 0; f < record->n_fields && !is_there; f++)
            is_there =
                record->fields[f].n_bytes == strlen(name) && memcmp(record->fields[f].bytes, name, strlen(name)) == 0;
        if (is_there)
            return tap_error_set(error, TAP_ERR_VALUE,
                                 "%s:%" PRIu64 ": there is %s %s already, which is to be added; rename it, or choose a "
                                 "--format",
                                 reading->input->name, record->line, is_json ? "a member" : "a column", name);
    }
    return TAP_OK;
}

static enum tap_status read_header(struct reading *reading, const struct tap_record *record, struct tap_error *error)
{
    enum tap_status status = tap_column_read_header(&reading->column, record, reading->input->name, error);
    if (status != TAP_OK || reading->format != FORMAT_TABLE)
        return status;
    status = check_names(reading, record, error);
    return status == TAP_OK ? prediction_output_header(reading->output, record->bytes, record->n_bytes, error) : status;
}

/* The text among the fields of a record. */
static enum tap_status find_field(const struct reading *reading, const struct tap_record *record,
                                  struct tap_field *out_text, struct tap_error *error)
{
    const char *plural = record->n_fields == 1 ? "" : "s";
    if (reading->column.number > record->n_fields)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": %zu column%s, but %s is %zu", reading->input->name,
                             record->line, record->n_fields, plural, reading->column.key, reading->column.number);
    if (reading->format == FORMAT_TABLE && record->n_fields != reading->records.n_columns && !record->is_first)
        return tap_error_set(error, TAP_ERR_FORMAT,
                             "%s:%" PRIu64 ": %zu column%s, but line %" PRIu64
                             " has %zu; columns can be added where all lines have as many",
                             reading->input->name, record->line, record->n_fields, plural, reading->records.first_line,
                             reading->records.n_columns);
    *out_text = record->fields[reading->column.number - 1];
    return TAP_OK;
}

static enum tap_status find_member(const struct reading *reading, const struct tap_record *record,
                                   struct tap_field *out_text, struct tap_error *error)
{
    enum tap_status status =
        tap_record_text(record, reading->input->name, reading->options->text_column, &out_text->bytes, error);
    if (status == TAP_OK)
        out_text->n_bytes = strlen(out_text->bytes);
    return status == TAP_OK && reading->format == FORMAT_TABLE ? check_names(reading, record, error) : status;
}

/* A line of TSV ends at the first line break, and its columns at tabs. */
static enum tap_status check_tsv(const struct reading *reading, const struct tap_record *record,
                                 const struct tap_field *text, struct tap_error *error)
{
    for (size_t i = 0; i < text->n_bytes; i++)
        if (text->bytes[i] == '\t' || text->bytes[i] == '\n' || text->bytes[i] == '\r')
            return tap_error_set(error, TAP_ERR_VALUE,
                                 "%s:%" PRIu64
                                 ": the text holds a %s, which --format tsv cannot hold; accepted: label, "
                                 "jsonl, or no --format",
                                 reading->input->name, record->line, text->bytes[i] == '\t' ? "tab" : "line break");
    return TAP_OK;
}

static enum tap_status take_record(struct reading *reading, const struct tap_record *record, struct tap_error *error)
{
    struct tap_field text = {NULL, 0};
    enum tap_status status = TAP_OK;
    if (record->is_first)
        status = prediction_output_start(reading->output, reading->records.kind, reading->records.separator,
                                         record->n_end_bytes == 2, error);
    if (status == TAP_OK && record->is_first && reading->has_header)
        return read_header(reading, record, error);
    if (status == TAP_OK)
        status = reading->options->source == SOURCE_JSONL ? find_member(reading, record, &text, error)
                                                          : find_field(reading, record, &text, error);
    if (status == TAP_OK && reading->format == FORMAT_TSV)
        status = check_tsv(reading, record, &text, error);
    if (status != TAP_OK)
        return status;
    bool keeps_record = reading->format == FORMAT_TABLE;
    return predictor_add(reading->predictor, text.bytes, text.n_bytes, keeps_record ? record->bytes : text.bytes,
                         keeps_record ? record->n_bytes : text.n_bytes, error);
}

static enum tap_status read_records(struct reading *reading, struct tap_error *error)
{
    struct tap_record record;
    const struct prediction_input_options *options = reading->options;
    enum tap_status status = TAP_OK;
    if (options->source != SOURCE_JSONL) {
        status = tap_column_parse(options->column_key, options->text_column, &reading->column, error);
        reading->has_header = reading->column.name != NULL || strcmp(options->header, "yes") == 0;
    }
    tap_records_start(&reading->records, reading->input, record_kind(options->source), reading->format == FORMAT_TABLE);
    while (status == TAP_OK) {
        status = tap_records_next(&reading->records, &record, error);
        if (status != TAP_OK || record.at_end)
            break;
        status = take_record(reading, &record, error);
    }
    tap_records_clear(&reading->records);
    return status;
}

enum tap_status prediction_input_run(struct tap_input *input, const struct prediction_input_options *options,
                                     enum prediction_format format, struct predictor *predictor,
                                     struct prediction_output *output, struct tap_error *error)
{
    struct reading reading = {
        .input = input, .options = options, .predictor = predictor, .output = output, .format = format};
    struct tap_error flush_error = {0};
    input->decoder.remedy = "convert the text to UTF-8 first";
    input->before_read = answer;
    input->before_read_context = predictor;
    if (options->source == SOURCE_TEXT)
        read_texts(&reading, error);
    else
        read_records(&reading, error);
    /* what came before a bad line is still answered */
    if (predictor_flush(predictor, &flush_error) != TAP_OK)
        tap_error_set(error, flush_error.status, "%s", flush_error.message);
    return error->status;
}
