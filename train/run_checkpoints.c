/* run_checkpoints.c: the checkpoints of a run's folder; see run_folder.h. */
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "mem.h"

/* The number in "step-<8 or more digits>.npz"; -1 for any other name. */
int64_t run_folder_step_of_name(const char *name)
{
    const char *digits = name + strlen("step-");
    char *end = NULL;
    if (strncmp(name, "step-", strlen("step-")) != 0 || strspn(digits, "0123456789") < 8)
        return -1;
    errno = 0;
    long long step = strtoll(digits, &end, 10);
    return errno == 0 && strcmp(end, ".npz") == 0 ? step : -1;
}

static int compare_steps(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;
    return (*x < *y) - (*x > *y);
}

/* The steps of all step files of a folder, the newest first, for tap_mem_free. */
static int64_t *list_steps(const char *path, size_t *out_n, struct tap_error *error)
{
    int64_t *steps = NULL;
    size_t capacity = 0;
    size_t n = 0;
    DIR *listing = opendir(path);
    if (listing == NULL) {
        run_io_error(error, path, "cannot list the folder");
        return NULL;
    }
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
        int64_t step = run_folder_step_of_name(entry->d_name);
        if (step < 0)
            continue;
        if (!tap_mem_reserve(&steps, &capacity, n + 1, sizeof *steps)) {
            tap_error_memory(error, "a list of step files");
            break;
        }
        steps[n++] = step;
    }
    closedir(listing);
    if (n > 0)
        qsort(steps, n, sizeof *steps, compare_steps);
    *out_n = n;
    return steps;
}

char *run_folder_step_path(const char *folder, int64_t step, struct tap_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "step-%08" PRId64 ".npz", step);
    return path_join(folder, name, error);
}

/* Opens one candidate; what is wrong with it is told to `warn`, unless it just is not there. */
static struct tap_checkpoint *try_open(char *path, void (*warn)(const char *message), struct tap_error *error)
{
    struct tap_error own = {0};
    struct tap_checkpoint *checkpoint = NULL;
    if (path == NULL)
        return NULL;
    if (access(path, F_OK) == 0) {
        checkpoint = tap_checkpoint_open(path, &own);
        if (own.status == TAP_ERR_MEMORY)
            *error = own;
        else if (checkpoint == NULL)
            warn(own.message);
    }
    tap_mem_free(path);
    return checkpoint;
}

struct tap_checkpoint *run_folder_newest(const char *path, void (*warn)(const char *message), struct tap_error *error)
{
    size_t n = 0;
    int64_t *steps = list_steps(path, &n, error);
    if (error->status != TAP_OK) {
        tap_mem_free(steps);
        return NULL;
    }
    struct tap_checkpoint *newest = try_open(path_join(path, RUN_LAST_NAME, error), warn, error);
    for (size_t i = 0; i < n && error->status == TAP_OK && (newest == NULL || steps[i] > newest->progress.step); i++) {
        struct tap_checkpoint *candidate = try_open(run_folder_step_path(path, steps[i], error), warn, error);
        if (candidate == NULL)
            continue;
        tap_checkpoint_close(newest);
        newest = candidate;
        break;
    }
    tap_mem_free(steps);
    if (newest == NULL)
        tap_error_set(error, TAP_ERR_VALUE, "%s: no whole checkpoint to go on from", path);
    else if (error->status != TAP_OK)
        tap_checkpoint_close(newest);
    return error->status == TAP_OK ? newest : NULL;
}

char *model_path(const char *path, struct tap_error *error)
{
    if (!is_folder(path)) {
        char *copy = tap_mem_copy_text(path, strlen(path));
        if (copy == NULL)
            tap_error_memory(error, "a path");
        return copy;
    }
    char *best = path_join(path, RUN_BEST_NAME, error);
    if (best == NULL || access(best, F_OK) == 0)
        return best;
    tap_mem_free(best);
    char *last = path_join(path, RUN_LAST_NAME, error);
    if (last != NULL && access(last, F_OK) != 0) {
        tap_error_set(error, TAP_ERR_VALUE, "%s: neither " RUN_BEST_NAME " nor " RUN_LAST_NAME " is in the folder",
                      path);
        tap_mem_free(last);
        return NULL;
    }
    return last;
}

/* Removes step files beyond the `keep` newest of those up to `step`; any other file stays. */
static enum tap_status remove_oldest(const char *folder, int64_t step, int keep, struct tap_error *error)
{
    size_t n = 0;
    int n_seen = 0;
    int64_t *steps = list_steps(folder, &n, error);
    for (size_t i = 0; i < n && error->status == TAP_OK; i++) {
        if (steps[i] > step || ++n_seen <= keep)
            continue;
        char *path = run_folder_step_path(folder, steps[i], error);
        if (path != NULL && unlink(path) != 0 && errno != ENOENT)
            run_io_error(error, path, "cannot remove");
        tap_mem_free(path);
    }
    tap_mem_free(steps);
    return error->status;
}

enum tap_status run_folder_publish(const struct run_folder *folder, const char *existing, const char *name,
                                   struct tap_error *error)
{
    char *path = path_join(folder->path, name, error);
    if (path != NULL)
        tap_file_publish_link(existing, path, error);
    tap_mem_free(path);
    return error->status;
}

enum tap_status run_folder_save(struct run_folder *folder, const struct tap_checkpoint_content *content,
                                int compression, int keep, bool is_best, struct tap_error *error)
{
    char *path = run_folder_step_path(folder->path, content->progress.step, error);
    if (path == NULL)
        return error->status;
    if (tap_checkpoint_save(path, content, compression, error) == TAP_OK &&
        run_folder_publish(folder, path, RUN_LAST_NAME, error) == TAP_OK &&
        (!is_best || run_folder_publish(folder, path, RUN_BEST_NAME, error) == TAP_OK)) {
        struct tap_npz *written = tap_npz_open(path, true, error); /* checks the sum over the whole file */
        tap_npz_close(written);
        if (written != NULL)
            remove_oldest(folder->path, content->progress.step, keep, error);
    }
    tap_mem_free(path);
    return error->status;
}
