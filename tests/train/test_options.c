/* test_options.c: model options, freezing, partial initialisation and what is told before a run, through the programs. */
#include "run_program.h"
#include "tiny_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *config_path(void)
{
    const char *path = work_path("options.cfg");
    write_text_file(path, TINY_CONFIG);
    return path;
}

Test(options, every_model_option_trains_resumes_and_passes_the_gradient_check, .fini = work_remove)
{
    static const char *const settings[] = {
        "model.norm=batch",           "model.norm=none",          "model.norm_position=pre",     "model.activation=gelu",
        "model.activation=gelu_tanh", "model.activation=silu",    "model.positions=learned",     "model.positions=none",
        "model.embedding_scale=sqrt", "model.pooling=max",        "model.pooling=cls",           "model.residual=false",
        "model.bias=false",           "model.scale_scores=false", "model.project_qkv=false",     "model.causal=true",
        "model.d_head=3",             "model.layers=0",           "data.tokenizer=char",         "data.tokenizer=byte",
        "optim.amsgrad=true",         "optim.schedule=cosine",    "optim.schedule=inverse_sqrt", "optim.name=adamw",
        "model.pooling=mean_max",     "data.char_ngrams=30",      "data.bigrams=20",             "train.word_dropout=0.2",
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *whole_path = work_path(text_of("whole-%zu", i)), *parts_path = work_path(text_of("parts-%zu", i));
        struct program_result check = RUN("gradcheck", "--config", config_path(), "--set", settings[i]);
        cr_assert_eq(check.status, 0, "%s: %s%s", settings[i], check.out, check.err);
        struct program_result run = RUN("train", "--config", config_path(), "--set", settings[i], "--set", "train.steps=6",
                                        "--out", whole_path);
        cr_assert_eq(run.status, 0, "%s: %s", settings[i], run.err);
        run = RUN("train", "--config", config_path(), "--set", settings[i], "--set", "train.steps=6", "--set",
                  "train.stop_after=3", "--out", parts_path);
        cr_assert_eq(run.status, 0, "%s: %s", settings[i], run.err);
        run = RUN("train", "--resume", parts_path, "--set", "train.stop_after=-1");
        cr_assert_eq(run.status, 0, "%s: %s", settings[i], run.err);
        cr_assert(same_arrays(text_of("%s/last.npz", whole_path), text_of("%s/last.npz", parts_path)), "%s", settings[i]);
    }
}

Test(options, gradcheck_names_what_is_wrong_with_its_arguments, .fini = work_remove)
{
    struct program_result result = run_program(NULL, "gradcheck", (const char *const[]){NULL});
    cr_assert_eq(result.status, 2);
    result = RUN("gradcheck", "--config", config_path(), "--set", "model.headz=2");
    cr_assert_eq(result.status, 2);
    cr_assert(strstr(result.err, "heads") != NULL, "%s", result.err);
    result = RUN("gradcheck", "--config", config_path(), "--all");
    cr_assert_eq(result.status, 0, "%s%s", result.out, result.err);
    cr_assert(strstr(result.out, "0 parameters wrong") != NULL);
    cr_assert(strstr(result.out, "classifier.weight") != NULL);
}

Test(options, frozen_parameters_keep_their_bits_and_a_pattern_without_a_match_is_refused, .fini = work_remove)
{
    const char *start = work_path("start"), *frozen = work_path("frozen");
    cr_assert_eq(RUN("train", "--config", config_path(), "--set", "train.steps=0", "--out", start).status, 0);
    struct program_result run = RUN("train", "--config", config_path(), "--set", "train.steps=4", "--set",
                                    "train.freeze=[encoder.*, embedding.weight, classifier.*]", "--out", work_path("none"));
    cr_assert_eq(run.status, 2);
    cr_assert(strstr(run.err, "nothing is left to train") != NULL, "%s", run.err);
    run = RUN("train", "--config", config_path(), "--set", "train.steps=4", "--set",
              "train.freeze=[encoder.*, embedding.weight]", "--out", frozen);
    cr_assert_eq(run.status, 0, "%s", run.err);
    struct tap_error error = {0};
    struct tap_checkpoint *a = tap_checkpoint_open(text_of("%s/last.npz", frozen), &error);
    struct tap_checkpoint *b = tap_checkpoint_open(text_of("%s/last.npz", start), &error);
    cr_assert(a != NULL && b != NULL, "%s", error.message);
    struct tap_model *trained = tap_checkpoint_model(a, &error), *untrained = tap_checkpoint_model(b, &error);
    for (size_t p = 0; p < trained->parameters.n; p++) {
        const struct tap_parameter *x = trained->parameters.items[p], *y = untrained->parameters.items[p];
        bool same = memcmp(x->tensor.data, y->tensor.data, x->tensor.size * sizeof(tap_real)) == 0;
        cr_expect_eq(same, strncmp(x->name, "classifier", 10) != 0, "%s", x->name);
    }
    tap_model_free(trained);
    tap_model_free(untrained);
    tap_checkpoint_close(a);
    tap_checkpoint_close(b);
    run = RUN("train", "--config", config_path(), "--set", "train.freeze=[decoder.*]", "--out", work_path("no"));
    cr_assert_eq(run.status, 2);
    cr_assert_str_eq(run.err, "train.freeze: 'decoder.*' matches no parameter; accepted: patterns of names such as embedding.weight\n");
}

