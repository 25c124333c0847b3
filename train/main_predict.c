/* main_predict.c: ./predict: a text in, a result out, in the same order, as they come. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config_number.h"
#include "parallel.h"
#include "prediction_input.h"
#include "report.h"
#include "training.h"

static const char help[] =
    "Usage: ./predict --model FILE|DIR [--input FILE] [--input-format text|csv|tsv|jsonl] [--text-column NAME|N]\n"
    "                 [--format label|tsv|jsonl] [--top K] [--threshold P [--abstain LABEL]] [--threads N] ...\n"
    "\n"
    "Reads texts and writes a result for each, in the same order: a line a text, or a table's records, whose other\n"
    "columns are kept.\n"
    "\n"
    "  --model FILE|DIR   a checkpoint, or a run's folder: its best.npz, else last.npz\n"
    "  --input FILE       the texts, in UTF-8, plain or gzip; standard input when left out, or -\n"
    "  --input-format text  a text a line (the default)\n"
    "           csv       columns by RFC 4180, between commas, semicolons or tabs\n"
    "           tsv       columns between tabs, no quoting\n"
    "           jsonl     a JSON object a line\n"
    "                     in a table, empty lines at the end are passed over, others refused\n"
    "  --text-column C    csv, tsv, jsonl: where the text stands, a number from 1 or a name; left out: as in the "
    "training\n"
    "                     files when they were of this format, else column 1, in jsonl the member text\n"
    "  --header H         csv, tsv: auto (yes when the column is given by name), yes, no; left out: auto, or as in "
    "the\n"
    "                     training files when the column is theirs\n"
    "  --format label     the most probable label; the default for text\n"
    "           tsv       label, its probability, the text; no text of a table may hold a tab or line break then\n"
    "           jsonl     text, token numbers, label, logits, all probabilities\n"
    "                     left out with csv, tsv, jsonl: the records as they came, with predicted_label and\n"
    "                     predicted_probability added behind; lines end as the input's first one does\n"
    "  --top K            the K most probable labels (more than there are: all). label: between tabs; tsv: label,\n"
    "                     probability, label, probability, ..., text; jsonl: a member top; else added columns\n"
    "                     predicted_label_2, predicted_probability_2, ...\n"
    "  --threshold P      when the best probability is below P (0 to 1), the answer is the abstain label: the first "
    "label,\n"
    "                     in jsonl the member label; probabilities stay, further labels and jsonl's top too\n"
    "  --abstain LABEL    that label; left out: unknown\n"
    "  --vectors V        with --format jsonl, the encoder's output too: of the sequence, or of every token; none\n"
    "  --threads N        threads; 0: all\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 done; 1 the run failed; 2 bad usage, model or input. What came before a bad line is answered.\n";

enum {
    OPTION_MODEL = 256,
    OPTION_INPUT,
    OPTION_INPUT_FORMAT,
    OPTION_TEXT_COLUMN,
    OPTION_HEADER,
    OPTION_FORMAT,
    OPTION_TOP,
    OPTION_THRESHOLD,
    OPTION_ABSTAIN,
    OPTION_VECTORS,
    OPTION_THREADS,
    OPTION_HELP,
    OPTION_VERSION
};
static const struct option options[] = {
    {"model", required_argument, NULL, OPTION_MODEL},
    {"input", required_argument, NULL, OPTION_INPUT},
    {"input-format", required_argument, NULL, OPTION_INPUT_FORMAT},
    {"text-column", required_argument, NULL, OPTION_TEXT_COLUMN},
    {"header", required_argument, NULL, OPTION_HEADER},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"top", required_argument, NULL, OPTION_TOP},
    {"threshold", required_argument, NULL, OPTION_THRESHOLD},
    {"abstain", required_argument, NULL, OPTION_ABSTAIN},
    {"vectors", required_argument, NULL, OPTION_VECTORS},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

#define NOT_GIVEN (-1)

struct arguments {
    const char *model, *input;
    const char *text_column, *header, *abstain; /* NULL: not given */
    int source;                                 /* enum prediction_source */
    int format, vectors;                        /* enum prediction_format or NOT_GIVEN, enum prediction_vectors */
    int top;                                    /* 0: not given */
    double threshold;                           /* NOT_GIVEN */
    int threads;
};

