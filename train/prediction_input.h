/* prediction_input.h: the texts to predict, out of lines or out of a table's records. They reach the tokenizer as they
 * do in training, whatever they stand in. */
#ifndef PREDICTION_INPUT_H
#define PREDICTION_INPUT_H

#include "config.h"
#include "predictor.h"

enum prediction_source { SOURCE_TEXT, SOURCE_CSV, SOURCE_TSV, SOURCE_JSONL };

struct prediction_input_options {
    enum prediction_source source;
    const char *text_column; /* a number from 1 or a name, of JSON lines the key; NULL: see prediction_input_columns */
    const char *header;      /* "auto", "yes", "no"; NULL: see prediction_input_columns */
    const char *column_key;  /* what messages call the column */
};

/* Says where the text stands when that was not told: where it stood in the training files when they were of this format
 * (then also whether there is a header, unless that was told), else in the first column, of JSON lines under "text".
 * Texts in the result belong to the config. Errors: TAP_ERR_VALUE for options that do not fit one another. */
enum tap_status prediction_input_columns(struct prediction_input_options *options, const struct tap_config *config,
                                         struct tap_error *error);

/* Reads an opened input to its end and gives each text to the predictor. What has come is answered before more is waited
 * for, and what came before an error is answered, too. `format` is that of the output. Errors: TAP_ERR_FORMAT and
 * TAP_ERR_VALUE name file and line; those of the predictor. */
enum tap_status prediction_input_run(struct tap_input *input, const struct prediction_input_options *options,
                                     enum prediction_format format, struct predictor *predictor,
                                     struct prediction_output *output, struct tap_error *error);

#endif
