/* tokenizer_word.c: a token is a run of letters, marks and digits, or one other visible character. A CJK character is a
 * token of its own too, together with the marks that follow it (a kana and its voicing mark). What cannot be seen ends
 * a run and is no token. */
#include "tokenizer_kinds.h"

static bool next_word(struct tap_token_cursor *cursor)
{
    struct tap_character character;
    if (!tap_token_cursor_skip_invisible(cursor, &character))
        return false;
    enum tap_unicode_class first = character.class;
    tap_token_cursor_take(cursor, &character);
    if (first == TAP_UNICODE_SYMBOL)
        return true;
    while (tap_token_cursor_peek(cursor, &character) && character.class == TAP_UNICODE_WORD &&
           (first == TAP_UNICODE_WORD || tap_unicode_is_mark(character.code_point)))
        tap_token_cursor_take(cursor, &character);
    return true;
}

const struct tap_tokenizer_kind tap_tokenizer_word = {.name = "word", .next = next_word};
