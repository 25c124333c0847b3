/* test_checkpoint.c: a checkpoint gives back what was saved, and one that is wrong in any place is refused by name. */

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config_use.h"
#include "gemm.h"
#include "mem.h"
#include "saved_run.h"
#include "scratch_folder.h"
#include "zip_build.h"

TestSuite(checkpoint, .init = saved_run_start, .fini = saved_run_end);

/* --- what was saved comes back -------------------------------------------------------------------------------------
 */

Test(checkpoint, progress_config_labels_and_vocabulary_come_back)
{
    struct tap_checkpoint *checkpoint = open_whole(saved.path);
    const struct tap_progress *progress = &checkpoint->progress;
    cr_assert(progress->step == 7 && progress->epoch == 2 && progress->position == 5);
    cr_assert_eq(progress->loss_sum, 0.1 + 0.2);
    cr_assert_eq(progress->loss_weight, 17);
    cr_assert(progress->has_best && progress->best_metric == 1.0 / 3 && progress->best_step == 4);
    cr_assert_eq(progress->stale_evaluations, 2);
    cr_assert_str_eq(checkpoint->path, saved.path);
    cr_assert_str_eq(checkpoint->kernel_family, tap_gemm_kernel_family());
    cr_assert_eq(checkpoint->labels.n, saved.data->n_labels);
    for (size_t i = 0; i < saved.data->n_labels; i++)
        cr_assert_str_eq(checkpoint->label_names[i], saved.data->labels[i]);
    cr_assert_eq(tap_tokenizer_n_tokens(checkpoint->tokenizer), tap_tokenizer_n_tokens(saved.data->tokenizer));
    for (uint32_t i = 0; i < tap_tokenizer_n_tokens(saved.data->tokenizer); i++)
        cr_assert_str_eq(tap_tokenizer_token(checkpoint->tokenizer, i), tap_tokenizer_token(saved.data->tokenizer, i));
    struct tap_config_text then = {0};
    struct tap_config_text now = {0};
    tap_config_write(&saved.config, &then);
    tap_config_write(&checkpoint->config, &now);
    cr_assert_str_eq(then.bytes, now.bytes);
    tap_config_text_clear(&then);
    tap_config_text_clear(&now);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, parameters_and_states_come_back_to_the_bit)
{
    struct tap_checkpoint *checkpoint = open_whole(saved.path);
    struct tap_model *copy = tap_checkpoint_model(checkpoint, &saved.error);
    cr_assert_not_null(copy, "%s", saved.error.message);
    size_t n_bytes = saved.model->parameters.block_size * sizeof(tap_real);
    cr_assert_eq(memcmp(copy->parameters.data, saved.model->parameters.data, n_bytes), 0);
    struct tap_optimizer_options options = tap_config_optimizer_options(&saved.config);
    struct tap_optimizer *other =
        tap_optimizer_new(tap_config_optimizer(&saved.config), &options, &copy->parameters, &saved.error);
    cr_assert_eq(tap_checkpoint_read_optimizer(checkpoint, &copy->parameters, other, &saved.error), TAP_OK, "%s",
                 saved.error.message);
    cr_assert_eq(tap_optimizer_steps(other), 7);
    for (size_t s = 0; s < tap_optimizer_n_states(saved.optimizer); s++)
        cr_assert_eq(
            memcmp(tap_optimizer_state_block(other, s), tap_optimizer_state_block(saved.optimizer, s), n_bytes), 0);
    tap_optimizer_free(other);
    tap_model_free(copy);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, equal_content_gives_equal_bytes)
{
    size_t n_a, n_b;
    const char *path = scratch_path("again.npz");
    cr_assert_eq(tap_checkpoint_save(path, &saved.content, 0, &saved.error), TAP_OK);
    char *a = scratch_read(saved.path, &n_a);
    char *b = scratch_read(path, &n_b);
    cr_assert(n_a == n_b && memcmp(a, b, n_a) == 0);
    tap_mem_free(a);
    tap_mem_free(b);
}

