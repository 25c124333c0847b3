/* main_gradcheck.c: ./gradcheck: proves the gradients of the model that a config describes. Built in double, on a few
 * short sequences of the config's own data, dropout on as the config says: its random numbers are counted, so every
 * evaluation drops the same elements. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>

#include "config_use.h"
#include "gradcheck.h"
#include "mem.h"
#include "model_build.h"
#include "parallel.h"
#include "program.h"
#include "report.h"
#include "training.h"

static const char help[] =
    "Usage: ./gradcheck --config FILE [--set group.key=value]... [--all]\n"
    "\n"
    "Builds the model that the config describes, in double, and compares its gradients with central differences.\n"
    "\n"
    "  --config FILE          the config\n"
    "  --set group.key=value  sets one key over the config's; may be repeated\n"
    "  --all                  checks every number of every parameter, not 32 of each\n"
    "  --help, --version\n"
    "\n"
    "Prints a line a parameter: the largest error, relative to the parameter's largest gradient. An error that a "
    "hundred\n"
    "times smaller step removes is a kink (ReLU, max) and counted apart. Exit status 1 when an error is above 1e-6.\n";

#define TOLERANCE 1e-6
#define ELEMENTS 32
#define MOST_SEQUENCES 4
#define MOST_TOKENS 16 /* of each sequence */

enum { OPTION_CONFIG = 256, OPTION_SET, OPTION_ALL, OPTION_HELP, OPTION_VERSION };
static const struct option options[] = {
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"set", required_argument, NULL, OPTION_SET},
    {"all", no_argument, NULL, OPTION_ALL},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

struct arguments {
    const char *config;
    const char **sets;
    size_t n_sets;
    bool all;
};

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    for (int c = next_option(argc, argv, options); c != -1; c = next_option(argc, argv, options))
        switch (c) {
        case OPTION_CONFIG:
            arguments->config = optarg;
            break;
        case OPTION_SET:
            arguments->sets[arguments->n_sets++] = optarg;
            break;
        case OPTION_ALL:
            arguments->all = true;
            break;
        case OPTION_HELP:
            fputs(help, stdout);
            return EXIT_DONE;
        case OPTION_VERSION:
            print_version("gradcheck");
            return EXIT_DONE;
        default:
            return report_usage("./gradcheck", c, argv);
        }
    if (has_words_left("./gradcheck", argc, argv))
        return EXIT_BAD_INPUT;
    if (arguments->config == NULL) {
        report_error("--config FILE is needed; try ./gradcheck --help");
        return EXIT_BAD_INPUT;
    }
    return -1;
}

/* The batch and model that are checked. */
struct subject {
    struct tap_model *model;
    struct tap_context context;
    struct tap_segments segments;
    uint32_t offsets[MOST_SEQUENCES + 1];
    uint32_t tokens[MOST_SEQUENCES * MOST_TOKENS];
    uint32_t labels[MOST_SEQUENCES];
    struct tap_ngram_batch ngrams;
    double label_smoothing;
};

/* The first sequences of the training part, cut to a few tokens. */
static enum tap_status take_batch(struct subject *subject, const struct tap_dataset *dataset, struct tap_error *error)
{
    uint32_t n = dataset->n_rows < MOST_SEQUENCES ? dataset->n_rows : MOST_SEQUENCES;
    for (uint32_t s = 0; s < n; s++) {
        size_t length = dataset->offsets[s + 1] - dataset->offsets[s];
        uint32_t taken = length < MOST_TOKENS ? (uint32_t)length : MOST_TOKENS;
        for (uint32_t t = 0; t < taken; t++)
            subject->tokens[subject->offsets[s] + t] = dataset->tokens[dataset->offsets[s] + t];
        subject->offsets[s + 1] = subject->offsets[s] + taken;
        subject->labels[s] = dataset->labels[s];
        if (dataset->has_ngrams &&
            !tap_ngram_batch_add(&subject->ngrams, &dataset->ngrams, dataset->offsets[s], taken, NULL))
            return tap_error_memory(error, "n-grams");
    }
    subject->segments = (struct tap_segments){n, subject->offsets, 0};
    subject->context.segments = &subject->segments;
    subject->context.ngrams = dataset->has_ngrams ? tap_ngram_batch_view(&subject->ngrams) : NULL;
    return TAP_OK;
}

