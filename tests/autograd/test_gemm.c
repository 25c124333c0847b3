/* test_gemm.c: matrix products against a plain triple loop in double, the fixed bits of a row, and the start of the
 * engine. Criterion runs each test in a process of its own, so every one starts the engine afresh. */
#include "gemm.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op_cases.h"
#include "parallel.h"

static void start(void)
{
    struct tap_error error = {0};
    cr_assert_eq(tap_gemm_start(&error), TAP_OK, "%s", error.message);
}

static struct tap_matrix rows_of(tap_real *data, size_t columns)
{
    return (struct tap_matrix){data, columns, 1};
}

static struct tap_matrix columns_of(tap_real *data, size_t rows)
{
    return (struct tap_matrix){data, 1, rows};
}

static tap_real at(struct tap_matrix m, size_t i, size_t j)
{
    return m.data[i * m.row_stride + j * m.column_stride];
}

/* One product: sizes, which of the three matrices lie transposed, and the two factors. */
struct product {
    size_t m, n, k;
    bool transpose_a, transpose_b, transpose_c;
    tap_real alpha, beta;
};

enum { LARGEST = 300 * 300 };
static tap_real a_numbers[LARGEST], b_numbers[LARGEST], c_numbers[LARGEST + 1], old_numbers[LARGEST + 1];

static void fill_all(void)
{
    fill_values(a_numbers, LARGEST, OP_FILL_NORMAL, 1);
    fill_values(b_numbers, LARGEST, OP_FILL_NORMAL, 2);
    fill_values(old_numbers, LARGEST + 1, OP_FILL_NORMAL, 3);
}

/* Every element lies within what rounding can do to a sum of k products: (k + 3) eps times the sum of their sizes. */
static void check_product(const struct product *p, bool serial)
{
    struct tap_matrix a = p->transpose_a ? columns_of(a_numbers, p->m) : rows_of(a_numbers, p->k);
    struct tap_matrix b = p->transpose_b ? columns_of(b_numbers, p->k) : rows_of(b_numbers, p->n);
    struct tap_matrix c = p->transpose_c ? columns_of(c_numbers, p->m) : rows_of(c_numbers, p->n);
    struct tap_matrix old = {old_numbers, c.row_stride, c.column_stride};
    size_t block_rows = tap_gemm_token_rows(p->n, p->k), n_scratch = tap_gemm_scratch(block_rows, p->n, p->k);
    tap_real *scratch = malloc((n_scratch + 1) * sizeof *scratch);
    for (size_t i = 0; i < n_scratch; i++)
        scratch[i] = NAN;
    for (size_t i = 0; i <= p->m * p->n; i++)
        c_numbers[i] = p->beta == 0 ? NAN : old_numbers[i];
    if (serial)
        tap_gemm_serial(p->m, p->n, p->k, p->alpha, a, b, p->beta, c);
    else
        tap_gemm(block_rows, p->m, p->n, p->k, p->alpha, a, b, p->beta, c, scratch);
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double right = p->beta == 0 ? 0 : (double)p->beta * (double)at(old, i, j), sizes = fabs(right);
            for (size_t l = 0; l < p->k; l++) {
                double part = (double)p->alpha * (double)at(a, i, l) * (double)at(b, l, j);
                right += part;
                sizes += fabs(part);
            }
            cr_assert(fabs((double)at(c, i, j) - right) <= (double)(p->k + 3) * TAP_REAL_EPSILON * sizes,
                      "(%zu, %zu, %zu), element (%zu, %zu): %.9g, not %.9g", p->m, p->n, p->k, i, j, (double)at(c, i, j), right);
        }
    /* nothing behind C was written */
    cr_assert(p->beta == 0 ? isnan(c_numbers[p->m * p->n]) : c_numbers[p->m * p->n] == old_numbers[p->m * p->n]);
    free(scratch);
}

Test(gemm, products_equal_a_plain_triple_loop_in_double)
{
    static const size_t sizes[] = {0, 1, 2, 7, 8, 17, 32, 67, 96};
    enum { N_SIZES = sizeof sizes / sizeof sizes[0] };
    start();
    fill_all();
    size_t kind = 0;
    for (size_t i = 0; i < N_SIZES; i++)
        for (size_t j = 0; j < N_SIZES; j++)
            for (size_t l = 0; l < N_SIZES; l++, kind += 5) {
                const struct product p = {sizes[i], sizes[j], sizes[l], kind & 1, kind & 2, kind & 4,
                                          kind & 8 ? 1 : (tap_real)-0.75, kind & 16 ? 0 : kind & 32 ? 1 : (tap_real)0.5};
                check_product(&p, kind & 64);
            }
}

