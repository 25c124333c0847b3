/* main_predict.c: ./predict: a line of text in, a line out, in the same order, as they come. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "parallel.h"
#include "predictor.h"
#include "report.h"
#include "training.h"
#include "unicode.h"

static const char help[] =
    "Usage: ./predict --model FILE|DIR [--input FILE] [--format label|tsv|jsonl] [--vectors none|sequence|token]\n"
    "                 [--threads N]\n"
    "\n"
    "Reads a text a line and writes a result a line, in the same order.\n"
    "\n"
    "  --model FILE|DIR   a checkpoint, or a run's folder: its best.npz, else last.npz\n"
    "  --input FILE       the texts; standard input when left out, or -\n"
    "  --format label     the most probable label\n"
    "           tsv       label, its probability, the text\n"
    "           jsonl     text, token numbers, label, logits, all probabilities\n"
    "  --vectors V        with jsonl, the encoder's output too: of the sequence, or of every token\n"
    "  --threads N        threads; 0: all\n"
    "  --help, --version\n";

#define READ_BYTES ((size_t)1 << 16)
#define LONGEST_LINE_BYTES ((size_t)1 << 24)

enum { OPTION_MODEL = 256, OPTION_INPUT, OPTION_FORMAT, OPTION_VECTORS, OPTION_THREADS, OPTION_HELP, OPTION_VERSION };
static const struct option options[] = {
    {"model", required_argument, NULL, OPTION_MODEL},     {"input", required_argument, NULL, OPTION_INPUT},
    {"format", required_argument, NULL, OPTION_FORMAT},   {"vectors", required_argument, NULL, OPTION_VECTORS},
    {"threads", required_argument, NULL, OPTION_THREADS}, {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},       {NULL, 0, NULL, 0},
};

struct arguments {
    const char *model, *input;
    int format, vectors; /* enum prediction_format, prediction_vectors */
    int threads;
};

/* The number of `word` among `words`, which end in NULL; -1 after telling what is accepted. */
static int choose(const char *option, const char *word, const char *const *words)
{
    char accepted[128] = "";
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(word, words[i]) == 0)
            return i;
        size_t used = strlen(accepted);
        snprintf(accepted + used, sizeof accepted - used, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    report_error("%s: %s; accepted: %s", option, word, accepted);
    return -1;
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const char *const formats[] = {"label", "tsv", "jsonl", NULL};
    static const char *const vectors[] = {"none", "sequence", "token", NULL};
    for (int c = next_option(argc, argv, options); c != -1; c = next_option(argc, argv, options))
        switch (c) {
        case OPTION_MODEL:
            arguments->model = optarg;
            break;
        case OPTION_INPUT:
            arguments->input = optarg;
            break;
        case OPTION_FORMAT:
            arguments->format = choose("--format", optarg, formats);
            if (arguments->format < 0)
                return EXIT_BAD_INPUT;
            break;
        case OPTION_VECTORS:
            arguments->vectors = choose("--vectors", optarg, vectors);
            if (arguments->vectors < 0)
                return EXIT_BAD_INPUT;
            break;
        case OPTION_THREADS:
            if (!parse_threads(optarg, &arguments->threads))
                return EXIT_BAD_INPUT;
            break;
        case OPTION_HELP:
            fputs(help, stdout);
            return finish_output(EXIT_DONE);
        case OPTION_VERSION:
            print_version("predict");
            return finish_output(EXIT_DONE);
        default:
            return report_usage("./predict", c, argv);
        }
    if (has_words_left("./predict", argc, argv))
        return EXIT_BAD_INPUT;
    if (arguments->model == NULL) {
        report_error("--model FILE|DIR is needed; try ./predict --help");
        return EXIT_BAD_INPUT;
    }
    if (arguments->vectors != VECTORS_NONE && arguments->format != FORMAT_JSONL) {
        report_error("--vectors goes with --format jsonl");
        return EXIT_BAD_INPUT;
    }
    return -1;
}

/* Lines out of a file descriptor. */
struct line_source {
    const char *name;
    int descriptor;
    char *bytes;
    size_t n_bytes, capacity;
    uint64_t n_lines;
};

