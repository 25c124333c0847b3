/* row_lines.h: what the line formats have in common: the lines that hold rows, and a row made of a label and a text. */
#ifndef TAP_ROW_LINES_H
#define TAP_ROW_LINES_H

#include "error.h"
#include "formats.h"

#include <stddef.h>
#include <stdint.h>

/* The next line that is not empty, or one with bytes == NULL at the end of the file. Empty lines at the end of a file
 * are passed over; an empty line with rows behind it is refused (TAP_ERR_FORMAT), as a row is missing there. */
enum tap_status tap_next_row_line(struct tap_input *input, struct tap_line *out_line, struct tap_error *error);

/* The refusal of an empty line. */
enum tap_status tap_empty_line(const struct tap_input *input, uint64_t line, struct tap_error *error);

/* Appends a row, its label cut at options->label_prefix_end; takes the decoder's count of replaced bytes, which are those
 * of the row's lines (and of a header in front of it). TAP_ERR_FORMAT for a label that is empty, cut or not. */
enum tap_status tap_add_row(struct tap_input *input, const struct tap_read_options *options, struct tap_rows *rows,
                            const char *label, size_t n_label_bytes, const char *text, size_t n_text_bytes,
                            uint64_t line, struct tap_error *error);

#endif
