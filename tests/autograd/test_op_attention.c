/* test_op_attention.c: cases and values of tap_attention and tap_attention_packed. The judge is the same function made
 * of primitive operations (slice, matmul, scale, softmax, concat), forward and backward. Masks over padding cannot
 * exist here: a batch is packed, and every token sees at least itself. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parallel.h"

struct extra {
    const struct tap_segments *segments;
    struct tap_attention_options options;
};

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    return tap_attention(tape, inputs[0], inputs[1], inputs[2], e->segments, &e->options);
}

static struct tap_tensor *build_same(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    return tap_attention(tape, inputs[0], inputs[0], inputs[0], e->segments, &e->options);
}

static struct tap_tensor *build_biased(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    struct tap_attention_options options = e->options;
    options.bias = inputs[3];
    return tap_attention(tape, inputs[0], inputs[1], inputs[2], e->segments, &options);
}

static struct tap_tensor *build_packed_biased(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    struct tap_attention_options options = e->options;
    options.bias = inputs[1];
    return tap_attention_packed(tape, inputs[0], e->segments, &options);
}

static struct tap_tensor *build_packed(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct extra *e = extra;
    return tap_attention_packed(tape, inputs[0], e->segments, &e->options);
}

static const uint32_t one_token_offsets[] = {0, 1}, five_offsets[] = {0, 5}, seven_offsets[] = {0, 7},
                      unequal_offsets[] = {0, 5, 5, 6, 11, 13}, none_offsets[] = {0}, empty_offsets[] = {0, 0, 0},
                      block_offsets[] = {0, 30}, long_offsets[] = {0, 67}, longer_offsets[] = {0, 31, 98, 99},
                      many_offsets[] = {0, 40, 40, 73, 134, 135, 165};
static const struct tap_segments one_token = {1, one_token_offsets, 0}, five = {1, five_offsets, 0},
                                 seven = {1, seven_offsets, 0}, unequal = {5, unequal_offsets, 2},
                                 none = {0, none_offsets, 0}, empty = {2, empty_offsets, 0}, block = {1, block_offsets, 0},
                                 long_one = {1, long_offsets, 0}, longer = {3, longer_offsets, 0},
                                 many = {6, many_offsets, 0};

#define KEY {{20170612, 5}}
static const struct extra one_token_1 = {&one_token, {1, false, true, 0, KEY, NULL, NULL}},
                          one_token_3 = {&one_token, {3, false, true, 0, KEY, NULL, NULL}},
                          five_1 = {&five, {1, false, true, 0, KEY, NULL, NULL}}, seven_7 = {&seven, {7, false, true, 0, KEY, NULL, NULL}},
                          seven_causal = {&seven, {1, true, true, 0, KEY, NULL, NULL}},
                          unequal_2 = {&unequal, {2, false, true, 0, KEY, NULL, NULL}},
                          unequal_causal = {&unequal, {3, true, true, 0, KEY, NULL, NULL}},
                          unscaled = {&unequal, {2, false, false, 0, KEY, NULL, NULL}},
                          dropped = {&unequal, {2, false, true, 0.3, KEY, NULL, NULL}},
                          dropped_causal = {&unequal, {2, true, false, 0.5, KEY, NULL, NULL}},
                          none_2 = {&none, {2, false, true, 0, KEY, NULL, NULL}}, empty_2 = {&empty, {2, true, true, 0.1, KEY, NULL, NULL}},
                          block_2 = {&block, {2, false, true, 0, KEY, NULL, NULL}}, long_1 = {&long_one, {1, false, true, 0, KEY, NULL, NULL}},
                          long_causal = {&long_one, {2, true, true, 0.2, KEY, NULL, NULL}},
                          longer_1 = {&longer, {1, true, true, 0, KEY, NULL, NULL}}, many_4 = {&many, {4, false, true, 0, KEY, NULL, NULL}},
                          many_dropped = {&many, {4, true, true, 0.1, KEY, NULL, NULL}};

#define QKV(n, columns) {{2, {n, columns}, 0, 0}, {2, {n, columns}, 0, 0}, {2, {n, columns}, 0, 0}}
static const struct op_case cases[] = {
    {"one number", 3, QKV(1, 1), build, &one_token_1, 0},
    {"one token", 3, QKV(1, 6), build, &one_token_3, 0},
    {"one head", 3, QKV(5, 3), build, &five_1, 0},
    {"as many heads as columns", 3, QKV(7, 7), build, &seven_7, 0},
    {"one column", 3, QKV(7, 1), build, &seven_causal, 0},
    {"primes", 3, QKV(7, 13), build, &seven_causal, 0},
    {"unequal sequences", 3, QKV(13, 10), build, &unequal_2, 0},
    {"unequal sequences, causal", 3, QKV(13, 15), build, &unequal_causal, 0},
    {"scaling off", 3, QKV(13, 6), build, &unscaled, 0},
    {"dropout", 3, QKV(13, 6), build, &dropped, 0},
    {"dropout, causal, scaling off", 3, QKV(13, 6), build, &dropped_causal, 0},
    {"one tensor for all three", 1, {{2, {13, 6}, 0, 0}}, build_same, &unequal_2, 0},
    {"one tensor for all three, dropout", 1, {{2, {13, 6}, 0, 0}}, build_same, &dropped_causal, 0},
    {"constant q", 3, {{2, {13, 6}, 0, 1}, {2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}}, build, &unequal_2, 0},
    {"constant k", 3, {{2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 1}, {2, {13, 6}, 0, 0}}, build, &dropped, 0},
    {"constant v", 3, {{2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 1}}, build, &unequal_causal, 0},
    {"bias of each head", 4, {{2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}, {3, {2, 5, 5}, 0, 0}}, build_biased, &unequal_2, 0},
    {"one bias for all heads, larger than needed", 4, {{2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}, {3, {1, 8, 8}, 0, 0}}, build_biased, &dropped, 0},
    {"constant bias, causal", 4, {{2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}, {2, {13, 6}, 0, 0}, {3, {1, 5, 5}, 0, 1}}, build_biased, &unequal_causal, 0},
    {"bias alone wants a gradient", 4, {{2, {13, 6}, 0, 1}, {2, {13, 6}, 0, 1}, {2, {13, 6}, 0, 1}, {3, {2, 5, 5}, 0, 0}}, build_biased, &unequal_2, 0},
    {"bias over several blocks", 4, {{2, {67, 4}, 0, 0}, {2, {67, 4}, 0, 0}, {2, {67, 4}, 0, 0}, {3, {2, 67, 67}, 0, 0}}, build_biased, &long_causal, 0},
    {"all constant", 3, {{2, {13, 6}, 0, 1}, {2, {13, 6}, 0, 1}, {2, {13, 6}, 0, 1}}, build, &unequal_2, 0},
    {"no sequence", 3, QKV(0, 6), build, &none_2, 0},
    {"empty sequences", 3, QKV(0, 6), build, &empty_2, 0},
    {"a whole block of queries", 3, QKV(30, 10), build, &block_2, 0},
    {"several blocks of queries", 3, QKV(67, 3), build, &long_1, 0},
    {"several blocks, causal, dropout", 3, QKV(67, 34), build, &long_causal, 0},
    {"a block and one", 3, QKV(99, 17), build, &longer_1, 0},
    {"several threads, dropout", 3, QKV(165, 68), build, &many_dropped, 0},
    {"several threads", 3, QKV(165, 64), build, &many_4, 0},
};
OP_CASES(tap_attention, cases);

#define PACKED(n, columns) {{2, {n, 3 * (columns)}, 0, 0}}
static const struct op_case packed_cases[] = {
    {"bias", 2, {{2, {13, 18}, 0, 0}, {3, {2, 5, 5}, 0, 0}}, build_packed_biased, &unequal_2, 0},
    {"one number each", 1, PACKED(1, 1), build_packed, &one_token_1, 0},
    {"one token", 1, PACKED(1, 6), build_packed, &one_token_3, 0},
    {"one head", 1, PACKED(5, 3), build_packed, &five_1, 0},
    {"as many heads as columns", 1, PACKED(7, 7), build_packed, &seven_7, 0},
    {"one column", 1, PACKED(7, 1), build_packed, &seven_causal, 0},
    {"primes", 1, PACKED(7, 13), build_packed, &seven_causal, 0},
    {"unequal sequences", 1, PACKED(13, 10), build_packed, &unequal_2, 0},
    {"unequal sequences, causal", 1, PACKED(13, 15), build_packed, &unequal_causal, 0},
    {"scaling off", 1, PACKED(13, 6), build_packed, &unscaled, 0},
    {"dropout", 1, PACKED(13, 6), build_packed, &dropped, 0},
    {"dropout, causal, scaling off", 1, PACKED(13, 6), build_packed, &dropped_causal, 0},
    {"constant", 1, {{2, {13, 18}, 0, 1}}, build_packed, &unequal_2, 0},
    {"no sequence", 1, PACKED(0, 6), build_packed, &none_2, 0},
    {"empty sequences", 1, PACKED(0, 6), build_packed, &empty_2, 0},
    {"a whole block of queries", 1, PACKED(30, 10), build_packed, &block_2, 0},
    {"several blocks of queries", 1, PACKED(67, 3), build_packed, &long_1, 0},
    {"several blocks, causal, dropout", 1, PACKED(67, 34), build_packed, &long_causal, 0},
    {"a block and one", 1, PACKED(99, 17), build_packed, &longer_1, 0},
    {"several threads, dropout", 1, PACKED(165, 68), build_packed, &many_dropped, 0},
    {"several threads", 1, PACKED(165, 64), build_packed, &many_4, 0},
};
OP_CASES(tap_attention_packed, packed_cases);

#define MOST_PARTS 16

/* One head of one sequence, from primitive operations. */
static struct tap_tensor *composed_head(struct tap_tape *tape, struct tap_tensor *const *qkv, size_t start,
                                        size_t length, size_t column, size_t width, const struct tap_attention_options *options)
{
    struct tap_tensor *part[3];
    for (int i = 0; i < 3; i++)
        part[i] = tap_slice(tape, tap_slice(tape, qkv[i], 0, start, length), 1, column, width);
    struct tap_tensor *scores = tap_matmul(tape, part[0], part[1], false, true);
    if (options->scale_scores)
        scores = tap_scale(tape, scores, 1 / sqrt((double)width));
    if (options->causal) {
        const size_t shape[] = {length, length};
        struct tap_tensor *mask = tap_input_copy(tape, 2, shape, NULL);
        for (size_t i = 0; i < length; i++)
            for (size_t j = i + 1; j < length; j++)
                mask->data[i * length + j] = (tap_real)-1e30;
        scores = tap_add(tape, scores, mask);
    }
    return tap_matmul(tape, tap_softmax(tape, scores), part[2], false, false);
}

