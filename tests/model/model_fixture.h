/* model_fixture.h: a small model, random batches and a training step, for the tests of the whole model. */
#ifndef TAP_MODEL_FIXTURE_H
#define TAP_MODEL_FIXTURE_H

#include "model.h"
#include "optimizer.h"

enum { VOCABULARY = 11, CLASSES = 3, MOST_TOKENS = 4000, MOST_SEQUENCES = 300 };

/* A batch of random texts and labels. */
struct batch {
    struct tap_segments segments;
    uint32_t offsets[MOST_SEQUENCES + 1], tokens[MOST_TOKENS], labels[MOST_SEQUENCES];
};

/* Two layers of width 8, GELU; the dropouts are off until set_dropout. */
struct tap_model_options small_options(void);
void set_dropout(struct tap_model_options *options, double probability);

/* An initialised model; fails the test when there is none. */
struct tap_model *new_model(const struct tap_model_options *options);

/* Random tokens and labels of texts of these lengths; and of n texts of 1 to `longest` tokens. */
void fill_batch(struct batch *batch, uint32_t n, const uint32_t *lengths);
void fill_random_batch(struct batch *batch, uint32_t n, uint32_t longest);
uint32_t longest_of(const struct batch *batch);

struct tap_context context_of(struct tap_tape *tape, const struct batch *batch, bool training);
struct tap_tensor *loss_of(struct tap_model *model, struct tap_tape *tape, const struct batch *batch, bool training);

/* AdamW with everything on; NULL with error marked. */
struct tap_optimizer *new_optimizer(const struct tap_model *model, struct tap_error *error);

/* One whole step; the loss, or NAN with the tape marked. */
double train_step(struct tap_model *model, struct tap_tape *tape, struct tap_optimizer *optimizer, const struct batch *batch,
                  double rate);

#endif
