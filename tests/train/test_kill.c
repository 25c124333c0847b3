/* test_kill.c: a run that dies, or whose disk does, loses nothing that it said was saved; signals end it in order. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_calls.h"
#include "rng.h"
#include "run_program.h"
#include "tiny_run.h"

TestSuite(kill, .fini = work_remove);

/* A save at each step, which takes a while; the run is long, and left by force. */
#define SAVING_TEXT                                                                                                    \
    "train: {steps: 100000, batch_size: 16, log_every: 5, evaluate_every: 7, metric: loss}\n"                          \
    "checkpoint: {every: 1, keep: 2, compression: 9}\n"

static int64_t newest_step(const char *folder)
{
    struct tap_error error = {0};
    struct tap_checkpoint *newest = run_folder_newest(folder, report_warning, &error);
    cr_assert_not_null(newest, "%s", error.message);
    int64_t step = newest->progress.step;
    tap_checkpoint_close(newest);
    return step;
}

static bool has_temporary_files(const char *folder)
{
    return strstr(list_folder(folder), ".tmp-") != NULL;
}

/* The number behind the last `before` in a text; -1: none. */
static long last_number(const char *text, const char *before)
{
    long number = -1;
    for (const char *at = strstr(text, before); at != NULL; at = strstr(at + 1, before)) {
        char *end;
        long found = strtol(at + strlen(before), &end, 10);
        if (*end != '\0') /* else it may be cut off */
            number = found;
    }
    return number;
}

/* Reads a pipe until `wanted` has come (or the end), or to its end when NULL; appends to `text`. */
static void read_until(int fd, const char *wanted, char *text, size_t n_text)
{
    size_t n = strlen(text);
    while (wanted == NULL || strstr(text, wanted) == NULL) {
        cr_assert(n + 1 < n_text, "more output than expected");
        ssize_t got = read(fd, text + n, n_text - 1 - n);
        if (got <= 0)
            return;
        n += (size_t)got;
        text[n] = '\0';
    }
}

/* Goes on with the run (or starts it), kills it a random time after its first save; what it printed is in `text`. */
static void run_and_kill(const char *folder, bool resume, struct tap_rng *rng, char *text, size_t n_text)
{
    int output = -1;
    const char *const fresh[] = {"--config", work_path("tiny.cfg"), "--out", folder, NULL};
    const char *const again[] = {"--resume", folder, NULL};
    pid_t pid = start_program(NULL, "train", resume ? again : fresh, NULL, &output);
    text[0] = '\0';
    read_until(output, "saved step", text, n_text);
    usleep((useconds_t)tap_rng_below(rng, 6000));
    kill(pid, SIGKILL);
    cr_assert_eq(wait_program(pid), 128 + SIGKILL);
    read_until(output, NULL, text, n_text);
    close(output);
}

Test(kill, nothing_saved_is_lost_in_forty_kills)
{
    enum { N_KILLS = 40, N_TEXT = 1 << 20 };
    static char text[N_TEXT];
    const char *folder = work_path("run");
    struct tap_rng rng = {tap_rng_key(7, TAP_RNG_TASK, 0, 0), 0};
    long saved = -1;
    int n_inside = 0;
    write_text_file(work_path("tiny.cfg"), TINY_CONFIG SAVING_TEXT);
    for (int i = 0; i < N_KILLS; i++) {
        run_and_kill(folder, i > 0, &rng, text, N_TEXT);
        long from = last_number(text, "from step ");
        cr_assert(from >= saved, "kill %d: saved step %ld, went on from step %ld", i, saved, from);
        saved = last_number(text, "saved step ");
        cr_assert(saved > from && newest_step(folder) >= saved);
        n_inside += has_temporary_files(folder);
    }
    cr_assert(n_inside > 0, "no kill came within a save");
    const char *last = text_of("train.stop_after=%ld", saved + 5);
    struct program_result result = RUN("train", "--resume", folder, "--set", last);
    expect_done(result);
    cr_assert_not(has_temporary_files(folder));
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("whole"), "--set", last, "--set",
                    "checkpoint.every=0"));
    cr_assert(same_arrays(work_path("whole/last.npz"), text_of("%s/last.npz", folder)));
    cr_assert_eq(strcmp(timeless_metrics(work_path("whole")), timeless_metrics(folder)), 0);
}

/* --- every call of a save ------------------------------------------------------------------------------------------
 */

#define CALLS_CONFIG                                                                                                   \
    "model: {d_model: 4, heads: 1, layers: 1, d_ff: 4}\ndata: {task: order}\ntask: {rows: 40, language: english}\n"    \
    "train: {steps: 6, batch_size: 16, log_every: 1, evaluate_every: 1, metric: loss}\n"                               \
    "checkpoint: {every: 1, keep: 1}\noptim: {lr: 1e-2}\n"

static const char *const until_3[] = {"train.stop_after=3", NULL};
static const char *const until_4[] = {"train.stop_after=4", NULL};
static const char *const until_end[] = {NULL};

/* A run at step 3, going on to step 4 with this fault; its status. */
static enum tap_status go_on_with_fault(const char *folder, const struct tap_call_fault *fault, struct tap_error *error)
{
    tap_call_fault_set(fault);
    enum tap_status status = tiny_try(folder, true, CALLS_CONFIG, until_4, error);
    return status;
}

