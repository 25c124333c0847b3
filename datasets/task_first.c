/* task_first.c: which token came first. A text is a row of letters, each drawn evenly from the first `kinds` letters
 * of the alphabet; its label is the first of them. The others are of the same letters, so a model has to find the
 * first place over the whole length, and counting letters hardly helps. Labels take turns. */
#include "task_maker.h"

static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                      "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};

struct sizes {
    int length; /* tokens of every text */
    int kinds;
};

static bool draw(struct tap_rng *rng, const void *sizes_pointer, uint32_t number, struct tap_task_draft *out_draft)
{
    const struct sizes *sizes = sizes_pointer;
    char *text = out_draft->text;
    out_draft->label = letters[number % (uint32_t)sizes->kinds];
    *text++ = out_draft->label[0];
    for (int i = 1; i < sizes->length; i++) {
        *text++ = ' ';
        *text++ = letters[tap_rng_below(rng, (uint32_t)sizes->kinds)][0];
    }
    out_draft->n_bytes = (size_t)(text - out_draft->text);
    return true;
}

enum tap_status tap_task_first(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                               uint32_t *out_group_size, struct tap_error *error)
{
    static const struct tap_task_size length = {"task.length", 64, 1, 4096};
    static const struct tap_task_size kinds = {"task.kinds", 4, 2, 26};
    struct sizes sizes;
    enum tap_status status = tap_task_choose_size(&length, options->length, &sizes.length, error);
    if (status == TAP_OK)
        status = tap_task_choose_size(&kinds, options->kinds, &sizes.kinds, error);
    if (status != TAP_OK)
        return status;
    struct tap_task_plan plan = {
        .name = "first",
        .rows = options->rows,
        .n_together = 1,
        .least_rows = sizes.kinds,
        .most_bytes = 2 * (size_t)sizes.length,
        .sizes = &sizes,
        .draw = draw,
    };
    return tap_task_make_rows(&plan, seed, rows, out_group_size, error);
}
