/* tiny_run.c: see tiny_run.h. */
#include "tiny_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "best_model.h"
#include "mem.h"
#include "npz.h"
#include "run_program.h"

void write_tiny_data(const char *path, int n_rows)
{
    static const char *const labels[] = {"good", "bad", "so so"};
    static const char *const words[] = {"plum", "fig", "pear", "apple", "nut", "leek", "bean", "rye"};
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    for (int row = 0; row < n_rows; row++) {
        fprintf(file, "%s\t", labels[row % 3]);
        for (int word = 0; word < 1 + row * 7 % 5; word++)
            fprintf(file, "%s%s", word > 0 ? " " : "", words[(row * 5 + word * (row % 3 + 1)) % 8]);
        fputc('\n', file);
    }
    cr_assert_eq(fclose(file), 0);
}

static void load_config(struct tap_config *config, const char *text, const char *const *sets)
{
    struct tap_config_errors errors = {0};
    cr_assert(tap_config_init(config, NULL));
    tap_config_read_text(config, "test.cfg", text, strlen(text), &errors);
    for (; *sets != NULL; sets++)
        tap_config_set(config, *sets, &errors);
    tap_config_finish(config, &errors);
    cr_assert_eq(tap_config_errors_count(&errors), 0, "%s", tap_config_errors_get(&errors, 0));
}

/* Trains in a folder that is open; closes it, and the checkpoint. */
static enum tap_status train(struct run_folder *folder, struct tap_checkpoint *from, bool same_folder,
                             const char *config_text, const char *const *sets, struct tap_error *error)
{
    struct tap_config config;
    struct training training = {0};
    struct report report = {.quiet = true};
    enum training_end end;
    load_config(&config, config_text, sets);
    if (error->status == TAP_OK && training_init(&training, &config, &report, from, error) == TAP_OK) {
        if (from != NULL && same_folder)
            best_model_mend(from, folder, error);
        else if (from != NULL)
            best_model_take_along(from, folder, error);
        if (error->status == TAP_OK &&
            training_start_folder(&training, folder, from != NULL && same_folder, error) == TAP_OK)
            training_run(&training, &end, error);
        training_clear(&training);
    }
    run_folder_close(folder, error);
    tap_checkpoint_close(from);
    tap_config_clear(&config);
    return error->status;
}

enum tap_status tiny_try(const char *path, bool resume, const char *config, const char *const *sets,
                         struct tap_error *error)
{
    struct run_folder folder;
    struct tap_checkpoint *from = NULL;
    if (!resume)
        run_folder_create(&folder, path, error);
    else if (run_folder_open(&folder, path, error) == TAP_OK)
        from = run_folder_newest(path, report_warning, error);
    return train(&folder, from, true, config, sets, error);
}

void tiny_train(const char *path, bool resume, const char *config, const char *const *sets)
{
    struct tap_error error = {0};
    cr_assert_eq(tiny_try(path, resume, config, sets, &error), TAP_OK, "%s", error.message);
}

void tiny_train_from(const char *file, const char *path, const char *config, const char *const *sets)
{
    struct tap_error error = {0};
    struct run_folder folder;
    struct tap_checkpoint *from = tap_checkpoint_open(file, &error);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    run_folder_create(&folder, path, &error);
    cr_assert_eq(train(&folder, from, false, config, sets, &error), TAP_OK, "%s", error.message);
}

const char *timeless_metrics(const char *folder)
{
    static const char *const times[] = {",\"tokens_per_second\":", ",\"seconds\":"};
    char *text = read_file(text_of("%s/metrics.jsonl", folder), NULL);
    cr_assert_not_null(text);
    for (size_t i = 0; i < 2; i++)
        for (char *at = strstr(text, times[i]); at != NULL; at = strstr(at, times[i])) {
            const char *end = strchr(at, '}');
            cr_assert_not_null(end);
            memmove(at, end, strlen(end) + 1);
        }
    return text;
}

void expect_same_runs(const char *a, const char *b, const char *what)
{
    cr_assert_str_eq(timeless_metrics(a), timeless_metrics(b), "%s", what);
    cr_assert(same_files(text_of("%s/data.json", a), text_of("%s/data.json", b)), "%s: data.json differs", what);
    cr_assert(same_files(text_of("%s/last.npz", a), text_of("%s/last.npz", b)), "%s: last.npz differs", what);
    /* its config may be that of before the stop */
    cr_assert(same_arrays(text_of("%s/best.npz", a), text_of("%s/best.npz", b)), "%s: best.npz differs", what);
}

char *npz_arrays(const char *path, size_t *out_n)
{
    struct tap_error error = {0};
    struct tap_npz *npz = tap_npz_open(path, true, &error);
    cr_assert_not_null(npz, "%s", error.message);
    char *bytes = NULL;
    size_t capacity = 0;
    size_t n = 0;
    for (size_t i = 0; i < tap_npz_n_members(npz); i++) {
        struct tap_npy_header header;
        size_t size = 1;
        if (!tap_npz_is_array(npz, i))
            continue;
        cr_assert_eq(tap_npz_array(npz, i, &header, &error), TAP_OK);
        for (size_t d = 0; d < header.n_dims; d++)
            size *= header.shape[d];
        size_t n_name = strlen(tap_npz_name(npz, i));
        tap_real *numbers = tap_mem_new(size, sizeof *numbers);
        cr_assert(numbers != NULL && tap_mem_reserve(&bytes, &capacity, n + n_name + size * sizeof *numbers, 1));
        cr_assert_eq(tap_npz_read_real(npz, i, numbers, size, &error), TAP_OK, "%s", error.message);
        memcpy(bytes + n, tap_npz_name(npz, i), n_name);
        memcpy(bytes + n + n_name, numbers, size * sizeof *numbers);
        n += n_name + size * sizeof *numbers;
        tap_mem_free(numbers);
    }
    tap_npz_close(npz);
    *out_n = n;
    return bytes;
}

bool same_arrays(const char *a, const char *b)
{
    size_t n_a = 0;
    size_t n_b = 0;
    char *bytes_a = npz_arrays(a, &n_a);
    char *bytes_b = npz_arrays(b, &n_b);
    bool same = n_a > 0 && n_a == n_b && memcmp(bytes_a, bytes_b, n_a) == 0;
    tap_mem_free(bytes_a);
    tap_mem_free(bytes_b);
    return same;
}

const char *npz_meta(const char *path)
{
    struct tap_error error = {0};
    char *bytes = NULL;
    size_t n = 0;
    struct tap_npz *npz = tap_npz_open(path, true, &error);
    cr_assert_not_null(npz, "%s", error.message);
    cr_assert_eq(tap_npz_read_bytes(npz, "meta.json", &bytes, &n, (size_t)1 << 24, &error), TAP_OK);
    tap_npz_close(npz);
    const char *text = text_of("%s", bytes);
    tap_mem_free(bytes);
    return text;
}
