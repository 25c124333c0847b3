/* test_determinism.c: what must not matter does not: repeating, threads, watching, how a step is cut into batches. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "npz.h"
#include "run_program.h"
#include "tiny_run.h"

TestSuite(determinism, .fini = work_remove);

static const char *const no_sets[] = {NULL};

Test(determinism, twenty_equal_runs_give_the_same_bytes)
{
    const char *config = TINY_CONFIG "train: {steps: 10, batch_size: 10}\n";
    tiny_train(work_path("first"), false, config, no_sets);
    for (int i = 0; i < 19; i++) {
        const char *folder = work_path(text_of("run-%d", i));
        tiny_train(folder, false, config, no_sets);
        expect_same_runs(work_path("first"), folder, folder);
    }
}

Test(determinism, another_seed_gives_another_model)
{
    const char *const zero[] = {"train.seed=0", NULL};
    const char *const one[] = {"train.seed=1", NULL};
    const char *config = TINY_CONFIG "train: {steps: 2, batch_size: 10}\n";
    tiny_train(work_path("zero"), false, config, zero);
    tiny_train(work_path("one"), false, config, one);
    cr_assert_not(same_arrays(work_path("zero/last.npz"), work_path("one/last.npz")));
}

Test(determinism, any_number_of_threads_gives_the_same_bytes)
{
    const struct program_options options = {.environment = "OMP_WAIT_POLICY=passive"};
    write_text_file(work_path("tiny.cfg"),
                    "model: {d_model: 24, heads: 3, layers: 2, d_ff: 48, pooling: mean_max}\n"
                    "data: {task: order, char_ngrams: 300, bigrams: 200}\ntask: {rows: 100}\n"
                    "train: {steps: 4, batch_size: 40, log_every: 1, word_dropout: 0.2}\n");
    for (int n = 1; n <= 4; n++) {
        const char *folder = work_path(text_of("run-%d", n));
        expect_done(RUN_WITH(&options, "train", "--config", work_path("tiny.cfg"), "--out", folder, "--threads",
                             text_of("%d", n)));
        cr_assert_str_eq(timeless_metrics(work_path("run-1")), timeless_metrics(folder));
        cr_assert(same_arrays(work_path("run-1/last.npz"), text_of("%s/last.npz", folder)), "%d threads", n);
        cr_assert(same_arrays(work_path("run-1/best.npz"), text_of("%s/best.npz", folder)), "%d threads", n);
    }
}

Test(determinism, settings_of_openmp_do_not_matter)
{
    static const char *const settings[] = {"OMP_DYNAMIC=true",   "OMP_SCHEDULE=dynamic,1", "OMP_MAX_ACTIVE_LEVELS=3",
                                           "OMP_PROC_BIND=true", "OMP_THREAD_LIMIT=1",     "BLIS_NUM_THREADS=4"};
    write_text_file(work_path("tiny.cfg"), "model: {d_model: 24, heads: 3, layers: 1, d_ff: 48}\ndata: {task: order}\n"
                                           "task: {rows: 60}\ntrain: {steps: 2, batch_size: 40}\n");
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("run"), "--threads", "1"));
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const struct program_options options = {.environment = settings[i]};
        const char *folder = work_path(text_of("run-%d", (int)i));
        expect_done(RUN_WITH(&options, "train", "--config", work_path("tiny.cfg"), "--out", folder, "--threads", "2"));
        cr_assert(same_arrays(work_path("run/last.npz"), text_of("%s/last.npz", folder)), "%s", settings[i]);
    }
}

Test(determinism, watching_a_run_does_not_change_it)
{
    const char *config = work_path("tiny.cfg");
    write_text_file(config, TINY_CONFIG "train: {steps: 21, batch_size: 10}\n");
    expect_done(RUN("train", "--config", config, "--out", work_path("seldom"), "--set", "train.evaluate_every=1000",
                    "--set", "train.log_every=1000"));
    expect_done(RUN("train", "--config", config, "--out", work_path("often"), "--set", "train.evaluate_every=1",
                    "--set", "checkpoint.every=1", "--set", "train.log_every=1"));
    struct program_result quiet = RUN("train", "--config", config, "--out", work_path("quiet"), "--quiet", "--set",
                                      "checkpoint.compression=9", "--set", "checkpoint.keep=1");
    expect_done(quiet);
    cr_assert_str_empty(quiet.out);
    cr_assert(same_arrays(work_path("seldom/last.npz"), work_path("often/last.npz")));
    cr_assert(same_arrays(work_path("seldom/last.npz"), work_path("quiet/last.npz")));
}

Test(determinism, folder_locale_and_time_zone_do_not_matter)
{
    const struct program_options elsewhere = {.folder = "/", .environment = "TZ=Asia/Tokyo"};
    const struct program_options other_locale = {.environment = "LC_ALL=de_DE.UTF-8"};
    write_tiny_data(work_path("data.tsv"), 30);
    write_text_file(work_path("tiny.cfg"), text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\n"
                                                   "data: {train: %s}\ntrain: {epochs: 2}\n",
                                                   work_path("data.tsv")));
    expect_done(RUN("train", "--config", work_path("tiny.cfg"), "--out", work_path("a")));
    expect_done(RUN_WITH(&elsewhere, "train", "--config", work_path("tiny.cfg"), "--out", work_path("b")));
    expect_done(RUN_WITH(&other_locale, "train", "--config", work_path("tiny.cfg"), "--out", work_path("c")));
    expect_same_runs(work_path("a"), work_path("b"), "another folder and time zone");
    expect_same_runs(work_path("a"), work_path("c"), "another locale");
}

/* --- steps cut into batches ----------------------------------------------------------------------------------------
 */

