/* config_value.c: reading a value and keeping it in its field; config_spelling.c holds the way back to text. */
#include "config_value.h"

#include <float.h>
#include <string.h>

#include "config_number.h"
#include "mem.h"

void tap_config_texts_clear(struct tap_config_texts *texts)
{
    for (size_t i = 0; i < texts->n_items; i++)
        tap_mem_free(texts->items[i]);
    tap_mem_free(texts->items);
    *texts = (struct tap_config_texts){0};
}

bool tap_config_texts_add(struct tap_config_texts *texts, size_t *capacity, const char *text, size_t n_bytes)
{
    if (!tap_mem_reserve(&texts->items, capacity, texts->n_items + 1, sizeof *texts->items))
        return false;
    char *copy = tap_mem_copy_text(text, n_bytes);
    if (copy == NULL)
        return false;
    texts->items[texts->n_items++] = copy;
    return true;
}

/* Appends "'8.0' is no integer" and the like. Returns false. */
static bool refuse(const char *text, size_t n_bytes, const char *why, struct tap_config_text *problem)
{
    tap_config_quote(text, n_bytes, problem);
    tap_config_text_add(problem, " %s", why);
    return false;
}

static bool fail_memory(struct tap_config_text *problem)
{
    problem->out_of_memory = true;
    return false;
}

/* What is wrong with a number, or NULL. `value` is looked at only when it was read. */
static const char *number_problem(enum tap_config_number status, double value, const struct tap_config_range *range,
                                  const char *malformed)
{
    switch (status) {
    case TAP_CONFIG_NUMBER_MALFORMED:
        return malformed;
    case TAP_CONFIG_NUMBER_TOO_LARGE:
        return "is out of range";
    case TAP_CONFIG_NUMBER_TOO_SMALL:
        return "is too near to 0 for a number to hold";
    case TAP_CONFIG_NUMBER_OK:
        break;
    }
    bool is_low = range->min_is_open ? value <= range->min : value < range->min;
    bool is_high = range->max_is_open ? value >= range->max : value > range->max;
    return is_low || is_high ? "is out of range" : NULL;
}

static bool read_integer(const struct tap_config_key *key, const char *text, size_t n_bytes, int *out,
                         struct tap_config_text *problem)
{
    int integer = 0;
    enum tap_config_number status = tap_config_read_integer(text, n_bytes, &integer);
    const char *why = number_problem(status, integer, &key->range, "is no integer");
    if (why != NULL)
        return refuse(text, n_bytes, why, problem);
    *out = integer;
    return true;
}

static bool read_real(const struct tap_config_range *range, const char *text, size_t n_bytes, double *out,
                      struct tap_config_text *problem)
{
    double real = 0.0;
    enum tap_config_number status = tap_config_read_real(text, n_bytes, &real);
    const char *why = number_problem(status, real, range, "is no number");
    if (why != NULL)
        return refuse(text, n_bytes, why, problem);
    *out = real;
    return true;
}

static bool is_word(const char *text, size_t n_bytes, const char *word)
{
    return strlen(word) == n_bytes && memcmp(text, word, n_bytes) == 0;
}

static bool read_flag(const char *text, size_t n_bytes, bool *out, struct tap_config_text *problem)
{
    bool is_true = is_word(text, n_bytes, "true");
    if (!is_true && !is_word(text, n_bytes, "false"))
        return refuse(text, n_bytes, "is no flag", problem);
    *out = is_true;
    return true;
}

static bool read_choice(const struct tap_config_key *key, const char *text, size_t n_bytes, int *out,
                        struct tap_config_text *problem)
{
    for (const struct tap_config_choice *choice = key->choices; choice->word != NULL; choice++) {
        if (!is_word(text, n_bytes, choice->word))
            continue;
        if (!choice->is_supported)
            return refuse(text, n_bytes, "is not supported yet", problem);
        *out = choice->value;
        return true;
    }
    return refuse(text, n_bytes, "is unknown", problem);
}

/* A column is given by its number, from 1, or its name; what has nothing but digits and signs is meant as a number. */
static bool is_column(const char *text, size_t n_bytes)
{
    int number = 0;
    if (n_bytes == 0)
        return false;
    if (strspn(text, "+-0123456789") < n_bytes)
        return true;
    return tap_config_read_integer(text, n_bytes, &number) == TAP_CONFIG_NUMBER_OK && number >= 1;
}

int tap_config_column_number(const char *column)
{
    int number = 0;
    bool is_number = tap_config_read_integer(column, strlen(column), &number) == TAP_CONFIG_NUMBER_OK;
    return is_number && number >= 1 ? number : 0;
}

static bool read_text(const struct tap_config_key *key, const char *text, size_t n_bytes, char **out,
                      struct tap_config_text *problem)
{
    if (!tap_config_is_utf8(text, n_bytes))
        return refuse(text, n_bytes, "is not UTF-8", problem);
    if (key->use == TAP_CONFIG_USE_COLUMN && !is_column(text, n_bytes))
        return refuse(text, n_bytes, "is no column", problem);
    *out = tap_mem_copy_text(text, n_bytes);
    return *out != NULL || fail_memory(problem);
}

static bool read_texts(const struct tap_config_key *key, const struct tap_config_texts *list,
                       struct tap_config_texts *out, struct tap_config_text *problem)
{
    struct tap_config_texts texts = {.items = tap_mem_new(list->n_items, sizeof *texts.items)};
    bool is_good = texts.items != NULL || fail_memory(problem);
    for (size_t i = 0; is_good && i < list->n_items; i++) {
        const char *item = list->items[i];
        is_good = read_text(key, item, strlen(item), &texts.items[i], problem);
        texts.n_items += is_good;
    }
    if (is_good)
        *out = texts;
    else
        tap_config_texts_clear(&texts);
    return is_good;
}

