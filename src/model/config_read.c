/* config_read.c: filling a config, from defaults, files, --set and checkpoints. All ways lead to assign(). */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "config_place.h"
#include "config_value.h"
#include "config_yaml.h"
#include "mem.h"

static const char *const accepted_file = "a config in UTF-8: 'group:' and below it, indented, 'key: value' lines";

/* A copy of a source's name that lives as long as the config; NULL when memory runs out. */
static const char *keep_source(struct tap_config *config, const char *name)
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

/* Adds "source:line: group.key: problem; accepted: ...". */
static bool refuse_value(const struct tap_config_key *key, struct tap_config_place place, const char *problem,
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

/* Gives key i a value, or refuses it and leaves the old one. place.source lives as long as the config. */
static bool assign(struct tap_config *config, size_t i, const struct tap_config_value *value,
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
        refuse_value(key, place, problem.bytes, errors);
    tap_config_text_clear(&problem);
    config->origins[i] = (struct tap_config_origin){place.source, place.line, !is_good};
    return is_good;
}

/* Gives a key its default from the table; a key that follows another gets that key's default. */
static bool assign_default(struct tap_config *config, size_t i, struct tap_config_errors *errors)
{
    const struct tap_config_key *key = &tap_config_keys[i];
    const char *initial = key->initial;
    if (key->follows != NULL)
        initial = tap_config_keys[tap_config_key_index(key->group, key->follows)].initial;
    struct tap_config_value value = {.text = initial, .n_bytes = strlen(initial)};
    if (strcmp(initial, "[]") == 0)
        value.text = NULL;
    return assign(config, i, &value, (struct tap_config_place){0}, errors);
}

bool tap_config_init(struct tap_config *config, struct tap_error *error)
{
    struct tap_config_errors errors = {0};
    *config = (struct tap_config){0};
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS && tap_config_errors_count(&errors) == 0; i++)
        assign_default(config, i, &errors);
    bool is_good = tap_config_errors_count(&errors) == 0;
    TAP_CHECK(errors.n_messages == 0); /* the table accepts its own defaults */
    tap_config_errors_clear(&errors);
    if (!is_good) {
        tap_config_clear(config);
        tap_error_memory(error, "the config");
    }
    return is_good;
}

void tap_config_clear(struct tap_config *config)
{
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++)
        tap_config_value_free(&tap_config_keys[i], tap_config_field(config, i));
    struct tap_config_texts sources = {config->sources, config->n_sources};
    tap_config_texts_clear(&sources);
    *config = (struct tap_config){0};
}

/* Tells of a group that is not there; a key outside its group, as in "lr=1", and a group without a key are cases of
 * their own. */
static bool refuse_group(struct tap_config_place place, const char *group, struct tap_config_errors *errors)
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

/* The number of a key by its names; SIZE_MAX, and an error added, when it is not there. An unknown key may be the one
 * that was to name the data, so that "no data" would be said twice. */
static size_t find(struct tap_config *config, struct tap_config_place place, const char *group, const char *name,
                   struct tap_config_errors *errors)
{
    size_t g = tap_config_find_group(group);
    if (g == SIZE_MAX) {
        config->may_lack_data = true;
        refuse_group(place, group, errors);
        return SIZE_MAX;
    }
    size_t i = tap_config_find_key(g, name);
    if (i == SIZE_MAX) {
        config->may_lack_data = true;
        refuse_key(place, g, name, errors);
    }
    return i;
}

/* A file being read: where each group and key stood, 0 for not yet. */
struct reading {
    struct tap_config *config;
    struct tap_config_errors *errors;
    const char *source;
    int group_lines[TAP_CONFIG_N_GROUPS];
    int key_lines[TAP_CONFIG_N_KEYS];
};

static enum tap_config_next begin_group(struct reading *reading, const struct tap_config_entry *entry)
{
    static const char accepted[] = "'group:' and below it, indented, 'key: value' lines";
    struct tap_config_place place = {reading->source, entry->line};
    size_t group = entry->group == NULL ? SIZE_MAX : tap_config_find_group(entry->group);
    if (group == SIZE_MAX && entry->group != NULL)
        refuse_group(place, entry->group, reading->errors);
    else if (entry->problem != NULL)
        tap_config_refuse(reading->errors, place, entry->group, NULL, "%s; accepted: %s", entry->problem, accepted);
    if (group == SIZE_MAX) {
        reading->config->may_lack_data = true;
        return TAP_CONFIG_SKIP;
    }
    int *line = &reading->group_lines[group];
    if (*line > 0)
        tap_config_refuse(reading->errors, place, entry->group, NULL,
                          "given twice, first in line %d; accepted: each group once", *line);
    else
        *line = entry->line;
    return TAP_CONFIG_GO_ON;
}

