/* test_atomic_file.c: a target is the old file whole or the new file whole, whatever fails and wherever the process
 * dies, and nothing else stays in the folder. */
#include "atomic_file.h"
#include "file_calls.h"
#include "mem.h"
#include "scratch_folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(atomic_file, .fini = scratch_remove);

#define N_LARGE ((size_t)200000)

/* Bytes that differ from place to place. */
static unsigned char large[N_LARGE];

static void fill_large(void)
{
    for (size_t i = 0; i < N_LARGE; i++)
        large[i] = (unsigned char)(i * 31 + i / 251);
}

/* Writes the large bytes in portions of `portion`, except for two places that are patched in at the end. */
static enum tap_status write_large(const char *path, size_t portion, struct tap_error *error)
{
    static const unsigned char wrong[50];
    struct tap_atomic_file *file = tap_atomic_file_open(path, error);
    if (file == NULL)
        return error->status;
    tap_atomic_file_write(file, wrong, 50);
    for (size_t i = 50; i < N_LARGE; i += portion)
        tap_atomic_file_write(file, large + i, N_LARGE - i < portion ? N_LARGE - i : portion);
    if (tap_atomic_file_status(file) == TAP_OK) {
        tap_atomic_file_patch(file, 0, large, 50);
        tap_atomic_file_patch(file, N_LARGE - 1000, large + N_LARGE - 1000, 1000);
    }
    return tap_atomic_file_commit(file, error);
}

static bool holds_large(const char *path)
{
    size_t n;
    char *bytes = scratch_read(path, &n);
    bool same = bytes != NULL && n == N_LARGE && memcmp(bytes, large, n) == 0;
    tap_mem_free(bytes);
    return same;
}

Test(atomic_file, what_is_written_in_any_portions_is_in_the_file)
{
    const size_t portions[] = {1000, 65535, 65536, 65537, N_LARGE};
    const char *path = scratch_path("x");
    fill_large();
    for (size_t i = 0; i < sizeof portions / sizeof *portions; i++) {
        struct tap_error error = {0};
        cr_assert_eq(write_large(path, portions[i], &error), TAP_OK, "%s", error.message);
        cr_assert(holds_large(path), "portion %zu", portions[i]);
        cr_assert_eq(scratch_n_files(), 1);
    }
}

Test(atomic_file, a_patch_may_span_what_is_flushed_and_what_is_not)
{
    struct tap_error error = {0};
    const char *path = scratch_path("x");
    static char zeros[70000];
    struct tap_atomic_file *file = tap_atomic_file_open(path, &error);
    tap_atomic_file_write(file, zeros, sizeof zeros);
    tap_atomic_file_write(file, "abcdef", 6);
    tap_atomic_file_patch(file, sizeof zeros - 2, "12345678", 8);
    cr_assert_eq(tap_atomic_file_size(file), sizeof zeros + 6);
    char back[8];
    cr_assert_eq(tap_atomic_file_read_back(file, sizeof zeros - 2, back, 8), TAP_OK);
    cr_assert_eq(memcmp(back, "12345678", 8), 0);
    tap_atomic_file_write(file, "9", 1);
    cr_assert_eq(tap_atomic_file_commit(file, &error), TAP_OK);
    size_t n;
    char *bytes = scratch_read(path, &n);
    cr_assert_eq(n, sizeof zeros + 7);
    cr_assert_str_eq(bytes + sizeof zeros - 2, "123456789");
    tap_mem_free(bytes);
}

Test(atomic_file, the_target_is_untouched_until_commit_and_after_abandon)
{
    struct tap_error error = {0};
    const char *path = scratch_path("x");
    scratch_write(path, "old", 3);
    struct tap_atomic_file *file = tap_atomic_file_open(path, &error);
    tap_atomic_file_write(file, "new", 3);
    cr_assert(scratch_holds(path, "old"));
    tap_atomic_file_abandon(file);
    cr_assert(scratch_holds(path, "old"));
    cr_assert_eq(scratch_n_files(), 1);
    tap_atomic_file_abandon(NULL);
    cr_assert_eq(tap_file_write(path, "new", 3, &error), TAP_OK);
    cr_assert(scratch_holds(path, "new"));
    cr_assert_eq(tap_file_write(path, "", 0, &error), TAP_OK);
    cr_assert(scratch_holds(path, ""));
}

