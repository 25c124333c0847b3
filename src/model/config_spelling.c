/* config_spelling.c: the way from a field back to text, and texts about values: what a key accepts, a piece of input
 * in quotes. See config_value.h. */
#include "config_value.h"

#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "config_number.h"

/* Reads one code point; returns its bytes, or 0 when they are no UTF-8 (overlong forms, surrogates, beyond U+10FFFF).
 */
static size_t read_code_point(const char *text, size_t n_bytes, uint32_t *out)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if ((s[0] >= 0x80 && s[0] < 0xC2) || s[0] > 0xF4 || length > n_bytes)
        return 0;
    uint32_t code = length == 1 ? s[0] : s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10FFFF)) ||
        (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    *out = code;
    return length;
}

bool tap_config_is_utf8(const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes;) {
        uint32_t code;
        size_t length = read_code_point(text + i, n_bytes - i, &code);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

/* What YAML does not take as it is within double quotes: control characters, line breaks of any script, the byte order
 * mark, and what is no character. */
static bool must_escape(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code <= 0xA0) || code == 0x2028 || code == 0x2029 || code == 0xFEFF ||
           code == 0xFFFE || code == 0xFFFF;
}

/* `text` is valid UTF-8. */
static void write_quoted(const char *text, struct tap_config_text *out)
{
    size_t n_bytes = strlen(text);
    tap_config_text_add_bytes(out, "\"", 1);
    for (size_t i = 0; i < n_bytes;) {
        uint32_t code = 0;
        size_t length = read_code_point(text + i, n_bytes - i, &code);
        TAP_CHECK(length > 0);
        if (must_escape(code)) {
            tap_config_text_add(out, "\\u%04X", (unsigned)code);
        } else {
            if (code == '"' || code == '\\')
                tap_config_text_add_bytes(out, "\\", 1);
            tap_config_text_add_bytes(out, text + i, length);
        }
        i += length > 0 ? length : 1;
    }
    tap_config_text_add_bytes(out, "\"", 1);
}

static void write_choice(const struct tap_config_key *key, int value, struct tap_config_text *out)
{
    for (const struct tap_config_choice *choice = key->choices; choice->word != NULL; choice++)
        if (choice->value == value)
            tap_config_text_add(out, "%s", choice->word);
}

static void write_weights(const struct tap_config_key *key, const struct tap_config_weights *weights,
                          struct tap_config_text *out)
{
    if (weights->weighting != TAP_CONFIG_CLASS_WEIGHTS_LISTED) {
        write_choice(key, (int)weights->weighting, out);
        return;
    }
    tap_config_text_add(out, "[");
    for (size_t i = 0; i < weights->n_values; i++) {
        tap_config_text_add(out, "%s", i > 0 ? ", " : "");
        tap_config_write_real(weights->values[i], out);
    }
    tap_config_text_add(out, "]");
}

static void write_texts(const struct tap_config_texts *texts, struct tap_config_text *out)
{
    tap_config_text_add(out, "[");
    for (size_t i = 0; i < texts->n_items; i++) {
        tap_config_text_add(out, "%s", i > 0 ? ", " : "");
        write_quoted(texts->items[i], out);
    }
    tap_config_text_add(out, "]");
}

void tap_config_value_write(const struct tap_config_key *key, const void *field, bool is_quoted,
                            struct tap_config_text *out)
{
    int integer;
    switch (key->kind) {
    case TAP_CONFIG_KIND_INTEGER:
        tap_config_text_add(out, "%d", *(const int *)field);
        return;
    case TAP_CONFIG_KIND_REAL:
        tap_config_write_real(*(const double *)field, out);
        return;
    case TAP_CONFIG_KIND_FLAG:
        tap_config_text_add(out, "%s", *(const bool *)field ? "true" : "false");
        return;
    case TAP_CONFIG_KIND_CHOICE:
        memcpy(&integer, field, sizeof integer);
        write_choice(key, integer, out);
        return;
    case TAP_CONFIG_KIND_TEXT:
        if (is_quoted)
            write_quoted(*(char *const *)field, out);
        else
            tap_config_text_add(out, "%s", *(char *const *)field);
        return;
    case TAP_CONFIG_KIND_TEXTS:
        write_texts(field, out);
        return;
    case TAP_CONFIG_KIND_WEIGHTS:
        write_weights(key, field, out);
        return;
    }
}

