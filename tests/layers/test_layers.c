/* test_layers.c: what holds for every layer in layers.def, shown on every case that its test file gives. Outputs are
 * weighted with random numbers before they are summed: a plain sum after a norm would prove nothing. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/op_cases.h"
#include "gradcheck.h"
#include "layers.h"
#include "mem.h"
#include "parallel.h"

static const struct entry {
    const char *name;
    const struct layer_cases *cases;
} entries[] = {
#define TAP_LAYER(name, formula) {#name, &name##_cases},
#include "layers.def"
#undef TAP_LAYER
};
#define N_ENTRIES (sizeof entries / sizeof entries[0])

/* For every case of every layer. */
#define FOR_EACH_CASE(e, k)                                                                                            \
    for (size_t e = 0; e < N_ENTRIES; e++)                                                                             \
        for (size_t k = 0; k < entries[e].cases->n; k++)

/* One case on its way through a loss function. */
struct pass {
    struct layer_run run;
    const struct layer_cases *cases;
    const struct layer_case *c;
};

static void set_up(struct pass *pass, const struct layer_cases *cases, size_t k)
{
    struct tap_error error = {0};
    pass->cases = cases;
    pass->c = &cases->cases[k];
    layer_set_up(&pass->run, cases, pass->c, &error);
    cr_assert_eq(error.status, TAP_OK, "%s: %s", pass->c->name, error.message);
}

static struct tap_tensor *weighted_loss(struct tap_tape *tape, void *context)
{
    struct pass *pass = context;
    struct tap_context layer = layer_context(tape, pass->c->training);
    struct tap_tensor *y = pass->cases->forward(&pass->run, &layer);
    if (y == NULL)
        return NULL;
    struct tap_tensor *weights = tap_input_copy(tape, y->n_dims, y->shape, NULL);
    if (weights != NULL && weights->data != NULL)
        fill_values(weights->data, weights->size, OP_FILL_NORMAL, 999);
    return tap_sum(tape, tap_mul(tape, y, weights), TAP_ALL_AXES, false);
}

Test(layers, every_layer_has_cases)
{
    cr_assert_eq(N_ENTRIES, tap_n_layers);
    for (size_t e = 0; e < N_ENTRIES; e++) {
        cr_assert_str_eq(entries[e].name, tap_layers[e].name);
        cr_assert_gt(strlen(tap_layers[e].formula), 0);
        cr_assert_geq(entries[e].cases->n, 3, "%s has %zu cases", entries[e].name, entries[e].cases->n);
    }
}

#ifdef TAP_REAL_IS_DOUBLE
Test(layers, every_gradient_equals_central_differences)
{
    struct tap_tape *tape = test_tape();
    FOR_EACH_CASE(e, k)
    {
        struct pass pass;
        struct tap_gradcheck_result results[64];
        struct tap_error error = {0};
        const struct tap_gradcheck_options options = {.elements = 60, .seed = 7};
        set_up(&pass, entries[e].cases, k);
        cr_assert_leq(pass.run.parameters.n, 64);
        cr_assert_eq(tap_gradcheck(tape, &pass.run.parameters, weighted_loss, &pass, &options, results, &error), TAP_OK,
                     "%s, %s: %s", entries[e].name, pass.c->name, error.message);
        for (size_t i = 0; i < pass.run.parameters.n; i++)
            cr_expect(results[i].error <= 1e-6, "%s, %s, %s, element %zu: gradient %.12g, not %.12g", entries[e].name,
                      pass.c->name, results[i].parameter->name, results[i].worst, results[i].gradient, results[i].difference);
        layer_tear_down(&pass.run, pass.cases);
    }
    tap_tape_free(tape);
}
#endif