static struct tap_tensor *loss_of(struct tap_tape *tape, void *context)
{
    struct subject *subject = context;
    struct tap_cross_entropy_options loss_options = {.label_smoothing = subject->label_smoothing};
    subject->context.tape = tape;
    struct tap_tensor *logits = tap_model_logits(subject->model, &subject->context, subject->tokens);
    return tap_cross_entropy(tape, logits, subject->labels, &loss_options);
}

/* One line a parameter; the number of parameters whose error is too large. */
static size_t print_results(const struct tap_gradcheck_result *results, size_t n)
{
    size_t n_wrong = 0;
    size_t n_kinks = 0;
    size_t n_checked = 0;
    size_t n_parameters = 0;
    printf("%-48s %8s %6s %12s %12s\n", "parameter", "checked", "kinks", "largest", "error");
    for (size_t p = 0; p < n; p++) {
        const struct tap_gradcheck_result *result = &results[p];
        if (!result->parameter->tensor.requires_grad)
            continue;
        bool wrong = !(result->error <= TOLERANCE);
        printf("%-48s %8zu %6zu %12.4g %12.3g%s\n", result->parameter->name, result->n_checked, result->n_kinks,
               result->largest_gradient, result->error, wrong ? "  WRONG" : "");
        if (wrong)
            printf("    element %zu: gradient %.12g, central difference %.12g\n", result->worst, result->gradient,
                   result->difference);
        n_parameters++;
        n_wrong += wrong;
        n_kinks += result->n_kinks;
        n_checked += result->n_checked;
    }
    printf("%zu numbers of %zu parameters checked, %zu kinks, %zu parameters wrong\n", n_checked, n_parameters, n_kinks,
           n_wrong);
    return n_wrong;
}

/* Checks all gradients; the exit status. */
static int check(struct subject *subject, bool all)
{
    struct tap_error error = {0};
    struct tap_parameters *parameters = &subject->model->parameters;
    struct tap_gradcheck_options check_options = {
        .elements = all ? 0 : ELEMENTS, .seed = subject->context.seed, .kink_tolerance = TOLERANCE};
    struct tap_gradcheck_result *results = tap_mem_new(parameters->n, sizeof *results);
    struct tap_tape *tape = tap_tape_new(&error);
    int status = EXIT_DONE;
    if (results == NULL)
        tap_error_memory(&error, "results");
    if (results == NULL || tape == NULL ||
        tap_gradcheck(tape, parameters, loss_of, subject, &check_options, results, &error) != TAP_OK)
        status = report_failure(&error, true);
    else if (print_results(results, parameters->n) > 0)
        status = EXIT_RUN_FAILED;
    tap_tape_free(tape);
    tap_mem_free(results);
    return status;
}

static int run(const struct tap_config *config, bool all)
{
    struct tap_error error = {0};
    struct tap_data_options data_options = tap_config_data_options(config);
    struct subject subject = {.label_smoothing = config->train.label_smoothing,
                              .context = {.training = true, .seed = (uint64_t)config->train.seed, .step = 1}};
    struct tap_data *data = tap_data_open(&data_options, NULL, NULL, 0, &error);
    if (data != NULL && take_batch(&subject, &data->parts[TAP_PART_TRAIN], &error) == TAP_OK)
        subject.model = tap_model_build(config, tap_tokenizer_n_tokens(data->tokenizer), data->n_labels, NULL, &error);
    int status = subject.model == NULL ? report_failure(&error, false) : check(&subject, all);
    tap_model_free(subject.model);
    tap_ngram_batch_clear(&subject.ngrams);
    tap_data_free(data);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct tap_error error = {0};
    struct tap_config config;
    program_start(argv);
    ignore_broken_pipes();
    arguments.sets = tap_mem_new((size_t)argc + 1, sizeof *arguments.sets);
    if (arguments.sets == NULL || !tap_config_init(&config, &error)) {
        tap_mem_free(arguments.sets);
        report_error("out of memory");
        return EXIT_RUN_FAILED;
    }
    int status = parse_arguments(argc, argv, &arguments);
    if (status < 0)
        status = load_config(&config, arguments.config, NULL, arguments.sets, arguments.n_sets, NULL);
    if (status < 0) {
        tap_set_threads(config.train.threads);
        status = run(&config, arguments.all);
    }
    tap_config_clear(&config);
    tap_mem_free(arguments.sets);
    return finish_output(status);
}
