/* zip_write.c: see zip_write.h. The library writes through our own table of calls onto an atomic file. That table never
 * reports a failure to it: after one it forgets some of its memory. The atomic file keeps the error, and what the
 * library goes on writing is dropped. */
#include "zip_write.h"
#include "atomic_file.h"
#include "mem.h"
#include "zip_directory.h"

#include <minizip/zip.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DOS_DATE ((0u << 25 | 1u << 21 | 1u << 16)) /* 1980-01-01 00:00 */
#define FLAG_UTF8_NAME 0x0800u
/* From this size on a member gets the larger header: what deflate cannot shrink grows by less than a 64th. */
#define LARGE_MEMBER_BYTES (UINT64_C(0xffffffff) / 64 * 63)
#define CHECKSUM_BYTES 8

struct tap_zip_writer {
    struct tap_atomic_file *file;
    zipFile zip;
    int compression;
    bool in_member;
    uint64_t n_declared; /* bytes of the open member yet to come */
    uint64_t position;   /* where the library believes to be in the file */
    char **names;
    size_t n_names;
    size_t names_capacity;
};

/* --- the library's calls -------------------------------------------------------------------------------------------
 */

static voidpf call_open(voidpf opaque, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return opaque;
}

static uLong call_read(voidpf opaque, voidpf stream, void *buffer, uLong n)
{
    (void)opaque;
    (void)stream;
    memset(buffer, 0, n); /* only appending to an archive reads */
    return 0;
}

static uLong call_write(voidpf opaque, voidpf stream, const void *bytes, uLong n)
{
    struct tap_zip_writer *writer = opaque;
    (void)stream;
    uint64_t size = tap_atomic_file_size(writer->file);
    if (tap_atomic_file_status(writer->file) == TAP_OK) {
        /* Either at the end or, to fill in a header's sizes, wholly before it. */
        if (writer->position == size)
            tap_atomic_file_write(writer->file, bytes, n);
        else if (writer->position < size && n <= size - writer->position)
            tap_atomic_file_patch(writer->file, writer->position, bytes, n);
        else
            tap_atomic_file_fail(writer->file, TAP_ERR_IO, "the zip library wrote out of order");
    }
    writer->position += n;
    return n;
}

static ZPOS64_T call_tell(voidpf opaque, voidpf stream)
{
    (void)stream;
    return ((struct tap_zip_writer *)opaque)->position;
}

static long call_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    struct tap_zip_writer *writer = opaque;
    (void)stream;
    if (origin == ZLIB_FILEFUNC_SEEK_CUR)
        offset += writer->position;
    else if (origin == ZLIB_FILEFUNC_SEEK_END)
        offset += tap_atomic_file_size(writer->file);
    writer->position = offset;
    return 0;
}

static int call_close(voidpf opaque, voidpf stream)
{
    (void)opaque;
    (void)stream;
    return 0;
}

/* --- members -------------------------------------------------------------------------------------------------------
 */

struct tap_zip_writer *tap_zip_create(const char *path, int compression, struct tap_error *error)
{
    struct tap_zip_writer *writer = tap_mem_new(1, sizeof *writer);
    if (writer == NULL) {
        tap_error_memory(error, "writing an archive");
        return NULL;
    }
    if (compression < 0 || compression > 9) {
        tap_error_set(error, TAP_ERR_VALUE, "%s: compression %d; accepted: 0 to 9", path, compression);
        goto failed;
    }
    writer->compression = compression;
    writer->file = tap_atomic_file_open(path, error);
    if (writer->file == NULL)
        goto failed;
    zlib_filefunc64_def calls = {.zopen64_file = call_open,
                                 .zread_file = call_read,
                                 .zwrite_file = call_write,
                                 .ztell64_file = call_tell,
                                 .zseek64_file = call_seek,
                                 .zclose_file = call_close,
                                 .zerror_file = call_close,
                                 .opaque = writer};
    writer->zip = zipOpen2_64(path, APPEND_STATUS_CREATE, NULL, &calls);
    if (writer->zip == NULL) {
        tap_error_memory(error, "writing an archive");
        goto failed;
    }
    return writer;
failed:
    tap_atomic_file_abandon(writer->file);
    tap_mem_free(writer);
    return NULL;
}

enum tap_status tap_zip_fail(struct tap_zip_writer *writer, enum tap_status status, const char *what)
{
    return tap_atomic_file_fail(writer->file, status, what);
}

/* Notes the name, so that commit can see whether one was used twice. */
static enum tap_status keep_name(struct tap_zip_writer *writer, const char *name)
{
    const char *fault = tap_zip_name_fault(name, strlen(name));
    if (fault != NULL)
        return tap_zip_fail(writer, TAP_ERR_VALUE, fault);
    if (writer->n_names == TAP_ZIP_MAX_MEMBERS)
        return tap_zip_fail(writer, TAP_ERR_VALUE, "too many members; at most 65535 are accepted");
    if (!tap_mem_reserve(&writer->names, &writer->names_capacity, writer->n_names + 1, sizeof *writer->names))
        return tap_zip_fail(writer, TAP_ERR_MEMORY, "out of memory for the names of its members");
    char *copy = tap_mem_copy_text(name, strlen(name));
    if (copy == NULL)
        return tap_zip_fail(writer, TAP_ERR_MEMORY, "out of memory for the names of its members");
    writer->names[writer->n_names++] = copy;
    return TAP_OK;
}

