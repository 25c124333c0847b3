/* prediction_output.h: how results are written: as labels, as a table or JSON lines of their own, or as the input's own
 * records with columns added behind theirs. */
#ifndef PREDICTION_OUTPUT_H
#define PREDICTION_OUTPUT_H

#include <stdio.h>

#include "real.h"
#include "records.h"

enum prediction_format {
    FORMAT_LABEL,
    FORMAT_TSV,
    FORMAT_JSONL,
    FORMAT_TABLE, /* the input's, with all its columns */
};
enum prediction_vectors { VECTORS_NONE, VECTORS_SEQUENCE, VECTORS_TOKEN };

struct prediction_options {
    enum prediction_format format;
    enum prediction_vectors vectors; /* but NONE with FORMAT_JSONL alone */
    size_t top;                      /* labels of a result; 0: one, and no list of them */
    double threshold;                /* a best probability below it gives `abstain`; 0: none does */
    const char *abstain;             /* NULL: there is no threshold */
};

/* One result. */
struct prediction {
    const char *bytes; /* the text; FORMAT_TABLE: the record as it came */
    size_t n_bytes;
    const uint32_t *tokens;
    size_t n_tokens;
    const tap_real *logits; /* C */
    const tap_real *vector; /* of the sequence */
    size_t vector_width;
    const tap_real *token_vectors; /* n_tokens x token_width */
    size_t token_width;
};

struct prediction_output;

/* An output for a model of these labels, in the order of its logits; all but `options` is borrowed.
 * Errors  TAP_ERR_VALUE: an abstain label that is a label of the model, or none at all; TAP_ERR_MEMORY. Returns NULL */
struct prediction_output *prediction_output_new(const struct prediction_options *options, const char *const *labels,
                                                size_t n_labels, FILE *out, struct tap_error *error);
void prediction_output_free(struct prediction_output *output);

/* Tells what is written, before the first result: of FORMAT_TABLE, records of this kind, with this separator between
 * fields, and \r\n at line ends where the input has it. The other formats take none of it: TAP_RECORD_TSV will do.
 * Errors  TAP_ERR_VALUE: a label that the format cannot hold; TAP_ERR_MEMORY */
enum tap_status prediction_output_start(struct prediction_output *output, enum tap_record_kind kind, char separator,
                                        bool ends_with_cr, struct tap_error *error);

/* The names of the columns that FORMAT_TABLE adds. */
const char *prediction_output_column(const struct prediction_output *output, size_t i);
size_t prediction_output_n_columns(const struct prediction_output *output);

/* Writes the header of a table, and the names of the added columns. Errors of these: TAP_ERR_IO when no more is taken;
 * TAP_ERR_MEMORY, TAP_ERR_NONFINITE (JSON). */
enum tap_status prediction_output_header(struct prediction_output *output, const char *bytes, size_t n_bytes,
                                         struct tap_error *error);
enum tap_status prediction_output_write(struct prediction_output *output, const struct prediction *prediction,
                                        struct tap_error *error);
enum tap_status prediction_output_flush(struct prediction_output *output, struct tap_error *error);

#endif
