/* zip_directory.h: what a zip archive holds and where, read with distrust. Everything that the archive says twice must
 * agree, and members must lie end to end from the first byte to the directory: so nothing is hidden between them, none
 * overlap, and no size is believed that the file could not hold. It leaves out decompression (zip_read.h).
 *
 * Source  PKWARE APPNOTE.TXT 6.3.10, sections 4.3 to 4.5 */
#ifndef TAP_ZIP_DIRECTORY_H
#define TAP_ZIP_DIRECTORY_H

#include "byte_source.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the reader accepts and so the most that the writer makes. The zip library miscounts more members than these. */
#define TAP_ZIP_MAX_MEMBERS ((size_t)65535)
#define TAP_ZIP_MAX_NAME_BYTES ((size_t)1024)

/* The record that ends an archive, without its comment. */
#define TAP_ZIP_END_BYTES 22

struct tap_zip_member {
    const char *name;
    size_t n_name_bytes;
    uint64_t header_offset; /* of the local header */
    uint64_t data_offset;
    uint64_t n_stored_bytes; /* in the archive */
    uint64_t n_bytes;        /* once decompressed */
    uint32_t crc;
    uint16_t flags;
    bool deflated; /* else stored */
};

struct tap_zip_directory {
    size_t n_members;
    struct tap_zip_member *members; /* in the directory's order */
    size_t *by_name;                /* their numbers in the order of their names */
    unsigned char *block;           /* holds the names */
};

/* tap_zip_directory_read: reads and checks the whole structure of the archive.
 *
 * Errors     TAP_ERR_FORMAT, naming the file and the member: not a zip archive, bytes after its end, sizes that do not
 *            fit, holes, overlaps, a name given twice or no plain name, local header and directory at odds, encryption,
 *            a method other than stored and deflated, several disks; TAP_ERR_IO, TAP_ERR_MEMORY
 * Memory     at most the size of the directory in the file, twice, and 130 KB */
enum tap_status tap_zip_directory_read(const struct tap_byte_source *source, struct tap_zip_directory *out_directory,
                                       struct tap_error *error);
void tap_zip_directory_free(struct tap_zip_directory *directory);

/* The member's number, or SIZE_MAX. */
size_t tap_zip_directory_find(const struct tap_zip_directory *directory, const char *name);

/* NULL for a name that a member may have, else what is wrong with it: names are relative, with '/' between their parts,
 * none of which is "..", and hold no control characters. They are never used as paths. */
const char *tap_zip_name_fault(const char *name, size_t n_bytes);

#endif
