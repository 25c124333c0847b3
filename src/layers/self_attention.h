/* self_attention.h: multi-head self-attention: one projection gives Q, K and V, another brings the heads together.
 * Parameters as torch.nn.MultiheadAttention's: "<prefix>.in_proj_weight" (3*H*K,D), "<prefix>.in_proj_bias",
 * "<prefix>.out_proj.weight" (D,H*K), "<prefix>.out_proj.bias". */
#ifndef TAP_SELF_ATTENTION_H
#define TAP_SELF_ATTENTION_H

#include "linear.h"

struct tap_self_attention_options {
    size_t d_model; /* D */
    size_t heads;   /* H */
    size_t d_head;  /* K; 0: D / H */
    double dropout; /* on the weights */
    bool bias;
    bool project_qkv; /* false: Q = K = V = X and no projection out */
    bool scale_scores;
    bool causal;
};

struct tap_self_attention {
    struct tap_self_attention_options options; /* d_head resolved */
    struct tap_linear_layer in_projection;     /* weight NULL when nothing is projected */
    struct tap_linear_layer out_projection;
};

/* The three parts of the in-projection start Xavier-uniform each by itself (D to H*K), as three separate maps would. */
void tap_self_attention_add(struct tap_self_attention *layer, struct tap_parameters *parameters, const char *prefix,
                            const struct tap_self_attention_options *options, struct tap_error *error);

/* x (N,D) -> (N,D). `dropout_place` numbers the dropout on the weights; `out_weights`: see tap_attention_options. */
struct tap_tensor *tap_self_attention_forward(const struct tap_self_attention *layer, const struct tap_context *context,
                                              struct tap_tensor *x, uint32_t dropout_place, tap_real *out_weights);

#endif
