/* prediction_output.c: see prediction_output.h. Labels are spelled once, as the format needs them: quoted for CSV, with
 * escapes for JSON. Records of the input are written as they came, byte for byte, and never put together anew. */
#include "prediction_output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluation.h"
#include "json.h"
#include "mem.h"
#include "quote.h"
#include "unicode.h"

#define NAME_BYTES 48
#define PROBABILITY_BYTES 32

struct ranked {
    tap_real logit;
    uint32_t label;
};

struct prediction_output {
    struct prediction_options options;
    enum tap_record_kind kind; /* of FORMAT_TABLE */
    char separator;
    const char *line_end;
    const char *const *labels;
    size_t n_labels;
    size_t n_ranked; /* labels in a result */
    char **spelled;  /* n_labels of them, and the abstain label */
    char (*columns)[NAME_BYTES];
    double *probabilities;
    struct ranked *ranking;
    bool abstains; /* in the result at hand */
    FILE *out;
};

static size_t n_spelled(const struct prediction_output *output)
{
    return output->n_labels + (output->options.abstain != NULL);
}

static const char *label_text(const struct prediction_output *output, size_t i)
{
    return i < output->n_labels ? output->labels[i] : output->options.abstain;
}

static enum tap_status check_abstain(const struct prediction_output *output, struct tap_error *error)
{
    const char *abstain = output->options.abstain;
    size_t n_bytes = strlen(abstain);
    if (n_bytes == 0 || strpbrk(abstain, "\t\r\n") != NULL || tap_unicode_valid_bytes(abstain, n_bytes) != n_bytes)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "--abstain: %s; a label is needed: UTF-8, not empty, without tab or line break",
                             tap_quote(abstain, n_bytes).text);
    for (size_t i = 0; i < output->n_labels; i++)
        if (strcmp(output->labels[i], abstain) == 0)
            return tap_error_set(error, TAP_ERR_VALUE,
                                 "--abstain: %s is a label of the model; choose another one for texts without answer",
                                 tap_quote(abstain, n_bytes).text);
    return TAP_OK;
}

/* predicted_label, predicted_probability, predicted_label_2, ... */
static void name_columns(struct prediction_output *output)
{
    for (size_t i = 0; i < output->n_ranked; i++) {
        char number[NAME_BYTES / 2] = "";
        if (i > 0)
            snprintf(number, sizeof number, "_%zu", i + 1);
        snprintf(output->columns[2 * i], NAME_BYTES, "predicted_label%s", number);
        snprintf(output->columns[2 * i + 1], NAME_BYTES, "predicted_probability%s", number);
    }
}

struct prediction_output *prediction_output_new(const struct prediction_options *options, const char *const *labels,
                                                size_t n_labels, FILE *out, struct tap_error *error)
{
    struct prediction_output *output = tap_mem_new(1, sizeof *output);
    if (output == NULL) {
        tap_error_memory(error, "the output");
        return NULL;
    }
    *output = (struct prediction_output){.options = *options,
                                         .separator = '\t',
                                         .line_end = "\n",
                                         .labels = labels,
                                         .n_labels = n_labels,
                                         .n_ranked = options->top == 0         ? 1
                                                     : options->top < n_labels ? options->top
                                                                               : n_labels,
                                         .out = out};
    output->spelled = tap_mem_new(n_spelled(output), sizeof *output->spelled);
    output->columns = tap_mem_new(2 * output->n_ranked, sizeof *output->columns);
    output->probabilities = tap_mem_new(n_labels, sizeof *output->probabilities);
    output->ranking = tap_mem_new(n_labels, sizeof *output->ranking);
    bool has_memory =
        output->spelled != NULL && output->columns != NULL && output->probabilities != NULL && output->ranking != NULL;
    enum tap_status status = has_memory ? TAP_OK : tap_error_memory(error, "the output");
    if (status == TAP_OK && options->abstain != NULL)
        status = check_abstain(output, error);
    if (status != TAP_OK) {
        prediction_output_free(output);
        return NULL;
    }
    name_columns(output);
    return output;
}

