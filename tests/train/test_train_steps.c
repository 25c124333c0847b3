/* test_train_steps.c: where a run begins and ends, and data of extreme shapes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "run_program.h"
#include "tiny_run.h"

TestSuite(train_steps, .fini = work_remove);

#define SMALL_MODEL "model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\n"

static struct program_result train(const char *name, const char *config)
{
    write_text_file(work_path("test.cfg"), config);
    return RUN("train", "--config", work_path("test.cfg"), "--out", work_path(name));
}

Test(train_steps, no_steps_save_the_initial_model)
{
    expect_done(train("run", TINY_CONFIG "train: {steps: 0}\n"));
    cr_assert_str_eq(list_folder(work_path("run")),
                     "best.npz config.cfg data.json last.npz metrics.jsonl step-00000000.npz ");
    const char *metrics = timeless_metrics(work_path("run"));
    cr_assert_eq(count_lines(metrics), 2, "%s", metrics);
    cr_assert_not_null(strstr(metrics, "{\"event\":\"evaluate\",\"split\":\"valid\",\"step\":0,"));
    cr_assert_not_null(strstr(metrics, "{\"event\":\"done\",\"steps\":0}"));
    expect_done(train("none", TINY_CONFIG "train: {epochs: 0}\n"));
    cr_assert(same_arrays(work_path("run/last.npz"), work_path("none/last.npz")));
    /* again, and on */
    expect_done(RUN("train", "--resume", work_path("run")));
    cr_assert_str_eq(metrics, timeless_metrics(work_path("run")));
    expect_done(RUN("train", "--resume", work_path("run"), "--set", "train.steps=5"));
    expect_done(train("whole", TINY_CONFIG "train: {steps: 5}\n"));
    cr_assert(same_arrays(work_path("run/last.npz"), work_path("whole/last.npz")));
    expect_done(RUN("predict", "--model", work_path("none")));
}

Test(train_steps, stop_after_saves_and_leaves)
{
    for (int step = 0; step <= 2; step++) {
        const char *folder = text_of("run-%d", step);
        struct program_result result = train(
            folder, text_of("%strain: {steps: 9, batch_size: 10, log_every: 1, stop_after: %d}\n", TINY_CONFIG, step));
        expect_done(result);
        cr_assert_not_null(strstr(result.out, text_of("saved step %d\n", step)));
        cr_assert_eq(count_lines(timeless_metrics(work_path(folder))), (size_t)step);
        cr_assert_str_eq(list_folder(work_path(folder)),
                         text_of("config.cfg data.json last.npz metrics.jsonl step-%08d.npz ", step));
    }
    /* beyond the end: the run ends as ever */
    expect_done(train("beyond", TINY_CONFIG "train: {steps: 2, stop_after: 3}\n"));
    cr_assert_not_null(strstr(timeless_metrics(work_path("beyond")), "done"));
}

Test(train_steps, steps_win_over_epochs)
{
    expect_done(train("run", TINY_CONFIG "train: {steps: 3, epochs: 7, batch_size: 32}\n"));
    cr_assert_not_null(strstr(timeless_metrics(work_path("run")), "{\"event\":\"done\",\"steps\":3}"));
    expect_done(train("epochs", TINY_CONFIG "train: {epochs: 7, batch_size: 32}\n"));
    cr_assert_not_null(strstr(timeless_metrics(work_path("epochs")), "{\"event\":\"done\",\"steps\":14}"));
}

Test(train_steps, patience_ends_a_run_that_gets_no_better)
{
    /* at rate 0 the first evaluation stays the best */
    expect_done(train("run", TINY_CONFIG "train: {epochs: 50, batch_size: 64, patience: 3}\noptim: {lr: 0}\n"));
    const char *metrics = timeless_metrics(work_path("run"));
    cr_assert_eq(count_of(metrics, "\"valid\""), 4);
    cr_assert_not_null(strstr(metrics, "{\"event\":\"done\",\"steps\":4}"));
    cr_assert_not_null(strstr(npz_meta(work_path("run/last.npz")), "\"best_step\":1,\"stale_evaluations\":3"));
}

