/* data.c: see data.h. */
#include "data.h"

#include "mem.h"
#include "quote.h"

#include <stdlib.h>
#include <string.h>

/* The texts before they are encoded. */
struct sources {
    struct tap_rows *rows[TAP_N_PARTS]; /* NULL: that part is cut from rows[TAP_PART_TRAIN], or absent */
    uint8_t *parts;                     /* of the rows of rows[TAP_PART_TRAIN] */
    const char *names[TAP_N_PARTS];     /* of the files, for messages */
};

static bool is_given(const char *value)
{
    return value != NULL && value[0] != '\0';
}

struct tap_read_options tap_data_read_options(const struct tap_data_options *options)
{
    return (struct tap_read_options){
        .format = options->format,
        .header = options->header,
        .label_column = options->label_column,
        .text_column = options->text_column,
        .encoding = options->encoding,
        .bad_bytes = options->bad_bytes,
        .label_prefix_end = options->label_prefix_end,
    };
}

static enum tap_status check_options(const struct tap_data_options *options, struct tap_error *error)
{
    const char *files[TAP_N_PARTS] = {options->train, options->valid, options->test};
    int n_files = 0;
    int n_standard_input = 0;
    for (int part = 0; part < TAP_N_PARTS; part++) {
        n_files += is_given(files[part]);
        n_standard_input += is_given(files[part]) && strcmp(files[part], "-") == 0;
    }
    if (is_given(options->task) && n_files > 0)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "data.task: %s, but data.train, valid or test name files; one or the other",
                             options->task);
    if (!is_given(options->task) && !is_given(options->train))
        return tap_error_set(error, TAP_ERR_VALUE, "data.train: names no file, and data.task no built-in task");
    if (n_standard_input > 1)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "data.train, valid, test: only one of them can be standard input (-)");
    return TAP_OK;
}

static enum tap_status read_files(const struct tap_data_options *options, struct sources *sources,
                                  struct tap_fingerprint *fingerprints, struct tap_error *error)
{
    const char *files[TAP_N_PARTS] = {options->train, options->valid, options->test};
    struct tap_read_options read_options = tap_data_read_options(options);
    for (int part = 0; part < TAP_N_PARTS; part++) {
        if (!is_given(files[part]))
            continue;
        sources->names[part] = files[part];
        if (sources->rows[part] == NULL)
            sources->rows[part] = tap_rows_new();
        if (sources->rows[part] == NULL)
            return tap_error_memory(error, "reading a data file");
        enum tap_status status =
            tap_read_rows(files[part], &read_options, sources->rows[part], &fingerprints[part], error);
        if (status != TAP_OK)
            return status;
    }
    return TAP_OK;
}

/* Brings all rows, and says which of the training file's (or the task's) rows go to which part. */
static enum tap_status load(const struct tap_data_options *options, struct sources *sources,
                            struct tap_fingerprint *fingerprints, struct tap_error *error)
{
    enum tap_status status;
    uint32_t group_size = 1;
    struct tap_rows *rows = tap_rows_new();
    sources->rows[TAP_PART_TRAIN] = rows;
    if (rows == NULL)
        return tap_error_memory(error, "the training data");
    if (is_given(options->task)) {
        sources->names[TAP_PART_TRAIN] = options->task;
        status = tap_task_make(options->task, &options->task_options, options->seed, rows, &group_size, error);
    } else {
        status = read_files(options, sources, fingerprints, error);
    }
    if (status != TAP_OK)
        return status;
    struct tap_split_options split = {
        .valid_fraction = sources->rows[TAP_PART_VALID] == NULL ? options->valid_fraction : 0,
        .test_fraction = sources->rows[TAP_PART_TEST] == NULL ? options->test_fraction : 0,
        .seed = options->seed,
        .group_size = group_size,
    };
    sources->parts = tap_mem_new(rows->n, 1);
    if (sources->parts == NULL)
        return tap_error_memory(error, "splitting the data");
    return tap_split_rows(rows, &split, sources->parts, error);
}

