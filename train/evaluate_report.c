/* evaluate_report.c: ./evaluate's tables; see evaluate_report.h. */
#include "evaluate_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shown_text.h"

/* With more classes the confusion matrix is not shown as a table. */
#define MOST_TABLE_CLASSES 12
#define MOST_CONFUSIONS 12
#define LABEL_COLUMNS 24 /* of the tables' first column; longer labels stay whole there */
#define MOST_LABEL_COLUMNS 200
#define MOST_HEAD_COLUMNS 12 /* of a label over a column */
#define MOST_TEXT_COLUMNS 80

static struct shown_text shown_label(const char *label)
{
    return shown_text(label, strlen(label), MOST_LABEL_COLUMNS);
}

static void print_classes(const struct scores *scores, const char *const *labels)
{
    printf("%-24s %9s %9s %9s %9s\n", "class", "precision", "recall", "F1", "rows");
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct class_scores one = scores_of_class(scores, c);
        struct shown_text label = shown_label(labels[c]);
        print_left(&label, LABEL_COLUMNS);
        printf(" %9.4f %9.4f %9.4f %9" PRIu64 "\n", one.precision, one.recall, one.f1, one.support);
    }
}

/* The columns that the confusion matrix needs for its labels and numbers. */
static int matrix_width(const struct scores *scores, const char *const *labels)
{
    int width = 0;
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct shown_text label = shown_text(labels[c], strlen(labels[c]), MOST_HEAD_COLUMNS);
        width = label.n_columns > width ? label.n_columns : width;
    }
    for (size_t cell = 0; cell < scores->n_classes * scores->n_classes; cell++) {
        int n_digits = snprintf(NULL, 0, "%" PRIu64, scores->confusion[cell]);
        width = n_digits > width ? n_digits : width;
    }
    return width;
}

static void print_matrix(const struct scores *scores, const char *const *labels)
{
    int width = matrix_width(scores, labels);
    printf("\n%-24s", "true \\ predicted");
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct shown_text label = shown_text(labels[c], strlen(labels[c]), MOST_HEAD_COLUMNS);
        putchar(' ');
        print_right(&label, width);
    }
    putchar('\n');
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct shown_text label = shown_label(labels[c]);
        print_left(&label, LABEL_COLUMNS);
        for (size_t other = 0; other < scores->n_classes; other++)
            printf(" %*" PRIu64, width, scores->confusion[c * scores->n_classes + other]);
        putchar('\n');
    }
}

/* Goes from one wrong cell of the matrix to the next one by falling count, equal ones in the order of the matrix; false
 * when there is none. A walk begins with *count at its largest. */
static bool next_confusion(const struct scores *scores, uint64_t *count, size_t *cell)
{
    uint64_t largest = 0;
    size_t at = 0;
    for (size_t i = 0; i < scores->n_classes * scores->n_classes; i++) {
        uint64_t n = scores->confusion[i];
        bool is_wrong = i / scores->n_classes != i % scores->n_classes;
        bool is_later = n < *count || (n == *count && i > *cell);
        if (is_wrong && is_later && n > largest) {
            largest = n;
            at = i;
        }
    }
    *count = largest;
    *cell = at;
    return largest > 0;
}

static void print_confusions(const struct scores *scores, const char *const *labels)
{
    uint64_t count = UINT64_MAX;
    size_t cell = 0;
    for (int i = 0; i < MOST_CONFUSIONS && next_confusion(scores, &count, &cell); i++) {
        struct shown_text label = shown_label(labels[cell / scores->n_classes]);
        struct shown_text predicted = shown_label(labels[cell % scores->n_classes]);
        if (i == 0)
            printf("\nmost frequent confusions, true -> predicted\n");
        printf("%s -> %s  %" PRIu64 "\n", label.text, predicted.text, count);
    }
}

/* The widest label of the listed rows. */
static int wrong_label_width(const struct wrong_rows *wrong, const char *const *labels)
{
    int width = 0;
    for (size_t i = 0; i < wrong->n; i++) {
        struct shown_text label = shown_label(labels[wrong->items[i].label]);
        struct shown_text predicted = shown_label(labels[wrong->items[i].predicted]);
        width = label.n_columns > width ? label.n_columns : width;
        width = predicted.n_columns > width ? predicted.n_columns : width;
    }
    return width;
}

static void print_wrong_row(const struct evaluate_report *report, const struct wrong_row *wrong, int label_width)
{
    size_t n_bytes;
    const char *bytes = tap_rows_text(report->rows->texts.rows, wrong->text, &n_bytes);
    struct shown_text text = shown_text(bytes, n_bytes, MOST_TEXT_COLUMNS);
    struct shown_text label = shown_label(report->labels[wrong->label]);
    struct shown_text predicted = shown_label(report->labels[wrong->predicted]);
    printf("%.4f  ", wrong->probability);
    print_left(&label, label_width);
    fputs("  ", stdout);
    print_left(&predicted, label_width);
    printf("  %s:%" PRIu64 "  %s\n", scored_rows_file(report->rows, wrong->text),
           report->rows->dataset->lines[wrong->row], text.text);
}

static void print_wrong_rows(const struct evaluate_report *report)
{
    const struct wrong_rows *wrong = report->wrong;
    int label_width = wrong_label_width(wrong, report->labels);
    if (wrong->n > 0)
        printf("\nmost confident errors, %zu of %zu: probability, true, predicted, where, text\n", wrong->n,
               wrong->n_all);
    for (size_t i = 0; i < wrong->n; i++)
        print_wrong_row(report, &wrong->items[i], label_width);
}

static void print_compared(const char *name, const struct scores *scores)
{
    struct shown_text shown = shown_label(name);
    print_left(&shown, LABEL_COLUMNS);
    printf(" %8.2f%% %9.4f\n", 100 * scores_accuracy(scores), scores_macro_f1(scores));
}

static void print_baselines(const struct evaluate_report *report)
{
    const struct baselines *baselines = report->baselines;
    printf("\n%-24s %9s %9s\n", "", "accuracy", "macro F1");
    print_compared("model", report->scores);
    print_compared("n-gram baseline", &baselines->ngram);
    print_compared("majority class", &baselines->majority);
}

void evaluate_print_text(const struct evaluate_report *report)
{
    const struct scores *scores = report->scores;
    printf("rows %" PRIu64 "  loss %.4f  accuracy %.2f%%  macro F1 %.4f  weighted F1 %.4f  MCC %.4f\n", scores->n_rows,
           scores_loss(scores), 100 * scores_accuracy(scores), scores_macro_f1(scores), scores_weighted_f1(scores),
           scores_mcc(scores));
    print_classes(scores, report->labels);
    if (scores->n_classes <= MOST_TABLE_CLASSES)
        print_matrix(scores, report->labels);
    else
        print_confusions(scores, report->labels);
    if (report->wrong != NULL)
        print_wrong_rows(report);
    if (report->baselines != NULL)
        print_baselines(report);
}
