/* json.c: see json.h. A struct tap_json is the library's own value under another name and is never defined. The library
 * allocates through tap_mem, so that tests can make any of its allocations fail. */
#include "json.h"
#include "mem.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* The library reports bad UTF-8 and lack of memory alike; this tells them apart. And version 2.14 overlooks some failed
 * allocations (a character of a token when parsing, a key when dumping): what it gives is whole only if none failed. */
static _Thread_local bool allocation_failed;

/* Where the text of a number could not grow, version 2.14 aborts: it takes a character back that it did not keep. While
 * parsing, a request of a growing text's size is therefore met out of this reserve; the next one of another size fails,
 * and the parser gives up. */
#define RESERVE_BYTES 4096
static _Thread_local bool is_parsing;
static _Thread_local size_t n_reserve_used;
static _Thread_local _Alignas(max_align_t) char reserve[RESERVE_BYTES];

static void *allocate(size_t n_bytes)
{
    void *block = tap_mem_new(n_bytes, 1);
    if (block != NULL)
        return block;
    allocation_failed = true;
    if (!is_parsing || n_bytes < 32 || (n_bytes & (n_bytes - 1)) != 0 || n_bytes > RESERVE_BYTES - n_reserve_used)
        return NULL;
    n_reserve_used += n_bytes;
    return reserve + n_reserve_used - n_bytes;
}

static void release(void *block)
{
    if ((uintptr_t)block - (uintptr_t)reserve >= RESERVE_BYTES)
        tap_mem_free(block);
}

static void install_allocator(void)
{
    json_set_alloc_funcs(allocate, release);
}

/* Before anything that allocates. */
static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_allocator);
    allocation_failed = false;
}

static json_t *inner(const struct tap_json *value)
{
    return (json_t *)(void *)value;
}

static struct tap_json *outer(json_t *value)
{
    return (struct tap_json *)(void *)value;
}

/* --- building ------------------------------------------------------------------------------------------------------
 */

static struct tap_json *made(json_t *value, struct tap_error *error)
{
    if (value == NULL)
        tap_error_memory(error, "a JSON value");
    return outer(value);
}

struct tap_json *tap_json_new_object(struct tap_error *error)
{
    prepare();
    return made(json_object(), error);
}

struct tap_json *tap_json_new_array(struct tap_error *error)
{
    prepare();
    return made(json_array(), error);
}

void tap_json_free(struct tap_json *value)
{
    json_decref(inner(value));
}

static void refuse(const char *what, struct tap_error *error)
{
    if (allocation_failed)
        tap_error_memory(error, "a JSON value");
    else
        tap_error_set(error, TAP_ERR_VALUE, "JSON: %s must be UTF-8 without a zero byte", what);
}

/* NULL: `error` is marked. */
static json_t *text_new(const char *text, size_t n_bytes, struct tap_error *error)
{
    prepare();
    json_t *value = memchr(text, 0, n_bytes) == NULL ? json_stringn(text, n_bytes) : NULL;
    if (value == NULL)
        refuse("a text", error);
    return value;
}

static json_t *integer_new(int64_t integer, struct tap_error *error)
{
    prepare();
    return inner(made(json_integer(integer), error));
}

static json_t *real_new(double real, struct tap_error *error)
{
    prepare();
    if (!isfinite(real)) {
        tap_error_set(error, TAP_ERR_NONFINITE, "JSON: %g cannot be written as a number", real);
        return NULL;
    }
    return inner(made(json_real(real), error));
}

/* Takes `child` over, whatever happens; a NULL child has marked the error already. */
static void set(struct tap_json *object, const char *key, json_t *child, struct tap_error *error)
{
    if (object == NULL || child == NULL) {
        json_decref(child);
        return;
    }
    TAP_CHECK(json_is_object(inner(object)));
    prepare();
    if (json_object_set_new(inner(object), key, child) != 0)
        refuse("a key", error);
}

