/* test_resume.c: a run that was stopped and goes on ends with the very bits of one that was not. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "run_program.h"
#include "tiny_run.h"

TestSuite(resume, .fini = work_remove);

#define N_STEPS 40
/* An epoch has 7 batches, the last one smaller, so with accumulation 4 steps, the last one of a single batch. */
#define RUN_TEXT                                                                                                       \
    "train: {steps: 40, batch_size: 10, accumulate: 2, log_every: 3, evaluate_every: 4, patience: 30, metric: loss, "  \
    "label_smoothing: 0.1}\n"                                                                                          \
    "checkpoint: {every: 9, keep: 2}\n"
#define ADAM_TEXT "optim: {name: adam, lr: 1e-2, warmup: 5, clip_norm: 1.0, weight_decay: 0.01, schedule: linear}\n"

static const char *const no_sets[] = {NULL};

/* Whether the two runs of the test's folder give the same when one stops after step k. */
static void stop_at(const char *config, int k)
{
    const char *folder = work_path(text_of("stopped-%d", k));
    const char *sets[] = {text_of("train.stop_after=%d", k), NULL};
    tiny_train(folder, false, config, sets);
    cr_assert_not_null(strstr(npz_meta(text_of("%s/last.npz", folder)), text_of("\"step\":%d,", k)));
    cr_assert_null(strstr(timeless_metrics(folder), "\"done\""));
    tiny_train(folder, true, config, no_sets);
    expect_same_runs(work_path("whole"), folder, text_of("stopped after step %d", k));
}

static void stop_at_steps(const char *config, int first, int step)
{
    tiny_train(work_path("whole"), false, config, no_sets);
    cr_assert_not_null(strstr(timeless_metrics(work_path("whole")), "{\"event\":\"done\",\"steps\":40}"));
    for (int k = first; k < N_STEPS; k += step)
        stop_at(config, k);
}

Test(resume, adam_stopped_after_any_step_ends_with_the_same_bits)
{
    stop_at_steps(TINY_CONFIG RUN_TEXT ADAM_TEXT, 1, 1);
}

Test(resume, batches_by_tokens_go_on_where_they_stood)
{
    const char *config =
        text_of("%s%s%s", TINY_CONFIG,
                "train: {steps: 40, batch_tokens: 120, accumulate: 2, log_every: 3, patience: 30}\n", ADAM_TEXT);
    stop_at_steps(config, 1, 3);
}

Test(resume, adamw_with_balanced_classes_of_a_file_goes_on_exactly)
{
    write_tiny_data(work_path("data.tsv"), 80);
    const char *config = text_of(
        "model: {d_model: 8, heads: 2, layers: 2, d_ff: 16, dropout: 0.1, norm_position: pre}\n"
        "data: {train: %s, test_fraction: 0.1}\n"
        "optim: {name: adamw, weight_decay: 0.1, decay: all, clip_norm: 1.0, warmup: 0.2}\n"
        "train: {steps: 40, batch_size: 10, accumulate: 3, log_every: 7, class_weights: balanced, patience: 30, "
        "metric: mcc}\n",
        work_path("data.tsv"));
    stop_at_steps(config, 2, 3);
}

Test(resume, ngrams_and_word_dropout_go_on_exactly)
{
    write_tiny_data(work_path("data.tsv"), 80);
    const char *config =
        text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16, pooling: mean_max}\n"
                "data: {train: %s, char_ngrams: 50, char_ngram_min: 2, bigrams: 40}\n"
                "train: {steps: 40, batch_size: 10, word_dropout: 0.3, log_every: 7, patience: 30}\n",
                work_path("data.tsv"));
    stop_at_steps(config, 3, 5);
}

Test(resume, sgd_goes_on_exactly)
{
    stop_at_steps(TINY_CONFIG RUN_TEXT "optim: {name: sgd, lr: 0.1, weight_decay: 0.01, clip_norm: 1.0, warmup: 5}\n",
                  3, 4);
}

