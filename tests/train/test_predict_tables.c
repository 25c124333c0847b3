/* test_predict_tables.c: ./predict reads CSV, TSV and JSON lines, keeps what else is in them, and gives a text the
 * tokens that it has in training, whatever it stands in. */
#include "config_use.h"
#include "dataset.h"
#include "json.h"
#include "mem.h"
#include "predict_fixture.h"
#include "tiny_run.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

TestSuite(predict_tables, .init = make_model, .fini = work_remove);

/* "label, probability" for one text as lines give it, with any separator between. */
static const char *answer_to(const char *text, const char *separator)
{
    char label[64];
    char probability[64];
    const char *line = PREDICT(text_of("%s\n", text), "--format", "tsv");
    cr_assert_eq(sscanf(line, "%63[^\t]\t%63[^\t]\t", label, probability), 2);
    return text_of("%s%s%s", label, separator, probability);
}

Test(predict_tables, csv_records_come_out_as_they_came_with_two_columns_behind)
{
    const char *a = answer_to("plum fig", ",");
    const char *b = answer_to("nut, rye", ",");
    cr_expect_str_eq(PREDICT("id,text,note\n1,plum fig,\"a \"\"b\"\"\"\n2,\"nut, rye\",\"x\ny\"\n", "--input-format",
                             "csv", "--text-column", "text"),
                     text_of("id,text,note,predicted_label,predicted_probability\n1,plum fig,\"a \"\"b\"\"\",%s\n"
                             "2,\"nut, rye\",\"x\ny\",%s\n",
                             a, b));
    cr_expect_str_eq(PREDICT("plum fig,1\n\"nut, rye\",2", "--input-format", "csv"),
                     text_of("plum fig,1,%s\n\"nut, rye\",2,%s\n", a, b));
    cr_expect_str_eq(PREDICT("t,n\nplum fig,1\n", "--input-format", "csv", "--header", "yes"),
                     text_of("t,n,predicted_label,predicted_probability\nplum fig,1,%s\n", a));
    cr_expect_str_eq(PREDICT("plum fig", "--input-format", "csv"), text_of("plum fig,%s\n", a));
}

Test(predict_tables, separator_and_line_ends_are_the_inputs)
{
    cr_expect_str_eq(PREDICT("a;text\r\n1;\"plum\r\nfig\"\r\n\r\n", "--input-format", "csv", "--text-column", "text"),
                     text_of("a;text;predicted_label;predicted_probability\r\n1;\"plum\r\nfig\";%s\r\n",
                             answer_to("plum fig", ";")));
    cr_expect_str_eq(PREDICT("1\tplum fig\n2\tfig\r\n", "--input-format", "csv", "--text-column", "2"),
                     text_of("1\tplum fig\t%s\n2\tfig\t%s\n", answer_to("plum fig", "\t"), answer_to("fig", "\t")));
    cr_expect_str_eq(PREDICT("1\tplum fig\r\n2\tfig", "--input-format", "tsv"),
                     text_of("1\tplum fig\t%s\r\n2\tfig\t%s\r\n", answer_to("plum fig", "\t"), answer_to("fig", "\t")));
    cr_expect_str_eq(PREDICT("\xEF\xBB\xBFtext,n\nfig,1\n", "--input-format", "csv", "--text-column", "text"),
                     text_of("text,n,predicted_label,predicted_probability\nfig,1,%s\n", answer_to("fig", ",")));
}

Test(predict_tables, json_objects_keep_their_members_in_order_and_spelling)
{
    const char *answer = answer_to("plum fig", "\",\"predicted_probability\":");
    cr_expect_str_eq(PREDICT("{\"z\": 1.10, \"text\":\"plum f\\u0069g\", \"a\":{\"b\":[1e2, null]}} \t\n"
                             " {\"text\":\"plum fig\"}",
                             "--input-format", "jsonl"),
                     text_of("{\"z\": 1.10, \"text\":\"plum f\\u0069g\", \"a\":{\"b\":[1e2, "
                             "null]},\"predicted_label\":\"%s}\n {\"text\":\"plum fig\",\"predicted_label\":\"%s}\n",
                             answer, answer));
    cr_expect_not_null(strstr(PREDICT("{\"body\":\"plum\",\"text\":\"fig\"}\n", "--input-format", "jsonl",
                                      "--text-column", "body", "--format", "jsonl"),
                              "{\"text\":\"plum\","));
}

