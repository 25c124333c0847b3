/* tasks.c: see tasks.h. */
#include "tasks.h"

#include "quote.h"

#include <string.h>

struct task {
    const char *name;
    tap_task_function *function;
};

static const struct task tasks[] = {
#define TAP_TASK(name, function, summary) {#name, function},
#include "tasks.def"
#undef TAP_TASK
};

enum tap_status tap_task_make(const char *name, const struct tap_task_options *options, uint64_t seed,
                              struct tap_rows *rows, uint32_t *out_group_size, struct tap_error *error)
{
    const size_t n_tasks = sizeof tasks / sizeof tasks[0];
    const char *names[sizeof tasks / sizeof tasks[0]];
    char list[TAP_NAME_LIST_BYTES];
    for (size_t i = 0; i < n_tasks; i++) {
        if (strcmp(tasks[i].name, name) == 0)
            return tasks[i].function(options, seed, rows, out_group_size, error);
        names[i] = tasks[i].name;
    }
    return tap_error_set(error, TAP_ERR_VALUE, "data.task: %s is unknown; accepted: %s",
                         tap_quote(name, strlen(name)).text, tap_name_list(names, n_tasks, list));
}
