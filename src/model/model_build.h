/* model_build.h: the model that a config describes, ready to train. */
#ifndef TAP_MODEL_BUILD_H
#define TAP_MODEL_BUILD_H

#include "config.h"
#include "model.h"

/* tap_model_build: a new model with its initial parameters: from train.seed, then from train.init where that names a
 * file, with train.freeze applied.
 *
 * Ownership  the caller frees it with tap_model_free
 * Errors     sizes that do not fit, what tap_parameters_read_file and tap_model_freeze refuse, TAP_ERR_MEMORY. Returns
 *            NULL. out_n_missing (may be NULL): parameters that train.init does not hold, with train.init_partial */
struct tap_model *tap_model_build(const struct tap_config *config, size_t vocabulary, size_t classes,
                                  size_t *out_n_missing, struct tap_error *error);

/* Freezes the parameters whose names match one of train.freeze's patterns (shell wildcards: * ? [...]). TAP_ERR_VALUE
 * when a pattern matches none, or nothing is left to train. */
enum tap_status tap_model_freeze(struct tap_model *model, const struct tap_config *config, struct tap_error *error);

#endif