static bool read_weights(const struct tap_config_key *key, const struct tap_config_value *value,
                         struct tap_config_weights *out, struct tap_config_text *problem)
{
    if (value->text != NULL) {
        int weighting;
        if (!read_choice(key, value->text, value->n_bytes, &weighting, problem))
            return false;
        *out = (struct tap_config_weights){.weighting = (enum tap_config_weighting)weighting};
        return true;
    }
    const struct tap_config_range range = {.min = 0.0, .max = DBL_MAX};
    const struct tap_config_texts *list = &value->list;
    double *values = tap_mem_new(list->n_items, sizeof *values);
    bool is_good = values != NULL || fail_memory(problem), has_positive = false;
    for (size_t i = 0; is_good && i < list->n_items; i++) {
        is_good = read_real(&range, list->items[i], strlen(list->items[i]), &values[i], problem);
        has_positive = has_positive || values[i] > 0.0;
    }
    if (is_good && !has_positive) {
        tap_config_text_add(problem, "no weight is above 0");
        is_good = false;
    }
    if (is_good)
        *out = (struct tap_config_weights){TAP_CONFIG_CLASS_WEIGHTS_LISTED, values, list->n_items};
    else
        tap_mem_free(values);
    return is_good;
}

static bool read_any(const struct tap_config_key *key, const struct tap_config_value *value,
                     union tap_config_field *out, struct tap_config_text *problem)
{
    switch (key->kind) {
    case TAP_CONFIG_KIND_INTEGER:
        return read_integer(key, value->text, value->n_bytes, &out->integer, problem);
    case TAP_CONFIG_KIND_REAL:
        return read_real(&key->range, value->text, value->n_bytes, &out->real, problem);
    case TAP_CONFIG_KIND_FLAG:
        return read_flag(value->text, value->n_bytes, &out->flag, problem);
    case TAP_CONFIG_KIND_CHOICE:
        return read_choice(key, value->text, value->n_bytes, &out->integer, problem);
    case TAP_CONFIG_KIND_TEXT:
        return read_text(key, value->text, value->n_bytes, &out->text, problem);
    case TAP_CONFIG_KIND_TEXTS:
        return read_texts(key, &value->list, &out->texts, problem);
    case TAP_CONFIG_KIND_WEIGHTS:
        return read_weights(key, value, &out->weights, problem);
    }
    return false;
}

/* Whether a value may be given to the key today: compares it, as written out, with the default. */
static bool is_supported(const struct tap_config_key *key, const union tap_config_field *value,
                         struct tap_config_text *problem)
{
    if (!key->only_default)
        return true;
    struct tap_config_text written = {0};
    tap_config_value_write(key, value, false, &written);
    bool is_supported = !written.out_of_memory && strcmp(written.bytes, key->initial) == 0;
    if (written.out_of_memory)
        problem->out_of_memory = true;
    else if (!is_supported)
        refuse(written.bytes, written.n_bytes, "is not supported yet", problem);
    tap_config_text_clear(&written);
    return is_supported;
}

bool tap_config_value_read(const struct tap_config_key *key, const struct tap_config_value *value,
                           union tap_config_field *out, struct tap_config_text *problem)
{
    bool is_list = value->text == NULL;
    if (is_list && key->kind != TAP_CONFIG_KIND_TEXTS && key->kind != TAP_CONFIG_KIND_WEIGHTS) {
        tap_config_text_add(problem, "a list");
        return false;
    }
    if (!is_list && key->kind == TAP_CONFIG_KIND_TEXTS)
        return refuse(value->text, value->n_bytes, "is no list", problem);
    union tap_config_field read = {0};
    if (!read_any(key, value, &read, problem))
        return false;
    if (!is_supported(key, &read, problem)) {
        tap_config_value_free(key, &read);
        return false;
    }
    *out = read;
    return true;
}

static size_t field_bytes(enum tap_config_kind kind)
{
    switch (kind) {
    case TAP_CONFIG_KIND_INTEGER:
    case TAP_CONFIG_KIND_CHOICE:
        return sizeof(int);
    case TAP_CONFIG_KIND_REAL:
        return sizeof(double);
    case TAP_CONFIG_KIND_FLAG:
        return sizeof(bool);
    case TAP_CONFIG_KIND_TEXT:
        return sizeof(char *);
    case TAP_CONFIG_KIND_TEXTS:
        return sizeof(struct tap_config_texts);
    case TAP_CONFIG_KIND_WEIGHTS:
        return sizeof(struct tap_config_weights);
    }
    return 0;
}

void tap_config_value_put(const struct tap_config_key *key, void *field, const union tap_config_field *value)
{
    tap_config_value_free(key, field);
    memcpy(field, value, field_bytes(key->kind)); /* a choice is an enum, hence no assignment through an int pointer */
}

void tap_config_value_free(const struct tap_config_key *key, void *field)
{
    union tap_config_field held;
    memcpy(&held, field, field_bytes(key->kind));
    if (key->kind == TAP_CONFIG_KIND_TEXT)
        tap_mem_free(held.text);
    else if (key->kind == TAP_CONFIG_KIND_TEXTS)
        tap_config_texts_clear(&held.texts);
    else if (key->kind == TAP_CONFIG_KIND_WEIGHTS)
        tap_mem_free(held.weights.values);
    memset(field, 0, field_bytes(key->kind));
}
