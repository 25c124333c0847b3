/* feed_forward.h: the position-wise feed-forward part: activation(x W1^T + b1) W2^T + b2, each token by itself.
 * Parameters "<prefix>.linear1.*" (F,D) and "<prefix>.linear2.*" (D,F). */
#ifndef TAP_FEED_FORWARD_H
#define TAP_FEED_FORWARD_H

#include "linear.h"

enum tap_activation { TAP_ACTIVATION_RELU, TAP_ACTIVATION_GELU, TAP_ACTIVATION_GELU_TANH, TAP_ACTIVATION_SILU };

struct tap_feed_forward {
    struct tap_linear_layer linear1;
    struct tap_linear_layer linear2;
    enum tap_activation activation;
    double dropout; /* after the activation */
};

void tap_feed_forward_add(struct tap_feed_forward *layer, struct tap_parameters *parameters, const char *prefix,
                          size_t d_model, size_t d_ff, enum tap_activation activation, double dropout, bool bias,
                          struct tap_error *error);

/* x (N,D) -> (N,D) */
struct tap_tensor *tap_feed_forward_forward(const struct tap_feed_forward *layer, const struct tap_context *context,
                                            struct tap_tensor *x, uint32_t dropout_place);

#endif
