/* test_config_set.c: --set, values from a checkpoint, and what is compared once all is read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_case.h"

static void expect_set(const char *assignment, const char *group, const char *key, const char *value)
{
    struct config_case *c = config_case_new();
    cr_expect(tap_config_set(&c->config, assignment, &c->errors), "%s: %s", assignment, config_case_messages(c));
    cr_expect_str_eq(config_case_value(c, group, key), value, "%s", assignment);
    config_case_free(c);
}

Test(config_set, a_value_is_taken_without_the_blanks_around_it)
{
    expect_set("model.heads=8", "model", "heads", "8");
    expect_set(" model.heads =\t8 ", "model", "heads", "8");
    expect_set("model.heads=\"8\"", "model", "heads", "8");
    expect_set("model.heads='8'", "model", "heads", "8");
    expect_set("data.train=a=b: c # d", "data", "train", "a=b: c # d");
    expect_set("data.train=", "data", "train", "");
    expect_set("data.train=\"\"", "data", "train", "");
    expect_set("data.train=\" a\\tb \"", "data", "train", " a\tb ");
    expect_set("data.train={a}", "data", "train", "{a}");
    expect_set("train.class_weights=[1, 2.50]", "train", "class_weights", "[1, 2.5]");
    expect_set("train.class_weights=balanced", "train", "class_weights", "balanced");
    expect_set("train.freeze=[]", "train", "freeze", "[]");
    expect_set("optim.lr=1e-3", "optim", "lr", "1e-3");
}

Test(config_set, a_bad_assignment_is_told)
{
    static const struct {
        const char *assignment, *message;
    } cases[] = {
        {"model.heads", "--set: 'model.heads' has no '='; accepted: group.key=value\n"},
        {"", "--set: '' has no '='; accepted: group.key=value\n"},
        {"=4", "--set: : unknown group; the nearest known one is data\n"},
        {"model=4", "--set: model: a group, not a key; accepted: group.key=value\n"},
        {"lr=4", "--set: lr: a key outside its group; accepted: optim.lr\n"},
        {"foo=4", "--set: foo: unknown group; the nearest known one is model\n"},
        {"modle.heads=4", "--set: modle: unknown group; the nearest known one is model\n"},
        {"model.head=4", "--set: model.head: unknown key; the nearest known one is model.heads\n"},
        {"model.=4", "--set: model.: unknown key; the nearest known one is model.d_ff\n"},
        {"model.a.b=4", "--set: model.a.b: unknown key; the nearest known one is model.heads\n"},
        {"model.heads=8.0", "--set: model.heads: '8.0' is no integer; accepted: an integer from 1 to 2147483647\n"},
        {"model.heads=", "--set: model.heads: '' is no integer; accepted: an integer from 1 to 2147483647\n"},
        {"model.heads=[4]", "--set: model.heads: a list; accepted: an integer from 1 to 2147483647\n"},
        {"model.heads=\"4",
         "--set: model.heads: not YAML: while scanning a quoted scalar from line 1 on, found unexpected end of stream; "
         "accepted: an integer from 1 to 2147483647\n"},
        {"train.class_weights=[1, &a 2]",
         "--set: train.class_weights: an anchor; accepted: none, balanced, or a list of numbers from 0 up, one of them "
         "above 0\n"},
        {"train.class_weights=[1]\n---\n[2]",
         "--set: train.class_weights: a second document; accepted: none, balanced, or a list of numbers from 0 up, one "
         "of them above 0\n"},
        {"data.train=a\xFF", "--set: data.train: 'a\xFF' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=a\xC0\x80", "--set: data.train: 'a\xC0\x80' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=a\xED\xA0\x80", "--set: data.train: 'a\xED\xA0\x80' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=\xE4\xB8", "--set: data.train: '\xE4\xB8' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=\xE4\xB8x", "--set: data.train: '\xE4\xB8x' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=\xE0\x80\xAF", "--set: data.train: '\xE0\x80\xAF' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=\xF4\x90\x80\x80",
         "--set: data.train: '\xF4\x90\x80\x80' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=\xF0\x80\x80\x80",
         "--set: data.train: '\xF0\x80\x80\x80' is not UTF-8; accepted: a path in UTF-8\n"},
        {"data.train=\xF5\x80\x80\x80",
         "--set: data.train: '\xF5\x80\x80\x80' is not UTF-8; accepted: a path in UTF-8\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config_case *c = config_case_new();
        cr_expect(!tap_config_set(&c->config, cases[i].assignment, &c->errors), "%s", cases[i].assignment);
        cr_expect_str_eq(config_case_messages(c), cases[i].message);
        config_case_free(c);
    }
}

Test(config_set, the_last_value_of_a_key_holds)
{
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "optim: {lr: 1}"));
    cr_expect(tap_config_set(&c->config, "optim.lr=2", &c->errors));
    cr_expect(tap_config_set(&c->config, "optim.lr=3", &c->errors));
    cr_expect_eq(c->config.optim.lr, 3.0);
    config_case_free(c);
}

Test(config_set, a_stored_value_is_taken_literally_but_for_lists)
{
    struct config_case *c = config_case_new();
    cr_expect(tap_config_set_text(&c->config, "data", "task", "[\"a\"", "last.npz", &c->errors));
    cr_expect_str_eq(c->config.data.task, "[\"a\"");
    cr_expect(tap_config_set_text(&c->config, "train", "class_weights", "[2, 0.1]", "last.npz", &c->errors));
    cr_expect_eq(c->config.train.class_weights.n_values, 2);
    cr_expect_str_eq(config_case_messages(c), "");
    cr_expect(!tap_config_set_text(&c->config, "model", "future", "1", "last.npz", &c->errors));
    cr_expect(!tap_config_set_text(&c->config, "futures", "a", "1", "last.npz", &c->errors));
    cr_expect(!tap_config_set_text(&c->config, "model", "heads", "\"4\"", "last.npz", &c->errors));
    cr_expect_str_eq(config_case_messages(c),
                     "last.npz: model.future: unknown key; the nearest known one is model.layers\n"
                     "last.npz: futures: unknown group; the nearest known one is model\n"
                     "last.npz: model.heads: '\"4\"' is no integer; accepted: an integer from 1 to 2147483647\n");
    config_case_free(c);
}

static void expect_finish(const char *text, const char *messages)
{
    struct config_case *c = config_case_new();
    config_case_read(c, text);
    size_t n_read = tap_config_errors_count(&c->errors);
    bool is_good = tap_config_finish(&c->config, &c->errors);
    cr_expect_eq(is_good, tap_config_errors_count(&c->errors) == n_read, "%s", text);
    cr_expect_str_eq(config_case_messages(c), messages, "%s\ngave\n%s", text, config_case_messages(c));
    config_case_free(c);
}

Test(config_finish, heads_must_divide_d_model)
{
    static const char rest[] = " is not divisible by heads ";
    char expected[512], text[128];
    static const int bad[] = {3, 65, 128}, good[] = {1, 2, 4, 8, 16, 32, 64};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "data: {task: t}\nmodel:\n  heads: %d\n", bad[i]);
        snprintf(expected, sizeof expected,
                 "x.cfg:3: model.heads: d_model 64%s%d; accepted for this d_model: heads 1, 2, 4, 8, 16, 32, 64\n",
                 rest, bad[i]);
        expect_finish(text, expected);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "data: {task: t}\nmodel:\n  heads: %d\n", good[i]);
        expect_finish(text, "");
    }
    expect_finish(
        "data: {task: t}\nmodel: {d_model: 9}",
        "x.cfg:2: model.d_model: d_model 9 is not divisible by heads 4; accepted for this d_model: heads 1, 3, "
        "9\n");
    expect_finish(
        "data: {task: t}\nmodel: {d_model: 2147483647, heads: 2}",
        "x.cfg:2: model.heads: d_model 2147483647 is not divisible by heads 2; accepted for this d_model: heads "
        "1, 2147483647\n");
    expect_finish("data: {task: t}\nmodel: {d_model: 1, heads: 2}",
                  "x.cfg:2: model.heads: d_model 1 is not divisible by heads 2; accepted for this d_model: heads 1\n");
    expect_finish(
        "data: {task: t}\nmodel: {d_model: 2095133040, heads: 2000000000}",
        "x.cfg:2: model.heads: d_model 2095133040 is not divisible by heads 2000000000; accepted for this "
        "d_model: heads 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 26, "
        "27, 28, 30, 33, 34, 35, 36, 38, ...\n");
}

Test(config_finish, data_come_from_one_source)
{
    expect_finish("",
                  "x.cfg: data.task: no data; accepted: data.task, a built-in task's name, or data.train, a file\n");
    expect_finish("data:\n  task: ''\n", "x.cfg:2: data.task: no data; accepted: data.task, a built-in task's name, or "
                                         "data.train, a file\n");
    expect_finish("data:\n  task: t\n  train: f\n", "x.cfg:3: data.train: files and the built-in task 't' at once; "
                                                    "accepted: data.task, or data.train, not both\n");
    expect_finish("data:\n  task: t\n  test: f\n", "x.cfg:3: data.test: files and the built-in task 't' at once; "
                                                   "accepted: data.task, or data.train, not both\n");
    expect_finish("data:\n  valid: f\n",
                  "x.cfg:2: data.valid: a file to train on is missing; accepted: data.train as well\n");
    expect_finish("data: {trian: f}\n", "x.cfg:1: data.trian: unknown key; the nearest known one is data.train\n");
    expect_finish("data: {train: f, valid: g, test: h}\n", "");
}

Test(config_finish, fractions_leave_something_to_train_on)
{
    static const char bad[] = "x.cfg:1: data.test_fraction: valid_fraction 0.1 and test_fraction 0.9 leave nothing to "
                              "train on; accepted: a sum below 1\n";
    expect_finish("data: {task: t, test_fraction: 0.9}", bad);
    expect_finish("data: {task: t, test_fraction: 0.89}", "");
    expect_finish("data: {train: a, test_fraction: 0.9}", bad);
    expect_finish("data: {train: a, valid: b, test_fraction: 0.9}", "");
    expect_finish("data: {train: a, test: b, test_fraction: 0.9}", "");
    expect_finish("data: {task: t, test_fraction: 0.5, valid_fraction: 1}",
                  "x.cfg:1: data.valid_fraction: '1' is out of range; accepted: a number from 0 to below 1\n");
}

Test(config_finish, the_shortest_ngram_is_not_longer_than_the_longest)
{
    expect_finish("data: {task: t, char_ngrams: 9, char_ngram_min: 5}", "");
    expect_finish("data: {task: t, char_ngram_min: 6}", ""); /* there are none */
    expect_finish("data:\n  task: t\n  char_ngrams: 9\n  char_ngram_min: 6",
                  "x.cfg:4: data.char_ngram_min: char_ngram_min 6 is above char_ngram_max 5; accepted: min at most max\n");
    expect_finish("data:\n  task: t\n  char_ngrams: 9\n  char_ngram_max: 2",
                  "x.cfg:4: data.char_ngram_max: char_ngram_min 3 is above char_ngram_max 2; accepted: min at most max\n");
}

