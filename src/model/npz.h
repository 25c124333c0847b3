/* npz.h: checkpoints: arrays by name and a few plain members (meta.json) in one .npz file, which numpy.load opens.
 *
 * The file is a zip archive. An array `name` is the member `name.npy`, written in C order as little-endian tap_real
 * (`<f4` in the float build, `<f8` in the double build), so a float is the same bits wherever it is read. The archive's
 * comment is a CRC-32 of every byte before it: any flipped bit, in names and headers as well, is refused. Equal content
 * gives equal bytes. It leaves out what the members mean. */
#ifndef TAP_NPZ_H
#define TAP_NPZ_H

#include "error.h"
#include "npy.h"
#include "real.h"

#include <stdbool.h>
#include <stddef.h>

/* --- writing -------------------------------------------------------------------------------------------------------
 */

struct tap_npz_writer;

/* tap_npz_create: starts a file under a temporary name beside `path`; `compression` 0 stores, 1 to 9 deflates.
 *
 * Ownership  end it with commit or abandon
 * Errors     TAP_ERR_IO, naming the path and the reason, when the folder cannot be written or the path names no regular
 *            file; TAP_ERR_VALUE; TAP_ERR_MEMORY. Returns NULL
 * Memory     well under 1 MB, whatever is written */
struct tap_npz_writer *tap_npz_create(const char *path, int compression, struct tap_error *error);

/* Adds the array `name` (UTF-8, parts between '/', no ".."): data (shape[0], ..., shape[n_dims-1]), C order; no
 * dimension means one number. Errors are sticky: after one nothing is done, and commit reports it. */
enum tap_status tap_npz_add_real(struct tap_npz_writer *writer, const char *name, size_t n_dims, const size_t *shape,
                                 const tap_real *data);

/* Adds a plain member of n bytes under its own name ("meta.json"). */
enum tap_status tap_npz_add_bytes(struct tap_npz_writer *writer, const char *name, const void *bytes, size_t n_bytes);

/* tap_npz_commit: flushes the file to disk, gives it its name, flushes the folder. Frees `writer`.
 *
 * Errors     the first one since create; then the temporary file is gone and the old `path`, if there was one, is as it
 *            was (see tap_atomic_file_commit). TAP_ERR_VALUE for a name that is refused or was added twice */
enum tap_status tap_npz_commit(struct tap_npz_writer *writer, struct tap_error *error);

/* Gives the file up without a trace. Accepts NULL. */
void tap_npz_abandon(struct tap_npz_writer *writer);

/* --- reading -------------------------------------------------------------------------------------------------------
 */

struct tap_npz;

/* tap_npz_open: opens a file of ours, or of numpy.savez and numpy.savez_compressed when no checksum is required; one
 * that is there is compared in any case.
 *
 * Errors     TAP_ERR_FORMAT, naming the file and the member, for a checksum that is wrong or required and missing, and
 *            for any structure that is not exactly that of a zip archive (zip_directory.h); TAP_ERR_IO; TAP_ERR_MEMORY.
 *            Returns NULL
 * Memory     about 200 KB and three times the archive's directory; nothing is allocated that the file could not hold */
struct tap_npz *tap_npz_open(const char *path, bool require_checksum, struct tap_error *error);

/* The same for a file's bytes, which the caller keeps until the close; `name` stands for the path in messages. */
struct tap_npz *tap_npz_open_memory(const void *bytes, size_t n_bytes, const char *name, bool require_checksum,
                                    struct tap_error *error);

void tap_npz_close(struct tap_npz *npz); /* accepts NULL */

/* Members 0 .. n-1 in the file's order. A member is an array when its name ends in ".npy", which `name` leaves out.
 * Names belong to the npz and are never paths. */
size_t tap_npz_n_members(const struct tap_npz *npz);
const char *tap_npz_name(const struct tap_npz *npz, size_t index);
bool tap_npz_is_array(const struct tap_npz *npz, size_t index);

#define TAP_NPZ_NONE ((size_t)-1)

/* The array's or plain member's number, or TAP_NPZ_NONE. */
size_t tap_npz_find_array(const struct tap_npz *npz, const char *name);
size_t tap_npz_find_bytes(const struct tap_npz *npz, const char *name);

/* tap_npz_array: the header of an array member: type, shape, order. Its numbers are not read, but their count is
 * checked against the member's size.
 *
 * Errors     TAP_ERR_FORMAT for a damaged header, another version than 1.0 to 3.0, a shape that overflows or differs
 * from the size; arrays of any type have a header, only floats of 4 and 8 bytes can be read (item_bytes > 0);
 *            TAP_ERR_VALUE when the member is no array; TAP_ERR_IO; TAP_ERR_MEMORY */
enum tap_status tap_npz_array(struct tap_npz *npz, size_t index, struct tap_npy_header *out_header,
                              struct tap_error *error);

/* tap_npz_read_real: the array's numbers in C order, converted to tap_real from 4 or 8 byte floats of either byte order
 * and from Fortran order. NaN and infinity pass.
 *
 * Errors     as tap_npz_array; TAP_ERR_SHAPE unless the array has exactly n_expected numbers; TAP_ERR_FORMAT for other
 *            types (integers, half precision, Python objects), damaged data, a wrong CRC; TAP_ERR_VALUE for a finite
 *            number too large for tap_real. On an error what `out` holds is undefined
 * Memory     about 150 KB, whatever the array's size */
enum tap_status tap_npz_read_real(struct tap_npz *npz, size_t index, tap_real *out, size_t n_expected,
                                  struct tap_error *error);

/* tap_npz_read_bytes: the bytes of the plain member `name`, and a zero byte behind them.
 *
 * Ownership  the caller frees *out_bytes with tap_mem_free
 * Errors     TAP_ERR_FORMAT when it is missing, has more than `limit` bytes, is damaged; TAP_ERR_IO; TAP_ERR_MEMORY */
enum tap_status tap_npz_read_bytes(struct tap_npz *npz, const char *name, char **out_bytes, size_t *out_n, size_t limit,
                                   struct tap_error *error);

#endif
