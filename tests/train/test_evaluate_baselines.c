/* test_evaluate_baselines.c: what a model is compared with: trained in memory, but no otherwise than by ./train. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "baselines.h"
#include "json.h"
#include "mem.h"
#include "program.h"
#include "run_program.h"
#include "tiny_run.h"

#define MODEL work_path("run/last.npz")

TestSuite(evaluate_baselines, .fini = work_remove);

/* A model, hardly trained, on the given data. */
static void make_model(const char *data_keys)
{
    write_text_file(work_path("test.cfg"), text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\ndata: {%s}\n"
                                                   "train: {steps: 1, batch_size: 8, seed: 7}\n",
                                                   data_keys));
    expect_done(RUN("train", "--config", work_path("test.cfg"), "--out", work_path("run"), "--quiet"));
}

/* "key":number behind `after` in a line of JSON. */
static double number_of(const char *json, const char *after, const char *key)
{
    const char *at = strstr(json, text_of("\"%s\":", after));
    double number = (double)NAN;
    if (at != NULL)
        at = strstr(at, text_of("\"%s\":", key));
    cr_assert_not_null(at, "no %s %s in %s", after, key, json);
    cr_assert_eq(sscanf(at + strlen(key) + 3, "%lf", &number), 1);
    return number;
}

/* A number as JSON has it. */
static const char *written(double number)
{
    return number == floor(number) ? text_of("%.1f", number) : text_of("%.17g", number);
}

Test(evaluate_baselines, json_has_its_form_and_the_text_the_same_numbers)
{
    write_tiny_data(work_path("data.tsv"), 60);
    make_model(text_of("train: %s", work_path("data.tsv")));
    struct program_result plain = RUN("evaluate", "--model", MODEL, "--format", "json");
    struct program_result json = RUN("evaluate", "--model", MODEL, "--format", "json", "--baselines");
    struct program_result text = RUN("evaluate", "--model", MODEL, "--baselines", "--errors", "0");
    expect_done(plain);
    expect_done(json);
    expect_done(text);
    /* all that is there without, then one more member */
    cr_assert_eq(strncmp(json.out, plain.out, plain.n_out - 2), 0);
    const char *expected =
        text_of(",\"baselines\":{\"majority\":{\"accuracy\":%s,\"macro_f1\":%s,\"label\":\"bad\"},"
                "\"ngram\":{\"accuracy\":%s,\"macro_f1\":%s,\"loss\":%s}}}\n",
                written(number_of(json.out, "majority", "accuracy")),
                written(number_of(json.out, "majority", "macro_f1")), written(number_of(json.out, "ngram", "accuracy")),
                written(number_of(json.out, "ngram", "macro_f1")), written(number_of(json.out, "ngram", "loss")));
    cr_assert_str_eq(json.out + plain.n_out - 2, expected);
    expected = text_of("\n\n                          accuracy  macro F1\n"
                       "model                    %8.2f%% %9.4f\nn-gram baseline          %8.2f%% %9.4f\n"
                       "majority class           %8.2f%% %9.4f\n",
                       100 * number_of(json.out, "loss", "accuracy"), number_of(json.out, "loss", "macro_f1"),
                       100 * number_of(json.out, "ngram", "accuracy"), number_of(json.out, "ngram", "macro_f1"),
                       100 * number_of(json.out, "majority", "accuracy"), number_of(json.out, "majority", "macro_f1"));
    const char *at = strstr(text.out, expected);
    cr_assert(at != NULL && at[strlen(expected)] == '\0', "not %s in %s", expected, text.out);
    cr_assert_str_eq(text.err, "");
    cr_assert_str_eq(list_folder(work_path("run")),
                     "best.npz config.cfg data.json last.npz metrics.jsonl step-00000001.npz ");
}

Test(evaluate_baselines, counting_letters_needs_no_layers)
{
    make_model("task: majority}\ntask: {rows: 1000, length: 16");
    struct program_result json = RUN("evaluate", "--model", MODEL, "--format", "json", "--baselines");
    expect_done(json);
    cr_assert_gt(number_of(json.out, "ngram", "accuracy"), 0.95);
    cr_assert_gt(number_of(json.out, "ngram", "macro_f1"), 0.95);
    /* labels take turns: 500 rows each, of which 50 validate; F1 is 2/3 and 0 */
    cr_assert_float_eq(number_of(json.out, "majority", "accuracy"), 0.5, 1e-15);
    cr_assert_float_eq(number_of(json.out, "majority", "macro_f1"), 1.0 / 3, 1e-15);
    cr_assert_not_null(strstr(json.out, "\"macro_f1\":0.33333333333333331,\"label\":\"a\""), "the first among equals");
}

