/* scores.c: see scores.h. */
#include "scores.h"

#include <math.h>
#include <string.h>

#include "mem.h"

enum tap_status scores_init(struct scores *scores, size_t n_classes, struct tap_error *error)
{
    size_t n_cells;
    *scores = (struct scores){.n_classes = n_classes};
    if (tap_size_mul(n_classes, n_classes, &n_cells))
        scores->confusion = tap_mem_new(n_cells, sizeof *scores->confusion);
    return scores->confusion == NULL ? tap_error_memory(error, "a confusion table") : TAP_OK;
}

void scores_clear(struct scores *scores)
{
    tap_mem_free(scores->confusion);
    *scores = (struct scores){0};
}

void scores_reset(struct scores *scores)
{
    memset(scores->confusion, 0, scores->n_classes * scores->n_classes * sizeof *scores->confusion);
    scores->n_rows = 0;
    scores->loss_sum = 0;
}

void scores_add(struct scores *scores, uint32_t label, uint32_t predicted, double loss)
{
    scores->confusion[label * scores->n_classes + predicted]++;
    scores->n_rows++;
    scores->loss_sum += loss;
}

static uint64_t n_true(const struct scores *scores, size_t c)
{
    uint64_t n = 0;
    for (size_t other = 0; other < scores->n_classes; other++)
        n += scores->confusion[c * scores->n_classes + other];
    return n;
}

static uint64_t n_predicted(const struct scores *scores, size_t c)
{
    uint64_t n = 0;
    for (size_t other = 0; other < scores->n_classes; other++)
        n += scores->confusion[other * scores->n_classes + c];
    return n;
}

static uint64_t n_right(const struct scores *scores)
{
    uint64_t n = 0;
    for (size_t c = 0; c < scores->n_classes; c++)
        n += scores->confusion[c * scores->n_classes + c];
    return n;
}

static double ratio(double part, double whole)
{
    return whole == 0 ? 0 : part / whole;
}

double scores_loss(const struct scores *scores)
{
    return ratio(scores->loss_sum, (double)scores->n_rows);
}

double scores_accuracy(const struct scores *scores)
{
    return ratio((double)n_right(scores), (double)scores->n_rows);
}

struct class_scores scores_of_class(const struct scores *scores, size_t c)
{
    double right = (double)scores->confusion[c * scores->n_classes + c];
    struct class_scores result = {.support = n_true(scores, c)};
    result.precision = ratio(right, (double)n_predicted(scores, c));
    result.recall = ratio(right, (double)result.support);
    result.f1 = ratio(2 * right, (double)result.support + (double)n_predicted(scores, c));
    return result;
}

double scores_macro_f1(const struct scores *scores)
{
    double sum = 0;
    double n = 0;
    for (size_t c = 0; c < scores->n_classes; c++)
        if (n_true(scores, c) + n_predicted(scores, c) > 0) {
            sum += scores_of_class(scores, c).f1;
            n += 1;
        }
    return ratio(sum, n);
}

double scores_weighted_f1(const struct scores *scores)
{
    double sum = 0;
    for (size_t c = 0; c < scores->n_classes; c++)
        sum += scores_of_class(scores, c).f1 * (double)n_true(scores, c);
    return ratio(sum, (double)scores->n_rows);
}

double scores_mcc(const struct scores *scores)
{
    double rows = (double)scores->n_rows;
    double product = 0;
    double true_squares = 0;
    double predicted_squares = 0;
    for (size_t c = 0; c < scores->n_classes; c++) {
        double t = (double)n_true(scores, c);
        double p = (double)n_predicted(scores, c);
        product += t * p;
        true_squares += t * t;
        predicted_squares += p * p;
    }
    double margins = (rows * rows - predicted_squares) * (rows * rows - true_squares);
    return margins <= 0 ? 0 : ((double)n_right(scores) * rows - product) / sqrt(margins);
}
