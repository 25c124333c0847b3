/* encoder_reference.c: loads tests/reference/encoders.txt: the text, its checksum, and the memory of all that
 * reference_parser.c finds in it. */
#include "encoder_reference.h"

#include "mem.h"
#include "reference_parser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What encoder_references_new hands out, with all that it owns. */
struct store {
    struct encoder_references public; /* first, so that a pointer to it is one to the whole */
    struct encoder_reference *cases;
    struct reference_array *arrays;
    double *doubles;
    uint32_t *integers;
    char *text;
};

/* Checks the last line against all before it, and cuts it off. */
static bool check_checksum(const char *path, char *text, size_t n_bytes, struct tap_error *error)
{
    char right[64];
    char *last = text + (n_bytes > 0 ? n_bytes - 1 : 0);
    while (last > text && last[-1] != '\n')
        last--;
    uint64_t hash = reference_hash(REFERENCE_HASH_START, text, (size_t)(last - text));
    snprintf(right, sizeof right, "checksum %016" PRIx64 "\n", hash);
    if (strcmp(last, right) != 0 || strlen(text) != n_bytes) {
        tap_error_set(error, TAP_ERR_FORMAT, "%s: changed or cut off: its last line must be %.25s", path, right);
        return false;
    }
    *last = '\0';
    return true;
}

static char *read_text(const char *path, size_t *out_bytes, struct tap_error *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        tap_error_set(error, TAP_ERR_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    size_t capacity = 0, n_bytes = 0, n_read = 1;
    bool has_room = true;
    while (n_read > 0 && (has_room = tap_mem_reserve(&text, &capacity, n_bytes + (1u << 16), 1))) {
        n_read = fread(text + n_bytes, 1, capacity - n_bytes - 1, file);
        n_bytes += n_read;
    }
    bool is_read = has_room && ferror(file) == 0;
    fclose(file);
    if (!is_read) {
        if (has_room)
            tap_error_set(error, TAP_ERR_IO, "%s: can't be read", path);
        else
            tap_error_memory(error, path);
        tap_mem_free(text);
        return NULL;
    }
    text[n_bytes] = '\0';
    *out_bytes = n_bytes;
    return text;
}

/* Room for all that the text can hold: each number is preceded by a space, a comma or a '='. */
static bool make_room(struct store *store, struct tap_error *error)
{
    size_t n_numbers = 0, n_lines = 0;
    for (const char *at = store->text; *at != '\0'; at++) {
        n_numbers += *at == ' ' || *at == ',' || *at == '=';
        n_lines += *at == '\n';
    }
    store->cases = tap_mem_new(n_lines, sizeof *store->cases);
    store->arrays = tap_mem_new(n_lines, sizeof *store->arrays);
    store->doubles = tap_mem_new(n_numbers, sizeof *store->doubles);
    store->integers = tap_mem_new(n_numbers, sizeof *store->integers);
    if (store->cases != NULL && store->arrays != NULL && store->doubles != NULL && store->integers != NULL)
        return true;
    tap_error_memory(error, "reference values");
    return false;
}

static bool parse(struct store *store, const char *path, struct tap_error *error)
{
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        tap_error_memory(error, "the C locale");
        return false;
    }
    struct reference_reader reader = {.path = path,
                                      .rest = store->text,
                                      .c_locale = c_locale,
                                      .arrays = store->arrays,
                                      .doubles = store->doubles,
                                      .integers = store->integers,
                                      .error = error};
    bool is_right = reference_parse_n_cases(&reader, &store->public.n) &&
                    reference_parse_cases(&reader, store->public.n, store->cases);
    freelocale(c_locale);
    return is_right;
}

struct encoder_references *encoder_references_new(const char *path, struct tap_error *error)
{
    size_t n_bytes = 0;
    struct store *store = tap_mem_new(1, sizeof *store);
    if (store == NULL) {
        tap_error_memory(error, "reference values");
        return NULL;
    }
    store->text = read_text(path, &n_bytes, error);
    if (store->text == NULL || !check_checksum(path, store->text, n_bytes, error) || !make_room(store, error) ||
        !parse(store, path, error)) {
        encoder_references_free(&store->public);
        return NULL;
    }
    store->public.cases = store->cases;
    return &store->public;
}

void encoder_references_free(struct encoder_references *references)
{
    struct store *store = (struct store *)references;
    if (store == NULL)
        return;
    tap_mem_free(store->cases);
    tap_mem_free(store->arrays);
    tap_mem_free(store->doubles);
    tap_mem_free(store->integers);
    tap_mem_free(store->text);
    tap_mem_free(store);
}

const double *encoder_reference_find(const struct encoder_reference *reference, enum reference_section section,
                                     const char *name, size_t *out_n)
{
    for (size_t i = 0; i < reference->n_arrays; i++) {
        const struct reference_array *array = &reference->arrays[i];
        if (array->section == section && strcmp(array->name, name) == 0) {
            if (out_n != NULL)
                *out_n = array->n;
            return array->values;
        }
    }
    return NULL;
}