/* The keys of the n-gram baseline, for ./train. */
#define NGRAM_SETTINGS                                                                                                 \
    "--set", "model.d_model=64", "--set", "model.heads=1", "--set", "model.layers=0", "--set", "model.positions=none", \
        "--set", "model.dropout=0", "--set", "train.steps=-1", "--set", "train.epochs=20", "--set",                    \
        "train.batch_size=32", "--set", "optim.lr=5e-3", "--set", "optim.schedule=linear", "--set",                    \
        "data.bigrams=50000"

static void expect_same_scores(const char *json, const char *trained)
{
    static const char *const keys[] = {"loss", "accuracy", "macro_f1"};
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(number_of(json, "ngram", keys[i]), number_of(trained, "rows", keys[i]), "%s", keys[i]);
}

Test(evaluate_baselines, the_ngram_model_is_what_train_makes_of_the_same_keys)
{
    write_tiny_data(work_path("data.tsv"), 90);
    write_tiny_data(work_path("new.tsv"), 40);
    static const char *const fractions[] = {"0.2", "0"}; /* the best model, and without a validation part the last */
    for (size_t i = 0; i < 2; i++) {
        const char *ngram = work_path(text_of("ngram-%zu", i));
        make_model(text_of("train: %s, valid_fraction: %s", work_path("data.tsv"), fractions[i]));
        expect_done(RUN("train", "--config", work_path("test.cfg"), "--out", ngram, NGRAM_SETTINGS));
        struct program_result json =
            RUN("evaluate", "--model", MODEL, "--format", "json", "--baselines", "--data", work_path("new.tsv"));
        struct program_result trained =
            RUN("evaluate", "--model", ngram, "--format", "json", "--data", work_path("new.tsv"));
        expect_done(json);
        expect_done(trained);
        expect_same_scores(json.out, trained.out);
        if (i > 0)
            break;
        json = RUN("evaluate", "--model", MODEL, "--format", "json", "--baselines");
        trained = RUN("evaluate", "--model", ngram, "--format", "json");
        expect_done(json);
        expect_done(trained);
        expect_same_scores(json.out, trained.out);
        rename(work_path("run"), work_path("first-run"));
    }
}

Test(evaluate_baselines, a_file_is_scored_with_what_training_knew)
{
    write_text_file(work_path("data.tsv"), "b\tplum\nb\tplum\nb\tplum\na\tfig\na\tfig\n");
    write_text_file(work_path("new.tsv"), "a\tfig\na\tfig\na\tfig\nb\tplum\na\tplum\n");
    make_model(text_of("train: %s, valid_fraction: 0", work_path("data.tsv")));
    struct program_result json =
        RUN("evaluate", "--model", MODEL, "--format", "json", "--baselines", "--data", work_path("new.tsv"));
    expect_done(json);
    /* b, the most frequent one of training, is right once in five; its F1 is 2 / (1 + 5), that of a 0 */
    cr_assert_not_null(strstr(json.out, "\"label\":\"b\""));
    cr_assert_float_eq(number_of(json.out, "majority", "accuracy"), 0.2, 1e-15);
    cr_assert_float_eq(number_of(json.out, "majority", "macro_f1"), 1.0 / 6, 1e-15);
    /* two words for two classes: all but the last row; F1 6/7 and 2/3 */
    cr_assert_float_eq(number_of(json.out, "ngram", "accuracy"), 0.8, 1e-15);
    cr_assert_float_eq(number_of(json.out, "ngram", "macro_f1"), (6.0 / 7 + 2.0 / 3) / 2, 1e-15);
}

Test(evaluate_baselines, threads_change_no_byte)
{
    make_model("task: first}\ntask: {rows: 400, length: 20");
    struct program_result one =
        RUN("evaluate", "--model", MODEL, "--format", "json", "--baselines", "--errors", "5", "--threads", "1");
    struct program_result two =
        RUN("evaluate", "--model", MODEL, "--format", "json", "--baselines", "--errors", "5", "--threads", "2");
    expect_done(one);
    cr_assert_str_eq(one.out, two.out);
}

