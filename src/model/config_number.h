/* config_number.h: numbers as a config spells them, the same under every locale. */
#ifndef TAP_CONFIG_NUMBER_H
#define TAP_CONFIG_NUMBER_H

#include "config_errors.h"

enum tap_config_number {
    TAP_CONFIG_NUMBER_OK,
    TAP_CONFIG_NUMBER_MALFORMED,
    TAP_CONFIG_NUMBER_TOO_LARGE, /* for the type, of either sign */
    TAP_CONFIG_NUMBER_TOO_SMALL, /* not 0, yet nearer to 0 than any double */
};

/* Decimal digits without a leading zero, after an optional sign; 0 has none. No 8.0, 1e2, 0x8, 08, -0. The n_bytes of
 * text are followed by a zero. */
enum tap_config_number tap_config_read_integer(const char *text, size_t n_bytes, int *out);

/* Decimal digits with at most one point, an optional sign before, an optional exponent after: 1e-3, .5, +2., 10. No
 * nan, inf, hexadecimal, blanks. Rounded to nearest; -0 is read as 0. */
enum tap_config_number tap_config_read_real(const char *text, size_t n_bytes, double *out);

/* Appends the shortest text that reads back to the very same finite number: 64, 0.1, 1e-5. */
void tap_config_write_real(double value, struct tap_config_text *out);

#endif
