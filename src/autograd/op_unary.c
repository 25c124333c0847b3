/* op_unary.c: elementwise operations of one tensor: tap_scale, tap_relu, tap_gelu, tap_gelu_tanh, tap_silu, tap_tanh,
 * tap_sigmoid, tap_exp, tap_log, tap_sqrt, tap_pow. Each is one line of the table below: value and gradient, written in
 * tap_real. Functions with exponentials are written so that no intermediate overflow becomes a NaN: they only ever take
 * the exponential of numbers <= 0, and a factor that multiplies a vanishing one is bounded first. */
#include "ops.h"

#include <math.h>
#include <tgmath.h>

#include "parallel.h"
#include "vector_math.h"

/* Elements handled together; a multiple of every vector length. */
#define BLOCK 4096

struct unary_attributes {
    tap_real parameter; /* tap_scale's factor, tap_pow's exponent */
};

/* x moved into -bound .. bound; a NaN stays. */
static inline tap_real bounded(tap_real x, tap_real bound)
{
    x = x < -bound ? -bound : x;
    return x > bound ? bound : x;
}

static inline tap_real at_least(tap_real x, tap_real bound)
{
    return x < bound ? bound : x;
}

/* s(x) = 1 / (1 + exp(-x)) and its derivative, without cancellation at either end. */
static inline tap_real sigmoid_of(tap_real x, tap_real *out_derivative)
{
    tap_real e = tap_fast_exp(-fabs(x));
    tap_real high = 1 / (1 + e);
    tap_real low = e * high;
    *out_derivative = low * high;
    return x < 0 ? low : high;
}

static inline tap_real sigmoid(tap_real x)
{
    tap_real derivative;
    return sigmoid_of(x, &derivative);
}

/* Where exp(-|x|), exp(-x^2/2) and the sigmoid of the cubic below have long vanished, in double too. */
#define SIGMOID_BOUND 1000
#define NORMAL_BOUND 40
#define CUBIC_BOUND 30

static inline tap_real silu(tap_real x)
{
    return at_least(x, -SIGMOID_BOUND) * sigmoid(x);
}

static inline tap_real silu_derivative(tap_real x)
{
    tap_real slope;
    tap_real s = sigmoid_of(x, &slope);
    return TAP_FMA(bounded(x, SIGMOID_BOUND), slope, s);
}

static inline tap_real gelu(tap_real x)
{
    tap_real density;
    tap_real lower = at_least(x, -NORMAL_BOUND);
    return lower * tap_fast_normal_cdf(lower, &density);
}

/* Phi(x) + x phi(x) */
static inline tap_real gelu_derivative(tap_real x)
{
    tap_real density;
    x = bounded(x, NORMAL_BOUND);
    tap_real cdf = tap_fast_normal_cdf(x, &density);
    return TAP_FMA(x, density, cdf);
}

/* (1 + tanh u)/2 = s(2u), so y = x s(2u) with 2u = c (x + 0.044715 x^3), c = 2 sqrt(2/pi). */
static const tap_real gelu_slope = (tap_real)1.5957691216057307117;
static const tap_real gelu_cubic = (tap_real)0.044715;

static inline tap_real gelu_tanh(tap_real x)
{
    tap_real in = bounded(x, CUBIC_BOUND);
    return at_least(x, -CUBIC_BOUND) * sigmoid(gelu_slope * in * (1 + gelu_cubic * in * in));
}

/* s(2u) + x s'(2u) c (1 + 3 * 0.044715 x^2) */
static inline tap_real gelu_tanh_derivative(tap_real x)
{
    tap_real slope;
    x = bounded(x, CUBIC_BOUND);
    tap_real s = sigmoid_of(gelu_slope * x * (1 + gelu_cubic * x * x), &slope);
    return TAP_FMA(x * slope, gelu_slope * (1 + 3 * gelu_cubic * x * x), s);
}

/* p x^(p-1); 0 for p = 0, where x = 0 would make it 0 * infinity. */
static inline tap_real pow_derivative(tap_real x, tap_real p)
{
    return p == 0 ? 0 : p * pow(x, p - 1);
}

/* What an operation does with n numbers. */
typedef void (*value_function)(size_t n, tap_real parameter, const tap_real *restrict x, tap_real *restrict y);
typedef void (*gradient_function)(size_t n, tap_real parameter, const tap_real *restrict x, const tap_real *restrict y,
                                  const tap_real *restrict dy, tap_real *restrict dx);

