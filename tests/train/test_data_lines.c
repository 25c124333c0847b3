/* test_data_lines.c: what train tells of the data, on standard output and in data.json. */
#include "run_program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(data_lines, .fini = work_remove);

#define MODEL "model: {d_model: 4, heads: 1, layers: 0}\ntrain: {steps: 1}\n"

/* Trains one step in <work>/run on data as the config's `data` group says. */
static struct program_result train(const char *data)
{
    write_text_file(work_path("data.cfg"), text_of(MODEL "data: {%s}\n", data));
    struct program_result result = RUN("train", "--config", work_path("data.cfg"), "--out", work_path("run"));
    expect_done(result);
    return result;
}

static void expect_lines(const char *out, const char *lines)
{
    cr_expect_eq(count_of(out, lines), 1, "not there: %s\nbut: %s", lines, out);
}

Test(data_lines, every_part_has_two_lines)
{
    write_text_file(work_path("train.tsv"), "b\tone two\na\tone\nb\ttwo two three four five\na\tone\nb\tone two\n"
                                            "b\tone\nb\t\xFF\xFE one two three four five six seven eight\n");
    write_text_file(work_path("valid.tsv"), "a\tone unseen\na\tone\n");
    write_text_file(work_path("test.tsv"), "b\tone two\nb\tone\nb\tx y z\nb\tx\n");
    struct program_result result =
        train(text_of("train: %s, valid: %s, test: %s, max_length: 7, bad_bytes: replace", work_path("train.tsv"),
                      work_path("valid.tsv"), work_path("test.tsv")));
    expect_lines(result.out,
                 "\ntrain: 7 rows, 19 tokens (1 to 7, half have up to 2); labels: b 5, a 2; 0.0% unknown tokens; "
                 "3 duplicate rows (1 with another label); 2 bytes replaced\n"
                 "  rows by tokens: 1: 3, 2: 2, 5-7: 2; 1 cut to 7\n"
                 "valid: 2 rows, 3 tokens (1 to 2, half have up to 1); labels: a 2, b 0; 33.3% unknown tokens; "
                 "1 row also in train\n"
                 "  rows by tokens: 1: 1, 2: 1\n"
                 "test: 4 rows, 7 tokens (1 to 3, half have up to 1); labels: b 4, a 0; 57.1% unknown tokens; "
                 "2 rows also in train; 1 row also in valid\n"
                 "  rows by tokens: 1: 2, 2: 1, 3: 1\n");
}

Test(data_lines, a_part_that_is_not_there_has_no_line_and_is_zero_in_data_json)
{
    write_text_file(work_path("train.tsv"), "b\tone two\na\tone\n");
    struct program_result result = train(text_of("train: %s, valid_fraction: 0", work_path("train.tsv")));
    expect_lines(result.out, "\ntrain: 2 rows, 3 tokens (1 to 2, half have up to 1); labels: a 1, b 1; "
                             "0.0% unknown tokens\n  rows by tokens: 1: 1, 2: 1\n");
    cr_expect_eq(count_of(result.out, "\nvalid: "), 0, "%s", result.out);
    cr_expect_eq(count_of(result.out, "\ntest: "), 0, "%s", result.out);
    const char *nothing = "{\"rows\":0,\"tokens\":0,\"labels\":{\"a\":0,\"b\":0},\"longest\":0,\"truncated\":0,"
                          "\"lengths\":[],\"duplicates\":0,\"conflicts\":0,\"in_train\":0,\"in_valid\":0,\"unknown_tokens\":0,"
                          "\"unknown_rate\":0.0,\"replaced\":0}";
    const char *report = read_file(work_path("run/data.json"), NULL);
    cr_expect_not_null(strstr(report, text_of(",\"valid\":%s,\"test\":%s}", nothing, nothing)), "%s", report);
}

Test(data_lines, one_of_anything_is_no_plural)
{
    write_text_file(work_path("train.tsv"), "b\tone\xFF\na\tone\nb\ttwo\na\ttwo\n");
    write_text_file(work_path("test.tsv"), "a\ttwo\n");
    struct program_result result = train(text_of("train: %s, test: %s, valid_fraction: 0, bad_bytes: replace",
                                                 work_path("train.tsv"), work_path("test.tsv")));
    expect_lines(result.out, "; 1 duplicate row (1 with another label); 1 byte replaced\n");
    expect_lines(result.out, "\ntest: 1 row, 1 token (1 to 1, half have up to 1); labels: a 1, b 0; "
                             "0.0% unknown tokens; 1 row also in train\n  rows by tokens: 1: 1\n");
}