Test(atomic_file, two_writers_of_one_target_do_not_meet)
{
    struct tap_error error = {0};
    const char *path = scratch_path("x");
    struct tap_atomic_file *first = tap_atomic_file_open(path, &error);
    struct tap_atomic_file *second = tap_atomic_file_open(path, &error);
    tap_atomic_file_write(first, "first", 5);
    tap_atomic_file_write(second, "second", 6);
    cr_assert_eq(tap_atomic_file_commit(first, &error), TAP_OK);
    cr_assert(scratch_holds(path, "first"));
    cr_assert_eq(tap_atomic_file_commit(second, &error), TAP_OK);
    cr_assert(scratch_holds(path, "second"));
    cr_assert_eq(scratch_n_files(), 1);
}

Test(atomic_file, short_writes_and_interrupts_give_the_same_file)
{
    const size_t limits[] = {0, 1, 7, 30000};
    const char *path = scratch_path("x");
    fill_large();
    for (size_t i = 0; i < 4; i++) {
        struct tap_call_fault fault = {.most_bytes = limits[i], .interrupted = true};
        struct tap_error error = {0};
        tap_call_fault_set(&fault);
        enum tap_status status = write_large(path, 5000, &error);
        tap_call_fault_set(NULL);
        cr_assert_eq(status, TAP_OK, "%s", error.message);
        cr_assert(holds_large(path));
    }
}

/* Calls `save` with call number 1, 2, ... failing, until it succeeds: each failure must name the path and the reason,
 * leave the folder as it was, and no open file. Only the flush of the folder comes after the rename. */
static void fail_every_call(enum tap_status (*save)(struct tap_error *), const char *path,
                            bool (*holds_new)(const char *))
{
    const int errors[] = {ENOSPC, EDQUOT, EIO};
    for (int i = 0; i < 6; i++) {
        uint64_t call = 0;
        enum tap_status status = TAP_ERR_IO;
        while (status != TAP_OK) {
            scratch_write(path, "old", 3);
            size_t n_files = scratch_n_files();
            size_t n_open = scratch_n_open();
            struct tap_error error = {0};
            struct tap_call_fault fault = {.at = ++call, .persistent = i >= 3, .error_number = errors[i % 3]};
            tap_call_fault_set(&fault);
            status = save(&error);
            bool reached = tap_call_n_calls() >= call;
            tap_call_fault_set(NULL);
            cr_assert_eq(scratch_n_open(), n_open);
            cr_assert_eq(scratch_n_files(), n_files, "call %d", (int)call);
            if (status == TAP_OK) {
                cr_assert_not(reached, "the failure of call %d was ignored", (int)call);
                cr_assert(holds_new(path));
                continue;
            }
            cr_assert_eq(status, TAP_ERR_IO);
            cr_assert_not_null(strstr(error.message, path), "%s", error.message);
            cr_assert_not_null(strstr(error.message, strerror(errors[i % 3])), "%s", error.message);
            cr_assert(scratch_holds(path, "old") || (strstr(error.message, "flush its folder") && holds_new(path)));
        }
        cr_assert_gt(call, 6);
    }
}

static char fault_path[4096];

static enum tap_status save_large(struct tap_error *error)
{
    return write_large(fault_path, 5000, error);
}

Test(atomic_file, any_failing_call_leaves_the_old_target_and_no_temporary)
{
    fill_large();
    strcpy(fault_path, scratch_path("x"));
    fail_every_call(save_large, fault_path, holds_large);
}

/* Runs `save` in a child that dies in place of call number 1, 2, ... until it lives: the target must be whole each
 * time. */
