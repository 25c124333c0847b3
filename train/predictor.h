/* predictor.h: predictions for a stream of text lines, in batches, in constant memory. */
#ifndef PREDICTOR_H
#define PREDICTOR_H

#include <stdio.h>

#include "program.h"

enum prediction_format { FORMAT_LABEL, FORMAT_TSV, FORMAT_JSONL };
enum prediction_vectors { VECTORS_NONE, VECTORS_SEQUENCE, VECTORS_TOKEN };

struct predictor;

/* A predictor that writes to `out`. The model must outlive it. */
struct predictor *predictor_new(const struct trained *trained, enum prediction_format format,
                                enum prediction_vectors vectors, FILE *out, struct tap_error *error);
void predictor_free(struct predictor *predictor);

/* Takes one line, without its end; `text` is copied. The line's result appears at the latest with predictor_flush, in
 * the order of the lines. Errors: TAP_ERR_IO when `out` takes no more; TAP_ERR_MEMORY; what the model gives. */
enum tap_status predictor_add(struct predictor *predictor, const char *text, size_t n_bytes, struct tap_error *error);

/* Writes all results that are still owed. */
enum tap_status predictor_flush(struct predictor *predictor, struct tap_error *error);

#endif
