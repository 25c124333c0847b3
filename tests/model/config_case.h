/* config_case.h: what the tests of the config share. */
#ifndef CONFIG_CASE_H
#define CONFIG_CASE_H

#include "config.h"

/* A config with its errors; config_case_new stops the test when memory runs out. */
struct config_case {
    struct tap_config config;
    struct tap_config_errors errors;
};
struct config_case *config_case_new(void);
void config_case_free(struct config_case *c);

/* Reads a text as the file x.cfg. */
bool config_case_read(struct config_case *c, const char *text);

/* All messages, each followed by a line break; valid until the next call. */
const char *config_case_messages(const struct config_case *c);

/* The value of a key as a text; valid until the next call. */
const char *config_case_value(const struct config_case *c, const char *group, const char *key);

/* The whole config as a file; the caller clears it. */
struct tap_config_text config_case_written(const struct config_case *c);

#endif