Test(resume, a_run_stopped_after_every_step_ends_with_the_same_bits)
{
    const char *config = TINY_CONFIG RUN_TEXT ADAM_TEXT;
    const char *folder = work_path("chain");
    tiny_train(work_path("whole"), false, config, no_sets);
    for (int k = 0; k < N_STEPS; k++) {
        const char *sets[] = {text_of("train.stop_after=%d", k), NULL};
        tiny_train(folder, k > 0, config, sets);
    }
    tiny_train(folder, true, config, no_sets);
    expect_same_runs(work_path("whole"), folder, "stopped after every step");
}

Test(resume, early_stopping_counts_on)
{
    const char *config = TINY_CONFIG "train: {steps: 400, batch_size: 16, evaluate_every: 2, patience: 3}\n" ADAM_TEXT;
    tiny_train(work_path("whole"), false, config, no_sets);
    const char *metrics = timeless_metrics(work_path("whole"));
    size_t n_evaluations = count_of(metrics, "\"valid\"");
    cr_assert(n_evaluations >= 4 && n_evaluations < 100);
    for (int k = 1; k < (int)n_evaluations * 2; k += 3)
        stop_at(config, k);
    /* one that has ended so goes on when it may be more patient */
    const char *sets[] = {"train.patience=5", NULL};
    tiny_train(work_path("whole"), true, config, sets);
    const char *longer = timeless_metrics(work_path("whole"));
    cr_assert(count_of(longer, "\"valid\"") >= n_evaluations + 2);
    cr_assert_eq(count_of(longer, "\"done\""), 1);
    cr_assert_eq(strncmp(metrics, longer, (size_t)(strstr(metrics, "{\"event\":\"done\"") - metrics)), 0);
}

Test(resume, a_file_goes_on_in_a_new_folder_with_the_same_bits)
{
    const char *config = TINY_CONFIG RUN_TEXT ADAM_TEXT;
    const char *sets[] = {"train.stop_after=21", NULL};
    tiny_train(work_path("whole"), false, config, no_sets);
    tiny_train(work_path("part"), false, config, sets);
    tiny_train_from(work_path("part/last.npz"), work_path("new"), config, no_sets);
    cr_assert(same_files(work_path("whole/last.npz"), work_path("new/last.npz")));
    cr_assert(same_files(work_path("whole/best.npz"), work_path("new/best.npz")));
    const char *metrics = timeless_metrics(work_path("new"));
    const char *whole = timeless_metrics(work_path("whole"));
    cr_assert_str_eq(metrics, strstr(whole, "{\"event\":\"train\",\"step\":24,"));
    cr_assert(exists(work_path("part/last.npz")));
}

/* --- the same through the program ----------------------------------------------------------------------------------
 */

static void write_config(const char *text)
{
    write_text_file(work_path("tiny.cfg"), text);
}

Test(resume, the_program_goes_on_with_the_same_bits)
{
    write_config(TINY_CONFIG RUN_TEXT ADAM_TEXT);
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("whole"), "--threads", "1"));
    const int steps[] = {1, 13, 28, 39};
    for (size_t i = 0; i < 4; i++) {
        const char *folder = work_path(text_of("stopped-%d", steps[i]));
        expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", folder, "--set",
                        text_of("train.stop_after=%d", steps[i]), "--threads", "2"));
        expect_done(RUN("train", "--resume", folder, "--set", "train.stop_after=-1", "--threads", "1"));
        expect_same_runs(work_path("whole"), folder, folder);
    }
}