static struct tap_row_choice choose(const struct sources *sources, enum tap_part part)
{
    if (part != TAP_PART_TRAIN && sources->rows[part] != NULL)
        return (struct tap_row_choice){sources->rows[part], NULL, 0};
    return (struct tap_row_choice){sources->rows[TAP_PART_TRAIN], sources->parts, (uint8_t)part};
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Copies the names into data->label_names, and points data->labels there. */
static enum tap_status set_labels(struct tap_data *data, const char *const *names, size_t n_names,
                                  struct tap_error *error)
{
    const char **labels = tap_mem_new(n_names, sizeof *labels);
    data->labels = labels;
    if (labels == NULL)
        return tap_error_memory(error, "the labels");
    for (size_t i = 0; i < n_names; i++) {
        uint32_t number;
        if (!tap_string_table_add(&data->label_names, names[i], strlen(names[i]), &number))
            return tap_error_memory(error, "the labels");
        if (number != i)
            return tap_error_set(error, TAP_ERR_FORMAT, "labels: %s is there twice",
                                 tap_quote(names[i], strlen(names[i])).text);
    }
    for (size_t i = 0; i < n_names; i++)
        labels[i] = tap_string_table_get(&data->label_names, (uint32_t)i);
    data->n_labels = n_names;
    return TAP_OK;
}

/* The labels of the training rows by their bytes. All rows will do: a split leaves every label in training. */
static enum tap_status learn_labels(struct tap_data *data, const struct sources *sources, struct tap_error *error)
{
    const struct tap_string_table *found = &sources->rows[TAP_PART_TRAIN]->labels;
    if (found->n < 2)
        return tap_error_set(error, TAP_ERR_VALUE, "%s: every row has the label %s; at least two labels are needed",
                             sources->names[TAP_PART_TRAIN],
                             tap_quote(tap_string_table_get(found, 0), tap_string_table_length(found, 0)).text);
    const char **names = tap_mem_new(found->n, sizeof *names);
    if (names == NULL)
        return tap_error_memory(error, "the labels");
    for (uint32_t i = 0; i < found->n; i++)
        names[i] = tap_string_table_get(found, i);
    qsort(names, found->n, sizeof *names, compare_names);
    enum tap_status status = set_labels(data, names, found->n, error);
    tap_mem_free(names);
    return status;
}

static enum tap_status learn_tokenizer(struct tap_data *data, const struct tap_data_options *options,
                                       const struct sources *sources, struct tap_error *error)
{
    struct tap_tokenizer_options tokenizer = {
        .kind = options->tokenizer,
        .lowercase = options->lowercase,
        .add_cls = options->add_cls,
        .min_count = options->min_count,
        .max_vocab = options->max_vocab,
        .max_length = options->max_length,
        .ngrams = options->ngrams,
        .truncate = options->truncate,
    };
    data->own_tokenizer = tap_tokenizer_learn(&tokenizer, choose(sources, TAP_PART_TRAIN), error);
    data->tokenizer = data->own_tokenizer;
    return data->own_tokenizer != NULL ? TAP_OK : TAP_ERR_VALUE;
}

static enum tap_status encode_parts(struct tap_data *data, const struct sources *sources, struct tap_error *error)
{
    for (int part = 0; part < TAP_N_PARTS; part++) {
        const char *source = sources->names[sources->rows[part] != NULL ? part : TAP_PART_TRAIN];
        enum tap_status status = tap_dataset_encode(choose(sources, (enum tap_part)part), source, data->tokenizer,
                                                    data->labels, data->n_labels, &data->parts[part], error);
        if (status != TAP_OK)
            return status;
    }
    return TAP_OK;
}

static enum tap_status summarize_parts(struct tap_data *data, const struct sources *sources, struct tap_error *error)
{
    struct tap_row_choice choices[TAP_N_PARTS];
    for (int part = 0; part < TAP_N_PARTS; part++)
        choices[part] = choose(sources, (enum tap_part)part);
    return tap_data_summarize(choices, data->parts, data->summaries, error);
}

/* Moves the texts from the sources to the data. */
static void keep_rows(struct tap_data *data, struct sources *sources)
{
    for (int part = 0; part < TAP_N_PARTS; part++)
        data->rows[part] = choose(sources, (enum tap_part)part);
    memcpy(data->own_rows, sources->rows, sizeof data->own_rows);
    data->own_choice = sources->parts;
    *sources = (struct sources){0};
}

struct tap_data *tap_data_open(const struct tap_data_options *options, const struct tap_tokenizer *stored_tokenizer,
                               const char *const *stored_labels, size_t n_stored_labels, struct tap_error *error)
{
    struct sources sources = {0};
    if (check_options(options, error) != TAP_OK)
        return NULL;
    struct tap_data *data = tap_mem_new(1, sizeof *data);
    if (data == NULL) {
        tap_error_memory(error, "the data");
        return NULL;
    }
    data->tokenizer = stored_tokenizer;
    enum tap_status status = load(options, &sources, data->files, error);
    if (status == TAP_OK)
        status = stored_labels != NULL ? set_labels(data, stored_labels, n_stored_labels, error)
                                       : learn_labels(data, &sources, error);
    if (status == TAP_OK && stored_tokenizer == NULL)
        status = learn_tokenizer(data, options, &sources, error);
    if (status == TAP_OK)
        status = encode_parts(data, &sources, error);
    if (status == TAP_OK)
        status = summarize_parts(data, &sources, error);
    if (status == TAP_OK && options->keep_rows)
        keep_rows(data, &sources);
    for (int part = 0; part < TAP_N_PARTS; part++)
        tap_rows_free(sources.rows[part]);
    tap_mem_free(sources.parts);
    if (status != TAP_OK) {
        tap_data_free(data);
        return NULL;
    }
    return data;
}

void tap_data_free(struct tap_data *data)
{
    if (data == NULL)
        return;
    for (int part = 0; part < TAP_N_PARTS; part++) {
        tap_dataset_clear(&data->parts[part]);
        tap_fingerprint_clear(&data->files[part]);
        tap_rows_free(data->own_rows[part]);
    }
    tap_mem_free(data->own_choice);
    tap_string_table_clear(&data->label_names);
    tap_tokenizer_free(data->own_tokenizer);
    tap_mem_free((void *)data->labels);
    tap_mem_free(data);
}