Test(predict_tables, labels_are_quoted_where_the_table_needs_it)
{
    work_remove();
    write_text_file(work_path("odd.csv"), "\"a, \"\"b\"\"\",plum\nc;d,fig\n\"a, \"\"b\"\"\",plum\nc;d,fig\n");
    make_model_of(work_path("odd.csv"), "valid_fraction: 0");
    const char *csv = PREDICT("x,plum\n", "--input-format", "csv", "--top", "2");
    cr_expect(strstr(csv, ",\"a, \"\"b\"\"\",0.") != NULL && strstr(csv, ",c;d,0.") != NULL, "%s", csv);
    csv = PREDICT("x;plum\n", "--input-format", "csv", "--top", "2");
    cr_expect(strstr(csv, ";\"a, \"\"b\"\"\";0.") != NULL && strstr(csv, ";\"c;d\";0.") != NULL, "%s", csv);
    const char *json = PREDICT("{\"text\":\"plum\"}\n", "--input-format", "jsonl", "--top", "2");
    cr_expect_not_null(strstr(json, "\":\"a, \\\"b\\\"\","), "%s", json);
    const char *tsv = PREDICT("x\tplum\n", "--input-format", "tsv", "--top", "2");
    cr_expect_not_null(strstr(tsv, "\ta, \"b\"\t0."), "%s", tsv);
}

Test(predict_tables, a_label_that_lines_cannot_hold_is_refused)
{
    work_remove();
    write_text_file(work_path("odd.csv"), "\"a\nb\",plum\n\"c\td\",fig\n\"a\nb\",plum\n\"c\td\",fig\n");
    make_model_of(work_path("odd.csv"), "valid_fraction: 0");
    EXPECT_ERROR(TRY_PREDICT("plum\n", "--format", "label"), 2, "'a?b'", "line break");
    EXPECT_ERROR(TRY_PREDICT("plum\n", "--format", "tsv"), 2, "'a?b'");
    EXPECT_ERROR(TRY_PREDICT("x\tplum\n", "--input-format", "tsv"), 2, "'a?b'");
    PREDICT("plum\n", "--format", "jsonl");
    PREDICT("x,plum\n", "--input-format", "csv");
    PREDICT("{\"text\":\"plum\"}\n", "--input-format", "jsonl");
}

Test(predict_tables, other_formats_write_the_text_column_alone)
{
    const char *tables[] = {"1,plum fig,x\n2,\"fig, nut\",y\n", "1\tplum fig\tx\n2\tfig, nut\ty\n",
                            "{\"text\":\"plum fig\"}\n{\"text\":\"fig, nut\"}\n"};
    static const char *const names[] = {"csv", "tsv", "jsonl"};
    static const char *const formats[] = {"label", "tsv", "jsonl"};
    for (int f = 0; f < 3; f++) {
        const char *lines = PREDICT("plum fig\nfig, nut\n", "--format", formats[f]);
        for (int i = 0; i < 3; i++)
            cr_expect_str_eq(PREDICT(tables[i], "--input-format", names[i], "--text-column", i < 2 ? "2" : "text",
                                     "--format", formats[f]),
                             lines, "%s as %s", names[i], formats[f]);
    }
    EXPECT_ERROR(TRY_PREDICT("\"plum\nfig\"\n", "--input-format", "csv", "--format", "tsv"), 2,
                 "standard input:1: the text holds a line break");
    EXPECT_ERROR(TRY_PREDICT("plum\n\"plum\tfig\",x\n", "--input-format", "csv", "--format", "tsv"), 2,
                 "standard input:2: 2 columns");
    EXPECT_ERROR(
        TRY_PREDICT("{\"text\":\"a\"}\n{\"text\":\"plum\\tfig\"}\n", "--input-format", "jsonl", "--format", "tsv"), 2,
        "standard input:2: the text holds a tab");
    cr_expect_eq(count_lines(PREDICT("\"plum\nfig\"\nnut\n", "--input-format", "csv", "--format", "label")), 2);
}

