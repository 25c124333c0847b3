/* test_vector_math.c: the errors that vector_math.h promises, over all floats, and sums of a fixed order. */
#include "vector_math.h"

#include <criterion/criterion.h>

#include "vector_sum.h"

#ifndef TAP_REAL_IS_DOUBLE

/* Every 4099th bit pattern (a prime): a million floats of all exponents and both signs, NaNs among them. */
#define PATTERN_STEP 4099
#define N 61

typedef void (*loop_function)(const float *restrict x, float *restrict y);

#define LOOP(name, expression)                                                                                         \
    static void name(const float *restrict xs, float *restrict ys)                                                     \
    {                                                                                                                  \
        _Pragma("omp simd") for (int i = 0; i < N; i++)                                                                \
        {                                                                                                              \
            float x = xs[i], density;                                                                                  \
            (void)density;                                                                                             \
            ys[i] = (expression);                                                                                      \
        }                                                                                                              \
    }
LOOP(exp_loop, tap_fast_exp(x))
LOOP(erf_loop, tap_fast_erf(x))
LOOP(tanh_loop, tap_fast_tanh(x))
LOOP(cdf_loop, tap_fast_normal_cdf(x, &density))
LOOP(density_loop, (tap_fast_normal_cdf(x, &density), density))

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double normal_density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * M_PI);
}

struct errors {
    double absolute;
    double relative; /* where the result is a normal float */
    double ulps;     /* in units of the result's last place, the smallest denormal at least */
};

/* The largest errors over the sweep. Fails for a NaN lost or made, and where not both are infinite. */
static struct errors sweep(loop_function loop, double (*right_of)(double))
{
    struct errors worst = {0, 0, 0};
    float x[N], y[N];
    int n = 0;
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += PATTERN_STEP) {
        x[n++] = tap_float_of_bits((uint32_t)bits);
        if (n < N)
            continue;
        n = 0;
        loop(x, y);
        for (int i = 0; i < N; i++) {
            double right = right_of((double)x[i]);
            cr_assert_eq(isnan(x[i]) != 0, isnan(y[i]) != 0, "at %.9g: %.9g", (double)x[i], (double)y[i]);
            cr_assert_eq(isinf((float)right) != 0, isinf(y[i]) != 0, "at %.9g: %.9g", (double)x[i], (double)y[i]);
            if (isnan(x[i]) || isinf(y[i]))
                continue;
            int exponent;
            double error = fabs((double)y[i] - right);
            frexp(right, &exponent);
            worst.absolute = fmax(worst.absolute, error);
            worst.ulps = fmax(worst.ulps, error / ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24));
            if (fabs(right) >= (double)FLT_MIN)
                worst.relative = fmax(worst.relative, error / fabs(right));
        }
    }
    return worst;
}

#ifdef __FMA__
#define SQUARE_ERROR 6e-7
#else
#define SQUARE_ERROR 5e-6 /* x^2 is rounded before its exponential is taken */
#endif

Test(vector_math, exp_is_right_to_two_ulps_over_all_floats)
{
    struct errors worst = sweep(exp_loop, exp);
    cr_assert_lt(worst.ulps, 1.1, "%g", worst.ulps);
}

Test(vector_math, exp_of_special_numbers)
{
    cr_assert_eq(tap_fast_exp(0.0f), 1.0f);
    cr_assert_eq(tap_fast_exp(-0.0f), 1.0f);
    cr_assert_eq(tap_fast_exp(-INFINITY), 0.0f);
    cr_assert_eq(tap_fast_exp(INFINITY), INFINITY);
    cr_assert(isnan(tap_fast_exp(NAN)));
    cr_assert_eq(tap_fast_exp(-104.0f), 0.0f);
    cr_assert_eq(tap_fast_exp(-FLT_MAX), 0.0f);
    cr_assert_eq(tap_fast_exp(FLT_MAX), INFINITY);
    cr_assert(isfinite(tap_fast_exp(88.7228f)));
    cr_assert_eq(tap_fast_exp(88.723f), INFINITY);
    cr_assert_gt(tap_fast_exp(-103.0f), 0.0f, "underflow is gradual");
}