static void forward_blocks(struct tap_node *node, value_function value_of)
{
    const struct unary_attributes *attributes = node->attributes;
    const struct tap_tensor *x = node->inputs[0];
    struct tap_tensor *y = node->output;
    size_t n_blocks = tap_ceil_div(y->size, BLOCK);
#pragma omp parallel for num_threads(tap_threads_for(node->op->flops(node)))
    for (size_t block = 0; block < n_blocks; block++) {
        size_t start = block * BLOCK;
        value_of(tap_min_size(BLOCK, y->size - start), attributes->parameter, x->data + start, y->data + start);
    }
}

static void backward_blocks(struct tap_node *node, gradient_function gradient_of)
{
    const struct unary_attributes *attributes = node->attributes;
    struct tap_tensor *x = node->inputs[0];
    const struct tap_tensor *y = node->output;
    if (!tap_wants_grad(x))
        return;
    tap_real *dx = tap_grad_add(x);
    size_t n_blocks = tap_ceil_div(y->size, BLOCK);
#pragma omp parallel for num_threads(tap_threads_for(node->op->flops(node)))
    for (size_t block = 0; block < n_blocks; block++) {
        size_t start = block * BLOCK;
        gradient_of(tap_min_size(BLOCK, y->size - start), attributes->parameter, x->data + start, y->data + start,
                    y->grad + start, dx + start);
    }
}

static struct tap_tensor *unary(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *x,
                                tap_real parameter)
{
    if (!tap_op_ready(tape, op, &x, 1))
        return NULL;
    struct tap_node *node = tap_node_new(tape, op, &x, 1, x->n_dims, x->shape, sizeof(struct unary_attributes));
    if (node == NULL)
        return NULL;
    struct unary_attributes *attributes = node->attributes;
    attributes->parameter = parameter;
    return tap_node_run(node);
}

/* A parameter that the tensors' type can hold. */
static struct tap_tensor *unary_with(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *x,
                                     const char *name, double parameter)
{
    if (!tap_op_ready(tape, op, &x, 1))
        return NULL;
    if (!isfinite((tap_real)parameter))
        return tap_op_fail(tape, op, TAP_ERR_VALUE, "%s %g is not a finite %s", name, parameter, TAP_REAL_NAME);
    return unary(tape, op, x, (tap_real)parameter);
}

/* The registration of an operation from its name, its cost for each number in scalar operations, and two expressions:
 * y from x (and p, the parameter), and what is added to dx from dy, x, y and p. */
