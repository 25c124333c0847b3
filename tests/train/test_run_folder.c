/* test_run_folder.c: what is in a run's folder, under which names, and for how long. */
#include "run_folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

#include "json.h"
#include "run_program.h"
#include "tiny_run.h"

TestSuite(run_folder, .fini = work_remove);

/* Trains with more settings in <work>/<name>. */
static struct program_result train(const char *name, const char *more)
{
    write_text_file(work_path("tiny.cfg"), text_of("%s%s", TINY_CONFIG, more));
    return RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path(name));
}

Test(run_folder, it_holds_what_the_contract_says)
{
    struct program_result result = train("run", "train: {epochs: 3, batch_size: 16}\n");
    expect_done(result);
    cr_assert_str_eq(list_folder(work_path("run")),
                     "best.npz config.cfg data.json last.npz metrics.jsonl step-00000004.npz "
                     "step-00000008.npz step-00000012.npz ");
    cr_assert(same_files(work_path("run/last.npz"), work_path("run/step-00000012.npz")));
    static const char *const saved[] = {"saved step 4\n", "saved step 8\n", "saved step 12\n"};
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(count_of(result.out, saved[i]), 1);
    cr_assert_eq(count_of(result.out, "saved step"), 3);
}

Test(run_folder, parents_are_made_and_an_empty_folder_is_taken)
{
    expect_done(train("a/b/c", "train: {steps: 1}\n"));
    cr_assert(exists(work_path("a/b/c/last.npz")));
    mkdir(work_path("empty"), 0777);
    expect_done(train("empty/", "train: {steps: 1}\n"));
    cr_assert(exists(work_path("empty/last.npz")));
}

Test(run_folder, a_folder_that_holds_something_is_refused_and_left_alone)
{
    mkdir(work_path("full"), 0777);
    write_text_file(work_path("full/.hidden"), "mine");
    EXPECT_ERROR(train("full", "train: {steps: 1}\n"), 2, "full", "not empty");
    cr_assert_str_eq(list_folder(work_path("full")), ".hidden ");
}

Test(run_folder, runs_are_numbered_when_no_folder_is_named)
{
    write_text_file(work_path("my.first.cfg"), TINY_CONFIG "train: {steps: 1}\n");
    const struct program_options here = {.folder = work_path("")};
    for (int i = 1; i <= 3; i++) {
        struct program_result result = RUN_WITH(&here, "train", "--config", "my.first.cfg");
        expect_done(result);
        cr_assert_not_null(strstr(result.out, text_of("runs/my.first-%d", i)));
    }
    cr_assert_str_eq(list_folder(work_path("runs")), "my.first-1 my.first-2 my.first-3 ");
    write_text_file(work_path("runs/other-1"), "a file");
    rename(work_path("my.first.cfg"), work_path("other"));
    expect_done(RUN_WITH(&here, "train", "--config", "./other"));
    cr_assert(exists(work_path("runs/other-2/last.npz")));
}

Test(run_folder, config_cfg_makes_the_same_run_again)
{
    write_tiny_data(work_path("data.tsv"), 30);
    write_text_file(work_path("tiny.cfg"),
                    "model: {d_model: 8, heads: 2, layers: 1, d_ff: 16, dropout: 0.2, ffn_dropout: 0.05}\n"
                    "data: {train: data.tsv, test_fraction: 0.1}\n"
                    "train: {epochs: 2, class_weights: [1, 2.5, 0.1], seed: 7}\noptim: {lr: 3e-4}\n");
    const struct program_options here = {.folder = work_path("")};
    expect_done(RUN_WITH(&here, "train", "--config", "tiny.cfg", "--out", "a", "--set", "optim.name=adamw"));
    expect_done(RUN("train", "--config", work_path("a/config.cfg"), "--out", work_path("b")));
    expect_same_runs(work_path("a"), work_path("b"), "from config.cfg");
    cr_assert(same_files(work_path("a/config.cfg"), work_path("b/config.cfg")));
    const char *text = read_file(work_path("a/config.cfg"), NULL);
    cr_assert_not_null(strstr(text, text_of("train: \"%s\"\n", work_path("data.tsv"))), "%s", text);
    cr_assert_eq(count_of(text, "\n"), tap_config_n_keys() + count_of(text, ":\n"), "not one line a key: %s", text);
}