static void die_at_every_call(enum tap_status (*save)(struct tap_error *), const char *path,
                              bool (*holds_new)(const char *))
{
    bool alive = false;
    for (uint64_t call = 1; !alive; call++) {
        scratch_write(path, "old", 3);
        pid_t child = fork();
        cr_assert_geq(child, 0);
        if (child == 0) {
            struct tap_error error = {0};
            struct tap_call_fault fault = {.at = call};
            tap_call_fault_set(&fault);
            _exit(save(&error) == TAP_OK ? 0 : 1);
        }
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        alive = WIFEXITED(status);
        cr_assert(alive ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
        cr_assert(holds_new(path) || (!alive && scratch_holds(path, "old")), "call %d", (int)call);
        cr_assert_lt(call, 100);
    }
}

Test(atomic_file, death_at_any_call_leaves_the_old_target_or_the_new_one)
{
    fill_large();
    strcpy(fault_path, scratch_path("x"));
    die_at_every_call(save_large, fault_path, holds_large);
}

Test(atomic_file, a_file_size_limit_is_an_error_with_path_and_reason)
{
    const char *path = scratch_path("x");
    fill_large();
    scratch_write(path, "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < N_LARGE; limit += 9973) {
        struct rlimit old;
        getrlimit(RLIMIT_FSIZE, &old);
        struct rlimit small = {.rlim_cur = limit, .rlim_max = old.rlim_max};
        struct tap_error error = {0};
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        enum tap_status status = write_large(path, 5000, &error);
        setrlimit(RLIMIT_FSIZE, &old);
        cr_assert_eq(status, TAP_ERR_IO);
        cr_assert_not_null(strstr(error.message, path));
        cr_assert_not_null(strstr(error.message, strerror(EFBIG)), "%s", error.message);
        cr_assert(scratch_holds(path, "old"));
        cr_assert_eq(scratch_n_files(), 1);
    }
}

static void assert_refused(const char *path, const char *reason)
{
    struct tap_error error = {0};
    cr_assert_neq(tap_file_write(path, "x", 1, &error), TAP_OK, "%.100s", path);
    cr_assert_eq(error.status, TAP_ERR_IO);
    cr_assert_not_null(strstr(error.message, reason), "%.200s: %s", path, error.message);
}

Test(atomic_file, targets_that_cannot_be_written_are_refused_with_the_reason)
{
    static char too_long[5000];
    char name[300];
    memset(too_long, 'x', sizeof too_long - 1);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    scratch_write(scratch_path("file"), "old", 3);
    cr_assert_eq(symlink("nowhere", scratch_path("dangling")), 0);
    cr_assert_eq(symlink("loop", scratch_path("loop")), 0);
    cr_assert_eq(mkfifo(scratch_path("pipe"), 0600), 0);
    assert_refused(scratch_path("missing/x"), strerror(ENOENT));
    assert_refused(scratch_path("file/x"), strerror(ENOTDIR));
    assert_refused(scratch_path("dangling"), strerror(ENOENT));
    assert_refused(scratch_path("loop"), strerror(ELOOP));
    assert_refused(scratch_path("pipe"), "no regular file");
    assert_refused(scratch_path("."), "a folder");
    assert_refused(scratch_path(""), "a folder");
    assert_refused("missing-folder/", "the name of a file is needed");
    assert_refused("", "the name of a file is needed");
    assert_refused("/dev/full", "no regular file");
    assert_refused(too_long, strerror(ENAMETOOLONG));
    assert_refused(scratch_path(name), strerror(ENAMETOOLONG));
    cr_assert(scratch_holds(scratch_path("file"), "old"));
    cr_assert_eq(scratch_n_files(), 4);
}

Test(atomic_file, a_folder_without_write_permission_is_refused)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch_path("x"));
    cr_assert_eq(chmod(scratch_path("."), 0555), 0);
    if (geteuid() == 0)
        cr_assert_eq(seteuid(65534), 0);
    struct tap_error error = {0};
    enum tap_status status = tap_file_write(path, "x", 1, &error);
    if (getuid() == 0)
        cr_assert_eq(seteuid(0), 0);
    chmod(scratch_path("."), 0700);
    cr_assert_eq(status, TAP_ERR_IO);
    cr_assert_not_null(strstr(error.message, path));
    cr_assert_not_null(strstr(error.message, strerror(EACCES)), "%s", error.message);
}

Test(atomic_file, names_up_to_the_systems_limit_work)
{
    char name[256];
    struct tap_error error = {0};
    memset(name, 'n', 255);
    name[255] = '\0';
    cr_assert_eq(tap_file_write(scratch_path(name), "x", 1, &error), TAP_OK, "%s", error.message);
    cr_assert(scratch_holds(scratch_path(name), "x"));
}

