/* tokenizer_char.c: every visible character (code point) is a token, marks included; what cannot be seen is none. */
#include "tokenizer_kinds.h"

static bool next_character(struct tap_token_cursor *cursor)
{
    struct tap_character character;
    if (!tap_token_cursor_skip_invisible(cursor, &character))
        return false;
    tap_token_cursor_take(cursor, &character);
    return true;
}

const struct tap_tokenizer_kind tap_tokenizer_char = {.name = "char", .next = next_character};