Test(config_finish, warmup_is_a_fraction_or_whole_steps)
{
    expect_finish("data: {task: t}\noptim: {warmup: 0.5}", "");
    expect_finish("data: {task: t}\noptim: {warmup: 2147483647}", "");
    expect_finish("data: {task: t}\noptim:\n  warmup: 2.5", "x.cfg:3: optim.warmup: '2.5' is no whole number of steps; "
                                                            "accepted: a fraction below 1, or whole steps\n");
}

Test(config_finish, a_refused_key_is_not_compared_with_others)
{
    expect_finish("data: {task: t}\nmodel: {d_model: x, heads: 3}",
                  "x.cfg:2: model.d_model: 'x' is no integer; accepted: an integer from 1 to 2147483647\n");
    expect_finish("data: {task: [t]}\n", "x.cfg:1: data.task: a list; accepted: a text in UTF-8\n");
}

Test(config_finish, nothing_is_compared_after_a_file_that_is_no_config)
{
    struct config_case *c = config_case_new();
    cr_expect(!config_case_read(c, "model: ["));
    cr_expect(!tap_config_finish(&c->config, &c->errors));
    cr_expect_eq(tap_config_errors_count(&c->errors), 1);
    config_case_free(c);
}

Test(config_finish, errors_name_set_where_the_value_came_from_there)
{
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "data: {task: t}\nmodel: {heads: 4}"));
    cr_expect(tap_config_set(&c->config, "model.heads=5", &c->errors));
    cr_expect(!tap_config_finish(&c->config, &c->errors));
    cr_expect_str_eq(config_case_messages(c),
                     "--set: model.heads: d_model 64 is not divisible by heads 5; accepted for "
                     "this d_model: heads 1, 2, 4, 8, 16, 32, 64\n");
    config_case_free(c);
}

