/* test_schedule.c: the learning rate of every schedule, step by step. */
#include "schedule.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* All of it is double arithmetic of a few operations. */
#define LAST_DIGITS 1e-15

static struct tap_schedule_options options_of(const char *name, double warmup, long steps)
{
    const struct tap_schedule_entry *schedule = tap_schedule_find(name);
    cr_assert_not_null(schedule, "no schedule %s", name);
    return (struct tap_schedule_options){.schedule = schedule, .lr = 1, .warmup = warmup, .steps = steps};
}

static void assert_rates(const struct tap_schedule_options *options, long first, size_t n, const double *right)
{
    for (size_t i = 0; i < n; i++) {
        double rate = tap_schedule_rate(options, first + (long)i);
        cr_assert_float_eq(rate, right[i], LAST_DIGITS, "%s, step %ld: %.17g, not %.17g", options->schedule->name,
                           first + (long)i, rate, right[i]);
    }
}

Test(schedule, the_table_holds_the_names_that_a_config_offers)
{
    const char *names[] = {"constant", "linear", "cosine", "inverse_sqrt"};
    cr_assert_eq(tap_n_schedules, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_str_eq(tap_schedules[i].name, names[i]);
        cr_assert_eq(tap_schedule_find(names[i]), &tap_schedules[i]);
        cr_assert_gt(strlen(tap_schedules[i].formula), 0);
    }
    cr_assert_null(tap_schedule_find("step"));
}

Test(schedule, warm_up_moves_in_step_1_and_reaches_lr_at_its_end)
{
    for (size_t i = 0; i < tap_n_schedules; i++) {
        struct tap_schedule_options options = options_of(tap_schedules[i].name, 10, 100);
        options.lr = 1e-3;
        options.final_lr = 1e-4;
        cr_assert_float_eq(tap_schedule_rate(&options, 1), 1e-4, 1e-18);
        cr_assert_float_eq(tap_schedule_rate(&options, 7), 7e-4, 1e-18);
        cr_assert_eq(tap_schedule_rate(&options, 10), 1e-3);
    }
}

Test(schedule, warm_up_of_0_and_1_start_at_lr)
{
    for (size_t i = 0; i < tap_n_schedules; i++)
        for (int warmup = 0; warmup < 2; warmup++) {
            struct tap_schedule_options options = options_of(tap_schedules[i].name, warmup, 100);
            options.lr = 1e-3;
            cr_assert_eq(tap_schedule_rate(&options, 1), 1e-3);
            cr_assert_leq(tap_schedule_rate(&options, 2), 1e-3);
            cr_assert_gt(tap_schedule_rate(&options, 2), 0.7e-3); /* inverse_sqrt: 1e-3 / sqrt 2 */
        }
}

Test(schedule, warm_up_is_steps_or_a_fraction_rounded_up_to_steps)
{
    static const struct {
        double warmup;
        long steps;
        double right;
    } cases[] = {
        {0, 100, 0},      {0.1, 100, 10},  {0.07, 100, 7},    {0.29, 100, 29},
        {0.101, 100, 11}, {0.001, 100, 1}, {0.999, 10, 10},   {1, 100, 1},
        {2.5, 100, 3},    {500, 100, 500}, {0.5, 0, 0},       {0.1, 2147483647, 214748365},
        {0.5, 7, 4},      {1e-30, 100, 1}, {1e300, 1, 1e300},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tap_schedule_options options = options_of("linear", cases[i].warmup, cases[i].steps);
        cr_assert_eq(tap_schedule_warmup_steps(&options), cases[i].right, "%g of %ld steps: %g", cases[i].warmup,
                     cases[i].steps, tap_schedule_warmup_steps(&options));
    }
    struct tap_schedule_options fraction = options_of("linear", 0.25, 16), steps = options_of("linear", 4, 16);
    for (long step = 1; step <= 16; step++)
        cr_assert_eq(tap_schedule_rate(&fraction, step), tap_schedule_rate(&steps, step));
}

Test(schedule, a_warm_up_longer_than_the_run_ends_within_it)
{
    for (size_t i = 0; i < tap_n_schedules; i++) {
        struct tap_schedule_options options = options_of(tap_schedules[i].name, 1000, 10);
        assert_rates(&options, 1, 3, (const double[]){0.001, 0.002, 0.003});
        assert_rates(&options, 10, 1, (const double[]){0.01});
        options.warmup = 10;
        assert_rates(&options, 9, 2, (const double[]){0.9, 1});
    }
}

