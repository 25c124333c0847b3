/* parameters.h: named parameters as views into one flat block, their gradients as views into another. Clipping, the
 * optimizers and the checkpoint are each one pass over these. */
#ifndef TAP_PARAMETERS_H
#define TAP_PARAMETERS_H

#include <stdint.h>

#include "tape.h"

/* How a parameter starts. */
enum tap_init_kind {
    TAP_INIT_ZEROS,
    TAP_INIT_ONES,
    TAP_INIT_UNIFORM, /* in [-scale, scale) */
    TAP_INIT_NORMAL,  /* mean 0, standard deviation scale */
};
struct tap_init {
    enum tap_init_kind kind;
    double scale;
};

struct tap_parameter {
    char *name;
    struct tap_tensor tensor; /* its data and grad lie in the blocks */
    struct tap_init init;
    size_t offset; /* of its first number in the blocks */
};

/* The set. Between a parameter's end and the next one's start there may be a few zeros (alignment) that stay zero. */
struct tap_parameters {
    struct tap_parameter **items; /* in order of addition, which is the order of the blocks */
    size_t n;
    size_t capacity;
    tap_real *data;    /* the blocks; NULL until tap_parameters_allocate */
    tap_real *grad;
    size_t block_size; /* numbers in a block, alignment included */
    size_t n_numbers;  /* without alignment: the number of parameters in the usual sense */
};

/* Zero-initialise struct tap_parameters; free what it holds with this. */
void tap_parameters_clear(struct tap_parameters *parameters);

/* Adds a parameter named "<prefix>.<name>" (prefix "" : "<name>"). Its tensor may be used once the blocks are there.
 * NULL with error marked: no memory, a size that overflows, a name that is taken. */
struct tap_tensor *tap_parameters_add(struct tap_parameters *parameters, const char *prefix, const char *name,
                                      int n_dims, const size_t *shape, struct tap_init init, struct tap_error *error);

/* Takes the two blocks, zero-filled, and points every tensor into them. Once, after the last addition. */
enum tap_status tap_parameters_allocate(struct tap_parameters *parameters, struct tap_error *error);

/* Sets every parameter as its init says, from counted random numbers: seed and the parameter's place alone decide. */
void tap_parameters_initialize(struct tap_parameters *parameters, uint64_t seed);

void tap_parameters_zero_grad(struct tap_parameters *parameters);

/* The parameter of that name, NULL when there is none. */
struct tap_parameter *tap_parameters_find(const struct tap_parameters *parameters, const char *name);

/* sqrt of the sum of squares of all gradients (those of frozen parameters are zero), summed in double in a fixed order:
 * the same bits for any thread count. NaN or infinity when a gradient is. Allocates nothing. */
double tap_parameters_grad_norm(const struct tap_parameters *parameters);

/* Glorot and Bengio 2010 (PMLR 9, eq. 16): uniform in +-sqrt(6 / (fan_in + fan_out)). */
struct tap_init tap_init_xavier_uniform(size_t fan_in, size_t fan_out);

#endif
