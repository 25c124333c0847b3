/* config_errors.h: a text that grows, and a list of one-line messages: a config's errors are all told, not just the
 * first. Both remember running out of memory, so that a caller checks once, at the end. */
#ifndef TAP_CONFIG_ERRORS_H
#define TAP_CONFIG_ERRORS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise before use. `bytes` ends with a zero once something was added, and is NULL before. */
struct tap_config_text {
    char *bytes;
    size_t n_bytes; /* without the closing zero */
    size_t capacity;
    bool out_of_memory; /* something is missing from the text */
};

void tap_config_text_add(struct tap_config_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tap_config_text_add_list(struct tap_config_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void tap_config_text_add_bytes(struct tap_config_text *text, const char *bytes, size_t n_bytes);
void tap_config_text_clear(struct tap_config_text *text);

/* More are never listed: a file of garbage is refused with this many lines and one that says so. */
#define TAP_CONFIG_MOST_ERRORS 1000

/* Zero-initialise before use. */
struct tap_config_errors {
    char **messages;
    size_t n_messages;
    size_t capacity;
    size_t n_added;     /* errors ever added, listed or not */
    bool out_of_memory; /* counts as one more message */
};

/* Adds a message, a line of printf text; control characters in it become '?'. Returns false, so that
 * `return tap_config_errors_add(...)` reads well in a function that tells success by true. */
bool tap_config_errors_add(struct tap_config_errors *errors, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Marks the list as out of memory. Returns false. */
bool tap_config_errors_memory(struct tap_config_errors *errors);

/* The number of messages, 0 when all is well, and message i; it belongs to the list. */
size_t tap_config_errors_count(const struct tap_config_errors *errors);
const char *tap_config_errors_get(const struct tap_config_errors *errors, size_t i);

/* Drops all messages but the first n. */
void tap_config_errors_truncate(struct tap_config_errors *errors, size_t n);
void tap_config_errors_clear(struct tap_config_errors *errors);

#endif
