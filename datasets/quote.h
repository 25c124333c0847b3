/* quote.h: text from a file as it may stand in a message: on one line, of bounded length, whatever the file holds. */
#ifndef TAP_QUOTE_H
#define TAP_QUOTE_H

#include <stddef.h>

struct tap_quote {
    char text[80];
};

/* `bytes` between quotation marks, control characters and invalid UTF-8 as '?', shortened with "..." when long.
 * The result lives as long as the expression around the call: tap_quote(label, n).text. */
struct tap_quote tap_quote(const char *bytes, size_t n_bytes);

#define TAP_NAME_LIST_BYTES 400

/* The names quoted with ", " between them; past the room there is, "and N more". Returns `out`. */
const char *tap_name_list(const char *const *names, size_t n_names, char out[TAP_NAME_LIST_BYTES]);

#endif
