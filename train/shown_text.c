/* shown_text.c: see shown_text.h. */
#include "shown_text.h"

#include <stdio.h>
#include <string.h>

#include "unicode.h"

static const char cut_mark[] = "...";
#define MARK_COLUMNS ((int)sizeof cut_mark - 1)

/* One character as it is shown: its bytes, how many of the text it stands for, and its columns. */
struct shown_character {
    const char *bytes;
    size_t n_bytes, n_read;
    int n_columns;
};

static struct shown_character next_character(const char *bytes, size_t n_bytes)
{
    int32_t code_point;
    size_t length = tap_unicode_decode(bytes, n_bytes, &code_point);
    if (length == 0)
        return (struct shown_character){"?", 1, 1, 1};
    if (tap_unicode_class_of(code_point) == TAP_UNICODE_INVISIBLE)
        return (struct shown_character){" ", 1, length, 1};
    return (struct shown_character){bytes, length, length, tap_unicode_columns(code_point)};
}

struct shown_text shown_text(const char *bytes, size_t n_bytes, int most_columns)
{
    struct shown_text shown = {.n_columns = 0};
    size_t n = 0;
    size_t n_at_cut = 0; /* what stays if a cut is needed */
    int columns_at_cut = 0;
    size_t position = 0;
    while (position < n_bytes) {
        struct shown_character character = next_character(bytes + position, n_bytes - position);
        if (shown.n_columns + character.n_columns > most_columns ||
            n + character.n_bytes + sizeof cut_mark > sizeof shown.text) {
            memcpy(shown.text + n_at_cut, cut_mark, sizeof cut_mark);
            shown.n_columns = columns_at_cut + MARK_COLUMNS;
            return shown;
        }
        memcpy(shown.text + n, character.bytes, character.n_bytes);
        n += character.n_bytes;
        shown.n_columns += character.n_columns;
        position += character.n_read;
        if (shown.n_columns + MARK_COLUMNS <= most_columns) {
            n_at_cut = n;
            columns_at_cut = shown.n_columns;
        }
    }
    shown.text[n] = '\0';
    return shown;
}

static void print_blanks(int n)
{
    if (n > 0)
        printf("%*s", n, "");
}

void print_left(const struct shown_text *shown, int width)
{
    fputs(shown->text, stdout);
    print_blanks(width - shown->n_columns);
}

void print_right(const struct shown_text *shown, int width)
{
    print_blanks(width - shown->n_columns);
    fputs(shown->text, stdout);
}
