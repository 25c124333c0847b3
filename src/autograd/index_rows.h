/* index_rows.h: reading and adding to rows chosen by a list of indices; the kernels of tap_embedding and tap_gather. */
#ifndef TAP_INDEX_ROWS_H
#define TAP_INDEX_ROWS_H

#include <stdint.h>

#include "op.h"

/* x is (outer, axis_size, inner), y is (outer, n, inner). */
struct tap_row_index {
    size_t outer;
    size_t axis_size;
    size_t inner;
    const uint32_t *index; /* n numbers below axis_size */
    size_t n;
};

/* True when every number of `index` is below `limit`; else marks the tape with TAP_ERR_VALUE, naming the first that is
 * not, its position and the limit. `noun` says what the numbers are called. While planning nothing is looked at. */
bool tap_op_index_fits(struct tap_tape *tape, const struct tap_op *op, const char *noun, const uint32_t *index,
                       size_t n, size_t limit);

/* y[o,i,:] = x[o,index[i],:]. Parallel over blocks of rows of y. */
void tap_gather_rows(const struct tap_row_index *rows, const tap_real *x, tap_real *y);

/* dx[o,index[i],:] += dy[o,i,:], in order of i for every number of dx. Parallel over o and over pieces of `inner`,
 * never over i, so no two threads meet in a row and any number of threads gives the same bits. */
void tap_scatter_add_rows(const struct tap_row_index *rows, const tap_real *dy, tap_real *dx);

#endif
