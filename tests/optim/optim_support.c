/* optim_support.c: see optim_support.h. */
#include "optim_support.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "rng.h"

struct tap_parameters support_parameters(size_t n, const struct support_shape *shapes)
{
    struct tap_parameters parameters = {0};
    struct tap_error error = {0};
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%zu", i);
        tap_parameters_add(&parameters, "", name, shapes[i].n_dims, shapes[i].shape,
                           (struct tap_init){TAP_INIT_ZEROS, 0}, &error);
    }
    cr_assert_eq(tap_parameters_allocate(&parameters, &error), TAP_OK, "%s", error.message);
    return parameters;
}

static void fill(struct tap_parameters *parameters, uint32_t seed, bool is_grad)
{
    struct tap_rng rng = {.key = tap_rng_key(seed, TAP_RNG_INIT, 0, 0)};
    for (size_t p = 0; p < parameters->n; p++) {
        struct tap_tensor *tensor = &parameters->items[p]->tensor;
        for (size_t i = 0; i < tensor->size; i++)
            (is_grad ? tensor->grad : tensor->data)[i] = (tap_real)tap_rng_normal(&rng);
    }
}

void support_fill_data(struct tap_parameters *parameters, uint32_t seed)
{
    fill(parameters, seed, false);
}

void support_fill_grad(struct tap_parameters *parameters, uint32_t seed)
{
    fill(parameters, seed, true);
}

struct tap_optimizer *support_optimizer(const char *name, const struct tap_optimizer_options *options,
                                        const struct tap_parameters *parameters)
{
    struct tap_error error = {0};
    const struct tap_optimizer_entry *kind = tap_optimizer_find(name);
    cr_assert_not_null(kind, "no optimizer %s", name);
    struct tap_optimizer *optimizer = tap_optimizer_new(kind, options, parameters, &error);
    cr_assert_not_null(optimizer, "%s", error.message);
    return optimizer;
}

#define BETAS .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8
const struct support_variant support_variants[] = {
    {"sgd", {.weight_decay = 0.1}},
    {"sgd", {.momentum = 0.9, .weight_decay = 0.1}},
    {"sgd", {.momentum = 0.9, .nesterov = true}},
    {"adam", {BETAS, .weight_decay = 0.1}},
    {"adam", {BETAS, .amsgrad = true}},
    {"adamw", {BETAS, .weight_decay = 0.1, .decay_all = true}},
    {"adamw", {BETAS, .weight_decay = 0.1, .amsgrad = true}},
};
const size_t support_n_variants = sizeof support_variants / sizeof support_variants[0];
