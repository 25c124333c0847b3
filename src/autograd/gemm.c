/* gemm.c: products cut into blocks of a fixed number of rows over our own threads. The engine's own threads change last
 * digits, and so do row counts that are no multiple of 8; one fixed number of rows on one thread does not. */
#include "gemm.h"

#include <string.h>

#include "parallel.h"

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
    return block_rows * (n + k);
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
    size_t n_blocks = tap_ceil_div(m, block_rows);
    int threads = n_blocks < 2 ? 1 : tap_threads_for(0.1 * (double)m * (double)n * (double)k);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
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
