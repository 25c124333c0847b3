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

#ifdef TAP_REAL_IS_DOUBLE

static inline tap_real tap_fast_exp(tap_real x)
{
    return exp(x);
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

#endif

#endif
