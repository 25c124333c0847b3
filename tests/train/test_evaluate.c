/* test_evaluate.c: ./evaluate counts what ./predict says, and prints it in its two forms. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "run_program.h"
#include "tiny_run.h"

#define MODEL work_path("run/last.npz")

static void make_model(void)
{
    write_tiny_data(work_path("data.tsv"), 60);
    write_text_file(work_path("test.cfg"),
                    text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\ndata: {train: %s}\n"
                            "train: {epochs: 4, batch_size: 8}\noptim: {lr: 1e-2}\n",
                            work_path("data.tsv")));
    expect_done(RUN("train", "--config", work_path("test.cfg"), "--out", work_path("run")));
}

TestSuite(evaluate, .init = make_model, .fini = work_remove);

/* The labels that ./predict gives to the texts of data.tsv, and those that stand there: numbers of "bad", "good", "so
 * so". */
static void count_by_hand(uint64_t confusion[3][3], double *out_loss)
{
    static const char *const names[] = {"bad", "good", "so so"};
    const char *data = read_file(work_path("data.tsv"), NULL);
    const char *texts = "";
    for (const char *line = data; *line != '\0'; line = strchr(line, '\n') + 1)
        texts =
            text_of("%s%.*s", texts, (int)(strchr(line, '\n') + 1 - strchr(line, '\t') - 1), strchr(line, '\t') + 1);
    const struct program_options options = {.input = texts};
    struct program_result result = RUN_WITH(&options, "predict", "--model", MODEL, "--format", "jsonl");
    expect_done(result);
    const char *row = data;
    double loss = 0;
    for (char *line = strtok(result.out, "\n"); line != NULL; line = strtok(NULL, "\n"), row = strchr(row, '\n') + 1)
        for (size_t c = 0; c < 3; c++) {
            double probability = 0;
            if (strncmp(row, text_of("%s\t", names[c]), strlen(names[c]) + 1) != 0)
                continue;
            const char *key = text_of("\"%s\":", names[c]);
            cr_assert_eq(sscanf(strstr(strstr(line, "probabilities"), key) + strlen(key), "%lf", &probability), 1);
            loss -= log(probability);
            for (size_t p = 0; p < 3; p++)
                confusion[c][p] += strstr(line, text_of("\"label\":\"%s\"", names[p])) != NULL;
        }
    *out_loss = loss / 60;
}

/* The members of an object, each followed by a blank. */
static const char *keys_of(const struct tap_json_place *object)
{
    struct tap_json_place member;
    void *iterator = NULL;
    const char *keys = "";
    while (tap_json_next(object, &iterator, &member))
        keys = text_of("%s%s ", keys, member.key);
    return keys;
}

Test(evaluate, json_has_its_form_and_counts_the_predictions)
{
    uint64_t confusion[3][3] = {{0}};
    double loss = 0;
    struct tap_error error = {0};
    struct scores scores;
    struct program_result result =
        RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--format", "json");
    expect_done(result);
    cr_assert_eq(count_lines(result.out), 1);
    count_by_hand(confusion, &loss);
    cr_assert_eq(scores_init(&scores, 3, &error), TAP_OK);
    memcpy(scores.confusion, confusion, sizeof confusion);
    scores.n_rows = 60;
    struct tap_json *value = tap_json_parse(result.out, result.n_out, "report", &error);
    cr_assert_not_null(value, "%s", error.message);
    struct tap_json_place place = tap_json_root(value, "report", &error);
    cr_assert_str_eq(keys_of(&place), "rows loss accuracy macro_f1 weighted_f1 mcc classes labels confusion ");
    cr_assert_eq(tap_json_get_integer(&place, "rows", 0, 100), 60);
    cr_assert_float_eq(tap_json_get_real(&place, "loss"), loss, 1e-6);
    cr_assert_float_eq(tap_json_get_real(&place, "accuracy"), scores_accuracy(&scores), 1e-12);
    cr_assert_float_eq(tap_json_get_real(&place, "macro_f1"), scores_macro_f1(&scores), 1e-12);
    cr_assert_float_eq(tap_json_get_real(&place, "weighted_f1"), scores_weighted_f1(&scores), 1e-12);
    cr_assert_float_eq(tap_json_get_real(&place, "mcc"), scores_mcc(&scores), 1e-12);
    struct tap_json_place classes = tap_json_get_object(&place, "classes");
    cr_assert_str_eq(keys_of(&classes), "bad good so so ");
    struct tap_json_place labels = tap_json_get_array(&place, "labels");
    struct tap_json_place table = tap_json_get_array(&place, "confusion");
    cr_assert(tap_json_length(&labels) == 3 && tap_json_length(&table) == 3);
    for (size_t c = 0; c < 3; c++) {
        const char *name = tap_json_as_text(tap_json_item(&labels, c));
        struct tap_json_place one = tap_json_get_object(&classes, name);
        struct class_scores expected = scores_of_class(&scores, c);
        cr_assert_str_eq(keys_of(&one), "precision recall f1 support ");
        cr_assert_float_eq(tap_json_get_real(&one, "precision"), expected.precision, 1e-12);
        cr_assert_float_eq(tap_json_get_real(&one, "recall"), expected.recall, 1e-12);
        cr_assert_float_eq(tap_json_get_real(&one, "f1"), expected.f1, 1e-12);
        cr_assert_eq(tap_json_get_integer(&one, "support", 0, 100), 20);
        struct tap_json_place row = tap_json_item(&table, c);
        cr_assert_eq(tap_json_length(&row), 3);
        for (size_t p = 0; p < 3; p++)
            cr_assert_eq((uint64_t)tap_json_as_integer(tap_json_item(&row, p), 0, 100), confusion[c][p]);
    }
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    tap_json_free(value);
    scores_clear(&scores);
}

