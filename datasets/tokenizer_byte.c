/* tokenizer_byte.c: every byte of the text, spaces and controls included, is a token (after lower-casing by character).
 * The vocabulary is the same 256 tokens always; they are named <0x00> to <0xFF>, as a lone byte may be no text. */
#include "tokenizer_kinds.h"

#include <string.h>

#define N_BYTES 256
#define NAME_BYTES 6

static void write_name(unsigned byte, char *out)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char frame[NAME_BYTES] = {'<', '0', 'x', '0', '0', '>'};
    memcpy(out, frame, NAME_BYTES);
    out[3] = digits[byte >> 4];
    out[4] = digits[byte & 15];
}

static bool fixed_token(uint32_t index, char *out_token)
{
    if (index >= N_BYTES)
        return false;
    write_name(index, out_token);
    out_token[NAME_BYTES] = '\0';
    return true;
}

static bool next_byte(struct tap_token_cursor *cursor)
{
    struct tap_character character;
    char bytes[TAP_UTF8_MAX_BYTES];
    if (!tap_token_cursor_peek(cursor, &character))
        return false;
    size_t n_bytes = tap_unicode_encode(character.code_point, bytes);
    write_name((unsigned char)bytes[cursor->n_done], cursor->token);
    cursor->n_token_bytes = NAME_BYTES;
    cursor->n_written_bytes = NAME_BYTES;
    if (++cursor->n_done == n_bytes) {
        cursor->n_done = 0;
        cursor->position += character.n_bytes;
    }
    return true;
}

const struct tap_tokenizer_kind tap_tokenizer_byte = {.name = "byte", .next = next_byte, .fixed_token = fixed_token};
