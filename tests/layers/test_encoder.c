/* test_encoder.c: cases of one encoder layer and of the stack, against PyTorch's published vectors and their own parts. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autograd/op_cases.h"

static void add(struct layer_run *run, const struct layer_case *c, struct tap_error *error)
{
    struct tap_encoder_options options = *(const struct tap_encoder_options *)c->options;
    options.attention.d_model = c->d_model;
    tap_encoder_add(&run->layer.encoder, &run->parameters, &options, error);
}

static struct tap_tensor *forward(struct layer_run *run, const struct tap_context *context)
{
    return tap_encoder_forward(&run->layer.encoder, context, run->x);
}

static struct tap_tensor *forward_one(struct layer_run *run, const struct tap_context *context)
{
    const struct tap_encoder *encoder = &run->layer.encoder;
    return tap_encoder_layer_forward(&encoder->layers[0], &encoder->options, context, run->x, 0);
}

static void clear(struct layer_run *run)
{
    tap_encoder_clear(&run->layer.encoder);
}

#define ATTENTION {.heads = 2, .bias = true, .project_qkv = true, .scale_scores = true}
#define COMMON .d_ff = 7, .norm = TAP_NORM_LAYER, .norm_eps = 1e-5
#define DROPOUT {.heads = 2, .bias = true, .project_qkv = true, .scale_scores = true, .dropout = 0.2}
static const struct tap_encoder_options
    post = {.layers = 1, .attention = ATTENTION, .residual = true, COMMON},
    /* the final norm has no part in one layer: with no layer norm at all there is no parameter without a gradient */
    no_residual = {.layers = 1, .attention = ATTENTION, .activation = TAP_ACTIVATION_GELU, COMMON},
    no_norm = {.layers = 1, .d_ff = 5, .attention = ATTENTION, .activation = TAP_ACTIVATION_SILU, .residual = true, .norm = TAP_NORM_NONE},
    no_projection = {.layers = 1, .attention = {.heads = 3, .scale_scores = true}, .activation = TAP_ACTIVATION_GELU_TANH, .residual = true, COMMON},
    dropped = {.layers = 1, .attention = DROPOUT, .ffn_dropout = 0.3, .residual_dropout = 0.1, .residual = true, COMMON},
    pre = {.layers = 1, .attention = ATTENTION, .norm_position = TAP_NORM_POSITION_PRE, .residual = true, COMMON},
    none = {.layers = 0, .attention = ATTENTION, .norm_position = TAP_NORM_POSITION_PRE, .residual = true, COMMON},
    two_post = {.layers = 2, .attention = ATTENTION, .activation = TAP_ACTIVATION_GELU, .residual = true, COMMON},
    two_pre = {.layers = 2, .attention = {.heads = 2, .project_qkv = true, .causal = true}, .norm_position = TAP_NORM_POSITION_PRE,
               .activation = TAP_ACTIVATION_GELU, .residual = true, COMMON},
    two_dropped = {.layers = 2, .attention = DROPOUT, .norm_position = TAP_NORM_POSITION_PRE, .activation = TAP_ACTIVATION_GELU,
                   .ffn_dropout = 0.3, .residual_dropout = 0.1, .residual = true, COMMON},
    two_no_residual = {.layers = 2, .attention = ATTENTION, .activation = TAP_ACTIVATION_GELU, COMMON};
static const struct layer_case one_cases[] = {
    {"post-norm", 6, &post, false},     {"no residual", 6, &no_residual, false},     {"no norm", 6, &no_norm, false},
    {"no projections", 6, &no_projection, false}, {"dropout", 6, &dropped, true},
};
LAYER_CASES(tap_encoder_layer, one_cases, add, forward_one, clear);

static const struct layer_case cases[] = {
    {"one, pre-norm", 6, &pre, false},  {"two, post-norm", 4, &two_post, false}, {"two, pre-norm, causal, no bias", 6, &two_pre, false},
    {"two, dropout", 6, &two_dropped, true}, {"two, no residual", 6, &two_no_residual, false}, {"none, pre-norm", 5, &none, false},
};
LAYER_CASES(tap_encoder, cases, add, forward, clear);

