/* encoder.h: one encoder layer (attention and feed-forward, each with residual and norm), and the stack of them.
 * Parameters as torch.nn.TransformerEncoder's, under "encoder.layers.<l>." and, pre-norm, "encoder.norm.". */
#ifndef TAP_ENCODER_H
#define TAP_ENCODER_H

#include "feed_forward.h"
#include "norm.h"
#include "self_attention.h"

enum tap_norm_position { TAP_NORM_POSITION_POST, TAP_NORM_POSITION_PRE };

struct tap_encoder_options {
    size_t layers; /* L */
    size_t d_ff;   /* F */
    struct tap_self_attention_options attention;
    enum tap_activation activation;
    double ffn_dropout;      /* inside the feed-forward part */
    double residual_dropout; /* on what attention and feed-forward add */
    bool residual;
    enum tap_norm norm;
    enum tap_norm_position norm_position;
    double norm_eps;
};

struct tap_encoder_layer {
    struct tap_self_attention self_attention;
    struct tap_feed_forward feed_forward;
    struct tap_norm_layer norm1, norm2;
};

struct tap_encoder {
    struct tap_encoder_options options;
    struct tap_encoder_layer *layers; /* L of them, each initialised afresh */
    struct tap_norm_layer norm;       /* pre-norm: after the last layer */
};

/* Zero-initialise struct tap_encoder. Adds the parameters of all layers, each with random numbers of its own. */
void tap_encoder_add(struct tap_encoder *encoder, struct tap_parameters *parameters,
                     const struct tap_encoder_options *options, struct tap_error *error);
void tap_encoder_clear(struct tap_encoder *encoder);

/* tap_encoder_layer_forward: layer number `number` (from 0; it numbers the dropouts).
 *
 * Formula  post-norm: y = norm1(x + dropout(attention(x))), z = norm2(y + dropout(ffn(y)));
 *          pre-norm: y = x + dropout(attention(norm1(x))), z = y + dropout(ffn(norm2(y)))
 * Source   Vaswani et al. 2017, arXiv:1706.03762 section 3.1; pre-norm: Xiong et al. 2020, arXiv:2002.04745
 * Shapes   x (N,D) -> z (N,D) */
struct tap_tensor *tap_encoder_layer_forward(const struct tap_encoder_layer *layer,
                                             const struct tap_encoder_options *options,
                                             const struct tap_context *context, struct tap_tensor *x, size_t number);

/* x (N,D) -> (N,D) through all layers and the final norm. */
struct tap_tensor *tap_encoder_forward(const struct tap_encoder *encoder, const struct tap_context *context,
                                       struct tap_tensor *x);

#endif
