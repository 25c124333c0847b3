/* gemm_blis.c: the engine that is always there, BLIS. The only file that includes a BLAS. BLIS always runs on one
 * thread here, whatever BLIS_NUM_THREADS or OMP_NUM_THREADS say: its own threads change last digits, and large values
 * of BLIS_NUM_THREADS crash it.
 *
 * BLIS chooses its kernels by the processor's brand string as well as its features and falls back to AVX2 on a virtual
 * machine that hides the name, so we ask for the AVX-512 family where the features are there. BLIS 0.9 reads
 * BLIS_ARCH_TYPE as a number and takes any text for 0, which crashes without AVX-512: we check it first. */
#include "gemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <blis.h>

/* The families of BLIS 0.9's x86-64 build, by the number that BLIS_ARCH_TYPE takes, and what each needs. */
enum need { NEEDS_AVX512, NEEDS_KNL, NEEDS_FMA, NEEDS_AVX, NEEDS_SSE3, NEEDS_FMA4, NEEDS_NOTHING };
static const struct family {
    int number;
    const char *name;
    enum need need;
} families[] = {
    {BLIS_ARCH_SKX, "skx", NEEDS_AVX512},
    {BLIS_ARCH_KNL, "knl", NEEDS_KNL},
    {BLIS_ARCH_HASWELL, "haswell", NEEDS_FMA},
    {BLIS_ARCH_SANDYBRIDGE, "sandybridge", NEEDS_AVX},
    {BLIS_ARCH_PENRYN, "penryn", NEEDS_SSE3},
    {BLIS_ARCH_ZEN3, "zen3", NEEDS_FMA},
    {BLIS_ARCH_ZEN2, "zen2", NEEDS_FMA},
    {BLIS_ARCH_ZEN, "zen", NEEDS_FMA},
    {BLIS_ARCH_EXCAVATOR, "excavator", NEEDS_FMA},
    {BLIS_ARCH_STEAMROLLER, "steamroller", NEEDS_FMA4},
    {BLIS_ARCH_PILEDRIVER, "piledriver", NEEDS_FMA4},
    {BLIS_ARCH_BULLDOZER, "bulldozer", NEEDS_FMA4},
    {BLIS_ARCH_GENERIC, "generic", NEEDS_NOTHING},
};
#define N_FAMILIES (sizeof families / sizeof families[0])

static bool is_started;

static bool can_run(enum need need)
{
#if defined __x86_64__
    __builtin_cpu_init();
    switch (need) {
    case NEEDS_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    case NEEDS_KNL:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512pf");
    case NEEDS_FMA:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case NEEDS_AVX:
        return __builtin_cpu_supports("avx");
    case NEEDS_SSE3:
        return __builtin_cpu_supports("sse3");
    case NEEDS_FMA4:
        return __builtin_cpu_supports("fma4") && __builtin_cpu_supports("avx");
    case NEEDS_NOTHING:
        return true;
    }
#endif
    return need == NEEDS_NOTHING;
}

static const struct family *family_of(long number)
{
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (families[i].number == number)
            return &families[i];
    return NULL;
}

/* What BLIS_ARCH_TYPE may be here, as text: "0 (skx), 3 (haswell), ...". */
static void list_families(char *out, size_t n_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < N_FAMILIES && used < n_bytes; i++)
        if (can_run(families[i].need))
            used += (size_t)snprintf(out + used, n_bytes - used, "%s%d (%s)", used > 0 ? ", " : "",
                                     families[i].number, families[i].name);
}