#define UNARY_OP(function, cost, value, gradient)                                                                      \
    static void function##_values(size_t n, tap_real p, const tap_real *restrict xs, tap_real *restrict ys)            \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        TAP_VECTOR_LOOP for (size_t j = 0; j < n; j++)                                                                 \
        {                                                                                                              \
            tap_real x = xs[j];                                                                                        \
            ys[j] = (value);                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    static void function##_gradients(size_t n, tap_real p, const tap_real *restrict xs, const tap_real *restrict ys,   \
                                     const tap_real *restrict dys, tap_real *restrict dxs)                             \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        TAP_VECTOR_LOOP for (size_t j = 0; j < n; j++)                                                                 \
        {                                                                                                              \
            tap_real x = xs[j], y = ys[j], dy = dys[j];                                                                \
            (void)x, (void)y;                                                                                          \
            dxs[j] += (gradient);                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void function##_forward(struct tap_node *node)                                                              \
    {                                                                                                                  \
        forward_blocks(node, function##_values);                                                                       \
    }                                                                                                                  \
    static void function##_backward(struct tap_node *node)                                                             \
    {                                                                                                                  \
        backward_blocks(node, function##_gradients);                                                                   \
    }                                                                                                                  \
    static double function##_flops(const struct tap_node *node)                                                        \
    {                                                                                                                  \
        return (cost) * (double)node->output->size;                                                                    \
    }                                                                                                                  \
    const struct tap_op function##_op = {                                                                              \
        .name = #function, .forward = function##_forward, .backward = function##_backward, .flops = function##_flops};

/* clang-format off */
UNARY_OP(tap_scale, 1, p * x, p * dy)
UNARY_OP(tap_relu, 1, x < 0 ? 0 : x, x > 0 ? dy : 0) /* comparisons in the sense that lets a NaN through */
UNARY_OP(tap_gelu, 35, gelu(x), dy * gelu_derivative(x))
UNARY_OP(tap_gelu_tanh, 30, gelu_tanh(x), dy * gelu_tanh_derivative(x))
UNARY_OP(tap_silu, 25, silu(x), dy * silu_derivative(x))
UNARY_OP(tap_tanh, 25, tap_fast_tanh(x), dy * (1 - y) * (1 + y))
UNARY_OP(tap_sigmoid, 20, sigmoid(x), dy * y * (1 - y))
UNARY_OP(tap_exp, 15, tap_fast_exp(x), dy * y)
UNARY_OP(tap_log, 15, log(x), dy / x)
UNARY_OP(tap_sqrt, 1, sqrt(x), dy / (2 * y))
UNARY_OP(tap_pow, 40, pow(x, p), dy * pow_derivative(x, p))
/* clang-format on */

/* tap_scale: y = factor * x.
 *
 * Backward   dx += factor * dy
 * Shapes     x (any) -> y (same)
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_VALUE when factor is no finite number of the tensors' type; TAP_ERR_MEMORY. Returns NULL, marks
 *            the tape
 * Threads    parallel over blocks of numbers
 */
struct tap_tensor *tap_scale(struct tap_tape *tape, struct tap_tensor *x, double factor)
{
    return unary_with(tape, &tap_scale_op, x, "factor", factor);
}

/* tap_pow: y = x^exponent, as C's pow: a NaN for a negative x and a fractional exponent.
 *
 * Backward   dx += dy * exponent * x^(exponent - 1); 0 for exponent 0
 * Shapes     x (any) -> y (same)
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_VALUE when exponent is no finite number of the tensors' type; TAP_ERR_MEMORY. Returns NULL, marks
 *            the tape
 * Threads    parallel over blocks of numbers
 */
struct tap_tensor *tap_pow(struct tap_tape *tape, struct tap_tensor *x, double exponent)
{
    return unary_with(tape, &tap_pow_op, x, "exponent", exponent);
}

#define UNARY_FUNCTION(function)                                                                                       \
    struct tap_tensor *function(struct tap_tape *tape, struct tap_tensor *x)                                           \
    {                                                                                                                  \
        return unary(tape, &function##_op, x, 0);                                                                      \
    }

/* tap_relu, tap_gelu, tap_gelu_tanh, tap_silu: activations.
 *
 * Formula    relu: y = max(x, 0); gelu: y = x Phi(x) = x/2 (1 + erf(x / sqrt 2));
 *            gelu_tanh: y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); silu: y = x s(x), s(x) = 1 / (1 + exp(-x))
 * Backward   relu: dx += dy where x > 0, so 0 at 0; gelu: dy (Phi + x phi), phi the normal density;
 *            gelu_tanh, with y = x s(v): dy (s + x s (1-s) dv/dx); silu: dy (s + x s (1-s))
 * Source     Hendrycks, Gimpel 2016, arXiv:1606.08415 (both forms of gelu, and silu); the two gelus differ by up to
 *            4.7e-4, so one must not stand in for the other
 * Shapes     x (any) -> y (same)
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_MEMORY. Returns NULL, marks the tape. Finite for every finite x; a NaN stays one; at -inf y is -0
 *            (relu: 0)
 * Threads    parallel over blocks of numbers
 */
UNARY_FUNCTION(tap_relu)
UNARY_FUNCTION(tap_gelu)
UNARY_FUNCTION(tap_gelu_tanh)
UNARY_FUNCTION(tap_silu)

/* tap_tanh, tap_sigmoid, tap_exp, tap_log, tap_sqrt: y = tanh x, 1 / (1 + exp(-x)), exp x, log x, sqrt x.
 *
 * Backward   tanh: dx += dy (1-y)(1+y); sigmoid: dy y (1-y); exp: dy y; log: dy / x; sqrt: dy / (2y)
 * Shapes     x (any) -> y (same)
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_MEMORY. Returns NULL, marks the tape. Outside their domains log and sqrt give what C's give: -inf
 *            or a NaN, and the gradient at 0 is infinite
 * Threads    parallel over blocks of numbers
 */
UNARY_FUNCTION(tap_tanh)
UNARY_FUNCTION(tap_sigmoid)
UNARY_FUNCTION(tap_exp)
UNARY_FUNCTION(tap_log)
UNARY_FUNCTION(tap_sqrt)
#undef UNARY_FUNCTION
#undef UNARY_OP