Test(predict_tables, the_column_is_that_of_training_in_a_table_of_the_same_kind)
{
    const char *answer = answer_to("plum fig", "\t");
    cr_expect_str_eq(PREDICT("x\tplum fig\n", "--input-format", "tsv"), text_of("x\tplum fig\t%s\n", answer));
    EXPECT_ERROR(TRY_PREDICT("plum\n", "--input-format", "tsv"), 2,
                 "standard input:1: 1 column, but the model's data.text_column", "--text-column", "is 2");
    cr_expect_str_eq(PREDICT("plum fig\tx\n", "--input-format", "tsv", "--text-column", "1"),
                     text_of("plum fig\tx\t%s\n", answer));
    work_remove();
    write_text_file(work_path("data.csv"), "body,class\nplum,a\nfig,b\nplum,a\nfig,b\n");
    make_model_of(work_path("data.csv"), "valid_fraction: 0, text_column: body, label_column: class");
    const char *csv = PREDICT("n,body\n1,plum\n", "--input-format", "csv");
    cr_expect_eq(strncmp(csv, "n,body,predicted_label,predicted_probability\n1,plum,", 51), 0, "%s", csv);
    EXPECT_ERROR(TRY_PREDICT("a,b\n", "--input-format", "csv"), 2, "standard input:1: the model's data.text_column",
                 "no column of the header is named 'body'");
    EXPECT_ERROR(TRY_PREDICT("a,b\n", "--input-format", "csv", "--header", "no"), 2, "--header: no", "body");
    cr_expect_eq(count_lines(PREDICT("plum\tx\n", "--input-format", "tsv")), 1); /* another kind: column 1, no header */
    work_remove();
    write_text_file(work_path("data.csv"), "c,t\na,plum\nb,fig\na,plum\nb,fig\n");
    make_model_of(work_path("data.csv"), "valid_fraction: 0, header: yes");
    cr_expect_eq(count_lines(PREDICT("c,t\na,plum\n", "--input-format", "csv", "--format", "label")), 1);
    cr_expect_eq(count_lines(PREDICT("a,plum\n", "--input-format", "csv", "--header", "no", "--format", "label")), 1);
}

Test(predict_tables, a_header_that_training_had_for_its_label_column_is_one_here)
{
    work_remove();
    write_text_file(work_path("data.csv"), "cls,text\nbad,plum fig\ngood,nut rye\nbad,fig\ngood,rye\n");
    make_model_of(work_path("data.csv"), "label_column: cls, text_column: 2, valid_fraction: 0");
    const char *out = PREDICT("cls,text\nbad,plum\n", "--input-format", "csv");
    cr_expect_eq(strncmp(out, "cls,text,predicted_label,predicted_probability\nbad,plum,", 56), 0, "%s", out);
}

Test(predict_tables, a_line_end_in_an_argument_does_not_end_the_message)
{
    EXPECT_ERROR(TRY_PREDICT("", "--input-format", "x\ny"), 2, "--input-format: x?y; accepted: ");
}