static void append(struct tap_json *array, json_t *child, struct tap_error *error)
{
    if (array == NULL || child == NULL) {
        json_decref(child);
        return;
    }
    TAP_CHECK(json_is_array(inner(array)));
    prepare();
    if (json_array_append_new(inner(array), child) != 0)
        tap_error_memory(error, "a JSON array");
}

void tap_json_set(struct tap_json *object, const char *key, struct tap_json *child, struct tap_error *error)
{
    set(object, key, inner(child), error);
}

void tap_json_set_text(struct tap_json *object, const char *key, const char *text, struct tap_error *error)
{
    set(object, key, text_new(text, strlen(text), error), error);
}

void tap_json_set_text_n(struct tap_json *object, const char *key, const char *text, size_t n_bytes,
                         struct tap_error *error)
{
    set(object, key, text_new(text, n_bytes, error), error);
}

void tap_json_set_integer(struct tap_json *object, const char *key, int64_t integer, struct tap_error *error)
{
    set(object, key, integer_new(integer, error), error);
}

void tap_json_set_real(struct tap_json *object, const char *key, double real, struct tap_error *error)
{
    set(object, key, real_new(real, error), error);
}

void tap_json_set_flag(struct tap_json *object, const char *key, bool flag, struct tap_error *error)
{
    set(object, key, json_boolean(flag), error);
}

void tap_json_append(struct tap_json *array, struct tap_json *child, struct tap_error *error)
{
    append(array, inner(child), error);
}

void tap_json_append_text(struct tap_json *array, const char *text, struct tap_error *error)
{
    append(array, text_new(text, strlen(text), error), error);
}

void tap_json_append_text_n(struct tap_json *array, const char *text, size_t n_bytes, struct tap_error *error)
{
    append(array, text_new(text, n_bytes, error), error);
}

void tap_json_append_integer(struct tap_json *array, int64_t integer, struct tap_error *error)
{
    append(array, integer_new(integer, error), error);
}

void tap_json_append_real(struct tap_json *array, double real, struct tap_error *error)
{
    append(array, real_new(real, error), error);
}

void tap_json_append_flag(struct tap_json *array, bool flag, struct tap_error *error)
{
    append(array, json_boolean(flag), error);
}

/* --- text ----------------------------------------------------------------------------------------------------------
 */

/* A message is one line: what the file brings along must not break it. */
static void blank_controls(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

struct tap_json *tap_json_parse_line(const char *bytes, size_t n_bytes, const char *where, uint64_t line,
                                     struct tap_error *error)
{
    json_error_t reason;
    prepare();
    if (n_bytes > TAP_JSON_MAX_BYTES) {
        tap_error_set(error, TAP_ERR_FORMAT, "%s: %zu bytes of JSON; at most %zu are accepted", where, n_bytes,
                      TAP_JSON_MAX_BYTES);
        return NULL;
    }
    is_parsing = true;
    n_reserve_used = 0;
    json_t *value = json_loadb(n_bytes > 0 ? bytes : "", n_bytes, JSON_REJECT_DUPLICATES, &reason);
    is_parsing = false;
    if (value != NULL && !allocation_failed)
        return outer(value);
    blank_controls(reason.text);
    if (allocation_failed) {
        json_decref(value);
        tap_error_memory(error, "a JSON value");
    } else {
        tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": no valid JSON: %s", where,
                      line + (reason.line > 1 ? (uint64_t)reason.line - 1 : 0), reason.text);
    }
    return NULL;
}

struct tap_json *tap_json_parse(const char *bytes, size_t n_bytes, const char *where, struct tap_error *error)
{
    return tap_json_parse_line(bytes, n_bytes, where, 1, error);
}

