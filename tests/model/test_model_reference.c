/* test_model_reference.c: the model against PyTorch on every case of tests/reference/encoders.txt: logits, loss, every
 * gradient, and the parameters after ten steps of each optimizer. */
#include "encoder_reference.h"
#include "model.h"
#include "optimizer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/op_cases.h"

/* Relative to a tensor's largest element. */
#ifdef TAP_REAL_IS_DOUBLE
#define GRADIENT_TOLERANCE 1e-10
#define STEPS_TOLERANCE 1e-9 /* ten steps of Adam blow rounding of small gradients up */
#else
#define GRADIENT_TOLERANCE 1e-5
#define STEPS_TOLERANCE 1e-4
#endif
/* A tensor whose largest gradient is this much below the model's largest has a true gradient of zero. */
#define ZERO_SHARE 1e-6

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static struct tap_model_options options_of(const struct encoder_reference *r)
{
    struct tap_model_options options = tap_model_default_options(r->vocab, r->classes);
    options.embedding = (struct tap_embedding_options){
        .vocabulary = r->vocab,
        .d_model = r->d_model,
        .max_length = r->max_length,
        .positions = is(r->positions, "none") ? TAP_POSITIONS_NONE : is(r->positions, "learned") ? TAP_POSITIONS_LEARNED : TAP_POSITIONS_SINUSOIDAL,
        .scale = is(r->embedding_scale, "sqrt"),
    };
    options.encoder = (struct tap_encoder_options){
        .layers = r->layers,
        .d_ff = r->d_ff,
        .attention = {.d_model = r->d_model, .heads = r->heads, .bias = true, .project_qkv = true, .scale_scores = true, .causal = r->causal},
        .activation = is(r->activation, "gelu") ? TAP_ACTIVATION_GELU : TAP_ACTIVATION_RELU,
        .residual = true,
        .norm = TAP_NORM_LAYER,
        .norm_position = is(r->norm_position, "pre") ? TAP_NORM_POSITION_PRE : TAP_NORM_POSITION_POST,
        .norm_eps = r->norm_eps,
    };
    options.pooling = is(r->pooling, "max") ? TAP_POOLING_MAX : is(r->pooling, "cls")    ? TAP_POOLING_CLS
                      : is(r->pooling, "mean_max") ? TAP_POOLING_MEAN_MAX
                                                   : TAP_POOLING_MEAN;
    return options;
}

static struct tap_model *model_of(const struct encoder_reference *r)
{
    struct tap_error error = {0};
    const struct tap_model_options options = options_of(r);
    struct tap_model *model = tap_model_new(&options, &error);
    cr_assert_not_null(model, "%s: %s", r->name, error.message);
    for (size_t i = 0; i < model->parameters.n; i++) {
        struct tap_tensor *tensor = &model->parameters.items[i]->tensor;
        double *values = malloc((tensor->size + 1) * sizeof *values);
        reference_fill(r, model->parameters.items[i]->name, tensor->size, values);
        for (size_t j = 0; j < tensor->size; j++)
            tensor->data[j] = (tap_real)values[j];
        free(values);
    }
    return model;
}

/* Forward and backward: gradients are added to the model's; returns the logits, with the loss in *out_loss. */
static struct tap_tensor *run(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape, double *out_loss)
{
    const struct tap_segments segments = {(uint32_t)r->n_sequences, r->offsets, 0};
    struct tap_context context = {.tape = tape, .segments = &segments, .training = true};
    tap_real weights[16];
    cr_assert_leq(r->n_class_weights, 16);
    for (size_t i = 0; i < r->n_class_weights; i++)
        weights[i] = (tap_real)r->class_weights[i];
    const struct tap_cross_entropy_options loss_options = {.label_smoothing = r->label_smoothing,
                                                           .class_weights = r->class_weights == NULL ? NULL : weights};
    tap_tape_reset(tape);
    struct tap_tensor *logits = tap_model_logits(model, &context, r->tokens);
    struct tap_tensor *loss = tap_cross_entropy(tape, logits, r->labels, &loss_options);
    cr_assert_eq(tap_backward(tape, loss), TAP_OK, "%s: %s", r->name, tap_tape_error(tape)->message);
    *out_loss = (double)loss->data[0];
    return logits;
}

static double largest_of(size_t n, const double *values)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(values[i]));
    return largest;
}

/* Whether element i of a parameter belongs to the keys' bias, on which no output depends. */
static bool is_key_bias(const char *name, size_t n, size_t i)
{
    size_t length = strlen(name), ending = strlen("in_proj_bias");
    return length > ending && is(name + length - ending, "in_proj_bias") && i >= n / 3 && i < 2 * n / 3;
}

/* Calls `check` for every case, with a model that has its initial parameters. */
static void for_each_case(void (*check)(const struct encoder_reference *, struct tap_model *, struct tap_tape *))
{
    struct tap_error error = {0};
    struct encoder_references *references = encoder_references_new(ENCODER_REFERENCE_PATH, &error);
    cr_assert_not_null(references, "%s", error.message);
    struct tap_tape *tape = test_tape();
    for (size_t i = 0; i < references->n; i++) {
        struct tap_model *model = model_of(&references->cases[i]);
        check(&references->cases[i], model, tape);
        tap_model_free(model);
    }
    tap_tape_free(tape);
    encoder_references_free(references);
}

