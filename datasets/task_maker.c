/* task_maker.c: see task_maker.h. */
#include "task_maker.h"

#include "fnv.h"
#include "mem.h"

#include <string.h>

static enum tap_status check_rows(const struct tap_task_plan *plan, struct tap_error *error)
{
    if (plan->rows >= plan->least_rows && plan->rows <= TAP_TASK_MOST_ROWS && plan->rows % plan->n_together == 0)
        return TAP_OK;
    return tap_error_set(error, TAP_ERR_VALUE, "task.rows: %d; the task %s takes %s from %d to %d", plan->rows,
                         plan->name, plan->n_together == 1 ? "a number" : "an even number", plan->least_rows,
                         TAP_TASK_MOST_ROWS);
}

/* Whether all texts of one draw are new, and differ from one another. */
static bool are_new(const struct tap_string_table *seen, const struct tap_task_draft *drafts, int n)
{
    uint32_t number;
    for (int i = 0; i < n; i++) {
        if (tap_string_table_find(seen, drafts[i].text, drafts[i].n_bytes, &number))
            return false;
        for (int j = 0; j < i; j++)
            if (drafts[i].n_bytes == drafts[j].n_bytes &&
                memcmp(drafts[i].text, drafts[j].text, drafts[i].n_bytes) == 0)
                return false;
    }
    return true;
}

static bool draw_new(const struct tap_task_plan *plan, struct tap_rng *rng, const struct tap_string_table *seen,
                     uint32_t number, struct tap_task_draft *out_drafts)
{
    for (int i = 0; i < TAP_TASK_MOST_DRAWS; i++)
        if (plan->draw(rng, plan->sizes, number, out_drafts) && are_new(seen, out_drafts, plan->n_together))
            return true;
    return false;
}

static enum tap_status keep(const struct tap_task_draft *draft, struct tap_string_table *seen, struct tap_rows *rows,
                            struct tap_error *error)
{
    uint32_t number;
    if (!tap_string_table_add(seen, draft->text, draft->n_bytes, &number))
        return tap_error_memory(error, "the rows of a task");
    return tap_rows_append(rows, draft->label, strlen(draft->label), draft->text, draft->n_bytes, rows->n + 1, error);
}

enum tap_status tap_task_make_rows(const struct tap_task_plan *plan, uint64_t seed, struct tap_rows *rows,
                                   uint32_t *out_group_size, struct tap_error *error)
{
    TAP_CHECK(plan->n_together >= 1 && plan->n_together <= TAP_TASK_MOST_TOGETHER);
    uint32_t place = (uint32_t)tap_fnv(TAP_FNV_START, plan->name, strlen(plan->name));
    struct tap_rng rng = {tap_rng_key(seed, TAP_RNG_TASK, 0, place), 0};
    struct tap_string_table seen = {0};
    struct tap_task_draft drafts[TAP_TASK_MOST_TOGETHER] = {0};
    enum tap_status status = check_rows(plan, error);
    for (int i = 0; i < plan->n_together && status == TAP_OK; i++) {
        drafts[i].text = tap_mem_new(plan->most_bytes, 1);
        if (drafts[i].text == NULL)
            status = tap_error_memory(error, "the texts of a task");
    }
    for (int row = 0; row < plan->rows && status == TAP_OK; row += plan->n_together) {
        if (!draw_new(plan, &rng, &seen, (uint32_t)(row / plan->n_together), drafts))
            status = tap_error_set(error, TAP_ERR_VALUE,
                                   "task.rows: %d; at these sizes the task %s has hardly more than %d different rows",
                                   plan->rows, plan->name, row);
        for (int i = 0; i < plan->n_together && status == TAP_OK; i++)
            status = keep(&drafts[i], &seen, rows, error);
    }
    for (int i = 0; i < plan->n_together; i++)
        tap_mem_free(drafts[i].text);
    tap_string_table_clear(&seen);
    if (status == TAP_OK)
        *out_group_size = (uint32_t)plan->n_together;
    return status;
}

enum tap_status tap_task_choose_size(const struct tap_task_size *size, int given, int *out, struct tap_error *error)
{
    if (given != 0 && (given < size->least || given > size->most))
        return tap_error_set(error, TAP_ERR_VALUE, "%s: %d; from %d to %d, or 0 for %d", size->key, given, size->least,
                             size->most, size->initial);
    *out = given != 0 ? given : size->initial;
    return TAP_OK;
}