Test(checkpoint, without_optimizer_or_best_it_is_whole_too)
{
    const char *path = scratch_path("bare.npz");
    saved.content.optimizer = NULL;
    saved.content.progress = (struct tap_progress){0};
    cr_assert_eq(tap_checkpoint_save(path, &saved.content, 6, &saved.error), TAP_OK);
    struct tap_checkpoint *checkpoint = open_whole(path);
    cr_assert_not(checkpoint->progress.has_best);
    cr_assert_eq(tap_checkpoint_read_optimizer(checkpoint, &saved.model->parameters, saved.optimizer, &saved.error),
                 TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(saved.error.message, "optim/exp_avg/embedding.weight"), "%s", saved.error.message);
    cr_assert_eq(tap_optimizer_steps(saved.optimizer), 7);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, numbers_that_are_not_finite_are_never_saved)
{
    const char *path = scratch_path("bad.npz");
    tap_real *places[] = {saved.model->parameters.items[2]->tensor.data,
                          tap_optimizer_state_block(saved.optimizer, 1) + saved.model->parameters.items[1]->offset};
    const tap_real values[] = {(tap_real)NAN, (tap_real)INFINITY};
    for (size_t i = 0; i < 4; i++) {
        tap_real kept = *places[i / 2];
        *places[i / 2] = values[i % 2];
        tap_error_clear(&saved.error);
        cr_assert_eq(tap_checkpoint_save(path, &saved.content, 0, &saved.error), TAP_ERR_NONFINITE);
        cr_assert_not_null(strstr(saved.error.message, saved.model->parameters.items[i < 2 ? 2 : 1]->name), "%s",
                           saved.error.message);
        *places[i / 2] = kept;
    }
    cr_assert_eq(scratch_n_files(), 1);
}

Test(checkpoint, a_place_that_cannot_be_written_is_named)
{
    cr_assert_eq(tap_checkpoint_save("/nowhere/x.npz", &saved.content, 0, &saved.error), TAP_ERR_IO);
    cr_assert_not_null(strstr(saved.error.message, "/nowhere/x.npz"), "%s", saved.error.message);
}

/* --- arrays --------------------------------------------------------------------------------------------------------
 */

Test(checkpoint, each_array_is_needed)
{
    static char meta[META_BYTES];
    saved_run_meta(meta);
    for (size_t p = 0; p < saved.model->parameters.n; p++) {
        const char *name = saved.model->parameters.items[p]->name;
        struct tap_error own = {0};
        struct tap_checkpoint *checkpoint = open_whole(saved_run_copy(meta, name));
        cr_assert_null(tap_checkpoint_model(checkpoint, &own));
        cr_assert(own.status == TAP_ERR_FORMAT && strstr(own.message, name) != NULL, "%s", own.message);
        tap_checkpoint_close(checkpoint);
        for (size_t s = 0; s < tap_optimizer_n_states(saved.optimizer); s++) {
            char state[200];
            snprintf(state, sizeof state, "optim/%s/%s", tap_optimizer_state_name(saved.optimizer, s), name);
            tap_error_clear(&own);
            checkpoint = open_whole(saved_run_copy(meta, state));
            cr_assert_eq(tap_checkpoint_read_optimizer(checkpoint, &saved.model->parameters, saved.optimizer, &own),
                         TAP_ERR_FORMAT);
            cr_assert_not_null(strstr(own.message, state), "%s", own.message);
            tap_checkpoint_close(checkpoint);
        }
    }
}

