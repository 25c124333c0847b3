/* main_evaluate.c: ./evaluate: how good a trained model is on labelled texts. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config_use.h"
#include "evaluation.h"
#include "gemm.h"
#include "json.h"
#include "mem.h"
#include "parallel.h"
#include "program.h"
#include "report.h"
#include "training.h"

static const char help[] =
    "Usage: ./evaluate --model FILE|DIR [--data FILE [--data-format F]] [--format text|json] [--threads N]\n"
    "\n"
    "Scores a trained model: on FILE, or on the test part (else the validation part) of the data that it was trained "
    "on.\n"
    "\n"
    "  --model FILE|DIR   a checkpoint, or a run's folder: its best.npz, else last.npz\n"
    "  --data FILE        labelled texts; - is standard input\n"
    "  --data-format F    their format; left out: as the training files (data.format)\n"
    "  --format text|json what is printed\n"
    "  --threads N        threads; 0: all\n"
    "  --help, --version\n";

enum {
    OPTION_MODEL = 256,
    OPTION_DATA,
    OPTION_DATA_FORMAT,
    OPTION_FORMAT,
    OPTION_THREADS,
    OPTION_HELP,
    OPTION_VERSION
};
static const struct option options[] = {
    {"model", required_argument, NULL, OPTION_MODEL},
    {"data", required_argument, NULL, OPTION_DATA},
    {"data-format", required_argument, NULL, OPTION_DATA_FORMAT},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

struct arguments {
    const char *model, *data, *data_format, *format;
    int threads;
};

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
    if (strcmp(arguments->format, "text") != 0 && strcmp(arguments->format, "json") != 0) {
        report_error("--format: %s; accepted: text, json", arguments->format);
        return EXIT_BAD_INPUT;
    }
    if (arguments->data_format != NULL && arguments->data == NULL) {
        report_error("--data-format goes with --data FILE");
        return EXIT_BAD_INPUT;
    }
    return -1;
}

/* The rows to score: of a file, or of the data that the model was trained on (then *out_data holds them). */
static enum tap_status open_rows(const struct arguments *arguments, const struct tap_checkpoint *checkpoint,
                                 struct tap_dataset *own, struct tap_data **out_data,
                                 const struct tap_dataset **out_rows, struct tap_error *error)
{
    struct tap_data_options data_options = tap_config_data_options(&checkpoint->config);
    if (arguments->data != NULL) {
        struct tap_read_options read_options = tap_data_read_options(&data_options);
        if (arguments->data_format != NULL)
            read_options.format = arguments->data_format;
        *out_rows = own;
        return tap_dataset_read(arguments->data, &read_options, checkpoint->tokenizer, checkpoint->label_names,
                                checkpoint->labels.n, own, error);
    }
    *out_data =
        tap_data_open(&data_options, checkpoint->tokenizer, checkpoint->label_names, checkpoint->labels.n, error);
    if (*out_data == NULL || tap_checkpoint_check_files(checkpoint, *out_data, error) != TAP_OK)
        return error->status;
    if ((*out_data)->parts[TAP_PART_TEST].n_rows > 0)
        *out_rows = &(*out_data)->parts[TAP_PART_TEST];
    else if ((*out_data)->parts[TAP_PART_VALID].n_rows > 0)
        *out_rows = &(*out_data)->parts[TAP_PART_VALID];
    else
        return tap_error_set(error, TAP_ERR_VALUE,
                             "the model's data have neither a test nor a validation part; name a file with --data");
    return TAP_OK;
}

static struct tap_json *class_report(const struct scores *scores, const char *const *labels, struct tap_error *error)
{
    struct tap_json *classes = tap_json_new_object(error);
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct class_scores one = scores_of_class(scores, c);
        struct tap_json *object = tap_json_new_object(error);
        tap_json_set_real(object, "precision", one.precision, error);
        tap_json_set_real(object, "recall", one.recall, error);
        tap_json_set_real(object, "f1", one.f1, error);
        tap_json_set_integer(object, "support", (int64_t)one.support, error);
        tap_json_set(classes, labels[c], object, error);
    }
    return classes;
}

static char *json_report(const struct scores *scores, const char *const *labels, struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    struct tap_json *names = tap_json_new_array(error);
    struct tap_json *table = tap_json_new_array(error);
    tap_json_set_integer(object, "rows", (int64_t)scores->n_rows, error);
    tap_json_set_real(object, "loss", scores_loss(scores), error);
    tap_json_set_real(object, "accuracy", scores_accuracy(scores), error);
    tap_json_set_real(object, "macro_f1", scores_macro_f1(scores), error);
    tap_json_set_real(object, "weighted_f1", scores_weighted_f1(scores), error);
    tap_json_set_real(object, "mcc", scores_mcc(scores), error);
    tap_json_set(object, "classes", class_report(scores, labels, error), error);
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct tap_json *row = tap_json_new_array(error);
        tap_json_append_text(names, labels[c], error);
        for (size_t other = 0; other < scores->n_classes; other++)
            tap_json_append_integer(row, (int64_t)scores->confusion[c * scores->n_classes + other], error);
        tap_json_append(table, row, error);
    }
    tap_json_set(object, "labels", names, error);
    tap_json_set(object, "confusion", table, error);
    char *text = error->status == TAP_OK ? tap_json_dump(object, TAP_JSON_DIGITS_DOUBLE, NULL, error) : NULL;
    tap_json_free(object);
    return text;
}

static void text_report(const struct scores *scores, const char *const *labels)
{
    printf("rows %llu  loss %.4f  accuracy %.2f%%  macro F1 %.4f  weighted F1 %.4f  MCC %.4f\n",
           (unsigned long long)scores->n_rows, scores_loss(scores), 100 * scores_accuracy(scores),
           scores_macro_f1(scores), scores_weighted_f1(scores), scores_mcc(scores));
    printf("%-24s %9s %9s %9s %9s\n", "class", "precision", "recall", "F1", "rows");
    for (size_t c = 0; c < scores->n_classes; c++) {
        struct class_scores one = scores_of_class(scores, c);
        printf("%-24s %9.4f %9.4f %9.4f %9llu\n", labels[c], one.precision, one.recall, one.f1,
               (unsigned long long)one.support);
    }
}

static enum tap_status score(const struct arguments *arguments, const struct trained *trained, struct tap_error *error)
{
    struct tap_dataset own = {0};
    struct tap_data *data = NULL;
    const struct tap_dataset *rows = NULL;
    struct evaluator evaluator = {0};
    struct tap_tape *tape = NULL;
    const struct tap_checkpoint *checkpoint = trained->checkpoint;
    if (open_rows(arguments, checkpoint, &own, &data, &rows, error) == TAP_OK)
        tape = tap_tape_new(error);
    if (tape != NULL &&
        evaluator_init(&evaluator, trained->model, tape, rows, (uint32_t)checkpoint->config.train.batch_size, error) ==
            TAP_OK &&
        evaluator_run(&evaluator, error) == TAP_OK) {
        if (strcmp(arguments->format, "json") == 0) {
            char *text = json_report(&evaluator.scores, checkpoint->label_names, error);
            if (text != NULL)
                puts(text);
            tap_mem_free(text);
        } else {
            text_report(&evaluator.scores, checkpoint->label_names);
        }
    }
    evaluator_clear(&evaluator);
    tap_tape_free(tape);
    tap_data_free(data);
    tap_dataset_clear(&own);
    return error->status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.format = "text"};
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
