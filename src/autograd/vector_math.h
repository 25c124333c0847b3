/* vector_math.h: elementary functions for vector loops. In float they are straight-line arithmetic with selects in
 * place of branches, so that the compiler turns a loop over them into vector instructions; a number's bits do not
 * depend on whether the vector loop or its remainder computed it. In double they are the C library's: that build is the
 * proof of the gradients, not what runs.
 *
 * All polynomials are minimax fits of our own (Remez exchange); the error of the fit alone stands beside each. */
#ifndef TAP_VECTOR_MATH_H
#define TAP_VECTOR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "op.h"

/* Stands before a loop that calls them: asks for vector instructions where there are any to be had. */
#ifdef TAP_REAL_IS_DOUBLE
#define TAP_VECTOR_LOOP
#else
#define TAP_VECTOR_LOOP _Pragma("omp simd")
#endif

#ifdef TAP_REAL_IS_DOUBLE

static inline tap_real tap_fast_exp(tap_real x)
{
    return exp(x);
}

static inline tap_real tap_fast_erf(tap_real x)
{
    return erf(x);
}

static inline tap_real tap_fast_tanh(tap_real x)
{
    return tanh(x);
}

static inline tap_real tap_fast_normal_cdf(tap_real x, tap_real *out_density)
{
    *out_density = 0.39894228040143267794 * exp(-x * x / 2);
    return 0.5 * erfc(-0.70710678118654752440 * x);
}

#else

/* The float with these bits. */
static inline float tap_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t tap_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* tap_fast_exp: exp(x).
 *
 * Formula    n = round(x / ln 2), r = x - n ln 2 (ln 2 in two parts: the first has 15 bits, so n times it is exact),
 *            exp(x) = (1 + r + r^2 q(r)) 2^n, |r| <= ln 2 / 2, q of degree 4 (error of the fit 3.2e-9)
 * Errors     below 1.1 ulp where the result is normal, 1 smallest denormal below; underflow is gradual, down to 0
 *            below -103.97; infinite above 88.7228; exp(-inf) = 0; a NaN stays one
 */
static inline tap_real tap_fast_exp(tap_real x)
{
    const float rounder = 0x1.8p23f; /* adding it leaves the integer in the low bits */
    const uint32_t rounder_bits = 0x4b400000u;
    const uint32_t bias = 300; /* keeps the exponents below in unsigned numbers */
    /* beyond these the result is 0 or infinite anyway; a NaN fails both comparisons and goes on */
    x = x < -105.0f ? -105.0f : x;
    x = x > 89.0f ? 89.0f : x;
    float shifted = TAP_FMA(x, 0x1.715476p+0f, rounder);
    float n = shifted - rounder;
    float r = TAP_FMA(n, -0x1.62e4p-1f, x);
    r = TAP_FMA(n, -0x1.7f7d1cp-20f, r);
    float q = TAP_FMA(0x1.6db42ap-10f, r, 0x1.123b56p-7f);
    q = TAP_FMA(q, r, 0x1.55545ep-5f);
    q = TAP_FMA(q, r, 0x1.55548ep-3f);
    q = TAP_FMA(q, r, 0x1p-1f);
    float mantissa = TAP_FMA(q, r * r, r) + 1.0f;
    /* 2^n as a product of two, for 2^128 is no float and 2^-149 no normal one */
    uint32_t exponent = tap_bits_of_float(shifted) - rounder_bits + bias;
    uint32_t low = exponent / 2;
    uint32_t high = exponent - low;
    float scaled = mantissa * tap_float_of_bits((low - bias / 2 + 127) << 23);
    return scaled * tap_float_of_bits((high - bias / 2 + 127) << 23);
}

/* exp(z^2) erfc(z) for z >= 0: t P(t) with t = 1 / (1 + 0.38 z), P of degree 8 (error of the fit 2.0e-8 relative, up to
 * z = 10.4, where erfc(z) is no float any more). */
