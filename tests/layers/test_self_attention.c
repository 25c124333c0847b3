/* test_self_attention.c: cases of self-attention, and what courses tell of it. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/op_cases.h"

static void add(struct layer_run *run, const struct layer_case *c, struct tap_error *error)
{
    struct tap_self_attention_options options = *(const struct tap_self_attention_options *)c->options;
    options.d_model = c->d_model;
    tap_self_attention_add(&run->layer.self_attention, &run->parameters, "self_attn", &options, error);
}

static struct tap_tensor *forward(struct layer_run *run, const struct tap_context *context)
{
    return tap_self_attention_forward(&run->layer.self_attention, context, run->x, 1, NULL);
}

#define PLAIN .bias = true, .project_qkv = true, .scale_scores = true
static const struct tap_self_attention_options two_heads = {.heads = 2, PLAIN}, as_many = {.heads = 5, PLAIN},
                                               wide_heads = {.heads = 3, .d_head = 4, PLAIN},
                                               no_bias = {.heads = 2, .project_qkv = true, .scale_scores = true},
                                               no_projection = {.heads = 2, .scale_scores = true},
                                               causal = {.heads = 3, .causal = true, PLAIN},
                                               unscaled = {.heads = 1, .bias = true, .project_qkv = true},
                                               dropped = {.heads = 2, .dropout = 0.3, PLAIN},
                                               causal_dropped = {.heads = 2, .dropout = 0.3, .causal = true};
static const struct layer_case cases[] = {
    {"two heads", 6, &two_heads, false},
    {"as many heads as features", 5, &as_many, false},
    {"heads wider than their share", 7, &wide_heads, false},
    {"no bias", 6, &no_bias, false},
    {"no projections", 6, &no_projection, false},
    {"causal", 6, &causal, false},
    {"scores not scaled", 5, &unscaled, false},
    {"dropout", 6, &dropped, true},
    {"causal, dropout, no projections", 4, &causal_dropped, true},
};
LAYER_CASES(tap_self_attention, cases, add, forward, NULL);

Test(self_attention, parameters_have_pytorchs_names_and_each_third_its_own_xavier_bound)
{
    struct tap_parameters parameters = {0};
    struct tap_self_attention layer;
    struct tap_error error = {0};
    const struct tap_self_attention_options options = {.d_model = 40, .heads = 3, .d_head = 16, PLAIN};
    tap_self_attention_add(&layer, &parameters, "encoder.layers.0.self_attn", &options, &error);
    initialize_all(&parameters, &error);
    cr_assert_eq(parameters.n, 4);
    const struct tap_tensor *in = parameter_of(&parameters, "encoder.layers.0.self_attn.in_proj_weight", 144, 40);
    for (size_t third = 0; third < 3; third++)
        assert_uniform(48 * 40, in->data + third * 48 * 40, sqrt(6.0 / (40 + 48)));
    assert_uniform(48 * 40, parameter_of(&parameters, "encoder.layers.0.self_attn.out_proj.weight", 40, 48)->data, sqrt(6.0 / 88));
    const struct tap_tensor *in_bias = parameter_of(&parameters, "encoder.layers.0.self_attn.in_proj_bias", 144, 0);
    const struct tap_tensor *out_bias = parameter_of(&parameters, "encoder.layers.0.self_attn.out_proj.bias", 40, 0);
    for (int i = 0; i < 144; i++)
        cr_assert(in_bias->data[i] == 0 && out_bias->data[i % 40] == 0);
    tap_parameters_clear(&parameters);
}

static size_t n_parameters(size_t heads)
{
    struct tap_parameters parameters = {0};
    struct tap_self_attention layer;
    struct tap_error error = {0};
    const struct tap_self_attention_options options = {.d_model = 512, .heads = heads, PLAIN};
    tap_self_attention_add(&layer, &parameters, "a", &options, &error);
    cr_assert_eq(layer.options.d_head, 512 / heads);
    size_t n = parameters.n_numbers;
    tap_parameters_clear(&parameters);
    return n;
}

Test(self_attention, eight_heads_of_width_64_have_as_many_parameters_as_one_of_512)
{
    cr_assert_eq(n_parameters(8), n_parameters(1));
    cr_assert_eq(n_parameters(8), 4 * 512 * 512 + 4 * 512);
}

Test(self_attention, without_projections_there_are_no_parameters_and_values_are_x)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct tap_parameters parameters = {0};
    struct tap_self_attention layer;
    struct tap_error error = {0};
    const size_t shape[] = {2, 2};
    const uint32_t offsets[] = {0, 2};
    const struct tap_segments segments = {1, offsets, 0};
    const tap_real x[] = {1, 0, 0, 1};
    const struct tap_self_attention_options options = {.d_model = 2, .heads = 1, .bias = true, .scale_scores = true};
    tap_self_attention_add(&layer, &parameters, "a", &options, &error);
    cr_assert_eq(parameters.n, 0);
    context.segments = &segments;
    assert_values(tap_self_attention_forward(&layer, &context, tap_input(tape, 2, shape, x), 0, NULL),
                  (const double[]){0.6698, 0.3302, 0.3302, 0.6698}, 4, 5e-5);
    tap_tape_free(tape);
}

/* Three tokens A, B and zero in one head without bias: the score against zero is 0, so scores can be read off the
 * weights as log(w / w_zero). */
