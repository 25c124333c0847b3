/* decoding.h: a line's bytes in the file's encoding become checked UTF-8. */
#ifndef TAP_DECODING_H
#define TAP_DECODING_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tap_encoding {
    TAP_ENCODING_UTF8,
    TAP_ENCODING_CP1252, /* the WHATWG's windows-1252 but for 81, 8D, 8F, 90 and 9D, which stand for nothing */
    TAP_ENCODING_LATIN1, /* byte b is code point b */
};

/* Zero-initialise for UTF-8 whose bad bytes are refused. */
struct tap_decoder {
    enum tap_encoding encoding;
    bool replaces;       /* each bad byte becomes one U+FFFD in place of an error */
    uint64_t n_replaced; /* bad bytes replaced, until someone takes the count */
    const char *remedy;  /* borrowed: what the refusal of a bad byte ends with; NULL: the config keys that help */
    char *buffer;        /* the last line that had to be changed */
    size_t capacity;
};

/* Sets the decoder up by the words of data.encoding and data.bad_bytes; NULL: "utf-8", "refuse".
 * Errors: TAP_ERR_VALUE for an unknown word. */
enum tap_status tap_decoder_choose(struct tap_decoder *decoder, const char *encoding, const char *bad_bytes,
                                   struct tap_error *error);

/* Makes `*bytes` valid UTF-8; changed bytes stand in the decoder's buffer until the next call. A bad byte is one that
 * is no part of a valid UTF-8 sequence, or stands for nothing in the encoding.
 * Errors: TAP_ERR_FORMAT naming file and line for a bad byte or a NUL byte (refused in any case); TAP_ERR_MEMORY. */
enum tap_status tap_decode(struct tap_decoder *decoder, const char *file_name, uint64_t line_number, const char **bytes,
                           size_t *n_bytes, struct tap_error *error);

void tap_decoder_clear(struct tap_decoder *decoder);

#endif