void prediction_output_free(struct prediction_output *output)
{
    if (output == NULL)
        return;
    for (size_t i = 0; output->spelled != NULL && i < n_spelled(output); i++)
        tap_mem_free(output->spelled[i]);
    tap_mem_free(output->spelled);
    tap_mem_free(output->columns);
    tap_mem_free(output->probabilities);
    tap_mem_free(output->ranking);
    tap_mem_free(output);
}

/* --- labels as the format needs them -------------------------------------------------------------------------------
 */

/* By RFC 4180: quoted only where the text would otherwise end too soon. */
static char *spell_csv(const char *text, char separator)
{
    const char special[] = {separator, '"', '\r', '\n', '\0'};
    if (strpbrk(text, special) == NULL)
        return tap_mem_copy_text(text, strlen(text));
    char *quoted = tap_mem_new(2 * strlen(text) + 3, 1);
    if (quoted == NULL)
        return NULL;
    char *to = quoted;
    *to++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"')
            *to++ = '"';
        *to++ = *text;
    }
    *to = '"';
    return quoted;
}

/* The text as a JSON string, in its quotation marks. */
static char *spell_json(const char *text, struct tap_error *error)
{
    size_t n_bytes = 0;
    struct tap_json *list = tap_json_new_array(error);
    tap_json_append_text(list, text, error);
    char *dumped = error->status == TAP_OK ? tap_json_dump(list, TAP_JSON_DIGITS_FLOAT, &n_bytes, error) : NULL;
    char *string = dumped != NULL ? tap_mem_copy_text(dumped + 1, n_bytes - 2) : NULL; /* without [ and ] */
    tap_json_free(list);
    tap_mem_free(dumped);
    return string;
}

/* What may not be in a label: where labels stand in lines, a line break; between tabs, a tab, too. */
static const char *forbidden(const struct prediction_output *output)
{
    switch (output->options.format) {
    case FORMAT_LABEL:
        return output->n_ranked > 1 ? "\t\r\n" : "\r\n";
    case FORMAT_TSV:
        return "\t\r\n";
    case FORMAT_JSONL:
        return "";
    case FORMAT_TABLE:
        break;
    }
    return output->kind == TAP_RECORD_TSV ? "\t\r\n" : "";
}

enum tap_status prediction_output_start(struct prediction_output *output, enum tap_record_kind kind, char separator,
                                        bool ends_with_cr, struct tap_error *error)
{
    bool is_table = output->options.format == FORMAT_TABLE;
    output->kind = kind;
    output->separator = separator;
    output->line_end = is_table && ends_with_cr ? "\r\n" : "\n";
    for (size_t i = 0; i < n_spelled(output); i++) {
        const char *text = label_text(output, i);
        if (strpbrk(text, forbidden(output)) != NULL)
            return tap_error_set(error, TAP_ERR_VALUE,
                                 "--format: the label %s of the model holds a tab or a line break; accepted: jsonl",
                                 tap_quote(text, strlen(text)).text);
        tap_mem_free(output->spelled[i]);
        if (is_table && kind == TAP_RECORD_CSV)
            output->spelled[i] = spell_csv(text, separator);
        else if (is_table && kind == TAP_RECORD_JSONL)
            output->spelled[i] = spell_json(text, error);
        else
            output->spelled[i] = tap_mem_copy_text(text, strlen(text));
        if (output->spelled[i] == NULL)
            return tap_error_memory(error, "the output");
    }
    return TAP_OK;
}

const char *prediction_output_column(const struct prediction_output *output, size_t i)
{
    return output->columns[i];
}

size_t prediction_output_n_columns(const struct prediction_output *output)
{
    return 2 * output->n_ranked;
}

/* --- one result ----------------------------------------------------------------------------------------------------
 */

/* softmax in double, so that the probabilities add up to 1 as printed. */
static void softmax(const tap_real *logits, size_t n, double *out)
{
    double largest = (double)logits[0];
    double sum = 0;
    for (size_t c = 1; c < n; c++)
        largest = fmax(largest, (double)logits[c]);
    for (size_t c = 0; c < n; c++) {
        out[c] = exp((double)logits[c] - largest);
        sum += out[c];
    }
    for (size_t c = 0; c < n; c++)
        out[c] /= sum;
}

