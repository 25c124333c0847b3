/* config.h: what a run is told to do. A config holds every key of the table in config.def; it is filled with the
 * defaults, then from a file, from `--set group.key=value`, or from a checkpoint, and then finished: values that follow
 * others are filled in, paths made absolute, and keys compared with one another.
 *
 *     struct tap_config config;
 *     struct tap_config_errors errors = {0};
 *     if (!tap_config_init(&config, &error)) ...
 *     tap_config_read_file(&config, "tiny.cfg", &errors);
 *     tap_config_set(&config, "optim.lr=2e-3", &errors);
 *     tap_config_finish(&config, &errors);
 *     if (tap_config_errors_count(&errors) > 0) ... tell them all
 *     ... config.model.d_model, config.optim.lr ...
 *     tap_config_clear(&config);
 *
 * Numbers are read and written with a decimal point under every locale. Nothing here is thread-safe on one config. */
#ifndef TAP_CONFIG_H
#define TAP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "config_errors.h"
#include "error.h"

/* enum tap_config_activation { TAP_CONFIG_ACTIVATION_RELU, ... } and so on; the words are in config.def. */
#define CONFIG_CHOICES(tag) enum tag {
#define CONFIG_CHOICE(enumerator, word, when) enumerator,
#define CONFIG_CHOICE_OTHER(enumerator) enumerator,
#define CONFIG_CHOICES_END(tag)                                                                                        \
    }                                                                                                                  \
    ;
#include "config.def"

struct tap_config_texts {
    char **items;
    size_t n_items;
};

struct tap_config_weights {
    enum tap_config_weighting weighting;
    double *values; /* for TAP_CONFIG_CLASS_WEIGHTS_LISTED: n_values numbers, at least 0, one of them above 0; else NULL */
    size_t n_values;
};

/* struct tap_config_model { int d_model; double dropout; enum tap_config_activation activation; ... } and so on. */
#define CONFIG_GROUP(tag, group, about) struct tag {
#define CONFIG_INTEGER(group, key, initial, range, support, resume, about) int key;
#define CONFIG_REAL(group, key, initial, range, support, resume, about) double key;
#define CONFIG_FOLLOWER(group, key, followed, range, support, resume, about) double key;
#define CONFIG_FLAG(group, key, initial, support, resume, about) bool key;
#define CONFIG_CHOOSE(group, key, tag, initial, resume, about) enum tag key;
#define CONFIG_TEXT(group, key, initial, use, resume, about) char *key;
#define CONFIG_TEXTS(group, key, initial, support, resume, about) struct tap_config_texts key;
#define CONFIG_WEIGHTS(group, key, tag, initial, resume, about) struct tap_config_weights key;
#define CONFIG_GROUP_END(group)                                                                                        \
    }                                                                                                                  \
    ;
#include "config.def"

enum {
    TAP_CONFIG_N_KEYS = 0
#define CONFIG_INTEGER(group, key, initial, range, support, resume, about) +1
#define CONFIG_REAL(group, key, initial, range, support, resume, about) +1
#define CONFIG_FOLLOWER(group, key, followed, range, support, resume, about) +1
#define CONFIG_FLAG(group, key, initial, support, resume, about) +1
#define CONFIG_CHOOSE(group, key, tag, initial, resume, about) +1
#define CONFIG_TEXT(group, key, initial, use, resume, about) +1
#define CONFIG_TEXTS(group, key, initial, support, resume, about) +1
#define CONFIG_WEIGHTS(group, key, tag, initial, resume, about) +1
#include "config.def"
};

/* Where a key's value comes from, for messages. */
struct tap_config_origin {
    const char *source; /* a file, "--set", ...; NULL: the default */
    int line;           /* 0: none */
    bool is_invalid;    /* the last value given was refused, and the field holds an older one */
};

