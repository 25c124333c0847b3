/* gradcheck.c: see gradcheck.h. */
#include "gradcheck.h"

#include <math.h>

#include "rng.h"

struct checker {
    struct tap_tape *tape;
    tap_loss_function loss;
    void *context;
    struct tap_error *error;
};

/* The loss for the parameters as they stand, without a record of gradients. */
static bool evaluate(struct checker *checker, double *out)
{
    struct tap_tape *tape = checker->tape;
    tap_tape_reset(tape);
    bool before = tap_tape_set_gradients(tape, false);
    struct tap_tensor *loss = checker->loss(tape, checker->context);
    tap_tape_set_gradients(tape, before);
    if (tap_tape_failed(tape)) {
        tap_error_set(checker->error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
        return false;
    }
    if (loss == NULL || !isfinite(loss->data[0])) {
        tap_error_set(checker->error, TAP_ERR_NONFINITE, "gradient check: the loss is not finite");
        return false;
    }
    *out = (double)loss->data[0];
    return true;
}

static bool central_difference(struct checker *checker, tap_real *x, double step, double *out)
{
    tap_real kept = *x;
    double h = step * fmax(1, fabs((double)kept));
    double above = 0;
    double below = 0;
    volatile tap_real up = (tap_real)((double)kept + h); /* the step that was really made, after rounding */
    volatile tap_real down = (tap_real)((double)kept - h);
    *x = up;
    bool ok = evaluate(checker, &above);
    *x = down;
    ok = ok && evaluate(checker, &below);
    *x = kept;
    *out = (above - below) / ((double)up - (double)down);
    return ok;
}

static bool check_element(struct checker *checker, struct tap_tensor *tensor, size_t i,
                          const struct tap_gradcheck_options *options, struct tap_gradcheck_result *result)
{
#ifdef TAP_REAL_IS_DOUBLE
    double step = options->step > 0 ? options->step : 6e-6;
#else
    double step = options->step > 0 ? options->step : 5e-3;
#endif
    double gradient = (double)tensor->grad[i];
    double scale = fmax(result->largest_gradient, 1e-8);
    double difference;
    if (!central_difference(checker, &tensor->data[i], step, &difference))
        return false;
    double error = fabs(gradient - difference) / scale;
    if (options->kink_tolerance > 0 && error > options->kink_tolerance) {
        double closer;
        if (!central_difference(checker, &tensor->data[i], step / 100, &closer))
            return false;
        /* a hundredth of the step brings a hundred times the rounding error */
        if (fabs(gradient - closer) / scale <= 100 * options->kink_tolerance) {
            result->n_kinks++;
            return true;
        }
    }
    if (error > result->error || result->n_checked == 0 || isnan(error)) {
        result->error = isnan(error) ? INFINITY : error;
        result->worst = i;
        result->gradient = gradient;
        result->difference = difference;
    }
    result->n_checked++;
    return true;
}

static bool check_parameter(struct checker *checker, struct tap_parameter *parameter, size_t place,
                            const struct tap_gradcheck_options *options, struct tap_gradcheck_result *result)
{
    struct tap_tensor *tensor = &parameter->tensor;
    *result = (struct tap_gradcheck_result){.parameter = parameter};
    if (!tensor->requires_grad)
        return true;
    for (size_t i = 0; i < tensor->size; i++)
        result->largest_gradient = fmax(result->largest_gradient, fabs((double)tensor->grad[i]));
    bool all = options->elements == 0 || options->elements >= tensor->size;
    struct tap_rng rng = {.key = tap_rng_key(options->seed, TAP_RNG_TEST, 0, (uint32_t)place)};
    size_t n = all ? tensor->size : options->elements;
    for (size_t i = 0; i < n; i++) {
        size_t element = all ? i : (size_t)(tap_rng_uniform(&rng) * (double)tensor->size);
        if (!check_element(checker, tensor, element, options, result))
            return false;
    }
    return true;
}

enum tap_status tap_gradcheck(struct tap_tape *tape, struct tap_parameters *parameters, tap_loss_function loss,
                              void *context, const struct tap_gradcheck_options *options,
                              struct tap_gradcheck_result *out_results, struct tap_error *error)
{
    struct checker checker = {tape, loss, context, error};
    tap_parameters_zero_grad(parameters);
    tap_tape_reset(tape);
    struct tap_tensor *value = loss(tape, context);
    if (tap_backward(tape, value) != TAP_OK)
        return tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
    for (size_t p = 0; p < parameters->n; p++)
        if (!check_parameter(&checker, parameters->items[p], p, options, &out_results[p]))
            return error->status;
    return TAP_OK;
}
