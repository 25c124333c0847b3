/* test_op_cross_entropy.c: cases and values of tap_cross_entropy. Values from PyTorch 1.13 in double unless a comment
 * says otherwise. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define IGNORE TAP_IGNORE_LABEL

enum kind { PLAIN, SMOOTHED, WEIGHTED, WITH_DIVISOR, SOME_IGNORED, ALL_IGNORED };

/* Labels run through the classes. */
static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    enum { MOST = 700 };
    static uint32_t labels[MOST];
    static tap_real weights[MOST];
    enum kind kind = *(const enum kind *)extra;
    struct tap_cross_entropy_options options = {0};
    for (size_t i = 0; i < inputs[0]->shape[0]; i++)
        labels[i] = kind == ALL_IGNORED || (kind == SOME_IGNORED && i % 3 == 1)
                        ? IGNORE
                        : (uint32_t)(i * i % inputs[0]->shape[1]);
    for (size_t c = 0; c < inputs[0]->shape[1]; c++)
        weights[c] = (tap_real)(c % 4 == 2 ? 0 : 0.5 + 0.25 * (double)c);
    if (kind != PLAIN)
        options.label_smoothing = 0.1;
    if (kind >= WEIGHTED)
        options.class_weights = weights;
    if (kind == WITH_DIVISOR)
        options.divisor = 3.5;
    return tap_cross_entropy(tape, inputs[0], labels, kind == PLAIN ? NULL : &options);
}

static const enum kind plain = PLAIN, smoothed = SMOOTHED, weighted = WEIGHTED, with_divisor = WITH_DIVISOR,
                       some_ignored = SOME_IGNORED, all_ignored = ALL_IGNORED;
static const struct op_case table[] = {
    {"one number", 1, {{2, {1, 1}, 0, 0}}, build, &smoothed, 0},
    {"one row", 1, {{2, {1, 5}, 0, 0}}, build, &plain, 0},
    {"one class", 1, {{2, {5, 1}, 0, 0}}, build, &weighted, 0},
    {"two classes", 1, {{2, {7, 2}, 0, 0}}, build, &plain, 0},
    {"primes", 1, {{2, {11, 7}, 0, 0}}, build, &plain, 0},
    {"smoothed", 1, {{2, {11, 7}, 0, 0}}, build, &smoothed, 0},
    {"weighted", 1, {{2, {11, 7}, 0, 0}}, build, &weighted, 0},
    {"with a divisor", 1, {{2, {11, 7}, 0, 0}}, build, &with_divisor, 0},
    {"some ignored", 1, {{2, {11, 7}, 0, 0}}, build, &some_ignored, 0},
    {"all ignored", 1, {{2, {11, 7}, 0, 0}}, build, &all_ignored, 0},
    {"constant", 1, {{2, {11, 7}, 0, 1}}, build, &plain, 0},
    {"empty", 1, {{2, {0, 7}, 0, 0}}, build, &smoothed, 0},
    {"many classes", 1, {{2, {3, 700}, 0, 0}}, build, &smoothed, 0},
    {"many rows", 1, {{2, {601, 11}, 0, 0}}, build, &some_ignored, 2e-7},
};
OP_CASES(tap_cross_entropy, table);

/* Loss and gradient of one call; logits (n, classes). */
struct result {
    double loss;
    tap_real *gradient;
    tap_real rows[8];
};

static struct result run(struct tap_tape *tape, size_t n, size_t classes, const tap_real *logits,
                         const uint32_t *labels, struct tap_cross_entropy_options options)
{
    struct result result = {0};
    const size_t shape[] = {n, classes};
    struct tap_tensor *x = tap_variable(tape, 2, shape, logits);
    options.out_row_losses = result.rows;
    struct tap_tensor *y = tap_cross_entropy(tape, x, labels, &options);
    cr_assert_not_null(y, "%s", tap_tape_error(tape)->message);
    cr_assert_eq(y->n_dims, 0);
    cr_assert_eq(tap_backward(tape, y), TAP_OK);
    result.loss = (double)y->data[0];
    result.gradient = x->grad;
    return result;
}

static void assert_numbers(const tap_real *numbers, const double *right, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        cr_assert(fabs((double)numbers[i] - right[i]) <= tolerance, "number %zu is %.12g, not %.12g", i,
                  (double)numbers[i], right[i]);
}