static bool is_ascii(const char *name)
{
    while (*name != '\0' && (unsigned char)*name < 0x80)
        name++;
    return *name == '\0';
}

enum tap_status tap_zip_begin(struct tap_zip_writer *writer, const char *name, uint64_t n_bytes)
{
    TAP_CHECK(!writer->in_member);
    enum tap_status status = tap_atomic_file_status(writer->file);
    if (status == TAP_OK)
        status = keep_name(writer, name);
    if (status != TAP_OK)
        return status;
    const zip_fileinfo info = {.dosDate = FIRST_DOS_DATE};
    int method = writer->compression > 0 ? Z_DEFLATED : 0;
    int result = zipOpenNewFileInZip4_64(writer->zip, name, &info, NULL, 0, NULL, 0, NULL, method, writer->compression,
                                         0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0, 0,
                                         is_ascii(name) ? 0 : FLAG_UTF8_NAME, n_bytes >= LARGE_MEMBER_BYTES);
    if (result != ZIP_OK)
        return tap_zip_fail(writer, TAP_ERR_MEMORY, "out of memory for compression");
    writer->in_member = true;
    writer->n_declared = n_bytes;
    return tap_atomic_file_status(writer->file);
}

enum tap_status tap_zip_write(struct tap_zip_writer *writer, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    TAP_CHECK(tap_atomic_file_status(writer->file) != TAP_OK || (writer->in_member && n <= writer->n_declared));
    while (n > 0 && tap_atomic_file_status(writer->file) == TAP_OK) {
        unsigned n_block = n < ((size_t)1 << 30) ? (unsigned)n : 1u << 30;
        if (zipWriteInFileInZip(writer->zip, from, n_block) != ZIP_OK)
            return tap_zip_fail(writer, TAP_ERR_IO, "compression failed");
        from += n_block;
        n -= n_block;
        writer->n_declared -= n_block;
    }
    return tap_atomic_file_status(writer->file);
}

enum tap_status tap_zip_end(struct tap_zip_writer *writer)
{
    if (!writer->in_member)
        return tap_atomic_file_status(writer->file);
    TAP_CHECK(tap_atomic_file_status(writer->file) != TAP_OK || writer->n_declared == 0);
    writer->in_member = false;
    if (zipCloseFileInZip(writer->zip) != ZIP_OK)
        return tap_zip_fail(writer, TAP_ERR_IO, "the zip library failed");
    return tap_atomic_file_status(writer->file);
}

/* --- the end -------------------------------------------------------------------------------------------------------
 */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_names(struct tap_zip_writer *writer)
{
    char text[256];
    if (writer->n_names > 0)
        qsort(writer->names, writer->n_names, sizeof *writer->names, compare_names);
    for (size_t i = 1; i < writer->n_names; i++)
        if (strcmp(writer->names[i - 1], writer->names[i]) == 0) {
            snprintf(text, sizeof text, "%.200s is added twice", writer->names[i]);
            tap_zip_fail(writer, TAP_ERR_VALUE, text);
        }
}

/* Puts the checksum in place of the comment's placeholder, the file's last bytes. */
static void write_checksum(struct tap_zip_writer *writer)
{
    unsigned char block[16384];
    char digits[CHECKSUM_BYTES + 1];
    uint64_t n = tap_atomic_file_size(writer->file) - CHECKSUM_BYTES;
    uLong crc = crc32(0, NULL, 0);
    for (uint64_t offset = 0; offset < n && tap_atomic_file_status(writer->file) == TAP_OK;) {
        size_t n_block = n - offset < sizeof block ? (size_t)(n - offset) : sizeof block;
        if (tap_atomic_file_read_back(writer->file, offset, block, n_block) == TAP_OK)
            crc = crc32(crc, block, (uInt)n_block);
        offset += n_block;
    }
    snprintf(digits, sizeof digits, "%08lx", (unsigned long)crc & 0xffffffffu);
    tap_atomic_file_patch(writer->file, n, digits, CHECKSUM_BYTES);
}

/* Frees all but the file, which the caller has ended. */
static void writer_free(struct tap_zip_writer *writer)
{
    for (size_t i = 0; i < writer->n_names; i++)
        tap_mem_free(writer->names[i]);
    tap_mem_free(writer->names);
    tap_mem_free(writer);
}

enum tap_status tap_zip_commit(struct tap_zip_writer *writer, struct tap_error *error)
{
    TAP_CHECK(tap_atomic_file_status(writer->file) != TAP_OK || !writer->in_member);
    check_names(writer);
    int result = zipClose(writer->zip, "00000000");
    if (result != ZIP_OK)
        tap_zip_fail(writer, TAP_ERR_MEMORY, "out of memory for its directory");
    if (tap_atomic_file_status(writer->file) == TAP_OK)
        write_checksum(writer);
    enum tap_status status = tap_atomic_file_commit(writer->file, error);
    writer_free(writer);
    return status;
}

void tap_zip_abandon(struct tap_zip_writer *writer)
{
    if (writer == NULL)
        return;
    tap_zip_fail(writer, TAP_ERR_IO, "abandoned"); /* so that closing writes nothing */
    zipClose(writer->zip, NULL);
    tap_atomic_file_abandon(writer->file);
    writer_free(writer);
}