Test(run_folder, data_json_tells_what_each_part_holds)
{
    write_text_file(work_path("train.tsv"), "b\tone two three\na\tone\nb\ttwo two\na\t\n");
    write_text_file(work_path("valid.tsv"), "a\tone unseen\n");
    write_text_file(work_path("test.tsv"), "b\tthree two one and more\nb\tone\n");
    write_text_file(work_path("tiny.cfg"),
                    text_of("model: {d_model: 4, heads: 1, layers: 1, d_ff: 4}\ndata: {train: %s, valid: %s, test: %s, "
                            "max_length: 3}\ntrain: {steps: 1}\n",
                            work_path("train.tsv"), work_path("valid.tsv"), work_path("test.tsv")));
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("run")));
    cr_assert_str_eq(read_file(work_path("run/data.json"), NULL),
                     "{\"train\":{\"rows\":4,\"tokens\":7,\"labels\":{\"a\":2,\"b\":2},\"longest\":3,\"truncated\":0,"
                     "\"lengths\":[{\"upto\":1,\"rows\":2},{\"upto\":2,\"rows\":1},{\"upto\":4,\"rows\":1}],"
                     "\"duplicates\":0,\"conflicts\":0,\"in_train\":0,\"in_valid\":0,\"unknown_tokens\":1,"
                     "\"unknown_rate\":0.142857143,\"replaced\":0},"
                     "\"valid\":{\"rows\":1,\"tokens\":2,\"labels\":{\"a\":1,\"b\":0},\"longest\":2,\"truncated\":0,"
                     "\"lengths\":[{\"upto\":1,\"rows\":0},{\"upto\":2,\"rows\":1}],"
                     "\"duplicates\":0,\"conflicts\":0,\"in_train\":0,\"in_valid\":0,\"unknown_tokens\":1,\"unknown_rate\":0.5,"
                     "\"replaced\":0},"
                     "\"test\":{\"rows\":2,\"tokens\":4,\"labels\":{\"a\":0,\"b\":2},\"longest\":3,\"truncated\":1,"
                     "\"lengths\":[{\"upto\":1,\"rows\":1},{\"upto\":2,\"rows\":0},{\"upto\":4,\"rows\":1}],"
                     "\"duplicates\":0,\"conflicts\":0,\"in_train\":1,\"in_valid\":0,\"unknown_tokens\":0,\"unknown_rate\":0.0,"
                     "\"replaced\":0}}");
}

Test(run_folder, rows_are_counted_as_truncated_whichever_part_is_kept)
{
    write_text_file(work_path("train.tsv"), "b\tone two three\na\tone\nb\ttwo two three one\na\t\n");
    static const char *const names[] = {"head", "tail", "both"};
    for (int i = 0; i < 3; i++) {
        const char *out = work_path(names[i]);
        write_text_file(
            work_path("tiny.cfg"),
            text_of("model: {d_model: 4, heads: 1, layers: 1, d_ff: 4}\ndata: {train: %s, valid_fraction: 0, "
                    "max_length: 3, truncate: %s}\ntrain: {steps: 1}\n",
                    work_path("train.tsv"), names[i]));
        expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", out));
        cr_assert_not_null(strstr(read_file(text_of("%s/data.json", out), NULL),
                                  "{\"train\":{\"rows\":4,\"tokens\":8,\"labels\":{\"a\":2,\"b\":2},\"longest\":3,"
                                  "\"truncated\":1,"));
    }
}

/* The members of an object, in order, each followed by a blank. */
static const char *keys_of(const struct tap_json_place *object)
{
    struct tap_json_place member;
    void *iterator = NULL;
    const char *keys = "";
    while (tap_json_next(object, &iterator, &member))
        keys = text_of("%s%s ", keys, member.key);
    return keys;
}