static double largest_difference(const char *a, const char *b)
{
    struct tap_error error = {0};
    struct tap_checkpoint *one = tap_checkpoint_open(a, &error);
    struct tap_checkpoint *other = tap_checkpoint_open(b, &error);
    cr_assert(one != NULL && other != NULL, "%s", error.message);
    struct tap_model *model = tap_checkpoint_model(one, &error);
    struct tap_model *other_model = tap_checkpoint_model(other, &error);
    cr_assert(model != NULL && other_model != NULL, "%s", error.message);
    double largest = 0;
    for (size_t i = 0; i < model->parameters.block_size; i++)
        largest = fmax(largest, fabs((double)model->parameters.data[i] - (double)other_model->parameters.data[i]));
    tap_model_free(model);
    tap_model_free(other_model);
    tap_checkpoint_close(one);
    tap_checkpoint_close(other);
    return largest;
}

/* Trains with one batch of 12 a step, and with smaller ones that make up 12; the last step of an epoch has 4 rows. */
static void compare_cuts(const char *more)
{
    static const int cuts[][2] = {{12, 1}, {6, 2}, {4, 3}, {3, 4}, {1, 12}};
    const char *config = text_of("%s%s", TINY_CONFIG, more);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        const char *const sets[] = {text_of("train.batch_size=%d", cuts[i][0]),
                                    text_of("train.accumulate=%d", cuts[i][1]), NULL};
        const char *folder = work_path(text_of("cut-%d", cuts[i][0]));
        tiny_train(folder, false, config, sets);
        cr_assert_not_null(strstr(timeless_metrics(folder), "{\"event\":\"done\",\"steps\":12}"));
        double difference = largest_difference(work_path("cut-12/last.npz"), text_of("%s/last.npz", folder));
        /* rounding of sums taken in another order; the parameters are of size 1 */
        cr_assert(difference <= 1e-5, "%d batches of %d: %g", cuts[i][1], cuts[i][0], difference);
    }
    cr_assert(largest_difference(work_path("cut-12/step-00000006.npz"), work_path("cut-12/last.npz")) > 1e-3);
}

Test(determinism, accumulated_batches_are_one_large_batch)
{
    compare_cuts("optim: {name: sgd, lr: 0.2, clip_norm: 0.5, weight_decay: 0.01}\ntrain: {epochs: 2}\n");
}

