/* config_set.c: single values, from --set and from checkpoints. */
#include <stdint.h>
#include <string.h>

#include "config_assign.h"
#include "config_yaml.h"
#include "mem.h"

/* A single value being read from YAML. */
struct single {
    struct tap_config *config;
    struct tap_config_errors *errors;
    struct tap_config_place place;
    size_t i;
};

static enum tap_config_next read_single(void *context, const struct tap_config_entry *entry)
{
    struct single *single = context;
    if (entry->problem == NULL) {
        tap_config_assign(single->config, single->i, &entry->value, single->place, single->errors);
    } else {
        tap_config_refuse_value(&tap_config_keys[single->i], single->place, entry->problem, single->errors);
        single->config->origins[single->i].is_invalid = true;
    }
    return TAP_CONFIG_GO_ON;
}

/* Gives key i the value that n_bytes of YAML hold. */
static void assign_yaml(struct tap_config *config, size_t i, const char *bytes, size_t n_bytes,
                        struct tap_config_place place, struct tap_config_errors *errors)
{
    struct single single = {config, errors, place, i};
    struct tap_config_fault fault = {0};
    if (!tap_config_yaml_value(bytes, n_bytes, read_single, &single, &fault)) {
        if (fault.is_memory)
            tap_config_errors_memory(errors);
        else
            tap_config_refuse_value(&tap_config_keys[i], place, fault.message.bytes, errors);
        config->origins[i].is_invalid = true;
    }
    tap_config_text_clear(&fault.message);
}

static bool is_list_kind(enum tap_config_kind kind)
{
    return kind == TAP_CONFIG_KIND_TEXTS || kind == TAP_CONFIG_KIND_WEIGHTS;
}

bool tap_config_set_text(struct tap_config *config, const char *group, const char *key, const char *text,
                         const char *source, struct tap_config_errors *errors)
{
    size_t n_before = errors->n_added;
    struct tap_config_place place = {tap_config_keep_source(config, source), 0};
    if (place.source == NULL)
        return tap_config_errors_memory(errors);
    size_t i = tap_config_find(config, place, group, key, errors);
    if (i == SIZE_MAX)
        return false;
    struct tap_config_value value = {.text = text, .n_bytes = strlen(text)};
    if (text[0] == '[' && is_list_kind(tap_config_keys[i].kind))
        assign_yaml(config, i, text, value.n_bytes, place, errors);
    else
        tap_config_assign(config, i, &value, place, errors);
    return errors->n_added == n_before;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts blanks off both ends of text[*start .. *end). */
static void trim(const char *text, size_t *start, size_t *end)
{
    while (*start < *end && is_blank(text[*start]))
        ++*start;
    while (*end > *start && is_blank(text[*end - 1]))
        --*end;
}

/* Sets group.key, both in `name`, which is cut in two at its point, to n_bytes of `text`, which end with a zero. */
static void set_named(struct tap_config *config, char *name, const char *text, size_t n_bytes,
                      struct tap_config_place place, struct tap_config_errors *errors)
{
    char *point = strchr(name, '.');
    if (point == NULL) {
        tap_config_refuse_group(place, name, errors);
        return;
    }
    *point = '\0';
    size_t i = tap_config_find(config, place, name, point + 1, errors);
    if (i == SIZE_MAX)
        return;
    struct tap_config_value value = {.text = text, .n_bytes = n_bytes};
    if (text[0] == '"' || text[0] == '\'' || text[0] == '[')
        assign_yaml(config, i, text, n_bytes, place, errors);
    else
        tap_config_assign(config, i, &value, place, errors);
}

bool tap_config_set(struct tap_config *config, const char *assignment, struct tap_config_errors *errors)
{
    static const char source[] = "--set";
    const struct tap_config_place place = {source, 0};
    size_t n_before = errors->n_added;
    const char *equals = strchr(assignment, '=');
    if (equals == NULL) {
        struct tap_config_text quoted = {0};
        tap_config_quote(assignment, strlen(assignment), &quoted);
        if (quoted.out_of_memory)
            tap_config_errors_memory(errors);
        else
            tap_config_refuse(errors, place, NULL, NULL, "%s has no '='; accepted: group.key=value", quoted.bytes);
        tap_config_text_clear(&quoted);
        return false;
    }
    size_t name_start = 0, name_end = (size_t)(equals - assignment);
    size_t start = name_end + 1, end = strlen(assignment);
    trim(assignment, &name_start, &name_end);
    trim(assignment, &start, &end);
    char *name = tap_mem_copy_text(assignment + name_start, name_end - name_start);
    char *text = tap_mem_copy_text(assignment + start, end - start);
    if (name == NULL || text == NULL)
        tap_config_errors_memory(errors);
    else
        set_named(config, name, text, end - start, place, errors);
    tap_mem_free(name);
    tap_mem_free(text);
    return errors->n_added == n_before;
}
