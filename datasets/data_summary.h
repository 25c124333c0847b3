/* data_summary.h: what a report tells of each part of the data besides its rows and labels: how long the rows are, which
 * texts are there more than once or in training as well, how much of the text the vocabulary does not know. */
#ifndef TAP_DATA_SUMMARY_H
#define TAP_DATA_SUMMARY_H

#include "dataset.h"
#include "split.h"

#include <stddef.h>
#include <stdint.h>

#define TAP_LENGTH_BINS 32 /* no text has more than 2^31 tokens */

/* All zero for a part that is not there. Texts are the same when all of their bytes are, as they were read. */
struct tap_data_summary {
    uint32_t lengths[TAP_LENGTH_BINS]; /* [k]: rows of at most 2^k tokens that are in no bin before */
    uint32_t n_lengths;                /* bins, up to that of the longest row */
    uint32_t shortest;                 /* tokens of the shortest row */
    uint32_t median;                   /* the least length that at least half of the rows do not exceed */
    uint32_t n_duplicates;             /* rows whose text an earlier row of the part has */
    uint32_t n_conflicts;              /* of these, rows whose label is not that of the first row with the text */
    uint32_t n_in_train;               /* rows whose text the training part has, too; 0 for the training part itself */
    uint32_t n_in_valid;               /* the same of the validation part; for the test part alone */
    uint64_t n_unknown_tokens;         /* unknown ones among the tokens of the rows */
    uint64_t n_replaced_bytes;         /* bad bytes that became U+FFFD as the rows were read */
};

/* Fills in the summaries of all parts, by enum tap_part: `choices` says which rows they have, `datasets` how these were
 * encoded.
 *
 * Cost    one pass over all texts; memory for a hash of every row of each file
 * Errors  TAP_ERR_MEMORY */
enum tap_status tap_data_summarize(const struct tap_row_choice choices[TAP_N_PARTS],
                                   const struct tap_dataset datasets[TAP_N_PARTS],
                                   struct tap_data_summary out_summaries[TAP_N_PARTS], struct tap_error *error);

#endif