Test(predict_tables, a_bad_record_is_named_and_those_before_it_answered)
{
    static const struct {
        const char *format, *input, *message;
    } cases[] = {
        {"csv", "plum,1\nfig,2\nnut\n", "standard input:3: 1 column, but line 1 has 2"},
        {"csv", "plum,1\nfig,2\n\"nut,3\n", "standard input:3: column 1: a quotation mark opens and never closes"},
        {"csv", "plum,1\nfig,2\n\nnut,3\n", "standard input:3: an empty line"},
        {"csv", "plum,1\nfig,2\nn\xFFt,3\n", "standard input:3: byte 2 of the line (0xFF) is not UTF-8"},
        {"tsv", "plum\t1\nfig\t2\nnut\t3\t4\n", "standard input:3: 3 columns, but line 1 has 2"},
        {"tsv", "plum\t1\nfig\t2\n\nnut\t3\n", "standard input:3: an empty line"},
        {"jsonl", "{\"text\":\"plum\"}\n{\"text\":\"fig\"}\n{\"text\":\"nut\"\n", "standard input:3: no valid JSON"},
        {"jsonl", "{\"text\":\"plum\"}\n{\"text\":\"fig\"}\n{\"txt\":\"nut\"}\n", "standard input:3: text is missing"},
        {"jsonl", "{\"text\":\"plum\"}\n{\"text\":\"fig\"}\n{\"text\":7}\n", "standard input:3: text is an integer"},
        {"jsonl", "{\"text\":\"plum\"}\n{\"text\":\"fig\"}\n[1]\n", "standard input:3: the top level is an array"},
        {"jsonl", "{\"text\":\"plum\"}\n{\"text\":\"fig\"}\n{\"text\":\"a\",\"predicted_label\":1}\n",
         "standard input:3: there is a member predicted_label already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *column = strcmp(cases[i].format, "jsonl") == 0 ? "text" : "1";
        struct program_result result =
            TRY_PREDICT(cases[i].input, "--input-format", cases[i].format, "--text-column", column);
        EXPECT_ERROR(result, 2, cases[i].message);
        cr_expect_eq(count_lines(result.out), 2, "%s: %s", cases[i].message, result.out);
    }
    EXPECT_ERROR(TRY_PREDICT("text,predicted_probability\n", "--input-format", "csv", "--text-column", "text"), 2,
                 "standard input:1: there is a column predicted_probability already");
    EXPECT_ERROR(
        TRY_PREDICT("text,predicted_label_2\nplum,1\n", "--input-format", "csv", "--text-column", "text", "--top", "2"),
        2, "standard input:1: there is a column predicted_label_2 already");
    PREDICT("text,predicted_label_2\nplum,1\n", "--input-format", "csv", "--text-column", "text");
    PREDICT("text,predicted_label\nplum,1\n", "--input-format", "csv", "--text-column", "text", "--format", "label");
    EXPECT_ERROR(TRY_PREDICT("text,text\n", "--input-format", "csv", "--text-column", "text"), 2,
                 "standard input:1: --text-column: columns 1 and 2 are both named 'text'");
}

Test(predict_tables, an_empty_table_gives_nothing_and_a_header_itself)
{
    cr_expect_str_empty(PREDICT("", "--input-format", "csv"));
    cr_expect_str_empty(PREDICT("", "--input-format", "jsonl"));
    cr_expect_str_empty(PREDICT("\n\n", "--input-format", "tsv"));
    cr_expect_str_empty(PREDICT("text\n", "--input-format", "csv", "--text-column", "text", "--format", "label"));
    cr_expect_str_eq(PREDICT("text,n\n", "--input-format", "csv", "--text-column", "text"),
                     "text,n,predicted_label,predicted_probability\n");
}

Test(predict_tables, order_and_number_are_the_inputs)
{
    static const char *const words[] = {"plum", "fig", "pear", "apple", "nut", "leek", "bean", "rye"};
    const char *csv = "id,text\n";
    const char *lines = "";
    for (int i = 0; i < 150; i++) { /* more than a batch */
        csv = text_of("%s%d,\"%s\n%s\"\n", csv, i, words[i % 8], words[i * 5 % 8]);
        lines = text_of("%s%s %s\n", lines, words[i % 8], words[i * 5 % 8]);
    }
    const char *answers = PREDICT(lines, "--format", "tsv");
    const char *kept = PREDICT(csv, "--input-format", "csv", "--text-column", "text");
    cr_assert_eq(count_lines(kept), 301);
    kept = strchr(kept, '\n') + 1;
    for (int i = 0; i < 150; i++) {
        char label[64];
        char probability[64];
        cr_assert_eq(sscanf(answers, "%63[^\t]\t%63[^\t]\t", label, probability), 2);
        const char *expected = text_of("%d,\"%s\n%s\",%s,%s\n", i, words[i % 8], words[i * 5 % 8], label, probability);
        cr_assert_eq(strncmp(kept, expected, strlen(expected)), 0, "%s", expected);
        kept += strlen(expected);
        answers = strchr(answers, '\n') + 1;
    }
}

Test(predict_tables, gzip_data_is_expanded_by_content)
{
    const char *text = "plum fig\nnut\n";
    const char *path = work_path("texts");
    gzFile file = gzopen(path, "wb");
    cr_assert_eq(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    gzclose(file);
    struct program_result result = RUN("predict", "--model", MODEL, "--input", path);
    expect_done(result);
    cr_expect_str_eq(result.out, PREDICT(text, "--format", "label"));
    size_t n_bytes;
    const char *bytes = read_file(path, &n_bytes);
    write_file(path, bytes, n_bytes - 3);
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--input", path), 2, path, "cut short");
}

Test(predict_tables, a_record_is_answered_before_the_input_ends)
{
    static const char *const records[] = {"\"plum\n", "fig\",1\nnut,2\n\"", "x\",3\n"};
    static const int n_answers[] = {0, 3, 1}; /* line ends; the first record holds one itself */
    int input = -1;
    int output = -1;
    char text[512];
    const char *const arguments[] = {"--model", MODEL, "--input-format", "csv", NULL};
    pid_t pid = start_program(NULL, "predict", arguments, &input, &output);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(write(input, records[i], strlen(records[i])), (ssize_t)strlen(records[i]));
        for (int n = 0; n < n_answers[i];) {
            struct pollfd wait = {output, POLLIN, 0};
            cr_assert_eq(poll(&wait, 1, 60000), 1, "no answer to piece %d", i);
            ssize_t n_read = read(output, text, sizeof text - 1);
            cr_assert_gt(n_read, 0);
            text[n_read] = '\0';
            n += (int)count_lines(text);
        }
    }
    close(input);
    cr_assert_eq(wait_program(pid), 0);
    close(output);
}

/* --- the same tokens everywhere ------------------------------------------------------------------------------------
 */

/* Texts that a line can hold, and two that it cannot. */
static const char *const texts[] = {
    "plum fig",
    " two  blanks before, and behind  ",
    "\"quoted\", it's; a comma",
    "\\n is no line end, \\u00e9 no letter",
    "\xC3\xA9t\xC3\xA9 e\xCC\x81 \xE7\x8C\xAB \xF0\x9F\x98\x80",
    "a lone \r within",
    "\xEF\xBB\xBFmark in front",
    "{\"text\": 1}",
    "tab\there",
    "line\nbreak\r\nand \"both\"",
};
enum { N_TEXTS = sizeof texts / sizeof texts[0], N_LINE_TEXTS = N_TEXTS - 1, N_FIELD_TEXTS = N_TEXTS - 2 };

static const char *csv_field(const char *text)
{
    const char *field = "";
    for (; *text != '\0'; text++)
        field = text_of("%s%s%c", field, *text == '"' ? "\"" : "", *text);
    return text_of("\"%s\"", field);
}

static const char *json_object(const char *text)
{
    struct tap_error error = {0};
    struct tap_json *object = tap_json_new_object(&error);
    tap_json_set_text(object, "label", "good", &error);
    tap_json_set_text(object, "text", text, &error);
    char *line = tap_json_dump(object, 9, NULL, &error);
    const char *kept = text_of("%s", line);
    tap_mem_free(line);
    tap_json_free(object);
    return kept;
}

/* The texts as a file of a format, labelled or (text) not. */
static const char *as_format(const char *format, int n)
{
    const char *all = "";
    for (int i = 0; i < n; i++) {
        const char *text = texts[i];
        const char *row = strcmp(format, "tsv") == 0        ? text_of("good\t%s", text)
                          : strcmp(format, "csv") == 0      ? text_of("good,%s", csv_field(text))
                          : strcmp(format, "jsonl") == 0    ? json_object(text)
                          : strcmp(format, "fasttext") == 0 ? text_of("__label__good %s", text)
                          : strcmp(format, "space") == 0    ? text_of("good %s", text)
                                                            : text;
        all = text_of("%s%s\n", all, row);
    }
    return all;
}

/* "[1,2,...]" for each text, as the training reader gives them. */
static const char *tokens_in_training(const struct tap_checkpoint *checkpoint, const char *format, int n)
{
    struct tap_error error = {0};
    struct tap_dataset dataset;
    const char *path = work_path(text_of("in-%s", format));
    const char *file = path;
    if (strcmp(format, "folder") == 0) {
        cr_assert_eq(mkdir(path, 0777), 0);
        file = text_of("%s/good.txt", path);
    }
    write_text_file(file, as_format(format, n));
    const struct tap_data_options data = tap_config_data_options(&checkpoint->config);
    struct tap_read_options options = tap_data_read_options(&data);
    options.format = format;
    tap_dataset_read(path, &options, checkpoint->tokenizer, checkpoint->label_names, checkpoint->labels.n, &dataset,
                     &error);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    cr_assert_eq(dataset.n_rows, (uint32_t)n, "%s", format);
    const char *all = "";
    for (uint32_t row = 0; row < dataset.n_rows; row++) {
        const char *list = "";
        for (size_t t = dataset.offsets[row]; t < dataset.offsets[row + 1]; t++)
            list = text_of("%s%s%u", list, list[0] != '\0' ? "," : "", (unsigned)dataset.tokens[t]);
        all = text_of("%s[%s]\n", all, list);
    }
    tap_dataset_clear(&dataset);
    return all;
}

/* The same, as ./predict gives them. */
static const char *tokens_in_prediction(const char *format, int n)
{
    static const char start[] = "\"tokens\":";
    const char *input = as_format(format, n);
    const char *lines = strcmp(format, "text") == 0
                            ? PREDICT(input, "--format", "jsonl")
                            : PREDICT(input, "--format", "jsonl", "--input-format", format, "--text-column",
                                      strcmp(format, "jsonl") == 0 ? "text" : "2");
    const char *all = "";
    cr_assert_eq(count_lines(lines), (size_t)n);
    for (int i = 0; i < n; i++) {
        const char *at = strstr(line_of(lines, i), start) + strlen(start);
        all = text_of("%s%.*s\n", all, (int)(strchr(at, ']') - at) + 1, at);
    }
    return all;
}

Test(predict_tables, a_text_has_the_same_tokens_in_every_format_and_in_training)
{
    static const char *const training[] = {"jsonl", "csv", "fasttext", "space", "folder", "tsv"};
    static const int n_training[] = {N_TEXTS, N_TEXTS, N_LINE_TEXTS, N_LINE_TEXTS, N_LINE_TEXTS, N_FIELD_TEXTS};
    static const char *const prediction[] = {"jsonl", "csv", "text", "tsv"};
    static const int n_prediction[] = {N_TEXTS, N_TEXTS, N_LINE_TEXTS, N_FIELD_TEXTS};
    static const char *const tokenizers[] = {"byte", "char", "word", "wordpiece"};
    for (int t = 0; t < 4; t++) {
        struct tap_error error = {0};
        work_remove();
        /* all texts are learned, so that every byte has a number of its own */
        write_text_file(work_path("data.csv"), text_of("%sbad,x\nbad,y\n", as_format("csv", N_TEXTS)));
        make_model_of(work_path("data.csv"),
                      text_of("valid_fraction: 0, max_length: 100, lowercase: false, char_ngrams: 50, bigrams: 40, tokenizer: %s", tokenizers[t]));
        struct tap_checkpoint *checkpoint = tap_checkpoint_open(MODEL, &error);
        cr_assert_not_null(checkpoint, "%s", error.message);
        const char *all = tokens_in_training(checkpoint, "jsonl", N_TEXTS);
        for (size_t i = 1; i < sizeof training / sizeof training[0]; i++) {
            const char *tokens = tokens_in_training(checkpoint, training[i], n_training[i]);
            cr_expect_eq(strncmp(tokens, all, strlen(tokens)), 0, "%s, %s: %s%s", tokenizers[t], training[i], tokens,
                         all);
        }
        for (size_t i = 0; i < sizeof prediction / sizeof prediction[0]; i++) {
            const char *tokens = tokens_in_prediction(prediction[i], n_prediction[i]);
            cr_expect_eq(strncmp(tokens, all, strlen(tokens)), 0, "%s, predict %s: %s%s", tokenizers[t], prediction[i],
                         tokens, all);
        }
        tap_checkpoint_close(checkpoint);
    }
}