static void describe_choices(const struct tap_config_key *key, bool is_supported, const char *before,
                             struct tap_config_text *out)
{
    for (const struct tap_config_choice *choice = key->choices; choice->word != NULL; choice++)
        if (choice->is_supported == is_supported) {
            tap_config_text_add(out, "%s%s", before, choice->word);
            before = ", ";
        }
}

static void describe_real(const struct tap_config_range *range, struct tap_config_text *out)
{
    tap_config_text_add(out, range->min_is_open ? "a number above " : "a number from ");
    tap_config_write_real(range->min, out);
    if (range->max < DBL_MAX) {
        tap_config_text_add(out, range->max_is_open ? " to below " : " to ");
        tap_config_write_real(range->max, out);
    } else if (!range->min_is_open) {
        tap_config_text_add(out, " up");
    }
}

static void describe_kind(const struct tap_config_key *key, struct tap_config_text *out)
{
    int most = key->range.max < INT_MAX ? (int)key->range.max : INT_MAX;
    switch (key->kind) {
    case TAP_CONFIG_KIND_INTEGER:
        tap_config_text_add(out, "an integer from %d to %d", (int)key->range.min, most);
        return;
    case TAP_CONFIG_KIND_REAL:
        describe_real(&key->range, out);
        return;
    case TAP_CONFIG_KIND_FLAG:
        tap_config_text_add(out, "true, false");
        return;
    case TAP_CONFIG_KIND_CHOICE:
        describe_choices(key, true, "", out);
        return;
    case TAP_CONFIG_KIND_TEXT:
        tap_config_text_add(out, key->use == TAP_CONFIG_USE_PLAIN  ? "a text in UTF-8"
                                 : key->use == TAP_CONFIG_USE_PATH ? "a path in UTF-8"
                                                                   : "a number from 1, or a name");
        return;
    case TAP_CONFIG_KIND_TEXTS:
        tap_config_text_add(out, "a list of texts");
        return;
    case TAP_CONFIG_KIND_WEIGHTS:
        describe_choices(key, true, "", out);
        tap_config_text_add(out, ", or a list of numbers from 0 up, one of them above 0");
        return;
    }
}

void tap_config_accepted(const struct tap_config_key *key, bool is_full, struct tap_config_text *out)
{
    if (key->only_default && !is_full) {
        tap_config_text_add(out, "%s", key->initial);
        return;
    }
    describe_kind(key, out);
    if (!is_full)
        return;
    if (key->only_default)
        tap_config_text_add(out, "; other than %s: not supported yet", key->initial);
    if (key->choices != NULL)
        describe_choices(key, false, "; not supported yet: ", out);
}

enum { SHOWN_BYTES = 60 };

void tap_config_shorten(const char *text, size_t n_bytes, struct tap_config_text *out)
{
    size_t n_shown = n_bytes;
    if (n_bytes > SHOWN_BYTES) {
        n_shown = SHOWN_BYTES;
        while (n_shown > 0 && ((unsigned char)text[n_shown] & 0xC0) == 0x80) /* no character is cut in two */
            n_shown--;
    }
    tap_config_text_add_bytes(out, text, n_shown);
    tap_config_text_add(out, "%s", n_shown < n_bytes ? "..." : "");
}

void tap_config_quote(const char *text, size_t n_bytes, struct tap_config_text *out)
{
    tap_config_text_add(out, "'");
    tap_config_shorten(text, n_bytes, out);
    tap_config_text_add(out, "'");
}
