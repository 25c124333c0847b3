/* parameters.c: see parameters.h. */
#include "parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "parallel.h"
#include "rng.h"

/* Parameters start on a cache line, as vector loads like it. */
#define ALIGNED_NUMBERS (TAP_ALIGNMENT / sizeof(tap_real))

void tap_parameters_clear(struct tap_parameters *parameters)
{
    for (size_t i = 0; i < parameters->n; i++) {
        tap_mem_free(parameters->items[i]->name);
        tap_mem_free(parameters->items[i]);
    }
    tap_mem_free(parameters->items);
    tap_mem_free(parameters->data);
    tap_mem_free(parameters->grad);
    *parameters = (struct tap_parameters){0};
}

static char *join_name(const char *prefix, const char *name)
{
    size_t n_bytes = strlen(prefix) + 1 + strlen(name) + 1;
    char *joined = tap_mem_new(n_bytes, 1);
    if (joined != NULL)
        snprintf(joined, n_bytes, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
    return joined;
}

/* Sizes of the new parameter and of the block after it; false on overflow. */
static bool count_numbers(struct tap_parameters *parameters, struct tap_parameter *item)
{
    size_t size = 1;
    size_t aligned;
    for (int i = 0; i < item->tensor.n_dims; i++)
        if (!tap_size_mul(size, item->tensor.shape[i], &size))
            return false;
    if (!tap_size_add(size, ALIGNED_NUMBERS - 1, &aligned))
        return false;
    aligned = aligned / ALIGNED_NUMBERS * ALIGNED_NUMBERS;
    item->tensor.size = size;
    item->offset = parameters->block_size;
    return tap_size_add(parameters->block_size, aligned, &parameters->block_size);
}

struct tap_tensor *tap_parameters_add(struct tap_parameters *parameters, const char *prefix, const char *name,
                                      int n_dims, const size_t *shape, struct tap_init init, struct tap_error *error)
{
    if (error->status != TAP_OK)
        return NULL;
    struct tap_parameter *item = tap_mem_new(1, sizeof *item);
    char *joined = join_name(prefix, name);
    if (item == NULL || joined == NULL ||
        !tap_mem_reserve(&parameters->items, &parameters->capacity, parameters->n + 1, sizeof(struct tap_parameter *))) {
        tap_error_memory(error, "a parameter's record");
        goto failed;
    }
    if (tap_parameters_find(parameters, joined) != NULL) {
        tap_error_set(error, TAP_ERR_VALUE, "two parameters are named %s", joined);
        goto failed;
    }
    *item = (struct tap_parameter){.name = joined, .init = init};
    item->tensor.n_dims = n_dims;
    for (int i = 0; i < n_dims; i++)
        item->tensor.shape[i] = shape[i];
    item->tensor.requires_grad = true;
    item->tensor.has_grad = true;
    if (!count_numbers(parameters, item)) {
        tap_error_set(error, TAP_ERR_SHAPE, "parameter %s is too large", joined);
        goto failed;
    }
    parameters->n_numbers += item->tensor.size;
    parameters->items[parameters->n++] = item;
    return &item->tensor;
failed:
    tap_mem_free(joined);
    tap_mem_free(item);
    return NULL;
}

enum tap_status tap_parameters_allocate(struct tap_parameters *parameters, struct tap_error *error)
{
    if (error->status != TAP_OK)
        return error->status;
    TAP_CHECK(parameters->data == NULL && parameters->grad == NULL);
    parameters->data = tap_mem_new_aligned(parameters->block_size, sizeof(tap_real));
    parameters->grad = tap_mem_new_aligned(parameters->block_size, sizeof(tap_real));
    if (parameters->data == NULL || parameters->grad == NULL)
        return tap_error_set(error, TAP_ERR_MEMORY, "out of memory for %zu parameters", parameters->n_numbers);
    if (parameters->block_size > 0) {
        memset(parameters->data, 0, parameters->block_size * sizeof(tap_real));
        memset(parameters->grad, 0, parameters->block_size * sizeof(tap_real));
    }
    for (size_t i = 0; i < parameters->n; i++) {
        parameters->items[i]->tensor.data = parameters->data + parameters->items[i]->offset;
        parameters->items[i]->tensor.grad = parameters->grad + parameters->items[i]->offset;
    }
    return TAP_OK;
}

void tap_parameters_initialize(struct tap_parameters *parameters, uint64_t seed)
{
    for (size_t p = 0; p < parameters->n; p++) {
        struct tap_parameter *item = parameters->items[p];
        struct tap_rng rng = {.key = tap_rng_key(seed, TAP_RNG_INIT, 0, (uint32_t)p)};
        for (size_t i = 0; i < item->tensor.size; i++) {
            double value = 0;
            switch (item->init.kind) {
            case TAP_INIT_ZEROS:
                break;
            case TAP_INIT_ONES:
                value = 1;
                break;
            case TAP_INIT_UNIFORM:
                value = item->init.scale * (2 * tap_rng_uniform(&rng) - 1);
                break;
            case TAP_INIT_NORMAL:
                value = item->init.scale * tap_rng_normal(&rng);
                break;
            }
            item->tensor.data[i] = (tap_real)value;
        }
    }
}

void tap_parameters_zero_grad(struct tap_parameters *parameters)
{
    enum { PIECE = 1 << 16 };
    size_t n = parameters->block_size;
#pragma omp parallel for num_threads(tap_threads_for((double)n))
    for (size_t start = 0; start < n; start += PIECE)
        memset(parameters->grad + start, 0, tap_min_size(PIECE, n - start) * sizeof(tap_real));
}

struct tap_parameter *tap_parameters_find(const struct tap_parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->n; i++)
        if (strcmp(parameters->items[i]->name, name) == 0)
            return parameters->items[i];
    return NULL;
}

/* The block of gradients is summed in this many parts, or fewer of at least this many numbers: what a number's part is
 * depends on the block alone. The padding's zeros are summed along. */
#define NORM_PARTS 256
#define NORM_PART_NUMBERS 8192

static double sum_of_squares(size_t n, const tap_real *x)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

double tap_parameters_grad_norm(const struct tap_parameters *parameters)
{
    double sums[NORM_PARTS];
    size_t n = parameters->block_size;
    size_t part = tap_ceil_div(n, NORM_PARTS);
    part = part < NORM_PART_NUMBERS ? NORM_PART_NUMBERS : tap_ceil_div(part, ALIGNED_NUMBERS) * ALIGNED_NUMBERS;
    size_t n_parts = tap_ceil_div(n, part);
#pragma omp parallel for num_threads(tap_threads_for((double)n))
    for (size_t i = 0; i < n_parts; i++)
        sums[i] = sum_of_squares(tap_min_size(part, n - i * part), parameters->grad + i * part);
    double sum = 0;
    for (size_t i = 0; i < n_parts; i++)
        sum += sums[i];
    return sqrt(sum);
}

struct tap_init tap_init_xavier_uniform(size_t fan_in, size_t fan_out)
{
    return (struct tap_init){TAP_INIT_UNIFORM, sqrt(6.0 / (double)(fan_in + fan_out))};
}
