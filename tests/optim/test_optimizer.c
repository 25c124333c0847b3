/* test_optimizer.c: what holds for every optimizer: the table, options, threads, frozen parameters, padding, resuming,
 * memory. */
#include "optimizer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "mem.h"
#include "optim_support.h"
#include "parallel.h"

/* Several pieces, exactly one, one number more, tiny, a scalar, none. */
static const struct support_shape shapes[] = {{2, {211, 307}}, {1, {16384}}, {2, {5, 3277}},
                                              {1, {3}},        {0, {0}},     {2, {0, 4}}};
#define N_SHAPES (sizeof shapes / sizeof shapes[0])

/* n steps from the optimizer's present one, each with its own gradients, rate and factor. */
static void run_steps(struct tap_optimizer *optimizer, struct tap_parameters *parameters, int n)
{
    for (int i = 0; i < n; i++) {
        long step = tap_optimizer_steps(optimizer) + 1;
        support_fill_grad(parameters, 100 + (uint32_t)step);
        cr_assert_eq(tap_optimizer_step(optimizer, 1e-2 / (double)step, 1 - 0.1 * (double)step), TAP_OK);
        cr_assert_eq(tap_optimizer_steps(optimizer), step);
    }
}

static void assert_same_blocks(const char *name, const struct tap_optimizer *a, const struct tap_parameters *in_a,
                               const struct tap_optimizer *b, const struct tap_parameters *in_b)
{
    size_t n_bytes = in_a->block_size * sizeof(tap_real);
    cr_assert_eq(in_a->block_size, in_b->block_size);
    cr_assert_arr_eq(in_a->data, in_b->data, n_bytes, "%s: parameters", name);
    for (size_t i = 0; i < tap_optimizer_n_states(a); i++)
        cr_assert_arr_eq(tap_optimizer_state_block(a, i), tap_optimizer_state_block(b, i), n_bytes, "%s: %s", name,
                         tap_optimizer_state_name(a, i));
}

Test(optimizer, the_table_holds_the_names_that_a_config_offers)
{
    const char *names[] = {"adam", "adamw", "sgd"};
    cr_assert_eq(tap_n_optimizers, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_str_eq(tap_optimizers[i].name, names[i]);
        cr_assert_eq(tap_optimizer_find(names[i]), &tap_optimizers[i]);
        cr_assert_gt(strlen(tap_optimizers[i].formula), 0);
    }
    cr_assert_null(tap_optimizer_find("Adam"));
    cr_assert_null(tap_optimizer_find(""));
}

Test(optimizer, states_bear_the_names_of_the_checkpoint_and_start_at_zero)
{
    static const struct {
        const char *name;
        struct tap_optimizer_options options;
        size_t n;
        const char *states[3];
    } cases[] = {
        {"sgd", {.momentum = 0}, 0, {0}},
        {"sgd", {.momentum = 0.5}, 1, {"momentum"}},
        {"adam", {.momentum = 0.5}, 2, {"exp_avg", "exp_avg_sq"}},
        {"adam", {.amsgrad = true}, 3, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}},
        {"adamw", {.momentum = 0.5}, 2, {"exp_avg", "exp_avg_sq"}},
        {"adamw", {.amsgrad = true}, 3, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}},
    };
    struct tap_parameters parameters = support_parameters(N_SHAPES, shapes);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct tap_optimizer *optimizer = support_optimizer(cases[c].name, &cases[c].options, &parameters);
        cr_assert_eq(tap_optimizer_n_states(optimizer), cases[c].n);
        cr_assert_eq(tap_optimizer_steps(optimizer), 0);
        for (size_t i = 0; i < cases[c].n; i++) {
            cr_assert_str_eq(tap_optimizer_state_name(optimizer, i), cases[c].states[i]);
            for (size_t j = 0; j < parameters.block_size; j++)
                cr_assert_eq(tap_optimizer_state_block(optimizer, i)[j], 0);
        }
        tap_optimizer_free(optimizer);
    }
    tap_parameters_clear(&parameters);
}