static void read_key(struct reading *reading, const struct tap_config_entry *entry)
{
    struct tap_config_place place = {reading->source, entry->line};
    if (strcmp(entry->key, "?") == 0 && entry->problem != NULL) {
        tap_config_refuse(reading->errors, place, entry->group, "?", "%s; accepted: 'key: value' lines",
                          entry->problem);
        return;
    }
    size_t i = find(reading->config, place, entry->group, entry->key, reading->errors);
    if (i == SIZE_MAX)
        return;
    int *line = &reading->key_lines[i];
    if (*line > 0) {
        tap_config_refuse(reading->errors, place, entry->group, entry->key,
                          "given twice, first in line %d; accepted: each key once", *line);
        return;
    }
    *line = entry->line;
    if (entry->problem == NULL) {
        assign(reading->config, i, &entry->value, place, reading->errors);
        return;
    }
    refuse_value(&tap_config_keys[i], place, entry->problem, reading->errors);
    reading->config->origins[i] = (struct tap_config_origin){place.source, place.line, true};
}

static enum tap_config_next read_entry(void *context, const struct tap_config_entry *entry)
{
    struct reading *reading = context;
    enum tap_config_next next = TAP_CONFIG_GO_ON;
    if (entry->key == NULL)
        next = begin_group(reading, entry);
    else
        read_key(reading, entry);
    bool is_enough = reading->errors->out_of_memory || reading->errors->n_messages > TAP_CONFIG_MOST_ERRORS;
    return is_enough ? TAP_CONFIG_STOP : next;
}

bool tap_config_read_text(struct tap_config *config, const char *name, const char *bytes, size_t n_bytes,
                          struct tap_config_errors *errors)
{
    size_t n_before = errors->n_added, n_messages = errors->n_messages;
    struct reading reading = {.config = config, .errors = errors, .source = keep_source(config, name)};
    if (reading.source == NULL)
        return tap_config_errors_memory(errors);
    config->file = reading.source;
    config->is_unreadable = false;
    struct tap_config_fault fault = {0};
    if (!tap_config_yaml_walk(bytes != NULL ? bytes : "", n_bytes, read_entry, &reading, &fault)) {
        config->is_unreadable = true;
        if (fault.is_memory) {
            tap_config_errors_memory(errors);
        } else { /* what came before may be a consequence, such as of a quote that is never closed */
            tap_config_errors_truncate(errors, n_messages);
            tap_config_refuse(errors, (struct tap_config_place){reading.source, fault.line}, NULL, NULL,
                              "%s; accepted: %s", fault.message.bytes, accepted_file);
        }
    }
    tap_config_text_clear(&fault.message);
    return errors->n_added == n_before;
}

enum { MOST_FILE_BYTES = 2 * 1024 * 1024 };

/* Reads a stream to its end, or to just over the most that a config may have. Returns 0, or an errno. */
static int read_stream(FILE *stream, struct tap_config_text *out)
{
    char piece[4096];
    size_t n_read = 0;
    do {
        errno = 0;
        n_read = fread(piece, 1, sizeof piece, stream);
        tap_config_text_add_bytes(out, piece, n_read);
    } while (n_read > 0 && !out->out_of_memory && out->n_bytes <= MOST_FILE_BYTES);
    return ferror(stream) ? (errno != 0 ? errno : EIO) : 0;
}

bool tap_config_read_file(struct tap_config *config, const char *path, struct tap_config_errors *errors)
{
    size_t n_before = errors->n_added;
    struct tap_config_text text = {0};
    FILE *stream = fopen(path, "rbe");
    int problem = stream == NULL ? errno : read_stream(stream, &text);
    if (stream != NULL)
        fclose(stream);
    config->is_unreadable = true;
    if (problem != 0)
        tap_config_errors_add(errors, "%s: %s; accepted: a config file", path, strerror(problem));
    else if (text.out_of_memory)
        tap_config_errors_memory(errors);
    else if (text.n_bytes > MOST_FILE_BYTES)
        tap_config_errors_add(errors, "%s: larger than %d bytes; accepted: %s", path, MOST_FILE_BYTES, accepted_file);
    else
        tap_config_read_text(config, path, text.bytes, text.n_bytes, errors);
    tap_config_text_clear(&text);
    return errors->n_added == n_before;
}

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
        assign(single->config, single->i, &entry->value, single->place, single->errors);
    } else {
        refuse_value(&tap_config_keys[single->i], single->place, entry->problem, single->errors);
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
            refuse_value(&tap_config_keys[i], place, fault.message.bytes, errors);
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
    struct tap_config_place place = {keep_source(config, source), 0};
    if (place.source == NULL)
        return tap_config_errors_memory(errors);
    size_t i = find(config, place, group, key, errors);
    if (i == SIZE_MAX)
        return false;
    struct tap_config_value value = {.text = text, .n_bytes = strlen(text)};
    if (text[0] == '[' && is_list_kind(tap_config_keys[i].kind))
        assign_yaml(config, i, text, value.n_bytes, place, errors);
    else
        assign(config, i, &value, place, errors);
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
        refuse_group(place, name, errors);
        return;
    }
    *point = '\0';
    size_t i = find(config, place, name, point + 1, errors);
    if (i == SIZE_MAX)
        return;
    struct tap_config_value value = {.text = text, .n_bytes = n_bytes};
    if (text[0] == '"' || text[0] == '\'' || text[0] == '[')
        assign_yaml(config, i, text, n_bytes, place, errors);
    else
        assign(config, i, &value, place, errors);
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
