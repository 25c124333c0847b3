/* gradcheck.h: gradients against central differences. Meant for the double build: in float, rounding drowns them. */
#ifndef TAP_GRADCHECK_H
#define TAP_GRADCHECK_H

#include "parameters.h"

/* Builds the loss (one number) on `tape` from parameters that the caller holds; must do the same each time. */
typedef struct tap_tensor *(*tap_loss_function)(struct tap_tape *tape, void *context);

struct tap_gradcheck_options {
    double step;             /* h = step * max(1, |x|); 0: 6e-6 (double), 5e-3 (float) */
    size_t elements;         /* checked in each parameter, chosen by `seed`; 0: all */
    uint64_t seed;
    double kink_tolerance;   /* > 0: an element whose error is above this is tried again with a 100 times smaller step,
                                and counted as a kink when that agrees (ReLU, max); 0: never */
};

/* What was found for one parameter. */
struct tap_gradcheck_result {
    const struct tap_parameter *parameter;
    size_t n_checked;
    size_t n_kinks;
    double largest_gradient; /* max over all its elements of |gradient| */
    double error;            /* max over checked ones of |gradient - difference| / max(largest_gradient, 1e-8) */
    size_t worst;            /* the element with that error */
    double gradient;         /* its gradient and */
    double difference;       /* its central difference */
};

/* Runs one backward pass (parameters' gradients are zeroed first and hold the gradient afterwards), then two forward
 * passes for each checked element; every parameter keeps its bits. out_results: parameters->n of them. Parameters that
 * require no gradient are left out (n_checked 0).
 *
 * Formula  (f(x + h) - f(x - h)) / (2 h)
 * Errors   the tape's; TAP_ERR_NONFINITE when a loss is not finite */
enum tap_status tap_gradcheck(struct tap_tape *tape, struct tap_parameters *parameters, tap_loss_function loss,
                              void *context, const struct tap_gradcheck_options *options,
                              struct tap_gradcheck_result *out_results, struct tap_error *error);

#endif
