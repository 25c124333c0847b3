/* test_unicode.c: UTF-8 in and out, lower case, and the classes that the tokenizers rely on. */
#include "unicode.h"

#include <criterion/criterion.h>

#include <string.h>

Test(unicode, every_code_point_survives_writing_and_reading)
{
    for (int32_t code_point = 0; code_point <= 0x10FFFF; code_point++) {
        char bytes[TAP_UTF8_MAX_BYTES];
        int32_t back = -1;
        if (code_point >= 0xD800 && code_point <= 0xDFFF)
            continue;
        size_t n_bytes = tap_unicode_encode(code_point, bytes);
        size_t expected = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
        cr_assert_eq(n_bytes, expected, "U+%04X", (unsigned)code_point);
        cr_assert_eq(tap_unicode_decode(bytes, n_bytes, &back), n_bytes, "U+%04X", (unsigned)code_point);
        cr_assert_eq(back, code_point);
        for (size_t cut = 0; cut < n_bytes; cut++)
            cr_assert_eq(tap_unicode_decode(bytes, cut, &back), 0, "U+%04X cut after %zu", (unsigned)code_point, cut);
    }
}

Test(unicode, what_is_no_utf8_is_found)
{
    const char *bad[] = {
        "\x80",             /* a continuation byte alone */
        "\xC0\x80",         /* overlong NUL */
        "\xC1\xBF",         /* overlong */
        "\xE0\x80\xAF",     /* overlong slash */
        "\xF0\x80\x80\xAF", /* overlong slash */
        "\xED\xA0\x80",     /* a surrogate */
        "\xF4\x90\x80\x80", /* beyond U+10FFFF */
        "\xF5\x80\x80\x80",
        "\xFE",
        "\xFF",
        "\xC3(",
        "\xE2\x82(",
        "\xF0\x9F\x98(",
        "\xC3",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[40] = "0123456789abcdef\xC3\xA9"; /* valid bytes in front, more than eight */
        size_t n_good = strlen(text);
        int32_t code_point = 77;
        cr_expect_eq(tap_unicode_decode(bad[i], strlen(bad[i]), &code_point), 0, "case %zu", i);
        cr_expect_eq(code_point, 77, "nothing is written");
        strcat(text, bad[i]);
        cr_expect_eq(tap_unicode_valid_bytes(text, strlen(text)), n_good, "case %zu", i);
    }
    cr_expect_eq(tap_unicode_valid_bytes("caf\xC3\xA9 au lait", 13), 13);
    cr_expect_eq(tap_unicode_valid_bytes("", 0), 0);
}

Test(unicode, lower_case_goes_beyond_ascii)
{
    cr_expect_eq(tap_unicode_lower('A'), 'a');
    cr_expect_eq(tap_unicode_lower('Z'), 'z');
    cr_expect_eq(tap_unicode_lower('['), '[');
    cr_expect_eq(tap_unicode_lower('@'), '@');
    cr_expect_eq(tap_unicode_lower(0xC9), 0xE9, "E acute");
    cr_expect_eq(tap_unicode_lower(0x416), 0x436, "Cyrillic Zhe");
    cr_expect_eq(tap_unicode_lower(0x3A3), 0x3C3, "Sigma");
    cr_expect_eq(tap_unicode_lower(0x4E2D), 0x4E2D, "Han has no case");
    cr_expect_eq(tap_unicode_lower(0x10400), 0x10428, "Deseret, beyond 16 bits");
}

