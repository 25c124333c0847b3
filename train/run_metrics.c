/* run_metrics.c: metrics.jsonl of a run's folder; see run_folder.h. */
#include "run_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "atomic_file.h"
#include "mem.h"

/* True for a line that stays when a run goes on from `step`. A line that was cut off does not parse, and goes. */
static bool stays(const char *line, size_t n_bytes, int64_t step, struct tap_error *memory_error)
{
    struct tap_error error = {0};
    struct tap_json *value = tap_json_parse(line, n_bytes, RUN_METRICS_NAME, &error);
    struct tap_json_place place = tap_json_root(value, RUN_METRICS_NAME, &error);
    if (error.status == TAP_ERR_MEMORY)
        tap_error_memory(memory_error, "the lines of " RUN_METRICS_NAME);
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
            run_io_error(error, path, "cannot read");
        return NULL;
    }
    errno = 0;
    for (ssize_t n = getline(&line, &line_capacity, file); n > 0; n = getline(&line, &line_capacity, file)) {
        if (line[n - 1] != '\n' || !stays(line, (size_t)n, step, error))
            continue;
        if (!tap_mem_reserve(&kept, &capacity, n_kept + (size_t)n, 1)) {
            tap_error_memory(error, "the lines of " RUN_METRICS_NAME);
            break;
        }
        memcpy(kept + n_kept, line, (size_t)n);
        n_kept += (size_t)n;
    }
    if (error->status == TAP_OK && !feof(file))
        run_io_error(error, path, "cannot read");
    free(line); /* getline's own */
    fclose(file);
    *out_n = n_kept;
    return kept;
}

enum tap_status run_folder_start_metrics(struct run_folder *folder, int64_t step, struct tap_error *error)
{
    size_t n_kept = 0;
    char *path = path_join(folder->path, RUN_METRICS_NAME, error);
    if (path == NULL)
        return error->status;
    char *kept = step < 0 ? NULL : kept_lines(path, step, &n_kept, error);
    if (error->status == TAP_OK && tap_file_write(path, kept, n_kept, error) == TAP_OK) {
        folder->metrics = fopen(path, "ae");
        if (folder->metrics == NULL)
            run_io_error(error, path, "cannot open");
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
        run_io_error(error, folder->path, "cannot write " RUN_METRICS_NAME);
    tap_mem_free(line);
    return error->status;
}
