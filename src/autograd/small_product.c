/* small_product.c: see small_product.h. Tiles of 6 rows by 2 vectors (or fewer) stay in registers over the whole inner
 * dimension. This file alone is compiled with -ffp-contract=fast (see the Makefile): every number goes through a whole
 * vector, there are no remainder loops that could round otherwise, so the bits of a row do not depend on its place. */
#include "small_product.h"

#include <string.h>

/* What one register of this processor holds: a tile's sums then fit into the registers there are. */
#if defined __AVX512F__
#define VECTOR_BYTES 64
#elif defined __AVX__
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define VECTOR_LANES (VECTOR_BYTES / sizeof(tap_real)) /* divides TAP_LANES */

typedef tap_real vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(tap_real)), may_alias));

static inline vector load(const tap_real *from)
{
    return *(const vector *)from;
}

static inline void store(tap_real *to, vector value)
{
    *(vector *)to = value;
}

/* A tile of ROWS rows by COLUMNS vectors: one loop over k, everything else unrolled by the compiler. */
#define TILE(name, ROWS, COLUMNS)                                                                                      \
    static void name(size_t k, const tap_real *a, size_t a_row, size_t a_column, const tap_real *b, size_t b_row,      \
                     tap_real *c, size_t c_row, bool accumulate)                                                       \
    {                                                                                                                  \
        vector sum[ROWS][COLUMNS];                                                                                     \
        _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; i++)                                                         \
            _Pragma("GCC unroll 8") for (int j = 0; j < COLUMNS; j++) sum[i][j] =                                      \
                accumulate ? load(c + i * c_row + j * VECTOR_LANES) : (vector){0};                                     \
        for (size_t l = 0; l < k; l++)                                                                                 \
            _Pragma("GCC unroll 8") for (int j = 0; j < COLUMNS; j++)                                                  \
            {                                                                                                          \
                vector right = load(b + l * b_row + j * VECTOR_LANES);                                                 \
                _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; i++) sum[i][j] +=                                    \
                    a[i * a_row + l * a_column] * right;                                                               \
            }                                                                                                          \
        _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; i++)                                                         \
            _Pragma("GCC unroll 8") for (int j = 0; j < COLUMNS; j++)                                                  \
                store(c + i * c_row + j * VECTOR_LANES, sum[i][j]);                                                    \
    }
TILE(tile_6x2, 6, 2)
TILE(tile_6x1, 6, 1)
TILE(tile_1x2, 1, 2)
TILE(tile_1x1, 1, 1)
#undef TILE

typedef void (*tile_function)(size_t, const tap_real *, size_t, size_t, const tap_real *, size_t, tap_real *, size_t,
                              bool);

void tap_small_product(size_t m, size_t n, size_t k, const tap_real *a, size_t a_row, size_t a_column,
                       const tap_real *b, size_t b_row, tap_real *c, size_t c_row, bool accumulate)
{
    size_t width = tap_padded(n);
    for (size_t j = 0; j < width;) {
        bool two = width - j >= 2 * VECTOR_LANES;
        tile_function six = two ? tile_6x2 : tile_6x1;
        tile_function one = two ? tile_1x2 : tile_1x1;
        size_t i = 0;
        for (; i + 6 <= m; i += 6)
            six(k, a + i * a_row, a_row, a_column, b + j, b_row, c + i * c_row + j, c_row, accumulate);
        for (; i < m; i++)
            one(k, a + i * a_row, a_row, a_column, b + j, b_row, c + i * c_row + j, c_row, accumulate);
        j += (two ? 2 : 1) * VECTOR_LANES;
    }
}

void tap_copy_padded(size_t n, size_t columns, const tap_real *from, size_t from_row, tap_real *to, size_t to_row)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(to + i * to_row, from + i * from_row, columns * sizeof *to);
        memset(to + i * to_row + columns, 0, (tap_padded(columns) - columns) * sizeof *to);
    }
}

void tap_copy_transposed(size_t n, size_t columns, const tap_real *from, size_t from_row, tap_real *to, size_t to_row)
{
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < n; i++)
            to[j * to_row + i] = from[i * from_row + j];
        memset(to + j * to_row + n, 0, (tap_padded(n) - n) * sizeof *to);
    }
}
