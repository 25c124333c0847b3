/* run_program.h: runs the built programs as a user does, and what the tests of train/ need around that: a folder of a
 * test's own, texts and files. The programs are those in the folder that TAPESTRY_BIN names. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* How a program is started; all zero: empty standard input, output and errors are caught. */
struct program_options {
    const char *input; /* what it reads; NULL: nothing */
    size_t n_input;    /* 0: strlen(input) */
    const char *stdout_path;
    bool stdout_closed, stdin_closed, stderr_closed;
    bool stdout_broken;      /* a pipe that nobody reads */
    size_t file_limit;       /* no file grows beyond so many bytes (EFBIG); 0: no limit */
    bool as_nobody;          /* as the user 65534; needs root */
    const char *folder;      /* its current folder */
    const char *environment; /* one more NAME=value */
};

/* What it did. */
struct program_result {
    int status; /* of its exit; 128 + the signal that ended it */
    char *out, *err;
    size_t n_out;
    long peak_kib; /* the most memory it held; at least that of the test's own process */
};

/* Runs it to its end; it fails the test when that takes more than 100 s. `arguments` ends with NULL. The texts stay
 * until the test ends. */
struct program_result run_program(const struct program_options *options, const char *program,
                                  const char *const *arguments);
#define RUN(program, ...) run_program(NULL, program, (const char *const[]){__VA_ARGS__, NULL})
#define RUN_WITH(options, program, ...) run_program(options, program, (const char *const[]){__VA_ARGS__, NULL})

/* Starts it and returns at once; `out_input`, `out_output` (NULL: none) become the ends of pipes. */
pid_t start_program(const struct program_options *options, const char *program, const char *const *arguments,
                    int *out_input, int *out_output);
/* Waits, 100 s at most; the status as above. */
int wait_program(pid_t pid);

/* Asserts on a result: the exit status, and exactly one line on standard error, which holds each of the texts. */
void expect_error(struct program_result result, int status, const char *const *texts);
#define EXPECT_ERROR(result, status, ...) expect_error(result, status, (const char *const[]){__VA_ARGS__, NULL})
void expect_done(struct program_result result);

/* `name` within the test's own folder, which is made at the first call; the text stays until the test ends. */
const char *work_path(const char *name);
void work_remove(void); /* .fini of every suite here: the folder with all that is in it */

/* A printf text that stays until the test ends. */
const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

void write_file(const char *path, const void *bytes, size_t n);
void write_text_file(const char *path, const char *text);
/* All bytes and a zero, until the test ends; NULL: no such file. */
char *read_file(const char *path, size_t *out_n);
bool same_files(const char *a, const char *b);
bool exists(const char *path);
/* The names in a folder, sorted, each followed by a blank. */
const char *list_folder(const char *path);
size_t count_lines(const char *text);
size_t count_of(const char *text, const char *part);

#endif
