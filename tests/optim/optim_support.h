/* optim_support.h: small sets of parameters for the optimizers' tests. */
#ifndef TAP_OPTIM_SUPPORT_H
#define TAP_OPTIM_SUPPORT_H

#include "optimizer.h"

#define SUPPORT_MAX_SHAPES 8

struct support_shape {
    int n_dims;
    size_t shape[3];
};

/* Parameters p0, p1, ... of these shapes with their blocks, all zero. Fails the test when that fails. */
struct tap_parameters support_parameters(size_t n, const struct support_shape *shapes);

/* Seeded normal numbers into every parameter's data or gradient; the padding is left alone. The k-th number of the set
 * is the same however the set is cut into parameters. */
void support_fill_data(struct tap_parameters *parameters, uint32_t seed);
void support_fill_grad(struct tap_parameters *parameters, uint32_t seed);

/* A new optimizer; fails the test when there is none. */
struct tap_optimizer *support_optimizer(const char *name, const struct tap_optimizer_options *options,
                                        const struct tap_parameters *parameters);

/* Every optimizer with options that use all of its states, and every variant of it. */
struct support_variant {
    const char *name;
    struct tap_optimizer_options options;
};
extern const struct support_variant support_variants[];
extern const size_t support_n_variants;

#endif
