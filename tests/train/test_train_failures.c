/* test_train_failures.c: a run that cannot go on: full disk, folder that cannot be used, numbers out of hand, output
 * that nobody takes. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mem.h"
#include "run_program.h"
#include "tiny_run.h"

TestSuite(train_failures, .fini = work_remove);

#define SAVING_CONFIG TINY_CONFIG "train: {steps: 12, batch_size: 16}\ncheckpoint: {every: 1, keep: 2}\n"

static void expect_whole(const char *folder, int64_t step)
{
    struct tap_error error = {0};
    struct tap_checkpoint *newest = run_folder_newest(folder, report_warning, &error);
    cr_assert_not_null(newest, "%s", error.message);
    cr_assert(newest->progress.step >= step);
    tap_checkpoint_close(newest);
    cr_assert_null(strstr(list_folder(folder), ".tmp-"), "%s", list_folder(folder));
}

/* A file system of its own on <work>/disk, for this process and its children alone; false where that is not allowed. */
static bool mount_disk(const char *size)
{
    mkdir(work_path("disk"), 0777);
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", work_path("disk"), "tmpfs", 0, size) == 0;
}

Test(train_failures, a_full_disk_keeps_the_last_checkpoint)
{
    if (!mount_disk("size=64k"))
        cr_skip_test("no file system can be mounted");
    write_text_file(work_path("tiny.cfg"), SAVING_CONFIG);
    /* room for one checkpoint, then for two, then for three: a folder of 4 KB pages */
    for (int pages = 1; pages <= 26; pages += 5) {
        cr_assert_eq(mount(NULL, work_path("disk"), NULL, MS_REMOUNT, text_of("size=%dk", 4 * pages)), 0);
        struct program_result result = RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("disk/run"));
        EXPECT_ERROR(result, 1, "No space left on device", "disk/run");
        cr_assert_null(strstr(list_folder(work_path("disk/run")), ".tmp-"));
        if (strstr(result.out, "saved step 1\n") != NULL)
            expect_whole(work_path("disk/run"), 1);
        umount(work_path("disk"));
        cr_assert_eq(mount("tmpfs", work_path("disk"), "tmpfs", 0, "size=64k"), 0);
    }
    umount(work_path("disk"));
}

Test(train_failures, a_disk_that_fills_up_later_keeps_what_was_saved)
{
    if (!mount_disk("size=4m"))
        cr_skip_test("no file system can be mounted");
    write_text_file(work_path("tiny.cfg"), SAVING_CONFIG);
    const char *folder = work_path("disk/run");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", folder, "--set", "train.stop_after=5"));
    FILE *filler = fopen(work_path("disk/filler"), "w");
    static const char block[4096];
    setvbuf(filler, NULL, _IONBF, 0);
    while (fwrite(block, 1, sizeof block, filler) == sizeof block)
        continue;
    fclose(filler);
    EXPECT_ERROR(RUN("train", "--resume", folder), 1, "No space left on device");
    expect_whole(folder, 5);
    remove(work_path("disk/filler"));
    expect_done(RUN("train", "--resume", folder));
    expect_done(
        RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("whole"), "--set", "train.stop_after=5"));
    expect_done(RUN("train", "--resume", work_path("whole")));
    expect_same_runs(work_path("whole"), folder, "a disk that was full for a while");
    umount(work_path("disk"));
}

Test(train_failures, a_file_limit_is_told_like_a_full_disk)
{
    write_text_file(work_path("tiny.cfg"), SAVING_CONFIG);
    const char *folder = work_path("run");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", folder, "--set", "train.stop_after=3"));
    const struct program_options limited = {.file_limit = 6000};
    EXPECT_ERROR(RUN_WITH(&limited, "train", "--resume", folder), 1, "File too large", "step-00000004.npz");
    expect_whole(folder, 3);
    EXPECT_ERROR(RUN_WITH(&limited, "train", "--config", work_path("tiny.cfg"), "--out", work_path("new")), 1,
                 "File too large");
    cr_assert_str_eq(list_folder(work_path("new")), "config.cfg data.json metrics.jsonl ");
}

