/* test_predict.c: ./predict answers every line, in order, with the same bits whatever stands around it. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "mem.h"
#include "predict_fixture.h"
#include "tiny_run.h"

TestSuite(predict, .init = make_model, .fini = work_remove);

static struct program_result predict(const char *input, const char *format)
{
    const struct program_options options = {.input = input};
    struct program_result result = RUN_WITH(&options, "predict", "--model", MODEL, "--format", format);
    expect_done(result);
    return result;
}

Test(predict, a_line_gives_a_line)
{
    static const char *const inputs[] = {"",     "plum\n",          "plum", "plum\nfig", "plum\n\nfig\n", "\n",
                                         "\n\n", "plum\r\nfig\r\n", "\r\n"};
    static const size_t n_lines[] = {0, 1, 1, 2, 3, 1, 2, 2, 1};
    static const char *const formats[] = {"label", "tsv", "jsonl"};
    for (size_t f = 0; f < 3; f++)
        for (size_t i = 0; i < sizeof n_lines / sizeof n_lines[0]; i++)
            cr_assert_eq(count_lines(predict(inputs[i], formats[f]).out), n_lines[i], "\"%s\"", inputs[i]);
}

Test(predict, the_three_formats_say_the_same)
{
    const char *input =
        "plum fig\n\tpear\t\"x\"\\ \n\xE7\x8C\xAB unseen\nfig fig fig fig fig fig fig fig fig fig fig fig fig fig\n";
    const char *labels = predict(input, "label").out;
    const char *tsv = predict(input, "tsv").out;
    const char *jsonl = predict(input, "jsonl").out;
    for (int i = 0; i < 4; i++) {
        struct tap_error error = {0};
        const char *line = line_of(jsonl, i);
        struct tap_json *value = tap_json_parse(line, strlen(line), "line", &error);
        cr_assert_not_null(value, "%s", error.message);
        struct tap_json_place place = tap_json_root(value, "line", &error);
        const char *label = tap_json_get_text(&place, "label");
        cr_assert_str_eq(line_of(labels, i), text_of("%s\n", label));
        cr_assert_str_eq(text_of("%s\n", tap_json_get_text(&place, "text")), line_of(input, i));
        struct tap_json_place logits = tap_json_get_array(&place, "logits");
        struct tap_json_place probabilities = tap_json_get_object(&place, "probabilities");
        struct tap_json_place tokens = tap_json_get_array(&place, "tokens");
        cr_assert(tap_json_length(&logits) == 3 && tap_json_length(&probabilities) == 3 &&
                  tap_json_length(&tokens) <= 12);
        double sum = 0;
        double largest = 0;
        for (size_t c = 0; c < 3; c++)
            sum += exp(tap_json_as_real(tap_json_item(&logits, c)));
        struct tap_json_place member;
        void *iterator = NULL;
        static const char *const names[] = {"bad", "good", "so so"}; /* by their bytes */
        for (size_t c = 0; tap_json_next(&probabilities, &iterator, &member); c++) {
            cr_assert_str_eq(member.key, names[c]);
            double probability = tap_json_as_real(member);
            largest = fmax(largest, probability);
            cr_assert_float_eq(probability, exp(tap_json_as_real(tap_json_item(&logits, c))) / sum, 1e-7);
        }
        cr_assert_eq(tap_json_get_real(&probabilities, label), largest);
        const char *row = line_of(tsv, i);
        char *end;
        cr_assert_eq(strncmp(row, label, strlen(label)), 0);
        cr_assert_eq(row[strlen(label)], '\t');
        cr_assert_float_eq(strtod(row + strlen(label) + 1, &end), largest, 1e-9);
        cr_assert_str_eq(end, text_of("\t%s", line_of(input, i)));
        cr_assert_eq(error.status, TAP_OK, "%s", error.message);
        tap_json_free(value);
    }
}

Test(predict, a_line_has_the_same_bits_among_others)
{
    static const char *const lines[] = {"plum fig pear", "", "nut", "leek bean rye apple plum fig pear apple nut",
                                        "unseen words"};
    const char *all = "";
    for (int i = 0; i < 150; i++) /* more than a batch */
        all = text_of("%s%s\n", all, lines[i * 7 % 5]);
    const char *together = predict(all, "jsonl").out;
    const char *alone[5];
    for (int i = 0; i < 5; i++)
        alone[i] = predict(text_of("%s\n", lines[i]), "jsonl").out;
    for (int i = 0; i < 150; i++)
        cr_assert_str_eq(line_of(together, i), alone[i * 7 % 5]);
    const struct program_options options = {.input = all, .environment = "OMP_WAIT_POLICY=passive"};
    for (int n = 1; n <= 3; n++) {
        struct program_result result =
            RUN_WITH(&options, "predict", "--model", MODEL, "--format", "jsonl", "--threads", text_of("%d", n));
        expect_done(result);
        cr_assert_str_eq(result.out, together, "%d threads", n);
    }
}