static struct tap_tensor *composed(struct tap_tape *tape, struct tap_tensor *const *qkv,
                                   const struct tap_segments *segments, const struct tap_attention_options *options)
{
    struct tap_tensor *sequences[MOST_PARTS], *heads[MOST_PARTS];
    size_t width = qkv[0]->shape[1] / options->heads;
    int n = 0;
    for (uint32_t s = 0; s < segments->n; s++) {
        size_t length = segments->offsets[s + 1] - segments->offsets[s];
        if (length == 0)
            continue;
        for (size_t h = 0; h < options->heads; h++)
            heads[h] = composed_head(tape, qkv, segments->offsets[s], length, h * width, width, options);
        sequences[n++] = tap_concat(tape, heads, (int)options->heads, 1);
    }
    return tap_concat(tape, sequences, n, 0);
}

static double largest_of(size_t n, const tap_real *x)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs((double)x[i]));
    return largest;
}

/* max |a - b| */
static double difference_of(size_t n, const tap_real *a, const tap_real *b)
{
    double difference = 0;
    for (size_t i = 0; i < n; i++)
        difference = fmax(difference, isnan(a[i]) ? INFINITY : fabs((double)a[i] - (double)b[i]));
    return difference;
}

/* Both sides are rounded on their own, so in float a few units in the last place of the largest element lie between. */
#ifdef TAP_REAL_IS_DOUBLE
#define COMPOSED_TOLERANCE 1e-12
#else
#define COMPOSED_TOLERANCE 1e-6
#endif

