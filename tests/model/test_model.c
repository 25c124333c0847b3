/* test_model.c: the whole model: gradients, bits, memory, and that it learns. */
#include "model_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/op_cases.h"
#include "gradcheck.h"
#include "parallel.h"

#ifdef TAP_REAL_IS_DOUBLE
struct problem {
    struct tap_model *model;
    struct batch batch;
};

static struct tap_tensor *problem_loss(struct tap_tape *tape, void *context)
{
    struct problem *problem = context;
    return loss_of(problem->model, tape, &problem->batch, true);
}

static void check_gradients(const char *name, const struct tap_model_options *options, uint32_t n, const uint32_t *lengths)
{
    static struct problem problem;
    struct tap_tape *tape = test_tape();
    struct tap_gradcheck_result results[64];
    struct tap_error error = {0};
    const struct tap_gradcheck_options check = {.elements = 32, .seed = 3, .kink_tolerance = 1e-6};
    problem.model = new_model(options);
    fill_batch(&problem.batch, n, lengths);
    cr_assert_leq(problem.model->parameters.n, 64);
    /* biases start at zero, where some gradients have a symmetry of their own: move everything a little */
    for (size_t p = 0; p < problem.model->parameters.n; p++) {
        struct tap_tensor *tensor = &problem.model->parameters.items[p]->tensor;
        tap_real noise[2048];
        cr_assert_leq(tensor->size, 2048);
        fill_values(noise, tensor->size, OP_FILL_NORMAL, (uint32_t)p);
        for (size_t i = 0; i < tensor->size; i++)
            tensor->data[i] += (tap_real)0.2 * noise[i];
    }
    cr_assert_eq(tap_gradcheck(tape, &problem.model->parameters, problem_loss, &problem, &check, results, &error), TAP_OK, "%s", error.message);
    size_t n_kinks = 0;
    for (size_t p = 0; p < problem.model->parameters.n; p++) {
        n_kinks += results[p].n_kinks;
        cr_expect(results[p].error <= 1e-6, "%s, %u sequences, %s, element %zu: %.12g, not %.12g", name, n, results[p].parameter->name,
                  results[p].worst, results[p].gradient, results[p].difference);
    }
    cr_expect_leq(n_kinks, 5, "%s: %zu kinks", name, n_kinks);
    tap_model_free(problem.model);
    tap_tape_free(tape);
}

Test(model, every_gradient_equals_central_differences)
{
    static const uint32_t ragged[] = {3, 1, 7, 2}, one[] = {5}, with_empty[] = {0, 4, 1, 0}, long_ones[] = {33, 2};
    for (int kind = 0; kind < 8; kind++) {
        struct tap_model_options options = small_options();
        options.encoder.norm_position = kind & 1 ? TAP_NORM_POSITION_PRE : TAP_NORM_POSITION_POST;
        options.encoder.activation = (enum tap_activation)(kind % 4);
        options.embedding.positions = kind % 3 == 0 ? TAP_POSITIONS_LEARNED : TAP_POSITIONS_SINUSOIDAL;
        options.embedding.scale = kind % 3 == 1;
        options.encoder.attention.causal = kind == 5;
        options.encoder.attention.bias = kind != 6;
        if (kind & 2)
            set_dropout(&options, 0.2);
        options.pooling = kind < 4 ? TAP_POOLING_MEAN : kind < 6 ? TAP_POOLING_CLS : TAP_POOLING_MAX;
        char name[] = {'k', 'i', 'n', 'd', ' ', (char)('0' + kind), '\0'};
        check_gradients(name, &options, 4, ragged);
        check_gradients(name, &options, 1, one);
        if (options.pooling == TAP_POOLING_MEAN)
            check_gradients(name, &options, 4, with_empty);
        if (kind < 2)
            check_gradients(name, &options, 2, long_ones);
    }
}
#endif

/* Loss and gradient block of one pass. */
static tap_real *results_of(struct tap_model *model, struct tap_tape *tape, const struct batch *batch, bool training)
{
    size_t n = model->parameters.block_size;
    tap_real *results = malloc((n + 1) * sizeof *results);
    tap_tape_reset(tape);
    tap_parameters_zero_grad(&model->parameters);
    struct tap_tensor *loss = loss_of(model, tape, batch, training);
    cr_assert_eq(tap_backward(tape, loss), TAP_OK, "%s", tap_tape_error(tape)->message);
    results[0] = loss->data[0];
    memcpy(results + 1, model->parameters.grad, n * sizeof *results);
    return results;
}

static size_t results_bytes(const struct tap_model *model)
{
    return (model->parameters.block_size + 1) * sizeof(tap_real);
}

