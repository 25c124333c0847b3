/* tokenizer.c: making a tokenizer from stored parts, and encoding. Learning a vocabulary is in vocabulary.c. */
#include "tokenizer.h"

#include "mem.h"
#include "quote.h"
#include "tokenizer_kinds.h"
#include "vocabulary.h"

#include <limits.h>
#include <string.h>

void tap_token_buffer_clear(struct tap_token_buffer *buffer)
{
    tap_mem_free(buffer->ids);
    tap_ngram_store_clear(&buffer->ngrams);
    *buffer = (struct tap_token_buffer){0};
}

void tap_token_buffer_empty(struct tap_token_buffer *buffer)
{
    buffer->n = 0;
    tap_ngram_store_empty(&buffer->ngrams);
}

const struct tap_ngrams *tap_token_buffer_ngrams(const struct tap_tokenizer *tokenizer,
                                                 const struct tap_token_buffer *buffer, struct tap_ngram_batch *batch,
                                                 struct tap_error *error)
{
    if (!tap_ngrams_wanted(&tokenizer->ngrams))
        return NULL;
    tap_ngram_batch_start(batch);
    if (!tap_ngram_batch_add(batch, &buffer->ngrams, 0, buffer->n, NULL)) {
        tap_error_memory(error, "n-grams");
        return NULL;
    }
    return tap_ngram_batch_view(batch);
}

void tap_tokenizer_free(struct tap_tokenizer *tokenizer)
{
    if (tokenizer == NULL)
        return;
    tap_string_table_clear(&tokenizer->vocabulary);
    tap_mem_free(tokenizer);
}

static const char *const truncate_names[] = {
    [TAP_TRUNCATE_HEAD] = "head", [TAP_TRUNCATE_TAIL] = "tail", [TAP_TRUNCATE_BOTH] = "both"};

static bool find_truncate(const char *name, enum tap_truncate *out_truncate, struct tap_error *error)
{
    const size_t n_names = sizeof truncate_names / sizeof truncate_names[0];
    char list[TAP_NAME_LIST_BYTES];
    *out_truncate = TAP_TRUNCATE_HEAD;
    for (size_t i = 0; name != NULL && i < n_names; i++)
        if (strcmp(name, truncate_names[i]) == 0) {
            *out_truncate = (enum tap_truncate)i;
            return true;
        }
    if (name != NULL)
        tap_error_set(error, TAP_ERR_VALUE, "data.truncate: %s is unknown; accepted: %s",
                      tap_quote(name, strlen(name)).text, tap_name_list(truncate_names, n_names, list));
    return name == NULL;
}

/* A tokenizer whose vocabulary is still empty. */
static struct tap_tokenizer *new_tokenizer(const struct tap_tokenizer_options *options, struct tap_error *error)
{
    enum tap_truncate truncate;
    const struct tap_ngram_options *ngrams = &options->ngrams;
    const struct tap_tokenizer_kind *kind = tap_tokenizer_kind_find(options->kind, error);
    if (kind == NULL || !find_truncate(options->truncate, &truncate, error))
        return NULL;
    if (options->max_length < (options->add_cls ? 2 : 1)) {
        tap_error_set(error, TAP_ERR_VALUE, "data.max_length: %d; at least %s", options->max_length,
                      options->add_cls ? "2 with [CLS] in front of every text" : "1");
        return NULL;
    }
    if (ngrams->character_buckets > 0 && (ngrams->shortest < 1 || ngrams->shortest > ngrams->longest)) {
        tap_error_set(error, TAP_ERR_VALUE,
                      "data.char_ngram_min: %u, data.char_ngram_max: %u; 1 <= min <= max is needed", ngrams->shortest,
                      ngrams->longest);
        return NULL;
    }
    struct tap_tokenizer *tokenizer = tap_mem_new(1, sizeof *tokenizer);
    if (tokenizer == NULL) {
        tap_error_memory(error, "a tokenizer");
        return NULL;
    }
    tokenizer->kind = kind;
    tokenizer->lowercase = options->lowercase;
    tokenizer->add_cls = options->add_cls;
    tokenizer->max_length = (uint32_t)options->max_length;
    tokenizer->truncate = truncate;
    tokenizer->n_special = options->add_cls ? 2 : 1;
    tokenizer->ngrams = *ngrams;
    return tokenizer;
}

