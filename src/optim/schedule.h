/* schedule.h: the learning rate of each step. A pure function of options and step, so a resumed run goes on with the
 * same bits. The catalogue with the formulas is schedules.def. */
#ifndef TAP_SCHEDULE_H
#define TAP_SCHEDULE_H

#include <stddef.h>

/* What a schedule sees after the warm-up. */
struct tap_schedule_point {
    double lr;
    double final_lr;
    double step;         /* from 1 */
    double warmup_steps; /* W */
    double x;            /* the part of the decay that is over: 0 to 1 */
};

/* The table of all schedules. */
struct tap_schedule_entry {
    const char *name; /* "cosine" */
    const char *formula;
    double (*rate)(const struct tap_schedule_point *point);
};
extern const struct tap_schedule_entry tap_schedules[];
extern const size_t tap_n_schedules;

/* The entry of that name, NULL when there is none. */
const struct tap_schedule_entry *tap_schedule_find(const char *name);

struct tap_schedule_options {
    const struct tap_schedule_entry *schedule;
    double lr;       /* the highest rate, reached at the end of the warm-up */
    double final_lr; /* linear, cosine: where the decay ends; inverse_sqrt: the floor; constant: ignored */
    double warmup;   /* below 1: a fraction of the run; else steps; either rounded up to whole steps */
    long steps;      /* of the whole run */
};

/* W. As long as the run or longer is no error: the run then ends within its warm-up. */
double tap_schedule_warmup_steps(const struct tap_schedule_options *options);

/* tap_schedule_rate: the learning rate of optimizer step `step`, counted from 1.
 *
 * Formula    step <= W: lr * step / W, so that step 1 already moves and step W has lr; after it the schedule's own
 *            formula. Decays count from 0: x = (step - 1 - W) / (steps - W). Step W + 1 so has lr once more, and the
 *            last step is one part of steps - W away from final_lr rather than wasted at a rate of 0; final_lr would
 *            be reached at step `steps` + 1 and holds from there on
 * Source     linear, cosine: the decays of Hugging Face's get_linear_schedule_with_warmup and, from t = step - 1 and
 *            with no warm-up, PyTorch's CosineAnnealingLR; inverse_sqrt: Vaswani et al. 2017, arXiv:1706.03762,
 *            eq. 3, scaled so that its peak at step W is lr (W = 0 counts as 1) */
double tap_schedule_rate(const struct tap_schedule_options *options, long step);

#endif
