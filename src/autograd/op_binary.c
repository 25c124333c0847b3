/* op_binary.c: elementwise operations of two tensors with broadcasting: tap_add, tap_sub, tap_mul, tap_div.
 *
 * Broadcasting (as numpy): shapes are aligned at their last axes; where one has size 1, or no such axis, its numbers
 * serve for every place of the other's. The result is walked row by row (last axis); an operand whose row is as long
 * as the result's is read with step 1, one of length 1 with step 0. */
#include "ops.h"

#include "parallel.h"

/* Where an operand's numbers lie, seen along the result's axes. */
struct operand {
    size_t step[TAP_MAX_DIMS]; /* 0 along axes where it is repeated */
};

struct binary_attributes {
    struct operand a;
    struct operand b;
};

static struct operand operand_of(const struct tap_tensor *x, int n_dims)
{
    struct operand operand = {{0}};
    size_t step = 1;
    for (int i = x->n_dims - 1; i >= 0; i--) {
        operand.step[i + n_dims - x->n_dims] = x->shape[i] == 1 ? 0 : step;
        step *= x->shape[i];
    }
    return operand;
}

/* The first number of row `row` of the result in an operand. */
static size_t row_start(const struct operand *operand, const struct tap_tensor *y, size_t row)
{
    size_t start = 0;
    for (int i = y->n_dims - 2; i >= 0; i--) {
        start += row % y->shape[i] * operand->step[i];
        row /= y->shape[i];
    }
    return start;
}

static size_t row_length(const struct tap_tensor *y)
{
    return y->n_dims == 0 ? 1 : y->shape[y->n_dims - 1];
}

static size_t last_step(const struct operand *operand, const struct tap_tensor *y)
{
    return y->n_dims == 0 ? 0 : operand->step[y->n_dims - 1];
}

static struct tap_tensor *binary(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *a,
                                 struct tap_tensor *b)
{
    struct tap_tensor *inputs[] = {a, b};
    if (!tap_op_ready(tape, op, inputs, 2))
        return NULL;
    int n_dims = a->n_dims > b->n_dims ? a->n_dims : b->n_dims;
    size_t shape[TAP_MAX_DIMS];
    for (int i = 0; i < n_dims; i++) {
        int in_a = i - (n_dims - a->n_dims);
        int in_b = i - (n_dims - b->n_dims);
        size_t size_a = in_a < 0 ? 1 : a->shape[in_a];
        size_t size_b = in_b < 0 ? 1 : b->shape[in_b];
        if (size_a != size_b && size_a != 1 && size_b != 1) {
            char text_a[TAP_SHAPE_TEXT_BYTES], text_b[TAP_SHAPE_TEXT_BYTES];
            return tap_op_fail(tape, op, TAP_ERR_SHAPE, "shapes %s and %s do not broadcast",
                               tap_shape_text(a->n_dims, a->shape, text_a), tap_shape_text(b->n_dims, b->shape, text_b));
        }
        shape[i] = size_a == 1 ? size_b : size_a;
    }
    struct tap_node *node = tap_node_new(tape, op, inputs, 2, n_dims, shape, sizeof(struct binary_attributes));
    if (node == NULL)
        return NULL;
    struct binary_attributes *attributes = node->attributes;
    attributes->a = operand_of(a, n_dims);
    attributes->b = operand_of(b, n_dims);
    return tap_node_run(node);
}

/* One row of each operation: y[j] from a[j * step_a] and b[j * step_b]. */
typedef void (*row_function)(size_t n, const tap_real *a, size_t step_a, const tap_real *b, size_t step_b, tap_real *y);

#define BINARY_ROW(name, expression)                                                                                   \
    static void name(size_t n, const tap_real *a, size_t step_a, const tap_real *b, size_t step_b, tap_real *y)        \
    {                                                                                                                  \
        if (step_a == 1 && step_b == 1)                                                                                \
            for (size_t j = 0; j < n; j++)                                                                             \
                y[j] = a[j] expression b[j];                                                                           \
        else                                                                                                           \
            for (size_t j = 0; j < n; j++)                                                                             \
                y[j] = a[j * step_a] expression b[j * step_b];                                                         \
    }
BINARY_ROW(add_row, +)
BINARY_ROW(sub_row, -)
BINARY_ROW(mul_row, *)
BINARY_ROW(div_row, /)
#undef BINARY_ROW

static void forward_rows(struct tap_node *node, row_function row_of)
{
    const struct binary_attributes *attributes = node->attributes;
    const struct tap_tensor *y = node->output;
    size_t n = row_length(y);
    size_t rows = n == 0 ? 0 : y->size / n;
    size_t n_blocks = tap_ceil_div(rows, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(tap_threads_for((double)y->size))
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(rows, (block + 1) * TAP_ROW_BLOCK); row++)
            row_of(n, node->inputs[0]->data + row_start(&attributes->a, y, row), last_step(&attributes->a, y),
                   node->inputs[1]->data + row_start(&attributes->b, y, row), last_step(&attributes->b, y),
                   y->data + row * n);
}

