/* config_assign.c: see config_assign.h. */
#include "config_assign.h"

#include <stdint.h>
#include <string.h>

const char *tap_config_keep_source(struct tap_config *config, const char *name)
{
    for (size_t i = 0; i < config->n_sources; i++)
        if (strcmp(config->sources[i], name) == 0)
            return config->sources[i];
    struct tap_config_texts sources = {config->sources, config->n_sources};
    bool is_kept = tap_config_texts_add(&sources, &config->sources_capacity, name, strlen(name));
    config->sources = sources.items;
    config->n_sources = sources.n_items;
    return is_kept ? config->sources[config->n_sources - 1] : NULL;
}

bool tap_config_refuse_value(const struct tap_config_key *key, struct tap_config_place place, const char *problem,
                             struct tap_config_errors *errors)
{
    struct tap_config_text accepted = {0};
    tap_config_accepted(key, false, &accepted);
    if (accepted.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse(errors, place, key->group, key->name, "%s; accepted: %s", problem, accepted.bytes);
    tap_config_text_clear(&accepted);
    return false;
}

bool tap_config_assign(struct tap_config *config, size_t i, const struct tap_config_value *value,
                       struct tap_config_place place, struct tap_config_errors *errors)
{
    const struct tap_config_key *key = &tap_config_keys[i];
    struct tap_config_text problem = {0};
    union tap_config_field read;
    bool is_good = tap_config_value_read(key, value, &read, &problem);
    if (is_good)
        tap_config_value_put(key, tap_config_field(config, i), &read);
    else if (problem.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse_value(key, place, problem.bytes, errors);
    tap_config_text_clear(&problem);
    config->origins[i] = (struct tap_config_origin){place.source, place.line, !is_good};
    return is_good;
}

bool tap_config_refuse_group(struct tap_config_place place, const char *group, struct tap_config_errors *errors)
{
    struct tap_config_text known = {0}, shown = {0};
    tap_config_shorten(group, strlen(group), &shown);
    const char *what = "a key outside its group; accepted:";
    if (tap_config_find_group(group) != SIZE_MAX) {
        what = "a group, not a key; accepted: group.key=value";
        tap_config_text_add(&known, "%s", "");
    } else if (!tap_config_groups_of_key(group, &known)) {
        what = "unknown group; the nearest known one is";
        tap_config_text_add(&known, "%s", tap_config_groups[tap_config_nearest_group(group)].name);
    }
    if (known.out_of_memory || shown.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse(errors, place, shown.bytes, NULL, "%s%s%s", what, known.n_bytes > 0 ? " " : "", known.bytes);
    tap_config_text_clear(&known);
    tap_config_text_clear(&shown);
    return false;
}

/* Tells of a key that its group does not have: one that another group has, or else the nearest of its own. */
static bool refuse_key(struct tap_config_place place, size_t group, const char *name, struct tap_config_errors *errors)
{
    struct tap_config_text known = {0}, shown = {0};
    const char *group_name = tap_config_groups[group].name;
    tap_config_shorten(name, strlen(name), &shown);
    if (!tap_config_groups_of_key(name, &known))
        tap_config_text_add(&known, "%s.%s", group_name, tap_config_keys[tap_config_nearest_key(group, name)].name);
    if (known.out_of_memory || shown.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse(errors, place, group_name, shown.bytes, "unknown key; the nearest known one is %s",
                          known.bytes);
    tap_config_text_clear(&known);
    tap_config_text_clear(&shown);
    return false;
}

size_t tap_config_find(struct tap_config *config, struct tap_config_place place, const char *group, const char *name,
                       struct tap_config_errors *errors)
{
    size_t g = tap_config_find_group(group);
    if (g == SIZE_MAX) {
        config->may_lack_data = true;
        tap_config_refuse_group(place, group, errors);
        return SIZE_MAX;
    }
    size_t i = tap_config_find_key(g, name);
    if (i == SIZE_MAX) {
        config->may_lack_data = true;
        refuse_key(place, g, name, errors);
    }
    return i;
}
