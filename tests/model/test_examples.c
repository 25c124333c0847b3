/* test_examples.c: the programs of examples/ do what the documents say of them. They are built in float alone, so the
 * double build has nothing to run. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tapestry.h"

#ifndef TAP_REAL_IS_DOUBLE
/* Runs an example; the last number of its output, which must be the loss of epoch `n_epochs`. */
static double last_loss(const char *name, int n_epochs)
{
    char command[4096], line[256];
    int epoch = 0, n_lines = 0;
    double loss = -1;
    const char *bin = getenv("TAPESTRY_BIN");
    if (bin == NULL)
        snprintf(command, sizeof command, "build/test-float/examples/%s", name);
    else
        snprintf(command, sizeof command, "'%s/../examples/%s'", bin, name);
    FILE *output = popen(command, "r");
    cr_assert_not_null(output);
    for (; fgets(line, sizeof line, output) != NULL; n_lines++)
        cr_assert_eq(sscanf(line, "epoch %d loss %lf", &epoch, &loss), 2, "%s", line);
    int status = pclose(output);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %d", command, status);
    cr_assert_eq(n_lines, n_epochs);
    cr_assert_eq(epoch, n_epochs);
    return loss;
}

/* Guessing has a loss of log 2 = 0.69; a model that has seen the order of words is far below. */
Test(examples, twenty_lines_learn_the_order_of_words)
{
    double loss = last_loss("twenty_lines", 6);
    cr_assert(loss >= 0 && loss < 0.1, "loss %g", loss);
}
#endif

Test(examples, the_header_for_applications_offers_every_part)
{
    struct tap_error error = {0};
    struct tap_model_options shape = tap_model_default_options(10, 2);
    struct tap_model *model = tap_model_new(&shape, &error);
    struct tap_tape *tape = tap_tape_new(&error);
    cr_assert(model != NULL && tape != NULL, "%s", error.message);
    const uint32_t tokens[] = {1, 2, 3}, offsets[] = {0, 2, 3}, labels[] = {0, 1};
    const struct tap_segments segments = {2, offsets, 0};
    const struct tap_context context = {.tape = tape, .segments = &segments};
    const struct tap_cross_entropy_options plain = {0};
    struct tap_tensor *logits = tap_model_logits(model, &context, tokens);
    cr_assert_eq(tap_backward(tape, tap_cross_entropy(tape, logits, labels, &plain)), TAP_OK, "%s",
                 tap_tape_error(tape)->message);
    cr_assert_eq(tap_clip_factor(tap_parameters_grad_norm(&model->parameters), 0), 1);
    const struct tap_schedule_options schedule = {.schedule = tap_schedule_find("constant"), .lr = 0.5, .steps = 3};
    cr_assert_eq(tap_schedule_rate(&schedule, 1), 0.5);
    tap_tape_free(tape);
    tap_model_free(model);
}
