/* optimizer.c: the pass that all optimizers share: states, pieces, threads. What happens to a number is in adam.c and
 * sgd.c. */
#include "optimizer.h"

#include <math.h>
#include <string.h>

#include "mem.h"
#include "optimizer_rule.h"
#include "parallel.h"

/* Numbers updated together: long enough that starting one costs nothing, short enough that threads share evenly. */
#define PIECE_NUMBERS ((size_t)16384)

/* Where a piece lies. A piece never crosses parameters, so the padding between them is never written. */
struct place {
    const struct tap_parameter *parameter;
    size_t offset; /* in the blocks */
    size_t n;
};

struct tap_optimizer {
    const struct tap_optimizer_rule *rule;
    struct tap_optimizer_options options;
    const struct tap_parameters *parameters;
    const char *names[TAP_MAX_STATES];
    tap_real *states[TAP_MAX_STATES];
    size_t n_states;
    struct place *places;
    size_t n_places;
    long steps;
};

const struct tap_optimizer_entry tap_optimizers[] = {
#define TAP_OPTIMIZER(rule, name, formula) {name, formula, &(rule)},
#include "optimizers.def"
#undef TAP_OPTIMIZER
};
const size_t tap_n_optimizers = sizeof tap_optimizers / sizeof tap_optimizers[0];

const struct tap_optimizer_entry *tap_optimizer_find(const char *name)
{
    for (size_t i = 0; i < tap_n_optimizers; i++)
        if (strcmp(tap_optimizers[i].name, name) == 0)
            return &tap_optimizers[i];
    return NULL;
}

/* Marks error unless 0 <= value < limit; written so that NaN fails. */
static void check_range(const char *name, double value, double limit, struct tap_error *error)
{
    if (value >= 0 && value < limit)
        return;
    if (isinf(limit))
        tap_error_set(error, TAP_ERR_VALUE, "%s is %g; a finite number of at least 0 is accepted", name, value);
    else
        tap_error_set(error, TAP_ERR_VALUE, "%s is %g; a number from 0 to below %g is accepted", name, value, limit);
}

static enum tap_status check_options(const struct tap_optimizer_options *options, struct tap_error *error)
{
    check_range("beta1", options->beta1, 1, error);
    check_range("beta2", options->beta2, 1, error);
    check_range("eps", options->eps, INFINITY, error);
    check_range("weight_decay", options->weight_decay, INFINITY, error);
    check_range("momentum", options->momentum, 1, error);
    if (options->nesterov && options->momentum == 0)
        tap_error_set(error, TAP_ERR_VALUE, "nesterov is true but momentum is 0; a momentum above 0 is needed");
    return error->status;
}

static bool take_states(struct tap_optimizer *optimizer)
{
    size_t n = optimizer->parameters->block_size;
    for (size_t i = 0; i < optimizer->n_states; i++) {
        optimizer->states[i] = tap_mem_new_aligned(n, sizeof(tap_real));
        if (optimizer->states[i] == NULL)
            return false;
        if (n > 0)
            memset(optimizer->states[i], 0, n * sizeof(tap_real));
    }
    return true;
}

static bool take_places(struct tap_optimizer *optimizer)
{
    const struct tap_parameters *parameters = optimizer->parameters;
    size_t n = 0;
    for (size_t p = 0; p < parameters->n; p++)
        n += tap_ceil_div(parameters->items[p]->tensor.size, PIECE_NUMBERS);
    optimizer->places = tap_mem_new(n, sizeof *optimizer->places);
    if (optimizer->places == NULL)
        return false;
    for (size_t p = 0; p < parameters->n; p++) {
        const struct tap_parameter *parameter = parameters->items[p];
        for (size_t first = 0; first < parameter->tensor.size; first += PIECE_NUMBERS)
            optimizer->places[optimizer->n_places++] = (struct place){
                parameter, parameter->offset + first, tap_min_size(PIECE_NUMBERS, parameter->tensor.size - first)};
    }
    return true;
}