/* n labels, c00 with one row, c01 with two, and so on, as <work>/train.tsv. */
static void write_labels(int n)
{
    const char *text = "";
    for (int label = 0; label < n; label++)
        for (int row = 0; row <= label; row++)
            text = text_of("%sc%02d\tw%d\n", text, label, row);
    write_text_file(work_path("train.tsv"), text);
}

Test(data_lines, up_to_eight_labels_are_told_one_by_one)
{
    write_labels(8);
    struct program_result result = train(text_of("train: %s, valid_fraction: 0", work_path("train.tsv")));
    expect_lines(result.out, "; labels: c07 8, c06 7, c05 6, c04 5, c03 4, c02 3, c01 2, c00 1; ");
}

Test(data_lines, of_more_labels_the_extremes_are_told)
{
    write_labels(9);
    struct program_result result = train(text_of("train: %s, valid_fraction: 0", work_path("train.tsv")));
    expect_lines(result.out, "; 9 labels, from c08 9 to c00 1; ");
}

Test(data_lines, labels_are_told_on_one_line_whatever_they_hold)
{
    write_text_file(work_path("train.csv"), text_of("\"two\nlines\",x\n%0200d,y\n\"a, b\",z\n\"a, b\",z\n", 0));
    struct program_result result = train(text_of("train: %s, valid_fraction: 0", work_path("train.csv")));
    expect_lines(result.out, text_of("; labels: a, b 2, %074d... 1, two?lines 1; ", 0));
}

Test(data_lines, quiet_tells_nothing)
{
    write_text_file(work_path("train.tsv"), "b\tone\na\tone\n");
    write_text_file(work_path("data.cfg"), text_of(MODEL "data: {train: %s}\n", work_path("train.tsv")));
    struct program_result result =
        RUN("train", "--config", work_path("data.cfg"), "--out", work_path("run"), "--quiet");
    expect_done(result);
    cr_expect_str_eq(result.out, "");
    cr_expect_str_eq(result.err, "");
}

Test(data_lines, a_built_in_task_is_told_as_a_file_is)
{
    struct program_result result = train("task: order, test_fraction: 0.2}\ntask: {rows: 100, language: english");
    expect_lines(result.out, "\ntrain: 70 rows, ");
    expect_lines(result.out, "; labels: hunter 35, prey 35; 0.0% unknown tokens\n");
    expect_lines(result.out, "\nvalid: 10 rows, ");
    expect_lines(result.out, "\ntest: 20 rows, ");
    cr_expect_eq(count_of(result.out, "duplicate"), 0, "a task's texts are all different");
    cr_expect_eq(count_of(result.out, "also in train"), 0);
}

Test(data_lines, going_on_tells_the_same_and_leaves_the_same_data_json)
{
    write_text_file(work_path("data.tsv"),
                    "a\tone\nb\ttwo\xFF\na\tthree four\nb\tone\na\tone\nb\ttwo\xFF\na\tfive six\n"
                    "b\tseven\na\teight\nb\tnine ten\n");
    write_text_file(work_path("data.cfg"),
                    text_of("model: {d_model: 4, heads: 1, layers: 0}\ndata: {train: %s, valid_fraction: 0.2, "
                            "test_fraction: 0.2, bad_bytes: replace}\ntrain: {steps: 4, stop_after: 2}\n",
                            work_path("data.tsv")));
    struct program_result first = RUN("train", "--config", work_path("data.cfg"), "--out", work_path("run"));
    expect_done(first);
    const char *report = read_file(work_path("run/data.json"), NULL);
    struct program_result other =
        RUN("train", "--resume", work_path("run/last.npz"), "--out", work_path("new"), "--set", "train.stop_after=-1");
    expect_done(other);
    struct program_result second = RUN("train", "--resume", work_path("run"), "--set", "train.stop_after=-1");
    expect_done(second);
    cr_expect_str_eq(read_file(work_path("run/data.json"), NULL), report);
    cr_expect_str_eq(read_file(work_path("new/data.json"), NULL), report);
    const char *begin = strstr(first.out, "\ntrain: ");
    cr_assert_not_null(begin, "%s", first.out);
    const char *lines = text_of("%.*s", (int)(strstr(begin, " MiB of parameters") - begin), begin);
    cr_expect_not_null(strstr(lines, "\ntest: "));
    expect_lines(second.out, lines);
    expect_lines(other.out, lines);
}
