/* evaluation.h: a model's scores on one part of the data. */
#ifndef EVALUATION_H
#define EVALUATION_H

#include "batches.h"
#include "model.h"
#include "scores.h"

/* What a model says of one row. */
struct answer {
    uint32_t predicted;
    double probability; /* of that class */
};

/* What evaluating needs besides the model, made once and used again. */
struct evaluator {
    struct tap_model *model;
    struct tap_tape *tape; /* borrowed; reset for every batch */
    struct tap_batches *batches;
    tap_real *row_losses;
    struct scores scores;
    struct answer *answers; /* one for each row; NULL: not wanted */
};

/* For one dataset, which must outlive the evaluator; batches of `batch_size` sequences in the order of the rows. */
enum tap_status evaluator_init(struct evaluator *evaluator, struct tap_model *model, struct tap_tape *tape,
                               const struct tap_dataset *dataset, uint32_t batch_size, struct tap_error *error);
void evaluator_clear(struct evaluator *evaluator);

/* Makes room for the answers to all rows of the dataset. */
enum tap_status evaluator_want_answers(struct evaluator *evaluator, const struct tap_dataset *dataset,
                                       struct tap_error *error);

/* Fills evaluator->scores, and the answers if wanted. Errors: the tape's; TAP_ERR_NONFINITE when a loss is not finite. */
enum tap_status evaluator_run(struct evaluator *evaluator, struct tap_error *error);

/* The class with the largest logit; the first one among equals. */
uint32_t largest_class(const tap_real *logits, size_t n_classes);

#endif
