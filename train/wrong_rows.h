/* wrong_rows.h: the rows that a model gets wrong, those first of which it is most certain. */
#ifndef WRONG_ROWS_H
#define WRONG_ROWS_H

#include "evaluation.h"
#include "scored_rows.h"

struct wrong_row {
    double probability; /* of the wrong answer */
    uint32_t row;       /* of the dataset */
    uint32_t text;      /* the same row's number among the texts */
    uint32_t label, predicted;
};

struct wrong_rows {
    struct wrong_row *items; /* by falling probability; equal ones in the order of the rows */
    size_t n;
    size_t n_all; /* with those that were left out */
};

/* The first `n_most` of them. */
enum tap_status wrong_rows_find(struct wrong_rows *wrong, const struct scored_rows *rows, const struct answer *answers,
                                size_t n_most, struct tap_error *error);
void wrong_rows_clear(struct wrong_rows *wrong);

#endif