Test(atomic_file, a_plain_name_is_written_in_the_current_folder)
{
    struct tap_error error = {0};
    cr_assert_eq(chdir(scratch_path(".")), 0);
    cr_assert_eq(tap_file_write("plain", "x", 1, &error), TAP_OK, "%s", error.message);
    cr_assert(scratch_holds(scratch_path("plain"), "x"));
    cr_assert_eq(chdir("/"), 0);
}

Test(atomic_file, a_symbolic_link_stays_and_its_file_is_replaced)
{
    struct tap_error error = {0};
    struct stat found;
    scratch_write(scratch_path("real"), "old", 3);
    cr_assert_eq(symlink("real", scratch_path("link")), 0);
    cr_assert_eq(tap_file_write(scratch_path("link"), "new", 3, &error), TAP_OK);
    cr_assert(scratch_holds(scratch_path("real"), "new"));
    cr_assert_eq(lstat(scratch_path("link"), &found), 0);
    cr_assert(S_ISLNK(found.st_mode));
    cr_assert_eq(tap_file_publish_link(scratch_path("link"), scratch_path("other"), &error), TAP_OK);
    cr_assert_eq(lstat(scratch_path("other"), &found), 0);
    cr_assert(S_ISREG(found.st_mode));
}

Test(atomic_file, the_mode_follows_the_umask)
{
    struct tap_error error = {0};
    struct stat found;
    umask(027);
    cr_assert_eq(tap_file_write(scratch_path("x"), "x", 1, &error), TAP_OK);
    cr_assert_eq(stat(scratch_path("x"), &found), 0);
    cr_assert_eq(found.st_mode & 0777, 0640);
}

/* --- publishing ----------------------------------------------------------------------------------------------------
 */

static ino_t inode(const char *path)
{
    struct stat found = {0};
    stat(path, &found);
    return found.st_ino;
}

