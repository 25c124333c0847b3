/* config_assign.h: giving a key a value, the one way that files, --set and checkpoints share. */
#ifndef TAP_CONFIG_ASSIGN_H
#define TAP_CONFIG_ASSIGN_H

#include "config_place.h"
#include "config_value.h"

/* A copy of a source's name that lives as long as the config; NULL when memory runs out. */
const char *tap_config_keep_source(struct tap_config *config, const char *name);

/* The number of a key by its names; SIZE_MAX, and an error added, when it is not there. Notes that an unknown key may
 * be the one that was to name the data, so that "no data" is not said on top. */
size_t tap_config_find(struct tap_config *config, struct tap_config_place place, const char *group, const char *name,
                       struct tap_config_errors *errors);

/* Gives key i a value, or refuses it and leaves the old one. place.source lives as long as the config. */
bool tap_config_assign(struct tap_config *config, size_t i, const struct tap_config_value *value,
                       struct tap_config_place place, struct tap_config_errors *errors);

/* Adds "source:line: group.key: problem; accepted: ...". Returns false. */
bool tap_config_refuse_value(const struct tap_config_key *key, struct tap_config_place place, const char *problem,
                             struct tap_config_errors *errors);

/* Tells of a group that is not there; a key outside its group, as in "lr=1", and a group without a key are cases of
 * their own. Returns false. */
bool tap_config_refuse_group(struct tap_config_place place, const char *group, struct tap_config_errors *errors);

#endif
