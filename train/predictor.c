/* predictor.c: see predictor.h. Lines wait until a batch is full (or the caller flushes); a line's numbers have the
 * same bits in any batch, so the size of a batch is a matter of speed alone. */
#include "predictor.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "evaluation.h"
#include "json.h"
#include "mem.h"
#include "tokenizer.h"

#define BATCH_LINES 64
#define BATCH_TOKENS 4096

struct predictor {
    const struct trained *trained;
    enum prediction_format format;
    enum prediction_vectors vectors;
    FILE *out;
    struct tap_tape *tape;
    struct tap_token_buffer tokens;
    struct tap_ngram_batch ngrams;
    uint32_t offsets[BATCH_LINES + 1]; /* of the waiting lines in `tokens` */
    uint32_t n_lines;
    char *texts; /* the waiting lines, one after the other */
    size_t text_starts[BATCH_LINES + 1];
    size_t texts_capacity;
    double *probabilities; /* C */
};

struct predictor *predictor_new(const struct trained *trained, enum prediction_format format,
                                enum prediction_vectors vectors, FILE *out, struct tap_error *error)
{
    struct predictor *predictor = tap_mem_new(1, sizeof *predictor);
    if (predictor == NULL) {
        tap_error_memory(error, "a predictor");
        return NULL;
    }
    predictor->trained = trained;
    predictor->format = format;
    predictor->vectors = vectors;
    predictor->out = out;
    predictor->tape = tap_tape_new(error);
    predictor->probabilities = tap_mem_new(trained->model->options.classes, sizeof *predictor->probabilities);
    if (predictor->tape == NULL || predictor->probabilities == NULL) {
        tap_error_memory(error, "a predictor");
        predictor_free(predictor);
        return NULL;
    }
    tap_tape_set_gradients(predictor->tape, false);
    return predictor;
}

void predictor_free(struct predictor *predictor)
{
    if (predictor == NULL)
        return;
    tap_tape_free(predictor->tape);
    tap_token_buffer_clear(&predictor->tokens);
    tap_ngram_batch_clear(&predictor->ngrams);
    tap_mem_free(predictor->texts);
    tap_mem_free(predictor->probabilities);
    tap_mem_free(predictor);
}

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

static struct tap_json *real_list(const tap_real *numbers, size_t n, struct tap_error *error)
{
    struct tap_json *list = tap_json_new_array(error);
    for (size_t i = 0; i < n; i++)
        tap_json_append_real(list, (double)numbers[i], error);
    return list;
}

/* The encoder's output of one line: its vector, or one for each token. */
static void set_vectors(const struct predictor *predictor, struct tap_json *object, uint32_t line,
                        const struct tap_tensor *encoded, const struct tap_tensor *pooled, struct tap_error *error)
{
    size_t width = predictor->trained->model->options.embedding.d_model;
    size_t pooled_width = tap_model_pooled_width(&predictor->trained->model->options);
    if (predictor->vectors == VECTORS_SEQUENCE)
        tap_json_set(object, "vector", real_list(pooled->data + line * pooled_width, pooled_width, error), error);
    if (predictor->vectors != VECTORS_TOKEN)
        return;
    struct tap_json *rows = tap_json_new_array(error);
    for (uint32_t t = predictor->offsets[line]; t < predictor->offsets[line + 1]; t++)
        tap_json_append(rows, real_list(encoded->data + t * width, width, error), error);
    tap_json_set(object, "vectors", rows, error);
}

static char *json_line(const struct predictor *predictor, uint32_t line, const tap_real *logits, uint32_t best,
                       const struct tap_tensor *encoded, const struct tap_tensor *pooled, struct tap_error *error)
{
    const char *const *labels = predictor->trained->checkpoint->label_names;
    size_t n_classes = predictor->trained->model->options.classes;
    struct tap_json *object = tap_json_new_object(error);
    struct tap_json *tokens = tap_json_new_array(error);
    struct tap_json *probabilities = tap_json_new_object(error);
    for (uint32_t t = predictor->offsets[line]; t < predictor->offsets[line + 1]; t++)
        tap_json_append_integer(tokens, predictor->tokens.ids[t], error);
    for (size_t c = 0; c < n_classes; c++)
        tap_json_set_real(probabilities, labels[c], predictor->probabilities[c], error);
    tap_json_set_text_n(object, "text", predictor->texts + predictor->text_starts[line],
                        predictor->text_starts[line + 1] - predictor->text_starts[line], error);
    tap_json_set(object, "tokens", tokens, error);
    tap_json_set_text(object, "label", labels[best], error);
    tap_json_set(object, "logits", real_list(logits, n_classes, error), error);
    tap_json_set(object, "probabilities", probabilities, error);
    set_vectors(predictor, object, line, encoded, pooled, error);
    char *text = error->status == TAP_OK ? tap_json_dump(object, TAP_JSON_DIGITS_FLOAT, NULL, error) : NULL;
    tap_json_free(object);
    return text;
}

