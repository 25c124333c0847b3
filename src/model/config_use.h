/* config_use.h: what a finished config means for the parts that it configures. Texts in the results belong to the
 * config. */
#ifndef TAP_CONFIG_USE_H
#define TAP_CONFIG_USE_H

#include "config.h"
#include "data.h"
#include "model.h"
#include "optimizer.h"
#include "schedule.h"

struct tap_data_options tap_config_data_options(const struct tap_config *config);
struct tap_model_options tap_config_model_options(const struct tap_config *config, size_t vocabulary, size_t classes);
struct tap_optimizer_options tap_config_optimizer_options(const struct tap_config *config);
const struct tap_optimizer_entry *tap_config_optimizer(const struct tap_config *config);

/* The schedule of a run of so many steps. */
struct tap_schedule_options tap_config_schedule_options(const struct tap_config *config, long total_steps);

#endif
