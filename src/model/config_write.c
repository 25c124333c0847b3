/* config_write.c: a config as a file, key by key, and compared with another. */
#include <string.h>

#include "config_place.h"
#include "config_value.h"

void tap_config_get_text(const struct tap_config *config, size_t i, struct tap_config_text *out)
{
    TAP_CHECK(i < TAP_CONFIG_N_KEYS);
    tap_config_value_write(&tap_config_keys[i], tap_config_field_const(config, i), false, out);
}

void tap_config_write(const struct tap_config *config, struct tap_config_text *out)
{
    for (size_t g = 0; g < TAP_CONFIG_N_GROUPS; g++) {
        const struct tap_config_group *group = &tap_config_groups[g];
        tap_config_text_add(out, "%s:\n", group->name);
        for (size_t i = group->first_key; i < group->first_key + group->n_keys; i++) {
            tap_config_text_add(out, "  %s: ", tap_config_keys[i].name);
            tap_config_value_write(&tap_config_keys[i], tap_config_field_const(config, i), true, out);
            tap_config_text_add(out, "\n");
        }
    }
}

/* Appends the keys that may change: single ones by name, a group of which all may by the group's. */
static void list_changeable(struct tap_config_text *out)
{
    const char *before = "";
    for (size_t g = 0; g < TAP_CONFIG_N_GROUPS; g++) {
        const struct tap_config_group *group = &tap_config_groups[g];
        size_t n_changeable = 0, end = group->first_key + group->n_keys;
        for (size_t i = group->first_key; i < end; i++)
            n_changeable += tap_config_keys[i].may_change;
        for (size_t i = group->first_key; i < end && n_changeable < group->n_keys; i++)
            if (tap_config_keys[i].may_change) {
                tap_config_text_add(out, "%s%s.%s", before, group->name, tap_config_keys[i].name);
                before = ", ";
            }
        if (n_changeable == group->n_keys) {
            tap_config_text_add(out, "%sall of %s", before, group->name);
            before = ", ";
        }
    }
}

static void refuse_change(const struct tap_config *given, size_t i, const struct tap_config_text *now,
                          const struct tap_config_text *then, struct tap_config_errors *errors)
{
    const struct tap_config_origin *origin = &given->origins[i];
    struct tap_config_place place = {origin->source != NULL ? origin->source : given->file, origin->line};
    struct tap_config_text changeable = {0}, is = {0}, was = {0};
    list_changeable(&changeable);
    tap_config_quote(now->bytes, now->n_bytes, &is);
    tap_config_quote(then->bytes, then->n_bytes, &was);
    if (changeable.out_of_memory || is.out_of_memory || was.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse(errors, place, tap_config_keys[i].group, tap_config_keys[i].name,
                          "%s differs from the %s that the run to resume has; accepted: the same value (what may "
                          "change: %s)",
                          is.bytes, was.bytes, changeable.bytes);
    tap_config_text_clear(&changeable);
    tap_config_text_clear(&is);
    tap_config_text_clear(&was);
}

bool tap_config_compare_for_resume(const struct tap_config *stored, const struct tap_config *given,
                                   struct tap_config_errors *errors)
{
    size_t n_before = errors->n_added;
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        if (tap_config_keys[i].may_change)
            continue;
        struct tap_config_text then = {0}, now = {0};
        tap_config_get_text(stored, i, &then);
        tap_config_get_text(given, i, &now);
        if (then.out_of_memory || now.out_of_memory)
            tap_config_errors_memory(errors);
        else if (strcmp(then.bytes, now.bytes) != 0)
            refuse_change(given, i, &now, &then, errors);
        tap_config_text_clear(&then);
        tap_config_text_clear(&now);
    }
    return errors->n_added == n_before;
}