Test(predict, line_ends_and_a_mark_do_not_count)
{
    const char *plain = predict("plum fig\npear\n", "jsonl").out;
    cr_assert_str_eq(predict("plum fig\r\npear\r\n", "jsonl").out, plain);
    cr_assert_str_eq(predict("\xEF\xBB\xBFplum fig\npear", "jsonl").out, plain);
    write_text_file(work_path("in.txt"), "plum fig\npear\n");
    struct program_result file = RUN("predict", "--model", MODEL, "--format", "jsonl", "--input", work_path("in.txt"));
    expect_done(file);
    cr_assert_str_eq(file.out, plain);
}

Test(predict, a_text_has_the_tokens_of_training)
{
    struct tap_error error = {0};
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(MODEL, &error);
    cr_assert_not_null(checkpoint, "%s", error.message);
    const char *text = "Plum, fig!  unseen \xE7\x8C\xAB\xE7\x8C\xAB so so [UNK] apple-nut rye rye rye rye";
    struct tap_token_buffer tokens = {0};
    cr_assert_eq(tap_tokenizer_encode(checkpoint->tokenizer, text, strlen(text), &tokens, NULL, &error), TAP_OK);
    const char *list = "";
    for (size_t i = 0; i < tokens.n; i++)
        list = text_of("%s%s%u", list, i > 0 ? "," : "", (unsigned)tokens.ids[i]);
    cr_assert_eq(tokens.n, 12);
    cr_assert_not_null(strstr(predict(text_of("%s\n", text), "jsonl").out, text_of("\"tokens\":[%s]", list)));
    cr_assert_not_null(strstr(predict("\n", "jsonl").out, "\"tokens\":[0]"));
    tap_token_buffer_clear(&tokens);
    tap_checkpoint_close(checkpoint);
}

/* The tokens of a training row, as the JSON lines write them. */
static const char *list_of_row(const struct tap_dataset *part, uint32_t row)
{
    const char *list = "";
    for (size_t i = part->offsets[row]; i < part->offsets[row + 1]; i++)
        list = text_of("%s%s%u", list, i > part->offsets[row] ? "," : "", (unsigned)part->tokens[i]);
    return text_of("\"tokens\":[%s]", list);
}

Test(predict, wordpieces_and_the_kept_part_are_those_of_training)
{
    static const char *const texts[] = {"Reading and writing readers",
                                        "the writer rewrites what the reader reads, again and again and again",
                                        "caf\xC3\xA9s \xE4\xB8\xAD\xE6\x96\x87",
                                        "cafe\xCC\x81s [CLS] [UNK] ##ing",
                                        "",
                                        "unreadable!",
                                        "writing writings to the writers of the writings that were written"};
    static const char *const names[] = {"head", "tail", "both"};
    const char *rows = "";
    const char *input = "";
    for (size_t i = 0; i < 7; i++) {
        rows = text_of("%s%c\t%s\n", rows, 'a' + (int)(i % 2), texts[i]);
        input = text_of("%s%s\n", input, texts[i]);
    }
    write_text_file(work_path("pieces.tsv"), rows);
    for (int i = 0; i < 3; i++) {
        struct tap_error error = {0};
        const char *out = work_path(names[i]);
        write_text_file(work_path("pieces.cfg"),
                        text_of("model: {d_model: 8, heads: 2, layers: 1, d_ff: 16, pooling: %s}\ndata: {train: %s, "
                                "valid_fraction: 0, tokenizer: wordpiece, max_length: 9, truncate: %s}\n"
                                "train: {epochs: 2, batch_size: 4}\n",
                                i == 1 ? "cls" : "mean", work_path("pieces.tsv"), names[i]));
        expect_done(RUN("train", "--config", work_path("pieces.cfg"), "--out", out));
        const struct program_options options = {.input = input};
        struct program_result answers =
            RUN_WITH(&options, "predict", "--model", text_of("%s/last.npz", out), "--format", "jsonl");
        expect_done(answers);
        struct tap_checkpoint *checkpoint = tap_checkpoint_open(text_of("%s/last.npz", out), &error);
        cr_assert_not_null(checkpoint, "%s", error.message);
        struct tap_data_options data_options = tap_config_data_options(&checkpoint->config);
        struct tap_data *data = tap_data_open(&data_options, NULL, NULL, 0, &error); /* learned once more */
        cr_assert_not_null(data, "%s", error.message);
        const struct tap_dataset *part = &data->parts[TAP_PART_TRAIN];
        cr_assert_eq(part->n_rows, 7);
        cr_assert_eq(part->n_truncated, 3);
        cr_assert_eq(tap_tokenizer_n_tokens(data->tokenizer), tap_tokenizer_n_tokens(checkpoint->tokenizer));
        for (uint32_t row = 0; row < 7; row++)
            cr_expect_not_null(strstr(line_of(answers.out, (int)row), list_of_row(part, row)), "%s, %s", names[i],
                               list_of_row(part, row));
        tap_data_free(data);
        tap_checkpoint_close(checkpoint);
    }
}

