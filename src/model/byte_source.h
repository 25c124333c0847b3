/* byte_source.h: bytes to be read at any offset, from memory or from an open file. Files are read, not mapped: a file
 * that shrinks or fails while it is read then gives an error in place of a signal. */
#ifndef TAP_BYTE_SOURCE_H
#define TAP_BYTE_SOURCE_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

struct tap_byte_source {
    const unsigned char *bytes; /* NULL: a file */
    int fd;                     /* -1: memory */
    uint64_t n_bytes;
    char *name; /* the file's, for messages */
};

/* Opens a regular file for reading. TAP_ERR_IO (path and the system's reason), TAP_ERR_MEMORY. */
enum tap_status tap_byte_source_open(struct tap_byte_source *out_source, const char *path, struct tap_error *error);

/* Takes bytes that the caller keeps until the close. TAP_ERR_MEMORY. */
enum tap_status tap_byte_source_memory(struct tap_byte_source *out_source, const void *bytes, size_t n_bytes,
                                       const char *name, struct tap_error *error);

/* Reads exactly n bytes at `offset`; what does not lie within the source is TAP_ERR_FORMAT ("cut short"). */
enum tap_status tap_byte_source_read(const struct tap_byte_source *source, uint64_t offset, void *out, size_t n,
                                     struct tap_error *error);

void tap_byte_source_close(struct tap_byte_source *source);

#endif
