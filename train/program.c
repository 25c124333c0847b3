/* program.c: see program.h. */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

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
    printf("%s (Tapestry) %s\nscalar type %s, built with %s\ncompiler %s\n", program, TAP_VERSION, TAP_REAL_NAME, TAP_CFLAGS,
           __VERSION__);
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

bool parse_threads(const char *text, int *out)
{
    char *end = NULL;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || n > INT_MAX) {
        report_error("--threads: %s is no number of threads; accepted: 0 (all) to %d", text, INT_MAX);
        return false;
    }
    *out = (int)n;
    return true;
}

int report_usage(const char *program)
{
    report_error("try: %s --help", program);
    return EXIT_BAD_INPUT;
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
