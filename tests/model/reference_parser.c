/* reference_parser.c: the lines of tests/reference/encoders.txt, cut into words in place. Every number is preceded by a
 * space, a comma or a '=', so the room counted from those (encoder_reference.c) is never exceeded. */
#include "reference_parser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(struct reference_reader *reader, const char *what, const char *word)
{
    tap_error_set(reader->error, TAP_ERR_FORMAT, "%s:%zu: %s%s%s", reader->path, reader->line_number, what,
                  word != NULL ? ": " : "", word != NULL ? word : "");
    return false;
}

/* Goes to the next line that is no comment; false at the end of the text. */
static bool next_line(struct reference_reader *reader)
{
    do {
        if (*reader->rest == '\0')
            return false;
        reader->line = reader->rest;
        reader->line_number++;
        reader->rest += strcspn(reader->rest, "\n");
        if (*reader->rest == '\n')
            *reader->rest++ = '\0';
    } while (*reader->line == '#');
    return true;
}

/* The line's next word, or "" when it has none left. */
static const char *next_word(struct reference_reader *reader)
{
    const char *word = reader->line != NULL ? strsep(&reader->line, " ") : NULL;
    return word != NULL ? word : "";
}

static bool parse_count(struct reference_reader *reader, const char *word, size_t *out)
{
    char *end;
    errno = 0;
    uintmax_t value = strtoumax(word, &end, 10);
    if (*word < '0' || *word > '9' || *end != '\0' || errno != 0 || value > UINT32_MAX)
        return refuse(reader, "not a whole number below 2^32", word);
    *out = (size_t)value;
    return true;
}

static bool parse_number(struct reference_reader *reader, const char *word, double *out)
{
    char *end;
    *out = strtod_l(word, &end, reader->c_locale);
    if (*word == '\0' || *end != '\0')
        return refuse(reader, "not a number", word);
    return true;
}

/* The key=value pairs of a case line. */
enum key_kind { KEY_TEXT, KEY_COUNT, KEY_NUMBER, KEY_FLAG };
static const struct {
    const char *key;
    enum key_kind kind;
    size_t offset;
} case_keys[] = {
#define KEY(key, kind)                                                                                                 \
    {                                                                                                                  \
#key, kind, offsetof(struct encoder_reference, key)                                                            \
    }
    KEY(name, KEY_TEXT),       KEY(seed, KEY_COUNT),           KEY(d_model, KEY_COUNT),
    KEY(heads, KEY_COUNT),     KEY(layers, KEY_COUNT),         KEY(d_ff, KEY_COUNT),
    KEY(activation, KEY_TEXT), KEY(norm_position, KEY_TEXT),   KEY(norm_eps, KEY_NUMBER),
    KEY(positions, KEY_TEXT),  KEY(pooling, KEY_TEXT),         KEY(causal, KEY_FLAG),
    KEY(vocab, KEY_COUNT),     KEY(embedding_scale, KEY_TEXT), KEY(label_smoothing, KEY_NUMBER),
    KEY(classes, KEY_COUNT),   KEY(max_length, KEY_COUNT),
#undef KEY
};
#define N_CASE_KEYS (sizeof case_keys / sizeof case_keys[0])

static bool parse_class_weights(struct reference_reader *reader, struct encoder_reference *out, char *value)
{
    if (strcmp(value, "none") == 0)
        return true;
    out->class_weights = reader->doubles;
    for (const char *word; (word = strsep(&value, ",")) != NULL; out->n_class_weights++) {
        if (!parse_number(reader, word, reader->doubles++))
            return false;
    }
    return true;
}

static bool parse_value(struct reference_reader *reader, enum key_kind kind, const char *value, void *out)
{
    switch (kind) {
    case KEY_TEXT:
        *(const char **)out = value;
        return *value != '\0' || refuse(reader, "a key without a value", NULL);
    case KEY_COUNT:
        return parse_count(reader, value, out);
    case KEY_NUMBER:
        return parse_number(reader, value, out);
    case KEY_FLAG:
        *(bool *)out = strcmp(value, "true") == 0;
        return *(bool *)out || strcmp(value, "false") == 0 || refuse(reader, "neither true nor false", value);
    }
    return false;
}

/* One key=value; each key may come once, and sets its bit in *seen (class_weights the one after the table's). */
static bool parse_key(struct reference_reader *reader, struct encoder_reference *out, char *value, unsigned *seen)
{
    const char *key = strsep(&value, "=");
    size_t i = 0;
    while (i < N_CASE_KEYS && strcmp(key, case_keys[i].key) != 0)
        i++;
    if (value == NULL || (i == N_CASE_KEYS && strcmp(key, "class_weights") != 0))
        return refuse(reader, "not a key=value that is known", key);
    if (*seen & 1u << i)
        return refuse(reader, "a key given twice", key);
    *seen |= 1u << i;
    if (i == N_CASE_KEYS)
        return parse_class_weights(reader, out, value);
    return parse_value(reader, case_keys[i].kind, value, (char *)out + case_keys[i].offset);
}

static bool parse_case_line(struct reference_reader *reader, struct encoder_reference *out)
{
    if (!next_line(reader) || strcmp(next_word(reader), "case") != 0)
        return refuse(reader, "a line `case` was expected", NULL);
    unsigned seen = 0;
    while (reader->line != NULL) {
        if (!parse_key(reader, out, strsep(&reader->line, " "), &seen))
            return false;
    }
    if (seen != (1u << (N_CASE_KEYS + 1)) - 1)
        return refuse(reader, "a key is missing in the case", out->name);
    return true;
}

