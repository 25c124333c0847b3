/* npy.h: the header of one .npy array: what it says and how it is spelled. It leaves out the numbers that follow it.
 *
 * Source  NumPy's numpy/lib/format.py, versions 1.0, 2.0 and 3.0 of the format */
#ifndef TAP_NPY_H
#define TAP_NPY_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

/* As many as NumPy 2 has. */
#define TAP_NPY_MAX_DIMS 64
/* The most bytes of a header that are read; it holds 64 dimensions several times over. */
#define TAP_NPY_MAX_HEADER_BYTES ((size_t)65536)
/* Of a header, what shows its whole length: magic, version, length (4 bytes from version 2.0 on). */
#define TAP_NPY_PREFIX_BYTES 10
#define TAP_NPY_LONG_PREFIX_BYTES 12

struct tap_npy_header {
    char dtype[16];    /* as the file spells it: "<f4" */
    size_t item_bytes; /* 4 or 8; 0 when it holds anything but floats of these sizes, and cannot be read */
    bool big_endian;
    bool fortran_order;
    size_t n_dims;
    size_t shape[TAP_NPY_MAX_DIMS];
    size_t n_items; /* product of the shape; 1 for a scalar */
};

/* tap_npy_header_bytes: the length of the whole header whose first TAP_NPY_LONG_PREFIX_BYTES bytes are given (fewer
 * than that are enough for version 1.0: TAP_NPY_PREFIX_BYTES). TAP_ERR_FORMAT, naming `where`: no .npy header, or too
 * long. */
enum tap_status tap_npy_header_bytes(const unsigned char *prefix, size_t n_prefix, const char *where, size_t *out_n,
                                     struct tap_error *error);

/* tap_npy_parse: reads the header's text, the part behind the prefix: a Python dict of exactly descr, fortran_order and
 * shape. TAP_ERR_FORMAT, naming `where`, for anything else and for a shape whose size overflows. */
enum tap_status tap_npy_parse(const char *text, size_t n_bytes, const char *where, struct tap_npy_header *out_header,
                              struct tap_error *error);

/* tap_npy_format: spells a version 1.0 header of a C order array, padded to a multiple of 64 bytes. The result is its
 * length; 0 when it does not fit into n_bytes, for which TAP_NPY_FORMAT_BYTES is always enough. */
#define TAP_NPY_FORMAT_BYTES 2048
size_t tap_npy_format(char *out, size_t n_bytes, const char *dtype, size_t n_dims, const size_t *shape);

#endif
