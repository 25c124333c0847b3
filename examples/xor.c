/* xor.c: a network of one hidden layer learns XOR (true when exactly one of two inputs is true) on a bare tape. No
 * layer, no model: only parameters, operations, a loss and an optimizer, which is all that training is.
 *
 * Each step makes the network anew by computing it; the tape notes every operation, and tap_backward walks the notes
 * from the last to the first and adds up d loss / d parameter. A straight line cannot part XOR's two classes, so
 * without the hidden layer no training would help (Minsky and Papert 1969). */
#include "tapestry.h"

#include <stdio.h>

enum { ROWS = 4, IN = 2, HIDDEN = 8, OUT = 1, STEPS = 300 };

static const tap_real inputs[ROWS * IN] = {0, 0, 0, 1, 1, 0, 1, 1};
static const tap_real targets[ROWS * OUT] = {0, 1, 1, 0};

/* The four tensors that are trained. They outlive the tape's resets; results of operations do not. */
struct network {
    struct tap_parameters parameters; /* owns the numbers and their gradients */
    struct tap_tensor *w1, *b1, *w2, *b2;
};

static enum tap_status network_start(struct network *network, struct tap_error *error)
{
    const size_t w1[] = {IN, HIDDEN}, b1[] = {HIDDEN}, w2[] = {HIDDEN, OUT}, b2[] = {OUT};
    const struct tap_init zeros = {TAP_INIT_ZEROS, 0};
    struct tap_parameters *parameters = &network->parameters;
    /* weights start at random: equal ones would get equal gradients and stay equal for ever */
    network->w1 = tap_parameters_add(parameters, "", "w1", 2, w1, tap_init_xavier_uniform(IN, HIDDEN), error);
    network->b1 = tap_parameters_add(parameters, "", "b1", 1, b1, zeros, error);
    network->w2 = tap_parameters_add(parameters, "", "w2", 2, w2, tap_init_xavier_uniform(HIDDEN, OUT), error);
    network->b2 = tap_parameters_add(parameters, "", "b2", 1, b2, zeros, error);
    if (tap_parameters_allocate(parameters, error) == TAP_OK)
        tap_parameters_initialize(parameters, 1);
    return error->status;
}

/* y = tanh(x W1 + b1) W2 + b2 for all four rows at once. The biases (HIDDEN) and (OUT) are added to every row. An
 * operation that fails returns NULL and marks the tape, and those after it do nothing: one look at the end is enough.
 */
static struct tap_tensor *network_forward(const struct network *network, struct tap_tape *tape)
{
    const size_t shape[] = {ROWS, IN};
    struct tap_tensor *x = tap_input(tape, 2, shape, inputs);
    struct tap_tensor *hidden = tap_add(tape, tap_matmul(tape, x, network->w1, false, false), network->b1);
    struct tap_tensor *y = tap_matmul(tape, tap_tanh(tape, hidden), network->w2, false, false);
    return tap_add(tape, y, network->b2);
}

/* One step of training: forget the step before, compute, differentiate, move. The tape tells of failures. */
static enum tap_status train_step(struct network *network, struct tap_tape *tape, struct tap_optimizer *adam,
                                  double *out_loss)
{
    const size_t shape[] = {ROWS, OUT};
    tap_tape_reset(tape);
    tap_parameters_zero_grad(&network->parameters); /* gradients are added to, so they start from zero */
    struct tap_tensor *y = network_forward(network, tape);
    struct tap_tensor *loss = tap_mse(tape, y, tap_input(tape, 2, shape, targets));
    if (tap_backward(tape, loss) != TAP_OK)
        return tap_tape_error(tape)->status;
    *out_loss = (double)loss->data[0];
    return tap_optimizer_step(adam, 0.02, 1); /* learning rate; factor on the gradients, 1: no clipping */
}

/* Trains and prints. Returns whether all went well; the reason, if not, is in error. */
static bool learn_xor(struct network *network, struct tap_tape *tape, struct tap_optimizer *adam,
                      struct tap_error *error)
{
    double loss = 0;
    for (int step = 1; step <= STEPS; step++) {
        enum tap_status status = train_step(network, tape, adam, &loss);
        if (status != TAP_OK) {
            tap_error_set(error, status, "step %d: %s", step, tap_tape_error(tape)->message);
            return false;
        }
        if (step % 100 == 0)
            printf("step %d  loss %.6f\n", step, loss);
    }
    tap_tape_reset(tape);
    struct tap_tensor *y = network_forward(network, tape);
    for (int row = 0; y != NULL && row < ROWS; row++)
        printf("%.0f xor %.0f = %.3f\n", (double)inputs[row * IN], (double)inputs[row * IN + 1], (double)y->data[row]);
    return y != NULL;
}

int main(void)
{
    struct tap_error error = {0}; /* keeps the first error, and its message */
    struct network network = {0};
    const struct tap_optimizer_options constants = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    struct tap_tape *tape = tap_tape_new(&error);
    struct tap_optimizer *adam = NULL;
    bool done = false;
    if (tape != NULL && network_start(&network, &error) == TAP_OK)
        adam = tap_optimizer_new(tap_optimizer_find("adam"), &constants, &network.parameters, &error);
    if (adam != NULL)
        done = learn_xor(&network, tape, adam, &error);
    if (!done)
        fprintf(stderr, "xor: %s\n", error.message);
    tap_optimizer_free(adam); /* each free accepts NULL */
    tap_parameters_clear(&network.parameters);
    tap_tape_free(tape);
    return done ? 0 : 1;
}
