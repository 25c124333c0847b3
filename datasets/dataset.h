/* dataset.h: one encoded part of the data (training, validation or test): every row's tokens in one flat list, and what
 * the reports say of it. */
#ifndef TAP_DATASET_H
#define TAP_DATASET_H

#include "error.h"
#include "formats.h"
#include "tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Row r holds the tokens offsets[r] .. offsets[r+1]-1, at least one. */
struct tap_dataset {
    uint32_t n_rows; /* 0: there is no such part, and all pointers are NULL */
    uint32_t n_labels;
    uint32_t *tokens;
    size_t *offsets;        /* n_rows + 1 */
    uint32_t *labels;       /* n_rows numbers below n_labels */
    uint64_t *lines;        /* n_rows: the line of the file, from 1 */
    uint64_t *label_counts; /* n_labels: rows of each label */
    size_t n_tokens;
    bool has_ngrams;
    struct tap_ngram_store ngrams; /* of the tokens, when has_ngrams */
    uint32_t longest;              /* tokens of the longest row */
    uint32_t n_truncated;
};

/* Frees what the part holds and empties it. */
void tap_dataset_clear(struct tap_dataset *dataset);

/* Encodes the chosen rows. A label that is not in `labels` (known labels in the order of their numbers) is refused with
 * its file and line; `source` stands for the file where the rows have none. On success the caller owns what `out_dataset` holds. */
enum tap_status tap_dataset_encode(struct tap_row_choice choice, const char *source,
                                   const struct tap_tokenizer *tokenizer, const char *const *labels, size_t n_labels,
                                   struct tap_dataset *out_dataset, struct tap_error *error);

/* Reads and encodes a whole file ("-": standard input), for evaluating a trained model on it. */
enum tap_status tap_dataset_read(const char *path, const struct tap_read_options *options,
                                 const struct tap_tokenizer *tokenizer, const char *const *labels, size_t n_labels,
                                 struct tap_dataset *out_dataset, struct tap_error *error);

#endif
