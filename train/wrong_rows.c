/* wrong_rows.c: see wrong_rows.h. */
#include "wrong_rows.h"

#include <stdlib.h>

#include "mem.h"

static int compare(const void *a_pointer, const void *b_pointer)
{
    const struct wrong_row *a = a_pointer;
    const struct wrong_row *b = b_pointer;
    if (a->probability != b->probability)
        return a->probability > b->probability ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

enum tap_status wrong_rows_find(struct wrong_rows *wrong, const struct scored_rows *rows, const struct answer *answers,
                                size_t n_most, struct tap_error *error)
{
    const struct tap_dataset *dataset = rows->dataset;
    *wrong = (struct wrong_rows){0};
    for (uint32_t row = 0; row < dataset->n_rows; row++)
        wrong->n_all += answers[row].predicted != dataset->labels[row];
    wrong->items = tap_mem_new(wrong->n_all, sizeof *wrong->items);
    if (wrong->items == NULL)
        return tap_error_memory(error, "the list of wrong rows");
    uint32_t row = 0;
    for (uint32_t text = 0; text < rows->texts.rows->n; text++) {
        if (!tap_row_is_chosen(&rows->texts, text))
            continue;
        if (answers[row].predicted != dataset->labels[row])
            wrong->items[wrong->n++] =
                (struct wrong_row){answers[row].probability, row, text, dataset->labels[row], answers[row].predicted};
        row++;
    }
    TAP_CHECK(row == dataset->n_rows && wrong->n == wrong->n_all);
    qsort(wrong->items, wrong->n, sizeof *wrong->items, compare);
    wrong->n = n_most < wrong->n ? n_most : wrong->n;
    return TAP_OK;
}

void wrong_rows_clear(struct wrong_rows *wrong)
{
    tap_mem_free(wrong->items);
    *wrong = (struct wrong_rows){0};
}