Test(options, init_reads_by_name_and_partial_init_tells_what_is_missing, .fini = work_remove)
{
    const char *one = work_path("one"), *two = work_path("two");
    cr_assert_eq(RUN("train", "--config", config_path(), "--set", "train.steps=2", "--out", one).status, 0);
    const char *init = text_of("train.init=%s/last.npz", one);
    struct program_result run = RUN("train", "--config", config_path(), "--set", init, "--set", "train.steps=0", "--set",
                                    "model.layers=2", "--out", two);
    cr_assert_eq(run.status, 2);
    cr_assert(strstr(run.err, "train.init: ") == run.err, "%s", run.err);
    cr_assert(strstr(run.err, "encoder.layers.1.self_attn.in_proj_weight; with train.init_partial") != NULL, "%s", run.err);
    run = RUN("train", "--config", config_path(), "--set", init, "--set", "train.steps=0", "--set", "model.layers=2",
              "--set", "train.init_partial=true", "--out", two);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert(strstr(run.err, "of 27 parameters") != NULL, "%s", run.err);
}

Test(options, a_parameter_that_gets_no_gradient_is_named, .fini = work_remove)
{
    /* one token and one hidden unit: where the unit is off, nothing of the feed-forward part's input side learns */
    size_t n_named = 0;
    for (int seed = 1; seed <= 8; seed++) {
        struct program_result run =
            RUN("train", "--config", config_path(), "--set", "train.steps=1", "--set", "train.batch_size=1", "--set",
                "data.max_length=1", "--set", "model.d_ff=1", "--set", text_of("train.seed=%d", seed), "--out",
                work_path(text_of("unused-%d", seed)));
        cr_assert_eq(run.status, 0, "%s", run.err);
        bool named = strstr(run.err, "warning: encoder.layers.0.linear1.weight got no gradient in the first step\n") != NULL;
        cr_assert(named || run.err[0] == '\0', "%s", run.err);
        n_named += named;
    }
    cr_assert(n_named > 0 && n_named < 8, "%zu", n_named);
}

Test(options, sizes_and_memory_are_told_before_the_first_step, .fini = work_remove)
{
    struct program_result run = RUN("train", "--config", config_path(), "--set", "train.steps=3", "--out", work_path("told"));
    double parameters = 0, flops = 0, memory = 0;
    const char *line = strstr(run.out, "MiB of parameters");
    cr_assert(line != NULL, "%s", run.out);
    while (line > run.out && line[-1] != '\n')
        line--;
    cr_assert_eq(sscanf(line, "%lf MiB of parameters, %lf MFLOP a token forward (training: three times that), %lf", &parameters,
                        &flops, &memory),
                 3, "%s", line);
    cr_assert(flops > 0 && memory > 1 && strstr(run.out, "step 3") > line);
}

Test(options, frozen_parameters_do_not_count_as_checked, .fini = work_remove)
{
    struct program_result check = RUN("gradcheck", "--config", config_path(), "--set", "train.freeze=[encoder.*]");
    cr_assert_eq(check.status, 0, "%s", check.err);
    cr_assert(strstr(check.out, " numbers of 3 parameters checked") != NULL, "%s", check.out);
}

Test(options, gradcheck_on_a_closed_pipe_ends_with_status_1, .fini = work_remove)
{
    const struct program_options broken = {.stdout_broken = true};
    cr_assert_eq(RUN_WITH(&broken, "gradcheck", "--config", config_path()).status, 1);
}

Test(options, a_length_limit_without_need_costs_nothing, .fini = work_remove)
{
    struct program_result run = RUN("train", "--config", config_path(), "--set", "data.max_length=2147483647", "--set",
                                    "train.steps=1", "--out", work_path("run"));
    cr_assert_eq(run.status, 0, "%s", run.err);
}

Test(options, epochs_without_end_start_at_once, .fini = work_remove)
{
    struct program_result run =
        RUN("train", "--config", config_path(), "--set", "train.epochs=2147483647", "--set", "train.batch_tokens=100",
            "--set", "train.stop_after=2", "--out", work_path("run"));
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert(strstr(run.out, "saved step 2") != NULL);
}

Test(options, heads_that_do_not_make_the_model_without_projections_are_named, .fini = work_remove)
{
    struct program_result run = RUN("train", "--config", config_path(), "--set", "model.project_qkv=false", "--set",
                                    "model.d_head=5", "--out", work_path("run"));
    EXPECT_ERROR(run, 2, "--set: model.d_head: ", "2 heads of width 5 do not make d_model 8");
}
