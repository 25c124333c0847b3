/* decoding.c: see decoding.h. */
#include "decoding.h"

#include "mem.h"
#include "quote.h"
#include "unicode.h"

#include <inttypes.h>
#include <string.h>

#define NO_CODE_POINT 0
#define REPLACEMENT 0xFFFD
#define REPLACEMENT_BYTES 3 /* of U+FFFD in UTF-8; no code point of the single-byte encodings takes more */

static const char *const encoding_words[] = {
    [TAP_ENCODING_UTF8] = "utf-8",
    [TAP_ENCODING_CP1252] = "cp1252",
    [TAP_ENCODING_LATIN1] = "latin-1",
};
#define N_ENCODINGS (sizeof encoding_words / sizeof encoding_words[0])

/* What 0x80 to 0x9F stand for in cp1252; the other bytes are those of Latin-1. */
static const int32_t cp1252_upper[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

enum tap_status tap_decoder_choose(struct tap_decoder *decoder, const char *encoding, const char *bad_bytes,
                                   struct tap_error *error)
{
    size_t chosen = 0;
    while (encoding != NULL && chosen < N_ENCODINGS && strcmp(encoding, encoding_words[chosen]) != 0)
        chosen++;
    if (chosen == N_ENCODINGS)
        return tap_error_set(error, TAP_ERR_VALUE, "data.encoding: %s is unknown; accepted: utf-8, cp1252, latin-1",
                             tap_quote(encoding, strlen(encoding)).text);
    if (bad_bytes != NULL && strcmp(bad_bytes, "refuse") != 0 && strcmp(bad_bytes, "replace") != 0)
        return tap_error_set(error, TAP_ERR_VALUE, "data.bad_bytes: %s is unknown; accepted: refuse, replace",
                             tap_quote(bad_bytes, strlen(bad_bytes)).text);
    decoder->encoding = (enum tap_encoding)chosen;
    decoder->replaces = bad_bytes != NULL && strcmp(bad_bytes, "replace") == 0;
    return TAP_OK;
}

/* How many of the first bytes stay as they are: all valid UTF-8, or all ASCII in the other encodings. */
static size_t count_unchanged(enum tap_encoding encoding, const char *bytes, size_t n_bytes)
{
    if (encoding == TAP_ENCODING_UTF8)
        return tap_unicode_valid_bytes(bytes, n_bytes);
    size_t n = 0;
    while (n < n_bytes && (unsigned char)bytes[n] < 0x80)
        n++;
    return n;
}

/* The code point at the start of `bytes` (at least one) and how many bytes it takes; NO_CODE_POINT for a bad byte. */
static int32_t next_code_point(enum tap_encoding encoding, const char *bytes, size_t n_bytes, size_t *out_length)
{
    int32_t code_point = NO_CODE_POINT;
    unsigned char byte = (unsigned char)bytes[0];
    *out_length = 1;
    if (encoding == TAP_ENCODING_UTF8) {
        size_t length = tap_unicode_decode(bytes, n_bytes, &code_point);
        *out_length = length > 0 ? length : 1;
        return length > 0 ? code_point : NO_CODE_POINT;
    }
    return encoding == TAP_ENCODING_CP1252 && byte >= 0x80 && byte < 0xA0 ? cp1252_upper[byte - 0x80] : byte;
}

static enum tap_status refuse(const struct tap_decoder *decoder, const char *file_name, uint64_t line_number,
                              size_t position, char byte, struct tap_error *error)
{
    bool is_utf8 = decoder->encoding == TAP_ENCODING_UTF8;
    return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": byte %zu of the line (0x%02X) is not %s; %s",
                         file_name, line_number, position + 1, (unsigned)(unsigned char)byte,
                         is_utf8 ? "UTF-8" : encoding_words[decoder->encoding],
                         decoder->remedy != NULL ? decoder->remedy
                         : is_utf8               ? "set data.encoding (cp1252, latin-1), or data.bad_bytes: replace"
                                                 : "data.bad_bytes: replace puts U+FFFD in its place");
}

enum tap_status tap_decode(struct tap_decoder *decoder, const char *file_name, uint64_t line_number, const char **bytes,
                           size_t *n_bytes, struct tap_error *error)
{
    const char *from = *bytes;
    size_t needed;
    if (memchr(from, '\0', *n_bytes) != NULL)
        return tap_error_set(error, TAP_ERR_FORMAT,
                             "%s:%" PRIu64 ": a NUL byte; UTF-8 text is needed (a binary file, or UTF-16?)", file_name,
                             line_number);
    size_t position = count_unchanged(decoder->encoding, from, *n_bytes);
    if (position == *n_bytes)
        return TAP_OK;
    if (decoder->encoding == TAP_ENCODING_UTF8 && !decoder->replaces)
        return refuse(decoder, file_name, line_number, position, from[position], error);
    if (!tap_size_mul(*n_bytes, REPLACEMENT_BYTES, &needed) ||
        !tap_mem_reserve(&decoder->buffer, &decoder->capacity, needed, 1))
        return tap_error_memory(error, "a line of text");
    size_t n_written = position;
    memcpy(decoder->buffer, from, position);
    while (position < *n_bytes) {
        size_t length;
        int32_t code_point = next_code_point(decoder->encoding, from + position, *n_bytes - position, &length);
        if (code_point == NO_CODE_POINT && !decoder->replaces)
            return refuse(decoder, file_name, line_number, position, from[position], error);
        decoder->n_replaced += code_point == NO_CODE_POINT;
        n_written +=
            tap_unicode_encode(code_point == NO_CODE_POINT ? REPLACEMENT : code_point, decoder->buffer + n_written);
        position += length;
    }
    *bytes = decoder->buffer;
    *n_bytes = n_written;
    return TAP_OK;
}

void tap_decoder_clear(struct tap_decoder *decoder)
{
    tap_mem_free(decoder->buffer);
    *decoder = (struct tap_decoder){0};
}
