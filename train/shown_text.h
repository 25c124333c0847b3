/* shown_text.h: a text from a file as a terminal may show it: on one line, cut to a width that is counted in columns. */
#ifndef SHOWN_TEXT_H
#define SHOWN_TEXT_H

#include <stddef.h>

struct shown_text {
    char text[512];
    int n_columns; /* that it takes; CJK characters take two */
};

/* Blanks stand for what is invisible (line breaks, tabs, controls), "?" for invalid UTF-8. A text of more than
 * `most_columns` (at least 3), or too long for the struct, is cut between two characters and ends in "...". */
struct shown_text shown_text(const char *bytes, size_t n_bytes, int most_columns);

/* Prints it in a column `width` wide, to the left or to the right of it; one that is wider stays whole. */
void print_left(const struct shown_text *shown, int width);
void print_right(const struct shown_text *shown, int width);

#endif
