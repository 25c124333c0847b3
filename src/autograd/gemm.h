/* gemm.h: the one door to matrix products. C = alpha * A B + beta * C in tap_real, any strides; with beta = 0 the old
 * contents of C are never read. Engines (gemm_blis.c) offer a product on one thread; gemm.c cuts products into
 * blocks of rows, runs those on our own threads, and makes those with a small B itself (small_product.h). */
#ifndef TAP_GEMM_H
#define TAP_GEMM_H

#include <stddef.h>

#include "error.h"
#include "real.h"

/* A matrix in memory: element (i, j) is data[i * row_stride + j * column_stride]. Swapping the strides transposes. */
struct tap_matrix {
    tap_real *data;
    size_t row_stride;
    size_t column_stride;
};

/* C (m,n) = alpha * A (m,k) B (k,n) + beta * C on the calling thread, uncut. */
void tap_gemm_serial(size_t m, size_t n, size_t k, tap_real alpha, struct tap_matrix a, struct tap_matrix b,
                     tap_real beta, struct tap_matrix c);

/* The same over blocks of rows, on several threads. Blocks have the one number of rows that tap_gemm_token_rows /
 * tap_gemm_weight_rows gives; `scratch` holds tap_gemm_scratch(block_rows, n, k) numbers. For a fixed block_rows the
 * bits of a row of C depend on that row of A and on B alone: not on m, on where the row stands, or on the number of
 * threads. */
void tap_gemm(size_t block_rows, size_t m, size_t n, size_t k, tap_real alpha, struct tap_matrix a,
              struct tap_matrix b, tap_real beta, struct tap_matrix c, tap_real *scratch);

size_t tap_gemm_token_rows(size_t n, size_t k);  /* rows are tokens: depends on the weights' shape alone */
size_t tap_gemm_weight_rows(size_t m);           /* rows are features: depends on their number */
size_t tap_gemm_scratch(size_t block_rows, size_t n, size_t k);

/* Prepares the engine: chooses the kernel family by the processor's features unless BLIS_ARCH_TYPE names one that can
 * run here, and checks a few products. Called by itself before the first product; call it early to see its errors.
 * TAP_ERR_VALUE: BLIS_ARCH_TYPE names no family that this processor can run. TAP_ERR_NONFINITE: a product is wrong. */
enum tap_status tap_gemm_start(struct tap_error *error);

const char *tap_gemm_engine(void);        /* "blis 0.9.0" */
const char *tap_gemm_kernel_family(void); /* "skx", "haswell", ... */

#endif