char *tap_json_dump(const struct tap_json *value, int real_digits, size_t *out_n_bytes, struct tap_error *error)
{
    if (value == NULL)
        return NULL;
    TAP_CHECK(real_digits >= 1 && real_digits <= 17);
    prepare();
    char *text = json_dumps(inner(value), JSON_COMPACT | JSON_REAL_PRECISION(real_digits));
    if (text == NULL || allocation_failed) {
        tap_mem_free(text);
        tap_error_memory(error, "JSON text");
        return NULL;
    }
    if (out_n_bytes != NULL)
        *out_n_bytes = strlen(text);
    return text;
}

/* --- reading -------------------------------------------------------------------------------------------------------
 */

#define PATH_BYTES 256

/* Puts `text` in front of what stands at `start` within `path`; false when there is no room. */
static bool prepend(char *path, char **start, const char *text)
{
    size_t n = strlen(text);
    if (n > (size_t)(*start - path))
        return false;
    *start -= n;
    memcpy(*start, text, n);
    return true;
}

/* Spells the way to a place, `config.labels[3]`, from its end; what does not fit is left out in front. Gives the text's
 * start within `path` and the name of the root. */
static const char *spell_path(char path[PATH_BYTES], struct tap_json_place place, const char **where)
{
    char *start = &path[PATH_BYTES - 1];
    bool fits = true;
    *start = '\0';
    const struct tap_json_place *at = &place;
    for (; at->parent != NULL; at = at->parent) {
        char index[32];
        snprintf(index, sizeof index, "[%zu]", at->index);
        fits = fits && prepend(path, &start, at->key != NULL ? at->key : index);
        fits = fits && (at->key == NULL || at->parent->parent == NULL || prepend(path, &start, "."));
    }
    *where = at->where;
    blank_controls(start);
    return *start != '\0' ? start : "the top level";
}

static const char *kind_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a text", [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a real",      [JSON_TRUE] = "true",      [JSON_FALSE] = "false",   [JSON_NULL] = "null",
    };
    return names[json_typeof(value)];
}

/* Marks the error of a place that is of another kind than the one that is needed. */
static void mark_kind(struct tap_json_place place, const char *needed)
{
    char path[PATH_BYTES];
    const char *where;
    const char *spelled = spell_path(path, place, &where);
    tap_error_set(place.error, TAP_ERR_FORMAT, "%s: %s is %s; it must be %s", where, spelled,
                  kind_name(inner(place.value)), needed);
}

/* True when something stands at the place and is of the kind; otherwise the error is marked. */
static bool is_kind(struct tap_json_place place, bool right, const char *needed)
{
    if (place.value != NULL && !right)
        mark_kind(place, needed);
    return place.value != NULL && right;
}

struct tap_json_place tap_json_root(const struct tap_json *value, const char *where, struct tap_error *error)
{
    return (struct tap_json_place){.value = value, .where = where, .error = error};
}

bool tap_json_has(const struct tap_json_place *object, const char *key)
{
    return json_object_get(inner(object->value), key) != NULL;
}

struct tap_json_place tap_json_get(const struct tap_json_place *object, const char *key)
{
    struct tap_json_place place = {.parent = object, .key = key, .error = object->error};
    if (!is_kind(*object, json_is_object(inner(object->value)), "an object"))
        return place;
    place.value = outer(json_object_get(inner(object->value), key));
    if (place.value == NULL) {
        char path[PATH_BYTES];
        const char *where;
        const char *spelled = spell_path(path, place, &where);
        tap_error_set(place.error, TAP_ERR_FORMAT, "%s: %s is missing", where, spelled);
    }
    return place;
}

struct tap_json_place tap_json_get_object(const struct tap_json_place *object, const char *key)
{
    struct tap_json_place place = tap_json_get(object, key);
    if (!is_kind(place, json_is_object(inner(place.value)), "an object"))
        place.value = NULL;
    return place;
}

struct tap_json_place tap_json_get_array(const struct tap_json_place *object, const char *key)
{
    struct tap_json_place place = tap_json_get(object, key);
    if (!is_kind(place, json_is_array(inner(place.value)), "an array"))
        place.value = NULL;
    return place;
}

