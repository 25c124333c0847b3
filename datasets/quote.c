/* quote.c: see quote.h. */
#include "quote.h"

#include "unicode.h"

#include <stdio.h>
#include <string.h>

#define SHORTENED "..."

struct tap_quote tap_quote(const char *bytes, size_t n_bytes)
{
    struct tap_quote quote;
    size_t room = sizeof quote.text - sizeof "''" - strlen(SHORTENED);
    size_t position = 0;
    size_t n = 0;
    quote.text[n++] = '\'';
    while (position < n_bytes) {
        int32_t code_point;
        size_t length = tap_unicode_decode(bytes + position, n_bytes - position, &code_point);
        bool is_shown = length > 0 && (code_point == ' ' || tap_unicode_class_of(code_point) != TAP_UNICODE_INVISIBLE);
        size_t n_shown = is_shown ? length : 1;
        if (n - 1 + n_shown > room)
            break;
        if (is_shown)
            memcpy(quote.text + n, bytes + position, length);
        else
            quote.text[n] = '?';
        n += n_shown;
        position += length > 0 ? length : 1;
    }
    snprintf(quote.text + n, sizeof quote.text - n, "%s'", position < n_bytes ? SHORTENED : "");
    return quote;
}

const char *tap_name_list(const char *const *names, size_t n_names, char out[TAP_NAME_LIST_BYTES])
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n_names; i++) {
        struct tap_quote quote = tap_quote(names[i], strlen(names[i]));
        /* room for this name, and for "and N more" behind it */
        if (n + strlen(quote.text) + 40 > TAP_NAME_LIST_BYTES) {
            snprintf(out + n, TAP_NAME_LIST_BYTES - n, ", and %zu more", n_names - i);
            break;
        }
        n += (size_t)snprintf(out + n, TAP_NAME_LIST_BYTES - n, "%s%s", i > 0 ? ", " : "", quote.text);
    }
    return out;
}