Test(predict, the_training_rows_get_the_labels_that_evaluation_counts)
{
    const char *input = "";
    const char *data = read_file(work_path("data.tsv"), NULL);
    for (int i = 0; i < 40; i++)
        input = text_of("%s%s", input, strchr(line_of(data, i), '\t') + 1);
    const char *labels = predict(input, "label").out;
    int n_right = 0;
    for (int i = 0; i < 40; i++) {
        const char *label = line_of(labels, i);
        n_right +=
            strncmp(line_of(data, i), label, strlen(label) - 1) == 0 && line_of(data, i)[strlen(label) - 1] == '\t';
    }
    struct program_result result =
        RUN("evaluate", "--model", MODEL, "--data", work_path("data.tsv"), "--format", "json");
    expect_done(result);
    double accuracy = 0;
    cr_assert_eq(sscanf(strstr(result.out, "\"accuracy\":"), "\"accuracy\":%lf", &accuracy), 1);
    cr_assert_float_eq(accuracy, n_right / 40.0, 1e-12);
}

Test(predict, vectors_are_the_encoders_output)
{
    const struct program_options options = {.input = "plum fig\nnut\n"};
    struct program_result one =
        RUN_WITH(&options, "predict", "--model", MODEL, "--format", "jsonl", "--vectors", "sequence");
    struct program_result many =
        RUN_WITH(&options, "predict", "--model", MODEL, "--format", "jsonl", "--vectors", "token");
    struct program_result none =
        RUN_WITH(&options, "predict", "--model", MODEL, "--format", "jsonl", "--vectors", "none");
    expect_done(one);
    expect_done(many);
    expect_done(none);
    cr_assert_str_eq(none.out, predict("plum fig\nnut\n", "jsonl").out);
    for (int i = 0; i < 2; i++) {
        struct tap_error error = {0};
        const char *a = line_of(one.out, i);
        const char *b = line_of(many.out, i);
        struct tap_json *value_a = tap_json_parse(a, strlen(a), "a", &error);
        struct tap_json *value_b = tap_json_parse(b, strlen(b), "b", &error);
        struct tap_json_place place_a = tap_json_root(value_a, "a", &error);
        struct tap_json_place place_b = tap_json_root(value_b, "b", &error);
        struct tap_json_place vector = tap_json_get_array(&place_a, "vector");
        struct tap_json_place vectors = tap_json_get_array(&place_b, "vectors");
        size_t n_tokens = i == 0 ? 2 : 1;
        cr_assert(tap_json_length(&vector) == 8 && tap_json_length(&vectors) == n_tokens);
        for (size_t d = 0; d < 8; d++) {
            double mean = 0;
            for (size_t t = 0; t < n_tokens; t++) {
                struct tap_json_place row = tap_json_item(&vectors, t);
                mean += tap_json_as_real(tap_json_item(&row, d)) / (double)n_tokens;
            }
            cr_assert_float_eq(tap_json_as_real(tap_json_item(&vector, d)), mean, 1e-6);
        }
        cr_assert_eq(error.status, TAP_OK, "%s", error.message);
        tap_json_free(value_a);
        tap_json_free(value_b);
    }
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--vectors", "token"), 2, "jsonl");
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--vectors", "sequence", "--format", "tsv"), 2, "jsonl");
}

Test(predict, a_bad_line_is_named_and_those_before_it_answered)
{
    static const char *const formats[] = {"label", "tsv", "jsonl"};
    const struct program_options invalid = {.input = "plum\nfig\n\xff\nnut\n"};
    const struct program_options zero = {.input = "plum\nfig\nx\0y\nnut\n", .n_input = 18};
    for (size_t f = 0; f < 3; f++) {
        const char *before = predict("plum\nfig\n", formats[f]).out;
        struct program_result result = RUN_WITH(&invalid, "predict", "--model", MODEL, "--format", formats[f]);
        EXPECT_ERROR(result, 2, "standard input:3: ", "UTF-8");
        cr_assert_str_eq(result.out, before);
        result = RUN_WITH(&zero, "predict", "--model", MODEL, "--format", formats[f]);
        EXPECT_ERROR(result, 2, "standard input:3: ", "NUL byte");
        cr_assert_str_eq(result.out, before);
    }
    write_file(work_path("in.txt"), "plum\n\xC3\n", 7);
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--input", work_path("in.txt")), 2, "in.txt:2");
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--input", work_path("none.txt")), 2, "none.txt", "No such file");
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--input", work_path("")), 2, "is a folder");
}