Test(train_steps, the_best_model_is_that_of_the_metric)
{
    static const char *const metrics[] = {"accuracy", "loss", "macro_f1"};
    for (size_t m = 0; m < 3; m++) {
        const char *folder = work_path(metrics[m]);
        expect_done(train(metrics[m], text_of("%strain: {epochs: 8, batch_size: 16, metric: %s}\noptim: {lr: 3e-2}\n",
                                              TINY_CONFIG, metrics[m])));
        double best = m == 1 ? 1e9 : -1e9;
        int best_step = -1;
        const char *key = text_of("\"%s\":", metrics[m]);
        for (const char *at = strstr(timeless_metrics(folder), "\"valid\""); at != NULL;
             at = strstr(at + 1, "\"valid\"")) {
            int step = 0;
            double value = 0;
            cr_assert(sscanf(at, "\"valid\",\"step\":%d", &step) == 1 &&
                      sscanf(strstr(at, key) + strlen(key), "%lf", &value) == 1);
            if (m == 1 ? value < best : value > best) {
                best = value;
                best_step = step;
            }
        }
        cr_assert_not_null(strstr(npz_meta(text_of("%s/best.npz", folder)), text_of("\"step\":%d,", best_step)));
        cr_assert_not_null(strstr(npz_meta(text_of("%s/last.npz", folder)), text_of("\"best_step\":%d,", best_step)));
    }
}

Test(train_steps, the_test_part_is_scored_once_with_the_best_model)
{
    expect_done(train("run",
                      SMALL_MODEL "data: {task: order, test_fraction: 0.2}\ntask: {rows: 100}\n"
                                  "train: {epochs: 4, batch_size: 16, metric: loss}\noptim: {name: sgd, lr: 2}\n"));
    const char *metrics = timeless_metrics(work_path("run"));
    cr_assert_eq(count_of(metrics, "\"test\""), 1);
    int step = -1;
    double loss = 0;
    cr_assert_eq(sscanf(strstr(metrics, "\"test\""), "\"test\",\"step\":%d,\"loss\":%lf", &step, &loss), 2);
    cr_assert_not_null(strstr(npz_meta(work_path("run/best.npz")), text_of("\"step\":%d,", step)));
    struct program_result result = RUN("evaluate", "--model", work_path("run"), "--format", "json");
    expect_done(result);
    double evaluated = 0;
    cr_assert_eq(sscanf(strstr(result.out, "\"loss\":"), "\"loss\":%lf", &evaluated), 1);
    cr_assert(fabs(loss - evaluated) <= 1e-8 * evaluated, "%.17g and %.17g", loss, evaluated); /* 9 digits are logged */
}

Test(train_steps, without_a_validation_part_there_is_no_best_model)
{
    expect_done(train("run",
                      SMALL_MODEL "data: {task: order, valid_fraction: 0, test_fraction: 0.2}\ntask: {rows: 100}\n"
                                  "train: {epochs: 2, patience: 1}\n"));
    cr_assert_not(exists(work_path("run/best.npz")));
    const char *metrics = timeless_metrics(work_path("run"));
    cr_assert_null(strstr(metrics, "\"valid\""));
    cr_assert_not_null(strstr(metrics, "{\"event\":\"evaluate\",\"split\":\"test\",\"step\":6,"), "%s", metrics);
    cr_assert_not_null(strstr(read_file(work_path("run/data.json"), NULL), "\"valid\":{\"rows\":0,"));
    expect_done(RUN("evaluate", "--model", work_path("run")));
    expect_done(
        train("nothing", SMALL_MODEL "data: {task: order, valid_fraction: 0}\ntask: {rows: 100}\ntrain: {steps: 1}\n"));
    EXPECT_ERROR(RUN("evaluate", "--model", work_path("nothing")), 2, "--data");
}