/* sum(y * w), w seeded, and its backward pass. */
static void backward_weighted(struct tap_tape *tape, struct tap_tensor *y)
{
    struct tap_tensor *weights = tap_input_copy(tape, y->n_dims, y->shape, NULL);
    fill_values(weights->data, weights->size, OP_FILL_NORMAL, 77);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, weights), TAP_ALL_AXES, false)), TAP_OK, "%s",
                 tap_tape_error(tape)->message);
}

static void compare_with_composed(const struct tap_segments *segments, size_t heads, size_t width, bool causal,
                                  bool scale, bool packed)
{
    struct tap_tape *tape = test_tape();
    size_t n = segments->offsets[segments->n], columns = heads * width;
    const size_t shape[] = {n, columns}, packed_shape[] = {n, 3 * columns};
    const struct tap_attention_options options = {.heads = heads, .causal = causal, .scale_scores = scale};
    tap_real *numbers = malloc(3 * n * columns * sizeof *numbers);
    struct tap_tensor *leaves[2][3] = {{NULL}}, *y[2];
    fill_values(numbers, 3 * n * columns, OP_FILL_NORMAL, (uint32_t)(n + columns));
    for (int side = 0; side < 2; side++) {
        struct tap_tensor *qkv[3];
        for (size_t i = 0; i < 3; i++)
            leaves[side][i] = packed ? i > 0 ? NULL : tap_variable(tape, 2, packed_shape, numbers)
                                     : tap_variable(tape, 2, shape, numbers + i * n * columns);
        for (size_t i = 0; i < 3; i++)
            qkv[i] = packed ? tap_slice(tape, leaves[side][0], 1, i * columns, columns) : leaves[side][i];
        y[side] = side == 1 ? composed(tape, qkv, segments, &options)
                  : packed  ? tap_attention_packed(tape, leaves[side][0], segments, &options)
                            : tap_attention(tape, qkv[0], qkv[1], qkv[2], segments, &options);
        cr_assert_not_null(y[side], "%s", tap_tape_error(tape)->message);
        backward_weighted(tape, y[side]);
    }
    double difference = difference_of(y[0]->size, y[0]->data, y[1]->data) / largest_of(y[1]->size, y[1]->data), largest = 0;
    cr_expect(difference <= COMPOSED_TOLERANCE, "%zu tokens, %zu heads of %zu: result %g", n, heads, width, difference);
    /* q and k of sequences of one token have a gradient of 0: the largest of all three is the measure */
    for (int i = 0; i < (packed ? 1 : 3); i++)
        largest = fmax(largest, largest_of(leaves[1][i]->size, leaves[1][i]->grad));
    for (int i = 0; i < (packed ? 1 : 3); i++) {
        difference = difference_of(leaves[0][i]->size, leaves[0][i]->grad, leaves[1][i]->grad) / largest;
        cr_expect(difference <= COMPOSED_TOLERANCE, "%zu tokens, %zu heads of %zu%s%s%s: gradient %d %g", n, heads, width,
                  causal ? ", causal" : "", packed ? ", packed" : "", scale ? "" : ", unscaled", i, difference);
    }
    free(numbers);
    tap_tape_free(tape);
}

