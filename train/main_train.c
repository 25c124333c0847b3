/* main_train.c: ./train: trains a model as a config says, or goes on with a run. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "best_model.h"
#include "mem.h"
#include "program.h"
#include "training.h"

static const char help[] =
    "Usage: ./train --config FILE [--set group.key=value]... [--out DIR] [--threads N] [--quiet]\n"
    "       ./train --data FILE [--set group.key=value]... [--out DIR] ...\n"
    "       ./train --resume DIR|FILE [--out NEW] [--set group.key=value]...\n"
    "\n"
    "Trains a Transformer encoder for text classification.\n"
    "\n"
    "  --config FILE          the config (docs/config.md lists every key)\n"
    "  --data FILE            trains on this file of labelled texts (or folder; - is standard input): sets data.train "
    "over\n"
    "                         the config's, or with no --config over the defaults of all keys\n"
    "  --set group.key=value  sets one key over the config's; may be repeated, the last value of a key holds\n"
    "  --out DIR              the folder of the run; else runs/<name of config, or of data>-<n>\n"
    "  --resume DIR           goes on in the folder of a run, from its newest whole checkpoint\n"
    "  --resume FILE          goes on from a checkpoint, into the new folder --out\n"
    "  --threads N            threads; 0: all (train.threads)\n"
    "  --quiet                nothing on standard output\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 done; 1 the run failed; 2 bad usage, config, data or checkpoint; 128+signal after SIGINT or "
    "SIGTERM,\n"
    "once the step at hand is finished and saved.\n";

struct arguments {
    const char *config, *data, *out, *resume;
    const char **sets; /* n_sets assignments, --threads as one of them */
    size_t n_sets;
    char threads[64];
    bool quiet;
};

enum {
    OPTION_CONFIG = 256,
    OPTION_DATA,
    OPTION_SET,
    OPTION_OUT,
    OPTION_RESUME,
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_HELP,
    OPTION_VERSION
};
static const struct option options[] = {
    {"config", required_argument, NULL, OPTION_CONFIG}, {"data", required_argument, NULL, OPTION_DATA},
    {"set", required_argument, NULL, OPTION_SET},       {"out", required_argument, NULL, OPTION_OUT},
    {"resume", required_argument, NULL, OPTION_RESUME}, {"threads", required_argument, NULL, OPTION_THREADS},
    {"quiet", no_argument, NULL, OPTION_QUIET},         {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},     {NULL, 0, NULL, 0},
};

/* What the options say together; -1 to go on, else the exit status. */
static int check_arguments(const struct arguments *arguments)
{
    const char *resume = arguments->resume;
    if (arguments->config == NULL && arguments->data == NULL && resume == NULL)
        report_error("--config FILE, --data FILE or --resume DIR|FILE is needed; try ./train --help");
    else if (arguments->data != NULL && arguments->data[0] == '\0')
        report_error("--data: the name of a file or folder is needed");
    else if (resume != NULL && access(resume, F_OK) != 0)
        report_error("--resume %s: %s", resume, strerror(errno));
    else if (resume != NULL && is_folder(resume) && arguments->out != NULL)
        report_error("--resume %s goes on in that folder; leave --out away, or name a checkpoint file", resume);
    else if (resume != NULL && !is_folder(resume) && arguments->out == NULL)
        report_error("--resume %s goes on from a file; --out NEW is needed", resume);
    else
        return -1;
    return EXIT_BAD_INPUT;
}

/* Reads the command line; -1 to go on, else the exit status. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    int threads = -1;
    for (int c = next_option(argc, argv, options); c != -1; c = next_option(argc, argv, options))
        switch (c) {
        case OPTION_CONFIG:
            arguments->config = optarg;
            break;
        case OPTION_DATA:
            arguments->data = optarg;
            break;
        case OPTION_SET:
            arguments->sets[arguments->n_sets++] = optarg;
            break;
        case OPTION_OUT:
            arguments->out = optarg;
            break;
        case OPTION_RESUME:
            arguments->resume = optarg;
            break;
        case OPTION_THREADS:
            if (!parse_threads(optarg, &threads))
                return EXIT_BAD_INPUT;
            break;
        case OPTION_QUIET:
            arguments->quiet = true;
            break;
        case OPTION_HELP:
            fputs(help, stdout);
            return finish_output(EXIT_DONE);
        case OPTION_VERSION:
            print_version("train");
            return finish_output(EXIT_DONE);
        default:
            return report_usage("./train", c, argv);
        }
    if (threads >= 0) {
        snprintf(arguments->threads, sizeof arguments->threads, "train.threads=%d", threads);
        arguments->sets[arguments->n_sets++] = arguments->threads;
    }
    return has_words_left("./train", argc, argv) ? EXIT_BAD_INPUT : check_arguments(arguments);
}

#define NAME_BYTES 256

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void cut_extension(char *name)
{
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
}

/* "tiny" of "configs/tiny.cfg" */
static void config_name(const char *path, char out[NAME_BYTES])
{
    snprintf(out, NAME_BYTES, "%s", base_name(path));
    cut_extension(out);
}

