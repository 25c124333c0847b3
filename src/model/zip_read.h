/* zip_read.h: reading the members of a zip archive as streams; the only door to zlib. The archive's structure is
 * checked when it is opened (zip_directory.h), a member's size, CRC and end when it is read. One member is open at a
 * time. */
#ifndef TAP_ZIP_READ_H
#define TAP_ZIP_READ_H

#include "zip_directory.h"

struct tap_zip_reader;

/* tap_zip_open: takes `source` over, also on an error, and reads the directory.
 *
 * The archive's comment may be a checksum: the CRC-32 of all bytes of the file before the comment's, as 8 lower-case
 * hex digits. It is compared first of all; an archive without one is refused when `require_checksum` is set.
 *
 * Errors     TAP_ERR_FORMAT for a checksum that is missing or wrong, and all that tap_zip_directory_read refuses;
 *            TAP_ERR_IO; TAP_ERR_MEMORY. Returns NULL */
struct tap_zip_reader *tap_zip_open(struct tap_byte_source source, bool require_checksum, struct tap_error *error);
void tap_zip_close(struct tap_zip_reader *reader); /* accepts NULL */

const struct tap_zip_directory *tap_zip_reader_directory(const struct tap_zip_reader *reader);
const char *tap_zip_reader_name(const struct tap_zip_reader *reader); /* the archive's, for messages */

/* Opens member `index` for reading from its start; whatever was open before is given up. TAP_ERR_MEMORY. */
enum tap_status tap_zip_member_open(struct tap_zip_reader *reader, size_t index, struct tap_error *error);

/* Reads exactly n more bytes of the member. TAP_ERR_FORMAT when it has fewer or its compressed data are damaged;
 * TAP_ERR_IO, TAP_ERR_MEMORY. */
enum tap_status tap_zip_member_read(struct tap_zip_reader *reader, void *out, size_t n, struct tap_error *error);

/* After the last byte: TAP_ERR_FORMAT unless the member ends here, in both its forms, and its CRC is right. */
enum tap_status tap_zip_member_finish(struct tap_zip_reader *reader, struct tap_error *error);

#endif
