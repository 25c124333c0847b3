/* tape.h: tensors and the tape that records what is done with them.
 *
 * An operation (ops.h) computes at once and records itself. tap_backward walks the record from the newest operation to
 * the oldest and adds every gradient. tap_tape_reset forgets the record and takes back all its memory in one go.
 *
 * Errors are sticky: an operation that fails marks the tape and returns NULL, and every later operation does nothing,
 * so expressions nest freely and the caller looks once, at the end. */
#ifndef TAP_TAPE_H
#define TAP_TAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "real.h"

#define TAP_MAX_DIMS 6

struct tap_tape;
struct tap_node;

/* An array of numbers, row-major and contiguous, the last dimension fastest. Made by an operation it belongs to the
 * tape until tap_tape_reset; a parameter belongs to its tap_parameters. */
struct tap_tensor {
    tap_real *data; /* NULL only while the tape plans */
    tap_real *grad; /* d loss / d data, same size; valid when has_grad. For an operation's result: until the next
                       tap_backward; for a variable or parameter: summed over tap_backward calls */
    size_t size;    /* product of the shape; 1 for a scalar (n_dims 0) */
    size_t shape[TAP_MAX_DIMS];
    int n_dims;
    bool requires_grad;
    bool has_grad;         /* grad holds numbers of the present pass; until then it may be unset memory */
    struct tap_node *node; /* the operation that made it; NULL for inputs, variables and parameters */
};

/* New tape; starts the GEMM engine. NULL with `error` marked when that fails or memory runs out. */
struct tap_tape *tap_tape_new(struct tap_error *error);
void tap_tape_free(struct tap_tape *tape);

/* Forgets all operations, tensors and the error; keeps the memory for the next step. */
void tap_tape_reset(struct tap_tape *tape);

/* The first error since the last reset; its status is TAP_OK when there was none. */
const struct tap_error *tap_tape_error(const struct tap_tape *tape);
bool tap_tape_failed(const struct tap_tape *tape);
void tap_tape_clear_error(struct tap_tape *tape);

/* Marks the tape as out of memory for something that belongs to no operation; returns NULL. */
struct tap_tensor *tap_tape_fail_memory(struct tap_tape *tape, const char *what);

/* Gradients on (the start) or off: with them off, results require no gradient and nothing is kept for backward.
 * Returns what was set before. */
bool tap_tape_set_gradients(struct tap_tape *tape, bool enabled);

/* Planning: operations check shapes and count memory and arithmetic but compute nothing, and tap_backward only counts.
 * Switching it on or off resets the tape. */
void tap_tape_set_planning(struct tap_tape *tape, bool enabled);
bool tap_tape_is_planning(const struct tap_tape *tape);

/* What the operations since the last reset took (or would take). */
struct tap_tape_use {
    size_t n_bytes;      /* activations, gradients and saved values */
    size_t scratch_bytes;
    size_t record_bytes; /* tensors, nodes and attributes */
    size_t n_nodes;
    double forward_flops;
};
struct tap_tape_use tap_tape_use(const struct tap_tape *tape);

/* Takes memory ahead for steps that need no more than `use`; after it such steps allocate nothing. Resets the tape. */
enum tap_status tap_tape_reserve(struct tap_tape *tape, const struct tap_tape_use *use);

/* A constant (no gradient) that borrows `data` until the tape is reset; tap_input_copy copies it. shape: n_dims sizes. */
struct tap_tensor *tap_input(struct tap_tape *tape, int n_dims, const size_t *shape, const tap_real *data);
struct tap_tensor *tap_input_copy(struct tap_tape *tape, int n_dims, const size_t *shape, const tap_real *data);

/* A leaf that requires a gradient, a copy of `data` (NULL: zeros); its grad starts at zero. */
struct tap_tensor *tap_variable(struct tap_tape *tape, int n_dims, const size_t *shape, const tap_real *data);

/* Adds d loss / d x to the gradient of every variable and parameter that `loss` depends on, and sets those of the
 * results in between (each backward call sets them anew). `loss` holds one number. Works in a loop over the record, in
 * constant stack. Errors: the tape's; TAP_ERR_SHAPE when loss is no scalar; TAP_ERR_MEMORY. */
enum tap_status tap_backward(struct tap_tape *tape, struct tap_tensor *loss);

/* The first result on the tape that holds a NaN or infinity, in order of computation; NULL when all are finite. */
const struct tap_tensor *tap_tape_first_nonfinite(const struct tap_tape *tape);

/* The name of the operation that made `tensor`, "input" for others. */
const char *tap_tensor_operation(const struct tap_tensor *tensor);

/* Writes "(2, 3)" into `out` (TAP_SHAPE_TEXT_BYTES) and returns it. */
#define TAP_SHAPE_TEXT_BYTES 160
const char *tap_shape_text(int n_dims, const size_t *shape, char *out);

bool tap_same_shape(const struct tap_tensor *a, const struct tap_tensor *b);
bool tap_is_finite(const tap_real *data, size_t n);

#endif