/* The values of PyTorch's own test of nn.TransformerEncoderLayer: every parameter tensor holds cos(0), cos(1), ... */
Test(encoder_layer, pytorchs_published_vectors_come_out)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct tap_parameters parameters = {0};
    struct tap_encoder encoder = {0};
    struct tap_error error = {0};
    struct tap_encoder_options options = {.layers = 1, .d_ff = 16, .attention = ATTENTION, .residual = true, .norm_eps = 1e-5};
    const size_t one_shape[] = {1, 4}, two_shape[] = {2, 4};
    const uint32_t one_offsets[] = {0, 1}, two_offsets[] = {0, 2};
    const struct tap_segments one = {1, one_offsets, 0}, two = {1, two_offsets, 0};
    const tap_real one_token[] = {20, 30, 40, 50}, two_tokens[] = {1, 2, 3, 4, 5, 6, 7, 8};
    options.attention.d_model = 4;
    tap_encoder_add(&encoder, &parameters, &options, &error);
    initialize_all(&parameters, &error);
    for (size_t i = 0; i < parameters.n; i++)
        for (size_t j = 0; j < parameters.items[i]->tensor.size; j++)
            parameters.items[i]->tensor.data[j] = (tap_real)cos((double)j);
    /* six digits are given */
    context.segments = &one;
    assert_values(tap_encoder_forward(&encoder, &context, tap_input(tape, 2, one_shape, one_token)),
                  (const double[]){2.258703, 0.127985, -0.697881, 0.170862}, 4, 2e-6);
    context.segments = &two;
    assert_values(tap_encoder_forward(&encoder, &context, tap_input(tape, 2, two_shape, two_tokens)),
                  (const double[]){2.272644, 0.119035, -0.691669, 0.153486, 2.272644, 0.119035, -0.691669, 0.153486}, 8, 2e-6);
    tap_parameters_clear(&parameters);
    tap_encoder_clear(&encoder);
    tap_tape_free(tape);
}

Test(encoder_layer, norm_stands_behind_or_before_the_parts)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    for (int is_pre = 0; is_pre < 2; is_pre++) {
        struct layer_run run;
        struct tap_error error = {0};
        layer_set_up(&run, &tap_encoder_cases, &cases[is_pre ? 0 : 1], &error);
        const struct tap_encoder *encoder = &run.layer.encoder;
        const struct tap_encoder_layer *l = &encoder->layers[0];
        struct tap_tensor *x = run.x, *y, *z;
        if (is_pre) {
            y = tap_add(tape, x, tap_self_attention_forward(&l->self_attention, &context, tap_norm_layer_forward(&l->norm1, &context, x), 0, NULL));
            z = tap_add(tape, y, tap_feed_forward_forward(&l->feed_forward, &context, tap_norm_layer_forward(&l->norm2, &context, y), 0));
        } else {
            y = tap_norm_layer_forward(&l->norm1, &context, tap_add(tape, x, tap_self_attention_forward(&l->self_attention, &context, x, 0, NULL)));
            z = tap_norm_layer_forward(&l->norm2, &context, tap_add(tape, y, tap_feed_forward_forward(&l->feed_forward, &context, y, 0)));
        }
        struct tap_tensor *whole = tap_encoder_layer_forward(l, &encoder->options, &context, x, 0);
        cr_assert_eq(memcmp(whole->data, z->data, z->size * sizeof(tap_real)), 0, "%s", is_pre ? "pre" : "post");
        layer_tear_down(&run, &tap_encoder_cases);
        tap_tape_reset(tape);
    }
    tap_tape_free(tape);
}

Test(encoder, parameters_are_pytorchs)
{
    static const char *names[] = {"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight", "self_attn.out_proj.bias",
                                  "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias", "norm1.weight", "norm1.bias",
                                  "norm2.weight", "norm2.bias"};
    struct layer_run run;
    struct tap_error error = {0};
    layer_set_up(&run, &tap_encoder_cases, &cases[1], &error);
    cr_assert_eq(run.parameters.n, 1 + 24); /* x too */
    for (size_t i = 0; i < 24; i++) {
        char name[80];
        snprintf(name, sizeof name, "encoder.layers.%zu.%s", i / 12, names[i % 12]);
        cr_assert_str_eq(run.parameters.items[1 + i]->name, name);
    }
    layer_tear_down(&run, &tap_encoder_cases);
    layer_set_up(&run, &tap_encoder_cases, &cases[0], &error);
    cr_assert_not_null(tap_parameters_find(&run.parameters, "encoder.norm.weight"));
    cr_assert_not_null(tap_parameters_find(&run.parameters, "encoder.norm.bias"));
    layer_tear_down(&run, &tap_encoder_cases);
}

