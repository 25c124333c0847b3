/* wordpiece_fixture.h: wordpiece tokenizers for the tests, and their tokens as text. */
#ifndef WORDPIECE_FIXTURE_H
#define WORDPIECE_FIXTURE_H

#include "tokenizer.h"

/* A text with its length: some hold zero bytes. */
struct text {
    char *bytes;
    size_t n_bytes;
};

/* No limit that a small test could reach, lower-casing. */
struct tap_tokenizer_options wordpiece_options(void);

/* A tokenizer that has learned from these texts. */
struct tap_tokenizer *wordpiece_learn_texts(struct tap_tokenizer_options options, const struct text *texts,
                                            size_t n_texts);
struct tap_tokenizer *wordpiece_learn(struct tap_tokenizer_options options, const char *text);

/* One with these tokens; NULL, with the error set, when they cannot be its own. */
struct tap_tokenizer *wordpiece_from_parts(bool lowercase, int max_length, const char *const *tokens, size_t n_tokens,
                                           struct tap_error *error);

/* The whole vocabulary with a blank between two tokens; good until the next call. */
const char *wordpiece_vocabulary(const struct tap_tokenizer *tokenizer);

/* The tokens of a text with a blank between two; good until the next call. */
const char *wordpiece_cut(const struct tap_tokenizer *tokenizer, const char *text, size_t n_bytes);

#endif