Test(determinism, accumulated_batches_drop_the_words_of_one_large_batch)
{
    compare_cuts("optim: {name: sgd, lr: 0.2, clip_norm: 0.5}\ntrain: {epochs: 2, word_dropout: 0.3}\n");
}

Test(determinism, accumulated_batches_weigh_classes_as_one_large_batch)
{
    const char *config = "optim: {name: sgd, lr: 0.2}\n";
    write_tiny_data(work_path("data.tsv"), 50);
    const char *base = text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16, dropout: 0.1}\n"
                               "data: {train: %s, valid_fraction: 0}\n%strain: {epochs: 3, class_weights: [0.3, 2, 0], "
                               "label_smoothing: 0.1}\n",
                               work_path("data.tsv"), config);
    const char *const one[] = {"train.batch_size=8", "train.accumulate=1", NULL};
    const char *const four[] = {"train.batch_size=2", "train.accumulate=4", NULL};
    tiny_train(work_path("one"), false, base, one);
    tiny_train(work_path("four"), false, base, four);
    cr_assert(largest_difference(work_path("one/last.npz"), work_path("four/last.npz")) <= 1e-5);
}

Test(determinism, every_row_is_used_and_the_steps_are_known_before)
{
    /* rows, batch_size, accumulate, epochs -> steps */
    static const int cases[][5] = {
        {20, 4, 2, 4, 12}, {18, 4, 2, 4, 12}, {3, 4, 2, 4, 4}, {21, 7, 1, 2, 6}, {22, 7, 1, 2, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int *c = cases[i];
        write_tiny_data(work_path("data.tsv"), c[0]);
        write_text_file(
            work_path("tiny.cfg"),
            text_of("model: {d_model: 4, heads: 1, layers: 1, d_ff: 4}\ndata: {train: %s, valid_fraction: 0}\n"
                    "train: {batch_size: %d, accumulate: %d, epochs: %d}\n",
                    work_path("data.tsv"), c[1], c[2], c[3]));
        const char *folder = work_path(text_of("run-%d", (int)i));
        struct program_result result = RUN("train", "--config", work_path("tiny.cfg"), "--out", folder);
        expect_done(result);
        cr_assert_not_null(strstr(result.out, text_of("\n%d steps, from step 0", c[4])), "%s", result.out);
        cr_assert_not_null(strstr(timeless_metrics(folder), text_of("{\"event\":\"done\",\"steps\":%d}", c[4])));
    }
}

Test(determinism, evaluation_does_not_depend_on_the_batch_size)
{
    struct tap_error error = {0};
    const char *const sets[] = {"train.steps=5", NULL};
    tiny_train(work_path("run"), false, TINY_CONFIG, sets);
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(work_path("run/last.npz"), &error);
    cr_assert_not_null(checkpoint, "%s", error.message);
    struct tap_model *model = tap_checkpoint_model(checkpoint, &error);
    struct tap_data_options options = tap_config_data_options(&checkpoint->config);
    struct tap_data *data =
        tap_data_open(&options, checkpoint->tokenizer, checkpoint->label_names, checkpoint->labels.n, &error);
    struct tap_tape *tape = tap_tape_new(&error);
    cr_assert(model != NULL && data != NULL && tape != NULL, "%s", error.message);
    double loss = 0;
    double accuracy = 0;
    for (uint32_t size = 1; size <= 20; size++) {
        struct evaluator evaluator;
        cr_assert_eq(evaluator_init(&evaluator, model, tape, &data->parts[TAP_PART_VALID], size, &error), TAP_OK);
        cr_assert_eq(evaluator_run(&evaluator, &error), TAP_OK);
        if (size == 1) {
            loss = scores_loss(&evaluator.scores);
            accuracy = scores_accuracy(&evaluator.scores);
        }
        cr_assert_eq(evaluator.scores.n_rows, 16);
        cr_assert_eq(scores_loss(&evaluator.scores), loss, "batches of %u", size);
        cr_assert_eq(scores_accuracy(&evaluator.scores), accuracy);
        evaluator_clear(&evaluator);
    }
    tap_tape_free(tape);
    tap_data_free(data);
    tap_model_free(model);
    tap_checkpoint_close(checkpoint);
}