Test(op_attention, fused_equals_composed_of_primitive_operations)
{
    static const uint32_t odd_offsets[] = {0, 2, 2, 31, 33, 64, 124}, two_offsets[] = {0, 16, 17};
    static const struct tap_segments odd = {6, odd_offsets, 0}, two = {2, two_offsets, 0};
    const struct tap_segments *batches[] = {&one_token, &five, &seven, &unequal, &block, &long_one, &longer, &two, &odd};
    static const size_t shapes[][2] = {{1, 1}, {1, 7}, {2, 3}, {3, 5}, {5, 1}, {4, 16}, {2, 17}, {1, 64}};
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int kind = 0; kind < 8; kind++)
                compare_with_composed(batches[b], shapes[s][0], shapes[s][1], kind & 1, !(kind & 2), kind & 4);
}

/* Attention of one head over one sequence of n tokens. */
static struct tap_tensor *attend(struct tap_tape *tape, size_t n, size_t width, const tap_real *q, const tap_real *k,
                                 const tap_real *v, struct tap_attention_options options)
{
    const size_t shape[] = {n, width};
    static const uint32_t offsets[][2] = {{0, 1}, {0, 2}, {0, 3}}; /* borrowed beyond this call */
    const struct tap_segments segments = {1, offsets[n - 1], 0};
    struct tap_tensor *y = tap_attention(tape, tap_variable(tape, 2, shape, q), tap_variable(tape, 2, shape, k),
                                         tap_variable(tape, 2, shape, v), &segments, &options);
    cr_assert_not_null(y, "%s", tap_tape_error(tape)->message);
    return y;
}

static const tap_real identity[] = {1, 0, 0, 1};

Test(op_attention, identity_projections_give_the_known_mixture)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *z = attend(tape, 2, 2, identity, identity, identity, (struct tap_attention_options){.heads = 1, .scale_scores = true});
    assert_values(z, (const double[]){0.6698, 0.3302, 0.3302, 0.6698}, 4, 5e-5); /* four digits are given */
    double first = 1 / (1 + exp(-1 / sqrt(2)));
    assert_values(z, (const double[]){first, 1 - first, 1 - first, first}, 4, 4 * TAP_REAL_EPSILON);
    tap_tape_free(tape);
}

