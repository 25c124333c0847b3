/* test_shown_text.c: texts as a terminal may show them. */
#include "shown_text.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_shown(const char *text, int most_columns, const char *expected, int n_columns)
{
    struct shown_text shown = shown_text(text, strlen(text), most_columns);
    cr_expect_str_eq(shown.text, expected, "'%s' in %d columns: '%s'", text, most_columns, shown.text);
    cr_expect_eq(shown.n_columns, n_columns, "'%s': %d columns", text, shown.n_columns);
}

Test(shown_text, a_text_that_fits_is_whole)
{
    expect_shown("", 3, "", 0);
    expect_shown("abc", 3, "abc", 3);
    expect_shown("0123456789", 10, "0123456789", 10);
    expect_shown("caf\xC3\xA9", 4, "caf\xC3\xA9", 4);
    expect_shown("\xE7\x8C\xAB\xE7\x8B\x97", 4, "\xE7\x8C\xAB\xE7\x8B\x97", 4); /* two Han characters */
}

Test(shown_text, a_cut_falls_between_two_characters)
{
    expect_shown("abcd", 3, "...", 3);
    expect_shown("0123456789a", 10, "0123456...", 10);
    expect_shown("012345\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 10, "012345\xC3\xA9...", 10);
    /* a wide character that would begin in the last column is left out */
    expect_shown("ab\xE7\x8C\xAB\xE7\x8B\x97\xE7\x8C\xAB", 6, "ab...", 5);
    /* a mark stays with its letter */
    expect_shown("abe\xCC\x81zzz", 6, "abe\xCC\x81zzz", 6);
    expect_shown("abe\xCC\x81zzzz", 6, "abe\xCC\x81...", 6);
}

Test(shown_text, what_would_disturb_the_line_is_a_blank)
{
    expect_shown("a\tb\nc\rd\x1B[1me\x7F", 20, "a b c d [1me ", 13);
    expect_shown("a\xE2\x80\xAE"
                 "b",
                 20, "a b", 3); /* right-to-left override */
    expect_shown("a\xC2\x85"
                 "b",
                 20, "a b", 3); /* next line */
    expect_shown("a\xFF"
                 "b",
                 20, "a?b", 3);
    struct shown_text shown = shown_text("a\0b", 3, 20);
    cr_expect_str_eq(shown.text, "a b");
}

Test(shown_text, endless_marks_do_not_overrun)
{
    char text[4000] = "e";
    for (size_t i = 1; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xCC\x81", 3);
    struct shown_text shown = shown_text(text, strlen(text), 80);
    size_t n = strlen(shown.text);
    cr_expect(n < sizeof shown.text && n > sizeof shown.text - 8);
    cr_expect_str_eq(shown.text + n - 3, "...");
    cr_expect_eq(shown.n_columns, 4);
    char wide[4000];
    memset(wide, 'x', sizeof wide);
    shown = shown_text(wide, sizeof wide, 100000);
    cr_expect_eq((size_t)shown.n_columns, strlen(shown.text));
    cr_expect_eq(strlen(shown.text), sizeof shown.text - 1);
}
