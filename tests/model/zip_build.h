/* zip_build.h: zip archives and .npy arrays made by hand, right or wrong in one place, for the reader's tests. It
 * shares no code with what it tests: its CRC is its own, and its deflate is the kind that stores. */
#ifndef ZIP_BUILD_H
#define ZIP_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZIP_BUILD_BYTES 65536

struct zip_build {
    unsigned char bytes[ZIP_BUILD_BYTES];
    size_t n;
    unsigned char directory[8192];
    size_t n_directory;
    unsigned n_members;
};

/* How a member is put in; all zero is a plain stored one. */
struct zip_options {
    bool deflated;
    bool zip64_local;          /* sizes of the local header in an extra field, as NumPy writes them */
    bool zip64_central;        /* the same in the directory */
    int descriptor;            /* bytes of the data descriptor: 0 (none), 12, 16, 20, 24 */
    uint16_t flags;            /* more flags */
    uint16_t method;           /* in place of 0 or 8, when not 0 */
    uint16_t local_method;     /* in the local header only */
    const char *local_name;    /* in the local header only */
    uint32_t crc_change;       /* exclusive-or'ed into both CRCs */
    uint32_t local_crc_change; /* into the local one alone */
    uint64_t more_bytes;       /* added to the declared size */
    uint64_t more_stored;      /* added to the declared stored size */
    uint32_t offset_change;    /* added to the directory's offset */
    unsigned n_hole;           /* zero bytes behind the data */
    unsigned n_deflate_tail;   /* zero bytes behind the deflate stream, within the stored size */
    const char *extra;         /* raw extra field of the directory, of n_extra bytes */
    size_t n_extra;
};

uint32_t zip_build_crc(const void *bytes, size_t n);
void zip_build_add(struct zip_build *zip, const char *name, const void *data, size_t n,
                   const struct zip_options *options);

/* Ends the archive: with a comment (NULL: none), or with the checksum that a checkpoint has; ZIP64 end records on wish.
 */
void zip_build_end(struct zip_build *zip, const char *comment, bool zip64);
void zip_build_end_checksum(struct zip_build *zip);

/* An .npy of `version` whose dict is `text` (padded to 64 bytes), before n bytes of data; the result is its length. */
size_t npy_build(unsigned char *out, int version, const char *text, const void *data, size_t n);

#endif