/* The number of `word` among `words`, which end in NULL; false after telling what is accepted. */
static bool choose(const char *option, const char *word, const char *const *words, int *out)
{
    char accepted[128] = "";
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(accepted);
        snprintf(accepted + used, sizeof accepted - used, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    report_error("%s: %s; accepted: %s", option, word, accepted);
    return false;
}

static bool parse_top(const char *text, int *out)
{
    bool is_good = tap_config_read_integer(text, strlen(text), out) == TAP_CONFIG_NUMBER_OK && *out >= 1;
    if (!is_good)
        report_error("--top: %s; accepted: a number of labels from 1 to 2147483647", text);
    return is_good;
}

static bool parse_threshold(const char *text, double *out)
{
    bool is_good = tap_config_read_real(text, strlen(text), out) == TAP_CONFIG_NUMBER_OK && *out >= 0 && *out <= 1;
    if (!is_good)
        report_error("--threshold: %s; accepted: a probability from 0 to 1", text);
    return is_good;
}

/* Takes the value of an option; false after telling what is wrong with it. */
static bool take_option(int option, const char *value, struct arguments *arguments)
{
    static const char *const sources[] = {"text", "csv", "tsv", "jsonl", NULL};
    static const char *const headers[] = {"auto", "yes", "no", NULL};
    static const char *const formats[] = {"label", "tsv", "jsonl", NULL};
    static const char *const vectors[] = {"none", "sequence", "token", NULL};
    int which;
    switch (option) {
    case OPTION_MODEL:
        arguments->model = value;
        return true;
    case OPTION_INPUT:
        arguments->input = value;
        return true;
    case OPTION_INPUT_FORMAT:
        return choose("--input-format", value, sources, &arguments->source);
    case OPTION_TEXT_COLUMN:
        arguments->text_column = value;
        return true;
    case OPTION_HEADER:
        arguments->header = value;
        return choose("--header", value, headers, &which);
    case OPTION_FORMAT:
        return choose("--format", value, formats, &arguments->format);
    case OPTION_TOP:
        return parse_top(value, &arguments->top);
    case OPTION_THRESHOLD:
        return parse_threshold(value, &arguments->threshold);
    case OPTION_ABSTAIN:
        arguments->abstain = value;
        return true;
    case OPTION_VECTORS:
        return choose("--vectors", value, vectors, &arguments->vectors);
    default: /* OPTION_THREADS */
        return parse_threads(value, &arguments->threads);
    }
}

/* What is wrong with the options taken together; NULL for nothing. */
static const char *find_conflict(const struct arguments *arguments)
{
    bool has_columns = arguments->source == SOURCE_CSV || arguments->source == SOURCE_TSV;
    if (arguments->model == NULL)
        return "--model FILE|DIR is needed; try ./predict --help";
    if (arguments->vectors != VECTORS_NONE && arguments->format != FORMAT_JSONL)
        return "--vectors goes with --format jsonl";
    if (arguments->text_column != NULL && arguments->source == SOURCE_TEXT)
        return "--text-column goes with --input-format csv, tsv or jsonl";
    if (arguments->header != NULL && !has_columns)
        return "--header goes with --input-format csv or tsv";
    if (arguments->abstain != NULL && arguments->threshold < 0)
        return "--abstain goes with --threshold P";
    return NULL;
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    for (int c = next_option(argc, argv, options); c != -1; c = next_option(argc, argv, options))
        switch (c) {
        case OPTION_HELP:
            fputs(help, stdout);
            return finish_output(EXIT_DONE);
        case OPTION_VERSION:
            print_version("predict");
            return finish_output(EXIT_DONE);
        case '?':
        case ':':
            return report_usage("./predict", c, argv);
        default:
            if (!take_option(c, optarg, arguments))
                return EXIT_BAD_INPUT;
        }
    if (has_words_left("./predict", argc, argv))
        return EXIT_BAD_INPUT;
    const char *conflict = find_conflict(arguments);
    if (conflict == NULL)
        return -1;
    report_error("%s", conflict);
    return EXIT_BAD_INPUT;
}

static struct prediction_options output_options(const struct arguments *arguments)
{
    int default_format = arguments->source == SOURCE_TEXT ? FORMAT_LABEL : FORMAT_TABLE;
    bool abstains = arguments->threshold >= 0;
    return (struct prediction_options){
        .format = (enum prediction_format)(arguments->format != NOT_GIVEN ? arguments->format : default_format),
        .vectors = (enum prediction_vectors)arguments->vectors,
        .top = (size_t)arguments->top,
        .threshold = abstains ? arguments->threshold : 0,
        .abstain = !abstains                    ? NULL
                   : arguments->abstain != NULL ? arguments->abstain
                                                : "unknown",
    };
}

/* Answers all of the input; the exit status. */
static int predict(const struct arguments *arguments, const struct trained *trained)
{
    struct tap_error error = {0};
    struct tap_input input;
    const struct tap_checkpoint *checkpoint = trained->checkpoint;
    const struct prediction_options output_as = output_options(arguments);
    struct prediction_input_options read_as = {.source = (enum prediction_source)arguments->source,
                                               .text_column = arguments->text_column,
                                               .header = arguments->header};
    if (prediction_input_columns(&read_as, &checkpoint->config, &error) != TAP_OK)
        return report_failure(&error, false);
    struct prediction_output *output =
        prediction_output_new(&output_as, checkpoint->label_names, checkpoint->labels.n, stdout, &error);
    struct predictor *predictor = output != NULL ? predictor_new(trained, output, &error) : NULL;
    bool running = predictor != NULL &&
                   tap_input_open(arguments->input != NULL ? arguments->input : "-", &input, &error) == TAP_OK;
    if (running) {
        prediction_input_run(&input, &read_as, output_as.format, predictor, output, &error);
        tap_input_close(&input);
    }
    predictor_free(predictor);
    prediction_output_free(output);
    return error.status == TAP_OK ? EXIT_DONE : report_failure(&error, running);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.format = NOT_GIVEN, .threshold = NOT_GIVEN};
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
    status = predict(&arguments, &trained);
    trained_close(&trained);
    return status;
}