Test(resume, a_run_that_is_over_ends_again_without_a_step)
{
    write_config(TINY_CONFIG "train: {epochs: 2}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    const char *metrics = timeless_metrics(work_path("a"));
    const char *files = list_folder(work_path("a"));
    size_t n = 0;
    char *last = read_file(work_path("a/last.npz"), &n);
    struct program_result again = RUN("train", "--resume", work_path("a"));
    expect_done(again);
    cr_assert_null(strstr(again.out, "saved step"));
    cr_assert_str_eq(metrics, timeless_metrics(work_path("a")));
    cr_assert_str_eq(files, list_folder(work_path("a")));
    cr_assert_eq(memcmp(last, read_file(work_path("a/last.npz"), &n), n), 0);
    /* and into a new folder it is saved there */
    expect_done(RUN("train", "--resume", work_path("a/last.npz"), "--out", work_path("b")));
    cr_assert(same_files(work_path("a/last.npz"), work_path("b/last.npz")));
    cr_assert(same_files(work_path("a/best.npz"), work_path("b/best.npz")));
}

Test(resume, what_may_change_changes_and_the_rest_is_refused_by_name)
{
    write_config(TINY_CONFIG "train: {epochs: 2, stop_after: 1}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    const char *const fixed[][2] = {
        {"model.d_model=16", "model.d_model"},
        {"model.heads=4", "model.heads"},
        {"model.layers=2", "model.layers"},
        {"model.dropout=0.2", "model.dropout"},
        {"data.seed=2", "data.seed"},
        {"data.max_length=16", "data.max_length"},
        {"data.truncate=tail", "data.truncate"},
        {"data.tokenizer=wordpiece", "data.tokenizer"},
        {"task.rows=90", "task.rows"},
        {"train.seed=2", "train.seed"},
        {"train.batch_size=8", "train.batch_size"},
        {"train.accumulate=2", "train.accumulate"},
        {"train.metric=loss", "train.metric"},
        {"optim.name=sgd", "optim.name"},
        {"optim.lr=1", "optim.lr"},
        {"optim.warmup=3", "optim.warmup"},
        {"optim.clip_norm=1", "optim.clip_norm"},
        {"data.lowercase=false", "data.lowercase"},
    };
    const char *before = list_folder(work_path("a"));
    const char *metrics = timeless_metrics(work_path("a"));
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        struct program_result result = RUN("train", "--resume", work_path("a"), "--set", fixed[i][0]);
        cr_assert_eq(result.status, 2, "%s", fixed[i][0]);
        cr_assert_not_null(strstr(result.err, fixed[i][1]), "%s", result.err);
        cr_assert(count_lines(result.err) == 1, "%s", result.err);
    }
    cr_assert_str_eq(before, list_folder(work_path("a")));
    cr_assert_str_eq(metrics, timeless_metrics(work_path("a")));
    expect_done(RUN("train", "--resume", work_path("a"), "--set", "train.steps=3", "--set", "train.epochs=7", "--set",
                    "train.stop_after=-1", "--set", "train.log_every=1", "--set", "train.evaluate_every=1", "--set",
                    "train.patience=9", "--set", "train.threads=1", "--set", "checkpoint.every=1", "--set",
                    "checkpoint.keep=1", "--set", "checkpoint.compression=6"));
    cr_assert_not_null(strstr(timeless_metrics(work_path("a")), "{\"event\":\"done\",\"steps\":3}"));
}

Test(resume, a_data_file_that_has_changed_is_refused)
{
    write_tiny_data(work_path("data.tsv"), 40);
    write_tiny_data(work_path("valid.tsv"), 9);
    write_config(text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\ndata: {train: %s, valid: %s}\n"
                         "train: {epochs: 2, stop_after: 1}\n",
                         work_path("data.tsv"), work_path("valid.tsv")));
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    write_tiny_data(work_path("valid.tsv"), 12);
    EXPECT_ERROR(RUN("train", "--resume", work_path("a")), 2, "valid.tsv", "has changed");
    write_tiny_data(work_path("valid.tsv"), 9);
    size_t n = 0;
    char *bytes = read_file(work_path("data.tsv"), &n);
    bytes[n - 2] ^= 1;
    write_file(work_path("data.tsv"), bytes, n);
    EXPECT_ERROR(RUN("train", "--resume", work_path("a")), 2, "data.tsv", "has changed");
    bytes[n - 2] ^= 1;
    write_file(work_path("data.tsv"), bytes, n);
    expect_done(RUN("train", "--resume", work_path("a")));
    remove(work_path("data.tsv"));
    EXPECT_ERROR(RUN("train", "--resume", work_path("a")), 2, "data.tsv");
}

