/* small_product.h: matrix products too small for a GEMM library, as attention needs them: a head's width by a
 * sentence's length, where the library's own start costs more than the arithmetic. */
#ifndef TAP_SMALL_PRODUCT_H
#define TAP_SMALL_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>

#include "real.h"

/* Numbers in the widest vector register; rows of B and C are padded to a multiple of it. */
#define TAP_LANES (64 / sizeof(tap_real))

static inline size_t tap_padded(size_t n)
{
    return (n + TAP_LANES - 1) / TAP_LANES * TAP_LANES;
}

/* C (m,n) = A (m,k) B (k,n), or C += A B when `accumulate`. Element (i, l) of A is a[i * a_row + l * a_column]; rows of
 * B and C begin every b_row and c_row numbers, and tap_padded(n) numbers of each are read and written. */
void tap_small_product(size_t m, size_t n, size_t k, const tap_real *a, size_t a_row, size_t a_column,
                       const tap_real *b, size_t b_row, tap_real *c, size_t c_row, bool accumulate);

/* Copies n rows of `columns` numbers, `from_row` apart, to rows padded with zeros, `to_row` apart. */
void tap_copy_padded(size_t n, size_t columns, const tap_real *from, size_t from_row, tap_real *to, size_t to_row);

/* to (columns, n), its rows padded with zeros, = from (n, columns) transposed. */
void tap_copy_transposed(size_t n, size_t columns, const tap_real *from, size_t from_row, tap_real *to, size_t to_row);

#endif
