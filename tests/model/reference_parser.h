/* reference_parser.h: between encoder_reference.c, which owns the memory, and reference_parser.c, which fills it. */
#ifndef TAP_REFERENCE_PARSER_H
#define TAP_REFERENCE_PARSER_H

#include "encoder_reference.h"

#include <locale.h>

struct reference_reader {
    const char *path;               /* for messages */
    char *rest;                     /* the text after the line at hand */
    char *line;                     /* what is left of the line at hand; NULL: nothing */
    size_t line_number;             /* counted from 1 */
    locale_t c_locale;              /* a decimal comma elsewhere must not matter */
    struct reference_array *arrays; /* these three: the first place still free */
    double *doubles;
    uint32_t *integers;
    struct tap_error *error;
};

/* The line `encoders N`, then N cases and the text's end. False, with the error marked, for any other text. */
bool reference_parse_n_cases(struct reference_reader *reader, size_t *out_n);
bool reference_parse_cases(struct reference_reader *reader, size_t n, struct encoder_reference *out_cases);

#endif
