/* split.h: which rows go to training, validation and test when one list of rows must serve for several. */
#ifndef TAP_SPLIT_H
#define TAP_SPLIT_H

#include "error.h"
#include "rows.h"

enum tap_part {
    TAP_PART_TRAIN,
    TAP_PART_VALID,
    TAP_PART_TEST,
    TAP_N_PARTS,
};

struct tap_split_options {
    double valid_fraction, test_fraction; /* of all rows; at least 0, their sum below 1; 0: no such part */
    uint64_t seed;
    uint32_t group_size; /* so many rows in a row stay together; 1: none do. Divides the number of rows */
};

/* Writes each row's part, stratified: every label gets its share of a fraction as nearly as whole groups allow (largest
 * remainders; a group counts for the label of its first row), and at least one group of every label stays in training.
 * A fraction above 0 gives at least one group where any label has one to spare. Depends on seed, labels and order of
 * rows alone. `out_parts` has room for rows->n.
 *
 * Errors  TAP_ERR_VALUE for bad fractions (keys data.*), TAP_ERR_MEMORY */
enum tap_status tap_split_rows(const struct tap_rows *rows, const struct tap_split_options *options, uint8_t *out_parts,
                               struct tap_error *error);

#endif
