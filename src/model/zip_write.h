/* zip_write.h: writing zip archives; the only door to the zip library. Equal members give equal bytes: the time stamps
 * are always 1980-01-01. The archive's comment is a checksum (zip_read.h). ZIP64 is used where a size needs it. */
#ifndef TAP_ZIP_WRITE_H
#define TAP_ZIP_WRITE_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

struct tap_zip_writer;

/* Starts an archive under a temporary name beside `path` (atomic_file.h); `compression` 0 stores, 1 to 9 deflates.
 * NULL on an error. */
struct tap_zip_writer *tap_zip_create(const char *path, int compression, struct tap_error *error);

/* A member: its name and whole size, then its bytes in any portions. Errors are sticky: after one nothing is done and
 * commit reports it. A name that the reader would refuse is TAP_ERR_VALUE. */
enum tap_status tap_zip_begin(struct tap_zip_writer *writer, const char *name, uint64_t n_bytes);
enum tap_status tap_zip_write(struct tap_zip_writer *writer, const void *bytes, size_t n);
enum tap_status tap_zip_end(struct tap_zip_writer *writer);

/* Marks the archive as failed, unless it is. */
enum tap_status tap_zip_fail(struct tap_zip_writer *writer, enum tap_status status, const char *what);

/* Ends the archive and gives it its name, all on disk (tap_atomic_file_commit), or reports the first error and leaves
 * no trace. Frees `writer`. */
enum tap_status tap_zip_commit(struct tap_zip_writer *writer, struct tap_error *error);
void tap_zip_abandon(struct tap_zip_writer *writer); /* accepts NULL */

#endif
