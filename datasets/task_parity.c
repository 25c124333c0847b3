/* task_parity.c: is the number of ones in a row of bits odd or even. No bit alone, nor any number of them short of
 * all, says anything of the label. Labels take turns: the last bit is what makes the text odd or even. */
#include "task_maker.h"

static bool draw(struct tap_rng *rng, const void *length_pointer, uint32_t number, struct tap_task_draft *out_draft)
{
    const int *length = length_pointer;
    uint32_t is_odd = number % 2;
    char *text = out_draft->text;
    uint32_t missing = is_odd;
    for (int i = 0; i < *length; i++) {
        uint32_t bit = i < *length - 1 ? tap_rng_below(rng, 2) : missing;
        missing ^= bit;
        *text++ = bit == 1 ? '1' : '0';
        *text++ = ' ';
    }
    out_draft->n_bytes = (size_t)(text - out_draft->text) - 1;
    out_draft->label = is_odd == 1 ? "odd" : "even";
    return true;
}

enum tap_status tap_task_parity(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                                uint32_t *out_group_size, struct tap_error *error)
{
    static const struct tap_task_size length_size = {"task.length", 16, 1, 4096};
    int length;
    enum tap_status status = tap_task_choose_size(&length_size, options->length, &length, error);
    if (status != TAP_OK)
        return status;
    struct tap_task_plan plan = {
        .name = "parity",
        .rows = options->rows,
        .n_together = 1,
        .least_rows = 2,
        .most_bytes = 2 * (size_t)length,
        .sizes = &length,
        .draw = draw,
    };
    return tap_task_make_rows(&plan, seed, rows, out_group_size, error);
}