Test(model, loss_and_gradient_have_the_same_bits_for_any_number_of_threads)
{
    static struct batch batch;
    struct tap_tape *tape = test_tape();
    for (int pre = 0; pre < 2; pre++) {
        struct tap_model_options options = tap_model_default_options(VOCABULARY, CLASSES);
        options.encoder.norm_position = pre ? TAP_NORM_POSITION_PRE : TAP_NORM_POSITION_POST;
        struct tap_model *model = new_model(&options);
        fill_random_batch(&batch, 37, 70);
        tap_set_threads(1);
        tap_real *one = results_of(model, tape, &batch, true);
        for (int threads = 2; threads <= 4; threads++) {
            tap_set_threads(threads);
            tap_real *several = results_of(model, tape, &batch, true);
            cr_assert_eq(memcmp(one, several, results_bytes(model)), 0, "%d threads", threads);
            free(several);
        }
        free(one);
        tap_model_free(model);
    }
    tap_tape_free(tape);
}

Test(model, a_texts_logits_have_the_same_bits_alone_or_among_others)
{
    static struct batch batch;
    struct tap_tape *tape = test_tape();
    for (int pooling = 0; pooling < 3; pooling++) {
        struct tap_model_options options = tap_model_default_options(VOCABULARY, CLASSES);
        options.pooling = (enum tap_pooling)pooling;
        options.encoder.norm_position = pooling == 1 ? TAP_NORM_POSITION_PRE : TAP_NORM_POSITION_POST;
        struct tap_model *model = new_model(&options);
        fill_random_batch(&batch, 60, 45);
        struct tap_context context = context_of(tape, &batch, false);
        tap_tape_reset(tape);
        struct tap_tensor *together = tap_model_logits(model, &context, batch.tokens);
        for (uint32_t s = 0; s < 60; s++) {
            const uint32_t offsets[] = {0, batch.offsets[s + 1] - batch.offsets[s]};
            const struct tap_segments segments = {1, offsets, 0};
            context.segments = &segments;
            struct tap_tensor *alone = tap_model_logits(model, &context, batch.tokens + batch.offsets[s]);
            cr_assert_eq(memcmp(alone->data, together->data + s * CLASSES, CLASSES * sizeof(tap_real)), 0, "text %u", s);
        }
        tap_model_free(model);
    }
    tap_tape_free(tape);
}

/* BR-03 */
Test(model, training_and_evaluation_without_dropout_have_the_same_bits)
{
    static struct batch batch;
    static const uint32_t lengths[] = {1, 5, 16};
    struct tap_tape *tape = test_tape();
    struct tap_model_options options = tap_model_default_options(VOCABULARY, CLASSES);
    set_dropout(&options, 0);
    struct tap_model *model = new_model(&options);
    fill_batch(&batch, 3, lengths);
    tap_real trained = loss_of(model, tape, &batch, true)->data[0];
    tap_tape_set_gradients(tape, false);
    tap_real evaluated = loss_of(model, tape, &batch, false)->data[0];
    cr_assert_eq(memcmp(&trained, &evaluated, sizeof trained), 0);
    tap_model_free(model);
    tap_tape_free(tape);
}

Test(model, dropout_depends_on_seed_and_step_and_is_off_in_evaluation)
{
    static struct batch batch;
    struct tap_tape *tape = test_tape();
    struct tap_model_options options = small_options();
    set_dropout(&options, 0.3);
    struct tap_model *model = new_model(&options);
    fill_random_batch(&batch, 5, 9);
    struct tap_context contexts[4];
    tap_real logits[4][15];
    for (int i = 0; i < 4; i++) {
        contexts[i] = context_of(tape, &batch, i < 3);
        contexts[i].seed += i == 1;
        contexts[i].step += i == 2;
        memcpy(logits[i], tap_model_logits(model, &contexts[i], batch.tokens)->data, sizeof logits[i]);
        for (int j = 0; j < i; j++)
            cr_assert_neq(memcmp(logits[i], logits[j], sizeof logits[i]), 0, "%d and %d", i, j);
    }
    cr_assert_eq(memcmp(logits[0], tap_model_logits(model, &contexts[0], batch.tokens)->data, sizeof logits[0]), 0);
    tap_model_free(model);
    tap_tape_free(tape);
}