Test(op_attention, values_are_mixed_by_the_weights)
{
    struct tap_tape *tape = test_tape();
    const tap_real v[] = {1, 2, 3, 4};
    const struct tap_attention_options plain = {.heads = 1, .scale_scores = true}, causal = {.heads = 1, .causal = true, .scale_scores = true};
    assert_values(attend(tape, 2, 2, identity, identity, v, plain),
                  (const double[]){1.660477, 2.660477, 2.339523, 3.339523}, 4, 1e-6);
    assert_values(attend(tape, 2, 2, identity, identity, v, causal), (const double[]){1, 2, 2.339523, 3.339523}, 4, 1e-6);
    tap_tape_free(tape);
}

Test(op_attention, scores_7_and_3_give_weights_982_and_18_thousandths)
{
    struct tap_tape *tape = test_tape();
    const tap_real q[] = {1, 0, 1, 0}, k[] = {7, 0, 3, 0};
    struct tap_tensor *y = attend(tape, 2, 2, q, k, identity, (struct tap_attention_options){.heads = 1});
    assert_values(y, (const double[]){0.982, 0.018, 0.982, 0.018}, 4, 5e-4);
    double first = 1 / (1 + exp(-4));
    assert_values(y, (const double[]){first, 1 - first, first, 1 - first}, 4, 4 * TAP_REAL_EPSILON);
    tap_tape_free(tape);
}

Test(op_attention, one_token_gives_its_value)
{
    struct tap_tape *tape = test_tape();
    const tap_real q[] = {3, -1, 2}, v[] = {0.5, -7, 1e-3f};
    struct tap_tensor *y = attend(tape, 1, 3, q, q, v, (struct tap_attention_options){.heads = 1, .scale_scores = true});
    cr_assert_eq(memcmp(y->data, v, sizeof v), 0);
    tap_tape_free(tape);
}

Test(op_attention, scores_of_ten_thousand_stay_finite_and_right)
{
    struct tap_tape *tape = test_tape();
    const tap_real q[] = {100, 0, -100, 0, 100, 0}, k[] = {100, 0, 99, 0, 100, 0}, v[] = {1, 2, 3, 4, 5, 6};
    struct tap_tensor *y = attend(tape, 3, 2, q, k, v, (struct tap_attention_options){.heads = 1});
    /* scores 10000, 9900, 10000: halves; -10000, -9900, -10000: the middle alone */
    assert_values(y, (const double[]){3, 4, 3, 4, 3, 4}, 6, 1e-6);
    backward_weighted(tape, y);
    for (int i = 0; i < 3; i++)
        cr_assert(tap_is_finite(y->node->inputs[i]->grad, 6));
    tap_tape_free(tape);
}

Test(op_attention, keys_that_no_score_can_reach_change_nothing)
{
    struct tap_tape *tape = test_tape();
    const struct tap_attention_options causal = {.heads = 1, .causal = true, .scale_scores = true};
    tap_real k[] = {1, 0, 0, 1}, v[] = {1, 2, 3, 4};
    struct tap_tensor *before = attend(tape, 2, 2, identity, k, v, causal);
    k[2] = (tap_real)1e30;
    k[3] = v[2] = (tap_real)-1e30;
    struct tap_tensor *after = attend(tape, 2, 2, identity, k, v, causal);
    cr_assert_eq(memcmp(before->data, after->data, 2 * sizeof *k), 0);
    tap_tape_free(tape);
}

/* Weights of all heads of a batch of lengths 3, 0, 41 in H = 2 heads of 5. */
enum { KEPT_TOKENS = 44, KEPT_HEADS = 2, KEPT_COLUMNS = 10, KEPT = KEPT_HEADS * (3 * 3 + 41 * 41) };
static const uint32_t kept_offsets[] = {0, 3, 3, 44};
static const struct tap_segments kept_segments = {3, kept_offsets, 0};

static struct tap_tensor *attend_and_keep(struct tap_tape *tape, double dropout, bool causal, tap_real *out_weights)
{
    static tap_real numbers[KEPT_TOKENS * 3 * KEPT_COLUMNS];
    const size_t shape[] = {KEPT_TOKENS, 3 * KEPT_COLUMNS};
    fill_values(numbers, KEPT_TOKENS * 3 * KEPT_COLUMNS, OP_FILL_NORMAL, 31);
    const struct tap_attention_options options = {KEPT_HEADS, causal, true, dropout, KEY, out_weights, NULL};
    struct tap_tensor *y = tap_attention_packed(tape, tap_input(tape, 2, shape, numbers), &kept_segments, &options);
    cr_assert_not_null(y);
    return y;
}