Test(evaluate_baselines, training_data_that_are_gone_or_changed_are_refused)
{
    write_tiny_data(work_path("data.tsv"), 60);
    write_tiny_data(work_path("new.tsv"), 30);
    make_model(text_of("train: %s", work_path("data.tsv")));
    write_tiny_data(work_path("data.tsv"), 61);
    expect_done(RUN("evaluate", "--model", MODEL, "--data", work_path("new.tsv")));
    struct program_result result = RUN("evaluate", "--model", MODEL, "--data", work_path("new.tsv"), "--baselines");
    EXPECT_ERROR(result, 2, "--baselines: ", "data.tsv: the file has changed since");
    cr_assert_str_eq(result.out, "");
    remove(work_path("data.tsv"));
    result = RUN("evaluate", "--model", MODEL, "--data", work_path("new.tsv"), "--baselines", "--format", "json");
    EXPECT_ERROR(result, 2, "--baselines: ", "data.tsv: cannot open");
    cr_assert_str_eq(result.out, "");
}

Test(evaluate_baselines, standard_input_is_not_read_twice)
{
    write_tiny_data(work_path("data.tsv"), 60);
    write_tiny_data(work_path("new.tsv"), 30);
    const struct program_options options = {.input = read_file(work_path("data.tsv"), NULL)};
    write_text_file(work_path("test.cfg"), "data: {train: \"-\"}\ntrain: {steps: 0}\n");
    expect_done(RUN_WITH(&options, "train", "--config", work_path("test.cfg"), "--out", work_path("run")));
    expect_done(RUN_WITH(&options, "evaluate", "--model", MODEL));
    EXPECT_ERROR(RUN_WITH(&options, "evaluate", "--model", MODEL, "--baselines"), 2, "--baselines: ", "read twice");
    EXPECT_ERROR(RUN_WITH(&options, "evaluate", "--model", MODEL, "--baselines", "--data", "-"), 2,
                 "--baselines: ", "read twice");
    struct program_result piped =
        RUN_WITH(&options, "evaluate", "--model", MODEL, "--baselines", "--data", work_path("new.tsv"));
    expect_done(piped);
    cr_assert_not_null(strstr(piped.out, "\nn-gram baseline "));
}

