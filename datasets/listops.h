/* listops.h: the value of a nested list of operations on the digits 0 to 9: `[MAX 2 [MIN 8 3 ] 0 ]` is 3.
 *
 * Source  Nangia, Bowman 2018, "ListOps: a diagnostic dataset for latent tree learning", NAACL student workshop */
#ifndef TAP_LISTOPS_H
#define TAP_LISTOPS_H

#include "error.h"

#include <stddef.h>

#define TAP_LISTOPS_MOST_DEPTH 128 /* lists within lists */

/* The value of a text of tokens with blanks between them: `[MIN`, `[MAX`, `[MED`, `[SM`, `]` and digits; parentheses,
 * which the published files have too, are passed over.
 *
 * Formula  MIN, MAX: smallest, largest member; SM: their sum modulo 10; MED: the median, of an even number of members
 *          the mean of the two in the middle, rounded down
 * Errors   TAP_ERR_FORMAT, with the byte where the text is not one value of at most that depth */
enum tap_status tap_listops_value(const char *text, size_t n_bytes, int *out_value, struct tap_error *error);

#endif
