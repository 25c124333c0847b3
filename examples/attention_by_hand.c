/* attention_by_hand.c: one attention layer, first from primitive operations, then as the one operation that the encoder
 * uses; both give the same numbers and the same gradients.
 *
 * The course's example: two tokens of width 2, X = [[1,0],[0,1]], one head, Q = K = V = X. By hand:
 *
 *     scores   Q K^T / sqrt(2) = [[0.7071, 0], [0, 0.7071]]
 *     weights  softmax of each row: e^0.7071 / (e^0.7071 + e^0) = 0.6698, and 0.3302
 *     Z        weights V = [[0.6698, 0.3302], [0.3302, 0.6698]]
 *
 * Each token becomes a mixture of all tokens, most of it the one it resembles: itself. */
#include "tapestry.h"

#include <math.h>
#include <stdio.h>

enum { TOKENS = 2, WIDTH = 2 };

static const size_t shape[] = {TOKENS, WIDTH};
static const tap_real x_data[TOKENS * WIDTH] = {1, 0, 0, 1};

static void print_matrix(const char *name, const tap_real *numbers)
{
    printf("%-8s", name);
    for (int row = 0; row < TOKENS; row++)
        printf("  %7.4f %7.4f", (double)numbers[row * WIDTH], (double)numbers[row * WIDTH + 1]);
    printf("\n");
}

/* Three separate leaves, so that each of Q, K and V has a gradient of its own. */
struct leaves {
    struct tap_tensor *q, *k, *v;
};

static struct leaves leaves_new(struct tap_tape *tape)
{
    return (struct leaves){tap_variable(tape, 2, shape, x_data), tap_variable(tape, 2, shape, x_data),
                           tap_variable(tape, 2, shape, x_data)};
}

/* Z = softmax(Q K^T / sqrt(K)) V, one operation for each sign in the formula. */
static struct tap_tensor *by_hand(struct tap_tape *tape, struct leaves in)
{
    struct tap_tensor *products = tap_matmul(tape, in.q, in.k, false, true); /* Q K^T: (T,T), every token with every */
    struct tap_tensor *scores = tap_scale(tape, products, 1 / sqrt(WIDTH)); /* keeps scores of one size for any width */
    struct tap_tensor *weights = tap_softmax(tape, scores);                 /* each row adds up to 1 */
    if (weights != NULL) {
        print_matrix("scores", scores->data);
        print_matrix("weights", weights->data);
    }
    return tap_matmul(tape, weights, in.v, false, false);
}

/* The same as one operation, for any number of heads and of sequences that lie packed one after the other. */
static struct tap_tensor *fused(struct tap_tape *tape, struct leaves in)
{
    static const uint32_t offsets[] = {0, TOKENS}; /* one sequence: tokens 0 and 1 */
    static const struct tap_segments segments = {1, offsets, 0};
    const struct tap_attention_options options = {.heads = 1, .scale_scores = true};
    return tap_attention(tape, in.q, in.k, in.v, &segments, &options);
}

/* A loss that weighs the numbers of Z unevenly: their plain sum would have no gradient in Q and K, because each row of
 * weights adds up to 1 whatever the scores are. */
static enum tap_status backward_from(struct tap_tape *tape, struct tap_tensor *z)
{
    static const tap_real weighing[TOKENS * WIDTH] = {1, 2, 3, 5};
    struct tap_tensor *weighed = tap_mul(tape, z, tap_input(tape, 2, shape, weighing));
    return tap_backward(tape, tap_sum(tape, weighed, TAP_ALL_AXES, false));
}

/* The largest difference of two matrices. */
static double difference(const tap_real *a, const tap_real *b)
{
    double largest = 0;
    for (int i = 0; i < TOKENS * WIDTH; i++)
        largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
    return largest;
}

static void print_gradients(struct leaves in)
{
    print_matrix("dQ", in.q->grad);
    print_matrix("dK", in.k->grad);
    print_matrix("dV", in.v->grad);
}

/* Returns whether all operations worked and both ways agree. */
static bool compare_both(struct tap_tape *tape)
{
    struct leaves hand_in = leaves_new(tape), fused_in = leaves_new(tape);
    printf("from primitive operations:\n");
    struct tap_tensor *z_hand = by_hand(tape, hand_in);
    if (backward_from(tape, z_hand) != TAP_OK)
        return false;
    print_matrix("Z", z_hand->data);
    print_gradients(hand_in);
    printf("as one operation, tap_attention:\n");
    struct tap_tensor *z_fused = fused(tape, fused_in);
    if (backward_from(tape, z_fused) != TAP_OK)
        return false;
    print_matrix("Z", z_fused->data);
    print_gradients(fused_in);
    double worst = difference(z_hand->data, z_fused->data);
    worst = fmax(worst, difference(hand_in.q->grad, fused_in.q->grad));
    worst = fmax(worst, difference(hand_in.k->grad, fused_in.k->grad));
    worst = fmax(worst, difference(hand_in.v->grad, fused_in.v->grad));
    printf("largest difference %.1e\n", worst);
    return worst < 1e-5;
}

int main(void)
{
    struct tap_error error = {0};
    struct tap_tape *tape = tap_tape_new(&error);
    if (tape == NULL) {
        fprintf(stderr, "attention_by_hand: %s\n", error.message);
        return 1;
    }
    bool agree = compare_both(tape);
    if (tap_tape_failed(tape))
        fprintf(stderr, "attention_by_hand: %s\n", tap_tape_error(tape)->message);
    tap_tape_free(tape);
    return agree ? 0 : 1;
}