struct tap_tokenizer *tap_tokenizer_learn(const struct tap_tokenizer_options *options, struct tap_row_choice choice,
                                          struct tap_error *error)
{
    struct tap_tokenizer *tokenizer = new_tokenizer(options, error);
    if (tokenizer != NULL && tap_vocabulary_learn(tokenizer, options, choice, error) != TAP_OK) {
        tap_tokenizer_free(tokenizer);
        return NULL;
    }
    return tokenizer;
}

/* Whether a stored token can stand at this number. */
static enum tap_status check_stored_token(const struct tap_tokenizer *tokenizer, uint32_t number, const char *token,
                                          struct tap_error *error)
{
    size_t n_bytes = strlen(token);
    uint32_t other = 0;
    const char *needed = NULL;
    if (number == TAP_TOKEN_UNKNOWN)
        needed = TAP_TOKEN_UNKNOWN_NAME;
    else if (number == TAP_TOKEN_CLS && tokenizer->add_cls)
        needed = TAP_TOKEN_CLS_NAME;
    if (needed != NULL && strcmp(token, needed) != 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "vocabulary: token %u is %s; %s is needed", number,
                             tap_quote(token, n_bytes).text, needed);
    if (n_bytes == 0 || n_bytes > TAP_TOKEN_MAX_BYTES || tap_unicode_valid_bytes(token, n_bytes) < n_bytes)
        return tap_error_set(error, TAP_ERR_FORMAT, "vocabulary: token %u is %s; 1 to %d bytes of UTF-8 are needed",
                             number, tap_quote(token, n_bytes).text, TAP_TOKEN_MAX_BYTES);
    if (tap_string_table_find(&tokenizer->vocabulary, token, n_bytes, &other))
        return tap_error_set(error, TAP_ERR_FORMAT, "vocabulary: tokens %u and %u are both %s", other, number,
                             tap_quote(token, n_bytes).text);
    char fixed[TAP_TOKEN_MAX_BYTES + 1];
    if (tokenizer->kind->can_have != NULL && number >= tokenizer->n_special &&
        !tokenizer->kind->can_have(tokenizer, token, n_bytes))
        return tap_error_set(error, TAP_ERR_FORMAT, "vocabulary: token %u is %s, which no %s tokenizer has%s", number,
                             tap_quote(token, n_bytes).text, tokenizer->kind->name,
                             tokenizer->lowercase ? " in the lower-casing mode" : "");
    if (tokenizer->kind->fixed_token != NULL && number >= tokenizer->n_special &&
        (!tokenizer->kind->fixed_token(number - tokenizer->n_special, fixed) || strcmp(fixed, token) != 0))
        return tap_error_set(error, TAP_ERR_FORMAT, "vocabulary: token %u is %s, which a %s tokenizer has not there",
                             number, tap_quote(token, n_bytes).text, tokenizer->kind->name);
    return TAP_OK;
}

static enum tap_status add_stored_tokens(struct tap_tokenizer *tokenizer, const char *const *tokens, size_t n_tokens,
                                         struct tap_error *error)
{
    char fixed[TAP_TOKEN_MAX_BYTES + 1];
    if (n_tokens < tokenizer->n_special || n_tokens > INT_MAX)
        return tap_error_set(error, TAP_ERR_FORMAT, "vocabulary: %zu tokens; %u to %d are possible", n_tokens,
                             tokenizer->n_special, INT_MAX);
    for (uint32_t number = 0; number < n_tokens; number++) {
        enum tap_status status = check_stored_token(tokenizer, number, tokens[number], error);
        if (status != TAP_OK)
            return status;
        uint32_t added;
        if (!tap_string_table_add(&tokenizer->vocabulary, tokens[number], strlen(tokens[number]), &added))
            return tap_error_memory(error, "the vocabulary");
    }
    if (tokenizer->kind->fixed_token != NULL &&
        tokenizer->kind->fixed_token((uint32_t)n_tokens - tokenizer->n_special, fixed))
        return tap_error_set(error, TAP_ERR_FORMAT, "vocabulary: %zu tokens; a %s tokenizer has more", n_tokens,
                             tokenizer->kind->name);
    return TAP_OK;
}

struct tap_tokenizer *tap_tokenizer_from_parts(const struct tap_tokenizer_options *options, const char *const *tokens,
                                               size_t n_tokens, struct tap_error *error)
{
    struct tap_tokenizer *tokenizer = new_tokenizer(options, error);
    if (tokenizer != NULL && add_stored_tokens(tokenizer, tokens, n_tokens, error) != TAP_OK) {
        tap_tokenizer_free(tokenizer);
        return NULL;
    }
    return tokenizer;
}