Test(evaluate, text_says_the_same)
{
    struct program_result json = RUN("evaluate", "--model", MODEL, "--format", "json");
    struct program_result text = RUN("evaluate", "--model", MODEL);
    expect_done(json);
    expect_done(text);
    double accuracy = 0;
    double f1 = 0;
    cr_assert_eq(sscanf(strstr(json.out, "\"accuracy\":"), "\"accuracy\":%lf", &accuracy), 1);
    cr_assert_eq(sscanf(strstr(json.out, "\"macro_f1\":"), "\"macro_f1\":%lf", &f1), 1);
    cr_assert_not_null(strstr(text.out, text_of("accuracy %.2f%%  macro F1 %.4f", 100 * accuracy, f1)), "%s", text.out);
    static const char *const names[] = {"\nbad ", "\ngood ", "\nso so "};
    for (size_t i = 0; i < 3; i++)
        cr_assert_not_null(strstr(text.out, names[i]));
}

Test(evaluate, the_validation_part_is_the_one_of_training)
{
    struct program_result result = RUN("evaluate", "--model", MODEL, "--format", "json");
    expect_done(result);
    double loss = 0;
    double logged = 1;
    const char *at = NULL;
    for (const char *next = strstr(timeless_metrics(work_path("run")), "\"valid\""); next != NULL;
         next = strstr(next + 1, "\"valid\""))
        at = next;
    cr_assert(at != NULL && sscanf(strstr(at, "\"loss\":"), "\"loss\":%lf", &logged) == 1);
    cr_assert_eq(sscanf(strstr(result.out, "\"loss\":"), "\"loss\":%lf", &loss), 1);
    cr_assert_float_eq(loss, logged, 1e-8);
}

Test(evaluate, a_file_of_another_order_scores_the_same)
{
    const char *data = read_file(work_path("data.tsv"), NULL);
    const char *reversed = "";
    for (const char *line = data; *line != '\0'; line = strchr(line, '\n') + 1)
        reversed = text_of("%.*s%s", (int)(strchr(line, '\n') + 1 - line), line, reversed);
    write_text_file(work_path("reversed.tsv"), reversed);
    struct program_result a = RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--errors", "0");
    struct program_result b = RUN("evaluate", "--model", MODEL, "--data", work_path("reversed.tsv"), "--errors", "0");
    expect_done(a);
    cr_assert_str_eq(a.out, b.out);
    const struct program_options options = {.input = data};
    struct program_result c =
        RUN_WITH(&options, "evaluate", "--model", MODEL, "--data", "-", "--data-format", "tsv", "--errors", "0");
    expect_done(c);
    cr_assert_str_eq(a.out, c.out);
}

Test(evaluate, data_that_do_not_fit_are_refused_by_line)
{
    write_text_file(work_path("bad.tsv"), "good\tplum\nbad\tfig\nugly\tnut\n");
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--data", work_path("bad.tsv")), 2, "bad.tsv:3", "ugly");
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--data", work_path("none.tsv")), 2, "none.tsv");
    write_text_file(work_path("bad.tsv"), "");
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--data", work_path("bad.tsv")), 2, "bad.tsv");
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--data-format", "xml"), 2, "xml");
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--data-format", "tsv"), 2, "--data");
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--format", "xml"), 2, "xml", "text, json");
    EXPECT_ERROR(RUN("evaluate", NULL), 2, "--model");
}

Test(evaluate, data_that_have_changed_are_refused)
{
    write_tiny_data(work_path("data.tsv"), 61);
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL), 2, "data.tsv", "has changed");
    struct program_result named = RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"));
    expect_done(named);
    remove(work_path("data.tsv"));
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL), 2, "data.tsv");
}