static const double close = 4 * TAP_REAL_EPSILON + 1e-11;
static const tap_real three_rows[] = {2, 0, 0, 0, 3, 1, 5, 5, 5};

Test(op_cross_entropy, values_and_gradients_are_those_of_pytorch_and_an_ignored_row_counts_nowhere)
{
    struct tap_tape *tape = test_tape();
    const uint32_t labels[] = {0, 1, IGNORE};
    struct result r = run(tape, 3, 3, three_rows, labels, (struct tap_cross_entropy_options){.label_smoothing = 0.2});
    cr_assert_float_eq(r.loss, 0.504695392889, close); /* 0.614557 when smoothing counts the ignored row */
    assert_numbers(r.gradient,
                   (const double[]){-0.0398403122525, 0.0199201561263, 0.0199201561263, -0.0123283002663,
                                    -0.0114359660927, 0.023764266359},
                   6, close);
    assert_numbers(r.gradient + 6, (const double[]){0, 0, 0}, 3, 0);
    cr_assert_eq(r.rows[2], 0);
    cr_assert_float_eq((double)r.rows[0] + (double)r.rows[1], 1.009390785778, 2 * close);
    r = run(tape, 3, 3, three_rows, labels, (struct tap_cross_entropy_options){0});
    cr_assert_float_eq(r.loss, 0.204695392889, close);
    assert_numbers(r.gradient,
                   (const double[]){-0.106506978919, 0.0532534894596, 0.0532534894596, 0.021005033067, -0.0781026327593,
                                    0.0570975996923},
                   6, close);
    assert_numbers(r.gradient + 6, (const double[]){0, 0, 0}, 3, 0);
    tap_tape_free(tape);
}

Test(op_cross_entropy, class_weights_mean_what_they_mean_in_pytorch)
{
    struct tap_tape *tape = test_tape();
    const uint32_t labels[] = {0, 1, 2};
    const tap_real weights[] = {(tap_real)0.2, 1.5, 3};
    struct result r = run(tape, 3, 3, three_rows, labels,
                          (struct tap_cross_entropy_options){.label_smoothing = 0.1, .class_weights = weights});
    cr_assert_float_eq(r.loss, 0.849982378451, close);
    assert_numbers(r.gradient,
                   (const double[]){0.0166564469917, -0.00300907455969, -0.013647372432, 0.0120486169451,
                                    -0.027379276606, 0.0153306596609, 0.201182033097, 0.191962174941, -0.393144208038},
                   9, close);
    assert_numbers(r.rows, (const double[]){0.380646737961, 0.475901336131, 3.13836910463}, 3, 4 * close);
    tap_tape_free(tape);
}

Test(op_cross_entropy, weights_ten_times_as_large_change_nothing)
{
    struct tap_tape *tape = test_tape();
    const tap_real logits[] = {3, (tap_real)0.4}, small[] = {(tap_real)0.2, (tap_real)0.3}, large[] = {2, 3};
    const uint32_t label = 1;
    struct tap_cross_entropy_options options = {.label_smoothing = 0.1, .class_weights = small};
    struct result a = run(tape, 1, 2, logits, &label, options);
    options.class_weights = large;
    struct result b = run(tape, 1, 2, logits, &label, options);
    cr_assert_float_eq(a.loss, 2.54045061377, 4 * close);
    cr_assert_float_eq(b.loss, 2.54045061377, 4 * close);
    tap_tape_free(tape);
}

Test(op_cross_entropy, large_logits_overflow_nothing)
{
    struct tap_tape *tape = test_tape();
    const tap_real logits[] = {1e4, -1e4, 0, 1e4, 9999, 1e4};
    const uint32_t labels[] = {1, 1};
    struct result r = run(tape, 2, 3, logits, labels, (struct tap_cross_entropy_options){0});
    cr_assert_float_eq(r.loss, 10000.9309974, 10000 * TAP_REAL_EPSILON + 1e-7);
    assert_numbers(r.gradient, (const double[]){0.5, -0.5, 0, 0.211159399126, -0.422318798252, 0.211159399126}, 6,
                   close);
    const tap_real huge[] = {(tap_real)1e30, (tap_real)-1e30};
    r = run(tape, 1, 2, huge, (const uint32_t[]){1}, (struct tap_cross_entropy_options){0});
    cr_assert_float_eq(r.loss / 2e30, 1, 1e-6); /* by hand */
    assert_numbers(r.gradient, (const double[]){1, -1}, 2, 0);
    tap_tape_free(tape);
}

