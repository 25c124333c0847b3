/* op_cases.h: what an operation's test file gives to the generic tests (test_ops.c), which gradient-check every case in
 * double, compare the bits for 1 to 4 threads, run it twice for accumulation and inject allocation failures. */
#ifndef TAP_OP_CASES_H
#define TAP_OP_CASES_H

#include "ops.h"
#include "parameters.h"

#define OP_MAX_INPUTS 4

/* How an input's numbers are drawn. */
enum op_fill {
    OP_FILL_NORMAL,    /* standard normal */
    OP_FILL_POSITIVE,  /* uniform in 0.5 .. 2 */
    OP_FILL_AWAY,      /* normal, but at least 0.1 away from 0: for kinks at 0 */
    OP_FILL_DISTINCT,  /* all numbers at least 0.01 apart: for max */
};

struct op_input {
    int n_dims;
    size_t shape[TAP_MAX_DIMS];
    enum op_fill fill;
    bool is_constant; /* requires no gradient */
};

struct op_case {
    const char *name;
    int n_inputs;
    struct op_input inputs[OP_MAX_INPUTS];
    /* Calls the operation; `extra` is the case's own. */
    struct tap_tensor *(*build)(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra);
    const void *extra;
    double tolerance; /* of the gradient check; 0: 1e-7 */
};

struct op_cases {
    const struct op_case *cases;
    size_t n;
};

/* Every operation of ops.def must define `const struct op_cases <function>_cases`; without it the tests do not link. */
#define TAP_OP(function, parameters, formula) extern const struct op_cases function##_cases;
#include "ops.def"
#undef TAP_OP

#define OP_CASES(function, table) const struct op_cases function##_cases = {table, sizeof(table) / sizeof((table)[0])}

/* For an operation's own value tests. */
struct tap_tape *test_tape(void);                                  /* a new tape; fails the test when there is none */
void assert_values(const struct tap_tensor *y, const double *right, size_t n, double tolerance); /* |y - right| <= tolerance */
void fill_values(tap_real *out, size_t n, enum op_fill fill, uint32_t place); /* seeded by place */

#endif
