/* test_train_input.c: what ./train is given and cannot use is told in one line, and nothing is made or lost. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "mem.h"
#include "run_program.h"
#include "tiny_run.h"
#include "version.h"

TestSuite(train_input, .fini = work_remove);

/* ./train with the config `text` in a new folder. */
static struct program_result train_text(const char *text)
{
    write_text_file(work_path("test.cfg"), text);
    struct program_result result = RUN("train", "--config", work_path("test.cfg"), "--out", work_path("run"));
    cr_assert(result.status == 0 || !exists(work_path("run")), "a folder was made: %s", result.err);
    return result;
}

static struct program_result train_data(const char *data)
{
    return train_text(
        text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\ndata: {%s}\ntrain: {epochs: 1}\n", data));
}

Test(train_input, every_error_of_a_config_is_told)
{
    struct program_result result =
        train_text("model:\n  d_modell: 8\n  heads: 3\n  d_model: 64\noptimm:\n  lr: 1\ntrain:\n"
                   "  epochs: 8.0\n  batch_size: 0\n  seed: -1\noptim:\n  lr: 1e-3x\n  beta1: 1\n"
                   "  lr: 2\n");
    cr_assert_eq(result.status, 2);
    cr_assert_str_empty(result.out);
    const char *const wanted[] = {":2: model.d_modell: unknown key; the nearest known one is model.d_model",
                                  "model.heads: d_model 64 is not divisible by heads 3",
                                  "heads 1, 2, 4, 8, 16, 32, 64",
                                  ":5: optimm: unknown group; the nearest known one is optim",
                                  ":8: train.epochs: '8.0' is no integer",
                                  ":9: train.batch_size: '0' is out of range",
                                  ":10: train.seed: '-1' is out of range",
                                  ":12: optim.lr: '1e-3x' is no number",
                                  ":13: optim.beta1: '1' is out of range",
                                  ":14: optim.lr: "};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        cr_assert_not_null(strstr(result.err, wanted[i]), "\"%s\" is not in:\n%s", wanted[i], result.err);
    cr_assert(count_lines(result.err) >= 8);
}

Test(train_input, numbers_are_read_to_the_letter)
{
    static const char *const same[] = {"1e-3", "1E-3", "1.0e-3", ".001", "0.001", "+1e-3", "1e-03"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        write_text_file(work_path("test.cfg"),
                        text_of("%s%s}\n", TINY_CONFIG "train: {steps: 2}\noptim: {lr: ", same[i]));
        const char *folder = work_path(text_of("run-%d", (int)i));
        expect_done(RUN("train", "--config", work_path("test.cfg"), "--out", folder));
        cr_assert(same_files(work_path("run-0/last.npz"), text_of("%s/last.npz", folder)), "%s", same[i]);
        cr_assert(same_files(work_path("run-0/config.cfg"), text_of("%s/config.cfg", folder)), "%s", same[i]);
    }
    static const char *const wrong[] = {"1e-3x", "1e", "1e-3 1e-4", "\"\"", "nan", "inf", "1e400", "-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct program_result result =
            train_text(text_of("%s%s}\n", TINY_CONFIG "train: {steps: 2}\noptim: {lr: ", wrong[i]));
        EXPECT_ERROR(result, 2, "test.cfg:5: optim.lr");
    }
    static const char *const no_integers[] = {"8.0", "1e2", "2147483648", "9999999999999999999", "x", "[1]"};
    for (size_t i = 0; i < sizeof no_integers / sizeof no_integers[0]; i++) {
        struct program_result result = train_text(text_of("%strain: {steps: %s}\n", TINY_CONFIG, no_integers[i]));
        EXPECT_ERROR(result, 2, "test.cfg:4: train.steps");
    }
}

Test(train_input, a_config_that_cannot_be_read_is_one_line)
{
    EXPECT_ERROR(RUN("train", "--config", work_path("none.cfg")), 2, "none.cfg", "No such file");
    EXPECT_ERROR(RUN("train", "--config", work_path("")), 2, "Is a directory");
    EXPECT_ERROR(train_text("model: {d_model: 8"), 2, "test.cfg:");
    EXPECT_ERROR(train_text("model: &a {d_model: 8}\ndata: {task: order}\n"), 2, "test.cfg:1");
    EXPECT_ERROR(train_text("- 1\n"), 2, "test.cfg:1");
    EXPECT_ERROR(train_text("model: {d_model: 8}\n"), 2, "data.task");
    EXPECT_ERROR(train_text(""), 2, "data.task");
    EXPECT_ERROR(train_text("data: {task: sorting}\n"), 2, "sorting", "order");
    EXPECT_ERROR(train_text(TINY_CONFIG "model: {causal: false}\n"), 2, "model: given twice");
    EXPECT_ERROR(train_text("train: {matmul: bf16}\ndata: {task: order}\n"), 2, "test.cfg:1: train.matmul",
                 "not supported yet");
    size_t n = (size_t)1 << 20;
    char *line = tap_mem_new(n, 1);
    memset(line, 'x', n - 1);
    write_file(work_path("long.cfg"), line, n - 1);
    tap_mem_free(line);
    EXPECT_ERROR(RUN("train", "--config", work_path("long.cfg"), "--out", work_path("run")), 2, "long.cfg");
}

Test(train_input, a_config_of_any_line_ends_is_read)
{
    static const char *const texts[] = {"\xEF\xBB\xBFmodel: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\ndata: {task: "
                                        "order}\ntask: {rows: 80}\ntrain: {steps: 1}",
                                        "model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\r\ndata: {task: "
                                        "order}\r\ntask: {rows: 80}\r\ntrain: {steps: 1}\r\n",
                                        "model:\n  d_model: '8'\n  heads: \"2\"\n  layers: 1\n  d_ff: 16 # a "
                                        "comment\ndata:\n  task: order\ntask: {rows: 80}\n"
                                        "train: {steps: 1}\n"};
    for (size_t i = 0; i < 3; i++) {
        write_text_file(work_path("test.cfg"), texts[i]);
        const char *folder = work_path(text_of("run-%d", (int)i));
        expect_done(RUN("train", "--config", work_path("test.cfg"), "--out", folder));
        cr_assert(same_files(work_path("run-0/last.npz"), text_of("%s/last.npz", folder)));
    }
}

Test(train_input, bad_usage_is_one_line)
{
    const char *config = work_path("test.cfg");
    EXPECT_ERROR(RUN("train", "--conf", config), 2, "--conf: no such option");
    EXPECT_ERROR(RUN("train", "--config", config, "--quie"), 2, "--quie: no such option");
    EXPECT_ERROR(RUN("train", text_of("--conf=%s", config)), 2, "--conf=");
    write_text_file(config, TINY_CONFIG);
    EXPECT_ERROR(RUN("train", NULL), 2, "--config");
    EXPECT_ERROR(RUN("train", "word"), 2, "word");
    EXPECT_ERROR(RUN("train", "--config"), 2, "--config");
    EXPECT_ERROR(RUN("train", "--colour", "red"), 2, "--colour");
    EXPECT_ERROR(RUN("train", "-x"), 2, "-x");
    EXPECT_ERROR(RUN("train", "--config", config, "--threads", "two"), 2, "--threads", "two");
    EXPECT_ERROR(RUN("train", "--config", config, "--threads", "-1"), 2, "--threads");
    EXPECT_ERROR(RUN("train", "--config", config, "--threads", "99999999999"), 2, "--threads");
    EXPECT_ERROR(RUN("train", "--config", config, "--set", "d_model=8"), 2, "--set", "d_model");
    EXPECT_ERROR(RUN("train", "--config", config, "--set", "model.d_model"), 2, "--set");
    EXPECT_ERROR(RUN("train", "--config", config, "--set", "model.d_modell=8"), 2, "model.d_model");
    EXPECT_ERROR(RUN("train", "--config", config, "--out", ""), 2, "--out");
}

Test(train_input, help_and_version_are_printed)
{
    static const char *const programs[] = {"train", "predict", "evaluate"};
    const struct program_options full = {.stdout_path = "/dev/full"};
    for (size_t i = 0; i < 3; i++) {
        struct program_result help = RUN(programs[i], "--help");
        expect_done(help);
        cr_assert_not_null(strstr(help.out, text_of("Usage: ./%s", programs[i])));
        struct program_result version = RUN(programs[i], "--version");
        expect_done(version);
        cr_assert_not_null(strstr(version.out, text_of("%s (Tapestry) ", programs[i])));
        cr_assert_not_null(strstr(version.out, "-ffp-contract=off"));
        cr_assert_null(strstr(version.out, "fast-math"));
        EXPECT_ERROR(RUN_WITH(&full, programs[i], "--help"), 1, "standard output");
    }
}

Test(train_input, the_last_value_of_an_option_holds)
{
    write_text_file(work_path("test.cfg"), TINY_CONFIG "train: {steps: 5}\n");
    expect_done(RUN("train", "--config", work_path("none.cfg"), "--out", work_path("a"), "--set", "train.steps=4",
                    "--threads", "3", "--set", "train.steps=1", "--out", work_path("b"), "--config",
                    work_path("test.cfg"), "--threads", "1"));
    cr_assert_not(exists(work_path("a")));
    cr_assert_not_null(strstr(timeless_metrics(work_path("b")), "{\"event\":\"done\",\"steps\":1}"));
    cr_assert_not_null(strstr(read_file(work_path("b/config.cfg"), NULL), "threads: 1"));
}

Test(train_input, bad_data_files_are_refused_by_name)
{
    const char *path = work_path("data.tsv");
    EXPECT_ERROR(train_data(text_of("train: %s", path)), 2, "data.tsv", "No such file");
    EXPECT_ERROR(train_data(text_of("train: %s, format: tsv", work_path(""))), 2, "is a folder");
    EXPECT_ERROR(train_data(text_of("train: %s", work_path(""))), 2, "every row has the label 'test'");
    EXPECT_ERROR(train_data("train: x, format: xls"), 2, "data.format", "accepted: auto, tsv, csv, jsonl");
    write_text_file(path, "");
    EXPECT_ERROR(train_data(text_of("train: %s", path)), 2, "data.tsv", "no rows");
    write_file(path, "a\tx\n\xff\xfe\tb\n", 9);
    EXPECT_ERROR(train_data(text_of("train: %s", path)), 2, "data.tsv:2", "UTF-8");
    write_file(path, "a\tx\nb\ty\0z\n", 10);
    EXPECT_ERROR(train_data(text_of("train: %s", path)), 2, "data.tsv:2");
    write_file(path, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
    EXPECT_ERROR(train_data(text_of("train: %s", path)), 2, "data.tsv");
    write_text_file(path, "a\tx\nb\n");
    EXPECT_ERROR(train_data(text_of("train: %s", path)), 2, "data.tsv:2");
    write_text_file(path, "a\tx\na\ty\na\tz\n");
    EXPECT_ERROR(train_data(text_of("train: %s", path)), 2, "data.tsv", "two labels");
    write_tiny_data(path, 30);
    write_text_file(work_path("valid.tsv"), "good\tplum\nugly\tfig\n");
    EXPECT_ERROR(train_data(text_of("train: %s, valid: %s", path, work_path("valid.tsv"))), 2, "valid.tsv:2", "ugly");
    EXPECT_ERROR(train_data(text_of("train: %s, test: %s", path, work_path("none.tsv"))), 2, "none.tsv");
    EXPECT_ERROR(train_data(text_of("train: %s, task: order", path)), 2, "data.t");
    EXPECT_ERROR(train_text(text_of("data: {train: %s}\ntrain: {class_weights: [1, 2]}\n", path)), 2, "class_weights",
                 "3");
}

Test(train_input, init_of_another_shape_or_kind_is_refused)
{
    write_text_file(work_path("tiny.cfg"), TINY_CONFIG "train: {steps: 1}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    const char *init = text_of("train: {steps: 0, init: %s}\n", work_path("a/last.npz"));
    struct program_result result = train_text(
        text_of("model: {d_model: 12, heads: 2, layers: 1, d_ff: 16}\ndata: {task: order, valid_fraction: 0.2}\n"
                "task: {rows: 80, language: english}\n%s",
                init));
    EXPECT_ERROR(result, 2, "last.npz", "embedding.weight", "8)", "12)");
    EXPECT_ERROR(train_text(text_of(
                     "model: {d_model: 8, heads: 2, layers: 2, d_ff: 16}\ndata: {task: order, valid_fraction: 0.2}\n"
                     "task: {rows: 80, language: english}\n%s",
                     init)),
                 2, "last.npz", "encoder.layers.1");
    EXPECT_ERROR(train_text(text_of("%strain: {init: %s}\n", TINY_CONFIG, work_path("tiny.cfg"))), 2, "tiny.cfg");
    EXPECT_ERROR(train_text(text_of("%strain: {init: %s}\n", TINY_CONFIG, work_path("none.npz"))), 2, "none.npz");
    /* and one that fits starts the run */
    expect_done(train_text(text_of("%s%s", TINY_CONFIG, init)));
    struct tap_error error = {0};
    struct tap_checkpoint *first = tap_checkpoint_open(work_path("a/last.npz"), &error);
    struct tap_checkpoint *second = tap_checkpoint_open(work_path("run/last.npz"), &error);
    struct tap_model *model = tap_checkpoint_model(first, &error);
    struct tap_model *copy = tap_checkpoint_model(second, &error);
    cr_assert(model != NULL && copy != NULL, "%s", error.message);
    cr_assert_eq(memcmp(model->parameters.data, copy->parameters.data, model->parameters.block_size * sizeof(tap_real)),
                 0);
    tap_model_free(model);
    tap_model_free(copy);
    tap_checkpoint_close(first);
    tap_checkpoint_close(second);
}

/* --- damaged checkpoints -------------------------------------------------------------------------------------------
 */

/* Damages a file in the way of that number; false when there is no such way. */
static bool damage(const char *path, int way)
{
    size_t n = 0;
    char *bytes = read_file(path, &n);
    cr_assert_not_null(bytes);
    switch (way) {
    case 0: /* a flipped bit */
        bytes[n / 3] ^= 4;
        break;
    case 1: /* cut short */
        n = n / 2;
        break;
    case 2:
        n--;
        break;
    case 3:
        n = 0;
        break;
    case 4: /* zeros, as after a power loss */
        memset(bytes, 0, n);
        break;
    case 5:
        bytes = (char *)text_of("no checkpoint at all");
        n = strlen(bytes);
        break;
    default:
        return false;
    }
    remove(path); /* it has a second name */
    write_file(path, bytes, n);
    return true;
}

Test(train_input, a_damaged_file_is_refused_by_all_programs)
{
    const char *path = work_path("bad.npz");
    write_text_file(work_path("tiny.cfg"), TINY_CONFIG "train: {steps: 1}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    size_t n = 0;
    char *whole = read_file(work_path("a/last.npz"), &n);
    for (int way = 0;; way++) {
        write_file(path, whole, n);
        if (!damage(path, way))
            break;
        EXPECT_ERROR(RUN("predict", "--model", path), 2, "bad.npz");
        EXPECT_ERROR(RUN("evaluate", "--model", path), 2, "bad.npz");
        EXPECT_ERROR(RUN("train", "--resume", path, "--out", work_path("new")), 2, "bad.npz");
        cr_assert_not(exists(work_path("new")));
    }
    EXPECT_ERROR(RUN("predict", "--model", work_path("none.npz")), 2, "none.npz");
    EXPECT_ERROR(RUN("predict", "--model", work_path("")), 2, "best.npz");
    EXPECT_ERROR(RUN("evaluate", "--model", work_path("tiny.cfg")), 2, "tiny.cfg");
}

Test(train_input, a_folder_goes_on_from_an_older_whole_file_with_a_warning)
{
    write_text_file(work_path("tiny.cfg"), TINY_CONFIG "train: {steps: 6, batch_size: 16}\ncheckpoint: {every: 1}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("whole")));
    for (int way = 0; way < 6; way++) {
        const char *folder = work_path(text_of("run-%d", way));
        expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", folder, "--set", "train.stop_after=5"));
        damage(text_of("%s/last.npz", folder), way);
        damage(text_of("%s/step-00000005.npz", folder), way);
        struct program_result result = RUN("train", "--resume", folder, "--set", "train.stop_after=-1");
        cr_assert_eq(result.status, 0, "%s", result.err);
        cr_assert_not_null(strstr(result.err, "warning: "));
        cr_assert_not_null(strstr(result.err, "last.npz"));
        cr_assert_not_null(strstr(result.err, "step-00000005.npz"));
        cr_assert_not_null(strstr(result.out, "from step 4"));
        expect_same_runs(work_path("whole"), folder, folder);
    }
    /* all damaged: refused, nothing begun anew */
    const char *folder = work_path("run-0");
    static const char *const names[] = {"last.npz", "best.npz", "step-00000004.npz", "step-00000005.npz",
                                        "step-00000006.npz"};
    for (size_t i = 0; i < 5; i++)
        damage(text_of("%s/%s", folder, names[i]), 0);
    struct program_result result = RUN("train", "--resume", folder);
    cr_assert_eq(result.status, 2);
    cr_assert_not_null(strstr(result.err, "no whole checkpoint"));
    cr_assert_eq(count_of(timeless_metrics(folder), "\"done\""), 1);
}