Test(encoder, every_layer_starts_with_numbers_of_its_own)
{
    enum { L = 4 };
    struct tap_parameters parameters = {0};
    struct tap_encoder encoder = {0};
    struct tap_error error = {0};
    struct tap_encoder_options options = {.layers = L, .attention = ATTENTION, .residual = true, COMMON};
    options.attention.d_model = 8;
    tap_encoder_add(&encoder, &parameters, &options, &error);
    initialize_all(&parameters, &error);
    for (int i = 0; i < L; i++)
        for (int j = 0; j < i; j++) {
            const struct tap_encoder_layer *a = &encoder.layers[i], *b = &encoder.layers[j];
            const struct tap_tensor *pairs[][2] = {{a->self_attention.in_projection.weight, b->self_attention.in_projection.weight},
                                                   {a->self_attention.out_projection.weight, b->self_attention.out_projection.weight},
                                                   {a->feed_forward.linear1.weight, b->feed_forward.linear1.weight},
                                                   {a->feed_forward.linear2.weight, b->feed_forward.linear2.weight}};
            for (int k = 0; k < 4; k++)
                for (size_t e = 0; e < pairs[k][0]->size; e++)
                    cr_assert_neq(pairs[k][0]->data[e], pairs[k][1]->data[e], "layers %d and %d, weight %d", i, j, k);
        }
    tap_parameters_clear(&parameters);
    tap_encoder_clear(&encoder);
}

Test(encoder, the_dropouts_of_a_model_have_numbers_of_their_own)
{
    /* two layers with the same parameters and only the residual dropout: if they shared random numbers, what is dropped
     * would be the same in both */
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, true);
    struct layer_run run;
    struct tap_error error = {0};
    layer_set_up(&run, &tap_encoder_cases, &cases[3], &error);
    const struct tap_encoder *encoder = &run.layer.encoder;
    struct tap_tensor *first = tap_encoder_layer_forward(&encoder->layers[0], &encoder->options, &context, run.x, 0);
    struct tap_tensor *as_second = tap_encoder_layer_forward(&encoder->layers[0], &encoder->options, &context, run.x, 1);
    cr_assert_neq(memcmp(first->data, as_second->data, first->size * sizeof(tap_real)), 0);
    struct tap_tensor *again = tap_encoder_layer_forward(&encoder->layers[0], &encoder->options, &context, run.x, 0);
    cr_assert_eq(memcmp(first->data, again->data, first->size * sizeof(tap_real)), 0);
    context.step++;
    struct tap_tensor *next_step = tap_encoder_layer_forward(&encoder->layers[0], &encoder->options, &context, run.x, 0);
    cr_assert_neq(memcmp(first->data, next_step->data, first->size * sizeof(tap_real)), 0);
    layer_tear_down(&run, &tap_encoder_cases);
    tap_tape_free(tape);
}

Test(encoder, no_layers_give_x_itself)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct tap_parameters parameters = {0};
    struct tap_encoder encoder = {0};
    struct tap_error error = {0};
    struct tap_encoder_options options = {.layers = 0, .attention = ATTENTION, .residual = true, COMMON};
    const size_t shape[] = {LAYER_TOKENS, 4};
    options.attention.d_model = 4;
    tap_encoder_add(&encoder, &parameters, &options, &error);
    cr_assert(error.status == TAP_OK && parameters.n == 0);
    struct tap_tensor *x = tap_variable(tape, 2, shape, NULL);
    cr_assert_eq(tap_encoder_forward(&encoder, &context, x), x);
    tap_encoder_clear(&encoder);
    tap_tape_free(tape);
}

Test(encoder, the_weights_of_the_first_layer_are_kept)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct layer_run run;
    struct tap_error error = {0};
    tap_real of_encoder[70], of_layer[70];
    layer_set_up(&run, &tap_encoder_cases, &cases[1], &error);
    context.out_attention_weights = of_encoder;
    cr_assert_not_null(forward(&run, &context));
    tap_self_attention_forward(&run.layer.encoder.layers[0].self_attention, &context, run.x, 0, of_layer);
    cr_assert_eq(memcmp(of_encoder, of_layer, 70 * sizeof *of_layer), 0);
    layer_tear_down(&run, &tap_encoder_cases);
    tap_tape_free(tape);
}
