/* op_matmul.c: batched matrix products, either side transposed. One pair of matrices is cut into blocks of rows over
 * the threads; several pairs are one thread each. */
#include "gemm.h"
#include "ops.h"
#include "parallel.h"

struct matmul_attributes {
    bool transpose_a;
    bool transpose_b;
    size_t m, n, k;
    size_t n_products;
    int n_leading;                /* leading axes of the result */
    size_t step_a[TAP_MAX_DIMS];  /* in matrices, along each leading axis; 0 where a is repeated */
    size_t step_b[TAP_MAX_DIMS];
};

/* The steps of `x` along the result's leading axes; false when they do not broadcast. */
static bool leading_steps(const struct tap_tensor *x, int n_leading, size_t *shape, size_t *out_step)
{
    size_t step = 1;
    int n_own = x->n_dims - 2;
    for (int i = n_leading - 1; i >= 0; i--) {
        int own = i - (n_leading - n_own);
        size_t size = own < 0 ? 1 : x->shape[own];
        if (size != 1 && shape[i] != 1 && size != shape[i])
            return false;
        if (size != 1)
            shape[i] = size;
        out_step[i] = size == 1 ? 0 : step;
        step *= size;
    }
    return true;
}

static struct tap_matrix matrix_of(tap_real *data, const struct tap_tensor *x, size_t number, bool transposed)
{
    size_t columns = x->shape[x->n_dims - 1];
    tap_real *first = data + number * x->shape[x->n_dims - 2] * columns;
    return transposed ? (struct tap_matrix){first, 1, columns} : (struct tap_matrix){first, columns, 1};
}

static struct tap_matrix transposed(struct tap_matrix matrix)
{
    return (struct tap_matrix){matrix.data, matrix.column_stride, matrix.row_stride};
}

/* The number of the matrix of an operand that product `number` uses. */
static size_t operand_number(const struct tap_node *node, const size_t *step, size_t number)
{
    const struct matmul_attributes *attributes = node->attributes;
    size_t own = 0;
    for (int i = attributes->n_leading - 1; i >= 0; i--) {
        own += number % node->output->shape[i] * step[i];
        number /= node->output->shape[i];
    }
    return own;
}

static bool is_repeated(const struct tap_node *node, const size_t *step)
{
    const struct matmul_attributes *attributes = node->attributes;
    for (int i = 0; i < attributes->n_leading; i++)
        if (node->output->shape[i] > 1 && step[i] == 0)
            return true;
    return false;
}

static double matmul_flops(const struct tap_node *node)
{
    const struct matmul_attributes *p = node->attributes;
    return 2.0 * (double)p->n_products * (double)p->m * (double)p->n * (double)p->k;
}

static void matmul_forward(struct tap_node *node)
{
    const struct matmul_attributes *p = node->attributes;
    const struct tap_tensor *a = node->inputs[0];
    const struct tap_tensor *b = node->inputs[1];
    if (p->n_products == 1) {
        tap_gemm(tap_gemm_token_rows(p->n, p->k), p->m, p->n, p->k, 1, matrix_of(a->data, a, 0, p->transpose_a),
                 matrix_of(b->data, b, 0, p->transpose_b), 0, matrix_of(node->output->data, node->output, 0, false),
                 tap_scratch(node));
        return;
    }
#pragma omp parallel for num_threads(tap_threads_for(matmul_flops(node)))
    for (size_t i = 0; i < p->n_products; i++)
        tap_gemm_serial(p->m, p->n, p->k, 1,
                        matrix_of(a->data, a, operand_number(node, p->step_a, i), p->transpose_a),
                        matrix_of(b->data, b, operand_number(node, p->step_b, i), p->transpose_b), 0,
                        matrix_of(node->output->data, node->output, i, false));
}

/* Adds product i's part: dA += dY B^T (for the operand as used, transposed or not) or dB += A^T dY. */
static void add_gradient(struct tap_node *node, int which, tap_real *grad, size_t i)
{
    const struct matmul_attributes *p = node->attributes;
    const struct tap_tensor *a = node->inputs[0];
    const struct tap_tensor *b = node->inputs[1];
    struct tap_matrix dy = matrix_of(node->output->grad, node->output, i, false);
    size_t number_a = operand_number(node, p->step_a, i);
    size_t number_b = operand_number(node, p->step_b, i);
    if (which == 0)
        tap_gemm_serial(p->m, p->k, p->n, 1, dy, transposed(matrix_of(b->data, b, number_b, p->transpose_b)), 1,
                        matrix_of(grad, a, number_a, p->transpose_a));
    else
        tap_gemm_serial(p->k, p->n, p->m, 1, transposed(matrix_of(a->data, a, number_a, p->transpose_a)), dy, 1,
                        matrix_of(grad, b, number_b, p->transpose_b));
}

