/* test_decoding.c: encodings and bad bytes. */
#include "data_fixture.h"
#include "read_fixture.h"
#include "unicode.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

TestSuite(decoding, .fini = fixture_remove);

#define FFFD "\xEF\xBF\xBD"

static void read_as(const char *encoding, const char *bad_bytes, const char *text)
{
    struct tap_read_options options = fixture_read_options();
    options.encoding = encoding;
    options.bad_bytes = bad_bytes;
    read_path(fixture_text("in.tsv", text), options);
}

Test(decoding, cp1252_is_read)
{
    read_as("cp1252", "refuse", "caf\xE9\t\x80 \x85 \x93x\x94 \xA3 \xFF\nb\tplain\n");
    expect_rows(2);
    expect_row(0, "caf\xC3\xA9", "\xE2\x82\xAC \xE2\x80\xA6 \xE2\x80\x9Cx\xE2\x80\x9D \xC2\xA3 \xC3\xBF");
    expect_row(1, "b", "plain");
}

Test(decoding, bytes_that_cp1252_lacks_are_refused_or_replaced)
{
    const char *bad = "\x81\x8D\x8F\x90\x9D";
    for (const char *byte = bad; *byte != '\0'; byte++) {
        char text[] = "a\tone\nb\tx?y\n";
        char words[80];
        *strchr(text, '?') = *byte;
        snprintf(words, sizeof words, "in.tsv:2: byte 4 of the line (0x%02X) is not cp1252", (unsigned char)*byte);
        read_as("cp1252", "refuse", text);
        expect_refusal(TAP_ERR_FORMAT, words);
        read_as("cp1252", "replace", text);
        expect_row(1, "b", "x" FFFD "y");
    }
}

Test(decoding, every_byte_of_latin_1_is_the_code_point_of_its_number)
{
    for (int byte = 1; byte < 256; byte++) {
        char text[] = "a\tx?y\n";
        char expected[16] = "x";
        if (byte == '\n' || byte == '\t')
            continue;
        text[3] = (char)byte;
        size_t n_bytes = tap_unicode_encode(byte, expected + 1);
        strcpy(expected + 1 + n_bytes, "y");
        read_as("latin-1", "refuse", text);
        expect_rows(1);
        expect_row(0, "a", expected);
    }
}

Test(decoding, bad_utf8_is_replaced_byte_by_byte)
{
    read_as("utf-8", "replace", "a\tcaf\xE9\nb\t\xE4\xB8\nc\t\xE4\xB8\xAD\xF0x\nd\t\xED\xA0\x80\nx\xFF\tplain\n");
    expect_rows(5);
    expect_row(0, "a", "caf" FFFD);
    expect_row(1, "b", FFFD FFFD);
    expect_row(2, "c", "\xE4\xB8\xAD" FFFD "x");
    expect_row(3, "d", FFFD FFFD FFFD);
    expect_row(4, "x" FFFD, "plain");
    read_as("utf-8", "refuse", "a\tone\nb\tcaf\xE9\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: byte 6 of the line (0xE9) is not UTF-8; set data.encoding");
    read_as(NULL, NULL, "a\tcaf\xE9\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:1: byte 6");
}

Test(decoding, nul_bytes_are_never_replaced)
{
    struct tap_read_options options = fixture_read_options();
    options.bad_bytes = "replace";
    read_path(fixture_file("in.tsv", "a\tone\nb\t\0\n", 10), options);
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: a NUL byte");
    options.encoding = "latin-1";
    read_path(fixture_path("in.tsv"), options);
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: a NUL byte");
}

Test(decoding, unknown_words_are_refused)
{
    read_as("utf-16", "refuse", "a\tone\n");
    expect_refusal(TAP_ERR_VALUE, "data.encoding: 'utf-16' is unknown; accepted: utf-8, cp1252, latin-1");
    read_as("utf-8", "skip", "a\tone\n");
    expect_refusal(TAP_ERR_VALUE, "data.bad_bytes: 'skip' is unknown; accepted: refuse, replace");
}

Test(decoding, every_failed_allocation_is_an_error)
{
    struct tap_read_options options = fixture_read_options();
    options.encoding = "cp1252";
    expect_failed_allocations(fixture_text("in.tsv", "a\tcaf\xE9\nb\ttwo\n"), options);
}