static void scores_of(const struct tap_self_attention *layer, double *out_ab, double *out_ba)
{
    enum { D = 4 };
    const tap_real x[3 * D] = {(tap_real)0.3, -1, (tap_real)0.7, (tap_real)0.2, 1, (tap_real)0.4, (tap_real)-0.6, (tap_real)0.9};
    const size_t shape[] = {3, D};
    const uint32_t offsets[] = {0, 3};
    const struct tap_segments segments = {1, offsets, 0};
    tap_real weights[9];
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    context.segments = &segments;
    cr_assert_not_null(tap_self_attention_forward(layer, &context, tap_input(tape, 2, shape, x), 0, weights));
    *out_ab = log((double)weights[1] / (double)weights[2]);
    *out_ba = log((double)weights[3] / (double)weights[5]);
    tap_tape_free(tape);
}

Test(self_attention, scores_are_symmetric_only_without_projections)
{
    double ab, ba;
    for (int project = 0; project < 2; project++) {
        struct tap_parameters parameters = {0};
        struct tap_self_attention layer;
        struct tap_error error = {0};
        const struct tap_self_attention_options options = {.d_model = 4, .heads = 1, .project_qkv = project, .scale_scores = true};
        tap_self_attention_add(&layer, &parameters, "a", &options, &error);
        initialize_all(&parameters, &error);
        scores_of(&layer, &ab, &ba);
        if (project)
            cr_assert_gt(fabs(ab - ba), 0.01, "%g and %g", ab, ba);
        else
            cr_assert_float_eq(ab, ba, 10 * TAP_REAL_EPSILON);
        if (!project) /* A . B / sqrt 4 */
            cr_assert_float_eq(ab, (0.3 * 1 - 0.4 - 0.7 * 0.6 + 0.2 * 0.9) / 2, 20 * TAP_REAL_EPSILON);
        tap_parameters_clear(&parameters);
    }
}

Test(self_attention, dot_products_of_normal_vectors_have_variance_d_and_about_1_once_scaled)
{
    enum { N = 300, D = 64 };
    static tap_real q[N * D], k[N * D];
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {N, D};
    fill_values(q, N * D, OP_FILL_NORMAL, 1);
    fill_values(k, N * D, OP_FILL_NORMAL, 2);
    struct tap_tensor *scores = tap_matmul(tape, tap_input(tape, 2, shape, q), tap_input(tape, 2, shape, k), false, true);
    struct tap_tensor *scaled = tap_scale(tape, scores, 1 / sqrt(D));
    double variance = 0, scaled_variance = 0;
    for (size_t i = 0; i < scores->size; i++) {
        variance += (double)scores->data[i] * (double)scores->data[i] / (double)scores->size;
        scaled_variance += (double)scaled->data[i] * (double)scaled->data[i] / (double)scores->size;
    }
    /* the 90,000 products share 600 vectors: the spread is about sqrt(4 / (300 * 64)) */
    cr_assert_float_eq(variance, D, 0.07 * D, "%g", variance);
    cr_assert_float_eq(scaled_variance, 1, 0.07, "%g", scaled_variance);
    tap_tape_free(tape);
}

/* Self-attention of tokens in a given order, behind an embedding with or without positions; rows of the result are put
 * back into the first order. Returns the largest difference from the result in the first order. */
static double effect_of_order(bool with_positions)
{
    enum { N = 9, D = 6 };
    static const uint32_t orders[2][N] = {{0, 1, 2, 3, 4, 5, 6, 7, 8}, {5, 2, 8, 0, 7, 1, 3, 6, 4}}, offsets[] = {0, N};
    static const struct tap_segments segments = {1, offsets, 0};
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct tap_parameters parameters = {0};
    struct tap_self_attention attention;
    struct tap_embedding_layer embedding = {0};
    struct tap_error error = {0};
    const struct tap_self_attention_options attention_options = {.d_model = D, .heads = 2, PLAIN};
    const struct tap_embedding_options embedding_options = {
        .vocabulary = N, .d_model = D, .max_length = N, .positions = with_positions ? TAP_POSITIONS_SINUSOIDAL : TAP_POSITIONS_NONE};
    tap_embedding_layer_add(&embedding, &parameters, &embedding_options, &error);
    tap_self_attention_add(&attention, &parameters, "a", &attention_options, &error);
    initialize_all(&parameters, &error);
    context.segments = &segments;
    struct tap_tensor *y[2];
    for (int i = 0; i < 2; i++)
        y[i] = tap_self_attention_forward(&attention, &context,
                                          tap_embedding_layer_forward(&embedding, &context, orders[i], N), 0, NULL);
    double difference = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t j = 0; j < D; j++)
            difference = fmax(difference, fabs((double)y[1]->data[n * D + j] - (double)y[0]->data[orders[1][n] * D + j]));
    tap_parameters_clear(&parameters);
    tap_embedding_layer_clear(&embedding);
    tap_tape_free(tape);
    return difference;
}

Test(self_attention, without_positions_order_only_permutes_the_result_and_with_positions_it_matters)
{
    cr_assert_leq(effect_of_order(false), 10 * TAP_REAL_EPSILON);
    cr_assert_gt(effect_of_order(true), 0.01);
}

Test(self_attention, weights_are_kept_for_every_sequence_and_head)
{
    enum { KEPT = 2 * (9 + 0 + 1 + 25) };
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct layer_run run;
    struct tap_error error = {0};
    tap_real weights[KEPT + 1];
    weights[KEPT] = 7;
    layer_set_up(&run, &tap_self_attention_cases, &cases[0], &error);
    tap_self_attention_forward(&run.layer.self_attention, &context, run.x, 1, weights);
    double sum = 0;
    for (int i = 0; i < KEPT; i++)
        sum += (double)weights[i];
    cr_assert_float_eq(sum, 2 * LAYER_TOKENS, 1e-5); /* each token's weights of each head sum to 1 */
    cr_assert_eq(weights[KEPT], 7);
    layer_tear_down(&run, &tap_self_attention_cases);
    tap_tape_free(tape);
}
