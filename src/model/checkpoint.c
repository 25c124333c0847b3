/* checkpoint.c: see checkpoint.h. Members: the parameters under their names, then the optimizer's states as
 * optim/<state>/<parameter>, then meta.json. */
#include "checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "checkpoint_meta.h"
#include "config_use.h"
#include "mem.h"

#define META_NAME "meta.json"
#define META_MOST_BYTES ((size_t)1 << 30)
#define NAME_BYTES 320

/* The name of a state's array; checked to fit. */
static bool state_name(char out[NAME_BYTES], const char *state, const char *parameter)
{
    return snprintf(out, NAME_BYTES, "optim/%s/%s", state, parameter) < NAME_BYTES;
}

static enum tap_status check_finite(const struct tap_parameters *parameters, const tap_real *block, const char *what,
                                    struct tap_error *error)
{
    for (size_t p = 0; p < parameters->n; p++) {
        const struct tap_parameter *item = parameters->items[p];
        if (!tap_is_finite(block + item->offset, item->tensor.size))
            return tap_error_set(error, TAP_ERR_NONFINITE, "%s of %s is not finite: nothing was saved", what,
                                 item->name);
    }
    return TAP_OK;
}

static enum tap_status check_content(const struct tap_checkpoint_content *content, struct tap_error *error)
{
    const struct tap_parameters *parameters = &content->model->parameters;
    enum tap_status status = check_finite(parameters, parameters->data, "the value", error);
    size_t n_states = content->optimizer == NULL ? 0 : tap_optimizer_n_states(content->optimizer);
    for (size_t s = 0; s < n_states && status == TAP_OK; s++)
        status = check_finite(parameters, tap_optimizer_state_block(content->optimizer, s),
                              tap_optimizer_state_name(content->optimizer, s), error);
    return status;
}

static void write_block(struct tap_npz_writer *writer, const struct tap_parameters *parameters, const tap_real *block,
                        const char *state)
{
    for (size_t p = 0; p < parameters->n; p++) {
        const struct tap_parameter *item = parameters->items[p];
        char name[NAME_BYTES];
        TAP_CHECK(strlen(item->name) < NAME_BYTES / 2);
        if (state != NULL && !state_name(name, state, item->name))
            continue;
        tap_npz_add_real(writer, state == NULL ? item->name : name, (size_t)item->tensor.n_dims, item->tensor.shape,
                         block + item->offset);
    }
}

enum tap_status tap_checkpoint_save(const char *path, const struct tap_checkpoint_content *content, int compression,
                                    struct tap_error *error)
{
    size_t n_meta = 0;
    const struct tap_parameters *parameters = &content->model->parameters;
    if (check_content(content, error) != TAP_OK)
        return error->status;
    char *meta = tap_checkpoint_meta_write(content, &n_meta, error);
    if (meta == NULL)
        return error->status;
    struct tap_npz_writer *writer = tap_npz_create(path, compression, error);
    if (writer != NULL) {
        write_block(writer, parameters, parameters->data, NULL);
        size_t n_states = content->optimizer == NULL ? 0 : tap_optimizer_n_states(content->optimizer);
        for (size_t s = 0; s < n_states; s++)
            write_block(writer, parameters, tap_optimizer_state_block(content->optimizer, s),
                        tap_optimizer_state_name(content->optimizer, s));
        tap_npz_add_bytes(writer, META_NAME, meta, n_meta);
        tap_npz_commit(writer, error);
    }
    tap_mem_free(meta);
    return error->status;
}

struct tap_checkpoint *tap_checkpoint_open(const char *path, struct tap_error *error)
{
    char *bytes = NULL;
    size_t n_bytes = 0;
    struct tap_checkpoint *checkpoint = tap_mem_new(1, sizeof *checkpoint);
    if (checkpoint == NULL) {
        tap_error_memory(error, "a checkpoint");
        return NULL;
    }
    if (!tap_config_init(&checkpoint->config, error))
        goto failed;
    checkpoint->path = tap_mem_copy_text(path, strlen(path));
    if (checkpoint->path == NULL) {
        tap_error_memory(error, "a path");
        goto failed;
    }
    checkpoint->npz = tap_npz_open(path, true, error);
    if (checkpoint->npz == NULL ||
        tap_npz_read_bytes(checkpoint->npz, META_NAME, &bytes, &n_bytes, META_MOST_BYTES, error) != TAP_OK ||
        tap_checkpoint_meta_read(checkpoint, bytes, n_bytes, error) != TAP_OK)
        goto failed;
    tap_mem_free(bytes);
    return checkpoint;
failed:
    tap_mem_free(bytes);
    tap_checkpoint_close(checkpoint);
    return NULL;
}

void tap_checkpoint_close(struct tap_checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    tap_npz_close(checkpoint->npz);
    tap_tokenizer_free(checkpoint->tokenizer);
    tap_mem_free(checkpoint->label_names);
    tap_string_table_clear(&checkpoint->labels);
    for (int part = 0; part < TAP_N_PARTS; part++)
        tap_fingerprint_clear(&checkpoint->files[part]);
    tap_config_clear(&checkpoint->config);
    tap_mem_free(checkpoint->kernel_family);
    tap_mem_free(checkpoint->path);
    tap_mem_free(checkpoint);
}

struct tap_model *tap_checkpoint_model(const struct tap_checkpoint *checkpoint, struct tap_error *error)
{
    struct tap_model_options options = tap_config_model_options(
        &checkpoint->config, tap_tokenizer_n_tokens(checkpoint->tokenizer), checkpoint->labels.n);
    struct tap_model *model = tap_model_new(&options, error);
    if (model == NULL)
        return NULL;
    if (tap_parameters_read(&model->parameters, checkpoint->npz, checkpoint->path, false, NULL, error) == TAP_OK)
        return model;
    tap_model_free(model);
    return NULL;
}