struct tap_optimizer *tap_optimizer_new(const struct tap_optimizer_entry *kind,
                                        const struct tap_optimizer_options *options,
                                        const struct tap_parameters *parameters, struct tap_error *error)
{
    if (error->status != TAP_OK || check_options(options, error) != TAP_OK)
        return NULL;
    if (parameters->data == NULL || parameters->grad == NULL) {
        tap_error_set(error, TAP_ERR_VALUE, "the optimizer %s needs parameters that are allocated", kind->name);
        return NULL;
    }
    struct tap_optimizer *optimizer = tap_mem_new(1, sizeof *optimizer);
    if (optimizer == NULL)
        goto no_memory;
    optimizer->rule = kind->rule;
    optimizer->options = *options;
    optimizer->parameters = parameters;
    optimizer->n_states = kind->rule->states(options, optimizer->names);
    TAP_CHECK(optimizer->n_states <= TAP_MAX_STATES);
    if (take_states(optimizer) && take_places(optimizer))
        return optimizer;
no_memory:
    tap_optimizer_free(optimizer);
    tap_error_set(error, TAP_ERR_MEMORY, "out of memory for the states of the optimizer %s", kind->name);
    return NULL;
}

void tap_optimizer_free(struct tap_optimizer *optimizer)
{
    if (optimizer == NULL)
        return;
    for (size_t i = 0; i < optimizer->n_states; i++)
        tap_mem_free(optimizer->states[i]);
    tap_mem_free(optimizer->places);
    tap_mem_free(optimizer);
}

static void update_place(const struct tap_optimizer *optimizer, const struct tap_update *update,
                         const struct place *place)
{
    const struct tap_tensor *tensor = &place->parameter->tensor;
    if (!tensor->requires_grad)
        return;
    bool decays = optimizer->options.decay_all || tensor->n_dims >= 2;
    struct tap_piece piece = {
        .n = place->n,
        .data = optimizer->parameters->data + place->offset,
        .grad = optimizer->parameters->grad + place->offset,
        .weight_decay = decays ? optimizer->options.weight_decay : 0,
    };
    for (size_t i = 0; i < optimizer->n_states; i++)
        piece.states[i] = optimizer->states[i] + place->offset;
    optimizer->rule->update(update, &piece);
}

enum tap_status tap_optimizer_step(struct tap_optimizer *optimizer, double learning_rate, double gradient_factor)
{
    if (!isfinite(learning_rate) || !isfinite(gradient_factor))
        return TAP_ERR_NONFINITE;
    optimizer->steps++;
    const struct tap_update update = {
        .options = &optimizer->options,
        .learning_rate = learning_rate,
        .gradient_factor = gradient_factor,
        .bias_correction1 = 1 - pow(optimizer->options.beta1, (double)optimizer->steps),
        .bias_correction2 = 1 - pow(optimizer->options.beta2, (double)optimizer->steps),
    };
    /* dynamic: pieces differ in length and frozen ones cost nothing; who takes which does not show in the result */
#pragma omp parallel for schedule(dynamic, 1) num_threads(tap_threads_for((double)optimizer->parameters->n_numbers))
    for (size_t i = 0; i < optimizer->n_places; i++)
        update_place(optimizer, &update, &optimizer->places[i]);
    return TAP_OK;
}

size_t tap_optimizer_n_states(const struct tap_optimizer *optimizer)
{
    return optimizer->n_states;
}

const char *tap_optimizer_state_name(const struct tap_optimizer *optimizer, size_t i)
{
    TAP_CHECK(i < optimizer->n_states);
    return optimizer->names[i];
}

tap_real *tap_optimizer_state_block(const struct tap_optimizer *optimizer, size_t i)
{
    TAP_CHECK(i < optimizer->n_states);
    return optimizer->states[i];
}

long tap_optimizer_steps(const struct tap_optimizer *optimizer)
{
    return optimizer->steps;
}

void tap_optimizer_set_steps(struct tap_optimizer *optimizer, long steps)
{
    TAP_CHECK(steps >= 0);
    optimizer->steps = steps;
}
