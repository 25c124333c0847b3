/* gzip_input.h: gzip data (RFC 1952) expanded as it is read, in bounded memory; the only door to zlib in this folder.
 *
 * zlib's own file calls stay silent about data that is cut short and about what follows it. Here the data is whole only
 * when its last member ended, with the right checksum and length, at the very end of the file. Members may be
 * concatenated; anything else behind a member is refused. */
#ifndef TAP_GZIP_INPUT_H
#define TAP_GZIP_INPUT_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

struct tap_gzip;

/* Reads up to `capacity` bytes of the file as it is; 0 at its end. */
typedef enum tap_status tap_raw_read(void *context, char *to, size_t capacity, size_t *out_n_read,
                                     struct tap_error *error);

/* Whether a file that begins so is gzip data. One lone first byte counts too: it is such a file cut short. */
bool tap_gzip_is_start(const char *start, size_t n_bytes);

/* Begins with the bytes of the file's start that were read already (copied). NULL and TAP_ERR_MEMORY without memory.
 * The caller frees it with tap_gzip_free, which accepts NULL. */
struct tap_gzip *tap_gzip_new(const char *start, size_t n_bytes, struct tap_error *error);
void tap_gzip_free(struct tap_gzip *gzip);

/* Expands the next bytes: at least one, or 0 at the end of whole data.
 * Errors: TAP_ERR_FORMAT naming the file (cut short, corrupt, no gzip data behind a member); those of `raw_read`. */
enum tap_status tap_gzip_read(struct tap_gzip *gzip, tap_raw_read *raw_read, void *context, const char *file_name,
                              char *to, size_t capacity, size_t *out_n_read, struct tap_error *error);

#endif