struct tap_json_place tap_json_item(const struct tap_json_place *array, size_t index)
{
    struct tap_json_place place = {.parent = array, .index = index, .error = array->error};
    if (!is_kind(*array, json_is_array(inner(array->value)), "an array"))
        return place;
    place.value = outer(json_array_get(inner(array->value), index));
    if (place.value == NULL) {
        char path[PATH_BYTES];
        const char *where;
        const char *spelled = spell_path(path, place, &where);
        tap_error_set(place.error, TAP_ERR_FORMAT, "%s: %s is missing: the array has %zu items", where, spelled,
                      json_array_size(inner(array->value)));
    }
    return place;
}

size_t tap_json_length(const struct tap_json_place *place)
{
    const json_t *value = inner(place->value);
    if (!is_kind(*place, json_is_array(value) || json_is_object(value), "an array or an object"))
        return 0;
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

bool tap_json_next(const struct tap_json_place *object, void **iterator, struct tap_json_place *out_member)
{
    json_t *value = inner(object->value);
    if (!is_kind(*object, json_is_object(value), "an object"))
        return false;
    *iterator = *iterator == NULL ? json_object_iter(value) : json_object_iter_next(value, *iterator);
    if (*iterator == NULL)
        return false;
    *out_member = (struct tap_json_place){.value = outer(json_object_iter_value(*iterator)),
                                          .parent = object,
                                          .key = json_object_iter_key(*iterator),
                                          .error = object->error};
    return true;
}

const char *tap_json_as_text(struct tap_json_place place)
{
    const json_t *value = inner(place.value);
    return is_kind(place, json_is_string(value), "a text") ? json_string_value(value) : "";
}

const char *tap_json_as_name(struct tap_json_place place, char number[TAP_JSON_NUMBER_BYTES])
{
    const json_t *value = inner(place.value);
    if (json_is_integer(value)) {
        snprintf(number, TAP_JSON_NUMBER_BYTES, "%" PRId64, (int64_t)json_integer_value(value));
        return number;
    }
    return is_kind(place, json_is_string(value), "a text or an integer") ? json_string_value(value) : "";
}

int64_t tap_json_as_integer(struct tap_json_place place, int64_t least, int64_t most)
{
    const json_t *value = inner(place.value);
    if (!is_kind(place, json_is_integer(value), "an integer"))
        return 0;
    int64_t integer = json_integer_value(value);
    if (integer >= least && integer <= most)
        return integer;
    char path[PATH_BYTES];
    const char *where;
    const char *spelled = spell_path(path, place, &where);
    tap_error_set(place.error, TAP_ERR_FORMAT, "%s: %s is %" PRId64 "; it must lie in %" PRId64 " to %" PRId64, where,
                  spelled, integer, least, most);
    return 0;
}

double tap_json_as_real(struct tap_json_place place)
{
    const json_t *value = inner(place.value);
    return is_kind(place, json_is_number(value), "a number") ? json_number_value(value) : 0;
}

bool tap_json_as_flag(struct tap_json_place place)
{
    const json_t *value = inner(place.value);
    return is_kind(place, json_is_boolean(value), "true or false") && json_is_true(value);
}

const char *tap_json_get_text(const struct tap_json_place *object, const char *key)
{
    return tap_json_as_text(tap_json_get(object, key));
}

int64_t tap_json_get_integer(const struct tap_json_place *object, const char *key, int64_t least, int64_t most)
{
    return tap_json_as_integer(tap_json_get(object, key), least, most);
}

double tap_json_get_real(const struct tap_json_place *object, const char *key)
{
    return tap_json_as_real(tap_json_get(object, key));
}

bool tap_json_get_flag(const struct tap_json_place *object, const char *key)
{
    return tap_json_as_flag(tap_json_get(object, key));
}
