/* ops.h: the operations. The catalogue, one line each with its formula, is ops.def; the full docstring of each stands
 * at its definition in op_<name>.c. All of them return NULL, with the tape marked, when they fail. */
#ifndef TAP_OPS_H
#define TAP_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "bags.h"
#include "op.h"
#include "rng.h"
#include "segments.h"
#include "tape.h"

#define TAP_ALL_AXES (-1)
/* The largest axis number counted from the end would be ambiguous with TAP_ALL_AXES, so axes count from 0. */

struct tap_attention_options {
    size_t heads;
    bool causal;       /* a token sees itself and those before it */
    bool scale_scores; /* scores divided by sqrt of a head's width */
    double dropout;    /* probability, on the weights; 0: off */
    struct tap_rng_key dropout_key;
    /* Where to keep the weights after softmax and dropout, NULL: nowhere. For sequence s of length T they are (H, T, T)
     * and begin at sum over earlier sequences of H*T*T. The caller's memory, until the tape is reset. */
    tap_real *out_weights;
    /* Added to the scores before the softmax, NULL: nothing. (H or 1, T, T) with T the longest sequence's length or more;
     * a shorter sequence takes the top-left part. -infinity hides a key; a token that sees none gets zeros. */
    struct tap_tensor *bias;
};

enum tap_pooling { TAP_POOLING_MEAN, TAP_POOLING_MAX, TAP_POOLING_CLS, TAP_POOLING_MEAN_MAX };

/* The label of a row that tap_cross_entropy leaves out: it counts nowhere and its gradient is 0. */
#define TAP_IGNORE_LABEL UINT32_MAX

struct tap_cross_entropy_options {
    double label_smoothing;        /* e: target (1-e) on the label plus e/C on every class */
    const tap_real *class_weights; /* C numbers, NULL: all 1; borrowed until the tape is reset */
    /* What the sum over rows is divided by; 0: the sum of the rows' weights (their number without class_weights). A
     * micro-batch of an accumulated step gives the whole step's here, so that gradients add up to the whole's mean. */
    double divisor;
    tap_real *out_row_losses; /* N numbers: each row's loss before weights' division; NULL: not wanted */
};

#define TAP_OP(function, parameters, formula)                                                                          \
    struct tap_tensor *function parameters;                                                                            \
    extern const struct tap_op function##_op;
#include "ops.def"
#undef TAP_OP

/* The table of all operations. */
struct tap_op_entry {
    const char *name; /* "tap_add" */
    const char *formula;
    const struct tap_op *op;
};
extern const struct tap_op_entry tap_ops[];
extern const size_t tap_n_ops;

#endif
