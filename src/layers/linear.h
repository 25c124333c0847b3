/* linear.h: y = x W^T + b with parameters "<prefix>.weight" (out,in) and "<prefix>.bias" (out). */
#ifndef TAP_LINEAR_H
#define TAP_LINEAR_H

#include "context.h"
#include "parameters.h"

struct tap_linear_layer {
    struct tap_tensor *weight;
    struct tap_tensor *bias; /* NULL: none */
};

/* Adds the parameters: the weight starts Xavier-uniform, the bias at 0. Errors go to `error` (sticky). */
void tap_linear_layer_add(struct tap_linear_layer *layer, struct tap_parameters *parameters, const char *prefix,
                          size_t in, size_t out, bool with_bias, struct tap_error *error);

struct tap_tensor *tap_linear_layer_forward(const struct tap_linear_layer *layer, const struct tap_context *context,
                                            struct tap_tensor *x);

#endif
