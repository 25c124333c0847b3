/* tape.c: the tape (see tape.h and op.h). Two arenas: one for the numbers, one for the record of tensors and nodes;
 * while planning the first one only counts. */
#include "tape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "gemm.h"
#include "mem.h"
#include "op.h"
#include "parallel.h"

struct tap_tape {
    struct tap_arena numbers;
    struct tap_arena record;
    struct tap_node *newest;
    tap_real *scratch;
    size_t scratch_size;   /* numbers held */
    size_t scratch_needed; /* the most that a node since the last reset asked for */
    size_t planned_bytes;
    size_t n_nodes;
    double forward_flops;
    bool gradients;
    bool planning;
    struct tap_error error;
};

struct tap_tape *tap_tape_new(struct tap_error *error)
{
    if (tap_gemm_start(error) != TAP_OK)
        return NULL;
    struct tap_tape *tape = tap_mem_new(1, sizeof *tape);
    if (tape == NULL) {
        tap_error_memory(error, "a tape");
        return NULL;
    }
    tape->gradients = true;
    return tape;
}

void tap_tape_free(struct tap_tape *tape)
{
    if (tape == NULL)
        return;
    tap_arena_clear(&tape->numbers);
    tap_arena_clear(&tape->record);
    tap_mem_free(tape->scratch);
    tap_mem_free(tape);
}

void tap_tape_reset(struct tap_tape *tape)
{
    tap_arena_reset(&tape->numbers);
    tap_arena_reset(&tape->record);
    tape->newest = NULL;
    tape->scratch_needed = 0;
    tape->planned_bytes = 0;
    tape->n_nodes = 0;
    tape->forward_flops = 0;
    tap_error_clear(&tape->error);
}

const struct tap_error *tap_tape_error(const struct tap_tape *tape)
{
    return &tape->error;
}

bool tap_tape_failed(const struct tap_tape *tape)
{
    return tape->error.status != TAP_OK;
}

void tap_tape_clear_error(struct tap_tape *tape)
{
    tap_error_clear(&tape->error);
}

struct tap_tensor *tap_tape_fail_memory(struct tap_tape *tape, const char *what)
{
    tap_error_memory(&tape->error, what);
    return NULL;
}

bool tap_tape_set_gradients(struct tap_tape *tape, bool enabled)
{
    bool before = tape->gradients;
    tape->gradients = enabled;
    return before;
}

void tap_tape_set_planning(struct tap_tape *tape, bool enabled)
{
    tap_tape_reset(tape);
    tape->planning = enabled;
}

bool tap_tape_is_planning(const struct tap_tape *tape)
{
    return tape->planning;
}

struct tap_tape_use tap_tape_use(const struct tap_tape *tape)
{
    return (struct tap_tape_use){
        .n_bytes = tape->planning ? tape->planned_bytes : tape->numbers.used_bytes,
        .scratch_bytes = tape->scratch_needed * sizeof(tap_real),
        .record_bytes = tape->record.used_bytes,
        .n_nodes = tape->n_nodes,
        .forward_flops = tape->forward_flops,
    };
}

/* Makes the scratch memory hold n numbers. It is never shrunk, so steps of a known size allocate nothing. */
static bool ensure_scratch(struct tap_tape *tape, size_t n)
{
    if (n > tape->scratch_needed)
        tape->scratch_needed = n;
    if (tape->planning || n <= tape->scratch_size)
        return true;
    tap_real *scratch = tap_mem_new_aligned(n, sizeof *scratch);
    if (scratch == NULL)
        return false;
    tap_mem_free(tape->scratch);
    tape->scratch = scratch;
    tape->scratch_size = n;
    return true;
}

enum tap_status tap_tape_reserve(struct tap_tape *tape, const struct tap_tape_use *use)
{
    tap_tape_reset(tape);
    if (!tap_arena_reserve(&tape->numbers, use->n_bytes) || !tap_arena_reserve(&tape->record, use->record_bytes) ||
        !ensure_scratch(tape, use->scratch_bytes / sizeof(tap_real)))
        return tap_error_set(&tape->error, TAP_ERR_MEMORY, "out of memory for a step of %zu bytes",
                             use->n_bytes + use->record_bytes + use->scratch_bytes);
    tape->scratch_needed = 0;
    return TAP_OK;
}

