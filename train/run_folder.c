/* run_folder.c: making, locking and closing a run's folder; see run_folder.h. The lock is flock on the folder itself,
 * which the system gives back when the process ends in any way. */
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"

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

enum tap_status run_io_error(struct tap_error *error, const char *path, const char *what)
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
            run_io_error(error, copy, "cannot make the folder");
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
        return run_io_error(error, path, "cannot open the folder");
    if (flock(folder->descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? tap_error_set(error, TAP_ERR_IO, "%s: another run is working in this folder", path)
                   : run_io_error(error, path, "cannot lock the folder");
    if (faccessat(folder->descriptor, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return run_io_error(error, path, "cannot write to the folder");
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
            return run_io_error(error, path, "cannot make the folder");
    }
    return tap_error_set(error, TAP_ERR_IO, "runs/%s-%d: no free number", name, MOST_RUNS);
}

/* True for the temporary name (atomic_file.h) of a file that a run writes: ".last.npz.tmp-<pid>-<n>". */
static bool is_left_over(const char *name)
{
    static const char *const targets[] = {RUN_LAST_NAME, RUN_BEST_NAME, RUN_METRICS_NAME, "config.cfg", "data.json"};
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
    return run_folder_step_of_name(target) >= 0;
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
        run_io_error(error, folder->path, "cannot write " RUN_METRICS_NAME);
    if (folder->descriptor >= 0)
        close(folder->descriptor);
    tap_mem_free(folder->path);
    *folder = (struct run_folder){.descriptor = -1};
    return error->status;
}
