/* parallel.h: how many threads, and how work is cut. Every loop over threads runs over blocks whose size depends on the
 * problem alone, so the number of threads decides who computes a number, never how. */
#ifndef TAP_PARALLEL_H
#define TAP_PARALLEL_H

#include <stddef.h>

/* Sets the number of threads for all later work; 0: as many as the process may run on. Values above 256 are cut. */
void tap_set_threads(int n_threads);
int tap_get_threads(void);

/* The number of threads worth starting for `cost` scalar operations: 1 for little work or inside a parallel region. */
int tap_threads_for(double cost);

/* Rows handled together by the row-wise kernels (layer norm, softmax, sums over rows). */
#define TAP_ROW_BLOCK 32

static inline size_t tap_ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static inline size_t tap_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