Test(gemm, products_of_several_blocks_equal_a_plain_triple_loop)
{
    static const size_t shapes[][3] = {{257, 3, 5}, {64, 64, 64}, {65, 64, 64}, {300, 300, 7}, {300, 40, 300}, {3, 300, 300}, {129, 130, 131}};
    start();
    fill_all();
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int kind = 0; kind < 16; kind++) {
            const struct product p = {shapes[s][0], shapes[s][1], shapes[s][2], kind & 1, kind & 2, kind & 4, 1, kind & 8 ? 1 : 0};
            check_product(&p, false);
        }
}

/* BR-76 */
Test(gemm, beta_zero_never_reads_what_was_there)
{
    start();
    fill_all();
    for (size_t m = 1; m <= 17; m++)
        for (size_t n = 1; n <= 17; n++)
            for (size_t k = 0; k <= 17; k++) {
                const struct product p = {m, n, k, m & 1, n & 1, k & 1, 1, 0};
                check_product(&p, true);
                if (m % 8 == 1)
                    check_product(&p, false);
            }
}

Test(gemm, a_product_of_nothing_scales_what_was_there)
{
    tap_real c[18];
    start();
    for (int i = 0; i < 18; i++)
        c[i] = 2;
    tap_gemm_serial(9, 2, 0, 1, (struct tap_matrix){a_numbers, 1, 1}, (struct tap_matrix){b_numbers, 1, 1}, (tap_real)0.5, rows_of(c, 2));
    for (int i = 0; i < 18; i++)
        cr_assert_eq(c[i], 1);
    tap_gemm_serial(9, 2, 0, 1, (struct tap_matrix){NULL, 0, 1}, (struct tap_matrix){NULL, 2, 1}, 0, rows_of(c, 2));
    for (int i = 0; i < 18; i++)
        cr_assert_eq(c[i], 0);
}

/* A sample of the 24,000 comparisons that fixed blocks were chosen by: all rows at once against the same rows cut out
 * at another place, in blocks of the same number of rows, for 1 to 4 threads. */
Test(gemm, a_row_keeps_its_bits_at_any_place_among_any_others_for_any_number_of_threads)
{
    enum { MOST = 300 };
    static tap_real whole[MOST * MOST], part[MOST * MOST], scratch[256 * 2 * MOST];
    struct tap_rng rng = {.key = tap_rng_key(7, TAP_RNG_TEST, 0, 0)};
    start();
    fill_all();
    for (int round = 0; round < 400; round++) {
        size_t m = 1 + tap_rng_below(&rng, MOST), n = 1 + tap_rng_below(&rng, 100), k = 1 + tap_rng_below(&rng, 100);
        size_t block_rows = 8 * (1 + tap_rng_below(&rng, 32));
        tap_real beta = round & 1;
        struct tap_matrix b = round & 2 ? columns_of(b_numbers, k) : rows_of(b_numbers, n);
        struct tap_matrix a = round & 4 ? columns_of(a_numbers, m) : rows_of(a_numbers, k);
        memcpy(whole, old_numbers, m * n * sizeof *whole);
        tap_set_threads(1);
        tap_gemm(block_rows, m, n, k, 1, a, b, beta, rows_of(whole, n), scratch);
        for (int cut = 0; cut < 4; cut++) {
            size_t first = tap_rng_below(&rng, (uint32_t)m), rows = 1 + tap_rng_below(&rng, (uint32_t)(m - first));
            struct tap_matrix own = {a.data + first * a.row_stride, a.row_stride, a.column_stride};
            memcpy(part, old_numbers + first * n, rows * n * sizeof *part);
            tap_set_threads(cut + 1);
            tap_gemm(block_rows, rows, n, k, 1, own, b, beta, rows_of(part, n), scratch);
            cr_assert_eq(memcmp(part, whole + first * n, rows * n * sizeof *part), 0,
                         "(%zu, %zu, %zu) in blocks of %zu, rows %zu..%zu", m, n, k, block_rows, first, first + rows);
        }
    }
}

