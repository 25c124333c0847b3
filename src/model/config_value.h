/* config_value.h: one value of a config: from what was written to the field, and back. */
#ifndef TAP_CONFIG_VALUE_H
#define TAP_CONFIG_VALUE_H

#include "config_table.h"

/* A value as written: a scalar, n_bytes of text and a closing zero, or (text NULL) a list of scalars. */
struct tap_config_value {
    const char *text;
    size_t n_bytes;
    struct tap_config_texts list;
};

/* Room for any field. */
union tap_config_field {
    int integer;
    double real;
    bool flag;
    char *text;
    struct tap_config_texts texts;
    struct tap_config_weights weights;
};

/* Reads a value for a key into `out`, which then owns its memory. Returns false when the key does not accept it, or not
 * yet: what is wrong is appended to `problem`, marked there too when memory ran out, and `out` holds nothing. */
bool tap_config_value_read(const struct tap_config_key *key, const struct tap_config_value *value,
                           union tap_config_field *out, struct tap_config_text *problem);

/* Puts `value` into a key's field, freeing what it held; and frees what a field holds. */
void tap_config_value_put(const struct tap_config_key *key, void *field, const union tap_config_field *value);
void tap_config_value_free(const struct tap_config_key *key, void *field);

/* Appends a key's value; with `is_quoted`, texts as YAML in double quotes instead of as they are. */
void tap_config_value_write(const struct tap_config_key *key, const void *field, bool is_quoted,
                            struct tap_config_text *out);

/* Appends what a key accepts today: "an integer from 1 to 2147483647", "relu, gelu". With `is_full`, the range of a
 * key of which only the default is supported too, and what is not supported yet, for the reference page. */
void tap_config_accepted(const struct tap_config_key *key, bool is_full, struct tap_config_text *out);

/* Appends a piece of input, shortened to some 60 bytes; and the same in single quotes. */
void tap_config_shorten(const char *text, size_t n_bytes, struct tap_config_text *out);
void tap_config_quote(const char *text, size_t n_bytes, struct tap_config_text *out);

bool tap_config_is_utf8(const char *text, size_t n_bytes);

void tap_config_texts_clear(struct tap_config_texts *texts);

/* Appends a copy; false when memory runs out. */
bool tap_config_texts_add(struct tap_config_texts *texts, size_t *capacity, const char *text, size_t n_bytes);

#endif