Test(op_attention, weights_kept_on_request_are_the_softmax_of_each_head)
{
    struct tap_tape *tape = test_tape();
    for (int causal = 0; causal < 2; causal++) {
        static tap_real weights[KEPT];
        for (int i = 0; i < KEPT; i++)
            weights[i] = NAN;
        struct tap_tensor *y = attend_and_keep(tape, 0, causal, weights);
        const tap_real *qkv = y->node->inputs[0]->data;
        const tap_real *w = weights;
        for (size_t s = 0; s < 3; s++)
            for (size_t h = 0; h < KEPT_HEADS; h++)
                for (size_t i = kept_offsets[s]; i < kept_offsets[s + 1]; i++) {
                    double scores[64], sum = 0, kept_sum = 0;
                    for (size_t j = kept_offsets[s]; j < kept_offsets[s + 1]; j++) {
                        double score = 0;
                        for (size_t c = h * 5; c < h * 5 + 5; c++)
                            score += (double)qkv[i * 30 + c] * (double)qkv[j * 30 + 10 + c];
                        scores[j - kept_offsets[s]] = causal && j > i ? 0 : exp(score / sqrt(5));
                        sum += scores[j - kept_offsets[s]];
                    }
                    for (size_t j = kept_offsets[s]; j < kept_offsets[s + 1]; j++, w++) {
                        cr_assert_float_eq((double)*w, scores[j - kept_offsets[s]] / sum, 50 * TAP_REAL_EPSILON);
                        kept_sum += (double)*w;
                    }
                    cr_assert_float_eq(kept_sum, 1, 50 * TAP_REAL_EPSILON);
                }
        cr_assert_eq(w - weights, KEPT);
    }
    tap_tape_free(tape);
}

Test(op_attention, asking_for_weights_does_not_change_the_result)
{
    struct tap_tape *tape = test_tape();
    static tap_real weights[KEPT];
    struct tap_tensor *with = attend_and_keep(tape, 0.2, false, weights), *without = attend_and_keep(tape, 0.2, false, NULL);
    cr_assert_eq(memcmp(with->data, without->data, with->size * sizeof *weights), 0);
    tap_tape_free(tape);
}

Test(op_attention, dropped_weights_are_zero_and_the_others_scaled_by_the_words_of_their_place)
{
    struct tap_tape *tape = test_tape();
    static tap_real weights[KEPT], after[KEPT];
    const double p = 0.25;
    const struct tap_rng_key key = KEY;
    attend_and_keep(tape, 0, false, weights);
    attend_and_keep(tape, p, false, after);
    size_t place = 0, n_dropped = 0;
    for (uint32_t s = 0; s < 3; s++) {
        uint32_t length = kept_offsets[s + 1] - kept_offsets[s];
        for (uint32_t h = 0; h < KEPT_HEADS; h++)
            for (uint32_t i = 0; i < length; i++) {
                uint32_t words[64];
                tap_rng_row(key, s, i, h, length, words);
                for (uint32_t j = 0; j < length; j++, place++) {
                    bool kept = words[j] >= UINT32_C(0x40000000);
                    n_dropped += !kept;
                    cr_assert_eq(after[place], kept ? weights[place] * (tap_real)(1 / (1 - p)) : 0);
                }
            }
    }
    cr_assert_float_eq((double)n_dropped / KEPT, p, 5 * sqrt(p * (1 - p) / KEPT)); /* five standard deviations */
    tap_tape_free(tape);
}

#define BITS_TOKENS 124
#define BITS_COLUMNS 64

/* Result and gradients (y, dq, dk, dv), one after the other, of the sequences that `segments` holds, the first of which
 * starts at token `start` of the whole numbers. */
static void attend_part(struct tap_tape *tape, const struct tap_segments *segments, size_t start, size_t columns,
                        struct tap_attention_options options, const tap_real *numbers, tap_real *out)
{
    size_t n = segments->offsets[segments->n];
    const size_t shape[] = {n, columns};
    struct tap_tensor *inputs[4];
    tap_tape_reset(tape);
    for (size_t i = 0; i < 4; i++)
        inputs[i] = tap_variable(tape, 2, shape, numbers + (i * BITS_TOKENS + start) * columns);
    struct tap_tensor *y = tap_attention(tape, inputs[0], inputs[1], inputs[2], segments, &options);
    cr_assert_eq(tap_backward(tape, tap_sum(tape, tap_mul(tape, y, inputs[3]), TAP_ALL_AXES, false)), TAP_OK);
    memcpy(out, y->data, y->size * sizeof *out);
    for (size_t i = 0; i < 3; i++)
        memcpy(out + (i + 1) * y->size, inputs[i]->grad, y->size * sizeof *out);
}

