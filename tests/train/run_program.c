/* run_program.c: see run_program.h. Output goes into memory files, so that no program ever waits for its reader. */
#include "run_program.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mem.h"

#define MOST_SECONDS 100

/* Texts that live as long as the test's process: kept in a list, so that no leak is seen. */
static void **kept;
static size_t n_kept, kept_capacity;

static void *keep(void *block)
{
    cr_assert_not_null(block);
    cr_assert(tap_mem_reserve(&kept, &kept_capacity, n_kept + 1, sizeof *kept));
    kept[n_kept++] = block;
    return block;
}

const char *text_of(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = keep(tap_mem_new((size_t)n + 1, 1));
    va_start(arguments, format);
    vsnprintf(text, (size_t)n + 1, format, arguments);
    va_end(arguments);
    return text;
}

/* --- files ---------------------------------------------------------------------------------------------------------
 */

static char folder[256];

const char *work_path(const char *name)
{
    if (folder[0] == '\0') {
        /* in memory where that is possible: every save is flushed, and the tests save thousands of times */
        const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%s/tapestry-run-XXXXXX", base);
        cr_assert_not_null(mkdtemp(folder));
    }
    return text_of("%s/%s", folder, name);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void work_remove(void)
{
    if (folder[0] != '\0')
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    folder[0] = '\0';
    for (size_t i = 0; i < n_kept; i++)
        tap_mem_free(kept[i]);
    tap_mem_free(kept);
    kept = NULL;
    n_kept = kept_capacity = 0;
}

void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    cr_assert_eq(fwrite(bytes, 1, n, file), n);
    cr_assert_eq(fclose(file), 0);
}

void write_text_file(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* All bytes of a descriptor from its start, and a zero. */
static char *read_descriptor(int fd, size_t *out_n)
{
    struct stat status;
    cr_assert_eq(fstat(fd, &status), 0);
    size_t n = (size_t)status.st_size;
    char *bytes = keep(tap_mem_new(n + 1, 1));
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, bytes + done, n - done, (off_t)done);
        cr_assert(got > 0);
        done += (size_t)got;
    }
    if (out_n != NULL)
        *out_n = n;
    return bytes;
}

char *read_file(const char *path, size_t *out_n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *bytes = read_descriptor(fd, out_n);
    close(fd);
    return bytes;
}

bool same_files(const char *a, const char *b)
{
    size_t n_a = 0;
    size_t n_b = 0;
    const char *bytes_a = read_file(a, &n_a);
    const char *bytes_b = read_file(b, &n_b);
    return bytes_a != NULL && bytes_b != NULL && n_a == n_b && memcmp(bytes_a, bytes_b, n_a) == 0;
}

bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

const char *list_folder(const char *path)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, alphasort);
    const char *list = "";
    cr_assert(n >= 0, "%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0)
            list = text_of("%s%s ", list, names[i]->d_name);
        free(names[i]); /* scandir's own */
    }
    free(names);
    return list;
}

size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + strlen(part), part))
        n++;
    return n;
}

size_t count_lines(const char *text)
{
    return count_of(text, "\n");
}

/* --- programs ------------------------------------------------------------------------------------------------------
 */