Test(optimizer, options_outside_their_range_are_named_with_what_is_accepted)
{
    static const struct {
        struct tap_optimizer_options options;
        const char *message;
    } cases[] = {
        {{.beta1 = 1}, "beta1 is 1; a number from 0 to below 1 is accepted"},
        {{.beta1 = -0.1}, "beta1 is -0.1; a number from 0 to below 1 is accepted"},
        {{.beta2 = 1.5}, "beta2 is 1.5; a number from 0 to below 1 is accepted"},
        {{.beta2 = NAN}, "beta2 is nan; a number from 0 to below 1 is accepted"},
        {{.eps = -1e-8}, "eps is -1e-08; a finite number of at least 0 is accepted"},
        {{.eps = INFINITY}, "eps is inf; a finite number of at least 0 is accepted"},
        {{.weight_decay = -1}, "weight_decay is -1; a finite number of at least 0 is accepted"},
        {{.momentum = 1}, "momentum is 1; a number from 0 to below 1 is accepted"},
        {{.nesterov = true}, "nesterov is true but momentum is 0; a momentum above 0 is needed"},
    };
    struct tap_parameters parameters = support_parameters(N_SHAPES, shapes);
    for (size_t k = 0; k < tap_n_optimizers; k++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            struct tap_error error = {0};
            cr_assert_null(tap_optimizer_new(&tap_optimizers[k], &cases[c].options, &parameters, &error));
            cr_assert_eq(error.status, TAP_ERR_VALUE);
            cr_assert_str_eq(error.message, cases[c].message);
        }
    tap_parameters_clear(&parameters);
}

Test(optimizer, parameters_without_blocks_are_refused)
{
    struct tap_parameters parameters = {0};
    struct tap_error error = {0};
    cr_assert_null(tap_optimizer_new(&tap_optimizers[0], &support_variants[3].options, &parameters, &error));
    cr_assert_eq(error.status, TAP_ERR_VALUE);
    cr_assert_str_eq(error.message, "the optimizer adam needs parameters that are allocated");
}

Test(optimizer, an_error_from_before_is_kept_and_nothing_made)
{
    struct tap_parameters parameters = support_parameters(1, shapes);
    struct tap_error error = {0};
    tap_error_set(&error, TAP_ERR_IO, "from before");
    uint64_t n_calls = tap_mem_n_calls();
    cr_assert_null(tap_optimizer_new(&tap_optimizers[0], &support_variants[3].options, &parameters, &error));
    cr_assert_eq(tap_mem_n_calls(), n_calls);
    cr_assert_str_eq(error.message, "from before");
    tap_parameters_clear(&parameters);
}

Test(optimizer, memory_that_runs_out_gives_a_clean_error)
{
    for (size_t v = 0; v < support_n_variants; v++)
        for (int persistent = 0; persistent < 2; persistent++) {
            struct tap_parameters parameters = support_parameters(N_SHAPES, shapes);
            struct tap_optimizer *optimizer = NULL;
            uint64_t n = 0;
            while (optimizer == NULL) {
                struct tap_error error = {0};
                tap_mem_fail_at(++n, persistent);
                optimizer = tap_optimizer_new(tap_optimizer_find(support_variants[v].name),
                                              &support_variants[v].options, &parameters, &error);
                tap_mem_fail_at(0, false);
                if (optimizer == NULL) {
                    cr_assert_eq(error.status, TAP_ERR_MEMORY);
                    cr_assert_not_null(strstr(error.message, "states of the optimizer"), "%s", error.message);
                }
            }
            cr_assert_eq(n, 3 + tap_optimizer_n_states(optimizer), "record, pieces and each state can fail");
            tap_optimizer_free(optimizer);
            tap_parameters_clear(&parameters);
        }
    tap_optimizer_free(NULL);
}

Test(optimizer, a_step_has_the_same_bits_for_any_thread_count)
{
    for (size_t v = 0; v < support_n_variants; v++) {
        const char *name = support_variants[v].name;
        struct tap_parameters parameters[4];
        struct tap_optimizer *optimizers[4];
        for (int t = 0; t < 4; t++) {
            tap_set_threads(t + 1);
            parameters[t] = support_parameters(N_SHAPES, shapes);
            support_fill_data(&parameters[t], 5);
            optimizers[t] = support_optimizer(name, &support_variants[v].options, &parameters[t]);
            run_steps(optimizers[t], &parameters[t], 3);
            assert_same_blocks(name, optimizers[0], &parameters[0], optimizers[t], &parameters[t]);
        }
        for (int t = 0; t < 4; t++) {
            tap_optimizer_free(optimizers[t]);
            tap_parameters_clear(&parameters[t]);
        }
    }
}

