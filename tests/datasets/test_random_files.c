/* test_random_files.c: files of random fields and of random bytes, in every format. */
#include "data_fixture.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

TestSuite(random_files, .fini = fixture_remove);

static uint32_t state = 12345;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* A text of up to 11 pieces of `pieces`, which ends in NULL. */
static void draw_text(const char *const *pieces, char *out)
{
    uint32_t n_pieces = 0;
    out[0] = '\0';
    while (pieces[n_pieces] != NULL)
        n_pieces++;
    for (uint32_t n = draw(12); n > 0; n--)
        strcat(out, pieces[draw(n_pieces)]);
}

/* Writes a field by RFC 4180: quoted where it must be, and now and then where it need not. */
static size_t write_field(char *out, const char *text)
{
    size_t n = 0;
    bool is_quoted = strpbrk(text, "\",;\t\r\n") != NULL || draw(4) == 0;
    if (!is_quoted)
        return (size_t)sprintf(out, "%s", text);
    out[n++] = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"')
            out[n++] = '"';
        out[n++] = *text;
    }
    out[n++] = '"';
    return n;
}

Test(random_files, csv_fields_come_back_as_they_were_written)
{
    static const char *const pieces[] = {"a", "\"", ",", ";", "\t", "\n", "\r\n", "\r", " ", "\xC3\xA9", NULL};
    enum { n_rows = 20 };
    static char texts[n_rows][64], bytes[n_rows * 512];
    for (int file = 0; file < 200; file++) {
        const char separator = ",;\t"[file % 3];
        const char *end = file % 2 == 0 ? "\n" : "\r\n";
        size_t n = 0;
        for (int row = 0; row < n_rows; row++) {
            draw_text(pieces, texts[row]);
            n += write_field(bytes + n, row % 2 == 0 ? "x" : "y,\"z\"");
            bytes[n++] = separator;
            n += write_field(bytes + n, texts[row]);
            n += (size_t)sprintf(bytes + n, "%s", row + 1 < n_rows || file % 5 != 0 ? end : "");
        }
        read_named("in.csv", bytes, n);
        expect_rows(n_rows);
        for (uint32_t row = 0; row < n_rows; row++)
            expect_row(row, row % 2 == 0 ? "x" : "y,\"z\"", texts[row]);
    }
}

Test(random_files, any_bytes_give_rows_or_one_line_that_names_the_file)
{
    static const char *const pieces[] = {
        "a",    "\"",   ",",       "\t",          "\n",       "\n",   " ",      "{",     "}",         ":",
        "[",    "\\",   "\\ud83d", "{\"label\":", "\"text\"", "null", "\"a\",", "1e999", "__label__", "\xEF\xBB\xBF",
        "\xE9", "\r\n", "\x1F",    "\x8B",        "\x08",     NULL};
    static const char *const formats[] = {"tsv", "csv", "jsonl", "fasttext", "space"};
    uint32_t n_read = 0;
    for (int file = 0; file < 5000; file++) {
        char bytes[256];
        struct tap_read_options options = fixture_read_options();
        options.format = formats[file % 5];
        options.bad_bytes = file % 3 == 0 ? "replace" : "refuse";
        options.encoding = file % 7 == 0 ? "cp1252" : "utf-8";
        options.label_prefix_end = file % 11 == 0 ? ":" : "";
        draw_text(pieces, bytes);
        const char *path = fixture_text("in", bytes);
        if (read_path(path, options) == TAP_OK)
            n_read++;
        else
            cr_assert_not_null(strstr(read_error.message, path), "%s", read_error.message);
    }
    cr_expect_gt(n_read, 100, "%u read", n_read);
}
