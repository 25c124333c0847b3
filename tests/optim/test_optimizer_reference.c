/* test_optimizer_reference.c: ten steps of every optimizer against PyTorch's, whose results are in
 * tests/reference/optimizers.txt; tests/reference/make_optimizers.py says how they were made. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clip.h"
#include "optim_support.h"

#define REFERENCE "tests/reference/optimizers.txt"
#define N_STEPS 10
#define N_WEIGHT 6
#define N_NUMBERS 9

/* PyTorch worked in double: there only the last digits may differ (1e-12); in float some 1e-7 gather in ten steps. */
static const double tolerance = sizeof(tap_real) == sizeof(double) ? 1e-12 : 1e-5;

struct reference_case {
    const char *name;
    const char *optimizer;
    struct tap_optimizer_options options;
    double clip_norm;
};

#define DEFAULTS .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8
#define BETAS .beta1 = 0.875, .beta2 = 0.96875, .eps = 1e-8
static const struct reference_case cases[] = {
    {"sgd", "sgd", {.momentum = 0}, 0},
    {"sgd_decay", "sgd", {.weight_decay = 0.125}, 0},
    {"sgd_momentum", "sgd", {.momentum = 0.9}, 0},
    {"sgd_momentum_decay_clip", "sgd", {.momentum = 0.9, .weight_decay = 0.125, .decay_all = true}, 0.5},
    {"sgd_nesterov", "sgd", {.momentum = 0.9, .nesterov = true}, 0},
    {"sgd_nesterov_decay", "sgd", {.momentum = 0.9, .nesterov = true, .weight_decay = 0.125}, 0},
    {"adam", "adam", {DEFAULTS}, 0},
    {"adam_betas", "adam", {.beta1 = 0.875, .beta2 = 0.96875, .eps = 0.015625}, 0},
    {"adam_decay", "adam", {DEFAULTS, .weight_decay = 0.125}, 0},
    {"adam_decay_all_clip", "adam", {DEFAULTS, .weight_decay = 0.125, .decay_all = true}, 0.5},
    {"adam_amsgrad", "adam", {DEFAULTS, .amsgrad = true}, 0},
    {"adam_amsgrad_decay", "adam", {BETAS, .amsgrad = true, .weight_decay = 0.125}, 0},
    {"adamw", "adamw", {DEFAULTS}, 0},
    {"adamw_decay", "adamw", {DEFAULTS, .weight_decay = 0.125}, 0},
    {"adamw_decay_all_clip", "adamw", {DEFAULTS, .weight_decay = 0.125, .decay_all = true}, 0.5},
    {"adamw_amsgrad_decay", "adamw", {BETAS, .amsgrad = true, .weight_decay = 0.125}, 0},
};
#define N_CASES (sizeof cases / sizeof cases[0])

/* The script's start() and gradient(): exact in float. */
static double start_of(int i)
{
    return (1 + i / 8.0) * (i % 2 == 0 ? 1 : -1);
}

static double gradient_of(int i, int step)
{
    if (i == 4 && step > 1)
        return 0;
    return ldexp(((i * 37 + step * 101 + 11) % 199 - 99) / 64.0, -3 * i);
}

/* Number i (weight first, then bias) of a block. */
static tap_real *number_of(const struct tap_parameters *parameters, tap_real *block, int i)
{
    return block + (i < N_WEIGHT ? (size_t)i : parameters->items[1]->offset + (size_t)i - N_WEIGHT);
}

/* The next line as a number. */
static double read_number(FILE *file)
{
    char line[64];
    char *end = line;
    cr_assert_not_null(fgets(line, sizeof line, file), "%s ends early", REFERENCE);
    double value = strtod(line, &end);
    cr_assert(end != line && *end == '\n', "%s: no number: %s", REFERENCE, line);
    return value;
}

/* Compares all numbers of a block with the next lines, relative to each number; where PyTorch has 0, so must we. */
static void compare(FILE *file, const struct reference_case *c, const char *what, int step,
                    const struct tap_parameters *parameters, tap_real *block)
{
    for (int i = 0; i < N_NUMBERS; i++) {
        double right = read_number(file);
        double got = (double)*number_of(parameters, block, i);
        cr_assert(fabs(got - right) <= tolerance * fabs(right), "%s, step %d, %s, number %d: %.17g, not %.17g", c->name,
                  step, what, i, got, right);
    }
}

static void run_case(FILE *file, const struct reference_case *c)
{
    char header[64], name[64];
    size_t count;
    cr_assert_not_null(fgets(header, sizeof header, file), "%s ends early", REFERENCE);
    cr_assert_eq(sscanf(header, "case %63s %zu", name, &count), 2, "%s", header);
    cr_assert_str_eq(name, c->name);

    struct tap_parameters parameters = support_parameters(2, (struct support_shape[]){{2, {2, 3}}, {1, {3}}});
    struct tap_optimizer *optimizer = support_optimizer(c->optimizer, &c->options, &parameters);
    cr_assert_eq(count, N_NUMBERS * (N_STEPS + tap_optimizer_n_states(optimizer)), "%s: number of states", c->name);
    for (int i = 0; i < N_NUMBERS; i++)
        *number_of(&parameters, parameters.data, i) = (tap_real)start_of(i);
    for (int step = 1; step <= N_STEPS; step++) {
        for (int i = 0; i < N_NUMBERS; i++)
            *number_of(&parameters, parameters.grad, i) = (tap_real)gradient_of(i, step);
        double factor = tap_clip_factor(tap_parameters_grad_norm(&parameters), c->clip_norm);
        cr_assert_eq(tap_optimizer_step(optimizer, step / 256.0, factor), TAP_OK);
        compare(file, c, "parameter", step, &parameters, parameters.data);
    }
    for (size_t i = 0; i < tap_optimizer_n_states(optimizer); i++)
        compare(file, c, tap_optimizer_state_name(optimizer, i), N_STEPS, &parameters,
                tap_optimizer_state_block(optimizer, i));
    tap_optimizer_free(optimizer);
    tap_parameters_clear(&parameters);
}

Test(optimizer_reference, ten_steps_are_those_of_pytorch)
{
    FILE *file = fopen(REFERENCE, "r");
    cr_assert_not_null(file, "%s: run the tests from the top of the tree", REFERENCE);
    for (size_t i = 0; i < N_CASES; i++)
        run_case(file, &cases[i]);
    cr_assert_eq(fgetc(file), EOF, "%s holds more cases than the test", REFERENCE);
    fclose(file);
}

Test(optimizer_reference, every_optimizer_is_compared)
{
    for (size_t k = 0; k < tap_n_optimizers; k++) {
        size_t n = 0;
        for (size_t i = 0; i < N_CASES; i++)
            n += strcmp(cases[i].optimizer, tap_optimizers[k].name) == 0;
        cr_assert_geq(n, 4, "%s is compared in %zu cases", tap_optimizers[k].name, n);
    }
}