/* One line, without its LF; the CR of a CR LF and a byte-order mark before the first line are dropped. */
static enum tap_status take_line(struct line_source *source, struct predictor *predictor, const char *line,
                                 size_t n_bytes, bool is_ended, struct tap_error *error)
{
    source->n_lines++;
    if (source->n_lines == 1 && n_bytes >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        n_bytes -= 3;
    }
    if (is_ended && n_bytes > 0 && line[n_bytes - 1] == '\r')
        n_bytes--;
    if (memchr(line, '\0', n_bytes) != NULL)
        return tap_error_set(error, TAP_ERR_VALUE, "%s:%llu: a zero byte; the input must be UTF-8 text", source->name,
                             (unsigned long long)source->n_lines);
    if (tap_unicode_valid_bytes(line, n_bytes) != n_bytes)
        return tap_error_set(error, TAP_ERR_VALUE, "%s:%llu: not valid UTF-8", source->name,
                             (unsigned long long)source->n_lines);
    return predictor_add(predictor, line, n_bytes, error);
}

/* Gives all whole lines of the buffer to the predictor; at the end of the input the rest too. */
static enum tap_status take_lines(struct line_source *source, struct predictor *predictor, bool at_end,
                                  struct tap_error *error)
{
    size_t start = 0;
    while (error->status == TAP_OK && start < source->n_bytes) {
        char *line = source->bytes + start;
        char *end = memchr(line, '\n', source->n_bytes - start);
        if (end == NULL && !at_end)
            break;
        size_t n_bytes = end == NULL ? source->n_bytes - start : (size_t)(end - line);
        take_line(source, predictor, line, n_bytes, end != NULL, error);
        start += n_bytes + (end != NULL);
    }
    source->n_bytes -= start;
    if (source->n_bytes > 0)
        memmove(source->bytes, source->bytes + start, source->n_bytes);
    /* what was predicted before a bad line is still written */
    struct tap_error flush_error = {0};
    if (predictor_flush(predictor, &flush_error) != TAP_OK)
        tap_error_set(error, flush_error.status, "%s", flush_error.message);
    return error->status;
}

/* Reads until the end, answering what has come as soon as it has. */
static enum tap_status stream(struct line_source *source, struct predictor *predictor, struct tap_error *error)
{
    for (;;) {
        if (!tap_mem_reserve(&source->bytes, &source->capacity, source->n_bytes + READ_BYTES, 1))
            return tap_error_memory(error, "a line");
        ssize_t n = read(source->descriptor, source->bytes + source->n_bytes, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tap_error_set(error, TAP_ERR_VALUE, "%s: cannot read: %s", source->name, strerror(errno));
        source->n_bytes += (size_t)n;
        if (take_lines(source, predictor, n == 0, error) != TAP_OK || n == 0)
            return error->status;
        if (source->n_bytes > LONGEST_LINE_BYTES)
            return tap_error_set(error, TAP_ERR_VALUE, "%s:%llu: the line is longer than %zu bytes", source->name,
                                 (unsigned long long)source->n_lines + 1, LONGEST_LINE_BYTES);
    }
}

static int predict(const struct arguments *arguments, const struct trained *trained)
{
    struct tap_error error = {0};
    struct line_source source = {.name = "-", .descriptor = STDIN_FILENO};
    if (arguments->input != NULL && strcmp(arguments->input, "-") != 0) {
        source.name = arguments->input;
        source.descriptor = open(arguments->input, O_RDONLY | O_CLOEXEC);
        if (source.descriptor < 0) {
            report_error("%s: cannot open: %s", arguments->input, strerror(errno));
            return EXIT_BAD_INPUT;
        }
    }
    struct predictor *predictor = predictor_new(trained, arguments->format, arguments->vectors, stdout, &error);
    if (predictor != NULL)
        stream(&source, predictor, &error);
    predictor_free(predictor);
    tap_mem_free(source.bytes);
    if (source.descriptor != STDIN_FILENO)
        close(source.descriptor);
    return error.status == TAP_OK ? EXIT_DONE : report_failure(&error, true);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
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
