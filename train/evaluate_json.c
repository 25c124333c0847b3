/* evaluate_json.c: ./evaluate's line of JSON; see evaluate_report.h. */
#include "evaluate_report.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "mem.h"

static struct tap_json *classes_object(const struct scores *scores, const char *const *labels, struct tap_error *error)
{
    struct tap_json *classes = tap_json_new_object(error);
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct class_scores one = scores_of_class(scores, c);
        struct tap_json *object = tap_json_new_object(error);
        tap_json_set_real(object, "precision", one.precision, error);
        tap_json_set_real(object, "recall", one.recall, error);
        tap_json_set_real(object, "f1", one.f1, error);
        tap_json_set_integer(object, "support", (int64_t)one.support, error);
        tap_json_set(classes, labels[c], object, error);
    }
    return classes;
}

static void set_confusion(struct tap_json *object, const struct scores *scores, const char *const *labels,
                          struct tap_error *error)
{
    struct tap_json *names = tap_json_new_array(error);
    struct tap_json *table = tap_json_new_array(error);
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct tap_json *row = tap_json_new_array(error);
        tap_json_append_text(names, labels[c], error);
        for (size_t other = 0; other < scores->n_classes; other++)
            tap_json_append_integer(row, (int64_t)scores->confusion[c * scores->n_classes + other], error);
        tap_json_append(table, row, error);
    }
    tap_json_set(object, "labels", names, error);
    tap_json_set(object, "confusion", table, error);
}

/* A row of a folder names its file as well. */
static struct tap_json *wrong_list(const struct evaluate_report *report, struct tap_error *error)
{
    struct tap_json *list = tap_json_new_array(error);
    for (size_t i = 0; i < report->wrong->n; i++) {
        const struct wrong_row *wrong = &report->wrong->items[i];
        const char *file = scored_rows_file(report->rows, wrong->text);
        size_t n_bytes;
        const char *text = tap_rows_text(report->rows->texts.rows, wrong->text, &n_bytes);
        struct tap_json *object = tap_json_new_object(error);
        if (strcmp(file, report->rows->source) != 0)
            tap_json_set_text(object, "file", file, error);
        tap_json_set_integer(object, "line", (int64_t)report->rows->dataset->lines[wrong->row], error);
        tap_json_set_text(object, "label", report->labels[wrong->label], error);
        tap_json_set_text(object, "predicted", report->labels[wrong->predicted], error);
        tap_json_set_real(object, "probability", wrong->probability, error);
        tap_json_set_text_n(object, "text", text, n_bytes, error);
        tap_json_append(list, object, error);
    }
    return list;
}

static struct tap_json *baselines_object(const struct baselines *baselines, const char *const *labels,
                                         struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    struct tap_json *majority = tap_json_new_object(error);
    struct tap_json *ngram = tap_json_new_object(error);
    tap_json_set_real(majority, "accuracy", scores_accuracy(&baselines->majority), error);
    tap_json_set_real(majority, "macro_f1", scores_macro_f1(&baselines->majority), error);
    tap_json_set_text(majority, "label", labels[baselines->majority_label], error);
    tap_json_set_real(ngram, "accuracy", scores_accuracy(&baselines->ngram), error);
    tap_json_set_real(ngram, "macro_f1", scores_macro_f1(&baselines->ngram), error);
    tap_json_set_real(ngram, "loss", scores_loss(&baselines->ngram), error);
    tap_json_set(object, "majority", majority, error);
    tap_json_set(object, "ngram", ngram, error);
    return object;
}

enum tap_status evaluate_print_json(const struct evaluate_report *report, struct tap_error *error)
{
    const struct scores *scores = report->scores;
    struct tap_json *object = tap_json_new_object(error);
    tap_json_set_integer(object, "rows", (int64_t)scores->n_rows, error);
    tap_json_set_real(object, "loss", scores_loss(scores), error);
    tap_json_set_real(object, "accuracy", scores_accuracy(scores), error);
    tap_json_set_real(object, "macro_f1", scores_macro_f1(scores), error);
    tap_json_set_real(object, "weighted_f1", scores_weighted_f1(scores), error);
    tap_json_set_real(object, "mcc", scores_mcc(scores), error);
    tap_json_set(object, "classes", classes_object(scores, report->labels, error), error);
    set_confusion(object, scores, report->labels, error);
    if (report->wrong != NULL)
        tap_json_set(object, "errors", wrong_list(report, error), error);
    if (report->baselines != NULL)
        tap_json_set(object, "baselines", baselines_object(report->baselines, report->labels, error), error);
    char *text = error->status == TAP_OK ? tap_json_dump(object, TAP_JSON_DIGITS_DOUBLE, NULL, error) : NULL;
    if (text != NULL)
        puts(text);
    tap_mem_free(text);
    tap_json_free(object);
    return error->status;
}