static void assert_bits_alone_and_among_others(size_t heads, size_t columns, struct tap_attention_options options)
{
    static const uint32_t offsets[] = {0, 5, 5, 6, 73, 104, 120, 122, 124};
    static tap_real numbers[4 * BITS_TOKENS * BITS_COLUMNS], whole[4 * BITS_TOKENS * BITS_COLUMNS], part[4 * BITS_TOKENS * BITS_COLUMNS];
    const struct tap_segments segments = {8, offsets, 40};
    struct tap_tape *tape = test_tape();
    fill_values(numbers, 4 * BITS_TOKENS * columns, OP_FILL_NORMAL, (uint32_t)columns);
    options.heads = heads;
    tap_set_threads(1);
    attend_part(tape, &segments, 0, columns, options, numbers, whole);
    for (int threads = 1; threads <= 4; threads++) {
        tap_set_threads(threads);
        attend_part(tape, &segments, 0, columns, options, numbers, part);
        cr_assert_eq(memcmp(part, whole, 4 * BITS_TOKENS * columns * sizeof *part), 0, "%d threads", threads);
        for (uint32_t s = 0; s < segments.n; s++) {
            const uint32_t own_offsets[] = {0, offsets[s + 1] - offsets[s]};
            const struct tap_segments own = {1, own_offsets, 40 + s};
            attend_part(tape, &own, offsets[s], columns, options, numbers, part);
            for (size_t i = 0; i < 4; i++)
                cr_assert_eq(memcmp(part + i * own_offsets[1] * columns, whole + (i * BITS_TOKENS + offsets[s]) * columns,
                                    own_offsets[1] * columns * sizeof *part),
                             0, "%zu heads, %zu columns, sequence %u, array %zu", heads, columns, s, i);
        }
    }
    tap_tape_free(tape);
}

Test(op_attention, a_sequence_has_the_same_bits_alone_or_among_others_for_any_number_of_threads)
{
    static const size_t shapes[][2] = {{1, 1}, {1, 7}, {3, 15}, {2, 26}, {4, 64}, {1, 64}, {5, 35}, {1, 33}, {7, 7}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        assert_bits_alone_and_among_others(shapes[s][0], shapes[s][1], (struct tap_attention_options){.scale_scores = true});
        assert_bits_alone_and_among_others(shapes[s][0], shapes[s][1],
                                           (struct tap_attention_options){.causal = true, .scale_scores = true, .dropout = 0.3, .dropout_key = KEY});
    }
}

Test(op_attention, packed_has_the_bits_of_three_tensors)
{
    enum { N = 13, COLUMNS = 6 };
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {N, COLUMNS}, packed_shape[] = {N, 3 * COLUMNS};
    tap_real packed[N * 3 * COLUMNS], parts[3][N * COLUMNS];
    fill_values(packed, N * 3 * COLUMNS, OP_FILL_NORMAL, 12);
    for (size_t i = 0; i < N * 3 * COLUMNS; i++)
        parts[i / COLUMNS % 3][i / (3 * COLUMNS) * COLUMNS + i % COLUMNS] = packed[i];
    struct tap_tensor *one = tap_attention_packed(tape, tap_input(tape, 2, packed_shape, packed), &unequal, &dropped.options);
    struct tap_tensor *three = tap_attention(tape, tap_input(tape, 2, shape, parts[0]), tap_input(tape, 2, shape, parts[1]),
                                             tap_input(tape, 2, shape, parts[2]), &unequal, &dropped.options);
    cr_assert_eq(memcmp(one->data, three->data, one->size * sizeof *packed), 0);
    tap_tape_free(tape);
}

Test(op_attention, causal_outputs_do_not_see_later_tokens)
{
    enum { N = 67, COLUMNS = 6 };
    static tap_real x[N * COLUMNS];
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {N, COLUMNS};
    const struct tap_attention_options options = {.heads = 2, .causal = true, .scale_scores = true};
    fill_values(x, N * COLUMNS, OP_FILL_NORMAL, 3);
    struct tap_tensor *t = tap_input_copy(tape, 2, shape, x), *before = tap_attention(tape, t, t, t, &long_one, &options);
    for (size_t i = 40 * COLUMNS; i < N * COLUMNS; i++)
        x[i] += 1;
    struct tap_tensor *u = tap_input_copy(tape, 2, shape, x), *after = tap_attention(tape, u, u, u, &long_one, &options);
    cr_assert_eq(memcmp(before->data, after->data, 40 * COLUMNS * sizeof *x), 0);
    cr_assert_neq(memcmp(before->data, after->data, N * COLUMNS * sizeof *x), 0);
    tap_tape_free(tape);
}

