/* tokenizer_kinds.c: see tokenizer_kinds.h. */
#include "tokenizer_kinds.h"

#include "quote.h"

#include <string.h>

#define REPLACEMENT_CHARACTER 0xFFFD

static const struct tap_tokenizer_kind *const kinds[] = {
#define TAP_TOKENIZER(name, kind, summary) &kind,
#include "tokenizers.def"
#undef TAP_TOKENIZER
};

const struct tap_tokenizer_kind *tap_tokenizer_kind_find(const char *name, struct tap_error *error)
{
    const size_t n_kinds = sizeof kinds / sizeof kinds[0];
    const char *names[sizeof kinds / sizeof kinds[0]];
    char list[TAP_NAME_LIST_BYTES];
    for (size_t i = 0; i < n_kinds; i++) {
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
        names[i] = kinds[i]->name;
    }
    tap_error_set(error, TAP_ERR_VALUE, "data.tokenizer: %s is unknown; accepted: %s",
                  tap_quote(name, strlen(name)).text, tap_name_list(names, n_kinds, list));
    return NULL;
}

void tap_token_cursor_start(struct tap_token_cursor *cursor, const struct tap_tokenizer *tokenizer, const char *text,
                            size_t n_bytes)
{
    cursor->tokenizer = tokenizer;
    cursor->text = text;
    cursor->n_bytes = n_bytes;
    cursor->position = 0;
    cursor->n_done = 0;
    cursor->lowercase = tokenizer->lowercase;
    cursor->n_token_bytes = 0; /* the bytes of `token` stay undefined */
    cursor->n_written_bytes = 0;
    cursor->word.n_pieces = 0;
    cursor->word.n_given = 0;
}

bool tap_token_cursor_peek(const struct tap_token_cursor *cursor, struct tap_character *out)
{
    if (cursor->position >= cursor->n_bytes)
        return false;
    int32_t code_point = REPLACEMENT_CHARACTER;
    size_t length =
        tap_unicode_decode(cursor->text + cursor->position, cursor->n_bytes - cursor->position, &code_point);
    out->n_bytes = length > 0 ? length : 1;
    out->code_point = cursor->lowercase ? tap_unicode_lower(code_point) : code_point;
    out->class = tap_unicode_class_of(out->code_point);
    return true;
}

void tap_token_cursor_take(struct tap_token_cursor *cursor, const struct tap_character *character)
{
    char bytes[TAP_UTF8_MAX_BYTES];
    size_t n_bytes = tap_unicode_encode(character->code_point, bytes);
    bool is_whole = cursor->n_written_bytes == cursor->n_token_bytes;
    if (is_whole && cursor->n_token_bytes + n_bytes <= TAP_TOKEN_MAX_BYTES) {
        memcpy(cursor->token + cursor->n_token_bytes, bytes, n_bytes);
        cursor->n_written_bytes += n_bytes;
    }
    cursor->n_token_bytes += n_bytes;
    cursor->position += character->n_bytes;
}

bool tap_token_cursor_skip_invisible(struct tap_token_cursor *cursor, struct tap_character *out)
{
    cursor->n_token_bytes = 0;
    cursor->n_written_bytes = 0;
    while (tap_token_cursor_peek(cursor, out)) {
        if (out->class != TAP_UNICODE_INVISIBLE)
            return true;
        cursor->position += out->n_bytes;
    }
    return false;
}