Test(op_cross_entropy, a_tiny_loss_and_its_gradient_keep_their_digits)
{
    struct tap_tape *tape = test_tape();
    const tap_real logits[] = {30, 0};
    const uint32_t label = 0;
    struct result r = run(tape, 1, 2, logits, &label, (struct tap_cross_entropy_options){0});
    /* log1p(exp(-30)) and exp(-30) / (1 + exp(-30)); 1 - p in float would give 0 */
    cr_assert_float_eq(r.loss / 9.357622968839737e-14, 1, 1e-6);
    cr_assert_float_eq((double)r.gradient[0] / -9.3576229688393e-14, 1, 1e-6);
    cr_assert_float_eq((double)r.gradient[1] / 9.3576229688393e-14, 1, 1e-6);
    tap_tape_free(tape);
}

Test(op_cross_entropy, one_class_has_no_loss_and_exactly_no_gradient)
{
    struct tap_tape *tape = test_tape();
    const tap_real logits[] = {7, (tap_real)-1e30}, weight = 3;
    const uint32_t labels[] = {0, 0};
    struct result r = run(tape, 2, 1, logits, labels,
                          (struct tap_cross_entropy_options){.label_smoothing = 0.3, .class_weights = &weight});
    cr_assert_eq(r.loss, 0);
    assert_numbers(r.gradient, (const double[]){0, 0}, 2, 0);
    tap_tape_free(tape);
}

Test(op_cross_entropy, without_a_row_that_counts_loss_and_gradient_are_zero)
{
    struct tap_tape *tape = test_tape();
    const uint32_t ignored[] = {IGNORE, IGNORE, IGNORE}, zeros[] = {0, 0, 0};
    const tap_real bad[] = {NAN, INFINITY, -INFINITY, 1, 2, 3, 4, 5, 6}, weights[] = {0, 1, 1};
    const double none[9] = {0};
    struct tap_cross_entropy_options options = {.label_smoothing = 0.1};
    struct result r = run(tape, 3, 3, bad, ignored, options);
    cr_assert_eq(r.loss, 0);
    assert_numbers(r.gradient, none, 9, 0);
    options.divisor = 4;
    r = run(tape, 3, 3, bad, ignored, options);
    cr_assert_eq(r.loss, 0);
    assert_numbers(r.gradient, none, 9, 0);
    r = run(tape, 0, 3, NULL, NULL, (struct tap_cross_entropy_options){0});
    cr_assert_eq(r.loss, 0);
    /* every label weighs nothing */
    r = run(tape, 3, 3, three_rows, zeros, (struct tap_cross_entropy_options){.class_weights = weights});
    cr_assert_eq(r.loss, 0);
    assert_numbers(r.gradient, none, 9, 0);
    tap_tape_free(tape);
}

Test(op_cross_entropy, micro_batches_with_the_divisor_of_the_whole_add_up_to_it)
{
    struct tap_tape *tape = test_tape();
    enum { N = 8, C = 5 };
    tap_real logits[N * C];
    const uint32_t labels[N] = {0, 4, 2, IGNORE, 1, 1, 3, 0};
    const tap_real weights[C] = {1, 2, (tap_real)0.5, 3, 1};
    fill_values(logits, N * C, OP_FILL_NORMAL, 3);
    struct tap_cross_entropy_options options = {.label_smoothing = 0.1, .class_weights = weights};
    struct result whole = run(tape, N, C, logits, labels, options);
    options.divisor = 1 + 1 + 0.5 + 2 + 2 + 3 + 1;
    struct result first = run(tape, 3, C, logits, labels, options);
    struct result second = run(tape, N - 3, C, logits + 3 * C, labels + 3, options);
    cr_assert_float_eq(first.loss + second.loss, whole.loss, 2 * close);
    for (size_t i = 0; i < N * C; i++)
        cr_assert_float_eq((double)(i < 3 * C ? first.gradient[i] : second.gradient[i - 3 * C]),
                           (double)whole.gradient[i], close);
    tap_tape_free(tape);
}

