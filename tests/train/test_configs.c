/* test_configs.c: every config that comes with the programs is read and trains. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "run_program.h"
#include "tiny_run.h"

TestSuite(configs, .fini = work_remove);

#define MOST_CONFIGS 64
#define MOST_ARGUMENTS 24

static char names[MOST_CONFIGS][64]; /* without .cfg */

/* The config files in train/; tests run in the project's root. */
static int find_configs(void)
{
    DIR *folder = opendir("train");
    int n = 0;
    cr_assert_not_null(folder, "train/ is looked for in the current folder, the project's root");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t n_bytes = strlen(entry->d_name);
        if (n_bytes <= 4 || n_bytes >= 64 || strcmp(entry->d_name + n_bytes - 4, ".cfg") != 0)
            continue;
        cr_assert_lt(n, MOST_CONFIGS);
        snprintf(names[n++], 64, "%.*s", (int)n_bytes - 4, entry->d_name);
    }
    closedir(folder);
    return n;
}

/* Configs for files, and a pair of rows in the form that each expects; the first %d is the row's number. */
static const struct {
    const char *name, *header, *rows;
} file_configs[] = {
    {"spam", "", "ham\tsee you %d\nspam\twin %d now\n"},
    {"rt_polarity", "", "neg\ta dull film %d\npos\ta bright film %d\n"},
    {"sst2", "", "0 a dull film %d\n1 a bright film %d\n"},
    {"trec", "", "DESC:def What is a %d ?\nNUM:count How many %d \xF0 ?\n"}, /* a stray byte, as in the published file */
    {"banking77", "text,category\n", "\"my card, %d\",card\r\nwhere is my money %d,transfer\r\n"},
    {"thucnews", "", "\xE8\x82\xA1\xE5\xB8\x82 %d\t0\n\xE7\x90\x83\xE9\x98\x9F %d\t1\n"},
};

/* A file to train on, for a config that needs one; else NULL. */
static const char *write_data(const char *name)
{
    for (size_t i = 0; i < sizeof file_configs / sizeof file_configs[0]; i++) {
        const char *text = file_configs[i].header;
        if (strcmp(name, file_configs[i].name) != 0)
            continue;
        for (int row = 0; row < 30; row++)
            text = text_of("%s%s", text, text_of(file_configs[i].rows, row, row));
        const char *path = work_path(text_of("%s.%s", name, strcmp(name, "banking77") == 0 ? "csv" : "txt"));
        write_text_file(path, text);
        return path;
    }
    return NULL;
}

/* What makes a config quick to try, and what it needs from outside. */
static int add_settings(const char *name, const char *arguments[MOST_ARGUMENTS], int n)
{
    static const char *const base[] = {"model.d_model=16", "model.heads=2", "model.layers=1", "model.d_ff=32"};
    if (strcmp(name, "base") == 0) {
        for (size_t i = 0; i < sizeof base / sizeof base[0]; i++) {
            arguments[n++] = "--set";
            arguments[n++] = base[i];
        }
    }
    const char *data = write_data(name);
    arguments[n++] = "--set";
    arguments[n++] = data != NULL ? text_of("data.train=%s", data) : "task.rows=200";
    return n;
}

Test(configs, each_one_trains_two_steps_and_its_model_predicts)
{
    int n_configs = find_configs();
    cr_assert_geq(n_configs, 14);
    for (int i = 0; i < n_configs; i++) {
        const char *out = work_path(names[i]);
        const char *arguments[MOST_ARGUMENTS] = {
            "--config", text_of("train/%s.cfg", names[i]), "--out", out, "--set", "train.steps=2"};
        add_settings(names[i], arguments, 6);
        struct program_result result = run_program(NULL, "train", arguments);
        expect_done(result);
        cr_expect_not_null(strstr(result.out, "saved step 2\n"), "%s: %s", names[i], result.out);
        cr_expect_not_null(strstr(timeless_metrics(out), "{\"event\":\"done\",\"steps\":2}"), "%s", names[i]);
        result = RUN_WITH(&(struct program_options){.input = "a b\n"}, "predict", "--model", out);
        expect_done(result);
        cr_expect_eq(count_lines(result.out), 1);
    }
}

/* Its real sizes: one step of it, without any, is enough to know that they fit together. */
Test(configs, the_base_model_has_the_papers_size)
{
    struct program_result result = RUN("train", "--config", "train/base.cfg", "--out", work_path("run"), "--set",
                                       "train.steps=0", "--set", "task.rows=20", "--set", "task.language=english");
    expect_done(result);
    /* 6 layers of 4 (512^2 + 512) + 2 * 512 * 2048 + 2048 + 512 + 4 * 512 parameters, and some words */
    int n_parameters = 0;
    const char *place = strstr(result.out, " parameters");
    cr_assert_not_null(place, "%s", result.out);
    while (place > result.out && place[-1] >= '0' && place[-1] <= '9')
        place--;
    sscanf(place, "%d", &n_parameters);
    cr_expect(n_parameters > 18914304 && n_parameters < 18914304 + 100 * 512, "%s", result.out);
}

/* The first line of each says which it is; what it is for and how long it takes is in the lines below. */
Test(configs, each_one_begins_with_its_name)
{
    int n_configs = find_configs();
    for (int i = 0; i < n_configs; i++) {
        size_t n_bytes;
        const char *text = read_file(text_of("train/%s.cfg", names[i]), &n_bytes);
        const char *start = text_of("# %s.cfg: ", names[i]);
        cr_expect_eq(strncmp(text, start, strlen(start)), 0, "%s.cfg", names[i]);
    }
}
