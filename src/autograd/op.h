/* op.h: what an operation is made of; for the files op_*.c alone. An operation's public function checks its shapes,
 * calls tap_node_new, fills the attributes, and ends with tap_node_run. See docs/adding.md. */
#ifndef TAP_OP_H
#define TAP_OP_H

#include "tape.h"

/* One operation. All functions see a node whose shapes were checked. */
struct tap_op {
    const char *name;
    /* Computes node->output->data. */
    void (*forward)(struct tap_node *node);
    /* Adds to the gradient of every input that tap_wants_grad, from node->output->grad. */
    void (*backward)(struct tap_node *node);
    /* Scalar operations of forward; NULL: one for each element of the result. */
    double (*flops)(const struct tap_node *node);
    /* Numbers of scratch memory that forward or backward needs; NULL: none. Contents do not last between the two. */
    size_t (*scratch)(const struct tap_node *node);
};

struct tap_node {
    const struct tap_op *op;
    struct tap_tape *tape;
    struct tap_node *previous; /* the operation recorded before this one */
    struct tap_tensor *output;
    struct tap_tensor **inputs;
    int n_inputs;
    void *attributes; /* the operation's own struct */
};

/* Starts the record of an operation with a result of the given shape and zeroed attributes. NULL, with the tape marked
 * where it was not, when the tape has failed, an input is NULL, a size overflows or memory runs out. */
struct tap_node *tap_node_new(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *const *inputs,
                              int n_inputs, int n_dims, const size_t *shape, size_t attribute_bytes);

/* As tap_node_new, but the result shares the data of inputs[0] (reshape, detach). */
struct tap_node *tap_node_new_view(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *const *inputs,
                                   int n_dims, const size_t *shape, size_t attribute_bytes);

/* n numbers that last until reset, for values that backward needs. Sets *out to NULL when no gradient is wanted (then
 * nothing needs saving) or while planning. false: no memory, tape marked. */
bool tap_node_save(struct tap_node *node, size_t n, tap_real **out);
bool tap_node_save_bytes(struct tap_node *node, size_t n_bytes, void **out);

/* Computes the result (unless the tape plans) and returns it. */
struct tap_tensor *tap_node_run(struct tap_node *node);

/* Marks the tape: "<operation>: <message>"; returns NULL. */
struct tap_tensor *tap_op_fail(struct tap_tape *tape, const struct tap_op *op, enum tap_status status,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* True when the tape is sound and no input is NULL; else marks the tape. Call it before looking at an input. */
bool tap_op_ready(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *const *inputs, int n_inputs);

/* For kernels. */
tap_real *tap_scratch(const struct tap_node *node);
static inline bool tap_wants_grad(const struct tap_tensor *tensor)
{
    return tensor->requires_grad;
}
/* The gradient of `tensor` to add to: zeros when this is the first part of it. */
tap_real *tap_grad_add(struct tap_tensor *tensor);
/* The gradient and the beta for `grad = result + beta * grad`: 0 when this is the first part (contents undefined). */
tap_real *tap_grad_beta(struct tap_tensor *tensor, tap_real *out_beta);

/* a*b + c, fused where the processor does that in one instruction. */
#ifdef TAP_REAL_IS_DOUBLE
#ifdef __FMA__
#define TAP_FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define TAP_FMA(a, b, c) ((a) * (b) + (c))
#endif
#else
#ifdef __FMA__
#define TAP_FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#define TAP_FMA(a, b, c) ((a) * (b) + (c))
#endif
#endif

#endif