Test(publish_link, the_target_is_the_same_file, .fini = scratch_remove)
{
    struct tap_error error = {0};
    const char *step = scratch_path("step");
    const char *last = scratch_path("last");
    scratch_write(step, "step 1", 6);
    cr_assert_eq(tap_file_publish_link(step, last, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(inode(step), inode(last));
    cr_assert_eq(tap_file_publish_link(step, last, &error), TAP_OK, "again");
    cr_assert_eq(tap_file_publish_link(step, step, &error), TAP_OK, "onto itself");
    cr_assert_eq(scratch_n_files(), 2);
    cr_assert_eq(tap_file_write(step, "step 2", 6, &error), TAP_OK);
    cr_assert(scratch_holds(last, "step 1"), "a new step file does not change the published one");
    cr_assert_eq(tap_file_publish_link(step, last, &error), TAP_OK);
    cr_assert(scratch_holds(last, "step 2"));
    cr_assert_eq(scratch_n_files(), 2);
}

Test(publish_link, without_links_the_target_is_a_copy, .fini = scratch_remove)
{
    const int errors[] = {EPERM, EMLINK, EXDEV, ENOTSUP, EACCES};
    fill_large();
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct tap_error error = {0};
        struct tap_call_fault fault = {.at = 1, .error_number = errors[i]};
        const char *step = scratch_path("step");
        const char *last = scratch_path("last");
        scratch_write(step, large, N_LARGE);
        scratch_write(last, "old", 3);
        tap_call_fault_set(&fault);
        enum tap_status status = tap_file_publish_link(step, last, &error);
        tap_call_fault_set(NULL);
        cr_assert_eq(status, TAP_OK, "%s", error.message);
        cr_assert(holds_large(last));
        cr_assert_neq(inode(step), inode(last));
        cr_assert_eq(scratch_n_files(), 2);
    }
}

static char step_path[4096];

static enum tap_status publish(struct tap_error *error)
{
    return tap_file_publish_link(step_path, fault_path, error);
}

Test(publish_link, any_failing_call_leaves_the_old_target_and_no_temporary, .fini = scratch_remove)
{
    fill_large();
    strcpy(step_path, scratch_path("step"));
    strcpy(fault_path, scratch_path("last"));
    scratch_write(step_path, large, N_LARGE);
    for (uint64_t call = 1;; call++) {
        scratch_write(fault_path, "old", 3);
        struct tap_error error = {0};
        struct tap_call_fault fault = {.at = call, .error_number = ENOSPC};
        tap_call_fault_set(&fault);
        enum tap_status status = publish(&error);
        bool reached = tap_call_n_calls() >= call;
        tap_call_fault_set(NULL);
        cr_assert_eq(scratch_n_files(), 2);
        cr_assert(scratch_holds(fault_path, "old") ? status != TAP_OK : holds_large(fault_path));
        cr_assert(status == TAP_OK || strstr(error.message, "No space left on device"), "%s", error.message);
        unlink(fault_path);
        if (!reached) {
            cr_assert_eq(status, TAP_OK);
            cr_assert_geq(call, 6);
            break;
        }
    }
}

Test(publish_link, death_at_any_call_leaves_the_old_target_or_the_new_one, .fini = scratch_remove)
{
    fill_large();
    strcpy(step_path, scratch_path("step"));
    strcpy(fault_path, scratch_path("last"));
    scratch_write(step_path, large, N_LARGE);
    bool alive = false;
    for (uint64_t call = 1; !alive; call++) {
        unlink(fault_path);
        scratch_write(fault_path, "old", 3);
        pid_t child = fork();
        if (child == 0) {
            struct tap_error error = {0};
            struct tap_call_fault fault = {.at = call};
            tap_call_fault_set(&fault);
            _exit(publish(&error) == TAP_OK ? 0 : 1);
        }
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        alive = WIFEXITED(status);
        cr_assert(holds_large(fault_path) || (!alive && scratch_holds(fault_path, "old")));
        cr_assert(holds_large(step_path));
        cr_assert_lt(call, 100);
    }
}

Test(publish_link, what_cannot_be_published_is_refused, .fini = scratch_remove)
{
    struct tap_error error = {0};
    const char *last = scratch_path("last");
    cr_assert_eq(tap_file_publish_link(scratch_path("missing"), last, &error), TAP_ERR_IO);
    cr_assert_not_null(strstr(error.message, strerror(ENOENT)));
    tap_error_clear(&error);
    cr_assert_eq(tap_file_publish_link(scratch_path("."), last, &error), TAP_ERR_IO);
    cr_assert_not_null(strstr(error.message, "regular file"));
    tap_error_clear(&error);
    scratch_write(scratch_path("step"), "x", 1);
    cr_assert_eq(tap_file_publish_link(scratch_path("step"), scratch_path("missing/last"), &error), TAP_ERR_IO);
    cr_assert_not_null(strstr(error.message, strerror(ENOENT)));
    tap_error_clear(&error);
    cr_assert_eq(tap_file_publish_link(scratch_path("step"), scratch_path("."), &error), TAP_ERR_IO);
    cr_assert_eq(scratch_n_files(), 1);
}

Test(atomic_file, every_failing_allocation_is_a_clean_error)
{
    scratch_write(scratch_path("step"), "x", 1);
    for (int copies = 0; copies < 2; copies++) {
        enum tap_status status = TAP_ERR_MEMORY;
        for (uint64_t n = 1; status != TAP_OK; n++) {
            struct tap_error error = {0};
            struct tap_call_fault fault = {.at = 1, .error_number = EXDEV};
            size_t n_files = scratch_n_files();
            size_t n_open = scratch_n_open();
            tap_call_fault_set(copies ? &fault : NULL);
            tap_mem_fail_at(n, false);
            status = copies ? tap_file_publish_link(scratch_path("step"), scratch_path("last"), &error)
                            : tap_file_write(scratch_path("step"), "y", 1, &error);
            tap_mem_fail_at(0, false);
            tap_call_fault_set(NULL);
            cr_assert_eq(scratch_n_open(), n_open);
            if (status != TAP_OK) {
                cr_assert_eq(status, TAP_ERR_MEMORY);
                cr_assert_eq(scratch_n_files(), n_files);
            } else {
                cr_assert_gt(n, 1);
            }
        }
    }
}