Test(train_failures, a_folder_that_cannot_be_written_is_refused_before_the_first_step)
{
    write_text_file(work_path("tiny.cfg"), SAVING_CONFIG);
    write_text_file(work_path("file"), "");
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("file")), 2, "Not a directory");
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("file/run")), 2, "Not a directory");
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", "/dev/full"), 2, "/dev/full");
    cr_assert_eq(symlink(work_path("nowhere"), work_path("dangling")), 0);
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("dangling")), 2, "dangling");
    cr_assert_eq(symlink(work_path("loop"), work_path("loop")), 0);
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("loop")), 2, "loop");
    char name[400];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path(name)), 2, "too long");
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", "/proc/run"), 2, "/proc/run");
}

Test(train_failures, a_folder_of_another_user_is_refused)
{
    const struct program_options nobody = {.as_nobody = true};
    if (geteuid() != 0 || RUN_WITH(&nobody, "train", "--version").status != 0)
        cr_skip_test("the program cannot be run as another user");
    write_text_file(work_path("tiny.cfg"), SAVING_CONFIG);
    chmod(work_path(""), 0755);
    EXPECT_ERROR(RUN_WITH(&nobody, "train", "--config", work_path("tiny.cfg"), "--out", work_path("run")), 2,
                 "Permission denied");
    cr_assert_not(exists(work_path("run")));
    mkdir(work_path("locked"), 0755);
    EXPECT_ERROR(RUN_WITH(&nobody, "train", "--config", work_path("tiny.cfg"), "--out", work_path("locked")), 2,
                 "locked", "Permission denied");
    expect_done(
        RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("mine"), "--set", "train.stop_after=2"));
    EXPECT_ERROR(RUN_WITH(&nobody, "train", "--resume", work_path("mine")), 2, "mine");
    chmod(work_path("mine/last.npz"), 0600);
    EXPECT_ERROR(RUN_WITH(&nobody, "predict", "--model", work_path("mine/last.npz")), 2, "Permission denied");
    chmod(work_path("tiny.cfg"), 0600);
    EXPECT_ERROR(RUN_WITH(&nobody, "train", "--config", work_path("tiny.cfg")), 2, "Permission denied");
}

Test(train_failures, a_read_only_file_system_is_refused)
{
    if (!mount_disk("size=4m"))
        cr_skip_test("no file system can be mounted");
    write_text_file(work_path("tiny.cfg"), SAVING_CONFIG);
    expect_done(
        RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("disk/run"), "--set", "train.stop_after=2"));
    cr_assert_eq(mount(NULL, work_path("disk"), NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("disk/new")), 2, "Read-only");
    EXPECT_ERROR(RUN("train", "--resume", work_path("disk/run")), 2, "Read-only");
    umount(work_path("disk"));
}

Test(train_failures, two_runs_in_one_folder_are_refused)
{
    write_text_file(work_path("tiny.cfg"),
                    TINY_CONFIG "train: {steps: 1000000, log_every: 1000}\ncheckpoint: {every: 1}\n");
    const char *const fresh[] = {"--config", work_path("tiny.cfg"), "--out", work_path("run"), NULL};
    const char *const again[] = {"--resume", work_path("run"), NULL};
    for (int i = 0; i < 5; i++) {
        struct timespec before, after;
        char byte[4096];
        int output = -1;
        pid_t pid = start_program(NULL, "train", i == 0 ? fresh : again, NULL, &output);
        for (bool saved = false; !saved;) {
            ssize_t n = read(output, byte, sizeof byte - 1);
            cr_assert(n > 0);
            byte[n] = '\0';
            saved = strstr(byte, "saved") != NULL;
        }
        clock_gettime(CLOCK_MONOTONIC, &before);
        EXPECT_ERROR(RUN("train", "--resume", work_path("run")), 2, "another run");
        clock_gettime(CLOCK_MONOTONIC, &after);
        cr_assert(after.tv_sec - before.tv_sec <= 5); /* refused at once; the slack is for a machine under load */
        EXPECT_ERROR(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("run")), 2, "another run");
        kill(pid, SIGKILL);
        cr_assert_eq(wait_program(pid), 128 + SIGKILL);
        close(output);
    }
    expect_done(RUN("train", "--resume", work_path("run"), "--set", "train.steps=1"));
}

