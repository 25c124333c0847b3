/* tokenizer_kinds.h: what a kind of tokenizer is, for the files that define one (tokenizer_<name>.c, with a line in
 * tokenizers.def). A kind cuts text into tokens; numbers, truncation, and counting what is learned from are the same
 * for all. */
#ifndef TAP_TOKENIZER_KINDS_H
#define TAP_TOKENIZER_KINDS_H

#include "tokenizer.h"
#include "unicode.h"

/* Words of more characters are not learned from, and unknown where they occur (kinds with pieces only). */
#define TAP_WORD_MAX_CHARACTERS 100
#define TAP_WORD_MAX_BYTES ((size_t)TAP_WORD_MAX_CHARACTERS * TAP_UTF8_MAX_BYTES)

/* In front of a piece that continues a word, as in play ##ing. */
#define TAP_PIECE_PREFIX "##"
#define TAP_PIECE_PREFIX_BYTES 2

/* A word and its pieces. */
struct tap_word {
    int32_t characters[TAP_WORD_MAX_CHARACTERS];
    uint32_t n_characters; /* beyond TAP_WORD_MAX_CHARACTERS: too long, the array holds its start only */
    uint32_t n_pieces, n_given;
    uint32_t pieces[TAP_WORD_MAX_CHARACTERS];                /* numbers in the vocabulary; n_given of them are done */
    char bytes[TAP_PIECE_PREFIX_BYTES + TAP_WORD_MAX_BYTES]; /* the word, with room in front */
};

/* A text being cut. */
struct tap_token_cursor {
    const struct tap_tokenizer *tokenizer;
    const char *text;
    size_t n_bytes;
    size_t position; /* of the next character */
    uint32_t n_done; /* of that character's bytes (byte kind) or parts (wordpiece), those already taken */
    bool lowercase;
    char token[TAP_TOKEN_MAX_BYTES];
    size_t n_token_bytes;   /* beyond TAP_TOKEN_MAX_BYTES: unknown, as too long or (wordpiece) not in the vocabulary */
    size_t n_written_bytes; /* of token that are there: all, or of an unknown one as many whole characters as fit */
    struct tap_word word;   /* wordpiece only */
};

struct tap_word_counts;

struct tap_tokenizer_kind {
    const char *name;
    /* Cuts the next token off; false when none is left. Needs no memory. */
    bool (*next)(struct tap_token_cursor *cursor);
    /* For kinds whose tokens are known without any text (else NULL): writes token `index` with a closing zero; false
     * past the last one. */
    bool (*fixed_token)(uint32_t index, char out_token[TAP_TOKEN_MAX_BYTES + 1]);

    /* These three are for kinds that find their tokens inside words (else NULL).
     * Cuts the next whole word off, without looking at the vocabulary; false when none is left. The word is the
     * cursor's until the next call; it has no bytes when it is too long. Needs no memory. */
    bool (*next_word)(struct tap_token_cursor *cursor, const char **out_word, size_t *out_n_bytes);
    /* Fills the vocabulary, which holds the special tokens, from the words of the training part, whatever their order.
     * False when memory runs out. */
    bool (*learn)(struct tap_string_table *vocabulary, const struct tap_word_counts *words,
                  const struct tap_tokenizer_options *options);
    /* Whether any text could have taught this token to a tokenizer with these rules. */
    bool (*can_have)(const struct tap_tokenizer *tokenizer, const char *token, size_t n_bytes);
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
