/* attention_kernel.h: attention of one head over one sequence; for op_attention.c alone. */
#ifndef TAP_ATTENTION_KERNEL_H
#define TAP_ATTENTION_KERNEL_H

#include "ops.h"

/* A matrix of N rows, `stride` numbers apart; grad NULL when none is wanted. */
struct tap_attention_view {
    tap_real *data;
    tap_real *grad;
    size_t stride;
};

struct tap_attention_job {
    struct tap_attention_view q, k, v, y;
    struct tap_tensor *bias; /* (H or 1, T, T), NULL: none */
    struct tap_segments segments;
    struct tap_attention_options options;
    size_t width;          /* K */
    size_t longest;        /* T of the longest sequence */
    tap_real score_factor; /* 1/sqrt(K) or 1 */
    tap_real *softmax;     /* (N,H,2), NULL when no gradient is wanted: largest score and 1 / sum of exponentials */
};

/* Numbers of scratch that one call needs. */
size_t tap_attention_scratch(size_t longest, size_t width);

void tap_attention_head_forward(const struct tap_attention_job *job, size_t segment, size_t head, tap_real *scratch);

/* Adds to the gradients of q, k and v. */
void tap_attention_head_backward(const struct tap_attention_job *job, size_t segment, size_t head, tap_real *scratch);

#endif