static void check_names(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape)
{
    (void)tape;
    size_t n_gradients = 0;
    for (size_t i = 0; i < r->n_arrays; i++)
        n_gradients += r->arrays[i].section == REFERENCE_GRADIENT;
    cr_expect_eq(model->parameters.n, n_gradients, "%s has %zu parameters, PyTorch %zu", r->name, model->parameters.n, n_gradients);
    for (size_t i = 0; i < model->parameters.n; i++) {
        size_t n = 0;
        const struct tap_parameter *parameter = model->parameters.items[i];
        cr_expect_not_null(encoder_reference_find(r, REFERENCE_GRADIENT, parameter->name, &n), "%s: %s", r->name, parameter->name);
        cr_expect_eq(n, parameter->tensor.size, "%s: %s", r->name, parameter->name);
    }
}

Test(model_reference, parameters_are_pytorchs_by_name_and_size)
{
    for_each_case(check_names);
}

static void check_logits(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape)
{
    double loss, largest = largest_of(r->n_sequences * r->classes, r->logits);
    struct tap_tensor *logits = run(r, model, tape, &loss);
    cr_assert_eq(logits->size, r->n_sequences * r->classes);
    for (size_t i = 0; i < logits->size; i++)
        cr_expect(fabs((double)logits->data[i] - r->logits[i]) <= GRADIENT_TOLERANCE * largest, "%s, logit %zu: %.12g, not %.12g",
                  r->name, i, (double)logits->data[i], r->logits[i]);
    cr_expect(fabs(loss - r->loss) <= GRADIENT_TOLERANCE * fabs(r->loss), "%s: loss %.12g, not %.12g", r->name, loss, r->loss);
}

Test(model_reference, logits_and_loss_are_pytorchs)
{
    for_each_case(check_logits);
}

static void check_gradients(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape)
{
    double loss, model_largest = 0;
    run(r, model, tape, &loss);
    for (size_t i = 0; i < r->n_arrays; i++)
        if (r->arrays[i].section == REFERENCE_GRADIENT)
            model_largest = fmax(model_largest, largest_of(r->arrays[i].n, r->arrays[i].values));
    for (size_t p = 0; p < model->parameters.n; p++) {
        const struct tap_parameter *parameter = model->parameters.items[p];
        size_t n = 0, worst = 0;
        const double *right = encoder_reference_find(r, REFERENCE_GRADIENT, parameter->name, &n);
        double largest = largest_of(n, right), error = 0;
        if (largest < ZERO_SHARE * model_largest)
            largest = model_largest;
        for (size_t i = 0; i < n; i++) {
            double scale = is_key_bias(parameter->name, n, i) ? model_largest : largest;
            double own = fabs((double)parameter->tensor.grad[i] - right[i]) / scale;
            if (!(own <= error)) {
                error = own;
                worst = i;
            }
        }
        cr_expect(error <= GRADIENT_TOLERANCE, "%s, %s, element %zu: %.12g, not %.12g; error %g", r->name, parameter->name, worst,
                  (double)parameter->tensor.grad[worst], right[worst], error);
    }
}

Test(model_reference, every_gradient_is_pytorchs)
{
    for_each_case(check_gradients);
}

/* Ten steps from the initial parameters; then every parameter is compared. */
static void check_steps(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape, const char *kind,
                        enum reference_section section, double learning_rate)
{
    struct tap_error error = {0};
    const struct tap_optimizer_options options = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8,
                                                  .weight_decay = section == REFERENCE_ADAMW ? REFERENCE_ADAMW_DECAY : 0};
    if (!r->has_steps)
        return;
    struct tap_optimizer *optimizer = tap_optimizer_new(tap_optimizer_find(kind), &options, &model->parameters, &error);
    cr_assert_not_null(optimizer, "%s", error.message);
    const double *losses = encoder_reference_find(r, section, "loss", NULL);
    for (int step = 0; step < REFERENCE_STEPS; step++) {
        double loss;
        tap_parameters_zero_grad(&model->parameters);
        run(r, model, tape, &loss);
        cr_expect(fabs(loss - losses[step]) <= STEPS_TOLERANCE * losses[0], "%s, %s, step %d: loss %.12g, not %.12g", r->name, kind,
                  step, loss, losses[step]);
        cr_assert_eq(tap_optimizer_step(optimizer, learning_rate, 1), TAP_OK);
    }
    for (size_t p = 0; p < model->parameters.n; p++) {
        const struct tap_parameter *parameter = model->parameters.items[p];
        size_t n = 0;
        const double *right = encoder_reference_find(r, section, parameter->name, &n);
        double largest = largest_of(n, right);
        cr_assert_eq(n, parameter->tensor.size);
        for (size_t i = 0; i < n; i++)
            if (!is_key_bias(parameter->name, n, i))
                cr_expect(fabs((double)parameter->tensor.data[i] - right[i]) <= STEPS_TOLERANCE * largest,
                          "%s, %s, %s, element %zu: %.12g, not %.12g", r->name, kind, parameter->name, i,
                          (double)parameter->tensor.data[i], right[i]);
    }
    tap_optimizer_free(optimizer);
}

static void check_sgd(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape)
{
    check_steps(r, model, tape, "sgd", REFERENCE_SGD, REFERENCE_SGD_LR);
}

static void check_adam(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape)
{
    check_steps(r, model, tape, "adam", REFERENCE_ADAM, REFERENCE_ADAM_LR);
}

static void check_adamw(const struct encoder_reference *r, struct tap_model *model, struct tap_tape *tape)
{
    check_steps(r, model, tape, "adamw", REFERENCE_ADAMW, REFERENCE_ADAM_LR);
}

Test(model_reference, ten_steps_of_sgd_are_pytorchs)
{
    for_each_case(check_sgd);
}

Test(model_reference, ten_steps_of_adam_are_pytorchs)
{
    for_each_case(check_adam);
}

Test(model_reference, ten_steps_of_adamw_are_pytorchs)
{
    for_each_case(check_adamw);
}