/* n_bytes that last until reset; *out is NULL while planning. */
static bool take_bytes(struct tap_tape *tape, size_t n_bytes, void **out)
{
    *out = NULL;
    if (tape->planning) {
        size_t piece = tap_arena_piece_bytes(n_bytes);
        if (tap_size_add(tape->planned_bytes, piece, &tape->planned_bytes))
            return true;
    } else {
        *out = tap_arena_take(&tape->numbers, n_bytes);
        if (*out != NULL)
            return true;
    }
    tap_error_set(&tape->error, TAP_ERR_MEMORY, "out of memory for %zu bytes on the tape", n_bytes);
    return false;
}

static bool take_numbers(struct tap_tape *tape, size_t n, tap_real **out)
{
    size_t n_bytes;
    void *block = NULL;
    if (!tap_size_mul(n, sizeof(tap_real), &n_bytes)) {
        tap_error_set(&tape->error, TAP_ERR_MEMORY, "out of memory for %zu numbers on the tape", n);
        return false;
    }
    bool taken = take_bytes(tape, n_bytes, &block);
    *out = block;
    return taken;
}

static void *take_record(struct tap_tape *tape, size_t n_bytes)
{
    void *piece = tap_arena_take(&tape->record, n_bytes);
    if (piece == NULL)
        tap_error_memory(&tape->error, "the tape's record");
    else
        memset(piece, 0, n_bytes);
    return piece;
}

/* A tensor without data. */
static struct tap_tensor *new_tensor(struct tap_tape *tape, const char *who, int n_dims, const size_t *shape)
{
    if (n_dims < 0 || n_dims > TAP_MAX_DIMS) {
        tap_error_set(&tape->error, TAP_ERR_SHAPE, "%s: %d dimensions; 0 to %d are possible", who, n_dims,
                      TAP_MAX_DIMS);
        return NULL;
    }
    size_t size = 1;
    for (int i = 0; i < n_dims; i++)
        if (!tap_size_mul(size, shape[i], &size)) {
            char text[TAP_SHAPE_TEXT_BYTES];
            tap_error_set(&tape->error, TAP_ERR_SHAPE, "%s: shape %s overflows", who,
                          tap_shape_text(n_dims, shape, text));
            return NULL;
        }
    struct tap_tensor *tensor = take_record(tape, sizeof *tensor);
    if (tensor == NULL)
        return NULL;
    tensor->size = size;
    tensor->n_dims = n_dims;
    for (int i = 0; i < n_dims; i++)
        tensor->shape[i] = shape[i];
    return tensor;
}

struct tap_tensor *tap_input(struct tap_tape *tape, int n_dims, const size_t *shape, const tap_real *data)
{
    if (tap_tape_failed(tape))
        return NULL;
    struct tap_tensor *tensor = new_tensor(tape, "input", n_dims, shape);
    if (tensor != NULL)
        tensor->data = (tap_real *)data; /* operations never write to their inputs' data */
    return tensor;
}

struct tap_tensor *tap_input_copy(struct tap_tape *tape, int n_dims, const size_t *shape, const tap_real *data)
{
    struct tap_tensor *tensor = tap_input(tape, n_dims, shape, NULL);
    if (tensor == NULL || !take_numbers(tape, tensor->size, &tensor->data))
        return NULL;
    if (tensor->data != NULL && data != NULL)
        memcpy(tensor->data, data, tensor->size * sizeof *data);
    else if (tensor->data != NULL)
        memset(tensor->data, 0, tensor->size * sizeof *data);
    return tensor;
}

struct tap_tensor *tap_variable(struct tap_tape *tape, int n_dims, const size_t *shape, const tap_real *data)
{
    struct tap_tensor *tensor = tap_input_copy(tape, n_dims, shape, data);
    if (tensor == NULL || !take_numbers(tape, tensor->size, &tensor->grad))
        return NULL;
    if (tensor->grad != NULL)
        memset(tensor->grad, 0, tensor->size * sizeof *tensor->grad);
    tensor->requires_grad = true;
    tensor->has_grad = true;
    return tensor;
}

