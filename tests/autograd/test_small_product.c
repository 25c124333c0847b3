/* test_small_product.c: the small products of attention against a plain triple loop in double, and their bits. */
#include "small_product.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "op_cases.h"

enum { MOST = 70, MOST_PADDED = 80 + 16 };
static tap_real a[MOST * MOST], b[MOST * MOST_PADDED], old[MOST * MOST_PADDED], c[MOST * MOST_PADDED + 1], other[MOST * MOST_PADDED];

static void fill_all(void)
{
    fill_values(a, MOST * MOST, OP_FILL_NORMAL, 1);
    fill_values(b, MOST * MOST_PADDED, OP_FILL_NORMAL, 2);
    fill_values(old, MOST * MOST_PADDED, OP_FILL_NORMAL, 3);
}

/* C into memory of NaN, or added to old values; with rows of C as far apart as can be, nothing else is written. */
static void check_product(size_t m, size_t n, size_t k, bool transposed, bool accumulate)
{
    size_t a_row = transposed ? 1 : k, a_column = transposed ? m : 1, padded = tap_padded(n);
    for (size_t i = 0; i <= m * padded; i++)
        c[i] = accumulate && i < m * padded ? old[i] : NAN;
    tap_small_product(m, n, k, a, a_row, a_column, b, padded, c, padded, accumulate);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double right = accumulate ? (double)old[i * padded + j] : 0, sizes = fabs(right);
            for (size_t l = 0; l < k; l++) {
                double part = (double)a[i * a_row + l * a_column] * (double)b[l * padded + j];
                right += part;
                sizes += fabs(part);
            }
            cr_assert(fabs((double)c[i * padded + j] - right) <= (double)(k + 2) * TAP_REAL_EPSILON * sizes,
                      "(%zu, %zu, %zu), element (%zu, %zu): %.9g, not %.9g", m, n, k, i, j, (double)c[i * padded + j], right);
        }
    cr_assert(isnan(c[m * padded]), "(%zu, %zu, %zu) wrote behind C", m, n, k);
}

Test(small_product, products_equal_a_plain_triple_loop_in_double)
{
    static const size_t sizes[] = {0, 1, 2, 5, 6, 7, 12, 13, 16, 17, 31, 33, 48, 64, 67};
    enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
    fill_all();
    for (size_t i = 0; i < N_SIZES; i++)
        for (size_t j = 0; j < N_SIZES; j++)
            for (size_t l = 0; l < N_SIZES; l++)
                for (int kind = 0; kind < 4; kind++)
                    check_product(sizes[i], sizes[j], sizes[l], kind & 1, kind & 2);
}

Test(small_product, a_row_keeps_its_bits_at_any_place)
{
    fill_all();
    for (size_t n = 1; n <= 67; n += 11)
        for (size_t k = 1; k <= 67; k += 13) {
            size_t padded = tap_padded(n);
            tap_small_product(MOST, n, k, a, k, 1, b, padded, c, padded, false);
            for (size_t first = 0; first < MOST; first += 3)
                for (size_t m = 1; m <= 13 && first + m <= MOST; m += 3) {
                    tap_small_product(m, n, k, a + first * k, k, 1, b, padded, other, padded, false);
                    cr_assert_eq(memcmp(other, c + first * padded, m * padded * sizeof *c), 0, "(%zu, %zu) rows %zu to %zu", n, k,
                                 first, first + m);
                }
        }
}

Test(small_product, a_column_keeps_its_bits_whatever_columns_follow)
{
    enum { M = 13, K = 29 };
    fill_all();
    for (size_t n = 1; n <= MOST; n++) {
        /* the same first columns of B for every n */
        tap_small_product(M, MOST, K, a, K, 1, b, MOST_PADDED, c, MOST_PADDED, false);
        tap_small_product(M, n, K, a, K, 1, b, MOST_PADDED, other, MOST_PADDED, false);
        for (size_t i = 0; i < M; i++)
            cr_assert_eq(memcmp(other + i * MOST_PADDED, c + i * MOST_PADDED, n * sizeof *c), 0, "%zu columns, row %zu", n, i);
    }
}

Test(small_product, copies_are_padded_with_zeros)
{
    enum { ROWS = 5, FROM_ROW = 23 };
    fill_all();
    for (size_t columns = 0; columns <= 20; columns++) {
        size_t padded = tap_padded(columns), padded_rows = tap_padded(ROWS);
        for (size_t i = 0; i < MOST * MOST_PADDED; i++)
            other[i] = NAN;
        tap_copy_padded(ROWS, columns, a, FROM_ROW, other, padded);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < padded; j++)
                cr_assert_eq(other[i * padded + j], j < columns ? a[i * FROM_ROW + j] : 0);
        cr_assert(isnan(other[ROWS * padded]));
        for (size_t i = 0; i < MOST * MOST_PADDED; i++)
            other[i] = NAN;
        tap_copy_transposed(ROWS, columns, a, FROM_ROW, other, padded_rows);
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i < padded_rows; i++)
                cr_assert_eq(other[j * padded_rows + i], i < ROWS ? a[i * FROM_ROW + j] : 0);
        cr_assert(isnan(other[columns * padded_rows]));
    }
}

Test(small_product, padding_is_to_whole_vectors_of_64_bytes)
{
    for (size_t n = 0; n < 100; n++) {
        cr_assert_eq(tap_padded(n) * sizeof(tap_real) % 64, 0);
        cr_assert(tap_padded(n) >= n && tap_padded(n) < n + TAP_LANES);
    }
}
