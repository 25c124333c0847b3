/* config_yaml.h: the YAML that a config is written in, as a walk over its groups, keys and values. It knows nothing of
 * which groups and keys there are. */
#ifndef TAP_CONFIG_YAML_H
#define TAP_CONFIG_YAML_H

#include "config_value.h"

/* One stop of the walk, valid until the handler returns: a group begins (key NULL), a key has a value, or (group NULL
 * too) a problem stands outside all groups. Of a single value there is neither group nor key. */
struct tap_config_entry {
    const char *group;
    const char *key;     /* "?" when it is no word */
    int line;            /* from 1 */
    const char *problem; /* what is wrong with the group, or with the value, which then is not there; or NULL */
    struct tap_config_value value;
};

/* What the walk does next. TAP_CONFIG_SKIP leaves out a group that just began. */
enum tap_config_next { TAP_CONFIG_GO_ON, TAP_CONFIG_SKIP, TAP_CONFIG_STOP };
typedef enum tap_config_next tap_config_handler(void *context, const struct tap_config_entry *entry);

/* Why a walk ended early. */
struct tap_config_fault {
    bool is_memory;
    int line;
    struct tap_config_text message; /* what libyaml says; the caller clears it */
};

/* Walks over a config of two levels. Returns false when it could not be parsed to its end (`fault` says why). */
bool tap_config_yaml_walk(const char *bytes, size_t n_bytes, tap_config_handler *handler, void *context,
                          struct tap_config_fault *fault);

/* Reads one value, a scalar or a list of scalars: the handler is called once, with neither group nor key. */
bool tap_config_yaml_value(const char *bytes, size_t n_bytes, tap_config_handler *handler, void *context,
                           struct tap_config_fault *fault);

#endif
