/* model_build.c: see model_build.h. */
#include "model_build.h"

#include <fnmatch.h>
#include <string.h>

#include "checkpoint.h"
#include "config_use.h"

enum tap_status tap_model_freeze(struct tap_model *model, const struct tap_config *config, struct tap_error *error)
{
    struct tap_parameters *parameters = &model->parameters;
    size_t n_trained = 0;
    for (size_t i = 0; i < config->train.freeze.n_items; i++) {
        const char *pattern = config->train.freeze.items[i];
        size_t n_matches = 0;
        for (size_t p = 0; p < parameters->n; p++)
            if (fnmatch(pattern, parameters->items[p]->name, 0) == 0) {
                parameters->items[p]->tensor.requires_grad = false;
                n_matches++;
            }
        if (n_matches == 0)
            return tap_error_set(error, TAP_ERR_VALUE,
                                 "train.freeze: '%s' matches no parameter; accepted: patterns of names such as %s",
                                 pattern, parameters->items[0]->name);
    }
    for (size_t p = 0; p < parameters->n; p++)
        n_trained += parameters->items[p]->tensor.requires_grad;
    if (n_trained == 0)
        return tap_error_set(error, TAP_ERR_VALUE, "train.freeze: nothing is left to train");
    return TAP_OK;
}

/* Parameters from the file that train.init names; what is wrong with it is told under that key. */
static void read_init(struct tap_model *model, const struct tap_config *config, size_t *out_n_missing,
                      struct tap_error *error)
{
    struct tap_error own = {0};
    if (tap_parameters_read_file(&model->parameters, config->train.init, config->train.init_partial, out_n_missing,
                                 &own) == TAP_OK)
        return;
    bool is_missing = own.status == TAP_ERR_FORMAT && strstr(own.message, ": no array ") != NULL;
    tap_error_set(error, own.status, "train.init: %s%s", own.message,
                  is_missing ? "; with train.init_partial: true it keeps its random start" : "");
}

struct tap_model *tap_model_build(const struct tap_config *config, size_t vocabulary, size_t classes,
                                  size_t *out_n_missing, struct tap_error *error)
{
    struct tap_model_options options = tap_config_model_options(config, vocabulary, classes);
    struct tap_model *model = tap_model_new(&options, error);
    if (out_n_missing != NULL)
        *out_n_missing = 0;
    if (model == NULL)
        return NULL;
    tap_parameters_initialize(&model->parameters, (uint64_t)config->train.seed);
    if (config->train.init[0] != '\0')
        read_init(model, config, out_n_missing, error);
    if (error->status == TAP_OK)
        tap_model_freeze(model, config, error);
    if (error->status == TAP_OK)
        return model;
    tap_model_free(model);
    return NULL;
}
