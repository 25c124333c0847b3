/* tokenizer.h: text to token numbers. A kind (word, char, byte, wordpiece; tokenizers.def) cuts the text, the
 * vocabulary numbers the pieces.
 *
 * Number 0 is the unknown token; with `add_cls`, number 1 stands in front of every text. Both are stored under names in
 * square brackets, and no text can produce either: what a user types as [CLS] is cut like any other text. */
#ifndef TAP_TOKENIZER_H
#define TAP_TOKENIZER_H

#include "error.h"
#include "ngrams.h"
#include "rows.h"
#include "string_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_TOKEN_UNKNOWN 0u
#define TAP_TOKEN_CLS 1u /* when add_cls */
#define TAP_TOKEN_UNKNOWN_NAME "[UNK]"
#define TAP_TOKEN_CLS_NAME "[CLS]"

/* Longer tokens are not learned, and unknown where they occur. */
#define TAP_TOKEN_MAX_BYTES 256

struct tap_tokenizer_kind;

/* Which tokens of a text that has too many are kept. [CLS] stays in front, and counts, in each. */
enum tap_truncate {
    TAP_TRUNCATE_HEAD, /* the first */
    TAP_TRUNCATE_TAIL, /* the last */
    TAP_TRUNCATE_BOTH, /* half from the front and half from the end; of an odd number one more from the front */
};

struct tap_tokenizer_options {
    const char *kind;
    bool lowercase;
    bool add_cls;
    int min_count;        /* a token is learned when the training part holds it this often; at least 1 */
    int max_vocab;        /* entries of the vocabulary, special ones included */
    int max_length;       /* tokens of a text, [CLS] included; the rest of the text is cut off */
    const char *truncate; /* which are kept: head, tail or both; NULL: head */
    struct tap_ngram_options ngrams;
};

struct tap_tokenizer {
    const struct tap_tokenizer_kind *kind;
    bool lowercase, add_cls;
    uint32_t max_length;
    enum tap_truncate truncate;
    uint32_t n_special; /* 1, or 2 with add_cls */
    struct tap_ngram_options ngrams;
    struct tap_string_table vocabulary;
};

/* Some of the rows: those whose entry in `parts` is `part`; all of them when `parts` is NULL. */
struct tap_row_choice {
    const struct tap_rows *rows;
    const uint8_t *parts; /* one for each row */
    uint8_t part;
};
bool tap_row_is_chosen(const struct tap_row_choice *choice, uint32_t row);

/* Token numbers, growing as texts are added, and beside them, where the tokenizer has any, n-grams. Zero-initialise;
 * clear to free. */
struct tap_token_buffer {
    uint32_t *ids;
    size_t n, capacity;
    struct tap_ngram_store ngrams;
};
void tap_token_buffer_clear(struct tap_token_buffer *buffer);
void tap_token_buffer_empty(struct tap_token_buffer *buffer); /* keeps memory for the next texts */

/* The n-grams of a buffer's tokens, as the model takes them, made in `batch`; NULL when the tokenizer has none, or with
 * the error set when memory runs out. */
const struct tap_ngrams *tap_token_buffer_ngrams(const struct tap_tokenizer *tokenizer,
                                                 const struct tap_token_buffer *buffer, struct tap_ngram_batch *batch,
                                                 struct tap_error *error);

/* A tokenizer with the vocabulary of these rows: tokens by falling count, equal counts by bytes (wordpiece: as
 * wordpiece_merges.h says), so that it does not depend on the order of the rows. NULL, with the error set, on bad
 * options (keys data.*) or no memory. */
struct tap_tokenizer *tap_tokenizer_learn(const struct tap_tokenizer_options *options, struct tap_row_choice choice,
                                          struct tap_error *error);

/* The tokenizer that a checkpoint describes (min_count and max_vocab are not looked at); tokens[i] is the name of number
 * i, special ones included. Refuses a list that no tokenizer of that kind can have: special tokens missing, one twice,
 * one empty, too long or not UTF-8, or a piece that no word has. */
struct tap_tokenizer *tap_tokenizer_from_parts(const struct tap_tokenizer_options *options, const char *const *tokens,
                                               size_t n_tokens, struct tap_error *error);

void tap_tokenizer_free(struct tap_tokenizer *tokenizer);

/* Appends the numbers of a text: at least one, at most max_length, those that `truncate` keeps. `out_is_truncated` (may
 * be NULL) tells whether some of the text was cut off. The text should be UTF-8; an invalid byte counts as U+FFFD.
 * Takes no memory but to grow `buffer`; several threads may encode at once, each into its own buffer. */
enum tap_status tap_tokenizer_encode(const struct tap_tokenizer *tokenizer, const char *text, size_t n_bytes,
                                     struct tap_token_buffer *buffer, bool *out_is_truncated, struct tap_error *error);

/* The vocabulary, for saving: names of the numbers 0 .. n-1. */
const char *tap_tokenizer_kind_name(const struct tap_tokenizer *tokenizer);
const char *tap_tokenizer_truncate_name(const struct tap_tokenizer *tokenizer);
uint32_t tap_tokenizer_n_tokens(const struct tap_tokenizer *tokenizer);
const char *tap_tokenizer_token(const struct tap_tokenizer *tokenizer, uint32_t number);

#endif