Test(checkpoint, a_model_of_another_shape_is_not_partly_loaded)
{
    struct tap_checkpoint *checkpoint = open_whole(saved.path);
    struct tap_model_options options = saved.model->options;
    options.classes = 3; /* the last tensors differ, the first ones fit */
    struct tap_model *other = tap_model_new(&options, &saved.error);
    cr_assert_not_null(other, "%s", saved.error.message);
    cr_assert_eq(tap_parameters_read(&other->parameters, checkpoint->npz, checkpoint->path, false, NULL, &saved.error),
                 TAP_ERR_SHAPE);
    cr_assert_not_null(strstr(saved.error.message, "classifier.weight has shape (2, 4); the model needs (3, 4)"), "%s",
                       saved.error.message);
    for (size_t i = 0; i < other->parameters.block_size; i++)
        cr_assert_eq(other->parameters.data[i], 0);
    tap_model_free(other);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, numbers_that_are_not_finite_are_not_read)
{
    saved.model->parameters.items[0]->tensor.data[1] = (tap_real)INFINITY;
    const char *path = scratch_path("inf.npz");
    struct tap_npz_writer *writer = tap_npz_create(path, 0, &saved.error);
    for (size_t p = 0; p < saved.model->parameters.n; p++)
        tap_npz_add_real(writer, saved.model->parameters.items[p]->name,
                         (size_t)saved.model->parameters.items[p]->tensor.n_dims,
                         saved.model->parameters.items[p]->tensor.shape, saved.model->parameters.items[p]->tensor.data);
    cr_assert_eq(tap_npz_commit(writer, &saved.error), TAP_OK);
    cr_assert_eq(tap_parameters_read_file(&saved.model->parameters, path, false, NULL, &saved.error),
                 TAP_ERR_NONFINITE);
    cr_assert_not_null(strstr(saved.error.message, saved.model->parameters.items[0]->name), "%s", saved.error.message);
}

/* --- files of numpy.savez ------------------------------------------------------------------------------------------
 */

/* Adds an array of float64 in Fortran order, whose number i of the C order is value + i / 8. */
static void add_foreign(struct zip_build *zip, const struct tap_parameter *parameter, double value)
{
    static unsigned char bytes[32768];
    static double numbers[2048];
    char name[128], text[200];
    const struct tap_tensor *tensor = &parameter->tensor;
    size_t n_rows = tensor->n_dims == 2 ? tensor->shape[0] : 1;
    size_t n_columns = tensor->size / n_rows;
    const struct zip_options options = {.zip64_local = true, .deflated = true};
    for (size_t r = 0; r < n_rows; r++)
        for (size_t c = 0; c < n_columns; c++)
            numbers[c * n_rows + r] = value + (double)(r * n_columns + c) / 8;
    if (tensor->n_dims == 2)
        snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': True, 'shape': (%zu, %zu), }", n_rows,
                 n_columns);
    else
        snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': True, 'shape': (%zu,), }", n_columns);
    snprintf(name, sizeof name, "%s.npy", parameter->name);
    zip_build_add(zip, name, bytes, npy_build(bytes, 1, text, numbers, tensor->size * sizeof(double)), &options);
}

Test(checkpoint, init_takes_a_file_of_numpy)
{
    static struct zip_build zip;
    const struct tap_parameters *parameters = &saved.model->parameters;
    for (size_t p = parameters->n; p-- > 0;) /* in another order */
        add_foreign(&zip, parameters->items[p], (double)p);
    zip_build_end(&zip, NULL, false);
    const char *path = scratch_path("numpy.npz");
    scratch_write(path, zip.bytes, zip.n);
    size_t n_missing = 99;
    cr_assert_eq(tap_parameters_read_file(&saved.model->parameters, path, false, &n_missing, &saved.error), TAP_OK,
                 "%s", saved.error.message);
    cr_assert_eq(n_missing, 0);
    for (size_t p = 0; p < parameters->n; p++)
        for (size_t i = 0; i < parameters->items[p]->tensor.size; i++)
            cr_assert_eq(parameters->items[p]->tensor.data[i], (tap_real)((double)p + (double)i / 8));
    /* but it is no checkpoint */
    cr_assert_null(tap_checkpoint_open(path, &saved.error));
    cr_assert_eq(saved.error.status, TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(saved.error.message, path));
}