Test(vector_math, erf_is_right_to_2e_7)
{
    struct errors worst = sweep(erf_loop, erf);
    cr_assert_lt(worst.absolute, 2e-7, "%g", worst.absolute);
    cr_assert_lt(worst.relative, 2e-7, "%g", worst.relative);
    cr_assert_eq(tap_fast_erf(INFINITY), 1.0f);
    cr_assert_eq(tap_fast_erf(-INFINITY), -1.0f);
    cr_assert_eq(tap_fast_erf(0.0f), 0.0f);
}

Test(vector_math, tanh_is_right_to_3e_7)
{
    struct errors worst = sweep(tanh_loop, tanh);
    cr_assert_lt(worst.relative, 3e-7, "%g", worst.relative);
    cr_assert_eq(tap_fast_tanh(INFINITY), 1.0f);
    cr_assert_eq(tap_fast_tanh(-INFINITY), -1.0f);
}

Test(vector_math, normal_cdf_keeps_its_relative_precision_in_the_lower_tail)
{
    struct errors worst = sweep(cdf_loop, normal_cdf);
    cr_assert_lt(worst.relative, SQUARE_ERROR, "%g", worst.relative);
    cr_assert_lt(sweep(density_loop, normal_density).relative, SQUARE_ERROR);
}

Test(vector_math, a_vector_loop_gives_the_bits_of_a_single_call)
{
    float x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = -6.0f + 0.197f * (float)i;
    const loop_function loops[] = {exp_loop, erf_loop, tanh_loop, cdf_loop};
    for (int f = 0; f < 4; f++) {
        loops[f](x, y);
        for (int i = 0; i < N; i++) {
            float density;
            volatile float in = x[i]; /* volatile: one at a time */
            float one = f == 0   ? tap_fast_exp(in)
                        : f == 1 ? tap_fast_erf(in)
                        : f == 2 ? tap_fast_tanh(in)
                                 : tap_fast_normal_cdf(in, &density);
            cr_assert_eq(tap_bits_of_float(one), tap_bits_of_float(y[i]), "function %d at %g", f, (double)x[i]);
        }
    }
}

#else

Test(vector_math, in_double_the_functions_are_the_c_library_s)
{
    for (double x = -40; x < 40; x += 0.37) {
        double density;
        cr_assert_eq(tap_fast_exp(x), exp(x));
        cr_assert_eq(tap_fast_erf(x), erf(x));
        cr_assert_eq(tap_fast_tanh(x), tanh(x));
        cr_assert_float_eq(tap_fast_normal_cdf(x, &density), 0.5 * (1 + erf(x / sqrt(2))), 1e-15);
        cr_assert_float_eq(density, exp(-x * x / 2) / sqrt(2 * M_PI), 1e-15);
    }
}

#endif

Test(vector_sum, rows_of_every_length_are_summed_whole)
{
    tap_real x[50], y[50];
    for (size_t n = 0; n <= 50; n++) {
        for (size_t j = 0; j < n; j++) {
            x[j] = (tap_real)(j + 1);
            y[j] = (tap_real)2;
        }
        cr_assert_eq(tap_vector_sum(n, x), (double)(n * (n + 1) / 2));
        cr_assert_eq(tap_vector_dot(n, x, y), (double)(n * (n + 1)));
        cr_assert_eq(tap_vector_max(n, x), n == 0 ? -(tap_real)INFINITY : (tap_real)n);
    }
}

Test(vector_sum, a_maximum_is_found_and_a_nan_is_kept_at_every_place)
{
    for (size_t place = 0; place < 50; place++) {
        tap_real x[50];
        for (size_t j = 0; j < 50; j++)
            x[j] = -(tap_real)1e30;
        x[place] = -1;
        cr_assert_eq(tap_vector_max(50, x), -1);
        x[place] = (tap_real)NAN;
        cr_assert(isnan(tap_vector_max(50, x)));
    }
}

Test(vector_sum, the_address_of_a_row_does_not_change_its_bits)
{
    tap_real memory[200];
    double first_sum = 0, first_dot = 0;
    for (size_t shift = 0; shift < 40; shift++) {
        for (size_t j = 0; j < 131; j++)
            memory[shift + j] = (tap_real)(1.0 / (double)(j + 3));
        double sum = tap_vector_sum(131, memory + shift), dot = tap_vector_dot(131, memory + shift, memory + shift);
        cr_assert(shift == 0 || (sum == first_sum && dot == first_dot));
        first_sum = sum;
        first_dot = dot;
    }
}
