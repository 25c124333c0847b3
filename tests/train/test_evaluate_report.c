/* test_evaluate_report.c: the confusion matrix and the list of wrong rows, as text and as JSON. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "run_program.h"
#include "tiny_run.h"

#define MODEL work_path("run/last.npz")

TestSuite(evaluate_report, .fini = work_remove);

static void train_on(const char *data_keys, const char *epochs)
{
    write_text_file(work_path("test.cfg"), text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16}\ndata: {%s}\n"
                                                   "train: {epochs: %s, batch_size: 8}\noptim: {lr: 1e-2}\n",
                                                   data_keys, epochs));
    expect_done(RUN("train", "--config", work_path("test.cfg"), "--out", work_path("run")));
}

/* A model that gets some of 60 rows wrong. */
static void make_model(void)
{
    write_tiny_data(work_path("data.tsv"), 60);
    train_on(text_of("train: %s", work_path("data.tsv")), "1");
}

static struct tap_error error;
static struct tap_json *value;

/* The report as JSON; freed by the next one, the last one by the test. */
static struct tap_json_place json_of(struct program_result result)
{
    expect_done(result);
    tap_json_free(value);
    value = tap_json_parse(result.out, result.n_out, "report", &error);
    cr_assert_not_null(value, "%s", error.message);
    return tap_json_root(value, "report", &error);
}

static int confusion_at(const struct tap_json_place *report, size_t label, size_t predicted)
{
    struct tap_json_place table = tap_json_get_array(report, "confusion");
    struct tap_json_place row = tap_json_item(&table, label);
    return (int)tap_json_as_integer(tap_json_item(&row, predicted), 0, 1000);
}

