/* tokenizer_kinds.h: what a kind of tokenizer is, for the files that define one (tokenizer_<name>.c, with a line in
 * tokenizers.def). A kind only cuts text into tokens; numbers, vocabulary and truncation are the same for all. */
#ifndef TAP_TOKENIZER_KINDS_H
#define TAP_TOKENIZER_KINDS_H

#include "tokenizer.h"
#include "unicode.h"

/* A text being cut. */
struct tap_token_cursor {
    const char *text;
    size_t n_bytes;
    size_t position; /* of the next character */
    uint32_t n_done; /* bytes of that character already given as tokens (byte kind only) */
    bool lowercase;
    char token[TAP_TOKEN_MAX_BYTES];
    size_t n_token_bytes; /* beyond TAP_TOKEN_MAX_BYTES: too long, token holds its start only, and it is unknown */
};

struct tap_tokenizer_kind {
    const char *name;
    /* Cuts the next token off; false when none is left. Needs no memory. */
    bool (*next)(struct tap_token_cursor *cursor);
    /* For kinds whose tokens are known without any text (else NULL): writes token `index` with a closing zero; false
     * past the last one. */
    bool (*fixed_token)(uint32_t index, char out_token[TAP_TOKEN_MAX_BYTES + 1]);
};

#define TAP_TOKENIZER(name, kind, summary) extern const struct tap_tokenizer_kind kind;
#include "tokenizers.def"
#undef TAP_TOKENIZER

/* The kind of that name; NULL, with the error set, when there is none. */
const struct tap_tokenizer_kind *tap_tokenizer_kind_find(const char *name, struct tap_error *error);

/* Sets the cursor to the start of a text, which is borrowed. */
void tap_token_cursor_start(struct tap_token_cursor *cursor, const struct tap_tokenizer *tokenizer, const char *text,
                            size_t n_bytes);

/* A character of the text, lower-cased if the cursor says so. An invalid byte counts as U+FFFD, one byte long. */
struct tap_character {
    int32_t code_point;
    size_t n_bytes; /* in the text */
    enum tap_unicode_class class;
};

/* Looks at the character at the cursor; false at the end of the text. */
bool tap_token_cursor_peek(const struct tap_token_cursor *cursor, struct tap_character *out);

/* Adds the character to the token and steps over it. */
void tap_token_cursor_take(struct tap_token_cursor *cursor, const struct tap_character *character);

/* Steps over spaces and whatever else cannot be seen, and begins an empty token at the character found there; false at
 * the end of the text. */
bool tap_token_cursor_skip_invisible(struct tap_token_cursor *cursor, struct tap_character *out);

#endif
