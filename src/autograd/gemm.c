/* gemm.c: products cut into blocks of rows over our own threads, by one of two ways.
 *
 * Where B is small enough to stay in a core's cache, it is packed once into rows of whole vectors and every row of C is
 * made by small_product.h, which starts at once; a row's bits depend on nothing else there. Larger products go to the
 * engine in blocks of a fixed number of rows: its own threads change last digits, and so do row counts that are no
 * multiple of 8; one fixed number of rows on one thread does not. */
#include "gemm.h"

#include <omp.h>
#include <string.h>

#include "parallel.h"
#include "small_product.h"

/* The largest packed B, in numbers (128 KiB in float): beyond it the engine, which also blocks for the caches, is faster. */
#define SMALL_NUMBERS ((size_t)32 * 1024)
#define SMALL_BLOCK_ROWS 48

/* Vector units make ten or more multiplications and additions in the time of one scalar operation. */
static int threads_for_product(size_t m, size_t n, size_t k)
{
    return tap_threads_for(0.1 * (double)m * (double)n * (double)k);
}

static bool is_small(size_t n, size_t k)
{
    return n > 0 && k > 0 && k <= SMALL_NUMBERS / tap_padded(n);
}

/* B with rows of whole vectors: as it is where it has them, else copied to `packed`. */
static const tap_real *pack(size_t n, size_t k, struct tap_matrix b, tap_real *packed, size_t *out_row)
{
    size_t width = tap_padded(n);
    if (b.column_stride == 1 && n == width) {
        *out_row = b.row_stride;
        return b.data;
    }
    *out_row = width;
    if (b.row_stride == 1 && b.column_stride != 1)
        tap_copy_transposed(n, k, b.data, b.column_stride, packed, width);
    else
        for (size_t l = 0; l < k; l++) {
            for (size_t j = 0; j < n; j++)
                packed[l * width + j] = b.data[l * b.row_stride + j * b.column_stride];
            memset(packed + l * width + n, 0, (width - n) * sizeof *packed);
        }
    return packed;
}

/* Rows first .. first+n_rows-1 of C whose rows are no whole vectors (or lie otherwise): by way of `tile`. */
static void tiled_rows(size_t n_rows, size_t n, size_t k, struct tap_matrix a, const tap_real *b, size_t b_row,
                       tap_real beta, struct tap_matrix c, tap_real *tile)
{
    size_t width = tap_padded(n);
    tap_small_product(n_rows, n, k, a.data, a.row_stride, a.column_stride, b, b_row, tile, width, false);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t j = 0; j < n; j++) {
            tap_real *to = &c.data[i * c.row_stride + j * c.column_stride];
            *to = beta == 0 ? tile[i * width + j] : beta * *to + tile[i * width + j];
        }
}

static void small_gemm(size_t m, size_t n, size_t k, struct tap_matrix a, struct tap_matrix b, tap_real beta,
                       struct tap_matrix c, tap_real *scratch)
{
    size_t b_row;
    size_t width = tap_padded(n);
    const tap_real *rows_of_b = pack(n, k, b, scratch, &b_row);
    tap_real *tiles = scratch + k * width;
    bool direct = c.column_stride == 1 && n == width && (beta == 0 || beta == 1);
    size_t block_rows = m < 4 * SMALL_BLOCK_ROWS ? SMALL_BLOCK_ROWS / 4 : SMALL_BLOCK_ROWS;
    size_t n_blocks = tap_ceil_div(m, block_rows);
#pragma omp parallel for schedule(static) num_threads(threads_for_product(m, n, k))
    for (size_t block = 0; block < n_blocks; block++) {
        size_t first = block * block_rows;
        size_t n_rows = tap_min_size(block_rows, m - first);
        struct tap_matrix a_rows = {a.data + first * a.row_stride, a.row_stride, a.column_stride};
        struct tap_matrix c_rows = {c.data + first * c.row_stride, c.row_stride, c.column_stride};
        if (direct)
            tap_small_product(n_rows, n, k, a_rows.data, a.row_stride, a.column_stride, rows_of_b, b_row, c_rows.data,
                              c.row_stride, beta == 1);
        else
            tiled_rows(n_rows, n, k, a_rows, rows_of_b, b_row, beta, c_rows,
                       tiles + (size_t)omp_get_thread_num() * SMALL_BLOCK_ROWS * width);
    }
}

/* Larger blocks run faster but leave fewer of them for the threads; both depend on the shape alone. */
size_t tap_gemm_token_rows(size_t n, size_t k)
{
    return n * k <= 128 * 1024 ? 64 : 256;
}

size_t tap_gemm_weight_rows(size_t m)
{
    size_t rows = tap_ceil_div(tap_ceil_div(m, 4), 8) * 8;
    return rows < 32 ? 32 : tap_min_size(rows, 256);
}

size_t tap_gemm_scratch(size_t block_rows, size_t n, size_t k)
{
    size_t small = is_small(n, k) ? (k + (size_t)tap_get_threads() * SMALL_BLOCK_ROWS) * tap_padded(n) : 0;
    size_t large = block_rows * (n + k);
    return small > large ? small : large; /* a factor alpha makes even a small product go to the engine */
}

/* The last block: its rows of A are copied out and followed by rows of zeros. */
static void padded_block(size_t block_rows, size_t n_rows, size_t n, size_t k, tap_real alpha, struct tap_matrix a,
                         struct tap_matrix b, tap_real beta, struct tap_matrix c, tap_real *scratch)
{
    tap_real *rows = scratch;
    tap_real *product = scratch + block_rows * k;
    memset(rows + n_rows * k, 0, (block_rows - n_rows) * k * sizeof *rows);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t j = 0; j < k; j++)
            rows[i * k + j] = a.data[i * a.row_stride + j * a.column_stride];
    if (beta != 0)
        for (size_t i = 0; i < n_rows; i++)
            for (size_t j = 0; j < n; j++)
                product[i * n + j] = c.data[i * c.row_stride + j * c.column_stride];
    if (beta != 0)
        memset(product + n_rows * n, 0, (block_rows - n_rows) * n * sizeof *product);
    tap_gemm_serial(block_rows, n, k, alpha, (struct tap_matrix){rows, k, 1}, b, beta,
                    (struct tap_matrix){product, n, 1});
    for (size_t i = 0; i < n_rows; i++)
        for (size_t j = 0; j < n; j++)
            c.data[i * c.row_stride + j * c.column_stride] = product[i * n + j];
}

void tap_gemm(size_t block_rows, size_t m, size_t n, size_t k, tap_real alpha, struct tap_matrix a,
              struct tap_matrix b, tap_real beta, struct tap_matrix c, tap_real *scratch)
{
    if (alpha == 1 && is_small(n, k)) {
        small_gemm(m, n, k, a, b, beta, c, scratch);
        return;
    }
    size_t n_blocks = tap_ceil_div(m, block_rows);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_for_product(m, n, k))
    for (size_t block = 0; block < n_blocks; block++) {
        size_t first = block * block_rows;
        size_t n_rows = tap_min_size(block_rows, m - first);
        struct tap_matrix a_rows = {a.data + first * a.row_stride, a.row_stride, a.column_stride};
        struct tap_matrix c_rows = {c.data + first * c.row_stride, c.row_stride, c.column_stride};
        if (n_rows == block_rows)
            tap_gemm_serial(n_rows, n, k, alpha, a_rows, b, beta, c_rows);
        else
            padded_block(block_rows, n_rows, n, k, alpha, a_rows, b, beta, c_rows, scratch);
    }
}