/* One row of a gradient: dx[j * step_x] += part_j, where part_j is made from dy and both operands' numbers. */
typedef void (*row_gradient)(size_t n, const tap_real *dy, const tap_real *a, size_t step_a, const tap_real *b,
                             size_t step_b, tap_real *dx, size_t step_x);

#define BINARY_GRADIENT(name, expression)                                                                              \
    static void name(size_t n, const tap_real *dy, const tap_real *a, size_t step_a, const tap_real *b, size_t step_b, \
                     tap_real *dx, size_t step_x)                                                                      \
    {                                                                                                                  \
        (void)a, (void)b, (void)step_a, (void)step_b;                                                                  \
        if (step_x == 0) {                                                                                             \
            tap_real sum = 0;                                                                                          \
            for (size_t j = 0; j < n; j++)                                                                             \
                sum += (expression);                                                                                   \
            *dx += sum;                                                                                                \
        } else {                                                                                                       \
            for (size_t j = 0; j < n; j++)                                                                             \
                dx[j] += (expression);                                                                                 \
        }                                                                                                              \
    }
BINARY_GRADIENT(pass_gradient, dy[j])
BINARY_GRADIENT(negated_gradient, -dy[j])
BINARY_GRADIENT(mul_gradient_a, dy[j] * b[j * step_b])
BINARY_GRADIENT(mul_gradient_b, dy[j] * a[j * step_a])
BINARY_GRADIENT(div_gradient_a, dy[j] / b[j * step_b])
BINARY_GRADIENT(div_gradient_b, -dy[j] * a[j * step_a] / (b[j * step_b] * b[j * step_b]))
#undef BINARY_GRADIENT

/* True when no two rows of the result share a row of x, so that rows may be added in parallel. */
static bool rows_are_own(const struct operand *operand, const struct tap_tensor *y)
{
    for (int i = 0; i < y->n_dims - 1; i++)
        if (y->shape[i] != 1 && operand->step[i] == 0)
            return false;
    return true;
}

static void backward_rows(struct tap_node *node, int which, row_gradient gradient_of)
{
    const struct binary_attributes *attributes = node->attributes;
    const struct tap_tensor *y = node->output;
    struct tap_tensor *x = node->inputs[which];
    if (!tap_wants_grad(x))
        return;
    const struct operand *operand = which == 0 ? &attributes->a : &attributes->b;
    tap_real *dx = tap_grad_add(x);
    size_t n = row_length(y);
    size_t rows = n == 0 ? 0 : y->size / n;
    size_t n_blocks = tap_ceil_div(rows, TAP_ROW_BLOCK);
#pragma omp parallel for num_threads(rows_are_own(operand, y) ? tap_threads_for((double)y->size) : 1)
    for (size_t block = 0; block < n_blocks; block++)
        for (size_t row = block * TAP_ROW_BLOCK; row < tap_min_size(rows, (block + 1) * TAP_ROW_BLOCK); row++)
            gradient_of(n, y->grad + row * n, node->inputs[0]->data + row_start(&attributes->a, y, row),
                        last_step(&attributes->a, y), node->inputs[1]->data + row_start(&attributes->b, y, row),
                        last_step(&attributes->b, y), dx + row_start(operand, y, row), last_step(operand, y));
}

/* Each of the four: forward, backward, registration and the public function. */
#define BINARY_OP(function, row_of, gradient_a, gradient_b)                                                            \
    static void function##_forward(struct tap_node *node)                                                              \
    {                                                                                                                  \
        forward_rows(node, row_of);                                                                                    \
    }                                                                                                                  \
    static void function##_backward(struct tap_node *node)                                                             \
    {                                                                                                                  \
        backward_rows(node, 0, gradient_a);                                                                            \
        backward_rows(node, 1, gradient_b);                                                                            \
    }                                                                                                                  \
    const struct tap_op function##_op = {                                                                              \
        .name = #function, .forward = function##_forward, .backward = function##_backward};                            \
    struct tap_tensor *function(struct tap_tape *tape, struct tap_tensor *a, struct tap_tensor *b)                     \
    {                                                                                                                  \
        return binary(tape, &function##_op, a, b);                                                                     \
    }

/* tap_add, tap_sub, tap_mul, tap_div: y = a + b, a - b, a * b, a / b, with broadcasting.
 *
 * Backward   add: da += dy, db += dy; sub: db -= dy; mul: da += dy*b, db += dy*a; div: da += dy/b, db -= dy*a/b^2;
 *            summed over the places where an operand was repeated
 * Shapes     a, b of up to TAP_MAX_DIMS dimensions that broadcast -> y
 * Ownership  y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when the shapes do not broadcast; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    forward over blocks of rows; the gradient of a repeated operand on one thread, in order of rows
 */
BINARY_OP(tap_add, add_row, pass_gradient, pass_gradient)
BINARY_OP(tap_sub, sub_row, pass_gradient, negated_gradient)
BINARY_OP(tap_mul, mul_row, mul_gradient_a, mul_gradient_b)
BINARY_OP(tap_div, div_row, div_gradient_a, div_gradient_b)
#undef BINARY_OP
