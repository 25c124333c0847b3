/* index_rows.c: see index_rows.h. */
#include "index_rows.h"

#include <string.h>

#include "parallel.h"

/* Numbers of a row that one thread adds at a time: two cache lines of floats. */
#define PIECE 32

bool tap_op_index_fits(struct tap_tape *tape, const struct tap_op *op, const char *noun, const uint32_t *index,
                       size_t n, size_t limit)
{
    if (tap_tape_is_planning(tape))
        return true;
    if (index == NULL && n > 0) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "the list of %zu numbers is NULL", n);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (index[i] >= limit) {
            tap_op_fail(tape, op, TAP_ERR_VALUE, "%s %u at position %zu; only numbers below %zu are accepted", noun,
                        index[i], i, limit);
            return false;
        }
    return true;
}

void tap_gather_rows(const struct tap_row_index *rows, const tap_real *x, tap_real *y)
{
    size_t inner = rows->inner;
    if (rows->n == 0 || inner == 0)
        return;
    size_t n_rows = rows->outer * rows->n;
    size_t n_blocks = tap_ceil_div(n_rows, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for((double)n_rows *(double)inner))
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(n_rows, (block + 1) * TAP_ROW_BLOCK); row++) {
            size_t source = row / rows->n * rows->axis_size + rows->index[row % rows->n];
            memcpy(y + row * inner, x + source * inner, inner * sizeof *y);
        }
}

/* One piece of `width` numbers of every row of one o; dy and dx point at its first row. */
static void add_piece(const struct tap_row_index *rows, size_t width, const tap_real *dy, tap_real *dx)
{
    for (size_t i = 0; i < rows->n; i++) {
        const tap_real *restrict from = dy + i * rows->inner;
        tap_real *restrict to = dx + rows->index[i] * rows->inner;
        for (size_t k = 0; k < width; k++)
            to[k] += from[k];
    }
}

void tap_scatter_add_rows(const struct tap_row_index *rows, const tap_real *dy, tap_real *dx)
{
    size_t inner = rows->inner;
    if (rows->n == 0 || inner == 0)
        return;
    size_t n_pieces = tap_ceil_div(inner, PIECE);
#pragma omp parallel for num_threads(tap_threads_for((double)rows->outer *(double)rows->n *(double)inner))
    for (size_t item = 0; item < rows->outer * n_pieces; item++) {
        size_t o = item / n_pieces;
        size_t start = item % n_pieces * PIECE;
        add_piece(rows, tap_min_size(PIECE, inner - start), dy + o * rows->n * inner + start,
                  dx + o * rows->axis_size * inner + start);
    }
}
