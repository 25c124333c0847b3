/* optimizer_rule.h: what an optimizer is made of; for optimizer.c and the optimizers' own files alone. */
#ifndef TAP_OPTIMIZER_RULE_H
#define TAP_OPTIMIZER_RULE_H

#include "optimizer.h"

#define TAP_MAX_STATES 3

/* What is the same for all numbers in one step. */
struct tap_update {
    const struct tap_optimizer_options *options;
    double learning_rate;
    double gradient_factor;
    double bias_correction1; /* 1 - beta1^t */
    double bias_correction2; /* 1 - beta2^t */
};

/* A run of numbers of one parameter. */
struct tap_piece {
    size_t n;
    tap_real *data;
    const tap_real *grad;
    tap_real *states[TAP_MAX_STATES]; /* in the order of the names that the rule gave */
    double weight_decay;              /* 0 when the parameter does not decay */
};

struct tap_optimizer_rule {
    /* Writes the names of the states that these options ask for; returns how many. */
    size_t (*states)(const struct tap_optimizer_options *options, const char *out_names[TAP_MAX_STATES]);
    /* Updates one piece. Called from several threads at once; must treat every number alike and alone. */
    void (*update)(const struct tap_update *update, const struct tap_piece *piece);
};

#define TAP_OPTIMIZER(rule, name, formula) extern const struct tap_optimizer_rule rule;
#include "optimizers.def"
#undef TAP_OPTIMIZER

#endif