/* Clears the error and checks what it was. */
static void assert_refused(struct tap_tape *tape, const struct tap_tensor *y, enum tap_status status, const char *message)
{
    cr_assert_null(y);
    cr_assert_eq(tap_tape_error(tape)->status, status, "%s", tap_tape_error(tape)->message);
    cr_assert_str_eq(tap_tape_error(tape)->message, message);
    tap_tape_clear_error(tape);
}

Test(op_attention, shapes_and_options_that_do_not_fit_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {13, 6}, other[] = {13, 5}, vector[] = {13}, no_columns[] = {13, 0};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL), *y = tap_input_copy(tape, 2, other, NULL);
    struct tap_tensor *z = tap_input_copy(tape, 1, vector, NULL), *w = tap_input_copy(tape, 2, no_columns, NULL);
    struct tap_attention_options options = {.heads = 2, .scale_scores = true};
    assert_refused(tape, tap_attention(tape, x, y, x, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention: q (13, 6), k (13, 5) and v (13, 6); one shape (N, H*K) is needed");
    assert_refused(tape, tap_attention(tape, x, x, y, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention: q (13, 6), k (13, 6) and v (13, 5); one shape (N, H*K) is needed");
    assert_refused(tape, tap_attention(tape, z, z, z, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention: q (13), k (13) and v (13); one shape (N, H*K) is needed");
    assert_refused(tape, tap_attention_packed(tape, y, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention_packed: qkv (13, 5); (N, 3*H*K) is needed");
    assert_refused(tape, tap_attention_packed(tape, z, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention_packed: qkv (13); (N, 3*H*K) is needed");
    assert_refused(tape, tap_attention(tape, x, x, x, &seven, &options), TAP_ERR_SHAPE,
                   "tap_attention: segments cover 7 rows; x has 13");
    options.heads = 4;
    assert_refused(tape, tap_attention(tape, x, x, x, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention: 4 heads do not divide 6 columns");
    options.heads = 0;
    assert_refused(tape, tap_attention(tape, x, x, x, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention: 0 heads do not divide 6 columns");
    options.heads = SIZE_MAX / 2;
    assert_refused(tape, tap_attention(tape, w, w, w, &unequal, &options), TAP_ERR_SHAPE,
                   "tap_attention: 9223372036854775807 heads do not divide 0 columns");
    options.heads = 2;
    const double refused[] = {1, -0.5, NAN};
    const char *messages[] = {"tap_attention: dropout 1 is not in [0, 1)", "tap_attention: dropout -0.5 is not in [0, 1)",
                              "tap_attention: dropout nan is not in [0, 1)"};
    for (int i = 0; i < 3; i++) {
        options.dropout = refused[i];
        assert_refused(tape, tap_attention(tape, x, x, x, &unequal, &options), TAP_ERR_VALUE, messages[i]);
    }
    assert_refused(tape, tap_attention(tape, x, NULL, x, &unequal, &options), TAP_ERR_VALUE, "tap_attention: input 2 is NULL");
    tap_tape_free(tape);
}

Test(op_attention, broken_segments_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {7, 6};
    const uint32_t late[] = {1, 7}, descending[] = {0, 5, 3, 7};
    const struct tap_segments starts_late = {1, late, 0}, descends = {3, descending, 0}, without_offsets = {1, NULL, 0};
    const struct tap_attention_options options = {.heads = 2, .scale_scores = true};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    assert_refused(tape, tap_attention_packed(tape, x, &starts_late, &options), TAP_ERR_VALUE,
                   "tap_attention_packed: segments begin at 1; 0 is needed");
    assert_refused(tape, tap_attention_packed(tape, x, &descends, &options), TAP_ERR_VALUE,
                   "tap_attention_packed: segments descend from 5 to 3 at sequence 1");
    assert_refused(tape, tap_attention(tape, x, x, x, NULL, &options), TAP_ERR_VALUE, "tap_attention: segments are NULL");
    assert_refused(tape, tap_attention(tape, x, x, x, &without_offsets, &options), TAP_ERR_VALUE,
                   "tap_attention: segments are NULL");
    tap_tape_free(tape);
}
