/* program.c: see program.h. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gemm.h"
#include "mem.h"
#include "report.h"
#include "run_folder.h"
#include "version.h"

#ifndef TAP_CFLAGS /* the Makefile gives them */
#define TAP_CFLAGS "flags unknown"
#endif

void print_version(const char *program)
{
    struct tap_error error = {0};
    printf("%s (Tapestry) %s\nscalar type %s, built with %s\ncompiler %s\n", program, TAP_VERSION, TAP_REAL_NAME,
           TAP_CFLAGS, __VERSION__);
    if (tap_gemm_start(&error) == TAP_OK)
        printf("matrix products by %s, kernels %s\n", tap_gemm_engine(), tap_gemm_kernel_family());
}

int report_failure(const struct tap_error *error, bool running)
{
    report_error("%s", error->message);
    switch (error->status) {
    case TAP_ERR_MEMORY:
    case TAP_ERR_NONFINITE:
        return EXIT_RUN_FAILED;
    case TAP_ERR_IO:
        return running ? EXIT_RUN_FAILED : EXIT_BAD_INPUT;
    default:
        return EXIT_BAD_INPUT;
    }
}

bool parse_count(const char *text, int *out)
{
    char *end = NULL;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || n > INT_MAX)
        return false;
    *out = (int)n;
    return true;
}

bool parse_threads(const char *text, int *out)
{
    if (parse_count(text, out))
        return true;
    report_error("--threads: %s is no number of threads; accepted: 0 (all) to %d", text, INT_MAX);
    return false;
}

/* How long a thread that waits for another one turns round before it sleeps, in libgomp's unit: some tens of
 * microseconds.
 * libgomp's own figure is sixty times that; on a machine that has other work, threads then wait whole time slices
 * for one that is not running, and training takes ten times as long. */
#define SPIN_COUNT "5000"

/* libgomp looks at its environment only when it is loaded: the program starts itself once more. Where that cannot be
 * done, it is only slower on a busy machine. Whoever sets one of the two variables is left alone. */
static void wait_gently(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL)
        return;
    char path[4096]; /* by its own name, so that ps shows it */
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0 || setenv("GOMP_SPINCOUNT", SPIN_COUNT, 1) != 0)
        return;
    path[n] = '\0';
    execv(path, argv);
}

void program_start(char **argv)
{
    wait_gently(argv);
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY}; /* the first two fail where the closed one would */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", modes[fd]); /* takes the lowest number that is free: fd */
    opterr = 0;
}

int next_option(int argc, char **argv, const struct option *options)
{
    int which = -1;
    int first = optind;
    int c = getopt_long(argc, argv, ":", options, &which);
    /* what was read stands at the end of what optind passed over: the option, or the option and its value */
    for (int i = optind - 1; which >= 0 && i >= first && i >= optind - 2; i--) {
        size_t n = strlen(options[which].name);
        if (strncmp(argv[i], "--", 2) != 0 || strncmp(argv[i] + 2, options[which].name, strcspn(argv[i] + 2, "=")) != 0)
            continue;
        if (strcspn(argv[i] + 2, "=") == n)
            return c;
        optind = i + 1; /* where report_usage looks */
        return '?';
    }
    return c;
}

bool has_words_left(const char *program, int argc, char **argv)
{
    if (optind < argc)
        report_error("%s: not an option; try %s --help", argv[optind], program);
    return optind < argc;
}

int report_usage(const char *program, int refused, char **argv)
{
    const char *word = argv[optind - 1];
    if (refused == ':')
        report_error("%s: a value is needed; try %s --help", word, program);
    else
        report_error("%s: no such option, or one that is not written so; try %s --help", word, program);
    return EXIT_BAD_INPUT;
}

int finish_output(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return status;
    report_error("standard output takes no more");
    return status == EXIT_DONE ? EXIT_RUN_FAILED : status;
}

enum tap_status trained_open(struct trained *trained, const char *path, struct tap_error *error)
{
    *trained = (struct trained){0};
    char *file = model_path(path, error);
    if (file != NULL)
        trained->checkpoint = tap_checkpoint_open(file, error);
    if (trained->checkpoint != NULL)
        trained->model = tap_checkpoint_model(trained->checkpoint, error);
    tap_mem_free(file);
    if (trained->model == NULL)
        trained_close(trained);
    return error->status;
}

void trained_close(struct trained *trained)
{
    tap_model_free(trained->model);
    tap_checkpoint_close(trained->checkpoint);
    *trained = (struct trained){0};
}

/* The stored config's values, as if read from a file. */
static void copy_config(struct tap_config *config, const struct tap_checkpoint *from, struct tap_config_errors *errors)
{
    struct tap_config_text text = {0};
    tap_config_write(&from->config, &text);
    if (text.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_read_text(config, from->path, text.bytes, text.n_bytes, errors);
    tap_config_text_clear(&text);
}

int load_config(struct tap_config *config, const char *path, const char *data, const char *const *sets, size_t n_sets,
                const struct tap_checkpoint *from)
{
    struct tap_config_errors errors = {0};
    if (path != NULL)
        tap_config_read_file(config, path, &errors);
    else if (from != NULL)
        copy_config(config, from, &errors);
    if (data != NULL)
        tap_config_set_text(config, "data", "train", data, "--data", &errors);
    for (size_t i = 0; i < n_sets; i++)
        tap_config_set(config, sets[i], &errors);
    if (tap_config_finish(config, &errors) && from != NULL)
        tap_config_compare_for_resume(&from->config, config, &errors);
    size_t n = tap_config_errors_count(&errors);
    for (size_t i = 0; i < n; i++)
        report_error("%s", tap_config_errors_get(&errors, i));
    int status = errors.out_of_memory ? EXIT_RUN_FAILED : n > 0 ? EXIT_BAD_INPUT : -1;
    tap_config_errors_clear(&errors);
    return status;
}
