/* model.c: see model.h. */
#include "model.h"

#include "mem.h"

struct tap_model_options tap_model_default_options(size_t vocabulary, size_t classes)
{
    enum { D = 64, H = 4, L = 2, F = 256, MAX_LENGTH = 256 };
    const double dropout = 0.1;
    return (struct tap_model_options){
        .embedding = {.vocabulary = vocabulary,
                      .d_model = D,
                      .max_length = MAX_LENGTH,
                      .positions = TAP_POSITIONS_SINUSOIDAL,
                      .dropout = dropout},
        .encoder = {.layers = L,
                    .d_ff = F,
                    .attention = {.d_model = D,
                                  .heads = H,
                                  .dropout = dropout,
                                  .bias = true,
                                  .project_qkv = true,
                                  .scale_scores = true},
                    .activation = TAP_ACTIVATION_RELU,
                    .ffn_dropout = dropout,
                    .residual_dropout = dropout,
                    .residual = true,
                    .norm = TAP_NORM_LAYER,
                    .norm_position = TAP_NORM_POSITION_POST,
                    .norm_eps = 1e-5},
        .pooling = TAP_POOLING_MEAN,
        .classes = classes,
    };
}

size_t tap_model_pooled_width(const struct tap_model_options *options)
{
    return options->pooling == TAP_POOLING_MEAN_MAX ? 2 * options->embedding.d_model : options->embedding.d_model;
}

static enum tap_status check_options(const struct tap_model_options *options, struct tap_error *error)
{
    const struct tap_self_attention_options *attention = &options->encoder.attention;
    if (options->embedding.d_model < 1 || options->embedding.vocabulary < 1 || options->classes < 1 ||
        options->embedding.max_length < 1 || attention->heads < 1 || options->encoder.d_ff < 1)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "model: d_model, heads, d_ff, vocabulary, max_length and classes are at least 1");
    if (attention->d_head == 0 && options->embedding.d_model % attention->heads != 0)
        return tap_error_set(error, TAP_ERR_VALUE, "model: %zu heads do not divide d_model %zu", attention->heads,
                             options->embedding.d_model);
    size_t inner = 0;
    bool overflows = !tap_size_mul(attention->d_head, attention->heads, &inner);
    if (!attention->project_qkv && attention->d_head != 0 && (overflows || inner != options->embedding.d_model))
        return tap_error_set(error, TAP_ERR_VALUE,
                             "model: without projections %zu heads of width %zu do not make d_model %zu",
                             attention->heads, attention->d_head, options->embedding.d_model);
    if (options->embedding.d_model > SIZE_MAX / 2) /* mean_max is twice as wide */
        return tap_error_set(error, TAP_ERR_VALUE, "model: d_model %zu is too large", options->embedding.d_model);
    if (overflows || inner > SIZE_MAX / 3) /* Q, K and V lie in one tensor */
        return tap_error_set(error, TAP_ERR_VALUE, "model: %zu heads of width %zu are too large", attention->heads,
                             attention->d_head);
    return TAP_OK;
}

struct tap_model *tap_model_new(const struct tap_model_options *options, struct tap_error *error)
{
    if (check_options(options, error) != TAP_OK)
        return NULL;
    struct tap_model *model = tap_mem_new(1, sizeof *model);
    if (model == NULL) {
        tap_error_memory(error, "a model");
        return NULL;
    }
    model->options = *options;
    model->options.encoder.attention.d_model = options->embedding.d_model;
    tap_embedding_layer_add(&model->embedding, &model->parameters, &model->options.embedding, error);
    tap_encoder_add(&model->encoder, &model->parameters, &model->options.encoder, error);
    tap_linear_layer_add(&model->classifier, &model->parameters, "classifier", tap_model_pooled_width(options),
                         options->classes, model->options.encoder.attention.bias, error);
    if (tap_parameters_allocate(&model->parameters, error) != TAP_OK) {
        tap_model_free(model);
        return NULL;
    }
    return model;
}

void tap_model_free(struct tap_model *model)
{
    if (model == NULL)
        return;
    tap_parameters_clear(&model->parameters);
    tap_embedding_layer_clear(&model->embedding);
    tap_encoder_clear(&model->encoder);
    tap_mem_free(model);
}

struct tap_tensor *tap_model_encode(struct tap_model *model, const struct tap_context *context, const uint32_t *tokens)
{
    size_t n_tokens = context->segments->offsets[context->segments->n];
    struct tap_tensor *x = tap_embedding_layer_forward(&model->embedding, context, tokens, n_tokens);
    return tap_encoder_forward(&model->encoder, context, x);
}

struct tap_tensor *tap_model_pool(struct tap_model *model, const struct tap_context *context,
                                  struct tap_tensor *encoded)
{
    return tap_pool(context->tape, encoded, context->segments, model->options.pooling);
}

struct tap_tensor *tap_model_classify(struct tap_model *model, const struct tap_context *context,
                                      struct tap_tensor *pooled)
{
    return tap_linear_layer_forward(&model->classifier, context, pooled);
}

struct tap_tensor *tap_model_logits(struct tap_model *model, const struct tap_context *context, const uint32_t *tokens)
{
    return tap_model_classify(model, context, tap_model_pool(model, context, tap_model_encode(model, context, tokens)));
}

/* Sequences whose lengths add up to n_tokens: the first one is the longest, the rest share what is left. What a step
 * takes depends on these three numbers, not on how the tokens are spread. */
static void spread_lengths(uint32_t n_sequences, uint32_t n_tokens, uint32_t longest, uint32_t *offsets)
{
    offsets[0] = 0;
    for (uint32_t s = 0; s < n_sequences; s++) {
        uint32_t left = n_tokens - offsets[s];
        uint32_t share = s == 0 ? longest : left / (n_sequences - s);
        if (s + 1 == n_sequences || share > left)
            share = left;
        offsets[s + 1] = offsets[s] + share;
    }
}

enum tap_status tap_model_plan(struct tap_model *model, struct tap_tape *tape, uint32_t n_sequences, uint32_t n_tokens,
                               uint32_t longest, struct tap_tape_use *out_use, struct tap_error *error)
{
    uint32_t *offsets = tap_mem_new((size_t)n_sequences + 1, sizeof *offsets);
    if (offsets == NULL)
        return tap_error_memory(error, "a plan");
    spread_lengths(n_sequences, n_tokens, longest, offsets);
    struct tap_segments segments = {n_sequences, offsets, 0};
    struct tap_context context = {.tape = tape, .segments = &segments, .training = true};
    struct tap_cross_entropy_options loss_options = {0};
    tap_tape_set_planning(tape, true);
    struct tap_tensor *loss = tap_cross_entropy(tape, tap_model_logits(model, &context, NULL), NULL, &loss_options);
    enum tap_status status = tap_backward(tape, loss);
    if (status == TAP_OK)
        *out_use = tap_tape_use(tape);
    else
        tap_error_set(error, status, "%s", tap_tape_error(tape)->message);
    tap_tape_set_planning(tape, false);
    tap_mem_free(offsets);
    return status;
}
