/* main_evaluate.c: ./evaluate: how good a trained model is on labelled texts. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "evaluate_report.h"
#include "parallel.h"
#include "program.h"
#include "training.h"

static const char help[] =
    "Usage: ./evaluate --model FILE|DIR [--data FILE [--data-format F]] [--format text|json]\n"
    "                  [--errors N] [--baselines] [--threads N]\n"
    "\n"
    "Scores a trained model: on FILE, or on the test part (else the validation part) of the data that it was trained "
    "on.\n"
    "\n"
    "  --model FILE|DIR   a checkpoint, or a run's folder: its best.npz, else last.npz\n"
    "  --data FILE        labelled texts; - is standard input\n"
    "  --data-format F    their format; left out: as the training files (data.format)\n"
    "  --format text|json what is printed\n"
    "  --errors N         how many of the rows with a wrong answer are shown, those first that the model is most "
    "certain of;\n"
    "                     left out: 10 as text, none as json\n"
    "  --baselines        beside the model: an n-gram model without layers, trained in memory on the same training "
    "part,\n"
    "                     and the most frequent class of that part\n"
    "  --threads N        threads; 0: all\n"
    "  --help, --version\n";

enum {
    OPTION_MODEL = 256,
    OPTION_DATA,
    OPTION_DATA_FORMAT,
    OPTION_FORMAT,
    OPTION_ERRORS,
    OPTION_BASELINES,
    OPTION_THREADS,
    OPTION_HELP,
    OPTION_VERSION
};
static const struct option options[] = {
    {"model", required_argument, NULL, OPTION_MODEL},
    {"data", required_argument, NULL, OPTION_DATA},
    {"data-format", required_argument, NULL, OPTION_DATA_FORMAT},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"errors", required_argument, NULL, OPTION_ERRORS},
    {"baselines", no_argument, NULL, OPTION_BASELINES},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

struct arguments {
    const char *model, *data, *data_format, *format;
    int errors; /* -1: not given */
    bool baselines;
    int threads;
};

static bool is_json(const struct arguments *arguments)
{
    return strcmp(arguments->format, "json") == 0;
}

/* How many wrong rows to show; -1: none, and the list itself is left out. */
static int n_errors(const struct arguments *arguments)
{
    return arguments->errors >= 0 || is_json(arguments) ? arguments->errors : 10;
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    for (int c = next_option(argc, argv, options); c != -1; c = next_option(argc, argv, options))
        switch (c) {
        case OPTION_MODEL:
            arguments->model = optarg;
            break;
        case OPTION_DATA:
            arguments->data = optarg;
            break;
        case OPTION_DATA_FORMAT:
            arguments->data_format = optarg;
            break;
        case OPTION_FORMAT:
            arguments->format = optarg;
            break;
        case OPTION_ERRORS:
            if (!parse_count(optarg, &arguments->errors)) {
                report_error("--errors: %s is no number of rows; accepted: 0 to %d", optarg, INT_MAX);
                return EXIT_BAD_INPUT;
            }
            break;
        case OPTION_BASELINES:
            arguments->baselines = true;
            break;
        case OPTION_THREADS:
            if (!parse_threads(optarg, &arguments->threads))
                return EXIT_BAD_INPUT;
            break;
        case OPTION_HELP:
            fputs(help, stdout);
            return finish_output(EXIT_DONE);
        case OPTION_VERSION:
            print_version("evaluate");
            return finish_output(EXIT_DONE);
        default:
            return report_usage("./evaluate", c, argv);
        }
    if (has_words_left("./evaluate", argc, argv))
        return EXIT_BAD_INPUT;
    if (arguments->model == NULL) {
        report_error("--model FILE|DIR is needed; try ./evaluate --help");
        return EXIT_BAD_INPUT;
    }
    if (strcmp(arguments->format, "text") != 0 && !is_json(arguments)) {
        report_error("--format: %s; accepted: text, json", arguments->format);
        return EXIT_BAD_INPUT;
    }
    if (arguments->data_format != NULL && arguments->data == NULL) {
        report_error("--data-format goes with --data FILE");
        return EXIT_BAD_INPUT;
    }
    return -1;
}

/* Prints what is wanted of a model that was run on the rows. */
static enum tap_status tell(const struct arguments *arguments, const struct tap_checkpoint *checkpoint,
                            const struct scored_rows *rows, const struct evaluator *evaluator, struct tap_error *error)
{
    struct wrong_rows wrong = {0};
    struct baselines baselines = {0};
    struct evaluate_report report = {
        .scores = &evaluator->scores,
        .labels = checkpoint->label_names,
        .rows = rows,
        .wrong = evaluator->answers != NULL ? &wrong : NULL,
        .baselines = arguments->baselines ? &baselines : NULL,
    };
    if ((report.wrong == NULL ||
         wrong_rows_find(&wrong, rows, evaluator->answers, (size_t)n_errors(arguments), error) == TAP_OK) &&
        (report.baselines == NULL ||
         baselines_score(&baselines, checkpoint, rows, arguments->threads, error) == TAP_OK)) {
        if (is_json(arguments))
            evaluate_print_json(&report, error);
        else
            evaluate_print_text(&report);
    }
    wrong_rows_clear(&wrong);
    baselines_clear(&baselines);
    return error->status;
}

static enum tap_status score(const struct arguments *arguments, const struct trained *trained, struct tap_error *error)
{
    struct scored_rows rows;
    struct evaluator evaluator = {0};
    struct tap_tape *tape = NULL;
    const struct tap_checkpoint *checkpoint = trained->checkpoint;
    if (scored_rows_open(&rows, checkpoint, arguments->data, arguments->data_format, error) == TAP_OK)
        tape = tap_tape_new(error);
    if (tape != NULL &&
        evaluator_init(&evaluator, trained->model, tape, rows.dataset, (uint32_t)checkpoint->config.train.batch_size,
                       error) == TAP_OK &&
        (n_errors(arguments) < 0 || evaluator_want_answers(&evaluator, rows.dataset, error) == TAP_OK) &&
        evaluator_run(&evaluator, error) == TAP_OK)
        tell(arguments, checkpoint, &rows, &evaluator, error);
    evaluator_clear(&evaluator);
    tap_tape_free(tape);
    scored_rows_clear(&rows);
    return error->status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.format = "text", .errors = -1};
    struct tap_error error = {0};
    struct trained trained;
    program_start(argv);
    ignore_broken_pipes();
    int status = parse_arguments(argc, argv, &arguments);
    if (status >= 0)
        return status;
    tap_set_threads(arguments.threads);
    if (trained_open(&trained, arguments.model, &error) != TAP_OK)
        return report_failure(&error, false);
    status = score(&arguments, &trained, &error) == TAP_OK ? EXIT_DONE : report_failure(&error, false);
    trained_close(&trained);
    return finish_output(status);
}
