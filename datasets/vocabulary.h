/* vocabulary.h: learning a tokenizer's vocabulary from the training part. */
#ifndef TAP_VOCABULARY_H
#define TAP_VOCABULARY_H

#include "tokenizer.h"

/* Fills the empty vocabulary of a tokenizer whose rules are set. */
enum tap_status tap_vocabulary_learn(struct tap_tokenizer *tokenizer, const struct tap_tokenizer_options *options,
                                     struct tap_row_choice choice, struct tap_error *error);

#endif
