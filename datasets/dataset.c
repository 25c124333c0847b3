/* dataset.c: see dataset.h. */
#include "dataset.h"

#include "mem.h"
#include "quote.h"

#include <inttypes.h>
#include <string.h>

void tap_dataset_clear(struct tap_dataset *dataset)
{
    tap_mem_free(dataset->tokens);
    tap_ngram_store_clear(&dataset->ngrams);
    tap_mem_free(dataset->offsets);
    tap_mem_free(dataset->labels);
    tap_mem_free(dataset->lines);
    tap_mem_free(dataset->label_counts);
    *dataset = (struct tap_dataset){0};
}

#define NO_LABEL UINT32_MAX

/* For each label name of the rows, its number among `labels`, or NO_LABEL. NULL when memory runs out. */
static uint32_t *map_labels(const struct tap_rows *rows, const char *const *labels, size_t n_labels)
{
    struct tap_string_table known = {0};
    uint32_t *map = tap_mem_new(rows->labels.n, sizeof *map);
    bool has_memory = map != NULL;
    for (size_t i = 0; i < n_labels && has_memory; i++) {
        uint32_t number;
        has_memory = tap_string_table_add(&known, labels[i], strlen(labels[i]), &number);
    }
    for (uint32_t i = 0; i < rows->labels.n && has_memory; i++)
        if (!tap_string_table_find(&known, tap_string_table_get(&rows->labels, i),
                                   tap_string_table_length(&rows->labels, i), &map[i]))
            map[i] = NO_LABEL;
    tap_string_table_clear(&known);
    if (!has_memory) {
        tap_mem_free(map);
        return NULL;
    }
    return map;
}

static enum tap_status unknown_label(const struct tap_rows *rows, uint32_t row, const char *source,
                                     const char *const *labels, size_t n_labels, struct tap_error *error)
{
    char list[TAP_NAME_LIST_BYTES];
    const char *label = tap_rows_label(rows, row);
    const char *file = tap_rows_file(rows, row);
    return tap_error_set(error, TAP_ERR_VALUE,
                         "%s:%" PRIu64 ": the label %s does not occur in the training data; known: %s",
                         file != NULL ? file : source, rows->rows[row].line, tap_quote(label, strlen(label)).text,
                         tap_name_list(labels, n_labels, list));
}

static uint32_t count_chosen(const struct tap_row_choice *choice)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < choice->rows->n; row++)
        n += tap_row_is_chosen(choice, row);
    return n;
}

static enum tap_status encode_row(const struct tap_rows *rows, uint32_t row, uint32_t label,
                                  const struct tap_tokenizer *tokenizer, struct tap_dataset *dataset,
                                  struct tap_token_buffer *tokens, struct tap_error *error)
{
    size_t n_bytes;
    bool is_truncated;
    const char *text = tap_rows_text(rows, row, &n_bytes);
    size_t start = tokens->n;
    enum tap_status status = tap_tokenizer_encode(tokenizer, text, n_bytes, tokens, &is_truncated, error);
    if (status != TAP_OK)
        return status;
    uint32_t length = (uint32_t)(tokens->n - start);
    if (length > dataset->longest)
        dataset->longest = length;
    dataset->n_truncated += is_truncated;
    dataset->labels[dataset->n_rows] = label;
    dataset->label_counts[label]++;
    dataset->lines[dataset->n_rows] = rows->rows[row].line;
    dataset->offsets[++dataset->n_rows] = tokens->n;
    return TAP_OK;
}

static bool take_memory(struct tap_dataset *dataset, uint32_t n_rows, size_t n_labels)
{
    dataset->n_labels = (uint32_t)n_labels;
    dataset->offsets = tap_mem_new((size_t)n_rows + 1, sizeof *dataset->offsets);
    dataset->labels = tap_mem_new(n_rows, sizeof *dataset->labels);
    dataset->lines = tap_mem_new(n_rows, sizeof *dataset->lines);
    dataset->label_counts = tap_mem_new(n_labels, sizeof *dataset->label_counts);
    return dataset->offsets != NULL && dataset->labels != NULL && dataset->lines != NULL &&
           dataset->label_counts != NULL;
}

enum tap_status tap_dataset_encode(struct tap_row_choice choice, const char *source,
                                   const struct tap_tokenizer *tokenizer, const char *const *labels, size_t n_labels,
                                   struct tap_dataset *out_dataset, struct tap_error *error)
{
    uint32_t n_rows = count_chosen(&choice);
    struct tap_dataset dataset = {0};
    struct tap_token_buffer tokens = {0};
    enum tap_status status = TAP_OK;
    uint32_t *map = map_labels(choice.rows, labels, n_labels);
    if (map == NULL || !take_memory(&dataset, n_rows, n_labels)) {
        tap_mem_free(map);
        tap_dataset_clear(&dataset);
        return tap_error_memory(error, "the encoded data");
    }
    for (uint32_t row = 0; row < choice.rows->n && status == TAP_OK; row++) {
        if (!tap_row_is_chosen(&choice, row))
            continue;
        uint32_t label = map[choice.rows->rows[row].label];
        if (label == NO_LABEL)
            status = unknown_label(choice.rows, row, source, labels, n_labels, error);
        else
            status = encode_row(choice.rows, row, label, tokenizer, &dataset, &tokens, error);
    }
    tap_mem_free(map);
    dataset.tokens = tokens.ids;
    dataset.n_tokens = tokens.n;
    dataset.has_ngrams = tap_ngrams_wanted(&tokenizer->ngrams);
    dataset.ngrams = tokens.ngrams;
    if (status != TAP_OK || n_rows == 0)
        tap_dataset_clear(&dataset);
    if (status == TAP_OK)
        *out_dataset = dataset;
    return status;
}

enum tap_status tap_dataset_read(const char *path, const struct tap_read_options *options,
                                 const struct tap_tokenizer *tokenizer, const char *const *labels, size_t n_labels,
                                 struct tap_dataset *out_dataset, struct tap_error *error)
{
    struct tap_rows *rows = tap_rows_new();
    if (rows == NULL)
        return tap_error_memory(error, "reading a data file");
    enum tap_status status = tap_read_rows(path, options, rows, NULL, error);
    if (status == TAP_OK)
        status = tap_dataset_encode((struct tap_row_choice){rows, NULL, 0}, path, tokenizer, labels, n_labels,
                                    out_dataset, error);
    tap_rows_free(rows);
    return status;
}