/* The loss and all gradients. */
static tap_real *results_of(struct tap_tape *tape, struct pass *pass)
{
    const struct tap_parameters *parameters = &pass->run.parameters;
    tap_real *results = malloc((parameters->block_size + 1) * sizeof *results);
    tap_tape_reset(tape);
    tap_parameters_zero_grad(&pass->run.parameters);
    struct tap_tensor *loss = weighted_loss(tape, pass);
    cr_assert_eq(tap_backward(tape, loss), TAP_OK, "%s: %s", pass->c->name, tap_tape_error(tape)->message);
    results[0] = loss->data[0];
    memcpy(results + 1, parameters->grad, parameters->block_size * sizeof *results);
    return results;
}

Test(layers, results_have_the_same_bits_for_any_number_of_threads)
{
    struct tap_tape *tape = test_tape();
    FOR_EACH_CASE(e, k)
    {
        struct pass pass;
        set_up(&pass, entries[e].cases, k);
        tap_set_threads(1);
        tap_real *one = results_of(tape, &pass);
        for (int threads = 2; threads <= 4; threads++) {
            tap_set_threads(threads);
            tap_real *several = results_of(tape, &pass);
            cr_expect_eq(memcmp(one, several, (pass.run.parameters.block_size + 1) * sizeof *one), 0, "%s, %s: %d threads",
                         entries[e].name, pass.c->name, threads);
            free(several);
        }
        free(one);
        layer_tear_down(&pass.run, pass.cases);
    }
    tap_tape_free(tape);
}

Test(layers, planning_counts_what_a_run_takes)
{
    struct tap_tape *tape = test_tape();
    FOR_EACH_CASE(e, k)
    {
        struct pass pass;
        struct tap_tape_use use[2];
        set_up(&pass, entries[e].cases, k);
        for (int planning = 0; planning < 2; planning++) {
            tap_tape_set_planning(tape, planning);
            cr_assert_eq(tap_backward(tape, weighted_loss(tape, &pass)), TAP_OK, "%s", tap_tape_error(tape)->message);
            use[planning] = tap_tape_use(tape);
        }
        cr_expect_eq(use[0].n_bytes, use[1].n_bytes, "%s, %s", entries[e].name, pass.c->name);
        cr_expect_eq(use[0].scratch_bytes, use[1].scratch_bytes, "%s, %s", entries[e].name, pass.c->name);
        cr_expect_eq(use[0].record_bytes, use[1].record_bytes, "%s, %s", entries[e].name, pass.c->name);
        tap_tape_set_planning(tape, false);
        layer_tear_down(&pass.run, pass.cases);
    }
    tap_tape_free(tape);
}

Test(layers, an_allocation_that_fails_is_an_error_and_leaks_nothing)
{
    struct tap_tape *tape = test_tape();
    FOR_EACH_CASE(e, k)
    {
        bool succeeded = false;
        for (uint64_t n = 1; !succeeded; n++) {
            struct pass pass = {.cases = entries[e].cases, .c = &entries[e].cases->cases[k]};
            struct tap_error error = {0};
            tap_mem_fail_at(n, n % 2 == 0);
            layer_set_up(&pass.run, pass.cases, pass.c, &error);
            tap_mem_fail_at(0, false);
            succeeded = error.status == TAP_OK;
            cr_assert(succeeded || error.status == TAP_ERR_MEMORY, "%s: %s", pass.c->name, error.message);
            layer_tear_down(&pass.run, pass.cases);
            cr_assert_lt(n, 500);
        }
    }
    tap_tape_free(tape);
}

Test(layers, without_training_dropout_changes_nothing)
{
    struct tap_tape *tape = test_tape();
    FOR_EACH_CASE(e, k)
    {
        struct pass pass;
        set_up(&pass, entries[e].cases, k);
        struct tap_context on = layer_context(tape, true), off = layer_context(tape, false);
        tap_tape_reset(tape);
        struct tap_tensor *trained = pass.cases->forward(&pass.run, &on), *evaluated = pass.cases->forward(&pass.run, &off);
        bool same = memcmp(trained->data, evaluated->data, trained->size * sizeof(tap_real)) == 0;
        cr_expect_eq(same, !pass.c->training, "%s, %s", entries[e].name, pass.c->name);
        layer_tear_down(&pass.run, pass.cases);
    }
    tap_tape_free(tape);
}