Test(op_cross_entropy, a_loss_of_many_rows_keeps_its_digits)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {300000, 2};
    static uint32_t labels[300000];
    struct tap_tensor *y = tap_cross_entropy(tape, tap_input_copy(tape, 2, shape, NULL), labels, NULL);
    const double right = 0.69314718055994531; /* log 2 */
    assert_values(y, &right, 1, 2 * TAP_REAL_EPSILON + 1e-12);
    tap_tape_free(tape);
}

Test(op_cross_entropy, a_nan_logit_shows_in_the_loss)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {1, 3};
    const uint32_t label = 1;
    for (int i = 0; i < 3; i++) {
        tap_real logits[] = {1, 2, 3};
        logits[i] = NAN;
        struct tap_tensor *y = tap_cross_entropy(tape, tap_input_copy(tape, 2, shape, logits), &label, NULL);
        cr_assert(isnan(y->data[0]), "NaN at %d", i);
    }
    tap_tape_free(tape);
}

Test(op_cross_entropy, a_class_that_is_out_of_the_question_has_no_gradient)
{
    struct tap_tape *tape = test_tape();
    const tap_real logits[] = {0, -INFINITY, 0};
    const uint32_t label = 0;
    struct result r = run(tape, 1, 3, logits, &label, (struct tap_cross_entropy_options){0});
    cr_assert_float_eq(r.loss, 0.69314718055994531, close);
    assert_numbers(r.gradient, (const double[]){-0.5, 0, 0.5}, 3, close);
    tap_tape_free(tape);
}

/* Clears the error and checks what it was. */
static void assert_refused(struct tap_tape *tape, const struct tap_tensor *y, enum tap_status status,
                           const char *message)
{
    cr_assert_null(y);
    cr_assert_eq(tap_tape_error(tape)->status, status);
    cr_assert_str_eq(tap_tape_error(tape)->message, message);
    tap_tape_clear_error(tape);
}

Test(op_cross_entropy, labels_and_options_out_of_range_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3}, no_class[] = {2, 0}, vector[] = {2};
    const uint32_t good[] = {0, 2}, bad[] = {0, 3};
    const tap_real negative[] = {1, -1, 1}, infinite[] = {1, 1, INFINITY};
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    assert_refused(tape, tap_cross_entropy(tape, x, bad, NULL), TAP_ERR_VALUE,
                   "tap_cross_entropy: label 3 of row 1; only numbers below 3 are accepted");
    assert_refused(tape, tap_cross_entropy(tape, x, NULL, NULL), TAP_ERR_VALUE, "tap_cross_entropy: labels are NULL");
    assert_refused(tape, tap_cross_entropy(tape, tap_input_copy(tape, 2, no_class, NULL), good, NULL), TAP_ERR_SHAPE,
                   "tap_cross_entropy: logits have shape (2, 0); (N, C) with at least one class is needed");
    assert_refused(tape, tap_cross_entropy(tape, tap_input_copy(tape, 1, vector, NULL), good, NULL), TAP_ERR_SHAPE,
                   "tap_cross_entropy: logits have shape (2); (N, C) with at least one class is needed");
    const struct tap_cross_entropy_options refused[] = {
        {.label_smoothing = 1}, {.label_smoothing = -0.1}, {.label_smoothing = NAN},    {.divisor = -1},
        {.divisor = INFINITY},  {.divisor = NAN},          {.class_weights = negative}, {.class_weights = infinite},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        cr_assert_null(tap_cross_entropy(tape, x, good, &refused[i]), "options %zu", i);
        cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_VALUE);
        tap_tape_clear_error(tape);
    }
    assert_refused(tape, tap_cross_entropy(tape, x, good, &refused[6]), TAP_ERR_VALUE,
                   "tap_cross_entropy: the weight of class 1 is -1; finite numbers of at least 0 are accepted");
    tap_tape_free(tape);
}

Test(op_cross_entropy, planning_needs_no_labels)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {2, 3};
    tap_tape_set_planning(tape, true);
    struct tap_tensor *y = tap_cross_entropy(tape, tap_variable(tape, 2, shape, NULL), NULL, NULL);
    cr_assert_not_null(y);
    cr_assert_eq(tap_backward(tape, y), TAP_OK);
    tap_tape_free(tape);
}