Test(config_finish, dropouts_follow_dropout_unless_set)
{
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "data: {task: t}\nmodel: {dropout: 0.3, attention_dropout: 0.1}"));
    cr_expect(tap_config_finish(&c->config, &c->errors));
    cr_expect_eq(c->config.model.embedding_dropout, 0.3);
    cr_expect_eq(c->config.model.attention_dropout, 0.1);
    cr_expect_eq(c->config.model.residual_dropout, 0.3);
    cr_expect_eq(c->config.model.ffn_dropout, 0.3);
    cr_expect(tap_config_set(&c->config, "model.dropout=0", &c->errors));
    cr_expect(tap_config_finish(&c->config, &c->errors));
    cr_expect_eq(c->config.model.ffn_dropout, 0.0);
    cr_expect_eq(c->config.model.attention_dropout, 0.1);
    config_case_free(c);
}

Test(config_finish, paths_become_absolute)
{
    struct config_case *c = config_case_new();
    cr_assert_eq(chdir("/usr"), 0);
    cr_expect(
        config_case_read(c, "data: {train: ./a//b/./c.tsv, valid: '-', test: /x/../y/}\ntrain: {init: ../m.npz}"));
    for (int round = 0; round < 2; round++) {
        cr_expect(tap_config_finish(&c->config, &c->errors));
        cr_expect_str_eq(c->config.data.train, "/usr/a/b/c.tsv");
        cr_expect_str_eq(c->config.data.valid, "-");
        cr_expect_str_eq(c->config.data.test, "/x/../y");
        cr_expect_str_eq(c->config.train.init, "/usr/../m.npz");
        cr_expect_str_eq(c->config.data.task, "");
        cr_assert_eq(chdir("/"), 0);
    }
    cr_expect(tap_config_set(&c->config, "data.train=.", &c->errors));
    cr_expect(tap_config_finish(&c->config, &c->errors));
    cr_expect_str_eq(c->config.data.train, "/");
    config_case_free(c);
}

