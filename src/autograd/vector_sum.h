/* vector_sum.h: sums and maxima of a row of numbers, in one order that the source fixes: 16 lanes, number j going to
 * lane j mod 16. So the bits depend on neither the compiler's vector length nor the row's address, and the lanes are
 * what a vector register holds. Sums are kept in double: one row's rounding is then the result's alone. */
#ifndef TAP_VECTOR_SUM_H
#define TAP_VECTOR_SUM_H

#include <math.h>
#include <stddef.h>

#include "real.h"

#define TAP_SUM_LANES 16

static inline double tap_add_lanes(const double *lanes)
{
    double sum = 0;
    for (size_t l = 0; l < TAP_SUM_LANES; l++)
        sum += lanes[l];
    return sum;
}

/* sum_j x[j] */
static inline double tap_vector_sum(size_t n, const tap_real *restrict x)
{
    double lanes[TAP_SUM_LANES] = {0};
    size_t whole = n / TAP_SUM_LANES * TAP_SUM_LANES;
    for (size_t j = 0; j < whole; j += TAP_SUM_LANES) {
#pragma omp simd
        for (size_t l = 0; l < TAP_SUM_LANES; l++)
            lanes[l] += (double)x[j + l];
    }
    for (size_t l = 0; l < n - whole; l++)
        lanes[l] += (double)x[whole + l];
    return tap_add_lanes(lanes);
}

/* sum_j x[j] y[j] */
static inline double tap_vector_dot(size_t n, const tap_real *restrict x, const tap_real *restrict y)
{
    double lanes[TAP_SUM_LANES] = {0};
    size_t whole = n / TAP_SUM_LANES * TAP_SUM_LANES;
    for (size_t j = 0; j < whole; j += TAP_SUM_LANES) {
#pragma omp simd
        for (size_t l = 0; l < TAP_SUM_LANES; l++)
            lanes[l] += (double)x[j + l] * (double)y[j + l];
    }
    for (size_t l = 0; l < n - whole; l++)
        lanes[l] += (double)x[whole + l] * (double)y[whole + l];
    return tap_add_lanes(lanes);
}

/* The larger of two; a NaN when either is one. */
static inline tap_real tap_larger(tap_real a, tap_real b)
{
    return b > a || b != b ? b : a;
}

/* max_j x[j], -infinity for n = 0, a NaN when there is one. */
static inline tap_real tap_vector_max(size_t n, const tap_real *restrict x)
{
    tap_real lanes[TAP_SUM_LANES];
    size_t whole = n / TAP_SUM_LANES * TAP_SUM_LANES;
    for (size_t l = 0; l < TAP_SUM_LANES; l++)
        lanes[l] = -(tap_real)INFINITY;
    for (size_t j = 0; j < whole; j += TAP_SUM_LANES) {
#pragma omp simd
        for (size_t l = 0; l < TAP_SUM_LANES; l++)
            lanes[l] = tap_larger(lanes[l], x[j + l]);
    }
    for (size_t l = 0; l < n - whole; l++)
        lanes[l] = tap_larger(lanes[l], x[whole + l]);
    tap_real max = lanes[0];
    for (size_t l = 1; l < TAP_SUM_LANES; l++)
        max = tap_larger(max, lanes[l]);
    return max;
}

#endif