/* Writes the result of one line of the batch. */
static enum tap_status write_line(const struct predictor *predictor, uint32_t line, const tap_real *logits,
                                  const struct tap_tensor *encoded, const struct tap_tensor *pooled,
                                  struct tap_error *error)
{
    size_t n_classes = predictor->trained->model->options.classes;
    uint32_t best = largest_class(logits, n_classes);
    const char *label = predictor->trained->checkpoint->label_names[best];
    bool written = false;
    softmax(logits, n_classes, predictor->probabilities);
    if (predictor->format == FORMAT_LABEL) {
        written = fprintf(predictor->out, "%s\n", label) > 0;
    } else if (predictor->format == FORMAT_TSV) {
        size_t n_bytes = predictor->text_starts[line + 1] - predictor->text_starts[line];
        written = fprintf(predictor->out, "%s\t%.9g\t", label, predictor->probabilities[best]) > 0 &&
                  fwrite(predictor->texts + predictor->text_starts[line], 1, n_bytes, predictor->out) == n_bytes &&
                  fputc('\n', predictor->out) != EOF;
    } else {
        char *text = json_line(predictor, line, logits, best, encoded, pooled, error);
        if (text == NULL)
            return error->status;
        written = fprintf(predictor->out, "%s\n", text) > 0;
        tap_mem_free(text);
    }
    return written ? TAP_OK : tap_error_set(error, TAP_ERR_IO, "standard output: %s", strerror(errno));
}

/* Runs the model on the waiting lines. */
static enum tap_status run_batch(struct predictor *predictor, struct tap_error *error)
{
    struct tap_model *model = predictor->trained->model;
    struct tap_tape *tape = predictor->tape;
    struct tap_segments segments = {predictor->n_lines, predictor->offsets, 0};
    struct tap_context context = {.tape = tape, .segments = &segments};
    if (predictor->n_lines == 0)
        return TAP_OK;
    context.ngrams = tap_token_buffer_ngrams(predictor->trained->checkpoint->tokenizer, &predictor->tokens,
                                             &predictor->ngrams, error);
    if (error->status != TAP_OK)
        return error->status;
    tap_tape_reset(tape);
    struct tap_tensor *encoded = tap_model_encode(model, &context, predictor->tokens.ids);
    struct tap_tensor *pooled = tap_model_pool(model, &context, encoded);
    struct tap_tensor *logits = tap_model_classify(model, &context, pooled);
    if (tap_tape_failed(tape))
        return tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
    for (uint32_t line = 0; line < predictor->n_lines && error->status == TAP_OK; line++)
        write_line(predictor, line, logits->data + line * model->options.classes, encoded, pooled, error);
    predictor->n_lines = 0;
    tap_token_buffer_empty(&predictor->tokens);
    return error->status;
}

enum tap_status predictor_add(struct predictor *predictor, const char *text, size_t n_bytes, struct tap_error *error)
{
    uint32_t line = predictor->n_lines;
    size_t start = line == 0 ? 0 : predictor->text_starts[line];
    if (!tap_mem_reserve(&predictor->texts, &predictor->texts_capacity, start + n_bytes + 1, 1))
        return tap_error_memory(error, "a line");
    memcpy(predictor->texts + start, text, n_bytes);
    if (tap_tokenizer_encode(predictor->trained->checkpoint->tokenizer, text, n_bytes, &predictor->tokens, NULL,
                             error) != TAP_OK)
        return error->status;
    predictor->text_starts[line] = start;
    predictor->text_starts[line + 1] = start + n_bytes;
    predictor->offsets[line + 1] = (uint32_t)predictor->tokens.n;
    predictor->n_lines++;
    if (predictor->n_lines == BATCH_LINES || predictor->tokens.n >= BATCH_TOKENS)
        return run_batch(predictor, error);
    return TAP_OK;
}

enum tap_status predictor_flush(struct predictor *predictor, struct tap_error *error)
{
    if (run_batch(predictor, error) == TAP_OK && fflush(predictor->out) != 0)
        tap_error_set(error, TAP_ERR_IO, "standard output: %s", strerror(errno));
    return error->status;
}