static void in_child(const struct program_options *options, const char *path, char *const *arguments, int in, int out,
                     int err)
{
    if (options->folder != NULL && chdir(options->folder) != 0)
        _exit(120);
    if (options->file_limit > 0) {
        struct rlimit limit = {options->file_limit, options->file_limit};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (options->environment != NULL)
        putenv((char *)options->environment);
    if (options->as_nobody && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
        _exit(121);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (options->stdin_closed)
        close(STDIN_FILENO);
    if (options->stdout_closed)
        close(STDOUT_FILENO);
    if (options->stderr_closed)
        close(STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    execv(path, arguments);
    _exit(122);
}

/* fork and exec; the descriptors stay the caller's. */
static pid_t spawn(const struct program_options *options, const char *program, const char *const *arguments, int in,
                   int out, int err)
{
    static const struct program_options none;
    char *list[64] = {0};
    size_t n = 0;
    const char *bin = getenv("TAPESTRY_BIN");
    cr_assert_not_null(bin, "TAPESTRY_BIN names no folder");
    const char *path = text_of("%s/%s", bin, program);
    list[n++] = (char *)path;
    for (; arguments[n - 1] != NULL && n < 63; n++)
        list[n] = (char *)arguments[n - 1];
    fflush(NULL);
    pid_t pid = fork();
    cr_assert(pid >= 0);
    if (pid == 0)
        in_child(options != NULL ? options : &none, path, list, in, out, err);
    return pid;
}

static int wait_and_measure(pid_t pid, struct rusage *out_usage)
{
    const struct timespec pause = {0, 500000};
    struct timespec start, now;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    while (wait4(pid, &status, WNOHANG, out_usage) == 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > MOST_SECONDS) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            cr_assert_fail("the program did not end within %d s", MOST_SECONDS);
        }
        nanosleep(&pause, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int wait_program(pid_t pid)
{
    struct rusage usage;
    return wait_and_measure(pid, &usage);
}

static int memory_file(const char *bytes, size_t n)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    cr_assert(fd >= 0);
    cr_assert(n == 0 || pwrite(fd, bytes, n, 0) == (ssize_t)n);
    return fd;
}

/* Where standard output goes. */
static int output_file(const struct program_options *options)
{
    int ends[2];
    if (options->stdout_path != NULL) {
        int fd = open(options->stdout_path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        cr_assert(fd >= 0);
        return fd;
    }
    if (!options->stdout_broken)
        return memory_file(NULL, 0);
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    return ends[1];
}

struct program_result run_program(const struct program_options *options, const char *program,
                                  const char *const *arguments)
{
    static const struct program_options none;
    struct program_result result = {0};
    if (options == NULL)
        options = &none;
    size_t n_input = options->input == NULL ? 0 : options->n_input > 0 ? options->n_input : strlen(options->input);
    int in = memory_file(options->input, n_input);
    int out = output_file(options);
    int err = memory_file(NULL, 0);
    struct rusage usage;
    result.status = wait_and_measure(spawn(options, program, arguments, in, out, err), &usage);
    result.peak_kib = usage.ru_maxrss;
    if (options->stdout_path == NULL && !options->stdout_broken)
        result.out = read_descriptor(out, &result.n_out);
    result.err = read_descriptor(err, NULL);
    close(in);
    close(out);
    close(err);
    return result;
}

pid_t start_program(const struct program_options *options, const char *program, const char *const *arguments,
                    int *out_input, int *out_output)
{
    int in[2], out[2];
    cr_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool is_special = options != NULL && (options->stdout_path != NULL || options->stdout_broken);
    int special = is_special ? output_file(options) : -1;
    pid_t pid = spawn(options, program, arguments, in[0],
                      is_special           ? special
                      : out_output != NULL ? out[1]
                                           : none,
                      none);
    if (is_special)
        close(special);
    close(none);
    close(in[0]);
    close(out[1]);
    if (out_input != NULL)
        *out_input = in[1];
    else
        close(in[1]);
    if (out_output != NULL)
        *out_output = out[0];
    else
        close(out[0]);
    return pid;
}

void expect_error(struct program_result result, int status, const char *const *texts)
{
    cr_assert_eq(result.status, status, "status %d, not %d: %s%s", result.status, status, result.out, result.err);
    cr_assert_eq(count_lines(result.err), 1, "not one line: %s", result.err);
    for (; *texts != NULL; texts++)
        cr_assert_not_null(strstr(result.err, *texts), "\"%s\" is not in: %s", *texts, result.err);
}

void expect_done(struct program_result result)
{
    cr_assert_eq(result.status, 0, "status %d: %s", result.status, result.err);
    cr_assert_str_empty(result.err, "%s", result.err);
}
