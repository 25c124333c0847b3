/* sgd.c: stochastic gradient descent with momentum (Polyak 1964) and Nesterov's variant of it, as PyTorch computes them
 * with dampening 0. PyTorch starts the momentum at the first gradient; that is what a momentum of zeros gives too. */
#include "optimizer_rule.h"

static size_t states(const struct tap_optimizer_options *options, const char *out_names[TAP_MAX_STATES])
{
    out_names[0] = "momentum";
    return options->momentum > 0 ? 1 : 0;
}

/* A step's constants: made in double, rounded once. */
struct constants {
    tap_real factor; /* of the gradient */
    tap_real l2;     /* weight decay added to the gradient */
    tap_real momentum;
    tap_real rate;
};

static void update_plain(struct constants c, size_t n, tap_real *restrict data, const tap_real *restrict grad)
{
    for (size_t i = 0; i < n; i++) {
        tap_real g = c.factor * grad[i] + c.l2 * data[i];
        data[i] -= c.rate * g;
    }
}

static void update_momentum(struct constants c, size_t n, tap_real *restrict data, const tap_real *restrict grad,
                            tap_real *restrict momentum)
{
    for (size_t i = 0; i < n; i++) {
        tap_real g = c.factor * grad[i] + c.l2 * data[i];
        momentum[i] = c.momentum * momentum[i] + g;
        data[i] -= c.rate * momentum[i];
    }
}

static void update_nesterov(struct constants c, size_t n, tap_real *restrict data, const tap_real *restrict grad,
                            tap_real *restrict momentum)
{
    for (size_t i = 0; i < n; i++) {
        tap_real g = c.factor * grad[i] + c.l2 * data[i];
        momentum[i] = c.momentum * momentum[i] + g;
        data[i] -= c.rate * (g + c.momentum * momentum[i]);
    }
}

static void update_sgd(const struct tap_update *update, const struct tap_piece *piece)
{
    const struct constants c = {
        .factor = (tap_real)update->gradient_factor,
        .l2 = (tap_real)piece->weight_decay,
        .momentum = (tap_real)update->options->momentum,
        .rate = (tap_real)update->learning_rate,
    };
    if (update->options->momentum == 0)
        update_plain(c, piece->n, piece->data, piece->grad);
    else if (update->options->nesterov)
        update_nesterov(c, piece->n, piece->data, piece->grad, piece->states[0]);
    else
        update_momentum(c, piece->n, piece->data, piece->grad, piece->states[0]);
}

const struct tap_optimizer_rule tap_sgd_rule = {states, update_sgd};
