/* formats.h: labelled texts out of a file, whatever its format. A format is one file (format_<name>.c) and one line in
 * formats.def. */
#ifndef TAP_FORMATS_H
#define TAP_FORMATS_H

#include "error.h"
#include "input.h"
#include "rows.h"

/* The keys of the config's data group that say how a file is read. */
struct tap_read_options {
    const char *format; /* "auto", or a name of formats.def */
    const char *header; /* "auto", "yes", "no" */
    const char *label_column, *text_column;
    const char *encoding, *bad_bytes; /* words of decoding.h; NULL: UTF-8, refused */
    const char *label_prefix_end;     /* a label ends where this text first stands in it; NULL or "": never */
};

/* A reader appends all rows of an opened input (that of the format folder: of all files within `input->path`). */
typedef enum tap_status tap_format_reader(struct tap_input *input, const struct tap_read_options *options,
                                          struct tap_rows *rows, struct tap_error *error);
#define TAP_FORMAT(name, reader, endings, summary) tap_format_reader reader;
#include "formats.def"
#undef TAP_FORMAT

/* Appends all rows of a file ("-": standard input) to `rows`, at least one, and tells what the file was. On failure
 * `rows` may hold a part of the file. `out_fingerprint` may be NULL. */
enum tap_status tap_read_rows(const char *path, const struct tap_read_options *options, struct tap_rows *rows,
                              struct tap_fingerprint *out_fingerprint, struct tap_error *error);

/* The name of the format in which tap_read_rows reads `path`: options->format, or what "auto" means for the path's
 * ending; NULL for a name that is unknown. A folder must be there to be told. */
const char *tap_format_of(const char *format, const char *path);

#endif
