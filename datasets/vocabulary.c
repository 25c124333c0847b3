/* vocabulary.c: see vocabulary.h. Every token of the training part is counted, then the most frequent ones are kept;
 * kinds that cut words into pieces learn from the counts of the words instead. */
#include "vocabulary.h"

#include "mem.h"
#include "tokenizer_kinds.h"

#include <stdlib.h>
#include <string.h>

struct candidate {
    uint64_t count;
    const char *token;
    size_t n_bytes;
};

bool tap_row_is_chosen(const struct tap_row_choice *choice, uint32_t row)
{
    return choice->parts == NULL || choice->parts[row] == choice->part;
}

bool tap_word_counts_add(struct tap_word_counts *counts, const char *word, size_t n_bytes, uint64_t times)
{
    uint32_t number;
    uint32_t n_before = counts->words.n;
    if (!tap_mem_reserve(&counts->counts, &counts->capacity, (size_t)n_before + 1, sizeof *counts->counts) ||
        !tap_string_table_add(&counts->words, word, n_bytes, &number))
        return false;
    if (number == n_before)
        counts->counts[number] = 0;
    counts->counts[number] += times;
    return true;
}

void tap_word_counts_clear(struct tap_word_counts *counts)
{
    tap_string_table_clear(&counts->words);
    tap_mem_free(counts->counts);
    *counts = (struct tap_word_counts){0};
}

/* What the vocabulary is learned from: the next word of a kind that cuts words into pieces, else the next token. It has
 * no bytes when it is too long. */
static bool next_counted(const struct tap_tokenizer_kind *kind, struct tap_token_cursor *cursor, const char **out_word,
                         size_t *out_n_bytes)
{
    if (kind->next_word != NULL)
        return kind->next_word(cursor, out_word, out_n_bytes);
    if (!kind->next(cursor))
        return false;
    *out_word = cursor->token;
    *out_n_bytes = cursor->n_token_bytes > TAP_TOKEN_MAX_BYTES ? 0 : cursor->n_token_bytes;
    return true;
}

static bool count_text(const struct tap_tokenizer *tokenizer, const char *text, size_t n_bytes,
                       struct tap_word_counts *counts)
{
    struct tap_token_cursor cursor;
    const char *word;
    size_t n_word_bytes;
    tap_token_cursor_start(&cursor, tokenizer, text, n_bytes);
    while (next_counted(tokenizer->kind, &cursor, &word, &n_word_bytes))
        if (n_word_bytes > 0 && !tap_word_counts_add(counts, word, n_word_bytes, 1))
            return false;
    return true;
}

/* By falling count, then by bytes. Tokens are distinct, so no two are equal. */
static int compare_candidates(const void *a_pointer, const void *b_pointer)
{
    const struct candidate *a = a_pointer;
    const struct candidate *b = b_pointer;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->token, b->token);
}

bool tap_vocabulary_add_most_frequent(struct tap_string_table *vocabulary, const struct tap_word_counts *counts,
                                      int min_count, int max_vocab)
{
    struct candidate *candidates = tap_mem_new(counts->words.n, sizeof *candidates);
    size_t n = 0;
    if (candidates == NULL)
        return false;
    for (uint32_t i = 0; i < counts->words.n; i++)
        if (counts->counts[i] >= (uint64_t)min_count)
            candidates[n++] = (struct candidate){counts->counts[i], tap_string_table_get(&counts->words, i),
                                                 tap_string_table_length(&counts->words, i)};
    qsort(candidates, n, sizeof *candidates, compare_candidates);
    bool has_memory = true;
    for (size_t i = 0; i < n && has_memory && vocabulary->n < (uint32_t)max_vocab; i++) {
        uint32_t number;
        has_memory = tap_string_table_add(vocabulary, candidates[i].token, candidates[i].n_bytes, &number);
    }
    tap_mem_free(candidates);
    return has_memory;
}

static enum tap_status add_special(struct tap_tokenizer *tokenizer, struct tap_error *error)
{
    uint32_t number;
    if (!tap_string_table_add(&tokenizer->vocabulary, TAP_TOKEN_UNKNOWN_NAME, strlen(TAP_TOKEN_UNKNOWN_NAME),
                              &number) ||
        (tokenizer->add_cls &&
         !tap_string_table_add(&tokenizer->vocabulary, TAP_TOKEN_CLS_NAME, strlen(TAP_TOKEN_CLS_NAME), &number)))
        return tap_error_memory(error, "the vocabulary");
    return TAP_OK;
}

static enum tap_status add_fixed(struct tap_tokenizer *tokenizer, int max_vocab, struct tap_error *error)
{
    char token[TAP_TOKEN_MAX_BYTES + 1];
    for (uint32_t i = 0; tokenizer->kind->fixed_token(i, token); i++) {
        uint32_t number;
        if (!tap_string_table_add(&tokenizer->vocabulary, token, strlen(token), &number))
            return tap_error_memory(error, "the vocabulary");
    }
    if (tokenizer->vocabulary.n > (uint32_t)max_vocab)
        return tap_error_set(error, TAP_ERR_VALUE, "data.max_vocab: %d; a %s tokenizer always has %u tokens", max_vocab,
                             tokenizer->kind->name, tokenizer->vocabulary.n);
    return TAP_OK;
}

enum tap_status tap_vocabulary_learn(struct tap_tokenizer *tokenizer, const struct tap_tokenizer_options *options,
                                     struct tap_row_choice choice, struct tap_error *error)
{
    struct tap_word_counts counts = {0};
    if (options->min_count < 1)
        return tap_error_set(error, TAP_ERR_VALUE, "data.min_count: %d; at least 1", options->min_count);
    if (options->max_vocab < (int)tokenizer->n_special)
        return tap_error_set(error, TAP_ERR_VALUE, "data.max_vocab: %d; at least %u, the special tokens",
                             options->max_vocab, tokenizer->n_special);
    enum tap_status status = add_special(tokenizer, error);
    if (status != TAP_OK)
        return status;
    if (tokenizer->kind->fixed_token != NULL)
        return add_fixed(tokenizer, options->max_vocab, error);
    bool has_memory = true;
    for (uint32_t row = 0; row < choice.rows->n && has_memory; row++) {
        size_t n_bytes;
        const char *text = tap_rows_text(choice.rows, row, &n_bytes);
        if (tap_row_is_chosen(&choice, row))
            has_memory = count_text(tokenizer, text, n_bytes, &counts);
    }
    if (has_memory && tokenizer->kind->learn != NULL)
        has_memory = tokenizer->kind->learn(&tokenizer->vocabulary, &counts, options);
    else if (has_memory)
        has_memory =
            tap_vocabulary_add_most_frequent(&tokenizer->vocabulary, &counts, options->min_count, options->max_vocab);
    tap_word_counts_clear(&counts);
    return has_memory ? TAP_OK : tap_error_memory(error, "the vocabulary");
}
