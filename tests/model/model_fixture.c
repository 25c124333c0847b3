/* model_fixture.c: see model_fixture.h. */
#include "model_fixture.h"

#include <criterion/criterion.h>
#include <math.h>

/* A small model of two layers; the dropouts are off until a test sets them. */
struct tap_model_options small_options(void)
{
    struct tap_model_options options = tap_model_default_options(VOCABULARY, CLASSES);
    options.embedding.d_model = 8;
    options.embedding.max_length = 40;
    options.encoder.attention.heads = 2;
    options.encoder.d_ff = 12;
    options.encoder.activation = TAP_ACTIVATION_GELU;
    options.embedding.dropout = options.encoder.attention.dropout = options.encoder.ffn_dropout = options.encoder.residual_dropout = 0;
    return options;
}

void set_dropout(struct tap_model_options *options, double probability)
{
    options->embedding.dropout = options->encoder.attention.dropout = options->encoder.ffn_dropout =
        options->encoder.residual_dropout = probability;
}

struct tap_model *new_model(const struct tap_model_options *options)
{
    struct tap_error error = {0};
    struct tap_model *model = tap_model_new(options, &error);
    cr_assert_not_null(model, "%s", error.message);
    tap_parameters_initialize(&model->parameters, 1);
    return model;
}

void fill_batch(struct batch *batch, uint32_t n, const uint32_t *lengths)
{
    struct tap_rng rng = {.key = tap_rng_key(8, TAP_RNG_TEST, n, lengths[0])};
    batch->segments = (struct tap_segments){n, batch->offsets, 0};
    batch->offsets[0] = 0;
    for (uint32_t s = 0; s < n; s++) {
        batch->offsets[s + 1] = batch->offsets[s] + lengths[s];
        batch->labels[s] = tap_rng_below(&rng, CLASSES);
    }
    cr_assert_leq(batch->offsets[n], MOST_TOKENS);
    for (uint32_t i = 0; i < batch->offsets[n]; i++)
        batch->tokens[i] = tap_rng_below(&rng, VOCABULARY);
}

/* n texts of 1 to `longest` tokens. */
void fill_random_batch(struct batch *batch, uint32_t n, uint32_t longest)
{
    uint32_t lengths[MOST_SEQUENCES];
    struct tap_rng rng = {.key = tap_rng_key(9, TAP_RNG_TEST, n, longest)};
    for (uint32_t s = 0; s < n; s++)
        lengths[s] = s == n / 2 ? longest : 1 + tap_rng_below(&rng, longest);
    fill_batch(batch, n, lengths);
}

struct tap_context context_of(struct tap_tape *tape, const struct batch *batch, bool training)
{
    return (struct tap_context){.tape = tape, .segments = &batch->segments, .training = training, .seed = 4, .step = 2};
}

struct tap_tensor *loss_of(struct tap_model *model, struct tap_tape *tape, const struct batch *batch, bool training)
{
    const struct tap_cross_entropy_options options = {0};
    struct tap_context context = context_of(tape, batch, training);
    return tap_cross_entropy(tape, tap_model_logits(model, &context, batch->tokens), batch->labels, &options);
}

uint32_t longest_of(const struct batch *batch)
{
    uint32_t longest = 0;
    for (uint32_t s = 0; s < batch->segments.n; s++) {
        uint32_t length = batch->offsets[s + 1] - batch->offsets[s];
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Adam with everything on. */
struct tap_optimizer *new_optimizer(const struct tap_model *model, struct tap_error *error)
{
    const struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01, .amsgrad = true};
    return tap_optimizer_new(tap_optimizer_find("adamw"), &options, &model->parameters, error);
}

/* One whole step; the loss, or NAN with the tape marked. */
double train_step(struct tap_model *model, struct tap_tape *tape, struct tap_optimizer *optimizer, const struct batch *batch, double rate)
{
    tap_tape_reset(tape);
    tap_parameters_zero_grad(&model->parameters);
    struct tap_tensor *loss = loss_of(model, tape, batch, true);
    if (tap_backward(tape, loss) != TAP_OK || tap_optimizer_step(optimizer, rate, 1) != TAP_OK)
        return NAN;
    return (double)loss->data[0];
}
