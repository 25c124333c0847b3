/* real.h: the scalar type of the whole tree. Every source file is compiled twice, as float (what trains and is
 * installed) and as double (what proves the gradients); no program links both. */
#ifndef TAP_REAL_H
#define TAP_REAL_H

#include <float.h>

#ifdef TAP_REAL_IS_DOUBLE
typedef double tap_real;
#define TAP_REAL_NAME "double"
#define TAP_REAL_EPSILON DBL_EPSILON
#else
typedef float tap_real;
#define TAP_REAL_NAME "float"
#define TAP_REAL_EPSILON FLT_EPSILON
#endif

#endif
