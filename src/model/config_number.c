/* config_number.c: see config_number.h. The grammar is checked here and only the conversion is left to strtod, in the
 * C locale: strtod by itself takes "nan", "0x1p-10" and leading blanks, and under some locales wants a comma. */
#include "config_number.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum tap_config_number tap_config_read_integer(const char *text, size_t n_bytes, int *out)
{
    size_t i = n_bytes > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    bool is_signed = i > 0, is_negative = is_signed && text[0] == '-';
    if (i == n_bytes || (text[i] == '0' && (is_signed || n_bytes > 1)))
        return TAP_CONFIG_NUMBER_MALFORMED;
    int64_t value = 0;
    for (; i < n_bytes; i++) {
        if (!is_digit(text[i]))
            return TAP_CONFIG_NUMBER_MALFORMED;
        if (value <= INT_MAX) /* beyond, the digits are only checked */
            value = value * 10 + (text[i] - '0');
    }
    if (value > INT_MAX)
        return TAP_CONFIG_NUMBER_TOO_LARGE;
    *out = (int)(is_negative ? -value : value);
    return TAP_CONFIG_NUMBER_OK;
}

/* Walks over digits from *i; returns how many, and notes whether one was not 0. */
static size_t skip_digits(const char *text, size_t n_bytes, size_t *i, bool *has_nonzero)
{
    size_t start = *i;
    for (; *i < n_bytes && is_digit(text[*i]); (*i)++)
        *has_nonzero = *has_nonzero || text[*i] != '0';
    return *i - start;
}

/* [+-] (digits [. digits] | . digits) [(e|E) [+-] digits], and nothing else. */
static bool is_real(const char *text, size_t n_bytes, bool *has_nonzero)
{
    size_t i = n_bytes > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    size_t n_digits = skip_digits(text, n_bytes, &i, has_nonzero);
    if (i < n_bytes && text[i] == '.') {
        i++;
        n_digits += skip_digits(text, n_bytes, &i, has_nonzero);
    }
    if (n_digits == 0)
        return false;
    if (i < n_bytes && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        if (i < n_bytes && (text[i] == '-' || text[i] == '+'))
            i++;
        bool ignored = false;
        if (skip_digits(text, n_bytes, &i, &ignored) == 0)
            return false;
    }
    return i == n_bytes;
}

/* glibc's "C" locale is a constant: making it takes no memory and cannot fail. */
static double convert(const char *text)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = c_locale == (locale_t)0 ? NAN : strtod_l(text, NULL, c_locale);
    if (c_locale != (locale_t)0)
        freelocale(c_locale);
    return value;
}

enum tap_config_number tap_config_read_real(const char *text, size_t n_bytes, double *out)
{
    bool has_nonzero = false;
    if (!is_real(text, n_bytes, &has_nonzero))
        return TAP_CONFIG_NUMBER_MALFORMED;
    double value = convert(text);
    if (!isfinite(value))
        return TAP_CONFIG_NUMBER_TOO_LARGE;
    if (value == 0.0 && has_nonzero)
        return TAP_CONFIG_NUMBER_TOO_SMALL;
    *out = value == 0.0 ? 0.0 : value;
    return TAP_CONFIG_NUMBER_OK;
}

enum { MOST_DIGITS = 17, NUMBER_BYTES = 64 }; /* 17 digits tell all doubles apart */

/* Lays out digits d1 d2 d3 ... with value d1.d2d3... * 10^exponent, in whichever form is shorter. */
static void lay_out(const char *digits, int n_digits, int exponent, char out[NUMBER_BYTES])
{
    char scientific[NUMBER_BYTES], fixed[NUMBER_BYTES];
    snprintf(scientific, sizeof scientific, "%c%s%se%d", digits[0], n_digits > 1 ? "." : "", digits + 1, exponent);
    if (exponent < -20 || exponent > MOST_DIGITS) {
        snprintf(out, NUMBER_BYTES, "%s", scientific);
        return;
    }
    if (exponent < 0)
        snprintf(fixed, sizeof fixed, "0.%.*s%s", -exponent - 1, "0000000000000000000", digits);
    else if (n_digits <= exponent + 1)
        snprintf(fixed, sizeof fixed, "%s%.*s", digits, exponent + 1 - n_digits, "0000000000000000000");
    else
        snprintf(fixed, sizeof fixed, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    bool is_scientific = exponent < 0 && strlen(scientific) < strlen(fixed);
    snprintf(out, NUMBER_BYTES, "%s", is_scientific ? scientific : fixed);
}

void tap_config_write_real(double value, struct tap_config_text *out)
{
    char text[NUMBER_BYTES] = "0";
    for (int n_digits = 1; value != 0.0 && n_digits <= MOST_DIGITS; n_digits++) {
        /* "-d.ddde-xx": the digits are picked out one by one, whatever the locale puts between them. */
        char printed[NUMBER_BYTES], digits[MOST_DIGITS + 1];
        int n_picked = 0;
        snprintf(printed, sizeof printed, "%.*e", n_digits - 1, fabs(value));
        const char *p = printed;
        for (; *p != 'e'; p++)
            if (is_digit(*p) && n_picked < n_digits)
                digits[n_picked++] = *p;
        digits[n_picked] = '\0';
        lay_out(digits, n_picked, (int)strtol(p + 1, NULL, 10), text);
        if (convert(text) == fabs(value))
            break;
    }
    tap_config_text_add(out, "%s%s", value < 0.0 ? "-" : "", text);
}