Test(unicode, characters_are_in_the_class_that_is_documented)
{
    const struct {
        int32_t code_point;
        enum tap_unicode_class class;
    } cases[] = {
        {'a', TAP_UNICODE_WORD},         {'Z', TAP_UNICODE_WORD},         {'7', TAP_UNICODE_WORD},
        {'_', TAP_UNICODE_SYMBOL},       {'[', TAP_UNICODE_SYMBOL},       {'~', TAP_UNICODE_SYMBOL},
        {' ', TAP_UNICODE_INVISIBLE},    {'\t', TAP_UNICODE_INVISIBLE},   {'\r', TAP_UNICODE_INVISIBLE},
        {0x7F, TAP_UNICODE_INVISIBLE},   {0x85, TAP_UNICODE_INVISIBLE},   {0xA0, TAP_UNICODE_INVISIBLE},
        {0xAD, TAP_UNICODE_INVISIBLE},   {0x200B, TAP_UNICODE_INVISIBLE}, {0x2028, TAP_UNICODE_INVISIBLE},
        {0xFEFF, TAP_UNICODE_INVISIBLE}, {0x3000, TAP_UNICODE_INVISIBLE}, {0xFE0F, TAP_UNICODE_INVISIBLE},
        {0xE9, TAP_UNICODE_WORD},        {0x301, TAP_UNICODE_WORD},       {0x663, TAP_UNICODE_WORD},
        {0x915, TAP_UNICODE_WORD},       {0xAC00, TAP_UNICODE_WORD},      {0x3105, TAP_UNICODE_WORD},
        {0xB2, TAP_UNICODE_SYMBOL},      {0xBD, TAP_UNICODE_SYMBOL},      {0x20AC, TAP_UNICODE_SYMBOL},
        {0x1F600, TAP_UNICODE_SYMBOL},   {0xF059, TAP_UNICODE_SYMBOL},    {0xFFFD, TAP_UNICODE_SYMBOL},
        {0x378, TAP_UNICODE_SYMBOL},     {0x4E2D, TAP_UNICODE_CJK},       {0x3400, TAP_UNICODE_CJK},
        {0x3007, TAP_UNICODE_CJK},       {0xF900, TAP_UNICODE_CJK},       {0x20000, TAP_UNICODE_CJK},
        {0x2F800, TAP_UNICODE_CJK},      {0x30000, TAP_UNICODE_CJK},      {0x3042, TAP_UNICODE_CJK},
        {0x30AB, TAP_UNICODE_CJK},       {0x30FC, TAP_UNICODE_CJK},       {0xFF76, TAP_UNICODE_CJK},
        {0x30FB, TAP_UNICODE_SYMBOL},    {0x3001, TAP_UNICODE_SYMBOL},    {0xFF0C, TAP_UNICODE_SYMBOL},
        {0x3099, TAP_UNICODE_WORD},      {0x10FFFF, TAP_UNICODE_SYMBOL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(tap_unicode_class_of(cases[i].code_point), cases[i].class, "U+%04X is %d",
                     (unsigned)cases[i].code_point, (int)tap_unicode_class_of(cases[i].code_point));
}

Test(unicode, marks_are_told_from_letters_and_selectors)
{
    cr_expect(tap_unicode_is_mark(0x301));
    cr_expect(tap_unicode_is_mark(0x3099));
    cr_expect(tap_unicode_is_mark(0x20E3), "an enclosing one");
    cr_expect(tap_unicode_is_mark(0x93E), "a spacing one");
    cr_expect_not(tap_unicode_is_mark('a'));
    cr_expect_not(tap_unicode_is_mark(0xFE0F));
    cr_expect_not(tap_unicode_is_mark(0x4E2D));
}

Test(unicode, columns_are_those_of_a_terminal)
{
    cr_expect_eq(tap_unicode_columns('a'), 1);
    cr_expect_eq(tap_unicode_columns(0xE9), 1);
    cr_expect_eq(tap_unicode_columns(0x301), 0);   /* combining acute */
    cr_expect_eq(tap_unicode_columns(0x732B), 2);  /* cat */
    cr_expect_eq(tap_unicode_columns(0x3042), 2);  /* hiragana a */
    cr_expect_eq(tap_unicode_columns(0xAC00), 2);  /* hangul ga */
    cr_expect_eq(tap_unicode_columns(0x1F600), 2); /* grinning face */
    cr_expect_eq(tap_unicode_columns('\n'), 0);
}

Test(unicode, decompositions_are_full_and_canonical)
{
    static const struct {
        int32_t code_point;
        size_t n;
        int32_t parts[TAP_UNICODE_MAX_PARTS];
    } cases[] = {
        {0, 1, {0}},
        {'a', 1, {'a'}},
        {0xC5, 2, {'A', 0x30A}},
        {0x212B, 2, {'A', 0x30A}},       /* by way of U+00C5 */
        {0x1DC, 3, {'u', 0x308, 0x300}}, /* by way of U+00FC */
        {0x1F82, 4, {0x3B1, 0x313, 0x300, 0x345}},
        {0x30D0, 2, {0x30CF, 0x3099}},
        {0xAC00, 2, {0x1100, 0x1161}},
        {0xD55C, 3, {0x1112, 0x1161, 0x11AB}},
        {0xF900, 1, {0x8C48}},
        {0xFB01, 1, {0xFB01}}, /* a compatibility decomposition: none */
        {0xFF21, 1, {0xFF21}},
        {0x10FFFF, 1, {0x10FFFF}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t parts[TAP_UNICODE_MAX_PARTS];
        cr_assert_eq(tap_unicode_decompose(cases[i].code_point, parts), cases[i].n, "case %zu", i);
        cr_expect_eq(memcmp(parts, cases[i].parts, cases[i].n * sizeof *parts), 0, "case %zu", i);
    }
    for (int32_t code_point = 0; code_point <= 0x10FFFF; code_point++) {
        int32_t parts[TAP_UNICODE_MAX_PARTS];
        size_t n = tap_unicode_decompose(code_point, parts);
        cr_assert(n >= 1 && n <= TAP_UNICODE_MAX_PARTS, "U+%04X", (unsigned)code_point);
    }
}

Test(unicode, nonspacing_marks_and_combining_classes)
{
    cr_expect(tap_unicode_is_nonspacing_mark(0x301));
    cr_expect(tap_unicode_is_nonspacing_mark(0x3099));
    cr_expect(tap_unicode_is_nonspacing_mark(0x94D), "virama");
    cr_expect_not(tap_unicode_is_nonspacing_mark(0x93E), "a spacing one");
    cr_expect_not(tap_unicode_is_nonspacing_mark(0x20E3), "an enclosing one");
    cr_expect_not(tap_unicode_is_nonspacing_mark(0xFE0F), "a variation selector");
    cr_expect_not(tap_unicode_is_nonspacing_mark('a'));
    cr_expect_eq(tap_unicode_combining_class('a'), 0);
    cr_expect_eq(tap_unicode_combining_class(0x301), 230);
    cr_expect_eq(tap_unicode_combining_class(0x323), 220);
    cr_expect_eq(tap_unicode_combining_class(0x94D), 9);
    cr_expect_eq(tap_unicode_combining_class(0x16FF0), 6);
}