/* The number of the token at the cursor. The special ones have names that some text may spell, so their numbers are
 * never the answer. */
static uint32_t lookup(const struct tap_tokenizer *tokenizer, const struct tap_token_cursor *cursor)
{
    uint32_t number;
    if (cursor->n_token_bytes > TAP_TOKEN_MAX_BYTES ||
        !tap_string_table_find(&tokenizer->vocabulary, cursor->token, cursor->n_token_bytes, &number) ||
        number < tokenizer->n_special)
        return TAP_TOKEN_UNKNOWN;
    return number;
}

/* Appends a token, and its n-grams where the tokenizer has any; word NULL: it is no text. */
static bool append(const struct tap_tokenizer *tokenizer, struct tap_token_buffer *buffer, uint32_t id,
                   const char *word, size_t n_bytes, uint64_t previous)
{
    if (!tap_mem_reserve(&buffer->ids, &buffer->capacity, buffer->n + 1, sizeof *buffer->ids) ||
        (tap_ngrams_wanted(&tokenizer->ngrams) &&
         !tap_ngram_store_add(&buffer->ngrams, &tokenizer->ngrams, word, n_bytes, previous)))
        return false;
    buffer->ids[buffer->n++] = id;
    return true;
}

/* Of the tokens from `first` on, leaves `room`, and says whether there were more. A token that has lost the one before it
 * keeps its bigram with it: it is that of the text. */
static bool truncate_tokens(enum tap_truncate truncate, struct tap_token_buffer *buffer, size_t first, size_t room)
{
    size_t n = buffer->n - first;
    if (n <= room)
        return false;
    size_t n_front = truncate == TAP_TRUNCATE_HEAD ? room : truncate == TAP_TRUNCATE_TAIL ? 0 : (room + 1) / 2;
    uint32_t *ids = buffer->ids + first;
    memmove(ids + n_front, ids + n - (room - n_front), (room - n_front) * sizeof *ids);
    buffer->n = first + room;
    if (buffer->ngrams.n_tokens > 0)
        tap_ngram_store_remove(&buffer->ngrams, first + n_front, n - room);
    return true;
}

enum tap_status tap_tokenizer_encode(const struct tap_tokenizer *tokenizer, const char *text, size_t n_bytes,
                                     struct tap_token_buffer *buffer, bool *out_is_truncated, struct tap_error *error)
{
    struct tap_token_cursor cursor;
    tap_token_cursor_start(&cursor, tokenizer, text, n_bytes);
    size_t start = buffer->n;
    size_t first = start + (tokenizer->add_cls ? 1 : 0);
    size_t room = tokenizer->max_length - (first - start);
    uint64_t previous = 0;
    bool is_truncated = false;
    bool has_memory = !tokenizer->add_cls || append(tokenizer, buffer, TAP_TOKEN_CLS, NULL, 0, 0);
    while (has_memory && !is_truncated && tokenizer->kind->next(&cursor)) {
        is_truncated = tokenizer->truncate == TAP_TRUNCATE_HEAD && buffer->n - first == room;
        if (!is_truncated)
            has_memory =
                append(tokenizer, buffer, lookup(tokenizer, &cursor), cursor.token, cursor.n_written_bytes, previous);
        if (tokenizer->ngrams.bigram_buckets > 0)
            previous = tap_ngram_hash(cursor.token, cursor.n_written_bytes);
    }
    if (has_memory && buffer->n == first)
        has_memory = append(tokenizer, buffer, TAP_TOKEN_UNKNOWN, NULL, 0, 0);
    if (!has_memory) {
        buffer->n = start;
        tap_ngram_store_cut(&buffer->ngrams, start);
        return tap_error_memory(error, "the tokens of a text");
    }
    is_truncated = truncate_tokens(tokenizer->truncate, buffer, first, room) || is_truncated;
    if (out_is_truncated != NULL)
        *out_is_truncated = is_truncated;
    return TAP_OK;
}

const char *tap_tokenizer_kind_name(const struct tap_tokenizer *tokenizer)
{
    return tokenizer->kind->name;
}

const char *tap_tokenizer_truncate_name(const struct tap_tokenizer *tokenizer)
{
    return truncate_names[tokenizer->truncate];
}

uint32_t tap_tokenizer_n_tokens(const struct tap_tokenizer *tokenizer)
{
    return tokenizer->vocabulary.n;
}

const char *tap_tokenizer_token(const struct tap_tokenizer *tokenizer, uint32_t number)
{
    return tap_string_table_get(&tokenizer->vocabulary, number);
}