enum tap_status tap_checkpoint_check_files(const struct tap_checkpoint *checkpoint, const struct tap_data *data,
                                           struct tap_error *error)
{
    for (int part = 0; part < TAP_N_PARTS; part++) {
        const struct tap_fingerprint *now = &data->files[part];
        const struct tap_fingerprint *then = &checkpoint->files[part];
        if (now->path == NULL && then->path == NULL)
            continue;
        if (now->path == NULL || then->path == NULL)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s: config and fingerprints name different data files",
                                 checkpoint->path);
        if (now->n_bytes != then->n_bytes || strcmp(now->hash, then->hash) != 0)
            return tap_error_set(error, TAP_ERR_VALUE, "%s: the file has changed since %s was written", now->path,
                                 checkpoint->path);
    }
    return TAP_OK;
}

/* Finds the array `name` and checks that it has the tensor's shape. */
static enum tap_status check_array(struct tap_npz *npz, const char *path, const char *name,
                                   const struct tap_tensor *tensor, size_t *out_index, struct tap_error *error)
{
    struct tap_npy_header header;
    size_t index = tap_npz_find_array(npz, name);
    if (index == TAP_NPZ_NONE)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: no array %s", path, name);
    if (tap_npz_array(npz, index, &header, error) != TAP_OK)
        return error->status;
    bool same = header.n_dims == (size_t)tensor->n_dims;
    for (size_t i = 0; same && i < header.n_dims; i++)
        same = header.shape[i] == tensor->shape[i];
    if (!same) {
        char theirs[TAP_SHAPE_TEXT_BYTES], ours[TAP_SHAPE_TEXT_BYTES];
        int n_shown = header.n_dims > TAP_MAX_DIMS ? TAP_MAX_DIMS : (int)header.n_dims;
        return tap_error_set(error, TAP_ERR_SHAPE, "%s: %s has shape %s; the model needs %s", path, name,
                             tap_shape_text(n_shown, header.shape, theirs),
                             tap_shape_text(tensor->n_dims, tensor->shape, ours));
    }
    *out_index = index;
    return TAP_OK;
}

static enum tap_status read_array(struct tap_npz *npz, const char *path, const char *name, size_t index, tap_real *out,
                                  size_t n, struct tap_error *error)
{
    if (tap_npz_read_real(npz, index, out, n, error) != TAP_OK)
        return error->status;
    if (!tap_is_finite(out, n))
        return tap_error_set(error, TAP_ERR_NONFINITE, "%s: %s holds a number that is not finite", path, name);
    return TAP_OK;
}

enum tap_status tap_parameters_read(struct tap_parameters *parameters, struct tap_npz *npz, const char *path,
                                    bool partial, size_t *out_n_missing, struct tap_error *error)
{
    size_t n_missing = 0;
    size_t index = 0;
    for (size_t p = 0; p < parameters->n; p++) {
        const struct tap_parameter *item = parameters->items[p];
        bool is_missing = tap_npz_find_array(npz, item->name) == TAP_NPZ_NONE;
        n_missing += is_missing;
        if (!(partial && is_missing) && check_array(npz, path, item->name, &item->tensor, &index, error) != TAP_OK)
            return error->status;
    }
    for (size_t p = 0; p < parameters->n; p++) {
        struct tap_parameter *item = parameters->items[p];
        index = tap_npz_find_array(npz, item->name);
        if (index != TAP_NPZ_NONE &&
            read_array(npz, path, item->name, index, item->tensor.data, item->tensor.size, error) != TAP_OK)
            return error->status;
    }
    if (out_n_missing != NULL)
        *out_n_missing = n_missing;
    return TAP_OK;
}

enum tap_status tap_parameters_read_file(struct tap_parameters *parameters, const char *path, bool partial,
                                         size_t *out_n_missing, struct tap_error *error)
{
    struct tap_npz *npz = tap_npz_open(path, false, error);
    if (npz == NULL)
        return error->status;
    tap_parameters_read(parameters, npz, path, partial, out_n_missing, error);
    tap_npz_close(npz);
    return error->status;
}

enum tap_status tap_checkpoint_read_optimizer(const struct tap_checkpoint *checkpoint,
                                              const struct tap_parameters *parameters, struct tap_optimizer *optimizer,
                                              struct tap_error *error)
{
    /* first round: names and shapes; second round: numbers */
    for (int round = 0; round < 2; round++)
        for (size_t s = 0; s < tap_optimizer_n_states(optimizer); s++)
            for (size_t p = 0; p < parameters->n; p++) {
                const struct tap_parameter *item = parameters->items[p];
                char name[NAME_BYTES];
                size_t index = 0;
                if (!state_name(name, tap_optimizer_state_name(optimizer, s), item->name))
                    return tap_error_set(error, TAP_ERR_FORMAT, "%s: the name of %s is too long", checkpoint->path,
                                         item->name);
                if (check_array(checkpoint->npz, checkpoint->path, name, &item->tensor, &index, error) != TAP_OK)
                    return error->status;
                if (round == 1 && read_array(checkpoint->npz, checkpoint->path, name, index,
                                             tap_optimizer_state_block(optimizer, s) + item->offset, item->tensor.size,
                                             error) != TAP_OK)
                    return error->status;
            }
    tap_optimizer_set_steps(optimizer, (long)checkpoint->progress.step);
    return TAP_OK;
}
