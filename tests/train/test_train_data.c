/* test_train_data.c: ./train --data FILE needs no config. */
#include "predict_fixture.h"
#include "tiny_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(train_data, .fini = work_remove);

/* Trains a little in the test's folder; the name of the run's folder below runs/. */
#define TRAIN(input_text, ...)                                                                                         \
    train_in_folder(input_text, (const char *const[]){"--quiet", "--set", "model.d_model=8", "--set", "train.steps=1", \
                                                      __VA_ARGS__, NULL})

static struct program_result train_in_folder(const char *input, const char *const *arguments)
{
    const struct program_options options = {.folder = work_path("."), .input = input};
    return run_program(&options, "train", arguments);
}

Test(train_data, the_run_is_named_after_the_file)
{
    static const char *const names[] = {"data.tsv", "two.parts.txt", "plain", "packed.tsv.gz", ".hidden"};
    static const char *const runs[] = {"data", "two.parts", "plain", "packed", ".hidden"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_tiny_data(work_path(names[i]), 40);
        expect_done(TRAIN(NULL, "--data", names[i]));
        cr_expect(exists(work_path(text_of("runs/%s-1/last.npz", runs[i]))), "%s", list_folder(work_path("runs")));
    }
    expect_done(TRAIN(NULL, "--data", work_path("data.tsv")));
    cr_expect(exists(work_path("runs/data-2/last.npz")));
    const char *config = read_file(work_path("runs/data-2/config.cfg"), NULL);
    cr_expect_not_null(strstr(config, text_of("train: \"%s\"", work_path("data.tsv"))), "%s", config);
    cr_expect_not_null(strstr(config, "layers: 2"));
}

Test(train_data, a_folder_and_standard_input_are_data)
{
    cr_assert_eq(mkdir(work_path("my.texts"), 0777), 0);
    write_text_file(work_path("my.texts/good.txt"), "plum\nfig\nnut\n");
    write_text_file(work_path("my.texts/bad.txt"), "leek\nrye\nbean\n");
    expect_done(TRAIN(NULL, "--data", "my.texts/"));
    cr_expect(exists(work_path("runs/my.texts-1/last.npz")), "%s", list_folder(work_path("runs")));
    expect_done(TRAIN("a\tplum\nb\tfig\na\tplum\nb\tfig\n", "--data", "-"));
    cr_expect(exists(work_path("runs/stdin-1/last.npz")), "%s", list_folder(work_path("runs")));
}

Test(train_data, it_goes_over_the_config_and_set_over_it)
{
    write_tiny_data(work_path("one.tsv"), 40);
    write_tiny_data(work_path("two.tsv"), 20);
    write_text_file(work_path("my.cfg"), "data: {train: nowhere.tsv}\nmodel: {layers: 1}\n");
    expect_done(TRAIN(NULL, "--config", "my.cfg", "--data", "one.tsv"));
    const char *config = read_file(work_path("runs/my-1/config.cfg"), NULL);
    cr_expect(strstr(config, "one.tsv") != NULL && strstr(config, "layers: 1") != NULL, "%s", config);
    expect_done(TRAIN(NULL, "--data", "one.tsv", "--set", "data.train=two.tsv"));
    config = read_file(work_path("runs/two-1/config.cfg"), NULL);
    cr_expect(strstr(config, "two.tsv") != NULL && strstr(config, "one.tsv") == NULL, "%s", config);
    expect_done(TRAIN(NULL, "--data", "one.tsv", "--out", "here"));
    cr_expect(exists(work_path("here/last.npz")));
}

Test(train_data, a_name_is_taken_as_it_is)
{
    write_tiny_data(work_path("[1, 'a'] = b"), 40);
    expect_done(TRAIN(NULL, "--data", "[1, 'a'] = b"));
    cr_expect(exists(work_path("runs/[1, 'a'] = b-1/last.npz")), "%s", list_folder(work_path("runs")));
}

Test(train_data, what_is_wrong_is_one_line)
{
    write_tiny_data(work_path("one.tsv"), 40);
    write_tiny_data(work_path("two.tsv"), 40);
    EXPECT_ERROR(TRAIN(NULL, "--quiet"), 2, "--config FILE, --data FILE or --resume");
    EXPECT_ERROR(TRAIN(NULL, "--data"), 2, "--data: a value is needed");
    EXPECT_ERROR(TRAIN(NULL, "--data", ""), 2, "--data: the name of a file or folder is needed");
    EXPECT_ERROR(TRAIN(NULL, "--data", "none.tsv"), 2, "none.tsv: cannot open");
    EXPECT_ERROR(TRAIN(NULL, "--data", "\xFF.tsv"), 2, "--data: data.train: ");
    EXPECT_ERROR(TRAIN(NULL, "--data", "one.tsv", "--set", "data.task=order"), 2, "data.task");
    expect_done(TRAIN(NULL, "--data", "one.tsv"));
    struct program_result resumed =
        train_in_folder(NULL, (const char *const[]){"--resume", "runs/one-1", "--data", "two.tsv", "--quiet", NULL});
    EXPECT_ERROR(resumed, 2, "--data: data.train: ", "two.tsv' differs from the ", "one.tsv'");
    expect_done(
        train_in_folder(NULL, (const char *const[]){"--resume", "runs/one-1", "--data", "one.tsv", "--quiet", NULL}));
}