Test(checkpoint, partial_init_leaves_what_the_file_lacks)
{
    static struct zip_build zip;
    struct tap_parameter *first = saved.model->parameters.items[0];
    tap_real kept = saved.model->parameters.items[1]->tensor.data[0];
    add_foreign(&zip, first, 5);
    zip_build_end(&zip, NULL, false);
    const char *path = scratch_path("part.npz");
    scratch_write(path, zip.bytes, zip.n);
    size_t n_missing = 0;
    cr_assert_eq(tap_parameters_read_file(&saved.model->parameters, path, false, NULL, &saved.error), TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(saved.error.message, saved.model->parameters.items[1]->name), "%s", saved.error.message);
    cr_assert_neq(first->tensor.data[0], 5);
    tap_error_clear(&saved.error);
    cr_assert_eq(tap_parameters_read_file(&saved.model->parameters, path, true, &n_missing, &saved.error), TAP_OK, "%s",
                 saved.error.message);
    cr_assert_eq(n_missing, saved.model->parameters.n - 1);
    cr_assert_eq(first->tensor.data[0], 5);
    cr_assert_eq(saved.model->parameters.items[1]->tensor.data[0], kept);
}

/* --- data files ----------------------------------------------------------------------------------------------------
 */

Test(checkpoint, changed_and_exchanged_data_files_are_refused)
{
    struct tap_checkpoint *checkpoint = open_whole(saved.path);
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, saved.data, &saved.error), TAP_OK);
    struct tap_data other = *saved.data;
    other.files[TAP_PART_VALID] = (struct tap_fingerprint){.path = (char *)"valid.tsv", .n_bytes = 3};
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &saved.error), TAP_ERR_FORMAT);
    checkpoint->files[TAP_PART_VALID] = other.files[TAP_PART_VALID];
    tap_error_clear(&saved.error);
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &saved.error), TAP_OK);
    checkpoint->files[TAP_PART_VALID].n_bytes = 4;
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &saved.error), TAP_ERR_VALUE);
    cr_assert_not_null(strstr(saved.error.message, "valid.tsv: the file has changed"));
    checkpoint->files[TAP_PART_VALID] = other.files[TAP_PART_VALID];
    checkpoint->files[TAP_PART_VALID].hash[0] = 'x';
    tap_error_clear(&saved.error);
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &saved.error), TAP_ERR_VALUE);
    checkpoint->files[TAP_PART_VALID] = (struct tap_fingerprint){0};
    tap_checkpoint_close(checkpoint);
}

/* --- memory --------------------------------------------------------------------------------------------------------
 */

/* Opens, builds the model, reads the optimizer; the status. */
static enum tap_status load(struct tap_error *own)
{
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(saved.path, own);
    struct tap_model *copy = checkpoint == NULL ? NULL : tap_checkpoint_model(checkpoint, own);
    if (copy != NULL)
        tap_checkpoint_read_optimizer(checkpoint, &copy->parameters, saved.optimizer, own);
    tap_model_free(copy);
    tap_checkpoint_close(checkpoint);
    return own->status;
}

static enum tap_status save(struct tap_error *own)
{
    return tap_checkpoint_save(scratch_path("saved.npz"), &saved.content, 0, own);
}

static void fail_every_allocation(enum tap_status (*work)(struct tap_error *own), bool persistent, size_t n_files)
{
    enum tap_status status = TAP_ERR_MEMORY;
    uint64_t n = 0;
    while (status != TAP_OK) {
        struct tap_error own = {0};
        tap_mem_fail_at(++n, persistent);
        status = work(&own);
        tap_mem_fail_at(0, false);
        cr_assert(status == TAP_OK || status == TAP_ERR_MEMORY, "allocation %d: %s", (int)n, own.message);
        cr_assert(status == TAP_OK || scratch_n_files() == n_files, "allocation %d", (int)n);
        cr_assert(n < 100000);
    }
    cr_assert(n > 10);
}

Test(checkpoint, any_allocation_may_fail_in_loading)
{
    fail_every_allocation(load, false, 1);
    fail_every_allocation(load, true, 1);
}

Test(checkpoint, any_allocation_may_fail_in_saving)
{
    fail_every_allocation(save, false, 1);
    remove(scratch_path("saved.npz"));
    fail_every_allocation(save, true, 1);
}