/* By falling logit, that is by falling probability; equal ones by the order of the labels. */
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

static void rank(struct prediction_output *output, const tap_real *logits)
{
    softmax(logits, output->n_labels, output->probabilities);
    if (output->n_ranked == 1) {
        uint32_t best = largest_class(logits, output->n_labels);
        output->ranking[0] = (struct ranked){logits[best], best};
    } else {
        for (size_t c = 0; c < output->n_labels; c++)
            output->ranking[c] = (struct ranked){logits[c], (uint32_t)c};
        qsort(output->ranking, output->n_labels, sizeof *output->ranking, compare_ranked);
    }
    output->abstains =
        output->options.abstain != NULL && output->probabilities[output->ranking[0].label] < output->options.threshold;
}

/* The number among the spelled ones of the label at a place of the ranking; at the first, of the answer. */
static size_t label_at(const struct prediction_output *output, size_t place)
{
    return place == 0 && output->abstains ? output->n_labels : output->ranking[place].label;
}

static double probability_at(const struct prediction_output *output, size_t place)
{
    return output->probabilities[output->ranking[place].label];
}

static bool put_text(const struct prediction_output *output, const char *text)
{
    return fputs(text, output->out) != EOF;
}

static bool put_bytes(const struct prediction_output *output, const char *bytes, size_t n_bytes)
{
    return n_bytes == 0 || fwrite(bytes, 1, n_bytes, output->out) == n_bytes;
}

static bool write_labels(const struct prediction_output *output)
{
    bool written = true;
    for (size_t i = 0; i < output->n_ranked && written; i++)
        written = fprintf(output->out, "%s%s", i > 0 ? "\t" : "", output->spelled[label_at(output, i)]) > 0;
    return written && put_text(output, "\n");
}

static bool write_tsv(const struct prediction_output *output, const struct prediction *prediction)
{
    bool written = true;
    for (size_t i = 0; i < output->n_ranked && written; i++)
        written =
            fprintf(output->out, "%s\t%.9g\t", output->spelled[label_at(output, i)], probability_at(output, i)) > 0;
    return written && put_bytes(output, prediction->bytes, prediction->n_bytes) && put_text(output, "\n");
}

static bool write_fields(const struct prediction_output *output, const struct prediction *prediction)
{
    bool written = put_bytes(output, prediction->bytes, prediction->n_bytes);
    for (size_t i = 0; i < output->n_ranked && written; i++)
        written = fprintf(output->out, "%c%s%c%.9g", output->separator, output->spelled[label_at(output, i)],
                          output->separator, probability_at(output, i)) > 0;
    return written && put_text(output, output->line_end);
}

/* The object but for its closing brace, then the new members. It is not empty: its text is a member. */
static bool write_members(const struct prediction_output *output, const struct prediction *prediction)
{
    size_t n_bytes = prediction->n_bytes;
    while (n_bytes > 0 && prediction->bytes[n_bytes - 1] != '}')
        n_bytes--;
    bool written = put_bytes(output, prediction->bytes, n_bytes - 1);
    for (size_t i = 0; i < output->n_ranked && written; i++) {
        char number[PROBABILITY_BYTES];
        snprintf(number, sizeof number, "%.9g", probability_at(output, i));
        bool is_real = strpbrk(number, ".en") != NULL; /* 1 and 0 are reals in JSON only with a point */
        written =
            fprintf(output->out, ",\"%s\":%s,\"%s\":%s%s", output->columns[2 * i], output->spelled[label_at(output, i)],
                    output->columns[2 * i + 1], number, is_real ? "" : ".0") > 0;
    }
    return written && put_text(output, "}") && put_text(output, output->line_end);
}

/* --- JSON lines of their own ---------------------------------------------------------------------------------------
 */

static struct tap_json *real_list(const tap_real *numbers, size_t n, struct tap_error *error)
{
    struct tap_json *list = tap_json_new_array(error);
    for (size_t i = 0; i < n; i++)
        tap_json_append_real(list, (double)numbers[i], error);
    return list;
}