Test(run_folder, metrics_have_their_form)
{
    expect_done(
        train("run", "train: {epochs: 3, batch_size: 16, log_every: 2}\noptim: {warmup: 4, schedule: linear}\n"));
    char *text = read_file(work_path("run/metrics.jsonl"), NULL);
    int64_t step = 0;
    int n_train = 0;
    int n_valid = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        struct tap_error error = {0};
        struct tap_json *value = tap_json_parse(line, strlen(line), "metrics", &error);
        cr_assert_not_null(value, "%s", error.message);
        struct tap_json_place place = tap_json_root(value, "metrics", &error);
        const char *event = tap_json_get_text(&place, "event");
        if (strcmp(event, "train") == 0) {
            cr_assert_str_eq(keys_of(&place), "event step epoch loss learning_rate gradient_norm tokens_per_second ");
            step = tap_json_get_integer(&place, "step", 1, 12);
            cr_assert_eq(step, 2 * ++n_train);
            cr_assert_eq(tap_json_get_integer(&place, "epoch", 1, 3), (step + 3) / 4);
            cr_assert(tap_json_get_real(&place, "loss") > 0 && tap_json_get_real(&place, "gradient_norm") > 0);
            double rate = step <= 4 ? 1e-3 * (double)step / 4 : 1e-3 * (double)(12 - step) / 8;
            cr_assert_float_eq(tap_json_get_real(&place, "learning_rate"), rate, 1.3e-4, "step %d", (int)step);
        } else if (strcmp(event, "evaluate") == 0) {
            cr_assert_str_eq(keys_of(&place), "event split step loss accuracy macro_f1 ");
            cr_assert_str_eq(tap_json_get_text(&place, "split"), "valid");
            cr_assert_eq(tap_json_get_integer(&place, "step", 1, 12), 4 * ++n_valid);
            cr_assert(tap_json_get_real(&place, "accuracy") <= 1 && tap_json_get_real(&place, "macro_f1") <= 1);
        } else {
            cr_assert_str_eq(event, "done");
            cr_assert_str_eq(keys_of(&place), "event steps seconds ");
            cr_assert_eq(tap_json_get_integer(&place, "steps", 0, 100), 12);
        }
        cr_assert_eq(error.status, TAP_OK, "%s", error.message);
        tap_json_free(value);
    }
    cr_assert(n_train == 6 && n_valid == 3);
}

Test(run_folder, the_logged_loss_is_the_mean_since_the_line_before)
{
    /* at rate 0 nothing moves: the loss of a step depends on its rows alone, and lines of 2 steps are means of 2 */
    double one[7];
    expect_done(train("one", "train: {epochs: 1, batch_size: 10, log_every: 1}\noptim: {lr: 0}\n"));
    expect_done(train("two", "train: {epochs: 1, batch_size: 10, log_every: 2}\noptim: {lr: 0}\n"));
    const char *at = read_file(work_path("one/metrics.jsonl"), NULL);
    for (int i = 0; i < 7; i++) {
        at = strstr(at, "\"epoch\":1,\"loss\":");
        cr_assert(at != NULL && sscanf(at, "\"epoch\":1,\"loss\":%lf", &one[i]) == 1);
        at++;
    }
    at = read_file(work_path("two/metrics.jsonl"), NULL);
    for (int i = 0; i < 3; i++) {
        double mean = 0;
        at = strstr(at, "\"epoch\":1,\"loss\":");
        cr_assert(at != NULL && sscanf(at, "\"epoch\":1,\"loss\":%lf", &mean) == 1);
        cr_assert_float_eq(mean, (one[2 * i] + one[2 * i + 1]) / 2, 2e-6);
        at++;
    }
}