Test(train_failures, numbers_out_of_hand_end_the_run)
{
    write_text_file(work_path("tiny.cfg"),
                    TINY_CONFIG "train: {steps: 50, batch_size: 16, log_every: 3}\ncheckpoint: {every: 1}\n");
    struct program_result result =
        RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("run"), "--set", "optim.lr=1e30");
    EXPECT_ERROR(result, 1, "step 2", "learning rate 1e+30", "first bad tensor: ", "encoder.layers.0");
    cr_assert_null(strstr(result.err, "-nan"));
    cr_assert_not_null(strstr(result.out, "loss nan"));
    cr_assert_null(strstr(result.out, "saved step 2"));
    const char *metrics = timeless_metrics(work_path("run"));
    cr_assert_not_null(strstr(metrics,
                              "{\"event\":\"train\",\"step\":2,\"epoch\":1,\"loss\":\"nan\",\"learning_rate\":1e30,"
                              "\"gradient_norm\":\"nan\"}"),
                       "%s", metrics);
    cr_assert_str_eq(list_folder(work_path("run")), "config.cfg data.json last.npz metrics.jsonl step-00000001.npz ");
    expect_whole(work_path("run"), 1); /* and a whole one holds finite numbers alone */
    size_t n = 0;
    tap_mem_free(npz_arrays(work_path("run/last.npz"), &n));
    /* going on fails in the same way, and leaves the same */
    EXPECT_ERROR(RUN("train", "--resume", work_path("run")), 1, "step 2");
    cr_assert_str_eq(metrics, timeless_metrics(work_path("run")));
    /* the norm overflows before the loss does */
    result = RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("norm"), "--set", "optim.name=sgd",
                 "--set", "optim.lr=1e37");
    cr_assert_eq(result.status, 1);
    cr_assert_eq(count_lines(result.err), 1);
}

Test(train_failures, a_terminal_shows_one_line_that_is_written_over)
{
    char text[4096];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        cr_skip_test("there are no terminals");
    const char *name = text_of("%s", ptsname(terminal));
    int other_end = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC); /* keeps what was written until it is read */
    const struct program_options options = {.stdout_path = name};
    write_text_file(work_path("tiny.cfg"), TINY_CONFIG "train: {steps: 4, batch_size: 16, log_every: 1}\n");
    expect_done(RUN_WITH(&options, "train", "--config", work_path("tiny.cfg"), "--out", work_path("run")));
    struct pollfd wait = {terminal, POLLIN, 0};
    text[0] = '\0';
    for (size_t n = 0; strstr(text, "done: ") == NULL; text[n] = '\0') { /* it comes in pieces */
        cr_assert_eq(poll(&wait, 1, 60000), 1);
        ssize_t got = read(terminal, text + n, sizeof text - 1 - n);
        cr_assert(got > 0);
        n += (size_t)got;
    }
    cr_assert_not_null(strstr(text, "\rstep 1/4  epoch 1  loss "), "%s", text);
    cr_assert_not_null(strstr(text, "\rstep 4/4  epoch 1  loss "), "%s", text);
    cr_assert_not_null(strstr(text, " tokens/s  "));
    cr_assert_not_null(strstr(text, "\r\033[Kstep 4  valid: loss "), "%s", text);
    cr_assert_null(strstr(text, "left\r\n"));
    close(other_end);
    close(terminal);
}

Test(train_failures, output_that_nobody_takes_does_not_stop_the_run)
{
    const struct program_options closed = {.stdout_closed = true};
    const struct program_options broken = {.stdout_broken = true};
    const struct program_options full = {.stdout_path = "/dev/full"};
    const struct program_options all_closed = {.stdout_closed = true, .stdin_closed = true, .stderr_closed = true};
    const struct program_options *const cases[] = {&closed, &broken, &full, &all_closed};
    write_text_file(work_path("tiny.cfg"), SAVING_CONFIG);
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("whole")));
    for (size_t i = 0; i < 4; i++) {
        const char *folder = work_path(text_of("run-%d", (int)i));
        struct program_result result = RUN_WITH(cases[i], "train", "--config", work_path("tiny.cfg"), "--out", folder);
        cr_assert_eq(result.status, 1, "case %d: %d %s", (int)i, result.status, result.err);
        cr_assert_eq(count_lines(result.err), cases[i] == &all_closed ? 0 : 1);
        expect_same_runs(work_path("whole"), folder, folder);
        cr_assert_str_eq(list_folder(work_path("whole")), list_folder(folder));
        cr_assert(same_files(work_path("whole/config.cfg"), text_of("%s/config.cfg", folder)));
    }
    /* who is to be quiet needs no output */
    struct program_result quiet =
        RUN_WITH(&closed, "train", "--config", work_path("tiny.cfg"), "--out", work_path("quiet"), "--quiet");
    cr_assert_eq(quiet.status, 0, "%s", quiet.err);
}