Test(schedule, constant_stays_at_lr)
{
    struct tap_schedule_options options = options_of("constant", 4, 12);
    options.final_lr = 0.5;
    assert_rates(&options, 3, 4, (const double[]){0.75, 1, 1, 1});
    assert_rates(&options, 12, 2, (const double[]){1, 1});
}

Test(schedule, linear_ends_one_part_above_final_lr)
{
    struct tap_schedule_options options = options_of("linear", 4, 12);
    assert_rates(&options, 1, 14,
                 (const double[]){0.25, 0.5, 0.75, 1, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0, 0});
    options.final_lr = 0.2;
    assert_rates(&options, 4, 4, (const double[]){1, 1, 0.9, 0.8});
    assert_rates(&options, 12, 3, (const double[]){0.3, 0.2, 0.2});
    options = options_of("linear", 0, 4);
    assert_rates(&options, 1, 5, (const double[]){1, 0.75, 0.5, 0.25, 0});
    options = options_of("linear", 0, 1);
    assert_rates(&options, 1, 1, (const double[]){1});
}

Test(schedule, linear_rises_to_a_final_lr_above_lr)
{
    struct tap_schedule_options options = options_of("linear", 0, 4);
    options.final_lr = 2;
    assert_rates(&options, 1, 5, (const double[]){1, 1.25, 1.5, 1.75, 2});
}

Test(schedule, cosine_is_half_a_wave)
{
    struct tap_schedule_options options = options_of("cosine", 2, 8);
    const double a = 0.5 + 0.25 * sqrt(3), b = 0.5 - 0.25 * sqrt(3);
    assert_rates(&options, 1, 10, (const double[]){0.5, 1, 1, a, 0.75, 0.5, 0.25, b, 0, 0});
    options.final_lr = 0.2;
    assert_rates(&options, 2, 9, (const double[]){1, 1, 0.2 + 0.8 * a, 0.8, 0.6, 0.4, 0.2 + 0.8 * b, 0.2, 0.2});
}

Test(schedule, cosine_counts_from_zero_as_pytorch_does)
{
    struct tap_schedule_options options = options_of("cosine", 0, 100);
    options.lr = 1e-3;
    const double right[] = {5.9369066e-4, 5.7821723e-4, 5.6266662e-4}; /* t = 44, 45, 46 */
    for (int i = 0; i < 3; i++)
        cr_assert_float_eq(tap_schedule_rate(&options, 45 + i), right[i], 5e-12);
    for (long t = 0; t < 100; t++)
        cr_assert_float_eq(tap_schedule_rate(&options, t + 1), 0.5e-3 * (1 + cos(acos(-1) * (double)t / 100)), 1e-18);
}

Test(schedule, inverse_sqrt_has_the_shape_of_the_2017_paper)
{
    struct tap_schedule_options options = options_of("inverse_sqrt", 4000, 100000);
    options.lr = 1 / sqrt(512.0 * 4000);
    const long steps[] = {1, 100, 3999, 4000, 4001, 16000, 100000, 300000};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        double step = (double)steps[i];
        double right = pow(512, -0.5) * fmin(pow(step, -0.5), step * pow(4000, -1.5));
        cr_assert_float_eq(tap_schedule_rate(&options, steps[i]), right, 1e-14 * right, "step %ld", steps[i]);
    }
}

Test(schedule, inverse_sqrt_stops_at_final_lr)
{
    struct tap_schedule_options options = options_of("inverse_sqrt", 4, 100);
    assert_rates(&options, 16, 1, (const double[]){0.5});
    assert_rates(&options, 100, 1, (const double[]){0.2});
    options.final_lr = 0.3;
    assert_rates(&options, 16, 1, (const double[]){0.5});
    assert_rates(&options, 100, 1, (const double[]){0.3});
    options = options_of("inverse_sqrt", 0, 100);
    assert_rates(&options, 4, 1, (const double[]){0.5});
}

/* No rate within a run is negative, not a number, above the highest or, without a final_lr, 0. */
Test(schedule, every_step_of_a_run_has_a_use)
{
    const double warmups[] = {0, 1, 3, 0.5, 17, 40};
    for (size_t i = 0; i < tap_n_schedules; i++)
        for (size_t w = 0; w < sizeof warmups / sizeof warmups[0]; w++)
            for (long steps = 1; steps <= 20; steps++) {
                struct tap_schedule_options options = options_of(tap_schedules[i].name, warmups[w], steps);
                for (long step = 1; step <= steps; step++) {
                    double rate = tap_schedule_rate(&options, step);
                    cr_assert(rate > 0 && rate <= 1, "%s, warm-up %g, step %ld of %ld: %g", tap_schedules[i].name,
                              warmups[w], step, steps, rate);
                }
            }
}