static inline float tap_scaled_erfc(float z)
{
    float t = 1.0f / TAP_FMA(0.38f, z, 1.0f);
    float p = TAP_FMA(0x1.e366b2p-5f, t, -0x1.0ccb0ap-2f);
    p = TAP_FMA(p, t, 0x1.750fc6p-2f);
    p = TAP_FMA(p, t, -0x1.4bc972p-3f);
    p = TAP_FMA(p, t, 0x1.d7e736p-3f);
    p = TAP_FMA(p, t, 0x1.1b9702p-3f);
    p = TAP_FMA(p, t, 0x1.a1b33ep-3f);
    p = TAP_FMA(p, t, 0x1.b61784p-3f);
    p = TAP_FMA(p, t, 0x1.b71d56p-3f);
    return t * p;
}

/* tap_fast_erf: the error function.
 *
 * Formula    |x| < 0.7: x E(x^2), E of degree 4 (error of the fit 3.7e-8 relative); else 1 - exp(-x^2) (exp(x^2)
 *            erfc(x))
 * Errors     below 2e-7 absolute, and relative too for small x; erf(+-inf) = +-1; a NaN stays one
 */
static inline tap_real tap_fast_erf(tap_real x)
{
    float z = fabsf(x) > 10.0f ? 10.0f : fabsf(x);
    float square = x * x;
    float tail = 1.0f - tap_scaled_erfc(z) * tap_fast_exp(-z * z);
    float p = TAP_FMA(0x1.189ca2p-8f, square, -0x1.b1c202p-6f);
    p = TAP_FMA(p, square, 0x1.cde7e8p-4f);
    p = TAP_FMA(p, square, -0x1.81262ep-2f);
    p = TAP_FMA(p, square, 0x1.20dd74p+0f);
    return fabsf(x) < 0.7f ? x * p : copysignf(tail, x);
}

/* tap_fast_tanh: the hyperbolic tangent.
 *
 * Formula    |x| < 0.7: x + x^3 T(x^2), T of degree 4 (error of the fit 1.5e-8 relative); else (1 - e) / (1 + e) with
 *            e = exp(-2 |x|)
 * Errors     below 3e-7 relative; tanh(+-inf) = +-1; a NaN stays one
 */
static inline tap_real tap_fast_tanh(tap_real x)
{
    float e = tap_fast_exp(-2.0f * fabsf(x));
    float square = x * x;
    float p = TAP_FMA(-0x1.51d87cp-8f, square, 0x1.49826ap-6f);
    p = TAP_FMA(p, square, -0x1.b6d21ep-5f);
    p = TAP_FMA(p, square, 0x1.10fb9ep-3f);
    p = TAP_FMA(p, square, -0x1.5554fap-2f);
    return fabsf(x) < 0.7f ? TAP_FMA(x * square, p, x) : copysignf((1.0f - e) / (1.0f + e), x);
}

/* tap_fast_normal_cdf: Phi(x) = (1 + erf(x / sqrt 2)) / 2, and phi(x) = exp(-x^2 / 2) / sqrt(2 pi) in *out_density.
 *
 * Formula    Phi(-|x|) = exp(-x^2/2) (exp(x^2/2) erfc(|x| / sqrt 2)) / 2, and Phi(x) = 1 - Phi(-x) for x > 0: no
 *            cancellation in the lower tail
 * Errors     below 6e-7 relative down to the smallest normal floats (5e-6 on processors without fused multiply-add);
 *            Phi(-inf) = 0, Phi(inf) = 1; a NaN stays one
 */
static inline tap_real tap_fast_normal_cdf(tap_real x, tap_real *out_density)
{
    float a = fabsf(x) > 15.0f ? 15.0f : fabsf(x);
    float half_square = a * (0.5f * a);
    float rest = TAP_FMA(a, 0.5f * a, -half_square); /* what rounding took from x^2/2 */
    float e = tap_fast_exp(-half_square);
    e = TAP_FMA(-e, rest, e);
    float tail = 0.5f * tap_scaled_erfc(0x1.6a09e6p-1f * a) * e;
    *out_density = 0x1.988454p-2f * e;
    return x > 0.0f ? 1.0f - tail : tail;
}

#endif

#endif
