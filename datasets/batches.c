/* batches.c: see batches.h. */
#include "batches.h"

#include "mem.h"
#include "rng.h"

#include <stdlib.h>
#include <string.h>

struct tap_batches {
    const struct tap_dataset *dataset;
    struct tap_batches_options options;
    uint32_t position;              /* rows given */
    uint32_t *order;                /* of the current epoch */
    uint32_t *other_order;          /* of an epoch that tap_batches_count looks at */
    uint32_t n_sequences, n_tokens; /* upper bounds, and the size of the arrays below */
    uint32_t *tokens, *offsets, *labels;
    struct tap_ngram_batch ngrams;
    uint64_t epoch;
    bool *dropped; /* of the tokens of one row; NULL: no word dropout */
};

static uint32_t row_length(const struct tap_dataset *dataset, uint32_t row)
{
    return (uint32_t)(dataset->offsets[row + 1] - dataset->offsets[row]);
}

static int compare_lengths(const void *a_pointer, const void *b_pointer)
{
    uint32_t a = *(const uint32_t *)a_pointer;
    uint32_t b = *(const uint32_t *)b_pointer;
    return (a > b) - (a < b);
}

/* The largest batch possible, from all lengths in rising order: by sequences, the longest rows together; by tokens, as
 * many of the shortest rows as fit, and as many tokens as allowed or as one row has. */
static enum tap_status bound_sizes(struct tap_batches *batches, const uint32_t *lengths, struct tap_error *error)
{
    uint32_t n_rows = batches->dataset->n_rows;
    uint64_t n_tokens = 0;
    uint32_t n_sequences = 0;
    if (batches->options.batch_tokens > 0) {
        while (n_sequences < n_rows && n_tokens + lengths[n_sequences] <= batches->options.batch_tokens)
            n_tokens += lengths[n_sequences++];
        if (n_sequences == 0)
            n_sequences = 1;
        n_tokens = batches->options.batch_tokens;
        if (n_tokens > batches->dataset->n_tokens)
            n_tokens = batches->dataset->n_tokens;
        if (n_tokens < lengths[n_rows - 1])
            n_tokens = lengths[n_rows - 1];
    } else {
        n_sequences = batches->options.batch_size < n_rows ? batches->options.batch_size : n_rows;
        for (uint32_t i = 0; i < n_sequences; i++)
            n_tokens += lengths[n_rows - 1 - i];
    }
    if (n_tokens > UINT32_MAX)
        return tap_error_set(error, TAP_ERR_VALUE, "train.batch_size: %u; a batch could hold %llu tokens, %u at most",
                             batches->options.batch_size, (unsigned long long)n_tokens, UINT32_MAX);
    batches->n_sequences = n_sequences;
    batches->n_tokens = (uint32_t)n_tokens;
    return TAP_OK;
}

static int compare_falling(const void *a_pointer, const void *b_pointer)
{
    size_t a = *(const size_t *)a_pointer;
    size_t b = *(const size_t *)b_pointer;
    return (a < b) - (a > b);
}

/* Memory for the n-grams of the largest batch: no batch has more of them than the rows that have the most, together. */
static enum tap_status reserve_ngrams(struct tap_batches *batches, struct tap_error *error)
{
    const struct tap_dataset *dataset = batches->dataset;
    size_t total = 0;
    if (!dataset->has_ngrams)
        return TAP_OK;
    size_t *counts = tap_mem_new(dataset->n_rows, sizeof *counts);
    if (counts == NULL)
        return tap_error_memory(error, "a batch");
    for (uint32_t row = 0; row < dataset->n_rows; row++)
        counts[row] = tap_ngram_store_count(&dataset->ngrams, dataset->offsets[row], row_length(dataset, row));
    qsort(counts, dataset->n_rows, sizeof *counts, compare_falling);
    for (uint32_t i = 0; i < batches->n_sequences; i++)
        total += counts[i];
    tap_mem_free(counts);
    if (total >= UINT32_MAX)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "train.batch_size: %u; a batch could hold %zu character n-grams, %u at most",
                             batches->options.batch_size, total, UINT32_MAX - 1);
    return tap_ngram_batch_reserve(&batches->ngrams, batches->n_tokens, total) ? TAP_OK
                                                                               : tap_error_memory(error, "a batch");
}