Test(predict, a_line_is_answered_before_the_input_ends)
{
    int input = -1;
    int output = -1;
    char text[256];
    const char *const arguments[] = {"--model", MODEL, NULL};
    pid_t pid = start_program(NULL, "predict", arguments, &input, &output);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(write(input, "plum fig\n", 9), 9);
        struct pollfd wait = {output, POLLIN, 0};
        cr_assert_eq(poll(&wait, 1, 60000), 1, "no answer to line %d", i);
        ssize_t n = read(output, text, sizeof text - 1);
        cr_assert(n > 0 && text[n - 1] == '\n');
    }
    close(input);
    cr_assert_eq(wait_program(pid), 0);
    close(output);
}

Test(predict, closed_output_ends_it_at_once)
{
    const struct program_options full = {.stdout_path = "/dev/full"};
    const struct program_options broken = {.stdout_broken = true};
    const struct program_options *const cases[] = {&full, &broken};
    const char *const arguments[] = {"--model", MODEL, NULL};
    for (size_t i = 0; i < 2; i++) {
        int input = -1;
        pid_t pid = start_program(cases[i], "predict", arguments, &input, NULL);
        cr_assert_eq(write(input, "plum fig\n", 9), 9);
        cr_assert_eq(wait_program(pid), 1); /* although the input goes on */
        close(input);
    }
    const struct program_options closed = {.stdout_closed = true, .input = "plum\n"};
    EXPECT_ERROR(RUN_WITH(&closed, "predict", "--model", MODEL), 1, "standard output");
    EXPECT_ERROR(RUN_WITH(&closed, "evaluate", "--model", MODEL, "--data", work_path("data.tsv")), 1,
                 "standard output");
    EXPECT_ERROR(RUN_WITH(&full, "evaluate", "--model", MODEL, "--data", work_path("data.tsv")), 1, "standard output");
    EXPECT_ERROR(RUN_WITH(&broken, "evaluate", "--model", MODEL, "--format", "json", "--data", work_path("data.tsv")),
                 1, "standard output");
}

Test(predict, long_lines_are_answered)
{
    enum { N = 1 << 20 };
    char *line = tap_mem_new(N + 1, 1);
    memset(line, 'x', N);
    line[N - 1] = '\n';
    cr_assert_eq(count_lines(predict(line, "label").out), 1);
    for (size_t i = 0; i < N - 1; i++)
        line[i] = i % 5 == 4 ? ' ' : 'y';
    cr_assert_eq(count_lines(predict(text_of("plum\n%sfig\n", line), "jsonl").out), 3);
    tap_mem_free(line);
    const struct program_options options = {.stdin_closed = true};
    EXPECT_ERROR(RUN_WITH(&options, "predict", "--model", MODEL), 2, "standard input: ");
}

Test(predict, the_folder_stands_for_its_best_model)
{
    const struct program_options options = {.input = "plum fig\n"};
    const char *best = RUN_WITH(&options, "predict", "--model", work_path("run/best.npz"), "--format", "jsonl").out;
    cr_assert_str_eq(RUN_WITH(&options, "predict", "--model", work_path("run"), "--format", "jsonl").out, best);
    remove(work_path("run/best.npz"));
    const char *last = RUN_WITH(&options, "predict", "--model", MODEL, "--format", "jsonl").out;
    cr_assert_str_eq(RUN_WITH(&options, "predict", "--model", work_path("run"), "--format", "jsonl").out, last);
    remove(work_path("data.tsv")); /* the file alone is enough to predict */
    cr_assert_str_eq(RUN_WITH(&options, "predict", "--model", MODEL, "--format", "jsonl").out, last);
}

Test(predict, bad_usage_is_one_line)
{
    EXPECT_ERROR(RUN("predict", NULL), 2, "--model");
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--format", "xml"), 2, "xml", "label, tsv, jsonl");
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--vectors", "all"), 2, "all", "none, sequence, token");
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "more"), 2, "more");
    EXPECT_ERROR(RUN("predict", "--model", MODEL, "--threads", "x"), 2, "--threads");
    EXPECT_ERROR(RUN("predict", "--modell", MODEL), 2, "--modell");
}
