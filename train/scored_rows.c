/* scored_rows.c: see scored_rows.h. */
#include "scored_rows.h"

#include <string.h>

#include "config_use.h"

static enum tap_status read_file(struct scored_rows *rows, const struct tap_checkpoint *checkpoint, const char *path,
                                 const char *format, struct tap_error *error)
{
    struct tap_data_options data_options = tap_config_data_options(&checkpoint->config);
    struct tap_read_options options = tap_data_read_options(&data_options);
    if (format != NULL)
        options.format = format;
    rows->own_texts = tap_rows_new();
    if (rows->own_texts == NULL)
        return tap_error_memory(error, "reading a data file");
    rows->source = strcmp(path, "-") == 0 ? "standard input" : path;
    rows->texts = (struct tap_row_choice){rows->own_texts, NULL, 0};
    rows->dataset = &rows->own_dataset;
    if (tap_read_rows(path, &options, rows->own_texts, NULL, error) != TAP_OK)
        return error->status;
    return tap_dataset_encode(rows->texts, rows->source, checkpoint->tokenizer, checkpoint->label_names,
                              checkpoint->labels.n, &rows->own_dataset, error);
}

static enum tap_status open_own_data(struct scored_rows *rows, const struct tap_checkpoint *checkpoint,
                                     struct tap_error *error)
{
    struct tap_data_options options = tap_config_data_options(&checkpoint->config);
    options.keep_rows = true;
    rows->data = tap_data_open(&options, checkpoint->tokenizer, checkpoint->label_names, checkpoint->labels.n, error);
    if (rows->data == NULL || tap_checkpoint_check_files(checkpoint, rows->data, error) != TAP_OK)
        return error->status;
    const struct tap_dataset *parts = rows->data->parts;
    enum tap_part part = parts[TAP_PART_TEST].n_rows > 0 ? TAP_PART_TEST : TAP_PART_VALID;
    if (parts[part].n_rows == 0)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "the model's data have neither a test nor a validation part; name a file with --data");
    const char *files[] = {rows->data->files[part].path, rows->data->files[TAP_PART_TRAIN].path, options.task};
    for (size_t i = 0; i < sizeof files / sizeof files[0] && rows->source == NULL; i++)
        rows->source = files[i];
    if (strcmp(rows->source, "-") == 0)
        rows->source = "standard input";
    rows->dataset = &parts[part];
    rows->texts = rows->data->rows[part];
    return TAP_OK;
}

enum tap_status scored_rows_open(struct scored_rows *rows, const struct tap_checkpoint *checkpoint, const char *path,
                                 const char *format, struct tap_error *error)
{
    *rows = (struct scored_rows){0};
    return path != NULL ? read_file(rows, checkpoint, path, format, error) : open_own_data(rows, checkpoint, error);
}

const char *scored_rows_file(const struct scored_rows *rows, uint32_t text)
{
    const char *file = tap_rows_file(rows->texts.rows, text);
    return file != NULL ? file : rows->source;
}

void scored_rows_clear(struct scored_rows *rows)
{
    tap_data_free(rows->data);
    tap_rows_free(rows->own_texts);
    tap_dataset_clear(&rows->own_dataset);
    *rows = (struct scored_rows){0};
}
