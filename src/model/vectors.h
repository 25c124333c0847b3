/* vectors.h: a text's vectors, for search, clustering or another program's classifier: one call from bytes to numbers.
 */
#ifndef TAP_VECTORS_H
#define TAP_VECTORS_H

#include "model.h"
#include "tokenizer.h"

enum tap_vectors {
    TAP_VECTORS_SEQUENCE, /* one for the whole text: what the classifier sees */
    TAP_VECTORS_TOKEN,    /* one for each token: the encoder's output */
};

/* tap_model_vectors: the vectors of one text, in evaluation (no dropout).
 *
 * Formula    TOKEN: X = tap_model_encode of the text's T tokens; SEQUENCE: tap_model_pool of X
 * Shapes     SEQUENCE: (1,D); TOKEN: (T,D), T from 1 to the tokenizer's max_length, [CLS] included
 * Ownership  all is borrowed for the call. The tape is reset first; the result belongs to it until its next reset, so
 *            each call with one tape ends the life of the result before
 * Errors     what tap_tokenizer_encode refuses; TAP_ERR_VALUE when the tokenizer is another model's and has tokens that
 *            this one lacks; TAP_ERR_SHAPE when its texts are longer than the model's positions; TAP_ERR_MEMORY.
 *            Returns NULL with error marked; does nothing when error is marked already
 * Threads    the same bits for any thread
 * count, and as `predict --vectors` prints whatever other lines it is given */
struct tap_tensor *tap_model_vectors(struct tap_model *model, const struct tap_tokenizer *tokenizer,
                                     struct tap_tape *tape, const char *text, size_t n_bytes, enum tap_vectors which,
                                     struct tap_error *error);

#endif
