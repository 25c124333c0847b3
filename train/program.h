/* program.h: what the programs share: --help, --version, exit statuses and reading a model. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "checkpoint.h"

/* Exit statuses; after a signal 128 + its number. */
enum {
    EXIT_DONE = 0,
    EXIT_RUN_FAILED = 1, /* full disk, NaN, memory, closed standard output */
    EXIT_BAD_INPUT = 2,  /* usage, config, data or checkpoint; a folder that cannot be used */
};

/* Prints the version, compiler flags and engine, as --version asks. */
void print_version(const char *program);

/* Prints one error that met the run once it worked, or before; returns the exit status: TAP_ERR_MEMORY,
 * TAP_ERR_NONFINITE and, where `running`, TAP_ERR_IO are failures of the run, all else is bad input. */
int report_failure(const struct tap_error *error, bool running);

/* Parses a number from 0 to 2^31-1; false for any other text. */
bool parse_count(const char *text, int *out);

/* Parses "N" for --threads (0 to 2^31-1); false after telling what is wrong. */
bool parse_threads(const char *text, int *out);

/* Before anything else in main: lets waiting threads sleep soon; gives a closed standard input, output or error a file that can do nothing, so that no
 * file of ours gets its number and is written to by mistake; and lets getopt_long complain through report_usage alone.
 */
void program_start(char **argv);

/* The next option, as getopt_long gives it; but one that is not spelled out ("--conf") is refused ('?'). */
struct option;
int next_option(int argc, char **argv, const struct option *options);

/* After the last option: complains about a word that is none. */
bool has_words_left(const char *program, int argc, char **argv);

/* Complains about what next_option refused at argv[optind - 1]; returns the exit status. */
int report_usage(const char *program, int refused, char **argv);

/* The exit status of a program that has printed all that it had to and would end with `status`. */
int finish_output(int status);

/* Fills a config from a file, or (path NULL) from a checkpoint, or with the defaults; then data.train from `data`, unless
 * that is NULL; then from `group.key=value` texts, and finishes it. With a checkpoint, what may not change on resuming is compared. All errors are told. -1 to go on, else the exit status. */
int load_config(struct tap_config *config, const char *path, const char *data, const char *const *sets, size_t n_sets,
                const struct tap_checkpoint *from);

/* A trained model, ready to predict. */
struct trained {
    struct tap_checkpoint *checkpoint;
    struct tap_model *model;
};
enum tap_status trained_open(struct trained *trained, const char *path, struct tap_error *error);
void trained_close(struct trained *trained);

#endif
