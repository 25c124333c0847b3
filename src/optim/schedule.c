/* schedule.c: see schedule.h. */
#include "schedule.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "error.h"

static double constant_rate(const struct tap_schedule_point *point)
{
    return point->lr;
}

static double linear_rate(const struct tap_schedule_point *point)
{
    return point->final_lr + (point->lr - point->final_lr) * (1 - point->x);
}

static double cosine_rate(const struct tap_schedule_point *point)
{
    const double pi = acos(-1);
    return point->final_lr + (point->lr - point->final_lr) * 0.5 * (1 + cos(pi * point->x));
}

static double inverse_sqrt_rate(const struct tap_schedule_point *point)
{
    return fmax(point->final_lr, point->lr * sqrt(fmax(point->warmup_steps, 1) / point->step));
}

const struct tap_schedule_entry tap_schedules[] = {
#define TAP_SCHEDULE(function, name, formula) {name, formula, function},
#include "schedules.def"
#undef TAP_SCHEDULE
};
const size_t tap_n_schedules = sizeof tap_schedules / sizeof tap_schedules[0];

const struct tap_schedule_entry *tap_schedule_find(const char *name)
{
    for (size_t i = 0; i < tap_n_schedules; i++)
        if (strcmp(tap_schedules[i].name, name) == 0)
            return &tap_schedules[i];
    return NULL;
}

double tap_schedule_warmup_steps(const struct tap_schedule_options *options)
{
    if (options->warmup >= 1)
        return ceil(options->warmup);
    /* 0.07 of 100 steps are 7 of them, though the product is a last digit above 7 */
    return ceil(options->warmup * (double)options->steps * (1 - 2 * DBL_EPSILON));
}

double tap_schedule_rate(const struct tap_schedule_options *options, long step)
{
    TAP_CHECK(step >= 1);
    double warmup_steps = tap_schedule_warmup_steps(options);
    if ((double)step <= warmup_steps)
        return options->lr * ((double)step / warmup_steps);
    double decay_steps = (double)options->steps - warmup_steps;
    const struct tap_schedule_point point = {
        .lr = options->lr,
        .final_lr = options->final_lr,
        .step = (double)step,
        .warmup_steps = warmup_steps,
        .x = step > options->steps ? 1 : ((double)step - 1 - warmup_steps) / decay_steps,
    };
    return options->schedule->rate(&point);
}
