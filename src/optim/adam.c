/* adam.c: Adam (Kingma and Ba 2015, arXiv:1412.6980), AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101) and AMSGrad
 * (Reddi, Kale, Kumar 2018) in both, as PyTorch computes them.
 *
 * eps is added after the bias correction of the root: before it, early steps come out far too small. AMSGrad keeps the
 * largest raw second moment and corrects that, as PyTorch's code (not its older text) does.
 * Left out: in float a gradient beyond about 5e20 makes its second moment infinite, and the parameter then stays where
 * it is; PyTorch's does the same. Clipping is folded in before the square, so a clipped run is not concerned. */
#include <math.h>

#include "optimizer_rule.h"

#ifdef TAP_REAL_IS_DOUBLE
#define REAL_SQRT sqrt
#else
#define REAL_SQRT sqrtf
#endif

static size_t states(const struct tap_optimizer_options *options, const char *out_names[TAP_MAX_STATES])
{
    out_names[0] = "exp_avg";
    out_names[1] = "exp_avg_sq";
    out_names[2] = "max_exp_avg_sq";
    return options->amsgrad ? 3 : 2;
}

/* A step's constants: made in double, rounded once. */
struct constants {
    tap_real factor; /* of the gradient */
    tap_real l2;     /* weight decay added to the gradient: Adam's */
    tap_real shrink; /* part of the parameter taken away: AdamW's */
    tap_real beta1, rest1;
    tap_real beta2, rest2;
    tap_real correction; /* 1 / sqrt(1 - beta2^t) */
    tap_real eps;
    tap_real step; /* rate / (1 - beta1^t) */
};

static struct constants constants_of(const struct tap_update *update, double l2, double shrink)
{
    const struct tap_optimizer_options *options = update->options;
    return (struct constants){
        .factor = (tap_real)update->gradient_factor,
        .l2 = (tap_real)l2,
        .shrink = (tap_real)shrink,
        .beta1 = (tap_real)options->beta1,
        .rest1 = (tap_real)(1 - options->beta1),
        .beta2 = (tap_real)options->beta2,
        .rest2 = (tap_real)(1 - options->beta2),
        .correction = (tap_real)(1 / sqrt(update->bias_correction2)),
        .eps = (tap_real)options->eps,
        .step = (tap_real)(update->learning_rate / update->bias_correction1),
    };
}

/* The parameter's new value. With eps 0 the divisor may be 0: then nothing is known of the scale, and it stays. */
static inline tap_real moved(struct constants c, tap_real p, tap_real exp_avg, tap_real second)
{
    tap_real divisor = REAL_SQRT(second) * c.correction + c.eps;
    tap_real change = c.step * exp_avg / divisor;
    return p - c.shrink * p - (divisor == 0 ? 0 : change);
}

static void update_plain(struct constants c, size_t n, tap_real *restrict data, const tap_real *restrict grad,
                         tap_real *restrict exp_avg, tap_real *restrict exp_avg_sq)
{
    for (size_t i = 0; i < n; i++) {
        tap_real g = c.factor * grad[i] + c.l2 * data[i];
        exp_avg[i] = c.beta1 * exp_avg[i] + c.rest1 * g;
        exp_avg_sq[i] = c.beta2 * exp_avg_sq[i] + c.rest2 * g * g;
        data[i] = moved(c, data[i], exp_avg[i], exp_avg_sq[i]);
    }
}

static void update_amsgrad(struct constants c, size_t n, tap_real *restrict data, const tap_real *restrict grad,
                           tap_real *restrict exp_avg, tap_real *restrict exp_avg_sq, tap_real *restrict largest)
{
    for (size_t i = 0; i < n; i++) {
        tap_real g = c.factor * grad[i] + c.l2 * data[i];
        exp_avg[i] = c.beta1 * exp_avg[i] + c.rest1 * g;
        tap_real second = c.beta2 * exp_avg_sq[i] + c.rest2 * g * g;
        exp_avg_sq[i] = second;
        tap_real before = largest[i];
        largest[i] = before >= second ? before : second; /* a NaN goes on */
        data[i] = moved(c, data[i], exp_avg[i], largest[i]);
    }
}

static void update_moments(struct constants c, bool amsgrad, const struct tap_piece *piece)
{
    if (amsgrad)
        update_amsgrad(c, piece->n, piece->data, piece->grad, piece->states[0], piece->states[1], piece->states[2]);
    else
        update_plain(c, piece->n, piece->data, piece->grad, piece->states[0], piece->states[1]);
}

static void update_adam(const struct tap_update *update, const struct tap_piece *piece)
{
    update_moments(constants_of(update, piece->weight_decay, 0), update->options->amsgrad, piece);
}

static void update_adamw(const struct tap_update *update, const struct tap_piece *piece)
{
    double shrink = update->learning_rate * piece->weight_decay;
    update_moments(constants_of(update, 0, shrink), update->options->amsgrad, piece);
}

const struct tap_optimizer_rule tap_adam_rule = {states, update_adam};
const struct tap_optimizer_rule tap_adamw_rule = {states, update_adamw};
