/* test_examples.c: the programs of examples/ do what the documents say of them. They are built in float alone, so the
 * double build has nothing to run. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "scratch_folder.h"
#include "tapestry.h"

#ifndef TAP_REAL_IS_DOUBLE
enum { OUTPUT_BYTES = 8192 };

/* Runs an example and reads its standard output, which must be n_lines lines; it must end with status 0. */
static void run_example(const char *name, const char *argument, int n_lines, char output[OUTPUT_BYTES])
{
    char command[4096];
    const char *bin = getenv("TAPESTRY_BIN");
    if (bin == NULL)
        snprintf(command, sizeof command, "build/test-float/examples/%s '%s'", name, argument);
    else
        snprintf(command, sizeof command, "'%s/../examples/%s' '%s'", bin, name, argument);
    FILE *stream = popen(command, "r");
    cr_assert_not_null(stream);
    size_t n = fread(output, 1, OUTPUT_BYTES - 1, stream);
    output[n] = '\0';
    int status = pclose(stream), n_found = 0;
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %d", command, status);
    for (size_t i = 0; i < n; i++)
        n_found += output[i] == '\n';
    cr_assert_eq(n_found, n_lines, "%s", output);
}

/* The start of line `number`, from 0. */
static const char *line_of(const char *output, int number)
{
    for (; number > 0; number--)
        output = strchr(output, '\n') + 1;
    return output;
}

/* Guessing has a loss of log 2 = 0.69; a model that has seen the order of words is far below. */
Test(examples, twenty_lines_learn_the_order_of_words)
{
    char output[OUTPUT_BYTES];
    run_example("twenty_lines", "", 6, output);
    for (int line = 0; line < 6; line++) {
        int epoch;
        double loss;
        cr_assert_eq(sscanf(line_of(output, line), "epoch %d loss %lf", &epoch, &loss), 2, "%s", output);
        cr_assert_eq(epoch, line + 1);
        cr_assert(line < 5 || (loss >= 0 && loss < 0.1), "loss %g", loss);
    }
}

/* Without the hidden layer the best answer to all four is 0.5. */
Test(examples, xor_is_learned)
{
    char output[OUTPUT_BYTES];
    run_example("xor", "", 7, output);
    for (int row = 0; row < 4; row++) {
        int a, b;
        double y;
        cr_assert_eq(sscanf(line_of(output, 3 + row), "%d xor %d = %lf", &a, &b, &y), 3, "%s", output);
        cr_assert_eq(2 * a + b, row);
        cr_expect_float_eq(y, a ^ b, 0.05, "%d xor %d = %g", a, b, y);
    }
}

/* The numbers of the header comment, for both ways, and gradients that are no zeros. */
Test(examples, attention_by_hand_gives_the_worked_example_both_ways)
{
    char output[OUTPUT_BYTES];
    run_example("attention_by_hand", "", 13, output);
    cr_expect_eq(strncmp(line_of(output, 1), "scores     0.7071  0.0000   0.0000  0.7071", 42), 0, "%s", output);
    for (int way = 0; way < 2; way++) {
        const int first = way == 0 ? 3 : 8;
        cr_expect_eq(strncmp(line_of(output, first), "Z          0.6698  0.3302   0.3302  0.6698\n", 43), 0, "%s",
                     output);
        cr_expect_eq(strncmp(line_of(output, first + 1), "dQ        -0.1564  0.1564  -0.3128  0.3128\n", 43), 0, "%s",
                     output);
        cr_expect_eq(strncmp(line_of(output, first + 2), "dK        -0.1564 -0.3128   0.1564  0.3128\n", 43), 0, "%s",
                     output);
        cr_expect_eq(strncmp(line_of(output, first + 3), "dV         1.6605  2.9907   2.3395  4.0093\n", 43), 0, "%s",
                     output);
    }
    double worst;
    cr_assert_eq(sscanf(line_of(output, 12), "largest difference %lf", &worst), 1, "%s", output);
    cr_expect(worst >= 0 && worst < 1e-6, "%g", worst);
}

Test(examples, classifier_tells_hunter_from_prey_after_loading, .fini = scratch_remove)
{
    char output[OUTPUT_BYTES];
    int epoch;
    double loss, accuracy;
    run_example("classifier", scratch_path("classifier.npz"), 8, output);
    cr_assert_eq(sscanf(line_of(output, 2), "epoch %d loss %lf accuracy %lf", &epoch, &loss, &accuracy), 3, "%s",
                 output);
    cr_expect(epoch == 3 && accuracy > 0.95, "%s", output);
    static const char *const labels[] = {"mouse -> hunter (", "cat -> prey (", "wolf -> prey (", "rabbit -> hunter ("};
    for (int i = 0; i < 4; i++) {
        const char *line = line_of(output, 4 + i);
        const char *found = strstr(line, labels[i]);
        cr_expect(found != NULL && found < line_of(line, 1), "%s", line);
    }
    struct tap_error error = {0};
    struct tap_checkpoint *saved = tap_checkpoint_open(scratch_path("classifier.npz"), &error);
    cr_assert_not_null(saved, "%s", error.message);
    cr_expect_eq(saved->progress.epoch, 3);
    tap_checkpoint_close(saved);
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
