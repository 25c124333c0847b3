/* config_table.h: the table of config.def as data, for the files that read, check, write and document a config. */
#ifndef TAP_CONFIG_TABLE_H
#define TAP_CONFIG_TABLE_H

#include "config.h"

/* min <= value <= max, the ends themselves left out where "open". */
struct tap_config_range {
    double min, max;
    bool min_is_open, max_is_open;
};

struct tap_config_choice {
    const char *word;
    int value;
    bool is_supported;
};

enum tap_config_use { TAP_CONFIG_USE_PLAIN, TAP_CONFIG_USE_PATH, TAP_CONFIG_USE_COLUMN };

struct tap_config_key {
    const char *group, *name;
    enum tap_config_kind kind;
    size_t offset; /* of the field in struct tap_config */
    const char *initial;
    const char *follows;                     /* the key of the same group that gives the value unless set, or NULL */
    struct tap_config_range range;           /* integer, real */
    const struct tap_config_choice *choices; /* choice, weights; ends with a NULL word */
    enum tap_config_use use;                 /* text */
    bool only_default;                       /* any other value is not supported yet */
    bool may_change;                         /* on resuming */
    const char *about;
};

struct tap_config_group {
    const char *name, *about;
    size_t first_key, n_keys;
};

extern const struct tap_config_key tap_config_keys[TAP_CONFIG_N_KEYS];

enum {
    TAP_CONFIG_N_GROUPS = 0
#define CONFIG_GROUP(tag, group, about) +1
#include "config.def"
};
extern const struct tap_config_group tap_config_groups[TAP_CONFIG_N_GROUPS];

/* The number of a group, or of a key; SIZE_MAX when there is none of that name. */
size_t tap_config_find_group(const char *group);
size_t tap_config_find_key(size_t group, const char *key);

/* The number of a key that is known to be there. */
size_t tap_config_key_index(const char *group, const char *key);

/* The known name nearest to an unknown one: fewest letters inserted, left out, replaced or swapped with the next; the
 * first in the table among equals. Only the first 64 bytes of a name count. */
size_t tap_config_nearest_group(const char *group);
size_t tap_config_nearest_key(size_t group, const char *key);

/* Appends "model.d_model, optim.lr": the groups that hold a key of this name; false when none does. */
bool tap_config_groups_of_key(const char *key, struct tap_config_text *out);

/* The field of key i. */
void *tap_config_field(struct tap_config *config, size_t i);
const void *tap_config_field_const(const struct tap_config *config, size_t i);

#endif