Test(model, logits_are_those_of_encode_pool_and_classify_in_a_row)
{
    static struct batch batch;
    struct tap_tape *tape = test_tape();
    struct tap_model_options options = small_options();
    struct tap_model *model = new_model(&options);
    fill_random_batch(&batch, 5, 9);
    struct tap_context context = context_of(tape, &batch, false);
    struct tap_tensor *encoded = tap_model_encode(model, &context, batch.tokens), *pooled = tap_model_pool(model, &context, encoded);
    struct tap_tensor *logits = tap_model_classify(model, &context, pooled), *whole = tap_model_logits(model, &context, batch.tokens);
    cr_assert(encoded->shape[0] == batch.offsets[5] && encoded->shape[1] == 8);
    cr_assert(pooled->shape[0] == 5 && pooled->shape[1] == 8);
    cr_assert(logits->shape[0] == 5 && logits->shape[1] == CLASSES);
    cr_assert_eq(memcmp(logits->data, whole->data, whole->size * sizeof(tap_real)), 0);
    tap_model_free(model);
    tap_tape_free(tape);
}

Test(model, an_empty_batch_has_no_logits)
{
    struct tap_tape *tape = test_tape();
    struct tap_model_options options = small_options();
    struct tap_model *model = new_model(&options);
    const uint32_t offsets[] = {0};
    const struct tap_segments segments = {0, offsets, 0};
    struct tap_context context = {.tape = tape, .segments = &segments, .training = true};
    struct tap_tensor *logits = tap_model_logits(model, &context, offsets);
    cr_assert_not_null(logits, "%s", tap_tape_error(tape)->message);
    cr_assert(logits->shape[0] == 0 && logits->shape[1] == CLASSES);
    tap_model_free(model);
    tap_tape_free(tape);
}

/* Accumulated with the whole batch's divisor, with dropout on: only rounding may differ. */
Test(model, micro_batches_give_the_gradient_of_the_whole_batch)
{
    static struct batch batch;
    struct tap_tape *tape = test_tape();
    struct tap_model_options options = small_options();
    set_dropout(&options, 0.2);
    struct tap_model *model = new_model(&options);
    fill_random_batch(&batch, 13, 9);
    tap_real *whole = results_of(model, tape, &batch, true);
    const uint32_t cuts[] = {0, 4, 5, 11, 13};
    double loss = 0, largest = 0;
    tap_parameters_zero_grad(&model->parameters);
    for (int i = 0; i < 4; i++) {
        uint32_t offsets[14];
        const struct tap_segments part = {cuts[i + 1] - cuts[i], offsets, cuts[i]};
        const struct tap_cross_entropy_options loss_options = {.divisor = 13};
        for (uint32_t s = 0; s <= part.n; s++)
            offsets[s] = batch.offsets[cuts[i] + s] - batch.offsets[cuts[i]];
        struct tap_context context = {.tape = tape, .segments = &part, .training = true, .seed = 4, .step = 2};
        tap_tape_reset(tape);
        struct tap_tensor *logits = tap_model_logits(model, &context, batch.tokens + batch.offsets[cuts[i]]);
        struct tap_tensor *part_loss = tap_cross_entropy(tape, logits, batch.labels + cuts[i], &loss_options);
        cr_assert_eq(tap_backward(tape, part_loss), TAP_OK);
        loss += (double)part_loss->data[0];
    }
    cr_assert_float_eq(loss, (double)whole[0], 20 * TAP_REAL_EPSILON);
    for (size_t i = 0; i < model->parameters.block_size; i++)
        largest = fmax(largest, fabs((double)whole[1 + i]));
    for (size_t i = 0; i < model->parameters.block_size; i++)
        cr_assert_float_eq((double)model->parameters.grad[i], (double)whole[1 + i], 50 * TAP_REAL_EPSILON * largest);
    free(whole);
    tap_model_free(model);
    tap_tape_free(tape);
}

static void assert_refused(const struct tap_model_options *options, const char *message)
{
    struct tap_error error = {0};
    cr_assert_null(tap_model_new(options, &error));
    cr_assert_eq(error.status, TAP_ERR_VALUE, "%s", error.message);
    cr_assert_str_eq(error.message, message);
}

Test(model, sizes_that_do_not_fit_are_refused_with_both_numbers)
{
    struct tap_model_options options = small_options();
    options.encoder.attention.heads = 3;
    assert_refused(&options, "model: 3 heads do not divide d_model 8");
    options.encoder.attention.d_head = 3; /* its own width: allowed */
    struct tap_model *model = new_model(&options);
    cr_assert_eq(model->encoder.layers[0].self_attention.out_projection.weight->shape[1], 9);
    tap_model_free(model);
    options.encoder.attention.project_qkv = false;
    assert_refused(&options, "model: without projections 3 heads of width 3 do not make d_model 8");
    options.encoder.attention.d_head = SIZE_MAX / 4 + 3; /* times 4 is 8, but for the overflow */
    options.encoder.attention.heads = 4;
    char message[200];
    snprintf(message, sizeof message, "model: without projections 4 heads of width %zu do not make d_model 8", SIZE_MAX / 4 + 3);
    assert_refused(&options, message);
    options = small_options();
    options.encoder.attention.d_head = SIZE_MAX / 2;
    snprintf(message, sizeof message, "model: 2 heads of width %zu are too large", SIZE_MAX / 2);
    assert_refused(&options, message);
    size_t *const sizes[] = {&options.embedding.d_model, &options.embedding.vocabulary, &options.embedding.max_length,
                             &options.classes, &options.encoder.d_ff, &options.encoder.attention.heads};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        options = small_options();
        *sizes[i] = 0;
        assert_refused(&options, "model: d_model, heads, d_ff, vocabulary, max_length and classes are at least 1");
    }
}

