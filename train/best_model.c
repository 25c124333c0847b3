/* best_model.c: see best_model.h. best.npz is known by the step that it holds: the one that the run's checkpoint names.
 */
#include "best_model.h"

#include <stdio.h>
#include <string.h>

#include "mem.h"

/* The whole checkpoint at `path`, if it is of `step`; else NULL, which is no error but for memory. */
static struct tap_checkpoint *open_step(const char *path, int64_t step, struct tap_error *error)
{
    struct tap_error own = {0};
    struct tap_checkpoint *checkpoint = path == NULL ? NULL : tap_checkpoint_open(path, &own);
    if (own.status == TAP_ERR_MEMORY)
        *error = own;
    if (checkpoint == NULL || checkpoint->progress.step == step)
        return checkpoint;
    tap_checkpoint_close(checkpoint);
    return NULL;
}

/* Makes <folder>/best.npz the checkpoint at `path` when that is whole and of `step`. */
static bool publish_best(const struct run_folder *folder, const char *path, int64_t step, struct tap_error *error)
{
    struct tap_checkpoint *best = open_step(path, step, error);
    bool found = best != NULL && run_folder_publish(folder, path, RUN_BEST_NAME, error) == TAP_OK;
    tap_checkpoint_close(best);
    return found;
}

/* The folder of a file, for tap_mem_free. */
static char *folder_of(const char *path, struct tap_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? "." : slash == path ? "/" : path;
    char *folder = tap_mem_copy_text(name, slash == NULL || slash == path ? 1 : (size_t)(slash - path));
    if (folder == NULL)
        tap_error_memory(error, "a path");
    return folder;
}

enum tap_status best_model_take_along(const struct tap_checkpoint *from, const struct run_folder *folder,
                                      struct tap_error *error)
{
    if (!from->progress.has_best)
        return TAP_OK;
    char *beside = folder_of(from->path, error);
    char *path = beside == NULL ? NULL : path_join(beside, RUN_BEST_NAME, error);
    if (path != NULL && !publish_best(folder, path, from->progress.best_step, error) && error->status == TAP_OK)
        report_error(
            "warning: the best model, of step %lld, is not beside %s: the new folder has none until a better one",
            (long long)from->progress.best_step, from->path);
    tap_mem_free(path);
    tap_mem_free(beside);
    return error->status;
}

/* best.npz was not written before the end of a killed run, or is damaged: the step file may still be there. */
static enum tap_status mend_best(const struct tap_checkpoint *from, const struct run_folder *folder,
                                 struct tap_error *error)
{
    int64_t step = from->progress.best_step;
    char *best_path = path_join(folder->path, RUN_BEST_NAME, error);
    char *step_path = run_folder_step_path(folder->path, step, error);
    struct tap_checkpoint *best = open_step(best_path, step, error);
    if (best == NULL && error->status == TAP_OK && !publish_best(folder, step_path, step, error) &&
        !publish_best(folder, from->path, step, error) && error->status == TAP_OK)
        report_error("warning: %s is not the best model, of step %lld, and that one is gone", best_path,
                     (long long)step);
    tap_checkpoint_close(best);
    tap_mem_free(best_path);
    tap_mem_free(step_path);
    return error->status;
}

enum tap_status best_model_mend(const struct tap_checkpoint *from, const struct run_folder *folder,
                                struct tap_error *error)
{
    char *last_path = path_join(folder->path, RUN_LAST_NAME, error);
    if (last_path != NULL && strcmp(last_path, from->path) != 0)
        run_folder_publish(folder, from->path, RUN_LAST_NAME, error);
    tap_mem_free(last_path);
    if (error->status == TAP_OK && from->progress.has_best)
        mend_best(from, folder, error);
    return error->status;
}

bool best_model_read(struct training *training, struct tap_error *error)
{
    int64_t step = training->progress.best_step;
    char *path = path_join(training->folder->path, RUN_BEST_NAME, error);
    struct tap_checkpoint *best = open_step(path, step, error);
    if (best != NULL)
        tap_parameters_read(&training->model->parameters, best->npz, path, false, NULL, error);
    else if (error->status == TAP_OK)
        report_error("warning: %s is not the best model, of step %lld: the last one is tested", path, (long long)step);
    bool found = best != NULL && error->status == TAP_OK;
    tap_checkpoint_close(best);
    tap_mem_free(path);
    return found;
}

enum tap_status best_model_remember(struct training *training, struct tap_error *error)
{
    const struct tap_parameters *parameters = &training->model->parameters;
    if (training->best_parameters == NULL)
        training->best_parameters = tap_mem_new_aligned(parameters->block_size, sizeof(tap_real));
    if (training->best_parameters == NULL)
        return tap_error_memory(error, "the best model");
    memcpy(training->best_parameters, parameters->data, parameters->block_size * sizeof(tap_real));
    return TAP_OK;
}

void best_model_recall(struct training *training)
{
    struct tap_parameters *parameters = &training->model->parameters;
    if (training->best_parameters != NULL)
        memcpy(parameters->data, training->best_parameters, parameters->block_size * sizeof(tap_real));
}