Test(resume, the_best_model_comes_along_or_a_warning)
{
    write_config("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\ndata: {task: order, test_fraction: 0.2}\n"
                 "task: {rows: 80}\ntrain: {steps: 9, evaluate_every: 2, batch_size: 16, stop_after: 5}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    expect_done(
        RUN("train", "--resume", work_path("a/last.npz"), "--out", work_path("b"), "--set", "train.stop_after=-1"));
    cr_assert(exists(work_path("b/best.npz")));
    /* a folder with the checkpoint alone */
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("c")));
    remove(work_path("c/best.npz"));
    struct program_result result =
        RUN("train", "--resume", work_path("c/last.npz"), "--out", work_path("d"), "--set", "train.stop_after=-1",
            "--set", "train.evaluate_every=0", "--set", "train.steps=6");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(strstr(result.err, "warning: "));
    cr_assert_not_null(strstr(result.err, "best"));
    cr_assert_not_null(strstr(timeless_metrics(work_path("d")), "\"split\":\"test\""));
}

Test(resume, a_save_cut_short_is_finished)
{
    write_config(TINY_CONFIG "train: {steps: 12, evaluate_every: 2, batch_size: 16, metric: loss}\noptim: {lr: 1e-2}\n"
                             "checkpoint: {keep: 9}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("whole")));
    /* every place where a save may end: the step file is there, last.npz or best.npz not yet */
    for (int missing = 0; missing < 4; missing++) {
        const char *folder = work_path(text_of("run-%d", missing));
        expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", folder, "--set", "train.stop_after=6"));
        if (missing & 1) {
            remove(text_of("%s/last.npz", folder));
            size_t n = 0;
            char *older = read_file(text_of("%s/step-00000004.npz", folder), &n);
            write_file(text_of("%s/last.npz", folder), older, n);
        }
        if (missing & 2)
            remove(text_of("%s/best.npz", folder));
        write_text_file(text_of("%s/.last.npz.tmp-123-4", folder), "half");
        write_text_file(text_of("%s/.step-00000008.npz.tmp-123-4", folder), "half");
        write_text_file(text_of("%s/.last.npz.tmp-mine", folder), "not ours");
        expect_done(RUN("train", "--resume", folder, "--set", "train.stop_after=-1"));
        expect_same_runs(work_path("whole"), folder, folder);
        cr_assert_not(exists(text_of("%s/.last.npz.tmp-123-4", folder)));
        cr_assert_not(exists(text_of("%s/.step-00000008.npz.tmp-123-4", folder)));
        cr_assert(exists(text_of("%s/.last.npz.tmp-mine", folder)));
    }
}

Test(resume, what_cannot_be_gone_on_from_is_refused)
{
    write_config(TINY_CONFIG "train: {epochs: 2, stop_after: 1}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    EXPECT_ERROR(RUN("train", "--resume", work_path("nowhere")), 2, "nowhere", "No such file");
    EXPECT_ERROR(RUN("train", "--resume", work_path("a/last.npz")), 2, "--out");
    EXPECT_ERROR(RUN("train", "--resume", work_path("a"), "--out", work_path("b")), 2, "--out");
    EXPECT_ERROR(RUN("train", "--resume", work_path("a/last.npz"), "--out", work_path("a")), 2, "not empty");
    EXPECT_ERROR(RUN("train", "--resume", work_path("tiny.cfg"), "--out", work_path("b")), 2, "tiny.cfg");
    cr_assert_not(exists(work_path("b")));
    write_text_file(work_path("empty-"), "");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("c")));
    remove(work_path("c/last.npz"));
    remove(work_path("c/step-00000001.npz"));
    EXPECT_ERROR(RUN("train", "--resume", work_path("c")), 2, "no whole checkpoint");
}