static enum tap_status take_memory(struct tap_batches *batches, struct tap_error *error)
{
    uint32_t n_rows = batches->dataset->n_rows;
    batches->order = tap_mem_new(n_rows, sizeof *batches->order);
    batches->other_order = tap_mem_new(n_rows, sizeof *batches->other_order);
    if (batches->order == NULL || batches->other_order == NULL)
        return tap_error_memory(error, "the order of an epoch");
    for (uint32_t row = 0; row < n_rows; row++)
        batches->order[row] = row_length(batches->dataset, row); /* a place to sort in, before any epoch starts */
    qsort(batches->order, n_rows, sizeof *batches->order, compare_lengths);
    enum tap_status status = bound_sizes(batches, batches->order, error);
    if (status != TAP_OK)
        return status;
    batches->tokens = tap_mem_new(batches->n_tokens, sizeof *batches->tokens);
    batches->offsets = tap_mem_new((size_t)batches->n_sequences + 1, sizeof *batches->offsets);
    batches->labels = tap_mem_new(batches->n_sequences, sizeof *batches->labels);
    if (batches->options.word_dropout > 0)
        batches->dropped = tap_mem_new(batches->dataset->longest, sizeof *batches->dropped);
    if (batches->tokens == NULL || batches->offsets == NULL || batches->labels == NULL ||
        (batches->options.word_dropout > 0 && batches->dropped == NULL))
        return tap_error_memory(error, "a batch");
    return reserve_ngrams(batches, error);
}

struct tap_batches *tap_batches_new(const struct tap_dataset *dataset, const struct tap_batches_options *options,
                                    struct tap_error *error)
{
    if (dataset->n_rows == 0) {
        tap_error_set(error, TAP_ERR_VALUE, "no rows to make batches of");
        return NULL;
    }
    if (options->batch_size == 0 && options->batch_tokens == 0) {
        tap_error_set(error, TAP_ERR_VALUE, "train.batch_size: 0; at least 1");
        return NULL;
    }
    struct tap_batches *batches = tap_mem_new(1, sizeof *batches);
    if (batches == NULL) {
        tap_error_memory(error, "batches");
        return NULL;
    }
    batches->dataset = dataset;
    batches->options = *options;
    if (take_memory(batches, error) != TAP_OK) {
        tap_batches_free(batches);
        return NULL;
    }
    tap_batches_start(batches, 1);
    return batches;
}

void tap_batches_free(struct tap_batches *batches)
{
    if (batches == NULL)
        return;
    tap_mem_free(batches->order);
    tap_mem_free(batches->other_order);
    tap_mem_free(batches->tokens);
    tap_mem_free(batches->offsets);
    tap_mem_free(batches->labels);
    tap_mem_free(batches->dropped);
    tap_ngram_batch_clear(&batches->ngrams);
    tap_mem_free(batches);
}

static void write_order(const struct tap_batches *batches, uint64_t epoch, uint32_t *out_order)
{
    if (batches->options.shuffle) {
        struct tap_rng rng = {tap_rng_key(batches->options.seed, TAP_RNG_SHUFFLE, epoch, 0), 0};
        tap_rng_permutation(&rng, out_order, batches->dataset->n_rows);
        return;
    }
    for (uint32_t row = 0; row < batches->dataset->n_rows; row++)
        out_order[row] = row;
}

void tap_batches_start(struct tap_batches *batches, uint64_t epoch)
{
    write_order(batches, epoch, batches->order);
    batches->epoch = epoch;
    batches->position = 0;
}

/* The position after the batch that begins at `position`, which is not the end. */
static uint32_t batch_end(const struct tap_batches *batches, const uint32_t *order, uint32_t position)
{
    uint32_t n_rows = batches->dataset->n_rows;
    if (batches->options.batch_tokens == 0)
        return n_rows - position > batches->options.batch_size ? position + batches->options.batch_size : n_rows;
    uint64_t n_tokens = row_length(batches->dataset, order[position++]);
    while (position < n_rows) {
        n_tokens += row_length(batches->dataset, order[position]);
        if (n_tokens > batches->options.batch_tokens)
            break;
        position++;
    }
    return position;
}

