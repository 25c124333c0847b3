/* read_fixture.h: reading a file in a test, and what is expected of it. */
#ifndef READ_FIXTURE_H
#define READ_FIXTURE_H

#include "formats.h"

/* What the last read_path gave. */
extern struct tap_rows *rows;
extern struct tap_error read_error;

/* Reads a path; on success `rows` holds what is there, on failure `read_error` says why, in one line. */
enum tap_status read_path(const char *path, struct tap_read_options options);

/* Reads bytes as a file of this name, with the default options. */
enum tap_status read_named(const char *name, const char *bytes, size_t n_bytes);
#define READ_NAMED(name, text) read_named(name, text, sizeof(text) - 1)

void expect_row(uint32_t row, const char *label, const char *text);
void expect_rows(uint32_t n);
void expect_refusal(enum tap_status status, const char *words);

/* Each allocation of a reading fails in turn, and is an error; so does each and all that follow. */
void expect_failed_allocations(const char *path, struct tap_read_options options);

#endif
