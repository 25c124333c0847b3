/* test_ops.c: what holds for every operation in ops.def, shown on every case that its test file gives. Outputs are
 * weighted with random numbers before they are summed: a plain sum after a normalisation would prove nothing. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gradcheck.h"
#include "mem.h"
#include "parallel.h"

static const struct op_entry {
    const char *name;
    const struct op_cases *cases;
} entries[] = {
#define TAP_OP(function, parameters, formula) {#function, &function##_cases},
#include "ops.def"
#undef TAP_OP
};
#define N_ENTRIES (sizeof entries / sizeof entries[0])

/* One case set up: its inputs as parameters, so that they outlive a tape's reset. */
struct run {
    const struct op_case *c;
    struct tap_parameters parameters;
    struct tap_tensor *inputs[OP_MAX_INPUTS];
    tap_real *weights; /* of the result, drawn once */
    size_t n_weights;
};

static void set_up(struct run *run, const struct op_case *c, uint32_t place)
{
    struct tap_error error = {0};
    *run = (struct run){.c = c};
    for (int i = 0; i < c->n_inputs; i++) {
        char name[8] = {'i', 'n', (char)('0' + i), '\0'};
        run->inputs[i] = tap_parameters_add(&run->parameters, "", name, c->inputs[i].n_dims, c->inputs[i].shape,
                                            (struct tap_init){TAP_INIT_ZEROS, 0}, &error);
    }
    cr_assert_eq(tap_parameters_allocate(&run->parameters, &error), TAP_OK, "%s", error.message);
    for (int i = 0; i < c->n_inputs; i++) {
        fill_values(run->inputs[i]->data, run->inputs[i]->size, c->inputs[i].fill, place * OP_MAX_INPUTS + (uint32_t)i);
        run->inputs[i]->requires_grad = !c->inputs[i].is_constant;
    }
}

static void tear_down(struct run *run)
{
    tap_parameters_clear(&run->parameters);
    free(run->weights);
}

/* sum(y * w) with random w. */
static struct tap_tensor *weighted_loss(struct tap_tape *tape, void *context)
{
    struct run *run = context;
    struct tap_tensor *y = run->c->build(tape, run->inputs, run->c->extra);
    if (y == NULL)
        return NULL;
    if (run->weights == NULL) {
        run->n_weights = y->size;
        run->weights = malloc((y->size + 1) * sizeof *run->weights);
        fill_values(run->weights, y->size, OP_FILL_NORMAL, 999);
    }
    cr_assert_eq(run->n_weights, y->size);
    return tap_sum(tape, tap_mul(tape, y, tap_input(tape, y->n_dims, y->shape, run->weights)), TAP_ALL_AXES, false);
}

Test(ops, every_operation_has_cases)
{
    size_t total = 0;
    cr_assert_eq(N_ENTRIES, tap_n_ops);
    for (size_t e = 0; e < N_ENTRIES; e++) {
        cr_assert_str_eq(entries[e].name, tap_ops[e].name);
        cr_assert_geq(entries[e].cases->n, 3, "%s has %zu cases", entries[e].name, entries[e].cases->n);
        cr_assert(strlen(tap_ops[e].formula) > 0);
        cr_assert_str_eq(tap_ops[e].op->name, tap_ops[e].name);
        total += entries[e].cases->n;
    }
    cr_assert_geq(total, 300, "%zu shape sets", total);
}

#ifdef TAP_REAL_IS_DOUBLE
static bool has_gradient(const struct op_case *c)
{
    bool any = false;
    for (int i = 0; i < c->n_inputs; i++)
        any |= !c->inputs[i].is_constant;
    return any;
}

Test(ops, every_gradient_equals_central_differences)
{
    struct tap_tape *tape = test_tape();
    for (size_t e = 0; e < N_ENTRIES; e++)
        for (size_t k = 0; k < entries[e].cases->n; k++) {
            const struct op_case *c = &entries[e].cases->cases[k];
            struct run run;
            struct tap_error error = {0};
            struct tap_gradcheck_result results[OP_MAX_INPUTS];
            const struct tap_gradcheck_options options = {.elements = 200, .seed = 7};
            if (!has_gradient(c) || strcmp(entries[e].name, "tap_detach") == 0)
                continue;
            set_up(&run, c, (uint32_t)(100 * e + k));
            cr_assert_eq(tap_gradcheck(tape, &run.parameters, weighted_loss, &run, &options, results, &error), TAP_OK,
                         "%s, %s: %s", entries[e].name, c->name, error.message);
            double tolerance = c->tolerance > 0 ? c->tolerance : 1e-7;
            for (int i = 0; i < c->n_inputs; i++)
                if (!c->inputs[i].is_constant)
                    cr_expect(results[i].error <= tolerance, "%s, %s, input %d, element %zu: gradient %.12g, not %.12g",
                              entries[e].name, c->name, i, results[i].worst, results[i].gradient, results[i].difference);
            tear_down(&run);
        }
    tap_tape_free(tape);
}
#endif