Test(run_folder, the_newest_step_files_stay_in_numeric_order)
{
    static const int ends[][2] = {{8, 11}, {98, 101}};
    for (size_t i = 0; i < 2; i++) {
        const char *folder = work_path(text_of("run-%d", (int)i));
        write_text_file(work_path("tiny.cfg"), "model: {d_model: 4, heads: 1, layers: 0, d_ff: 4}\ndata: {task: order, "
                                               "valid_fraction: 0}\ntask: {rows: 20}\ncheckpoint: {keep: 3}\n");
        expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", folder, "--set",
                        text_of("train.stop_after=%d", ends[i][0]), "--set", "train.steps=200"));
        /* file times lie, and foreign files look alike */
        const struct utimbuf future = {4000000000, 4000000000};
        utime(text_of("%s/step-%08d.npz", folder, ends[i][0]), &future);
        static const char *const foreign[] = {"step-1.npz", "step-00000001.npz.bak", "step-0000000x.npz", "notes.txt",
                                              "step-00000003.npy"};
        for (size_t f = 0; f < 5; f++)
            write_text_file(text_of("%s/%s", folder, foreign[f]), "mine");
        expect_done(RUN("train", "--resume", folder, "--set", text_of("train.steps=%d", ends[i][1]), "--set",
                        "checkpoint.every=1"));
        const char *list = list_folder(folder);
        for (size_t f = 0; f < 5; f++)
            cr_assert_not_null(strstr(list, foreign[f]));
        cr_assert_eq(count_of(list, "step-0000"), 3 + 3, "%s", list);
        for (int step = ends[i][1] - 2; step <= ends[i][1]; step++)
            cr_assert_not_null(strstr(list, text_of("step-%08d.npz ", step)), "%s", list);
        struct program_result result =
            RUN("train", "--resume", folder, "--set", text_of("train.steps=%d", ends[i][1] + 1));
        expect_done(result);
        cr_assert_not_null(strstr(result.out, text_of("from step %d", ends[i][1])));
    }
}

Test(run_folder, the_best_model_outlives_its_step_file)
{
    expect_done(train("run",
                      "train: {steps: 9, batch_size: 16, evaluate_every: 1, metric: loss}\noptim: {name: sgd, lr: 1}\n"
                      "checkpoint: {keep: 1}\n"));
    const char *list = list_folder(work_path("run"));
    cr_assert_eq(count_of(list, "step-"), 1, "%s", list);
    struct tap_error error = {0};
    struct tap_checkpoint *best = tap_checkpoint_open(work_path("run/best.npz"), &error);
    struct tap_checkpoint *last = tap_checkpoint_open(work_path("run/last.npz"), &error);
    cr_assert(best != NULL && last != NULL, "%s", error.message);
    cr_assert_eq(best->progress.step, last->progress.best_step);
    cr_assert_eq(best->progress.best_metric, last->progress.best_metric);
    tap_checkpoint_close(best);
    tap_checkpoint_close(last);
}

Test(run_folder, cut_and_foreign_lines_of_a_log_go_when_a_run_goes_on)
{
    expect_done(train("whole", "train: {steps: 6, batch_size: 16, log_every: 1}\n"));
    write_text_file(work_path("tiny.cfg"),
                    TINY_CONFIG "train: {steps: 6, batch_size: 16, log_every: 1, stop_after: 3}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("run")));
    FILE *file = fopen(work_path("run/metrics.jsonl"), "a");
    fputs("{\"event\":\"train\",\"step\":4,\"epoch\":1}\n{\"event\":\"done\",\"steps\":3}\n"
          "{\"event\":\"evaluate\",\"split\":\"test\",\"step\":2}\nnonsense\n{\"event\":\"train\",\"st",
          file);
    fclose(file);
    expect_done(RUN("train", "--resume", work_path("run"), "--set", "train.stop_after=-1"));
    expect_same_runs(work_path("whole"), work_path("run"), "a log with other lines");
}

Test(run_folder, a_log_that_cannot_be_read_is_not_replaced)
{
    expect_done(train("run", "train: {steps: 6, stop_after: 2}\n"));
    remove(work_path("run/metrics.jsonl"));
    mkdir(work_path("run/metrics.jsonl"), 0777);
    struct program_result result = RUN("train", "--resume", work_path("run"));
    cr_assert_neq(result.status, 0);
    cr_assert_not_null(strstr(result.err, "metrics.jsonl"));
    cr_assert(exists(work_path("run/metrics.jsonl")));
}
