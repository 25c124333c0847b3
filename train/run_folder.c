/* run_folder.c: see run_folder.h. The lock is flock on the folder itself, which the system gives back when the process
 * ends in any way. */
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic_file.h"
#include "mem.h"

#define METRICS_NAME "metrics.jsonl"
#define LAST_NAME "last.npz"
#define BEST_NAME "best.npz"
#define MOST_RUNS 1000000

char *path_join(const char *folder, const char *name, struct tap_error *error)
{
    size_t n_bytes = strlen(folder) + 1 + strlen(name) + 1;
    char *path = tap_mem_new(n_bytes, 1);
    if (path == NULL)
        tap_error_memory(error, "a path");
    else
        snprintf(path, n_bytes, "%s/%s", folder, name);
    return path;
}

bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static enum tap_status io_error(struct tap_error *error, const char *path, const char *what)
{
    return tap_error_set(error, TAP_ERR_IO, "%s: %s: %s", path, what, strerror(errno));
}

/* mkdir -p */
static enum tap_status make_folders(const char *path, struct tap_error *error)
{
    char *copy = tap_mem_copy_text(path, strlen(path));
    if (copy == NULL)
        return tap_error_memory(error, "a path");
    for (char *slash = copy + 1; error->status == TAP_OK; slash++) {
        if (*slash != '/' && *slash != '\0')
            continue;
        char kept = *slash;
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && !(errno == EEXIST && is_folder(copy))) {
            errno = errno == EEXIST ? ENOTDIR : errno; /* a file of that name is in the way */
            io_error(error, copy, "cannot make the folder");
        }
        *slash = kept;
        if (kept == '\0')
            break;
    }
    tap_mem_free(copy);
    return error->status;
}

static enum tap_status lock_folder(struct run_folder *folder, const char *path, struct tap_error *error)
{
    *folder = (struct run_folder){.descriptor = -1};
    folder->path = tap_mem_copy_text(path, strlen(path));
    if (folder->path == NULL)
        return tap_error_memory(error, "a path");
    folder->descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->descriptor < 0)
        return io_error(error, path, "cannot open the folder");
    if (flock(folder->descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? tap_error_set(error, TAP_ERR_IO, "%s: another run is working in this folder", path)
                   : io_error(error, path, "cannot lock the folder");
    if (faccessat(folder->descriptor, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return io_error(error, path, "cannot write to the folder");
    return TAP_OK;
}

/* True when the folder holds an entry of any name. */
static bool holds_something(const char *path)
{
    DIR *listing = opendir(path);
    bool found = false;
    if (listing == NULL)
        return false;
    for (struct dirent *entry = readdir(listing); entry != NULL && !found; entry = readdir(listing))
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return found;
}

enum tap_status run_folder_create(struct run_folder *folder, const char *path, struct tap_error *error)
{
    *folder = (struct run_folder){.descriptor = -1};
    if (path[0] == '\0')
        return tap_error_set(error, TAP_ERR_VALUE, "--out: the name of a folder is needed");
    if (make_folders(path, error) != TAP_OK || lock_folder(folder, path, error) != TAP_OK)
        return error->status;
    if (holds_something(path))
        return tap_error_set(error, TAP_ERR_VALUE,
                             "%s: the folder is not empty; name another one, or go on in it with --resume %s", path,
                             path);
    return TAP_OK;
}

enum tap_status run_folder_create_next(struct run_folder *folder, const char *name, struct tap_error *error)
{
    *folder = (struct run_folder){.descriptor = -1};
    if (make_folders("runs", error) != TAP_OK)
        return error->status;
    for (int n = 1; n < MOST_RUNS; n++) {
        char path[1024];
        if (snprintf(path, sizeof path, "runs/%s-%d", name, n) >= (int)sizeof path)
            return tap_error_set(error, TAP_ERR_VALUE, "runs/%s: the name is too long; choose one with --out", name);
        /* mkdir decides who gets the number when two runs start at once */
        if (mkdir(path, 0777) == 0)
            return lock_folder(folder, path, error);
        if (errno != EEXIST)
            return io_error(error, path, "cannot make the folder");
    }
    return tap_error_set(error, TAP_ERR_IO, "runs/%s-%d: no free number", name, MOST_RUNS);
}

/* The number in "step-<8 or more digits>.npz"; -1 for any other name. */
static int64_t step_of_name(const char *name)
{
    const char *digits = name + strlen("step-");
    char *end = NULL;
    if (strncmp(name, "step-", strlen("step-")) != 0 || strspn(digits, "0123456789") < 8)
        return -1;
    errno = 0;
    long long step = strtoll(digits, &end, 10);
    return errno == 0 && strcmp(end, ".npz") == 0 ? step : -1;
}

/* True for the temporary name (atomic_file.h) of a file that a run writes: ".last.npz.tmp-<pid>-<n>". */
static bool is_left_over(const char *name)
{
    static const char *const targets[] = {LAST_NAME, BEST_NAME, METRICS_NAME, "config.cfg", "data.json"};
    const char *end = strstr(name, ".tmp-");
    if (name[0] != '.' || end == NULL || strspn(end + strlen(".tmp-"), "0123456789-") != strlen(end + strlen(".tmp-")))
        return false;
    char target[64];
    size_t n = (size_t)(end - name) - 1;
    if (n >= sizeof target)
        return false;
    memcpy(target, name + 1, n);
    target[n] = '\0';
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(target, targets[i]) == 0)
            return true;
    return step_of_name(target) >= 0;
}

/* Removes the temporary files of a run that was killed in a save. Nobody else is writing: the folder is ours. */
static void remove_left_overs(const char *path)
{
    DIR *listing = opendir(path);
    if (listing == NULL)
        return;
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing))
        if (is_left_over(entry->d_name))
            unlinkat(dirfd(listing), entry->d_name, 0);
    closedir(listing);
}