Test(optimizer, a_numbers_update_does_not_depend_on_where_it_lies)
{
    static const struct support_shape whole[] = {{2, {1, 40000}}};
    static const struct support_shape parts[] = {{2, {1, 1}},     {2, {1, 7}},     {2, {17, 1}},
                                                 {2, {1, 16400}}, {2, {1, 23000}}, {2, {5, 115}}};
    for (size_t v = 0; v < support_n_variants; v++) {
        struct tap_parameters a = support_parameters(1, whole), b = support_parameters(6, parts);
        support_fill_data(&a, 5);
        support_fill_data(&b, 5);
        struct tap_optimizer *in_a = support_optimizer(support_variants[v].name, &support_variants[v].options, &a);
        struct tap_optimizer *in_b = support_optimizer(support_variants[v].name, &support_variants[v].options, &b);
        cr_assert_eq(a.n_numbers, b.n_numbers);
        run_steps(in_a, &a, 3);
        run_steps(in_b, &b, 3);
        size_t first = 0;
        for (size_t p = 0; p < b.n; p++) {
            size_t n_bytes = b.items[p]->tensor.size * sizeof(tap_real);
            cr_assert_arr_eq(a.data + first, b.items[p]->tensor.data, n_bytes, "variant %zu, part %zu", v, p);
            first += b.items[p]->tensor.size;
        }
        tap_optimizer_free(in_a);
        tap_optimizer_free(in_b);
        tap_parameters_clear(&a);
        tap_parameters_clear(&b);
    }
}

Test(optimizer, a_step_allocates_nothing)
{
    for (size_t v = 0; v < support_n_variants; v++) {
        struct tap_parameters parameters = support_parameters(N_SHAPES, shapes);
        struct tap_optimizer *optimizer =
            support_optimizer(support_variants[v].name, &support_variants[v].options, &parameters);
        uint64_t n_calls = tap_mem_n_calls();
        run_steps(optimizer, &parameters, 2);
        cr_assert_eq(tap_mem_n_calls(), n_calls);
        tap_optimizer_free(optimizer);
        tap_parameters_clear(&parameters);
    }
}

Test(optimizer, frozen_parameters_and_their_states_keep_their_bits)
{
    for (size_t v = 0; v < support_n_variants; v++) {
        struct tap_parameters frozen = support_parameters(N_SHAPES, shapes);
        struct tap_parameters free = support_parameters(N_SHAPES, shapes);
        const struct support_variant *variant = &support_variants[v];
        struct tap_optimizer *in_frozen = support_optimizer(variant->name, &variant->options, &frozen);
        struct tap_optimizer *in_free = support_optimizer(variant->name, &variant->options, &free);
        support_fill_data(&frozen, 5);
        support_fill_data(&free, 5);
        for (int p = 0; p < 4; p += 2)
            frozen.items[p]->tensor.requires_grad = false;
        for (size_t i = 0; i < tap_optimizer_n_states(in_frozen); i++)
            tap_optimizer_state_block(in_frozen, i)[0] = 3;
        tap_real *before = tap_mem_new(frozen.block_size, sizeof *before);
        memcpy(before, frozen.data, frozen.block_size * sizeof *before);
        run_steps(in_frozen, &frozen, 2);
        run_steps(in_free, &free, 2);
        for (size_t p = 0; p < N_SHAPES; p++) {
            const struct tap_parameter *item = frozen.items[p];
            const tap_real *right = item->tensor.requires_grad ? free.items[p]->tensor.data : before + item->offset;
            cr_assert_arr_eq(item->tensor.data, right, item->tensor.size * sizeof(tap_real), "parameter %zu", p);
        }
        cr_assert_arr_neq(before, free.data, 4 * sizeof *before, "unfrozen it does move");
        for (size_t i = 0; i < tap_optimizer_n_states(in_frozen); i++) {
            cr_assert_eq(tap_optimizer_state_block(in_frozen, i)[0], 3);
            cr_assert_eq(tap_optimizer_state_block(in_frozen, i)[1], 0);
        }
        tap_mem_free(before);
        tap_optimizer_free(in_frozen);
        tap_optimizer_free(in_free);
        tap_parameters_clear(&frozen);
        tap_parameters_clear(&free);
    }
}

/* Marks padding with 1, everything else with 0. */
static void mark_padding(const struct tap_parameters *parameters, tap_real *out)
{
    for (size_t i = 0; i < parameters->block_size; i++)
        out[i] = 1;
    for (size_t p = 0; p < parameters->n; p++)
        for (size_t i = 0; i < parameters->items[p]->tensor.size; i++)
            out[parameters->items[p]->offset + i] = 0;
}