static void backward_operand(struct tap_node *node, int which)
{
    const struct matmul_attributes *p = node->attributes;
    struct tap_tensor *x = node->inputs[which];
    if (!tap_wants_grad(x))
        return;
    tap_real *grad = tap_grad_add(x);
    bool is_shared = is_repeated(node, which == 0 ? p->step_a : p->step_b);
#pragma omp parallel for num_threads(is_shared ? 1 : tap_threads_for(matmul_flops(node)))
    for (size_t i = 0; i < p->n_products; i++)
        add_gradient(node, which, grad, i);
}

static void matmul_backward(struct tap_node *node)
{
    backward_operand(node, 0);
    backward_operand(node, 1);
}

static size_t matmul_scratch(const struct tap_node *node)
{
    const struct matmul_attributes *p = node->attributes;
    return p->n_products == 1 ? tap_gemm_scratch(tap_gemm_token_rows(p->n, p->k), p->n, p->k) : 0;
}

const struct tap_op tap_matmul_op = {
    .name = "tap_matmul",
    .forward = matmul_forward,
    .backward = matmul_backward,
    .flops = matmul_flops,
    .scratch = matmul_scratch,
};

/* tap_matmul: products of the matrices in the last two axes.
 *
 * Formula    Y[..] = op(A[..]) op(B[..]), op the transpose where asked for
 * Backward   d op(A) += dY op(B)^T; d op(B) += op(A)^T dY; summed where an operand is repeated
 * Shapes     A (..,M,K) or transposed (..,K,M), B (..,K,N) or (..,N,K) -> Y (..,M,N); 2 dimensions at least; the
 *            leading axes broadcast; K = 0 gives zeros
 * Ownership  Y belongs to the tape until tap_tape_reset
 * Errors     TAP_ERR_SHAPE when the shapes do not fit; TAP_ERR_MEMORY. Returns NULL, marks the tape
 * Threads    over blocks of rows of one product, or over products
 * Cost       2*M*N*K flops a product
 */
struct tap_tensor *tap_matmul(struct tap_tape *tape, struct tap_tensor *a, struct tap_tensor *b, bool transpose_a,
                              bool transpose_b)
{
    struct tap_tensor *inputs[] = {a, b};
    if (!tap_op_ready(tape, &tap_matmul_op, inputs, 2))
        return NULL;
    char text_a[TAP_SHAPE_TEXT_BYTES], text_b[TAP_SHAPE_TEXT_BYTES];
    struct matmul_attributes p = {.transpose_a = transpose_a, .transpose_b = transpose_b, .n_products = 1};
    size_t shape[TAP_MAX_DIMS];
    bool fits = a->n_dims >= 2 && b->n_dims >= 2;
    if (fits) {
        p.m = a->shape[a->n_dims - (transpose_a ? 1 : 2)];
        p.k = a->shape[a->n_dims - (transpose_a ? 2 : 1)];
        p.n = b->shape[b->n_dims - (transpose_b ? 2 : 1)];
        p.n_leading = (a->n_dims > b->n_dims ? a->n_dims : b->n_dims) - 2;
        for (int i = 0; i < p.n_leading; i++)
            shape[i] = 1;
        fits = b->shape[b->n_dims - (transpose_b ? 1 : 2)] == p.k && leading_steps(a, p.n_leading, shape, p.step_a) &&
               leading_steps(b, p.n_leading, shape, p.step_b);
    }
    if (!fits)
        return tap_op_fail(tape, &tap_matmul_op, TAP_ERR_SHAPE, "%s%s and %s%s do not fit",
                           tap_shape_text(a->n_dims, a->shape, text_a), transpose_a ? " transposed" : "",
                           tap_shape_text(b->n_dims, b->shape, text_b), transpose_b ? " transposed" : "");
    for (int i = 0; i < p.n_leading; i++)
        p.n_products *= shape[i];
    shape[p.n_leading] = p.m;
    shape[p.n_leading + 1] = p.n;
    struct tap_node *node = tap_node_new(tape, &tap_matmul_op, inputs, 2, p.n_leading + 2, shape, sizeof p);
    if (node == NULL)
        return NULL;
    *(struct matmul_attributes *)node->attributes = p;
    return tap_node_run(node);
}