static bool expect_line_end(struct reference_reader *reader)
{
    return reader->line == NULL || refuse(reader, "more on the line than its count says", reader->line);
}

static bool parse_doubles(struct reference_reader *reader, size_t *out_n, const double **out)
{
    if (!parse_count(reader, next_word(reader), out_n))
        return false;
    *out = reader->doubles;
    for (size_t i = 0; i < *out_n; i++) {
        double value;
        if (!parse_number(reader, next_word(reader), &value))
            return false;
        *reader->doubles++ = value;
    }
    return expect_line_end(reader);
}

static bool parse_integers(struct reference_reader *reader, size_t *out_n, const uint32_t **out)
{
    if (!parse_count(reader, next_word(reader), out_n))
        return false;
    *out = reader->integers;
    for (size_t i = 0; i < *out_n; i++) {
        size_t value;
        if (!parse_count(reader, next_word(reader), &value))
            return false;
        *reader->integers++ = (uint32_t)value;
    }
    return expect_line_end(reader);
}

/* A line that must start with `section`. */
static bool expect_section(struct reference_reader *reader, const char *section)
{
    if (!next_line(reader) || strcmp(next_word(reader), section) != 0)
        return refuse(reader, "another line was expected", section);
    return true;
}

static bool all_below(const uint32_t *values, size_t n, size_t bound)
{
    for (size_t i = 0; i < n; i++) {
        if (values[i] >= bound)
            return false;
    }
    return true;
}

static bool are_offsets(const uint32_t *offsets, size_t n, size_t n_tokens)
{
    if (n == 0 || offsets[0] != 0 || offsets[n - 1] != n_tokens)
        return false;
    for (size_t i = 1; i < n; i++) {
        if (offsets[i] < offsets[i - 1])
            return false;
    }
    return true;
}

/* The lines tokens, offsets, labels, logits, loss. */
static bool parse_batch(struct reference_reader *reader, struct encoder_reference *out)
{
    size_t n_offsets, n_labels, n_logits, n_losses;
    const double *loss;
    if (!expect_section(reader, "tokens") || !parse_integers(reader, &out->n_tokens, &out->tokens))
        return false;
    if (!all_below(out->tokens, out->n_tokens, out->vocab))
        return refuse(reader, "a token outside the vocabulary", NULL);
    if (!expect_section(reader, "offsets") || !parse_integers(reader, &n_offsets, &out->offsets))
        return false;
    if (!are_offsets(out->offsets, n_offsets, out->n_tokens))
        return refuse(reader, "offsets do not ascend from 0 to the number of tokens", NULL);
    out->n_sequences = n_offsets - 1;
    if (!expect_section(reader, "labels") || !parse_integers(reader, &n_labels, &out->labels))
        return false;
    if (n_labels != out->n_sequences || !all_below(out->labels, n_labels, out->classes))
        return refuse(reader, "not one label below the number of classes a sequence", NULL);
    if (!expect_section(reader, "logits") || !parse_doubles(reader, &n_logits, &out->logits))
        return false;
    if (n_logits != n_labels * out->classes)
        return refuse(reader, "not one logit a sequence and class", NULL);
    if (!expect_section(reader, "loss") || !parse_doubles(reader, &n_losses, &loss))
        return false;
    if (n_losses != 1)
        return refuse(reader, "not one loss", NULL);
    out->loss = loss[0];
    return true;
}

static bool section_of(const char *word, enum reference_section *out)
{
    static const char *const sections[] = {"gradient", "sgd", "adam", "adamw"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(word, sections[i]) == 0) {
            *out = (enum reference_section)i;
            return true;
        }
    }
    return false;
}

/* Gradients and parameters after ten steps, up to the line `end`. */
static bool parse_arrays(struct reference_reader *reader, struct encoder_reference *out)
{
    out->arrays = reader->arrays;
    while (next_line(reader)) {
        const char *word = next_word(reader);
        if (strcmp(word, "end") == 0)
            return expect_line_end(reader);
        struct reference_array *array = reader->arrays++;
        if (!section_of(word, &array->section))
            return refuse(reader, "not a line that is known", word);
        array->name = next_word(reader);
        if (!parse_doubles(reader, &array->n, &array->values))
            return false;
        out->n_arrays++;
        out->has_steps = out->has_steps || array->section != REFERENCE_GRADIENT;
    }
    return refuse(reader, "a line `end` was expected", NULL);
}

bool reference_parse_n_cases(struct reference_reader *reader, size_t *out_n)
{
    if (!expect_section(reader, "encoders") || !parse_count(reader, next_word(reader), out_n))
        return false;
    return expect_line_end(reader);
}

bool reference_parse_cases(struct reference_reader *reader, size_t n, struct encoder_reference *out_cases)
{
    for (size_t i = 0; i < n; i++) {
        struct encoder_reference *reference = &out_cases[i];
        if (!parse_case_line(reader, reference) || !parse_batch(reader, reference) || !parse_arrays(reader, reference))
            return false;
    }
    return !next_line(reader) || refuse(reader, "more than the cases counted at the top", reader->line);
}