Test(model, sizes_beyond_any_memory_are_an_error)
{
    struct tap_model_options options = small_options();
    struct tap_error error = {0};
    options.embedding.vocabulary = SIZE_MAX / 4;
    cr_assert_null(tap_model_new(&options, &error));
    cr_assert_eq(error.status, TAP_ERR_SHAPE, "%s", error.message);
    options = small_options();
    options.encoder.layers = SIZE_MAX / 8;
    tap_error_clear(&error);
    cr_assert_null(tap_model_new(&options, &error));
    cr_assert_eq(error.status, TAP_ERR_MEMORY, "%s", error.message);
}

/* BR-06: every divisor of 64 as the number of heads. */
Test(model, the_number_of_heads_does_not_change_the_number_of_parameters)
{
    struct tap_model_options options = tap_model_default_options(VOCABULARY, CLASSES);
    size_t n = 0;
    for (size_t heads = 1; heads <= 64; heads *= 2) {
        options.encoder.attention.heads = heads;
        struct tap_model *model = new_model(&options);
        cr_assert(n == 0 || model->parameters.n_numbers == n);
        n = model->parameters.n_numbers;
        tap_model_free(model);
    }
    cr_assert_eq(n, VOCABULARY * 64 + 2 * (4 * 64 * 64 + 4 * 64 + 2 * 64 * 256 + 256 + 64 + 4 * 64) + CLASSES * 64 + CLASSES);
}

Test(model, default_options_are_the_configs)
{
    struct tap_model_options o = tap_model_default_options(7, 5);
    cr_assert(o.embedding.vocabulary == 7 && o.classes == 5 && o.embedding.d_model == 64 && o.encoder.layers == 2);
    cr_assert(o.encoder.attention.heads == 4 && o.encoder.d_ff == 256 && o.embedding.max_length == 256);
    cr_assert(o.embedding.dropout == 0.1 && o.encoder.attention.dropout == 0.1 && o.encoder.ffn_dropout == 0.1 && o.encoder.residual_dropout == 0.1);
    cr_assert(o.encoder.activation == TAP_ACTIVATION_RELU && o.encoder.norm == TAP_NORM_LAYER && o.encoder.norm_eps == 1e-5);
    cr_assert(o.encoder.norm_position == TAP_NORM_POSITION_POST && o.encoder.residual && o.encoder.attention.bias);
    cr_assert(o.encoder.attention.scale_scores && o.encoder.attention.project_qkv && !o.encoder.attention.causal);
    cr_assert(o.embedding.positions == TAP_POSITIONS_SINUSOIDAL && !o.embedding.scale && o.pooling == TAP_POOLING_MEAN);
}

Test(model, eight_texts_are_learned_by_heart_in_300_steps)
{
    static struct batch batch;
    static const uint32_t lengths[] = {4, 7, 2, 9, 5, 3, 6, 8};
    struct tap_error error = {0};
    for (int pre = 0; pre < 2; pre++) {
        struct tap_tape *tape = test_tape();
        struct tap_model_options options = tap_model_default_options(VOCABULARY, CLASSES);
        options.encoder.norm_position = pre ? TAP_NORM_POSITION_PRE : TAP_NORM_POSITION_POST;
        options.embedding.d_model = 32;
        options.encoder.d_ff = 64;
        set_dropout(&options, 0);
        struct tap_model *model = new_model(&options);
        struct tap_optimizer *optimizer = new_optimizer(model, &error);
        fill_batch(&batch, 8, lengths);
        double loss = train_step(model, tape, optimizer, &batch, 3e-3), first = loss;
        int step = 1;
        for (; step < 300 && loss >= 0.01; step++)
            loss = train_step(model, tape, optimizer, &batch, 3e-3);
        cr_assert_lt(loss, 0.01, "loss %g, at first %g, after %d steps", loss, first, step);
        tap_optimizer_free(optimizer);
        tap_model_free(model);
        tap_tape_free(tape);
    }
}

Test(model, freeing_nothing_is_allowed)
{
    tap_model_free(NULL);
    struct tap_model_options options = small_options();
    struct tap_model *model = new_model(&options);
    cr_assert_gt(model->parameters.n, 0);
    tap_model_free(model);
}