Test(config_finish, a_long_current_folder_is_found)
{
    char folder[] = "/tmp/test_config_XXXXXX", name[201] = "", expected[1024];
    memset(name, 'n', 200);
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(mkdir(name, 0700), 0);
        cr_assert_eq(chdir(name), 0);
    }
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "data: {train: a}"));
    cr_expect(tap_config_finish(&c->config, &c->errors));
    snprintf(expected, sizeof expected, "%s/%s/%s/%s/a", folder, name, name, name);
    cr_expect_str_eq(c->config.data.train, expected);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(chdir(".."), 0);
        cr_expect_eq(rmdir(name), 0);
    }
    cr_expect_eq(rmdir(folder), 0);
    /* Now the current folder is gone. */
    cr_expect(tap_config_set(&c->config, "data.train=a", &c->errors));
    cr_expect(!tap_config_finish(&c->config, &c->errors));
    cr_expect_str_eq(
        config_case_messages(c),
        "--set: data.train: no absolute path for 'a', since the current folder is not known: No such file or "
        "directory; accepted: an absolute path\n");
    config_case_free(c);
}

Test(config_finish, a_current_folder_that_is_not_utf8_is_told)
{
    char folder[] = "/tmp/test_config_XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(mkdir("\xFF", 0700), 0);
    cr_assert_eq(chdir("\xFF"), 0);
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "data:\n  train: a"));
    cr_expect(!tap_config_finish(&c->config, &c->errors));
    cr_expect_str_eq(
        config_case_messages(c),
        "x.cfg:2: data.train: no absolute path for 'a', since the current folder is not known: its name is "
        "not UTF-8; accepted: an absolute path\n");
    config_case_free(c);
    cr_expect_eq(chdir(".."), 0);
    rmdir("\xFF");
    rmdir(folder);
}

