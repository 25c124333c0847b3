/* baselines.h: what a model has to beat: the most frequent class, and a model that knows nothing of order beyond
 * neighbours. Both learn from the model's own training part. */
#ifndef BASELINES_H
#define BASELINES_H

#include "scored_rows.h"
#include "scores.h"

struct baselines {
    uint32_t majority_label; /* most frequent in the training part; the first one among equals */
    struct scores majority;  /* its loss means nothing */
    struct scores ngram;
};

/* The config of the n-gram baseline to a trained model's config: the same data, tokenizer, seed and metric, and for all
 * else a fixed small model without layers and a fixed training. The caller clears `out`, also after an error. */
enum tap_status baselines_config(struct tap_config *out, const struct tap_config *of, int threads,
                                 struct tap_error *error);

/* Reads the training part again, trains on it in memory, and scores both baselines on the rows. The bits do not depend
 * on the threads.
 *
 * Errors  the training data are not there, have changed, or were standard input, which was already read to its end;
 *         those of a training. Messages begin with "--baselines: ". Clear the baselines also after an error */
enum tap_status baselines_score(struct baselines *baselines, const struct tap_checkpoint *checkpoint,
                                const struct scored_rows *rows, int threads, struct tap_error *error);
void baselines_clear(struct baselines *baselines);

#endif