/* All texts and lists belong to the config. */
struct tap_config {
#define CONFIG_GROUP(tag, group, about) struct tag group;
#include "config.def"
    /* Internal, from here on. */
    struct tap_config_origin origins[TAP_CONFIG_N_KEYS];
    char **sources; /* the names that origins point to */
    size_t n_sources;
    size_t sources_capacity;
    const char *file;   /* the last file read, or NULL */
    bool is_unreadable; /* a file could not be parsed at all: comparing keys would tell nonsense */
    bool may_lack_data; /* an unknown key may be the one that was to name the data */
};

/* Fills in the defaults. On failure (memory alone) the config is empty; clearing it again does no harm. */
bool tap_config_init(struct tap_config *config, struct tap_error *error);
void tap_config_clear(struct tap_config *config);

/* Reads a config file: YAML, two levels (docs/config.md). Every error is added to `errors`, with file, line and key,
 * and the key keeps its value; a file that is no such YAML at all gives one message. Returns whether there was none.
 *
 * Errors  unreadable, over 2 MiB, not UTF-8, not YAML; unknown or doubled group or key; anchor, alias, tag, second
 *         document; a value that its key does not accept, or that is not supported yet; memory */
bool tap_config_read_file(struct tap_config *config, const char *path, struct tap_config_errors *errors);

/* The same for n_bytes in memory; `name` stands for the file in messages. */
bool tap_config_read_text(struct tap_config *config, const char *name, const char *bytes, size_t n_bytes,
                          struct tap_config_errors *errors);

/* Sets one key from "group.key=value", as --set does. The value is taken as it is, without the blanks around it; one
 * that begins with a quote or `[` is read as YAML, so a list is "[a, b]". */
bool tap_config_set(struct tap_config *config, const char *assignment, struct tap_config_errors *errors);

/* Sets one key from a text such as tap_config_get_text gives; `source` stands before the key in messages. */
bool tap_config_set_text(struct tap_config *config, const char *group, const char *key, const char *text,
                         const char *source, struct tap_config_errors *errors);

/* Once all is read: gives keys that follow another their value, makes paths absolute from the current folder ("" and
 * "-" stay), and compares keys with one another, but for those that were refused by themselves. May be called again
 * after further changes. Returns whether it found no error; false, and nothing done, after a file that could not be
 * parsed. */
bool tap_config_finish(struct tap_config *config, struct tap_config_errors *errors);

/* Compares a finished config with the one stored in a checkpoint: each key that differs and must not on resuming is
 * an error. Returns whether there was none. */
bool tap_config_compare_for_resume(const struct tap_config *stored, const struct tap_config *given,
                                   struct tap_config_errors *errors);

/* Appends a config file with every key, which reads back to the very same values. The texts' own flags tell of memory.
 */
void tap_config_write(const struct tap_config *config, struct tap_config_text *out);

/* Appends docs/config.md, made from the table. */
void tap_config_document(struct tap_config_text *out);

/* The keys one by one, in the table's order: i = 0 .. tap_config_n_keys() - 1. */
enum tap_config_kind {
    TAP_CONFIG_KIND_INTEGER,
    TAP_CONFIG_KIND_REAL,
    TAP_CONFIG_KIND_FLAG,
    TAP_CONFIG_KIND_CHOICE,
    TAP_CONFIG_KIND_TEXT,
    TAP_CONFIG_KIND_TEXTS,   /* a list of texts */
    TAP_CONFIG_KIND_WEIGHTS, /* a word, or a list of numbers */
};
size_t tap_config_n_keys(void);
const char *tap_config_key_group(size_t i);
const char *tap_config_key_name(size_t i);
enum tap_config_kind tap_config_key_kind(size_t i);

/* Appends the value of key i: a number in its shortest exact form, true or false, a word, a text as it is, or a list in
 * YAML's flow form. tap_config_set_text takes it back. */
void tap_config_get_text(const struct tap_config *config, size_t i, struct tap_config_text *out);

/* The number that a column is given by, from 1; 0: by name. */
int tap_config_column_number(const char *column);

#endif
