/* test_scores.c: figures against values worked out by hand. */
#include "scores.h"

#include <criterion/criterion.h>
#include <math.h>

#include "mem.h"

/* Double sums of a few terms. */
#define TOLERANCE 1e-12
#define EXPECT(value, expected)                                                                                        \
    cr_assert(fabs((value) - (expected)) <= TOLERANCE, "%.17g, not %.17g", (value), (double)(expected))

static struct scores scores;

static void start(size_t n_classes)
{
    struct tap_error error = {0};
    cr_assert_eq(scores_init(&scores, n_classes, &error), TAP_OK);
}

static void clear(void)
{
    scores_clear(&scores);
}

TestSuite(scores, .fini = clear);

/* `n` rows of class `label` taken for `predicted`. */
static void add(uint32_t label, uint32_t predicted, int n, double loss)
{
    for (int i = 0; i < n; i++)
        scores_add(&scores, label, predicted, loss);
}

Test(scores, two_classes_by_hand)
{
    /* true positives 6, false negatives 2, false positives 1, true negatives 3 */
    start(2);
    add(1, 1, 6, 0.5);
    add(1, 0, 2, 1);
    add(0, 1, 1, 2);
    add(0, 0, 3, 0.25);
    cr_assert_eq(scores.n_rows, 12);
    EXPECT(scores_loss(&scores), (3 + 2 + 2 + 0.75) / 12);
    EXPECT(scores_accuracy(&scores), 9.0 / 12);
    struct class_scores one = scores_of_class(&scores, 1);
    EXPECT(one.precision, 6.0 / 7);
    EXPECT(one.recall, 6.0 / 8);
    EXPECT(one.f1, 12.0 / 15);
    cr_assert_eq(one.support, 8);
    struct class_scores zero = scores_of_class(&scores, 0);
    EXPECT(zero.precision, 3.0 / 5);
    EXPECT(zero.recall, 3.0 / 4);
    EXPECT(zero.f1, 6.0 / 9);
    EXPECT(scores_macro_f1(&scores), (12.0 / 15 + 6.0 / 9) / 2);
    EXPECT(scores_weighted_f1(&scores), (8 * 12.0 / 15 + 4 * 6.0 / 9) / 12);
    /* (TP TN - FP FN) / sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN)) */
    EXPECT(scores_mcc(&scores), (6 * 3 - 1 * 2) / sqrt(7.0 * 8 * 4 * 5));
}

Test(scores, three_classes_by_hand)
{
    /* rows 2 1 0 / 0 3 1 / 1 0 2 */
    start(3);
    add(0, 0, 2, 0);
    add(0, 1, 1, 0);
    add(1, 1, 3, 0);
    add(1, 2, 1, 0);
    add(2, 0, 1, 0);
    add(2, 2, 2, 0);
    EXPECT(scores_accuracy(&scores), 0.7);
    EXPECT(scores_macro_f1(&scores), (4.0 / 6 + 6.0 / 8 + 4.0 / 6) / 3);
    EXPECT(scores_weighted_f1(&scores), (3 * 4.0 / 6 + 4 * 6.0 / 8 + 3 * 4.0 / 6) / 10);
    /* true 3 4 3, predicted 3 4 3, right 7: (7*10 - 34) / sqrt((100-34)(100-34)) */
    EXPECT(scores_mcc(&scores), 36.0 / 66);
}

Test(scores, all_right_and_all_wrong)
{
    start(2);
    add(0, 0, 5, 0);
    add(1, 1, 3, 0);
    EXPECT(scores_accuracy(&scores), 1);
    EXPECT(scores_macro_f1(&scores), 1);
    EXPECT(scores_mcc(&scores), 1);
    scores_reset(&scores);
    add(0, 1, 5, 0);
    add(1, 0, 3, 0);
    EXPECT(scores_accuracy(&scores), 0);
    EXPECT(scores_macro_f1(&scores), 0);
    EXPECT(scores_mcc(&scores), -1);
}

Test(scores, one_class_for_everything_has_no_correlation)
{
    start(2);
    add(0, 0, 7, 0);
    add(1, 0, 3, 0);
    EXPECT(scores_mcc(&scores), 0);
    EXPECT(scores_macro_f1(&scores), 14.0 / 17 / 2);
    EXPECT(scores_weighted_f1(&scores), 7 * 14.0 / 17 / 10);
    EXPECT(scores_of_class(&scores, 1).precision, 0);
}

Test(scores, a_class_that_never_occurs_does_not_count)
{
    start(3);
    add(0, 0, 2, 0);
    add(2, 2, 1, 0);
    add(2, 0, 1, 0);
    EXPECT(scores_macro_f1(&scores), (4.0 / 5 + 2.0 / 3) / 2);
    cr_assert_eq(scores_of_class(&scores, 1).support, 0);
    EXPECT(scores_of_class(&scores, 1).f1, 0);
}

Test(scores, a_class_that_is_only_predicted_counts)
{
    start(3);
    add(0, 0, 2, 0);
    add(0, 1, 2, 0);
    add(2, 2, 2, 0);
    EXPECT(scores_macro_f1(&scores), (4.0 / 6 + 0 + 1) / 3);
}

Test(scores, no_rows_give_zeros)
{
    start(2);
    EXPECT(scores_loss(&scores), 0);
    EXPECT(scores_accuracy(&scores), 0);
    EXPECT(scores_macro_f1(&scores), 0);
    EXPECT(scores_weighted_f1(&scores), 0);
    EXPECT(scores_mcc(&scores), 0);
}

Test(scores, many_rows_keep_their_correlation)
{
    start(2);
    const uint64_t table[] = {1000000000, 1000, 2000, 3000000000};
    for (size_t i = 0; i < 4; i++)
        scores.confusion[i] = table[i];
    scores.n_rows = 4000003000;
    /* the two-class formula in long double */
    long double expected =
        (1e9L * 3e9L - 1e3L * 2e3L) / sqrtl(1000001000.0L * 1000002000.0L * 3000001000.0L * 3000002000.0L);
    cr_assert(fabs(scores_mcc(&scores) - (double)expected) < 1e-9);
}

Test(scores, too_many_classes_are_refused)
{
    struct tap_error error = {0};
    struct scores own;
    cr_assert_eq(scores_init(&own, (size_t)1 << 40, &error), TAP_ERR_MEMORY);
    start(2);
}