/* The encoder's output of one line: its vector, or one for each token. */
static void set_vectors(const struct prediction_output *output, const struct prediction *prediction,
                        struct tap_json *object, struct tap_error *error)
{
    if (output->options.vectors == VECTORS_SEQUENCE)
        tap_json_set(object, "vector", real_list(prediction->vector, prediction->vector_width, error), error);
    if (output->options.vectors != VECTORS_TOKEN)
        return;
    struct tap_json *rows = tap_json_new_array(error);
    for (size_t t = 0; t < prediction->n_tokens; t++) {
        const tap_real *vector = prediction->token_vectors + t * prediction->token_width;
        tap_json_append(rows, real_list(vector, prediction->token_width, error), error);
    }
    tap_json_set(object, "vectors", rows, error);
}

/* The model's ranking, whatever the threshold makes of the answer. */
static struct tap_json *top_list(const struct prediction_output *output, struct tap_error *error)
{
    struct tap_json *list = tap_json_new_array(error);
    for (size_t i = 0; i < output->n_ranked; i++) {
        struct tap_json *object = tap_json_new_object(error);
        tap_json_set_text(object, "label", output->labels[output->ranking[i].label], error);
        tap_json_set_real(object, "probability", probability_at(output, i), error);
        tap_json_append(list, object, error);
    }
    return list;
}

static char *json_line(const struct prediction_output *output, const struct prediction *prediction,
                       struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    struct tap_json *tokens = tap_json_new_array(error);
    struct tap_json *probabilities = tap_json_new_object(error);
    for (size_t t = 0; t < prediction->n_tokens; t++)
        tap_json_append_integer(tokens, prediction->tokens[t], error);
    for (size_t c = 0; c < output->n_labels; c++)
        tap_json_set_real(probabilities, output->labels[c], output->probabilities[c], error);
    tap_json_set_text_n(object, "text", prediction->bytes, prediction->n_bytes, error);
    tap_json_set(object, "tokens", tokens, error);
    tap_json_set_text(object, "label", label_text(output, label_at(output, 0)), error);
    tap_json_set(object, "logits", real_list(prediction->logits, output->n_labels, error), error);
    tap_json_set(object, "probabilities", probabilities, error);
    if (output->options.top > 0)
        tap_json_set(object, "top", top_list(output, error), error);
    set_vectors(output, prediction, object, error);
    char *text = error->status == TAP_OK ? tap_json_dump(object, TAP_JSON_DIGITS_FLOAT, NULL, error) : NULL;
    tap_json_free(object);
    return text;
}

/* --- writing -------------------------------------------------------------------------------------------------------
 */

static enum tap_status written_or_error(bool written, struct tap_error *error)
{
    return written ? TAP_OK : tap_error_set(error, TAP_ERR_IO, "standard output: %s", strerror(errno));
}

enum tap_status prediction_output_header(struct prediction_output *output, const char *bytes, size_t n_bytes,
                                         struct tap_error *error)
{
    bool written = put_bytes(output, bytes, n_bytes);
    for (size_t i = 0; i < prediction_output_n_columns(output) && written; i++)
        written = fprintf(output->out, "%c%s", output->separator, output->columns[i]) > 0;
    return written_or_error(written && put_text(output, output->line_end), error);
}

enum tap_status prediction_output_write(struct prediction_output *output, const struct prediction *prediction,
                                        struct tap_error *error)
{
    bool written = false;
    rank(output, prediction->logits);
    switch (output->options.format) {
    case FORMAT_LABEL:
        written = write_labels(output);
        break;
    case FORMAT_TSV:
        written = write_tsv(output, prediction);
        break;
    case FORMAT_JSONL: {
        char *text = json_line(output, prediction, error);
        if (text == NULL)
            return error->status;
        written = put_text(output, text) && put_text(output, "\n");
        tap_mem_free(text);
        break;
    }
    case FORMAT_TABLE:
        written =
            output->kind == TAP_RECORD_JSONL ? write_members(output, prediction) : write_fields(output, prediction);
        break;
    }
    return written_or_error(written, error);
}

enum tap_status prediction_output_flush(struct prediction_output *output, struct tap_error *error)
{
    return written_or_error(fflush(output->out) == 0, error);
}