Test(optimizer, padding_stays_zero_whatever_its_gradient_holds)
{
    for (size_t v = 0; v < support_n_variants; v++) {
        struct tap_parameters parameters = support_parameters(N_SHAPES, shapes);
        struct tap_optimizer *optimizer =
            support_optimizer(support_variants[v].name, &support_variants[v].options, &parameters);
        mark_padding(&parameters, parameters.grad);
        run_steps(optimizer, &parameters, 2);
        mark_padding(&parameters, parameters.grad);
        size_t n_padding = 0;
        for (size_t j = 0; j < parameters.block_size; j++) {
            if (parameters.grad[j] == 0)
                continue;
            n_padding++;
            cr_assert_eq(parameters.data[j], 0);
            for (size_t i = 0; i < tap_optimizer_n_states(optimizer); i++)
                cr_assert_eq(tap_optimizer_state_block(optimizer, i)[j], 0);
        }
        cr_assert_gt(n_padding, 0);
        tap_optimizer_free(optimizer);
        tap_parameters_clear(&parameters);
    }
}

Test(optimizer, states_and_steps_carried_over_go_on_with_the_same_bits)
{
    for (size_t v = 0; v < support_n_variants; v++) {
        const struct support_variant *variant = &support_variants[v];
        struct tap_parameters whole = support_parameters(N_SHAPES, shapes);
        struct tap_parameters halves = support_parameters(N_SHAPES, shapes);
        support_fill_data(&whole, 5);
        support_fill_data(&halves, 5);
        struct tap_optimizer *in_whole = support_optimizer(variant->name, &variant->options, &whole);
        struct tap_optimizer *first = support_optimizer(variant->name, &variant->options, &halves);
        struct tap_optimizer *second = support_optimizer(variant->name, &variant->options, &halves);
        run_steps(in_whole, &whole, 6);
        run_steps(first, &halves, 3);
        for (size_t i = 0; i < tap_optimizer_n_states(first); i++)
            memcpy(tap_optimizer_state_block(second, i), tap_optimizer_state_block(first, i),
                   halves.block_size * sizeof(tap_real));
        tap_optimizer_set_steps(second, tap_optimizer_steps(first));
        run_steps(second, &halves, 3);
        assert_same_blocks(variant->name, in_whole, &whole, second, &halves);
        tap_optimizer_free(in_whole);
        tap_optimizer_free(first);
        tap_optimizer_free(second);
        tap_parameters_clear(&whole);
        tap_parameters_clear(&halves);
    }
}

Test(optimizer, a_rate_or_factor_that_is_not_finite_changes_nothing)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    struct tap_parameters parameters = support_parameters(1, shapes);
    struct tap_optimizer *optimizer = support_optimizer("adam", &support_variants[3].options, &parameters);
    support_fill_grad(&parameters, 1);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(tap_optimizer_step(optimizer, bad[i], 1), TAP_ERR_NONFINITE);
        cr_assert_eq(tap_optimizer_step(optimizer, 1e-3, bad[i]), TAP_ERR_NONFINITE);
    }
    cr_assert_eq(tap_optimizer_steps(optimizer), 0);
    for (size_t j = 0; j < parameters.block_size; j++)
        cr_assert(parameters.data[j] == 0 && tap_optimizer_state_block(optimizer, 0)[j] == 0);
    tap_optimizer_free(optimizer);
    tap_parameters_clear(&parameters);
}

Test(optimizer, a_rate_of_zero_fills_moments_but_moves_nothing)
{
    struct tap_parameters parameters = support_parameters(1, shapes);
    struct tap_optimizer *optimizer = support_optimizer("adamw", &support_variants[5].options, &parameters);
    support_fill_grad(&parameters, 1);
    cr_assert_eq(tap_optimizer_step(optimizer, 0, 1), TAP_OK);
    cr_assert_eq(tap_optimizer_steps(optimizer), 1);
    for (size_t j = 0; j < parameters.n_numbers; j++)
        cr_assert(parameters.data[j] == 0 && tap_optimizer_state_block(optimizer, 1)[j] > 0);
    tap_optimizer_free(optimizer);
    tap_parameters_clear(&parameters);
}

Test(optimizer, a_set_without_parameters_steps)
{
    struct tap_parameters parameters = support_parameters(0, NULL);
    struct tap_optimizer *optimizer = support_optimizer("adam", &support_variants[3].options, &parameters);
    cr_assert_eq(tap_optimizer_step(optimizer, 1, 1), TAP_OK);
    tap_optimizer_free(optimizer);
    tap_parameters_clear(&parameters);
}