Test(gemm, large_products_have_the_same_bits_for_any_number_of_threads)
{
    enum { M = 290, N = 130, K = 200 };
    static tap_real one[M * N], several[M * N], scratch[256 * (N + K)];
    start();
    fill_all();
    for (size_t block_rows = 32; block_rows <= 256; block_rows *= 2) {
        tap_set_threads(1);
        tap_gemm(block_rows, M, N, K, 1, rows_of(a_numbers, K), rows_of(b_numbers, N), 0, rows_of(one, N), scratch);
        for (int threads = 2; threads <= 4; threads++) {
            tap_set_threads(threads);
            tap_gemm(block_rows, M, N, K, 1, rows_of(a_numbers, K), rows_of(b_numbers, N), 0, rows_of(several, N), scratch);
            cr_assert_eq(memcmp(one, several, sizeof one), 0, "%d threads", threads);
        }
    }
}

Test(gemm, blocks_have_a_number_of_rows_that_the_engine_repeats)
{
    for (size_t i = 1; i < 4000; i += 7) {
        size_t rows = tap_gemm_weight_rows(i);
        cr_assert(rows % 8 == 0 && rows >= 8 && rows <= 512, "%zu rows for %zu features", rows, i);
        rows = tap_gemm_token_rows(i, 768);
        cr_assert(rows % 8 == 0 && rows >= 8 && rows <= 512);
    }
}

/* Starts with a value of BLIS_ARCH_TYPE that has to be refused. */
static void assert_refused(const char *value, const char *why)
{
    struct tap_error error = {0};
    char begin[128];
    snprintf(begin, sizeof begin, "BLIS_ARCH_TYPE=%s: %s; accepted here: ", value, why);
    setenv("BLIS_ARCH_TYPE", value, 1);
    cr_assert_eq(tap_gemm_start(&error), TAP_ERR_VALUE);
    cr_assert_eq(strncmp(error.message, begin, strlen(begin)), 0, "%s", error.message);
    cr_assert(strstr(error.message, "25 (generic)") != NULL, "%s", error.message);
    cr_assert_null(strchr(error.message, '\n'));
}

Test(gemm, an_unknown_kernel_family_is_refused)
{
    const char *unknown[] = {"99", "", "skx", "0x3", "-1", " 3", "3 ", "3.0", "99999999999999999999"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_refused(unknown[i], "no kernel family of BLIS");
}

Test(gemm, a_start_that_was_refused_can_be_made_again)
{
    assert_refused("nothing", "no kernel family of BLIS");
    unsetenv("BLIS_ARCH_TYPE");
    start();
    const struct product p = {17, 9, 5, false, true, false, 1, 0};
    fill_all();
    check_product(&p, false);
}

Test(gemm, the_family_for_any_processor_is_accepted)
{
    setenv("BLIS_ARCH_TYPE", "25", 1);
    start();
    cr_assert_str_eq(tap_gemm_kernel_family(), "generic");
    fill_all();
    const struct product p = {67, 31, 45, false, true, false, 1, 1};
    check_product(&p, false);
}

Test(gemm, the_family_of_avx512_is_accepted_where_the_processor_has_it_and_refused_elsewhere)
{
#if defined __x86_64__
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl")) {
        assert_refused("0", "this processor cannot run that kernel family");
        return;
    }
    setenv("BLIS_ARCH_TYPE", "0", 1);
    start();
    cr_assert_str_eq(tap_gemm_kernel_family(), "skx");
#endif
}

Test(gemm, a_family_of_another_maker_is_refused)
{
#if defined __x86_64__
    if (!__builtin_cpu_supports("fma4"))
        assert_refused("12", "this processor cannot run that kernel family");
#endif
}

Test(gemm, numbers_of_threads_that_crash_the_engine_are_kept_from_it)
{
    setenv("BLIS_NUM_THREADS", "99999", 1);
    start();
    fill_all();
    tap_set_threads(4);
    const struct product p = {300, 64, 128, false, true, false, 1, 0};
    check_product(&p, false);
}

Test(gemm, the_engine_names_itself)
{
    start();
    start(); /* a second start does nothing */
    cr_assert_eq(strncmp(tap_gemm_engine(), "blis ", 5), 0, "%s", tap_gemm_engine());
    cr_assert_gt(strlen(tap_gemm_kernel_family()), 0);
}
