/* ops.c: the table of operations, expanded from ops.def. */
#include "ops.h"

const struct tap_op_entry tap_ops[] = {
#define TAP_OP(function, parameters, formula) {#function, formula, &function##_op},
#include "ops.def"
#undef TAP_OP
};
const size_t tap_n_ops = sizeof tap_ops / sizeof tap_ops[0];
