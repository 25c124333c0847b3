/* config_read.c: filling a config from a file. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "config_assign.h"
#include "config_yaml.h"

static const char *const accepted_file = "a config in UTF-8: 'group:' and below it, indented, 'key: value' lines";

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
        tap_config_refuse_group(place, entry->group, reading->errors);
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
    size_t i = tap_config_find(reading->config, place, entry->group, entry->key, reading->errors);
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
        tap_config_assign(reading->config, i, &entry->value, place, reading->errors);
        return;
    }
    tap_config_refuse_value(&tap_config_keys[i], place, entry->problem, reading->errors);
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
    struct reading reading = {.config = config, .errors = errors, .source = tap_config_keep_source(config, name)};
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