enum tap_status run_folder_open(struct run_folder *folder, const char *path, struct tap_error *error)
{
    if (lock_folder(folder, path, error) == TAP_OK)
        remove_left_overs(path);
    return error->status;
}

enum tap_status run_folder_close(struct run_folder *folder, struct tap_error *error)
{
    if (folder->metrics != NULL && fclose(folder->metrics) != 0)
        io_error(error, folder->path, "cannot write " METRICS_NAME);
    if (folder->descriptor >= 0)
        close(folder->descriptor);
    tap_mem_free(folder->path);
    *folder = (struct run_folder){.descriptor = -1};
    return error->status;
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
        io_error(error, path, "cannot list the folder");
        return NULL;
    }
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
        int64_t step = step_of_name(entry->d_name);
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
    struct tap_checkpoint *newest = try_open(path_join(path, LAST_NAME, error), warn, error);
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
    char *best = path_join(path, BEST_NAME, error);
    if (best == NULL || access(best, F_OK) == 0)
        return best;
    tap_mem_free(best);
    char *last = path_join(path, LAST_NAME, error);
    if (last != NULL && access(last, F_OK) != 0) {
        tap_error_set(error, TAP_ERR_VALUE, "%s: neither " BEST_NAME " nor " LAST_NAME " is in the folder", path);
        tap_mem_free(last);
        return NULL;
    }
    return last;
}

/* True for a line that stays when a run goes on from `step`. A line that was cut off does not parse, and goes. */
static bool stays(const char *line, size_t n_bytes, int64_t step, struct tap_error *memory_error)
{
    struct tap_error error = {0};
    struct tap_json *value = tap_json_parse(line, n_bytes, METRICS_NAME, &error);
    struct tap_json_place place = tap_json_root(value, METRICS_NAME, &error);
    if (error.status == TAP_ERR_MEMORY)
        tap_error_memory(memory_error, "the lines of " METRICS_NAME);
    bool result = false;
    if (value != NULL && tap_json_has(&place, "event") && tap_json_has(&place, "step")) {
        const char *event = tap_json_get_text(&place, "event");
        bool is_test = tap_json_has(&place, "split") && strcmp(tap_json_get_text(&place, "split"), "test") == 0;
        int64_t at = tap_json_get_integer(&place, "step", 0, INT64_MAX);
        result = error.status == TAP_OK && at <= step && strcmp(event, "done") != 0 && !is_test;
    }
    tap_json_free(value);
    return result;
}

/* The kept lines of an older metrics.jsonl, for tap_mem_free. */
static char *kept_lines(const char *path, int64_t step, size_t *out_n, struct tap_error *error)
{
    char *kept = NULL;
    size_t n_kept = 0;
    size_t capacity = 0;
    char *line = NULL;
    size_t line_capacity = 0;
    FILE *file = fopen(path, "re");
    *out_n = 0;
    if (file == NULL) {
        if (errno != ENOENT)
            io_error(error, path, "cannot read");
        return NULL;
    }
    errno = 0;
    for (ssize_t n = getline(&line, &line_capacity, file); n > 0; n = getline(&line, &line_capacity, file)) {
        if (line[n - 1] != '\n' || !stays(line, (size_t)n, step, error))
            continue;
        if (!tap_mem_reserve(&kept, &capacity, n_kept + (size_t)n, 1)) {
            tap_error_memory(error, "the lines of " METRICS_NAME);
            break;
        }
        memcpy(kept + n_kept, line, (size_t)n);
        n_kept += (size_t)n;
    }
    if (error->status == TAP_OK && !feof(file))
        io_error(error, path, "cannot read");
    free(line); /* getline's own */
    fclose(file);
    *out_n = n_kept;
    return kept;
}

enum tap_status run_folder_start_metrics(struct run_folder *folder, int64_t step, struct tap_error *error)
{
    size_t n_kept = 0;
    char *path = path_join(folder->path, METRICS_NAME, error);
    if (path == NULL)
        return error->status;
    char *kept = step < 0 ? NULL : kept_lines(path, step, &n_kept, error);
    if (error->status == TAP_OK && tap_file_write(path, kept, n_kept, error) == TAP_OK) {
        folder->metrics = fopen(path, "ae");
        if (folder->metrics == NULL)
            io_error(error, path, "cannot open");
    }
    tap_mem_free(kept);
    tap_mem_free(path);
    return error->status;
}

enum tap_status run_folder_log(struct run_folder *folder, struct tap_json *object, struct tap_error *error)
{
    size_t n = 0;
    char *line = error->status == TAP_OK ? tap_json_dump(object, TAP_JSON_DIGITS_FLOAT, &n, error) : NULL;
    tap_json_free(object);
    if (line == NULL)
        return error->status;
    if (fwrite(line, 1, n, folder->metrics) != n || fputc('\n', folder->metrics) == EOF || fflush(folder->metrics) != 0)
        io_error(error, folder->path, "cannot write " METRICS_NAME);
    tap_mem_free(line);
    return error->status;
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
            io_error(error, path, "cannot remove");
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
        run_folder_publish(folder, path, LAST_NAME, error) == TAP_OK &&
        (!is_best || run_folder_publish(folder, path, BEST_NAME, error) == TAP_OK)) {
        struct tap_npz *written = tap_npz_open(path, true, error); /* checks the sum over the whole file */
        tap_npz_close(written);
        if (written != NULL)
            remove_oldest(folder->path, content->progress.step, keep, error);
    }
    tap_mem_free(path);
    return error->status;
}
