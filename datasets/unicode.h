/* unicode.h: what the readers and tokenizers need to know of Unicode: UTF-8 in and out, lower case, and four classes of
 * character. The door to utf8proc: no other file includes it. Composed and decomposed spellings are different texts to
 * all who do not ask for the decomposition. */
#ifndef TAP_UNICODE_H
#define TAP_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_UTF8_MAX_BYTES 4

enum tap_unicode_class {
    TAP_UNICODE_INVISIBLE, /* spaces, line and paragraph separators, controls, format characters, variation selectors */
    TAP_UNICODE_WORD,      /* letters, decimal digits, and marks that are not variation selectors */
    TAP_UNICODE_CJK,    /* Han ideographs (extensions and compatibility forms too) and kana; Hangul counts as letters */
    TAP_UNICODE_SYMBOL, /* all else: punctuation, symbols, other numbers, private use, unassigned */
};

/* The code point at the start of `text`, and its number of bytes (1 to 4). Returns 0, and writes nothing, when there is
 * no whole valid one: end of text, stray or missing continuation byte, overlong form, surrogate, beyond U+10FFFF. */
size_t tap_unicode_decode(const char *text, size_t n_bytes, int32_t *out_code_point);

/* Writes a valid code point as UTF-8; returns its number of bytes. */
size_t tap_unicode_encode(int32_t code_point, char out[TAP_UTF8_MAX_BYTES]);

/* How many of the first bytes are valid UTF-8: n_bytes when all are. */
size_t tap_unicode_valid_bytes(const char *text, size_t n_bytes);

/* Simple lower case, one code point to one, the same in every locale. */
int32_t tap_unicode_lower(int32_t code_point);

enum tap_unicode_class tap_unicode_class_of(int32_t code_point);
bool tap_unicode_is_mark(int32_t code_point);

/* How many columns of a terminal a character takes: 0 (marks, controls), 1 or 2 (wide ones such as CJK). */
int tap_unicode_columns(int32_t code_point);
/* Marks that take no room of their own (category Mn), variation selectors left out: accents, and vowel signs of many
 * scripts. */
bool tap_unicode_is_nonspacing_mark(int32_t code_point);

/* The full canonical decomposition (NFD) of one code point: how many it makes, 1 to 4. Putting the marks of several
 * into their order is left to the caller: within a run of code points with a combining class above 0, a stable sort by
 * that class. */
#define TAP_UNICODE_MAX_PARTS 4
size_t tap_unicode_decompose(int32_t code_point, int32_t out[TAP_UNICODE_MAX_PARTS]);
int tap_unicode_combining_class(int32_t code_point);

#endif
