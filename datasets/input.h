/* input.h: a data file (or standard input) as lines of checked UTF-8, read through one buffer that grows only for a
 * long line. gzip data is told by its first bytes, whatever the file's name, and expanded as it is read. What is no
 * text is refused by name when it is opened: a folder, an archive, an image, UTF-16.
 *
 * The rules of all text formats: only \n and \r\n end a line; a UTF-8 byte-order mark is dropped at the start of the
 * file and nowhere else; a NUL byte is refused with file and line, and so is invalid UTF-8 unless the decoder was
 * told of another encoding or to replace it; a last line need not end. */
#ifndef TAP_INPUT_H
#define TAP_INPUT_H

#include "decoding.h"
#include "error.h"
#include "gzip_input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line that is read, without its end. */
#define TAP_LINE_MAX_BYTES ((size_t)16 << 20)

/* What tells one data file from another: its name as given, size, and FNV-1a hash over all of its bytes
 * as they lie on the disk. */
struct tap_fingerprint {
    char *path; /* NULL: no file */
    uint64_t n_bytes;
    char hash[17]; /* 16 lower-case hexadecimal digits */
};

void tap_fingerprint_clear(struct tap_fingerprint *fingerprint);

struct tap_line {
    const char *bytes; /* NULL past the last line; no closing zero; valid until the next line is read */
    size_t n_bytes;
    uint64_t number;    /* from 1 */
    size_t n_end_bytes; /* 2 for \r\n, 1 for \n, 0 for a last line that does not end */
};

struct tap_input {
    const char *path; /* borrowed, as given */
    const char *name; /* for messages */
    int descriptor;
    char *buffer;
    size_t capacity, begin, end; /* buffer[begin .. end-1] is read and not yet given */
    bool at_end;                 /* nothing is left to read */
    uint64_t n_lines;            /* lines given so far */
    uint64_t n_bytes, hash;      /* of all that was read, before it was expanded */
    struct tap_gzip *gzip;       /* NULL: the file is read as it is */
    /* Called before the file is read further, which may wait for its writer; NULL: nothing is. What it returns but
     * TAP_OK ends the reading. To be set once the input is open. */
    enum tap_status (*before_read)(void *context, struct tap_error *error);
    void *before_read_context;
    struct tap_decoder decoder; /* UTF-8, refusing, until tap_decoder_choose says otherwise */
};

/* Opens a file, or standard input when `path` is "-". Close it also after errors of tap_input_next_line; when opening
 * fails there is nothing to close. `path` must outlive the input. */
enum tap_status tap_input_open(const char *path, struct tap_input *out_input, struct tap_error *error);

/* An input that stands for a folder and has no lines of its own: the files in it are inputs, too, and are added to its
 * fingerprint. Cannot fail; close it as any other. */
void tap_input_of_folder(const char *path, struct tap_input *out_input);
void tap_input_add_file(struct tap_input *folder, const char *file_name, const struct tap_input *file);

/* The next line, or one with bytes == NULL at the end of the file. */
enum tap_status tap_input_next_line(struct tap_input *input, struct tap_line *out_line, struct tap_error *error);

/* The fingerprint of what was read; that of the file once the last line was read. */
enum tap_status tap_input_fingerprint(const struct tap_input *input, struct tap_fingerprint *out_fingerprint,
                                      struct tap_error *error);

void tap_input_close(struct tap_input *input);

#endif
