/* predictor.h: predictions for a stream of texts, in batches, in constant memory. */
#ifndef PREDICTOR_H
#define PREDICTOR_H

#include "prediction_output.h"
#include "program.h"

struct predictor;

/* A predictor that gives its results to `output`. Model and output must outlive it. */
struct predictor *predictor_new(const struct trained *trained, struct prediction_output *output,
                                struct tap_error *error);
void predictor_free(struct predictor *predictor);

/* Takes one text, and the bytes that the output gets to see of it: the text itself, or the record it stands in. Both are
 * copied. The result appears at the latest with predictor_flush, in the order of the texts. Errors: those of the
 * output; TAP_ERR_MEMORY; what the model gives. */
enum tap_status predictor_add(struct predictor *predictor, const char *text, size_t n_bytes, const char *shown,
                              size_t n_shown_bytes, struct tap_error *error);

/* Writes all results that are still owed. */
enum tap_status predictor_flush(struct predictor *predictor, struct tap_error *error);

#endif
