/* norm.h: normalisation of each token's vector, with parameters "<prefix>.weight" (D) and "<prefix>.bias" (D). */
#ifndef TAP_NORM_H
#define TAP_NORM_H

#include "context.h"
#include "parameters.h"

enum tap_norm { TAP_NORM_LAYER, TAP_NORM_BATCH, TAP_NORM_NONE };

struct tap_norm_layer {
    enum tap_norm kind;
    double eps;
    struct tap_tensor *gain;  /* starts at 1 */
    struct tap_tensor *shift; /* starts at 0; NULL: none */
    /* batch norm: "<prefix>.running_mean" and "<prefix>.running_var" (D), kept and saved among the parameters but not
     * trained */
    struct tap_tensor *running_mean, *running_var;
};

void tap_norm_layer_add(struct tap_norm_layer *layer, struct tap_parameters *parameters, const char *prefix,
                        enum tap_norm kind, size_t d_model, double eps, bool with_bias, struct tap_error *error);

struct tap_tensor *tap_norm_layer_forward(const struct tap_norm_layer *layer, const struct tap_context *context,
                                          struct tap_tensor *x);

#endif