Test(config_resume, what_may_change_may_and_nothing_else)
{
    static const char *const may_change[] = {"train.steps=7",           "train.epochs=7",     "train.stop_after=7",
                                             "train.log_every=7",       "train.patience=7",   "train.evaluate_every=7",
                                             "train.threads=7",         "checkpoint.every=7", "checkpoint.keep=7",
                                             "checkpoint.compression=7"};
    struct config_case *stored = config_case_new(), *given = config_case_new();
    for (size_t i = 0; i < sizeof may_change / sizeof *may_change; i++)
        cr_expect(tap_config_set(&given->config, may_change[i], &given->errors));
    cr_expect(tap_config_compare_for_resume(&stored->config, &given->config, &given->errors));

    size_t n_fixed = 0, n_free = 0;
    for (size_t i = 0; i < tap_config_n_keys(); i++) {
        static const char *const others[] = {"9",    "0.5", "true",    "false", "linear", "gelu", "[3]", "pre",
                                             "none", "yes", "english", "loss",  "adamw",  "all",  "tsv"};
        struct config_case *other = config_case_new();
        for (size_t j = 0; j < sizeof others / sizeof *others; j++)
            tap_config_set_text(&other->config, tap_config_key_group(i), tap_config_key_name(i), others[j], "s",
                                &other->errors);
        tap_config_errors_truncate(&other->errors, 0);
        const char *group = tap_config_key_group(i), *key = tap_config_key_name(i);
        char before[256];
        snprintf(before, sizeof before, "%s", config_case_value(stored, group, key));
        bool differs = strcmp(config_case_value(other, group, key), before) != 0;
        bool is_good = tap_config_compare_for_resume(&stored->config, &other->config, &other->errors);
        if (differs)
            *(is_good ? &n_free : &n_fixed) += 1;
        else
            cr_expect(is_good, "%s.%s", group, key);
        config_case_free(other);
    }
    cr_expect_eq(n_free, sizeof may_change / sizeof *may_change);
    cr_expect_gt(n_fixed, 40);
    config_case_free(stored);
    config_case_free(given);
}

Test(config_resume, every_key_that_differs_is_named)
{
    struct config_case *stored = config_case_new(), *given = config_case_new();
    cr_expect(config_case_read(given, "optim:\n  lr: 2e-3\ntrain: {steps: 5}\n"));
    cr_expect(tap_config_set(&given->config, "model.layers=3", &given->errors));
    cr_expect(tap_config_set(&stored->config, "data.seed=9", &stored->errors));
    cr_expect(!tap_config_compare_for_resume(&stored->config, &given->config, &given->errors));
#define MAY_CHANGE                                                                                                     \
    "; accepted: the same value (what may change: train.epochs, train.steps, train.stop_after, train.log_every, "      \
    "train.evaluate_every, train.patience, train.threads, all of checkpoint)\n"
    cr_expect_str_eq(config_case_messages(given),
                     "--set: model.layers: '3' differs from the '2' that the run to resume has" MAY_CHANGE
                     "x.cfg: data.seed: '1' differs from the '9' that the run to resume has" MAY_CHANGE
                     "x.cfg:2: optim.lr: '2e-3' differs from the '1e-3' that the run to resume has" MAY_CHANGE);
    config_case_free(stored);
    config_case_free(given);
}
