/* unicode.c: see unicode.h. ASCII is answered without asking utf8proc, because most text is ASCII. */
#include "unicode.h"

#include "error.h"

#include <utf8proc.h>

#include <string.h>

struct code_range {
    int32_t first, last;
};

/* Characters that are written without spaces and carry meaning one by one. Bopomofo and Hangul are not here. */
static const struct code_range cjk_ranges[] = {
    {0x3005, 0x3007},   /* iteration mark, closing mark, ideographic zero */
    {0x3021, 0x3029},   /* Suzhou numerals */
    {0x3038, 0x303B},   /* more of them, and the vertical iteration mark */
    {0x3041, 0x3096},   /* hiragana */
    {0x309D, 0x309F},   /* hiragana iteration marks */
    {0x30A1, 0x30FA},   /* katakana */
    {0x30FC, 0x30FF},   /* long vowel, katakana iteration marks */
    {0x31F0, 0x31FF},   /* small katakana */
    {0x3400, 0x4DBF},   /* Han, extension A */
    {0x4E00, 0x9FFF},   /* Han */
    {0xF900, 0xFAFF},   /* Han, compatibility */
    {0xFF66, 0xFF9D},   /* katakana, half width */
    {0x1AFF0, 0x1B16F}, /* kana supplements and extensions */
    {0x20000, 0x2FA1F}, /* Han, extensions B to F, compatibility supplement */
    {0x30000, 0x3FFFD}, /* Han, extensions G and later: the whole plane is set aside for them */
};

static bool is_cjk(int32_t code_point)
{
    for (size_t i = 0; i < sizeof cjk_ranges / sizeof cjk_ranges[0]; i++) {
        if (code_point < cjk_ranges[i].first)
            return false;
        if (code_point <= cjk_ranges[i].last)
            return true;
    }
    return false;
}

/* They choose between two looks of the character before them (an emoji in colour, say) and show nothing themselves. */
static bool is_variation_selector(int32_t code_point)
{
    return (code_point >= 0xFE00 && code_point <= 0xFE0F) || (code_point >= 0xE0100 && code_point <= 0xE01EF);
}

size_t tap_unicode_decode(const char *text, size_t n_bytes, int32_t *out_code_point)
{
    if (n_bytes == 0)
        return 0;
    if ((unsigned char)text[0] < 0x80) {
        *out_code_point = (unsigned char)text[0];
        return 1;
    }
    utf8proc_ssize_t at_most = n_bytes < TAP_UTF8_MAX_BYTES ? (utf8proc_ssize_t)n_bytes : TAP_UTF8_MAX_BYTES;
    utf8proc_int32_t code_point;
    utf8proc_ssize_t length = utf8proc_iterate((const utf8proc_uint8_t *)text, at_most, &code_point);
    if (length <= 0)
        return 0;
    *out_code_point = code_point;
    return (size_t)length;
}

size_t tap_unicode_encode(int32_t code_point, char out[TAP_UTF8_MAX_BYTES])
{
    return (size_t)utf8proc_encode_char(code_point, (utf8proc_uint8_t *)out);
}

size_t tap_unicode_valid_bytes(const char *text, size_t n_bytes)
{
    size_t position = 0;
    while (position < n_bytes) {
        uint64_t eight; /* the high bit of every byte is 0 in ASCII: eight bytes a step */
        while (n_bytes - position >= sizeof eight) {
            memcpy(&eight, text + position, sizeof eight);
            if ((eight & 0x8080808080808080u) != 0)
                break;
            position += sizeof eight;
        }
        int32_t code_point;
        size_t length = tap_unicode_decode(text + position, n_bytes - position, &code_point);
        if (length == 0)
            return position;
        position += length;
    }
    return n_bytes;
}

int32_t tap_unicode_lower(int32_t code_point)
{
    if (code_point < 0x80)
        return code_point >= 'A' && code_point <= 'Z' ? code_point + ('a' - 'A') : code_point;
    return utf8proc_tolower(code_point);
}

static enum tap_unicode_class class_of_ascii(int32_t code_point)
{
    int32_t lower = tap_unicode_lower(code_point);
    if ((lower >= 'a' && lower <= 'z') || (code_point >= '0' && code_point <= '9'))
        return TAP_UNICODE_WORD;
    return code_point <= ' ' || code_point == 0x7F ? TAP_UNICODE_INVISIBLE : TAP_UNICODE_SYMBOL;
}

enum tap_unicode_class tap_unicode_class_of(int32_t code_point)
{
    if (code_point < 0x80)
        return class_of_ascii(code_point);
    if (is_cjk(code_point))
        return TAP_UNICODE_CJK;
    if (is_variation_selector(code_point))
        return TAP_UNICODE_INVISIBLE;
    switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
        return TAP_UNICODE_WORD;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
        return TAP_UNICODE_INVISIBLE;
    default:
        return TAP_UNICODE_SYMBOL;
    }
}

bool tap_unicode_is_mark(int32_t code_point)
{
    if (code_point < 0x300) /* the first mark is U+0300 */
        return false;
    utf8proc_category_t category = utf8proc_category(code_point);
    return !is_variation_selector(code_point) &&
           (category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME);
}

int tap_unicode_columns(int32_t code_point)
{
    return utf8proc_charwidth(code_point);
}

bool tap_unicode_is_nonspacing_mark(int32_t code_point)
{
    return code_point >= 0x300 && !is_variation_selector(code_point) &&
           utf8proc_category(code_point) == UTF8PROC_CATEGORY_MN;
}

size_t tap_unicode_decompose(int32_t code_point, int32_t out[TAP_UNICODE_MAX_PARTS])
{
    int boundary = 0; /* of no use without UTF8PROC_CHARBOUND */
    out[0] = code_point;
    if (code_point < 0xC0) /* the first that decomposes is U+00C0 */
        return 1;
    utf8proc_ssize_t n = utf8proc_decompose_char(code_point, out, TAP_UNICODE_MAX_PARTS, UTF8PROC_DECOMPOSE, &boundary);
    TAP_CHECK(n >= 1 && n <= TAP_UNICODE_MAX_PARTS);
    return (size_t)n;
}

int tap_unicode_combining_class(int32_t code_point)
{
    return code_point < 0x300 ? 0 : utf8proc_get_property(code_point)->combining_class;
}