struct tap_tensor *tap_op_fail(struct tap_tape *tape, const struct tap_op *op, enum tap_status status,
                               const char *format, ...)
{
    char message[TAP_ERROR_MESSAGE_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    tap_error_set(&tape->error, status, "%s: %s", op->name, message);
    return NULL;
}

bool tap_op_ready(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *const *inputs, int n_inputs)
{
    if (tap_tape_failed(tape))
        return false;
    for (int i = 0; i < n_inputs; i++)
        if (inputs[i] == NULL) {
            tap_op_fail(tape, op, TAP_ERR_VALUE, "input %d is NULL", i + 1);
            return false;
        }
    return true;
}

static struct tap_node *record_node(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *const *inputs,
                                    int n_inputs, int n_dims, const size_t *shape, size_t attribute_bytes)
{
    if (!tap_op_ready(tape, op, inputs, n_inputs))
        return NULL;
    struct tap_tensor *output = new_tensor(tape, op->name, n_dims, shape);
    struct tap_node *node = output == NULL ? NULL : take_record(tape, sizeof *node);
    if (node == NULL)
        return NULL;
    node->op = op;
    node->tape = tape;
    node->output = output;
    node->n_inputs = n_inputs;
    node->inputs = take_record(tape, (size_t)n_inputs * sizeof(struct tap_tensor *));
    node->attributes = take_record(tape, attribute_bytes);
    if (node->inputs == NULL || node->attributes == NULL)
        return NULL;
    for (int i = 0; i < n_inputs; i++) {
        node->inputs[i] = inputs[i];
        output->requires_grad |= tape->gradients && inputs[i]->requires_grad;
    }
    output->node = node;
    return node;
}

struct tap_node *tap_node_new(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *const *inputs,
                              int n_inputs, int n_dims, const size_t *shape, size_t attribute_bytes)
{
    struct tap_node *node = record_node(tape, op, inputs, n_inputs, n_dims, shape, attribute_bytes);
    if (node == NULL || !take_numbers(tape, node->output->size, &node->output->data))
        return NULL;
    return node;
}

struct tap_node *tap_node_new_view(struct tap_tape *tape, const struct tap_op *op, struct tap_tensor *const *inputs,
                                   int n_dims, const size_t *shape, size_t attribute_bytes)
{
    struct tap_node *node = record_node(tape, op, inputs, 1, n_dims, shape, attribute_bytes);
    if (node != NULL)
        node->output->data = inputs[0]->data;
    return node;
}

bool tap_node_save(struct tap_node *node, size_t n, tap_real **out)
{
    *out = NULL;
    return !node->output->requires_grad || take_numbers(node->tape, n, out);
}

bool tap_node_save_bytes(struct tap_node *node, size_t n_bytes, void **out)
{
    *out = NULL;
    return !node->output->requires_grad || take_bytes(node->tape, n_bytes, out);
}

/* Scratch for one node; while computing, asked for again before each use, for the number of threads may have changed. */
static bool ensure_scratch_of(struct tap_node *node)
{
    if (node->op->scratch == NULL || ensure_scratch(node->tape, node->op->scratch(node)))
        return true;
    tap_op_fail(node->tape, node->op, TAP_ERR_MEMORY, "out of memory for scratch");
    return false;
}

struct tap_tensor *tap_node_run(struct tap_node *node)
{
    struct tap_tape *tape = node->tape;
    if (!ensure_scratch_of(node))
        return NULL;
    tape->forward_flops += node->op->flops != NULL ? node->op->flops(node) : (double)node->output->size;
    if (!tape->planning && node->op->forward != NULL)
        node->op->forward(node);
    node->previous = tape->newest;
    tape->newest = node;
    tape->n_nodes++;
    return node->output;
}

tap_real *tap_scratch(const struct tap_node *node)
{
    return node->tape->scratch;
}

tap_real *tap_grad_add(struct tap_tensor *tensor)
{
    TAP_CHECK(tensor->grad != NULL); /* tap_backward took it before it called the operation */
    if (!tensor->has_grad)
        memset(tensor->grad, 0, tensor->size * sizeof *tensor->grad);
    tensor->has_grad = true;
    return tensor->grad;
}

tap_real *tap_grad_beta(struct tap_tensor *tensor, tap_real *out_beta)
{
    *out_beta = tensor->has_grad ? 1 : 0;
    tensor->has_grad = true;
    return tensor->grad;
}

/* Memory for the gradient of `tensor`; an operation's result keeps it over several backward calls. */
static bool ensure_grad(struct tap_tape *tape, struct tap_tensor *tensor)
{
    if (!tensor->requires_grad || tensor->grad != NULL)
        return true;
    return take_numbers(tape, tensor->size, &tensor->grad);
}

/* Runs backward of `node` when a gradient has reached its result. While planning, one is taken to have. */
static bool backward_node(struct tap_node *node)
{
    struct tap_tape *tape = node->tape;
    struct tap_tensor *output = node->output;
    if (!output->requires_grad || !output->has_grad)
        return true;
    for (int i = 0; i < node->n_inputs; i++) {
        struct tap_tensor *input = node->inputs[i];
        /* while planning there are no addresses to tell whether memory was counted: has_grad does */
        if (!(tape->planning && input->has_grad) && !ensure_grad(tape, input))
            return false;
        if (tape->planning && input->requires_grad)
            input->has_grad = true;
    }
    if (tape->planning)
        return true;
    if (!ensure_scratch_of(node))
        return false;
    node->op->backward(node);
    return true;
}

enum tap_status tap_backward(struct tap_tape *tape, struct tap_tensor *loss)
{
    if (tap_tape_failed(tape))
        return tape->error.status;
    if (loss == NULL)
        return tap_error_set(&tape->error, TAP_ERR_VALUE, "backward: the loss is NULL");
    if (loss->size != 1) {
        char text[TAP_SHAPE_TEXT_BYTES];
        return tap_error_set(&tape->error, TAP_ERR_SHAPE, "backward: the loss has shape %s; one number is needed",
                             tap_shape_text(loss->n_dims, loss->shape, text));
    }
    if (!loss->requires_grad)
        return tap_error_set(&tape->error, TAP_ERR_VALUE, "backward: the loss depends on nothing that requires a gradient");
    for (struct tap_node *node = tape->newest; node != NULL; node = node->previous)
        node->output->has_grad = false;
    if (!ensure_grad(tape, loss))
        return tape->error.status;
    if (!tape->planning)
        *tap_grad_add(loss) += 1;
    loss->has_grad = true;
    for (struct tap_node *node = tape->newest; node != NULL; node = node->previous)
        if (!backward_node(node))
            return tape->error.status;
    return TAP_OK;
}

/* 0 times a number is 0, but for NaN and infinity, where it is NaN. */
static bool is_piece_finite(const tap_real *data, size_t n)
{
    tap_real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += data[i] * 0;
    return sum == 0;
}

bool tap_is_finite(const tap_real *data, size_t n)
{
    enum { PIECE = 4096 };
    size_t n_pieces = tap_ceil_div(n, PIECE);
    int n_bad = 0;
#pragma omp parallel for reduction(+ : n_bad) num_threads(tap_threads_for((double)n))
    for (size_t piece = 0; piece < n_pieces; piece++)
        n_bad += !is_piece_finite(data + piece * PIECE, tap_min_size(PIECE, n - piece * PIECE));
    return n_bad == 0;
}

const struct tap_tensor *tap_tape_first_nonfinite(const struct tap_tape *tape)
{
    const struct tap_tensor *first = NULL;
    if (tape->planning)
        return NULL;
    for (const struct tap_node *node = tape->newest; node != NULL; node = node->previous)
        if (!tap_is_finite(node->output->data, node->output->size))
            first = node->output;
    return first;
}

const char *tap_tensor_operation(const struct tap_tensor *tensor)
{
    return tensor->node == NULL ? "input" : tensor->node->op->name;
}

const char *tap_shape_text(int n_dims, const size_t *shape, char *out)
{
    size_t used = (size_t)snprintf(out, TAP_SHAPE_TEXT_BYTES, "(");
    for (int i = 0; i < n_dims && used < TAP_SHAPE_TEXT_BYTES; i++)
        used += (size_t)snprintf(out + used, TAP_SHAPE_TEXT_BYTES - used, "%s%zu", i > 0 ? ", " : "", shape[i]);
    if (used < TAP_SHAPE_TEXT_BYTES)
        snprintf(out + used, TAP_SHAPE_TEXT_BYTES - used, ")");
    return out;
}

bool tap_same_shape(const struct tap_tensor *a, const struct tap_tensor *b)
{
    if (a->n_dims != b->n_dims)
        return false;
    for (int i = 0; i < a->n_dims; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}