/* Makes some of a row's tokens unknown ones, and notes which. */
static void drop_words(const struct tap_batches *batches, uint32_t row, uint32_t *tokens, uint32_t length)
{
    const struct tap_batches_options *options = &batches->options;
    struct tap_rng rng = {tap_rng_key(options->seed, TAP_RNG_WORD_DROPOUT, batches->epoch, row), 0};
    for (uint32_t t = 0; t < length; t++) {
        batches->dropped[t] = tap_rng_uniform(&rng) < options->word_dropout && !(options->has_cls && t == 0);
        tokens[t] = batches->dropped[t] ? TAP_TOKEN_UNKNOWN : tokens[t];
    }
}

/* Copies a row's tokens and n-grams to the end of the batch. */
static void add_row(struct tap_batches *batches, uint32_t row, uint32_t n_tokens)
{
    const struct tap_dataset *dataset = batches->dataset;
    uint32_t length = row_length(dataset, row);
    memcpy(batches->tokens + n_tokens, dataset->tokens + dataset->offsets[row], length * sizeof *batches->tokens);
    if (batches->dropped != NULL)
        drop_words(batches, row, batches->tokens + n_tokens, length);
    if (dataset->has_ngrams) {
        bool is_added =
            tap_ngram_batch_add(&batches->ngrams, &dataset->ngrams, dataset->offsets[row], length, batches->dropped);
        TAP_CHECK(is_added); /* all memory was taken at the start */
    }
}

bool tap_batches_next(struct tap_batches *batches, uint32_t first_sequence, struct tap_batch *out_batch)
{
    const struct tap_dataset *dataset = batches->dataset;
    if (batches->position == dataset->n_rows)
        return false;
    uint32_t end = batch_end(batches, batches->order, batches->position);
    uint32_t n = 0;
    uint32_t n_tokens = 0;
    tap_ngram_batch_start(&batches->ngrams);
    for (; batches->position < end; batches->position++) {
        uint32_t row = batches->order[batches->position];
        uint32_t length = row_length(dataset, row);
        TAP_CHECK(n < batches->n_sequences && length <= batches->n_tokens - n_tokens);
        add_row(batches, row, n_tokens);
        batches->offsets[n] = n_tokens;
        batches->labels[n++] = dataset->labels[row];
        n_tokens += length;
    }
    batches->offsets[n] = n_tokens;
    out_batch->n_tokens = n_tokens;
    out_batch->tokens = batches->tokens;
    out_batch->segments = (struct tap_segments){n, batches->offsets, first_sequence};
    out_batch->labels = batches->labels;
    out_batch->ngrams = dataset->has_ngrams ? tap_ngram_batch_view(&batches->ngrams) : NULL;
    return true;
}

uint32_t tap_batches_position(const struct tap_batches *batches)
{
    return batches->position;
}

bool tap_batches_seek(struct tap_batches *batches, uint32_t position)
{
    if (position > batches->dataset->n_rows)
        return false;
    batches->position = position;
    return true;
}

uint32_t tap_batches_count(struct tap_batches *batches, uint64_t epoch)
{
    uint32_t n = 0;
    uint32_t n_rows = batches->dataset->n_rows;
    if (batches->options.batch_tokens == 0)
        return n_rows / batches->options.batch_size + (n_rows % batches->options.batch_size != 0);
    write_order(batches, epoch, batches->other_order);
    for (uint32_t position = 0; position < n_rows; n++)
        position = batch_end(batches, batches->other_order, position);
    return n;
}

void tap_batches_upper_bound(const struct tap_batches *batches, uint32_t *out_n_sequences, uint32_t *out_n_tokens,
                             uint32_t *out_longest)
{
    *out_n_sequences = batches->n_sequences;
    *out_n_tokens = batches->n_tokens;
    *out_longest = batches->dataset->longest;
}
