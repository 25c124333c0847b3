/* optimizer.h: updates parameters from their gradients. An optimizer keeps its moments in blocks laid out as the
 * parameters' own flat block; a step is one pass over them. The catalogue with the formulas is optimizers.def. */
#ifndef TAP_OPTIMIZER_H
#define TAP_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "parameters.h"

struct tap_optimizer;

/* What an optimizer does not know of is ignored: momentum by Adam, betas by SGD. */
struct tap_optimizer_options {
    double beta1, beta2; /* Adam, AdamW: in [0, 1) */
    double eps;          /* Adam, AdamW: added to the corrected root; at least 0 */
    double weight_decay; /* L2 in Adam and SGD, decoupled in AdamW; at least 0 */
    bool decay_all;      /* false: only tensors of 2 or more dimensions decay, embeddings too */
    bool amsgrad;        /* Adam, AdamW */
    double momentum;     /* SGD: in [0, 1) */
    bool nesterov;       /* SGD: needs a momentum above 0 */
};

/* The table of all optimizers. */
struct tap_optimizer_entry {
    const char *name; /* "adam" */
    const char *formula;
    const struct tap_optimizer_rule *rule;
};
extern const struct tap_optimizer_entry tap_optimizers[];
extern const size_t tap_n_optimizers;

/* The entry of that name, NULL when there is none. */
const struct tap_optimizer_entry *tap_optimizer_find(const char *name);

/* tap_optimizer_new: an optimizer with all states zero and no step done.
 *
 * Ownership  options are copied; parameters are borrowed until tap_optimizer_free
 * Errors     TAP_ERR_VALUE: an option outside its range, nesterov without momentum, parameters without their blocks;
 *            TAP_ERR_MEMORY. Returns NULL, marks error; does nothing when error is marked already */
struct tap_optimizer *tap_optimizer_new(const struct tap_optimizer_entry *kind,
                                        const struct tap_optimizer_options *options,
                                        const struct tap_parameters *parameters, struct tap_error *error);
void tap_optimizer_free(struct tap_optimizer *optimizer);

/* tap_optimizer_step: one update of every parameter whose tensor requires a gradient; the others and their states keep
 * their bits, and so do the gradients.
 *
 * Formula    optimizers.def, with g = gradient_factor * gradient; the factor is tap_clip_factor's (1: no clipping)
 * Source     torch.optim.Adam, AdamW, SGD (PyTorch 1.13), one difference: where eps is 0 and a second moment is 0, the
 *            parameter keeps its value (there: 0/0)
 * Errors     TAP_ERR_NONFINITE when the rate or the factor is not finite: nothing changes, no step is counted
 * Threads    parallel over fixed pieces; elementwise, so the same bits for any thread count
 * Cost       Adam: 4 reads, 3 writes of the block; allocates nothing */
enum tap_status tap_optimizer_step(struct tap_optimizer *optimizer, double learning_rate, double gradient_factor);

/* For checkpoints: the states, each parameters->block_size numbers in the parameters' layout, padding zero, by name:
 * exp_avg, exp_avg_sq, max_exp_avg_sq (with amsgrad) of Adam and AdamW; momentum of SGD with momentum above 0. */
size_t tap_optimizer_n_states(const struct tap_optimizer *optimizer);
const char *tap_optimizer_state_name(const struct tap_optimizer *optimizer, size_t i);
tap_real *tap_optimizer_state_block(const struct tap_optimizer *optimizer, size_t i);

/* Steps done, which the bias corrections count from. */
long tap_optimizer_steps(const struct tap_optimizer *optimizer);
void tap_optimizer_set_steps(struct tap_optimizer *optimizer, long steps);

#endif