static enum tap_status choose_family(struct tap_error *error)
{
    const char *asked = getenv("BLIS_ARCH_TYPE");
    if (asked == NULL) {
        if (can_run(NEEDS_AVX512)) {
            char number[16];
            snprintf(number, sizeof number, "%d", BLIS_ARCH_SKX);
            setenv("BLIS_ARCH_TYPE", number, 1);
        }
        return TAP_OK;
    }
    char *end = NULL;
    long number = strtol(asked, &end, 10);
    bool is_number = *asked >= '0' && *asked <= '9' && *end == '\0';
    const struct family *family = is_number ? family_of(number) : NULL;
    if (family != NULL && can_run(family->need))
        return TAP_OK;
    char accepted[512];
    list_families(accepted, sizeof accepted);
    return tap_error_set(error, TAP_ERR_VALUE, "BLIS_ARCH_TYPE=%s: %s; accepted here: %s", asked,
                         family == NULL ? "no kernel family of BLIS" : "this processor cannot run that kernel family",
                         accepted);
}

static void blis_product(size_t m, size_t n, size_t k, tap_real alpha, struct tap_matrix a, struct tap_matrix b,
                         tap_real beta, struct tap_matrix c)
{
    rntm_t one_thread = BLIS_RNTM_INITIALIZER;
    bli_rntm_set_num_threads(1, &one_thread);
#ifdef TAP_REAL_IS_DOUBLE
    bli_dgemm_ex(
#else
    bli_sgemm_ex(
#endif
        BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, (dim_t)m, (dim_t)n, (dim_t)k, &alpha, a.data, (inc_t)a.row_stride,
        (inc_t)a.column_stride, b.data, (inc_t)b.row_stride, (inc_t)b.column_stride, &beta, c.data,
        (inc_t)c.row_stride, (inc_t)c.column_stride, NULL, &one_thread);
}

/* Products whose right values are known exactly, into memory full of NaN. */
static bool self_test(void)
{
    enum { SIZE = 17 };
    tap_real a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    static const size_t sizes[] = {1, 2, 7, 8, 16, 17};
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        a[i] = (tap_real)(i % 5) - 2;
        b[i] = (tap_real)(i % 7) - 3;
    }
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t k = 0; k <= SIZE; k += 17) {
            size_t m = sizes[s];
            size_t n = sizes[(s + 3) % 6];
            for (size_t i = 0; i < SIZE * SIZE; i++)
                c[i] = NAN;
            blis_product(m, n, k, 1, (struct tap_matrix){a, SIZE, 1}, (struct tap_matrix){b, SIZE, 1}, 0,
                         (struct tap_matrix){c, SIZE, 1});
            for (size_t i = 0; i < m * n; i++) {
                tap_real right = 0;
                for (size_t l = 0; l < k; l++)
                    right += a[i / n * SIZE + l] * b[l * SIZE + i % n];
                if (c[i / n * SIZE + i % n] != right)
                    return false;
            }
        }
    return true;
}

enum tap_status tap_gemm_start(struct tap_error *error)
{
    if (is_started)
        return TAP_OK;
    enum tap_status status = choose_family(error);
    if (status != TAP_OK)
        return status;
    setenv("BLIS_NUM_THREADS", "1", 1);
    bli_init();
    if (!self_test())
        return tap_error_set(error, TAP_ERR_NONFINITE, "%s with kernels %s multiplies wrongly on this machine",
                             tap_gemm_engine(), tap_gemm_kernel_family());
    is_started = true;
    return TAP_OK;
}

const char *tap_gemm_engine(void)
{
    static char name[64];
    if (name[0] == '\0')
        snprintf(name, sizeof name, "blis %s", bli_info_get_version_str());
    return name;
}

const char *tap_gemm_kernel_family(void)
{
    return bli_arch_string(bli_arch_query_id());
}

/* A product of nothing: C = beta * C, without a look at old contents when beta is 0. */
static void scale_only(size_t m, size_t n, tap_real beta, struct tap_matrix c)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            tap_real *element = &c.data[i * c.row_stride + j * c.column_stride];
            *element = beta == 0 ? 0 : beta * *element;
        }
}

void tap_gemm_serial(size_t m, size_t n, size_t k, tap_real alpha, struct tap_matrix a, struct tap_matrix b,
                     tap_real beta, struct tap_matrix c)
{
    if (m == 0 || n == 0)
        return;
    if (k == 0)
        scale_only(m, n, beta, c);
    else
        blis_product(m, n, k, alpha, a, b, beta, c);
}