/* "reviews" of "/home/me/reviews.tsv.gz" or of a folder "/home/me/reviews" */
static void data_name(const char *path, char out[NAME_BYTES])
{
    snprintf(out, NAME_BYTES, "%s", strcmp(path, "-") == 0 ? "stdin" : base_name(path));
    size_t n_bytes = strlen(out);
    if (!is_folder(path) && n_bytes > 3 && strcasecmp(out + n_bytes - 3, ".gz") == 0)
        out[n_bytes - 3] = '\0';
    if (!is_folder(path))
        cut_extension(out);
    if (out[0] == '\0')
        snprintf(out, NAME_BYTES, "data"); /* of the path / */
}

static enum tap_status open_folder(struct run_folder *folder, const struct arguments *arguments,
                                   const struct tap_config *config, struct tap_error *error)
{
    char name[NAME_BYTES];
    if (arguments->resume != NULL && arguments->out == NULL)
        return folder->descriptor >= 0 ? TAP_OK : run_folder_open(folder, arguments->resume, error);
    if (arguments->out != NULL)
        return run_folder_create(folder, arguments->out, error);
    if (arguments->config != NULL)
        config_name(arguments->config, name);
    else
        data_name(config->data.train, name);
    return run_folder_create_next(folder, name, error);
}

static void tell_start(const struct training *training, const struct run_folder *folder)
{
    const struct tap_data *data = training->data;
    report_line(training->report,
                "%zu parameters, %zu classes, %u tokens in the vocabulary; rows: %u train, %u valid, %u test",
                training->model->parameters.n_numbers, data->n_labels,
                (unsigned)tap_tokenizer_n_tokens(data->tokenizer), (unsigned)data->parts[TAP_PART_TRAIN].n_rows,
                (unsigned)data->parts[TAP_PART_VALID].n_rows, (unsigned)data->parts[TAP_PART_TEST].n_rows);
    data_lines(data, training->report);
    report_line(
        training->report,
        "%.2f MiB of parameters, %.2g MFLOP a token forward (training: three times that), %.0f MiB of memory at most",
        (double)training->needs.parameter_bytes / 1048576, training->needs.forward_flops_per_token / 1e6,
        (double)training->needs.peak_bytes / 1048576);
    report_line(training->report, "%lld steps, from step %lld, into %s", (long long)training->total_steps,
                (long long)training->progress.step, folder->path);
}

/* Trains once config and checkpoint are there; the exit status. */
static int run(const struct arguments *arguments, const struct tap_config *config, const struct tap_checkpoint *from,
               struct run_folder *folder)
{
    struct tap_error error = {0};
    struct report report;
    struct training training;
    enum training_end end = TRAINING_DONE;
    report_start(&report, arguments->quiet);
    if (training_init(&training, config, &report, from, &error) != TAP_OK)
        return report_failure(&error, false);
    bool is_same_folder = from != NULL && arguments->out == NULL;
    if (open_folder(folder, arguments, config, &error) != TAP_OK) {
        training_clear(&training);
        return report_failure(&error, false);
    }
    if ((is_same_folder && best_model_mend(from, folder, &error) != TAP_OK) ||
        (from != NULL && !is_same_folder && best_model_take_along(from, folder, &error) != TAP_OK) ||
        training_start_folder(&training, folder, is_same_folder, &error) != TAP_OK) {
        training_clear(&training);
        return report_failure(&error, true);
    }
    tell_start(&training, folder);
    signals_start(); /* until now there was nothing to save, and a signal ended the process at once */
    training_run(&training, &end, &error);
    training_clear(&training);
    run_folder_close(folder, &error);
    if (error.status != TAP_OK) {
        if (report.is_drawn)
            fputc('\n', stdout);
        return report_failure(&error, true);
    }
    if (end == TRAINING_SIGNALLED)
        return 128 + signals_received();
    if (report.has_failed) {
        report_error("standard output took no more; the run is finished and saved");
        return EXIT_RUN_FAILED;
    }
    return EXIT_DONE;
}

/* Opens the checkpoint that --resume names; a folder is locked first, so that nobody else writes to it meanwhile. */
static struct tap_checkpoint *open_checkpoint(const struct arguments *arguments, struct run_folder *folder,
                                              struct tap_error *error)
{
    if (!is_folder(arguments->resume))
        return tap_checkpoint_open(arguments->resume, error);
    if (run_folder_open(folder, arguments->resume, error) != TAP_OK)
        return NULL;
    return run_folder_newest(arguments->resume, report_warning, error);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct tap_error error = {0};
    struct tap_config config;
    struct run_folder folder = {.descriptor = -1};
    struct tap_checkpoint *from = NULL;
    program_start(argv);
    ignore_broken_pipes();
    arguments.sets = tap_mem_new((size_t)argc + 1, sizeof *arguments.sets);
    if (arguments.sets == NULL || !tap_config_init(&config, &error)) {
        tap_mem_free(arguments.sets);
        report_error("out of memory");
        return EXIT_RUN_FAILED;
    }
    int status = parse_arguments(argc, argv, &arguments);
    if (status < 0 && arguments.resume != NULL) {
        from = open_checkpoint(&arguments, &folder, &error);
        if (from == NULL)
            status = report_failure(&error, false);
    }
    if (status < 0)
        status = load_config(&config, arguments.config, arguments.data, arguments.sets, arguments.n_sets, from);
    if (status < 0)
        status = run(&arguments, &config, from, &folder);
    run_folder_close(&folder, &error);
    tap_checkpoint_close(from);
    tap_config_clear(&config);
    tap_mem_free(arguments.sets);
    return status;
}
