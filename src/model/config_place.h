/* config_place.h: where an error stands, and how it is told. */
#ifndef TAP_CONFIG_PLACE_H
#define TAP_CONFIG_PLACE_H

#include "config_errors.h"

struct tap_config_place {
    const char *source; /* a file, "--set", ...; NULL: nowhere to point at */
    int line;           /* 0: none */
};

/* Adds "source:line: group.key: " and the printf text, leaving out what is NULL or 0. Returns false. */
bool tap_config_refuse(struct tap_config_errors *errors, struct tap_config_place place, const char *group,
                       const char *key, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