Test(train_steps, extreme_shapes_train)
{
    static const char *const configs[][2] = {
        {"no layers", "model: {d_model: 8, heads: 2, layers: 0, d_ff: 16}\ntrain: {steps: 3}\n"},
        {"one of each", "model: {d_model: 1, heads: 1, layers: 1, d_ff: 1}\ntrain: {steps: 3, batch_size: 1}\n"},
        {"as many heads as numbers", "model: {d_model: 7, heads: 7, layers: 1, d_ff: 3}\ntrain: {steps: 3}\n"},
        {"a batch larger than the data", SMALL_MODEL "train: {steps: 3, batch_size: 2000000000}\n"},
        {"more batches than there are", SMALL_MODEL "train: {steps: 3, accumulate: 2000000000}\n"},
        {"a batch of one token", SMALL_MODEL "train: {steps: 3, batch_tokens: 1}\n"},
        {"a batch of all tokens", SMALL_MODEL "train: {steps: 3, batch_tokens: 2000000000}\n"},
        {"a long warm-up", SMALL_MODEL "train: {steps: 3}\noptim: {warmup: 1000}\n"},
    };
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        const char *folder = text_of("run-%d", (int)i);
        struct program_result result =
            train(folder, text_of("%sdata: {task: order}\ntask: {rows: 40}\n", configs[i][1]));
        cr_assert_eq(result.status, 0, "%s: %s", configs[i][0], result.err);
        cr_assert_not_null(strstr(timeless_metrics(work_path(folder)), "{\"event\":\"done\",\"steps\":3}"));
        expect_done(RUN("evaluate", "--model", work_path(folder)));
    }
}

/* Trains two steps on a TSV text, and predicts it. */
static void train_on(const char *name, const char *data, size_t n, const char *more)
{
    write_file(work_path("data.tsv"), data, n);
    struct program_result result = train(name, text_of("%sdata: {train: %s%s}\ntrain: {steps: 2, batch_size: 3}\n",
                                                       SMALL_MODEL, work_path("data.tsv"), more));
    cr_assert_eq(result.status, 0, "%s: %s", name, result.err);
    const struct program_options options = {.input = "x\n\nmany words\n"};
    result = RUN_WITH(&options, "predict", "--model", work_path(name));
    expect_done(result);
    cr_assert_eq(count_lines(result.out), 3);
}

Test(train_steps, extreme_texts_train)
{
    const char *texts[][3] = {
        {"one-row-a-label", "a\tx y\nb\ty z\n", ""},
        {"one-row-a-label-cut", "a\tx y\nb\ty z\n", ", valid_fraction: 0.9"},
        {"empty-texts", "a\t\nb\t\na\t \nb\t\t\n", ""},
        {"one-character", "a\tx\nb\ty\na\tx\n", ""},
        {"one-token-each", "a\tone two three\nb\tfour five\na\tone\n", ", max_length: 1"},
        {"one-word-known", "a\tone two three\nb\tone one\na\tone\n", ", max_vocab: 2"},
        {"nothing-known", "a\tone two three\nb\tone one\na\tone\n", ", max_vocab: 1"},
        {"punctuation", "a\t!!! ...\nb\t???\n", ""},
        {"no-last-line-end", "a\tone\nb\ttwo", ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        train_on(texts[i][0], texts[i][1], strlen(texts[i][1]), texts[i][2]);
    /* a line of 1 MB */
    enum { N = 1 << 20 };
    char *line = tap_mem_new(N + 64, 1);
    size_t n = (size_t)sprintf(line, "a\tshort\nb\t");
    for (size_t i = 0; i < N; i++)
        line[n + i] = i % 7 == 6 ? ' ' : (char)('a' + i % 5);
    n += N;
    line[n++] = '\n';
    train_on("long-line", line, n, "");
    cr_assert_not_null(strstr(read_file(work_path("long-line/data.json"), NULL), "\"truncated\":1"));
    tap_mem_free(line);
}

Test(train_steps, a_batch_is_learned_by_heart)
{
    expect_done(train("run",
                      "model: {d_model: 16, heads: 2, layers: 1, d_ff: 32, dropout: 0}\ndata: {task: order, "
                      "valid_fraction: 0}\ntask: {rows: 10}\ntrain: {steps: 150, batch_size: 10, log_every: 150}\n"
                      "optim: {lr: 1e-2}\n"));
    double loss = 1;
    cr_assert_eq(sscanf(strstr(timeless_metrics(work_path("run")), "\"loss\":"), "\"loss\":%lf", &loss), 1);
    cr_assert(loss < 0.5); /* the mean over all steps */
    struct program_result result =
        RUN("train", "--resume", work_path("run"), "--set", "train.steps=151", "--set", "train.log_every=1");
    expect_done(result);
    const char *at = strstr(timeless_metrics(work_path("run")), "\"step\":151");
    cr_assert(at != NULL && sscanf(strstr(at, "\"loss\":"), "\"loss\":%lf", &loss) == 1);
    cr_assert(loss < 0.01, "%g", loss);
}