Test(evaluate_baselines, the_config_is_the_same_whatever_the_model)
{
    static const char *const odd[] = {
        "data.task=order",
        "data.seed=5",
        "data.lowercase=false",
        "train.seed=9",
        "train.metric=mcc",
        "model.pooling=cls",
        "model.d_head=3",
        "model.norm_position=pre",
        "model.bias=false",
        "train.accumulate=3",
        "train.batch_tokens=100",
        "train.freeze=[classifier.*]",
        "train.steps=5",
        "train.patience=2",
        "train.label_smoothing=.1",
        "train.class_weights=balanced",
        "optim.name=sgd",
        "optim.momentum=.5",
        "optim.weight_decay=.1",
        "optim.warmup=10",
        "optim.clip_norm=1",
        "optim.final_lr=1",
        "train.evaluate_every=7",
        "train.stop_after=3",
        "model.dropout=0.5",
        "task.rows=50",
        "model.embedding_scale=sqrt",
        "checkpoint.every=1",
    };
    struct tap_error error = {0};
    struct tap_config_errors errors = {0};
    struct tap_config plain, from, of_plain, of_odd;
    cr_assert(tap_config_init(&plain, &error) && tap_config_init(&from, &error));
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        cr_assert(tap_config_set(&from, odd[i], &errors), "%s", odd[i]);
        if (i < 5)
            tap_config_set(&plain, odd[i], &errors);
    }
    tap_config_set(&plain, "task.rows=50", &errors);
    cr_assert(tap_config_finish(&from, &errors) && tap_config_finish(&plain, &errors));
    cr_assert_eq(baselines_config(&of_plain, &plain, 2, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(baselines_config(&of_odd, &from, 2, &error), TAP_OK, "%s", error.message);
    struct tap_config_text a = {0};
    struct tap_config_text b = {0};
    tap_config_write(&of_plain, &a);
    tap_config_write(&of_odd, &b);
    cr_assert_str_eq(a.bytes, b.bytes);
    cr_assert(of_odd.data.seed == 5 && !of_odd.data.lowercase && of_odd.task.rows == 50);
    cr_assert(of_odd.train.seed == 9 && of_odd.train.metric == TAP_CONFIG_METRIC_MCC && of_odd.train.threads == 2);
    cr_assert(of_odd.model.layers == 0 && of_odd.model.d_model == 64 && of_odd.model.embedding_dropout == 0);
    cr_assert(of_odd.train.epochs == 20 && of_odd.train.steps == -1 && of_odd.optim.lr == 5e-3);
    tap_config_text_clear(&a);
    tap_config_text_clear(&b);
    tap_config_clear(&plain);
    tap_config_clear(&from);
    tap_config_clear(&of_plain);
    tap_config_clear(&of_odd);
}

/* Trains without a folder as TINY_CONFIG and the sets say; the parameters that it leaves, for tap_mem_free. */
static tap_real *train_in_memory(const char *const *sets, const struct tap_model *like)
{
    struct tap_error error = {0};
    struct tap_config_errors errors = {0};
    struct tap_config config;
    struct training training;
    struct report report = {.quiet = true};
    enum training_end end;
    cr_assert(tap_config_init(&config, &error));
    tap_config_read_text(&config, "test.cfg", TINY_CONFIG, strlen(TINY_CONFIG), &errors);
    for (; *sets != NULL; sets++)
        tap_config_set(&config, *sets, &errors);
    cr_assert(tap_config_finish(&config, &errors));
    cr_assert_eq(training_init(&training, &config, &report, NULL, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(training_run(&training, &end, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(end, TRAINING_DONE);
    const struct tap_parameters *parameters = &training.model->parameters;
    cr_assert_eq(parameters->block_size, like->parameters.block_size);
    tap_real *numbers = tap_mem_new(parameters->block_size, sizeof *numbers);
    cr_assert_not_null(numbers);
    memcpy(numbers, parameters->data, parameters->block_size * sizeof *numbers);
    training_clear(&training);
    tap_config_clear(&config);
    return numbers;
}

Test(evaluate_baselines, a_run_without_a_folder_leaves_the_model_of_one_with)
{
    /* a rate that is soon too large, so that the best model is not the last; then no validation part */
    static const char *const cases[][4] = {
        {"train.epochs=6", "optim.lr=0.3", "model.norm=batch", NULL},
        {"train.epochs=2", "data.valid_fraction=0", "data.test_fraction=0.2", NULL},
        {"train.steps=0", NULL},
    };
    static const char *const files[] = {"best.npz", "last.npz", "best.npz"};
    for (size_t i = 0; i < 3; i++) {
        struct tap_error error = {0};
        struct trained trained;
        const char *folder = work_path(text_of("run-%zu", i));
        tiny_train(folder, false, TINY_CONFIG, cases[i]);
        if (i == 0)
            cr_assert_not(same_arrays(text_of("%s/best.npz", folder), text_of("%s/last.npz", folder)));
        cr_assert_eq(trained_open(&trained, text_of("%s/%s", folder, files[i]), &error), TAP_OK, "%s", error.message);
        tap_real *numbers = train_in_memory(cases[i], trained.model);
        /* a checkpoint holds floats */
        for (size_t n = 0; n < trained.model->parameters.block_size; n++)
            cr_assert_eq((float)numbers[n], (float)trained.model->parameters.data[n], "case %zu, number %zu", i, n);
        tap_mem_free(numbers);
        trained_close(&trained);
    }
    cr_assert_str_eq(list_folder(work_path("")), "run-0 run-1 run-2 ", "nothing else was written");
}

Test(evaluate_baselines, every_failed_allocation_is_an_error)
{
    write_text_file(work_path("data.tsv"), "b\tplum\nb\tplum\na\tfig\na\tfig\na\tnut\n");
    make_model(text_of("train: %s, valid_fraction: 0.4", work_path("data.tsv")));
    struct tap_error error = {0};
    struct trained trained;
    struct scored_rows rows;
    cr_assert_eq(trained_open(&trained, MODEL, &error), TAP_OK);
    for (int persistent = 0; persistent < 2; persistent++)
        for (uint64_t call = 1;; call++) {
            struct baselines baselines = {0};
            tap_error_clear(&error);
            tap_mem_fail_at(call, persistent != 0);
            if (scored_rows_open(&rows, trained.checkpoint, NULL, NULL, &error) == TAP_OK)
                baselines_score(&baselines, trained.checkpoint, &rows, 1, &error);
            tap_mem_fail_at(0, false);
            scored_rows_clear(&rows);
            baselines_clear(&baselines);
            if (error.status == TAP_OK) {
                cr_expect_gt(call, 100);
                break;
            }
            cr_assert_eq(error.status, TAP_ERR_MEMORY, "call %d: %s", (int)call, error.message);
        }
    trained_close(&trained);
}