/* The calls that going on from step 3 to step 4 makes. */
static uint64_t count_calls(void)
{
    struct tap_error error = {0};
    tiny_train(work_path("count"), false, CALLS_CONFIG, until_3);
    cr_assert_eq(go_on_with_fault(work_path("count"), NULL, &error), TAP_OK, "%s", error.message);
    uint64_t n = tap_call_n_calls();
    cr_assert(n > 20);
    return n;
}

Test(kill, death_at_any_call_of_a_save_loses_nothing)
{
    tiny_train(work_path("whole"), false, CALLS_CONFIG, until_end);
    uint64_t n_calls = count_calls();
    for (uint64_t call = 1; call <= n_calls; call++) {
        const char *folder = work_path(text_of("run-%d", (int)call));
        tiny_train(folder, false, CALLS_CONFIG, until_3);
        pid_t pid = fork();
        if (pid == 0) {
            struct tap_error error = {0};
            const struct tap_call_fault fault = {.at = call};
            _exit(go_on_with_fault(folder, &fault, &error) == TAP_OK ? 0 : 1);
        }
        cr_assert_eq(wait_program(pid), 128 + SIGKILL, "call %d", (int)call);
        cr_assert(newest_step(folder) >= 3);
        tiny_train(folder, true, CALLS_CONFIG, until_end);
        expect_same_runs(work_path("whole"), folder, text_of("killed at call %d", (int)call));
        cr_assert_not(has_temporary_files(folder));
    }
}

static void fail_at_each_call(int error_number, bool persistent)
{
    tiny_train(work_path("whole"), false, CALLS_CONFIG, until_end);
    uint64_t n_calls = count_calls();
    for (uint64_t call = 1; call <= n_calls; call++) {
        struct tap_error error = {0};
        const struct tap_call_fault fault = {.at = call, .persistent = persistent, .error_number = error_number};
        const char *folder = work_path(text_of("run-%d", (int)call));
        tiny_train(folder, false, CALLS_CONFIG, until_3);
        enum tap_status status = go_on_with_fault(folder, &fault, &error);
        tap_call_fault_set(NULL);
        cr_assert(!has_temporary_files(folder), "call %d", (int)call);
        cr_assert(newest_step(folder) >= 3);
        if (status != TAP_OK) { /* unlink cleans up, and is not told */
            cr_assert_eq(status, TAP_ERR_IO, "call %d: %s", (int)call, error.message);
            cr_assert_not_null(strstr(error.message, strerror(error_number)), "%s", error.message);
            cr_assert_not_null(strstr(error.message, folder), "%s", error.message);
        }
        tiny_train(folder, true, CALLS_CONFIG, until_end);
        expect_same_runs(work_path("whole"), folder, text_of("failed at call %d", (int)call));
    }
}

Test(kill, a_full_disk_at_any_call_of_a_save_is_told_and_loses_nothing)
{
    fail_at_each_call(ENOSPC, true);
}

Test(kill, one_failed_call_of_a_save_is_told_and_loses_nothing)
{
    fail_at_each_call(EIO, false);
}

/* --- signals -------------------------------------------------------------------------------------------------------
 */

static void stop_by_signal(int number)
{
    enum { N_TEXT = 1 << 20 };
    static char text[N_TEXT];
    int output = -1;
    const char *folder = work_path(text_of("run-%d", number));
    const char *const arguments[] = {"--config", work_path("tiny.cfg"), "--out", folder,
                                     "--set",    "checkpoint.every=0",  NULL};
    pid_t pid = start_program(NULL, "train", arguments, NULL, &output);
    text[0] = '\0';
    read_until(output, "step 5/", text, N_TEXT);
    kill(pid, number);
    cr_assert_eq(wait_program(pid), 128 + number);
    read_until(output, NULL, text, N_TEXT);
    close(output);
    long saved = last_number(text, "saved step ");
    cr_assert(saved >= 5);
    cr_assert_null(strstr(text, "done"));
    cr_assert_eq(newest_step(folder), saved);
    const char *last = text_of("train.stop_after=%ld", saved + 4);
    const char *whole = text_of("%s-whole", folder);
    expect_done(RUN("train", "--resume", folder, "--set", last));
    expect_done(
        RUN("train", "--config", work_path("tiny.cfg"), "--out", whole, "--set", last, "--set", "checkpoint.every=0"));
    expect_same_runs(whole, folder, "a signal");
}

Test(kill, a_signal_ends_the_run_after_a_saved_step)
{
    write_text_file(work_path("tiny.cfg"), TINY_CONFIG SAVING_TEXT);
    stop_by_signal(SIGINT);
    stop_by_signal(SIGTERM);
}

Test(kill, a_second_signal_does_not_wait)
{
    char text[4096] = "";
    int output = -1;
    /* one step takes thousands of batches */
    write_text_file(work_path("tiny.cfg"), "model: {d_model: 16, heads: 2, layers: 2, d_ff: 64}\ndata: {task: order}\n"
                                           "task: {rows: 20000}\ntrain: {batch_size: 1, accumulate: 1000000}\n");
    const char *const arguments[] = {"--config", work_path("tiny.cfg"), "--out", work_path("run"), NULL};
    pid_t pid = start_program(NULL, "train", arguments, NULL, &output);
    read_until(output, "from step 0", text, sizeof text);
    usleep(20000);
    kill(pid, SIGINT);
    usleep(20000);
    kill(pid, SIGTERM);
    cr_assert_eq(wait_program(pid), 128 + SIGTERM);
    read_until(output, NULL, text, sizeof text);
    close(output);
    cr_assert_null(strstr(text, "saved step"), "%s", text);
}
