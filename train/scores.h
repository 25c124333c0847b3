/* scores.h: how good predictions are: from the table of true against predicted classes to the usual figures. */
#ifndef SCORES_H
#define SCORES_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* True class by row, predicted class by column, and the loss. */
struct scores {
    size_t n_classes;
    uint64_t *confusion; /* (C,C) */
    uint64_t n_rows;
    double loss_sum; /* unweighted, without label smoothing */
};

enum tap_status scores_init(struct scores *scores, size_t n_classes, struct tap_error *error);
void scores_clear(struct scores *scores);
void scores_reset(struct scores *scores);
void scores_add(struct scores *scores, uint32_t label, uint32_t predicted, double loss);

double scores_loss(const struct scores *scores);     /* mean over rows; 0 without rows */
double scores_accuracy(const struct scores *scores); /* 0 to 1; 0 without rows */

/* Of one class; 0 where a denominator is 0, as scikit-learn has it. */
struct class_scores {
    double precision, recall, f1;
    uint64_t support; /* rows whose true class it is */
};
struct class_scores scores_of_class(const struct scores *scores, size_t c);

/* Mean F1 of the classes that are there (true or predicted), each alike / by support. */
double scores_macro_f1(const struct scores *scores);
double scores_weighted_f1(const struct scores *scores);

/* Matthews' correlation for any number of classes, -1 to 1; 0 where a margin is constant.
 * Source  Gorodkin 2004, doi 10.1016/j.compbiolchem.2004.09.006, R_K */
double scores_mcc(const struct scores *scores);

#endif
