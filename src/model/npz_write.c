/* npz_write.c: the writing half of npz.h. A tensor goes from where it lies straight into the archive. */
#include "mem.h"
#include "npz.h"
#include "zip_directory.h"
#include "zip_write.h"

#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie in memory, little-endian");

struct tap_npz_writer {
    struct tap_zip_writer *zip;
};

struct tap_npz_writer *tap_npz_create(const char *path, int compression, struct tap_error *error)
{
    struct tap_npz_writer *writer = tap_mem_new(1, sizeof *writer);
    if (writer == NULL) {
        tap_error_memory(error, "writing an .npz file");
        return NULL;
    }
    writer->zip = tap_zip_create(path, compression, error);
    if (writer->zip == NULL) {
        tap_mem_free(writer);
        return NULL;
    }
    return writer;
}

enum tap_status tap_npz_add_real(struct tap_npz_writer *writer, const char *name, size_t n_dims, const size_t *shape,
                                 const tap_real *data)
{
    char header[TAP_NPY_FORMAT_BYTES];
    char member[TAP_ZIP_MAX_NAME_BYTES + 1];
    size_t n_bytes = sizeof *data;
    for (size_t i = 0; i < n_dims; i++)
        if (!tap_size_mul(n_bytes, shape[i], &n_bytes))
            return tap_zip_fail(writer->zip, TAP_ERR_VALUE, "the size of an array's shape overflows");
    size_t n_header = tap_npy_format(header, sizeof header, sizeof *data == 4 ? "<f4" : "<f8", n_dims, shape);
    if (n_header == 0)
        return tap_zip_fail(writer->zip, TAP_ERR_VALUE, "an array has too many dimensions");
    if ((size_t)snprintf(member, sizeof member, "%s.npy", name) >= sizeof member)
        return tap_zip_fail(writer->zip, TAP_ERR_VALUE, "an array's name is too long");
    if (tap_zip_begin(writer->zip, member, n_header + n_bytes) == TAP_OK) {
        tap_zip_write(writer->zip, header, n_header);
        tap_zip_write(writer->zip, data, n_bytes);
    }
    return tap_zip_end(writer->zip);
}

enum tap_status tap_npz_add_bytes(struct tap_npz_writer *writer, const char *name, const void *bytes, size_t n_bytes)
{
    if (tap_zip_begin(writer->zip, name, n_bytes) == TAP_OK)
        tap_zip_write(writer->zip, bytes, n_bytes);
    return tap_zip_end(writer->zip);
}

enum tap_status tap_npz_commit(struct tap_npz_writer *writer, struct tap_error *error)
{
    struct tap_zip_writer *zip = writer->zip;
    tap_mem_free(writer);
    return tap_zip_commit(zip, error);
}

void tap_npz_abandon(struct tap_npz_writer *writer)
{
    if (writer == NULL)
        return;
    tap_zip_abandon(writer->zip);
    tap_mem_free(writer);
}
