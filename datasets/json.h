/* json.h: JSON values, built, read, parsed and written; the only door to the JSON library. It leaves out what nothing
 * here needs: comments, NaN, indentation, values at the top level that are neither object nor array.
 *
 * Errors are sticky: every function that can fail takes (or carries) a struct tap_error, which keeps the first one, and
 * every function accepts the NULL that a failed one returned. So a whole object is built or read first and the error
 * looked at once. */
#ifndef TAP_JSON_H
#define TAP_JSON_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_json;

/* The largest text that tap_json_parse takes, in bytes. */
#define TAP_JSON_MAX_BYTES ((size_t)1 << 30)

/* Significant digits of a real in the text: enough to give back the same float, or the same double. */
#define TAP_JSON_DIGITS_FLOAT 9
#define TAP_JSON_DIGITS_DOUBLE 17

/* --- building ------------------------------------------------------------------------------------------------------
 */

/* An empty value for the caller to fill; NULL and TAP_ERR_MEMORY when there is no memory. */
struct tap_json *tap_json_new_object(struct tap_error *error);
struct tap_json *tap_json_new_array(struct tap_error *error);

/* Frees a value and all that it holds; accepts NULL. A value that was set or appended belongs to its holder. */
void tap_json_free(struct tap_json *value);

/* tap_json_set_*: puts a value under `key` (UTF-8) behind those that are there; a key that is there gets the new value
 * in its old place.
 *
 * Ownership  `child` belongs to `object` from then on (it is freed when that fails); texts are copied
 * Errors     TAP_ERR_VALUE for a key or text that is no UTF-8 or holds a zero byte; TAP_ERR_NONFINITE for a real that
 *            is NaN or infinite; TAP_ERR_MEMORY. `object` NULL: nothing is done, for its maker has marked `error` */
void tap_json_set(struct tap_json *object, const char *key, struct tap_json *child, struct tap_error *error);
void tap_json_set_text(struct tap_json *object, const char *key, const char *text, struct tap_error *error);
void tap_json_set_text_n(struct tap_json *object, const char *key, const char *text, size_t n_bytes,
                         struct tap_error *error);
void tap_json_set_integer(struct tap_json *object, const char *key, int64_t integer, struct tap_error *error);
void tap_json_set_real(struct tap_json *object, const char *key, double real, struct tap_error *error);
void tap_json_set_flag(struct tap_json *object, const char *key, bool flag, struct tap_error *error);

/* The same for the end of an array. */
void tap_json_append(struct tap_json *array, struct tap_json *child, struct tap_error *error);
void tap_json_append_text(struct tap_json *array, const char *text, struct tap_error *error);
void tap_json_append_text_n(struct tap_json *array, const char *text, size_t n_bytes, struct tap_error *error);
void tap_json_append_integer(struct tap_json *array, int64_t integer, struct tap_error *error);
void tap_json_append_real(struct tap_json *array, double real, struct tap_error *error);
void tap_json_append_flag(struct tap_json *array, bool flag, struct tap_error *error);

/* --- text ----------------------------------------------------------------------------------------------------------
 */

/* tap_json_parse: the object or array that `bytes` spell.
 *
 * Ownership  the caller frees the value with tap_json_free; `bytes` are borrowed for the call
 * Errors     TAP_ERR_FORMAT, naming `where` (a file's name, say) and the line, for anything but one JSON object or
 *            array: bytes after it, a key given twice, NaN, a number outside int64 or double, invalid UTF-8, a zero
 * byte (or \u0000), nesting deeper than 2,048; TAP_ERR_MEMORY. Returns NULL */
struct tap_json *tap_json_parse(const char *bytes, size_t n_bytes, const char *where, struct tap_error *error);

/* The same for a value that begins on line `line` of the file `where`. */
struct tap_json *tap_json_parse_line(const char *bytes, size_t n_bytes, const char *where, uint64_t line,
                                     struct tap_error *error);

/* tap_json_dump: the value (object or array) as one line without blanks, members in the order in which they were set,
 * reals with `real_digits` significant digits (1 to 17) whatever the locale.
 *
 * Ownership  the caller frees the text, which ends in a zero byte, with tap_mem_free
 * Errors     TAP_ERR_MEMORY. Returns NULL, also for a NULL value. out_n_bytes (may be NULL): its length without the
 * zero */
char *tap_json_dump(const struct tap_json *value, int real_digits, size_t *out_n_bytes, struct tap_error *error);

/* --- reading -------------------------------------------------------------------------------------------------------
 */

/* A place within a value: it knows how it was reached, so that a message can say `last.npz: config.model.d_model`.
 * Copy it freely, but keep the place it was got from alive (on the stack, usually), and the value. A place whose value
 * is missing or of another kind has marked `error`; reading from it gives empty places, "", 0 and false. */
struct tap_json_place {
    const struct tap_json *value; /* NULL: nothing there */
    const struct tap_json_place *parent;
    const char *key; /* NULL for an array's item, which has an index, and for the root */
    size_t index;
    const char *where; /* the root's name in messages */
    struct tap_error *error;
};

/* The whole value, named `where` in messages; all errors of reading go to `error` (TAP_ERR_FORMAT). */
struct tap_json_place tap_json_root(const struct tap_json *value, const char *where, struct tap_error *error);

bool tap_json_has(const struct tap_json_place *object, const char *key);

/* The member under `key`, of any kind, or one that must be an object or an array; an item of an array. */
struct tap_json_place tap_json_get(const struct tap_json_place *object, const char *key);
struct tap_json_place tap_json_get_object(const struct tap_json_place *object, const char *key);
struct tap_json_place tap_json_get_array(const struct tap_json_place *object, const char *key);
struct tap_json_place tap_json_item(const struct tap_json_place *array, size_t index);

/* Members of an object or items of an array. */
size_t tap_json_length(const struct tap_json_place *place);

/* Walks through an object's members in their order: `*iterator` starts as NULL; false after the last one. */
bool tap_json_next(const struct tap_json_place *object, void **iterator, struct tap_json_place *out_member);

/* What stands at a place. Texts belong to the value. An integer must be written as one and lie in least .. most; a real
 * may be written as an integer. */
const char *tap_json_as_text(struct tap_json_place place);
int64_t tap_json_as_integer(struct tap_json_place place, int64_t least, int64_t most);
double tap_json_as_real(struct tap_json_place place);
bool tap_json_as_flag(struct tap_json_place place);

/* A name: a text, or an integer that is then spelled out in `number`. */
#define TAP_JSON_NUMBER_BYTES 24
const char *tap_json_as_name(struct tap_json_place place, char number[TAP_JSON_NUMBER_BYTES]);

/* tap_json_as_*(tap_json_get(object, key)). */
const char *tap_json_get_text(const struct tap_json_place *object, const char *key);
int64_t tap_json_get_integer(const struct tap_json_place *object, const char *key, int64_t least, int64_t most);
double tap_json_get_real(const struct tap_json_place *object, const char *key);
bool tap_json_get_flag(const struct tap_json_place *object, const char *key);

#endif
