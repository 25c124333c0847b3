/* layer_cases.c: see layer_cases.h. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "autograd/op_cases.h"

static const uint32_t offsets[] = {0, 3, 3, 4, 9};
const struct tap_segments layer_segments = {4, offsets, 0};
const uint32_t layer_tokens[LAYER_TOKENS] = {3, 0, 3, 6, 1, 2, 3, 6, 4};

/* Bags of 0 to 4 character n-grams; a bigram but for the first token of a sequence. */
static const uint32_t character_offsets[] = {0, 2, 2, 5, 6, 10, 10, 11, 12, 14}, characters[] = {0, 1, 2, 1, 1, 4, 0, 1, 2, 3, 3, 2, 4, 0},
                      bigram_offsets[] = {0, 0, 1, 2, 2, 2, 3, 4, 5, 6}, bigrams[] = {2, 0, 1, 2, 2, 0};
const struct tap_ngrams layer_ngrams = {{character_offsets, characters}, {bigram_offsets, bigrams}};

void layer_set_up(struct layer_run *run, const struct layer_cases *cases, const struct layer_case *c, struct tap_error *error)
{
    const size_t shape[] = {LAYER_TOKENS, c->d_model};
    *run = (struct layer_run){0};
    run->x = tap_parameters_add(&run->parameters, "", "x", 2, shape, (struct tap_init){TAP_INIT_NORMAL, 1}, error);
    cases->add(run, c, error);
    if (tap_parameters_allocate(&run->parameters, error) != TAP_OK)
        return;
    for (size_t i = 0; i < run->parameters.n; i++) {
        const struct tap_parameter *parameter = run->parameters.items[i];
        fill_values(parameter->tensor.data, parameter->tensor.size, OP_FILL_NORMAL, (uint32_t)(40 + i));
        for (size_t j = 0; parameter->init.kind == TAP_INIT_ONES && j < parameter->tensor.size; j++)
            parameter->tensor.data[j] = 1 + parameter->tensor.data[j] / 8;
    }
}

void layer_tear_down(struct layer_run *run, const struct layer_cases *cases)
{
    tap_parameters_clear(&run->parameters);
    if (cases->clear != NULL)
        cases->clear(run);
}

struct tap_context layer_context(struct tap_tape *tape, bool training)
{
    return (struct tap_context){.tape = tape, .segments = &layer_segments, .ngrams = &layer_ngrams, .training = training, .seed = 5, .step = 3};
}

void initialize_all(struct tap_parameters *parameters, struct tap_error *error)
{
    cr_assert_eq(tap_parameters_allocate(parameters, error), TAP_OK, "%s", error->message);
    tap_parameters_initialize(parameters, 1);
}

struct tap_tensor *parameter_of(const struct tap_parameters *parameters, const char *name, size_t rows, size_t columns)
{
    struct tap_parameter *parameter = tap_parameters_find(parameters, name);
    cr_assert_not_null(parameter, "no parameter %s", name);
    struct tap_tensor *tensor = &parameter->tensor;
    cr_assert_eq(tensor->n_dims, columns == 0 ? 1 : 2, "%s", name);
    cr_assert_eq(tensor->shape[0], rows, "%s has %zu rows", name, tensor->shape[0]);
    cr_assert(columns == 0 || tensor->shape[1] == columns, "%s has %zu columns", name, tensor->shape[1]);
    return tensor;
}

void assert_uniform(size_t n, const tap_real *data, double bound)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        cr_assert_leq(fabs((double)data[i]), bound * (1 + 1e-6));
        squares += (double)data[i] * (double)data[i] / (double)n;
    }
    cr_assert_float_eq(squares, bound * bound / 3, 5 * bound * bound * sqrt(4.0 / 45 / (double)n), "variance %g, not %g",
                       squares, bound * bound / 3);
}
