/* saved_run.c: see saved_run.h. */
#include "saved_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "config_use.h"
#include "gemm.h"
#include "mem.h"
#include "scratch_folder.h"

struct saved_run saved;

void saved_run_start(void)
{
    struct tap_config_errors errors = {0};
    const char *text = "model: {d_model: 4, heads: 2, layers: 1, d_ff: 3}\ndata: {task: order, max_length: 30}\n"
                       "task: {rows: 20}\noptim: {lr: 0.1}\n";
    cr_assert_eq(tap_gemm_start(&saved.error), TAP_OK);
    cr_assert(tap_config_init(&saved.config, &saved.error));
    cr_assert(tap_config_read_text(&saved.config, "test.cfg", text, strlen(text), &errors));
    cr_assert(tap_config_finish(&saved.config, &errors));
    struct tap_data_options data_options = tap_config_data_options(&saved.config);
    saved.data = tap_data_open(&data_options, NULL, NULL, 0, &saved.error);
    cr_assert_not_null(saved.data, "%s", saved.error.message);
    struct tap_model_options model_options =
        tap_config_model_options(&saved.config, tap_tokenizer_n_tokens(saved.data->tokenizer), saved.data->n_labels);
    saved.model = tap_model_new(&model_options, &saved.error);
    cr_assert_not_null(saved.model, "%s", saved.error.message);
    tap_parameters_initialize(&saved.model->parameters, 3);
    struct tap_optimizer_options options = tap_config_optimizer_options(&saved.config);
    saved.optimizer =
        tap_optimizer_new(tap_config_optimizer(&saved.config), &options, &saved.model->parameters, &saved.error);
    cr_assert_not_null(saved.optimizer, "%s", saved.error.message);
    for (int step = 0; step < 7; step++) {
        for (size_t p = 0; p < saved.model->parameters.n; p++)
            for (size_t i = 0; i < saved.model->parameters.items[p]->tensor.size; i++)
                saved.model->parameters.items[p]->tensor.grad[i] =
                    (tap_real)((double)(i % 5) - 1.7) / (tap_real)(step + 3);
        cr_assert_eq(tap_optimizer_step(saved.optimizer, 0.1, 1), TAP_OK);
    }
    saved.content = (struct tap_checkpoint_content){
        .config = &saved.config,
        .model = saved.model,
        .optimizer = saved.optimizer,
        .data = saved.data,
        .progress = {.step = 7,
                     .epoch = 2,
                     .position = 5,
                     .loss_sum = 0.1 + 0.2,
                     .loss_weight = 17,
                     .has_best = true,
                     .best_metric = 1.0 / 3,
                     .best_step = 4,
                     .stale_evaluations = 2},
        .threads = 3,
    };
    snprintf(saved.path, sizeof saved.path, "%s", scratch_path("original.npz"));
    cr_assert_eq(tap_checkpoint_save(saved.path, &saved.content, 0, &saved.error), TAP_OK, "%s", saved.error.message);
}

void saved_run_end(void)
{
    tap_optimizer_free(saved.optimizer);
    tap_model_free(saved.model);
    tap_data_free(saved.data);
    tap_config_clear(&saved.config);
    scratch_remove();
}

const char *saved_run_copy(const char *meta, const char *leave_out)
{
    const char *path = scratch_path("copy.npz");
    struct tap_error own = {0};
    struct tap_npz *npz = tap_npz_open(saved.path, true, &own);
    struct tap_npz_writer *writer = tap_npz_create(path, 0, &own);
    cr_assert(npz != NULL && writer != NULL, "%s", own.message);
    for (size_t i = 0; i < tap_npz_n_members(npz); i++) {
        static tap_real numbers[4096];
        struct tap_npy_header header;
        size_t n = 1;
        if (!tap_npz_is_array(npz, i) || (leave_out != NULL && strcmp(tap_npz_name(npz, i), leave_out) == 0))
            continue;
        cr_assert_eq(tap_npz_array(npz, i, &header, &own), TAP_OK);
        for (size_t d = 0; d < header.n_dims; d++)
            n *= header.shape[d];
        cr_assert(n <= 4096 && tap_npz_read_real(npz, i, numbers, n, &own) == TAP_OK);
        tap_npz_add_real(writer, tap_npz_name(npz, i), header.n_dims, header.shape, numbers);
    }
    if (meta != NULL)
        tap_npz_add_bytes(writer, "meta.json", meta, strlen(meta));
    cr_assert_eq(tap_npz_commit(writer, &own), TAP_OK, "%s", own.message);
    tap_npz_close(npz);
    return path;
}

void saved_run_meta(char meta[META_BYTES])
{
    char *bytes = NULL;
    size_t n = 0;
    struct tap_npz *npz = tap_npz_open(saved.path, true, &saved.error);
    cr_assert_eq(tap_npz_read_bytes(npz, "meta.json", &bytes, &n, META_BYTES - 1, &saved.error), TAP_OK, "%s",
                 saved.error.message);
    memcpy(meta, bytes, n + 1);
    tap_mem_free(bytes);
    tap_npz_close(npz);
}

struct tap_checkpoint *open_whole(const char *path)
{
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(path, &saved.error);
    cr_assert_not_null(checkpoint, "%s", saved.error.message);
    return checkpoint;
}