/* Value and all gradients of one case, one after the other, in a new block. */
static tap_real *results_of(struct tap_tape *tape, struct run *run, size_t *out_n, int n_backward)
{
    tap_parameters_zero_grad(&run->parameters);
    tap_tape_reset(tape);
    struct tap_tensor *y = run->c->build(tape, run->inputs, run->c->extra);
    cr_assert(y != NULL, "%s: %s", run->c->name, tap_tape_error(tape)->message);
    size_t n = y->size + run->parameters.block_size;
    tap_real *results = malloc((n + 1) * sizeof *results);
    memcpy(results, y->data, y->size * sizeof *results);
    if (y->requires_grad) {
        struct tap_tensor *loss = weighted_loss(tape, run);
        for (int i = 0; i < n_backward; i++)
            cr_assert_eq(tap_backward(tape, loss), TAP_OK);
    }
    memcpy(results + n - run->parameters.block_size, run->parameters.grad,
           run->parameters.block_size * sizeof *results);
    *out_n = n;
    return results;
}

Test(ops, results_have_the_same_bits_for_any_number_of_threads)
{
    struct tap_tape *tape = test_tape();
    for (size_t e = 0; e < N_ENTRIES; e++)
        for (size_t k = 0; k < entries[e].cases->n; k++) {
            struct run run;
            size_t n, n_one;
            set_up(&run, &entries[e].cases->cases[k], (uint32_t)(100 * e + k));
            tap_set_threads(1);
            tap_real *one = results_of(tape, &run, &n_one, 1);
            for (int threads = 2; threads <= 4; threads++) {
                tap_set_threads(threads);
                tap_real *several = results_of(tape, &run, &n, 1);
                cr_expect(n == n_one && memcmp(one, several, n * sizeof *one) == 0, "%s, %s: %d threads",
                          entries[e].name, run.c->name, threads);
                free(several);
            }
            free(one);
            tear_down(&run);
        }
    tap_tape_free(tape);
}

Test(ops, a_second_backward_adds_the_same_gradient_again)
{
    struct tap_tape *tape = test_tape();
    for (size_t e = 0; e < N_ENTRIES; e++)
        for (size_t k = 0; k < entries[e].cases->n; k++) {
            struct run run;
            size_t n;
            set_up(&run, &entries[e].cases->cases[k], (uint32_t)(100 * e + k));
            tap_real *once = results_of(tape, &run, &n, 1);
            tap_real *twice = results_of(tape, &run, &n, 2);
            size_t first_gradient = n - run.parameters.block_size;
            for (size_t i = first_gradient; i < n; i++)
                cr_expect(fabs((double)twice[i] - 2 * (double)once[i]) <= 100 * TAP_REAL_EPSILON * (1 + fabs((double)once[i])),
                          "%s, %s: %.9g twice is not %.9g", entries[e].name, run.c->name, (double)once[i], (double)twice[i]);
            free(once);
            free(twice);
            tear_down(&run);
        }
    tap_tape_free(tape);
}

Test(ops, planning_counts_what_a_run_takes)
{
    struct tap_tape *tape = test_tape();
    for (size_t e = 0; e < N_ENTRIES; e++)
        for (size_t k = 0; k < entries[e].cases->n; k++) {
            struct run run;
            const struct op_case *c = &entries[e].cases->cases[k];
            set_up(&run, c, (uint32_t)(100 * e + k));
            struct tap_tape_use use[2];
            for (int planning = 0; planning < 2; planning++) {
                tap_tape_set_planning(tape, planning == 1);
                struct tap_tensor *y = c->build(tape, run.inputs, c->extra);
                struct tap_tensor *loss = tap_sum(tape, y, TAP_ALL_AXES, false);
                if (loss != NULL && loss->requires_grad)
                    tap_backward(tape, loss);
                cr_assert_not(tap_tape_failed(tape), "%s, %s: %s", entries[e].name, c->name,
                              tap_tape_error(tape)->message);
                use[planning] = tap_tape_use(tape);
            }
            cr_expect_eq(use[0].n_bytes, use[1].n_bytes, "%s, %s: %zu bytes used, %zu planned", entries[e].name, c->name,
                         use[0].n_bytes, use[1].n_bytes);
            cr_expect_eq(use[0].scratch_bytes, use[1].scratch_bytes);
            tap_tape_set_planning(tape, false);
            tear_down(&run);
        }
    tap_tape_free(tape);
}

Test(ops, an_allocation_that_fails_marks_the_tape_and_nothing_else)
{
    for (size_t e = 0; e < N_ENTRIES; e++) {
        const struct op_case *c = &entries[e].cases->cases[entries[e].cases->n - 1];
        struct run run;
        bool succeeded = false;
        set_up(&run, c, (uint32_t)e);
        for (uint64_t n = 1; !succeeded; n++) {
            struct tap_tape *tape = test_tape();
            tap_mem_fail_at(n, n % 2 == 0);
            struct tap_tensor *loss = weighted_loss(tape, &run);
            if (loss != NULL && loss->requires_grad)
                tap_backward(tape, loss);
            tap_mem_fail_at(0, false);
            succeeded = !tap_tape_failed(tape);
            cr_assert(succeeded || tap_tape_error(tape)->status == TAP_ERR_MEMORY, "%s: %s", entries[e].name,
                      tap_tape_error(tape)->message);
            /* a failure in the midst of tap_backward leaves a loss with a gradient: only success says anything */
            cr_assert(!succeeded || (loss != NULL && (!loss->requires_grad || loss->has_grad)));
            tap_tape_free(tape);
            cr_assert_lt(n, 100);
        }
        tear_down(&run);
    }
}

Test(ops, a_null_input_is_an_error_that_names_the_operation)
{
    struct tap_tape *tape = test_tape();
    cr_assert_null(tap_add(tape, NULL, NULL));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
    cr_assert(strstr(tap_tape_error(tape)->message, "tap_add") != NULL);
    tap_tape_free(tape);
}