Test(evaluate_report, the_matrix_is_that_of_the_json)
{
    make_model();
    struct tap_json_place report =
        json_of(RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--format", "json"));
    struct program_result text = RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"));
    expect_done(text);
    static const char *const labels[] = {"bad", "good", "so so"};
    const char *expected = "\n\ntrue \\ predicted           bad  good so so\n";
    for (size_t c = 0; c < 3; c++)
        expected = text_of("%s%-24s %5d %5d %5d\n", expected, labels[c], confusion_at(&report, c, 0),
                           confusion_at(&report, c, 1), confusion_at(&report, c, 2));
    cr_assert_not_null(strstr(text.out, expected), "not %s in %s", expected, text.out);
    cr_assert_null(strstr(text.out, "confusions"));
    tap_json_free(value);
}

Test(evaluate_report, labels_of_any_width_keep_the_columns)
{
    const char *rows = "";
    for (int i = 0; i < 8; i++)
        rows = text_of("%s%s\tw%d\n", rows, i % 2 == 0 ? "\xE6\xB2\xB9" : "restaurant_reservation", i);
    write_text_file(work_path("data.tsv"), rows);
    train_on(text_of("train: %s, valid_fraction: 0", work_path("data.tsv")), "0");
    struct tap_json_place report =
        json_of(RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--format", "json"));
    struct program_result text = RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"));
    expect_done(text);
    const char *expected = text_of("\ntrue \\ predicted         restauran...           \xE6\xB2\xB9\n"
                                   "restaurant_reservation   %12d %12d\n\xE6\xB2\xB9                       %12d %12d\n",
                                   confusion_at(&report, 0, 0), confusion_at(&report, 0, 1),
                                   confusion_at(&report, 1, 0), confusion_at(&report, 1, 1));
    cr_assert_not_null(strstr(text.out, expected), "not %s in %s", expected, text.out);
    tap_json_free(value);
}

struct confusion {
    int count, label, predicted;
};

static int by_count(const void *a_pointer, const void *b_pointer)
{
    const struct confusion *a = a_pointer;
    const struct confusion *b = b_pointer;
    if (a->count != b->count)
        return b->count - a->count;
    return a->label != b->label ? a->label - b->label : a->predicted - b->predicted;
}

/* Rows of 13 classes, whose texts tell little of the class. */
static void make_thirteen_classes(void)
{
    const char *rows = "";
    for (int i = 0; i < 130; i++)
        rows = text_of("%sc%02d\tword%d other%d\n", rows, i % 13, i * 7 % 11, i * 5 % 3);
    write_text_file(work_path("data.tsv"), rows);
    train_on(text_of("train: %s", work_path("data.tsv")), "1");
}

Test(evaluate_report, with_many_classes_the_most_frequent_confusions_are_listed)
{
    make_thirteen_classes();
    struct tap_json_place report =
        json_of(RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--format", "json"));
    struct confusion all[13 * 13];
    int n = 0;
    for (int c = 0; c < 13; c++)
        for (int p = 0; p < 13; p++)
            if (c != p)
                all[n++] = (struct confusion){confusion_at(&report, (size_t)c, (size_t)p), c, p};
    qsort(all, (size_t)n, sizeof *all, by_count);
    cr_assert(all[11].count > 0 && all[0].count > all[11].count, "the case has ties and differences");
    const char *expected = "\n\nmost frequent confusions, true -> predicted\n";
    for (int i = 0; i < 12; i++)
        expected = text_of("%sc%02d -> c%02d  %d\n", expected, all[i].label, all[i].predicted, all[i].count);
    struct program_result text = RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--errors", "0");
    expect_done(text);
    const char *at = strstr(text.out, expected);
    cr_assert_not_null(at, "not %s in %s", expected, text.out);
    cr_assert_eq(at[strlen(expected)], '\0', "12 of them, and no more: %s", at);
    cr_assert_null(strstr(text.out, "true \\"));
    tap_json_free(value);
}

/* The probability of the best label that ./predict gives to a text, and the label. */
static double predicted_probability(const char *text, const char **out_label)
{
    const struct program_options options = {.input = text_of("%s\n", text)};
    struct program_result result = RUN_WITH(&options, "predict", "--model", MODEL, "--format", "tsv");
    expect_done(result);
    char *tab = strchr(result.out, '\t');
    cr_assert_not_null(tab);
    *tab = '\0';
    *out_label = result.out;
    return strtod(tab + 1, NULL);
}

Test(evaluate_report, errors_come_by_falling_probability_then_by_line)
{
    make_model();
    /* the same text with a wrong label three times: ties */
    const char *label;
    predicted_probability("plum fig", &label);
    const char *wrong = strcmp(label, "good") == 0 ? "bad" : "good";
    write_text_file(work_path("more.tsv"), text_of("%s%s\tplum fig\n%s\tplum fig\n%s\tplum fig\n",
                                                   read_file(work_path("data.tsv"), NULL), wrong, label, wrong));
    struct tap_json_place report = json_of(
        RUN("evaluate", "--model", MODEL, "--data", work_path("more.tsv"), "--format", "json", "--errors", "1000"));
    struct tap_json_place errors = tap_json_get_array(&report, "errors");
    int n_wrong = 0;
    for (size_t c = 0; c < 3; c++)
        for (size_t p = 0; p < 3; p++)
            n_wrong += c != p ? confusion_at(&report, c, p) : 0;
    cr_assert(n_wrong > 5 && tap_json_length(&errors) == (size_t)n_wrong, "%d", n_wrong);
    const char *data = read_file(work_path("more.tsv"), NULL);
    double before = 2;
    int64_t line_before = 0;
    int n_ties = 0;
    for (size_t i = 0; i < tap_json_length(&errors); i++) {
        struct tap_json_place one = tap_json_item(&errors, i);
        int64_t line = tap_json_get_integer(&one, "line", 1, 63);
        double probability = tap_json_get_real(&one, "probability");
        const char *text = tap_json_get_text(&one, "text");
        const char *predicted;
        cr_assert(probability < before || (probability == before && line > line_before), "error %zu", i);
        n_ties += probability == before;
        cr_assert_float_eq(predicted_probability(text, &predicted), probability, 1e-8);
        cr_assert_str_eq(tap_json_get_text(&one, "predicted"), predicted);
        cr_assert_str_neq(tap_json_get_text(&one, "label"), predicted);
        const char *at = data;
        for (int64_t passed = 1; passed < line; passed++)
            at = strchr(at, '\n') + 1;
        const char *row = text_of("%s\t%s\n", tap_json_get_text(&one, "label"), text);
        cr_assert_eq(strncmp(at, row, strlen(row)), 0, "line %d", (int)line);
        before = probability;
        line_before = line;
    }
    cr_assert_gt(n_ties, 0);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    tap_json_free(value);
}

Test(evaluate_report, as_many_errors_as_asked_for)
{
    make_model();
    struct tap_json_place report = json_of(
        RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--format", "json", "--errors", "1000"));
    struct tap_json_place errors = tap_json_get_array(&report, "errors");
    size_t n_all = tap_json_length(&errors);
    cr_assert(n_all > 10);
    const char *lines =
        text_of("\n\nmost confident errors, 10 of %zu: probability, true, predicted, where, text\n", n_all);
    const char *three = "";
    size_t width = 0;
    for (size_t i = 0; i < 10; i++) {
        struct tap_json_place one = tap_json_item(&errors, i);
        size_t n_label = strlen(tap_json_get_text(&one, "label"));
        size_t n_predicted = strlen(tap_json_get_text(&one, "predicted"));
        width = n_label > width ? n_label : width;
        width = n_predicted > width ? n_predicted : width;
    }
    for (size_t i = 0; i < 10; i++) {
        struct tap_json_place one = tap_json_item(&errors, i);
        lines = text_of("%s%.4f  %-*s  %-*s  %s:%d  %s\n", lines, tap_json_get_real(&one, "probability"), (int)width,
                        tap_json_get_text(&one, "label"), (int)width, tap_json_get_text(&one, "predicted"),
                        work_path("data.tsv"), (int)tap_json_get_integer(&one, "line", 1, 60),
                        tap_json_get_text(&one, "text"));
        if (i < 3)
            three = text_of("%s%s{\"line\":%d,\"label\":\"%s\",\"predicted\":\"%s\",\"probability\":", three,
                            i > 0 ? "|" : "", (int)tap_json_get_integer(&one, "line", 1, 60),
                            tap_json_get_text(&one, "label"), tap_json_get_text(&one, "predicted"));
    }
    struct program_result text = RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"));
    expect_done(text);
    const char *at = strstr(text.out, lines);
    cr_assert(at != NULL && at[strlen(lines)] == '\0', "not %s in %s", lines, text.out);
    struct program_result json =
        RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--format", "json", "--errors", "3");
    expect_done(json);
    cr_assert_eq(count_of(json.out, "{\"line\":"), 3);
    for (const char *part = strtok((char *)text_of("%s", three), "|"); part != NULL; part = strtok(NULL, "|"))
        cr_assert_not_null(strstr(json.out, part), "no %s in %s", part, json.out);
    tap_json_free(value);
}

Test(evaluate_report, no_errors_are_shown_where_none_are_wanted)
{
    make_model();
    struct program_result none = RUN("evaluate", "--model", MODEL, "--format", "json");
    struct program_result zero = RUN("evaluate", "--model", MODEL, "--format", "json", "--errors", "0");
    struct program_result text = RUN("evaluate", "--model", MODEL, "--errors", "0");
    expect_done(none);
    expect_done(zero);
    expect_done(text);
    cr_assert_null(strstr(none.out, "\"errors\""));
    cr_assert_null(strstr(text.out, "errors"));
    /* the same, and one more member */
    const char *expected = text_of("%.*s,\"errors\":[]}\n", (int)none.n_out - 2, none.out);
    cr_assert_str_eq(zero.out, expected);
}

Test(evaluate_report, a_long_text_is_cut_on_the_screen_and_whole_in_json)
{
    make_model();
    const char *label;
    const char *text = "fig \xC3\xA9t\xC3\xA9 ";
    for (int i = 0; i < 10; i++)
        text = text_of("%s 0123456\xC3\xA9", text);
    predicted_probability(text, &label);
    const char *wrong = strcmp(label, "good") == 0 ? "bad" : "good";
    write_text_file(work_path("long.csv"), text_of("%s,\"%s\nsecond\tline\"\n%s,fig\x02plum\n", wrong, text, label));
    struct program_result shown =
        RUN("evaluate", "--model", MODEL, "--data", work_path("long.csv"), "--data-format", "csv", "--errors", "1");
    expect_done(shown);
    /* "..." takes 3 of the 80 columns; of the 77 characters before it, nine are two bytes long */
    const char *expected = text_of("%s:1  %.*s...\n", work_path("long.csv"), 77 + 9, text);
    cr_assert_not_null(strstr(shown.out, expected), "not %s in %s", expected, shown.out);
    struct program_result json = RUN("evaluate", "--model", MODEL, "--data", work_path("long.csv"), "--data-format",
                                     "csv", "--errors", "5", "--format", "json");
    expect_done(json);
    cr_assert_not_null(strstr(json.out, text_of("\"text\":\"%s\\nsecond\\tline\"", text)), "%s", json.out);
}

Test(evaluate_report, a_row_of_a_folder_is_told_with_its_file)
{
    cr_assert_eq(mkdir(work_path("set"), 0700), 0);
    write_text_file(work_path("set/good.txt"), "plum\nfig\npear\nnut\n");
    write_text_file(work_path("set/bad.txt"), "plum\nfig\npear\nnut\n");
    train_on(text_of("train: %s, valid_fraction: 0.5", work_path("set")), "1");
    for (int own = 0; own < 2; own++) {
        struct program_result text =
            own ? RUN("evaluate", "--model", MODEL) : RUN("evaluate", "--model", MODEL, "--data", work_path("set"));
        struct tap_json_place report = json_of(
            own ? RUN("evaluate", "--model", MODEL, "--format", "json", "--errors", "9")
                : RUN("evaluate", "--model", MODEL, "--data", work_path("set"), "--format", "json", "--errors", "9"));
        struct tap_json_place errors = tap_json_get_array(&report, "errors");
        expect_done(text);
        /* every text has both labels: half of the file's rows are wrong */
        cr_assert_eq(own || tap_json_length(&errors) == 4, true);
        cr_assert_gt(tap_json_length(&errors), 0);
        for (size_t i = 0; i < tap_json_length(&errors); i++) {
            static const char *const words[] = {"plum", "fig", "pear", "nut"};
            struct tap_json_place one = tap_json_item(&errors, i);
            int line = (int)tap_json_get_integer(&one, "line", 1, 4);
            cr_assert_str_eq(tap_json_get_text(&one, "file"),
                             text_of("%s/%s.txt", work_path("set"), tap_json_get_text(&one, "label")));
            cr_assert_str_eq(tap_json_get_text(&one, "text"), words[line - 1]);
            cr_assert_not_null(
                strstr(text.out, text_of("  %s:%d  %s\n", tap_json_get_text(&one, "file"), line, words[line - 1])),
                "%s", text.out);
        }
    }
    tap_json_free(value);
}

Test(evaluate_report, rows_of_a_task_and_of_standard_input_are_told_by_number)
{
    train_on("task: order", "0");
    struct program_result text = RUN("evaluate", "--model", MODEL);
    expect_done(text);
    cr_assert_eq(count_of(text.out, "  order:"), 10, "%s", text.out);
    const struct program_options options = {.input = "hunter\tthe cat\nprey\tthe cat\n"};
    text = RUN_WITH(&options, "evaluate", "--model", MODEL, "--data", "-");
    expect_done(text);
    cr_assert_eq(count_of(text.out, "  standard input:1  the cat\n") +
                     count_of(text.out, "  standard input:2  the cat\n"),
                 1, "%s", text.out);
}

Test(evaluate_report, a_number_of_errors_that_is_none_is_refused)
{
    make_model();
    static const char *const bad[] = {"x", "-1", "", "3x", "1e3", "2147483648"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--errors", bad[i]), 2, "--errors", "accepted: 0 to 2147483647");
    EXPECT_ERROR(RUN("evaluate", "--model", MODEL, "--errors"), 2, "--errors", "a value is needed");
    expect_done(RUN("evaluate", "--model", MODEL, "--errors", "2147483647"));
}
