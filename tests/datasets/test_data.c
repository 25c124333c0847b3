/* test_data.c: files and tasks to encoded parts. */
#include "data.h"

#include "data_fixture.h"
#include "mem.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(data, .fini = fixture_remove);

static struct tap_error error;

static struct tap_data *open_data(const struct tap_data_options *options)
{
    tap_error_clear(&error);
    struct tap_data *data = tap_data_open(options, NULL, NULL, 0, &error);
    cr_assert_eq(data != NULL, error.status == TAP_OK);
    cr_assert_null(strchr(error.message, '\n'), "one line");
    return data;
}

static void expect_refusal(const struct tap_data_options *options, const char *words)
{
    cr_expect_null(open_data(options));
    cr_expect_not_null(strstr(error.message, words), "'%s' not in '%s'", words, error.message);
}

/* A part's row as its tokens' names. */
static const char *row_text(const struct tap_data *data, enum tap_part part, uint32_t row)
{
    static char text[1024];
    const struct tap_dataset *dataset = &data->parts[part];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = dataset->offsets[row]; i < dataset->offsets[row + 1]; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s ",
                              tap_tokenizer_token(data->tokenizer, dataset->tokens[i]));
    return text;
}

Test(data, files_become_three_parts)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "spam\tbuy this now\nham\thello there\nham\tone two three four five\n");
    options.valid = fixture_text("valid.tsv", "ham\thello stranger\n");
    options.test = fixture_text("test.tsv", "spam\tbuy one\nspam\tnow\n");
    options.max_length = 4;
    struct tap_data *data = open_data(&options);
    cr_assert_not_null(data, "%s", error.message);
    cr_assert_eq(data->n_labels, 2);
    cr_expect_str_eq(data->labels[0], "ham", "by bytes, not by first appearance");
    cr_expect_str_eq(data->labels[1], "spam");
    const struct tap_dataset *train = &data->parts[TAP_PART_TRAIN];
    cr_assert_eq(train->n_rows, 3, "no fraction is taken when the files are there");
    cr_expect_eq(train->labels[0], 1);
    cr_expect_eq(train->labels[1], 0);
    cr_expect_eq(train->label_counts[0], 2);
    cr_expect_eq(train->label_counts[1], 1);
    cr_expect_eq(train->n_tokens, 3 + 2 + 4);
    cr_expect_eq(train->offsets[3], train->n_tokens);
    cr_expect_eq(train->longest, 4);
    cr_expect_eq(train->n_truncated, 1);
    cr_expect_eq(train->lines[2], 3);
    cr_expect_str_eq(row_text(data, TAP_PART_TRAIN, 0), "buy this now ");
    cr_expect_str_eq(row_text(data, TAP_PART_VALID, 0), "hello [UNK] ");
    cr_expect_eq(data->parts[TAP_PART_TEST].n_rows, 2);
    cr_expect_str_eq(data->files[TAP_PART_VALID].path, options.valid);
    cr_expect_eq(data->files[TAP_PART_VALID].n_bytes, 19);
    tap_data_free(data);
}

/* n rows of label a, b, c, ...: "w<row>". */
static const char *numbered_file(const char *name, int n_rows, int n_labels)
{
    static char text[65536];
    size_t n = 0;
    for (int row = 0; row < n_rows; row++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%c\tw%d\n", 'a' + row % n_labels, row);
    return fixture_text(name, text);
}

Test(data, fractions_split_the_training_file_without_loss)
{
    struct tap_data_options options = fixture_data_options();
    options.train = numbered_file("train.tsv", 1000, 2);
    options.test_fraction = 0.2;
    struct tap_data *data = open_data(&options);
    cr_assert_not_null(data, "%s", error.message);
    bool is_seen[1001] = {false};
    const uint32_t expected[] = {700, 100, 200};
    for (int part = 0; part < TAP_N_PARTS; part++) {
        cr_assert_eq(data->parts[part].n_rows, expected[part]);
        cr_expect_eq(data->parts[part].label_counts[0], expected[part] / 2);
        for (uint32_t row = 0; row < expected[part]; row++) {
            uint64_t line = data->parts[part].lines[row];
            cr_assert(line >= 1 && line <= 1000 && !is_seen[line]);
            is_seen[line] = true;
            cr_assert_eq(data->parts[part].labels[row], (line - 1) % 2);
        }
    }
    cr_expect_eq(tap_tokenizer_n_tokens(data->tokenizer), 701, "learned from the training part alone");
    cr_expect_str_eq(row_text(data, TAP_PART_VALID, 0), "[UNK] ");
    cr_expect_null(data->files[TAP_PART_VALID].path);
    tap_data_free(data);
}

static void expect_same_data(const struct tap_data *a, const struct tap_data *b)
{
    cr_expect_eq(tap_tokenizer_n_tokens(a->tokenizer), tap_tokenizer_n_tokens(b->tokenizer));
    for (int part = 0; part < TAP_N_PARTS; part++) {
        const struct tap_dataset *x = &a->parts[part];
        const struct tap_dataset *y = &b->parts[part];
        cr_assert_eq(x->n_rows, y->n_rows);
        cr_assert_eq(x->n_tokens, y->n_tokens);
        if (x->n_rows == 0)
            continue;
        cr_expect_arr_eq(x->tokens, y->tokens, x->n_tokens * sizeof *x->tokens);
        cr_expect_arr_eq(x->offsets, y->offsets, (x->n_rows + 1) * sizeof *x->offsets);
        cr_expect_arr_eq(x->labels, y->labels, x->n_rows * sizeof *x->labels);
    }
}

Test(data, stored_tokenizer_and_labels_bring_the_same_data_back)
{
    struct tap_data_options options = fixture_data_options();
    options.train = numbered_file("train.tsv", 300, 3);
    options.test_fraction = 0.1;
    struct tap_data *data = open_data(&options);
    struct tap_data *again = tap_data_open(&options, data->tokenizer, data->labels, data->n_labels, &error);
    cr_assert_not_null(again, "%s", error.message);
    cr_expect_eq(again->tokenizer, data->tokenizer);
    expect_same_data(data, again);
    tap_data_free(again);
    const char *other[] = {"a", "b"};
    cr_expect_null(tap_data_open(&options, data->tokenizer, other, 2, &error));
    cr_expect_not_null(
        strstr(error.message, "train.tsv:3: the label 'c' does not occur in the training data; known: 'a', 'b'"), "%s",
        error.message);
    tap_error_clear(&error);
    const char *twice[] = {"a", "b", "a"};
    cr_expect_null(tap_data_open(&options, data->tokenizer, twice, 3, &error));
    cr_expect_not_null(strstr(error.message, "'a' is there twice"));
    tap_data_free(data);
}

Test(data, byte_order_mark_and_line_ends_change_nothing)
{
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0.25;
    options.train = fixture_text("a.tsv", "a\tone\nb\ttwo\na\tthree\nb\tfour\na\tfive\n");
    struct tap_data *plain = open_data(&options);
    options.train = fixture_text("b.tsv", "\xEF\xBB\xBF"
                                          "a\tone\r\nb\ttwo\r\na\tthree\r\nb\tfour\r\na\tfive");
    struct tap_data *odd = open_data(&options);
    expect_same_data(plain, odd);
    cr_expect_str_neq(plain->files[0].hash, odd->files[0].hash);
    tap_data_free(plain);
    tap_data_free(odd);
}

Test(data, labels_of_the_other_files_must_be_known)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "ham\tx\nspam\ty\n");
    options.valid = fixture_text("valid.tsv", "ham\tx\nSpam\ty\n");
    expect_refusal(&options, "valid.tsv:2: the label 'Spam' does not occur in the training data; known: 'ham', 'spam'");
    options.valid = "";
    options.valid_fraction = 0;
    options.test = fixture_text("test.tsv", "eggs\tx\n");
    expect_refusal(&options, "test.tsv:1: the label 'eggs'");
    options.test = fixture_text("test.tsv", "ham\tx\n");
    struct tap_data *data = open_data(&options);
    cr_assert_not_null(data, "a label missing there is fine: %s", error.message);
    cr_expect_eq(data->parts[TAP_PART_VALID].n_rows, 0);
    tap_data_free(data);
}

Test(data, an_unknown_label_of_a_folder_is_told_with_its_file)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "ham\tx\nspam\ty\n");
    cr_assert_eq(mkdir(fixture_path("set"), 0700), 0);
    fixture_text("set/eggs.txt", "x\n");
    fixture_text("set/ham.txt", "x\ny\n");
    fixture_text("set/spam.txt", "y\n");
    options.test = fixture_path("set");
    expect_refusal(&options,
                   "set/eggs.txt:1: the label 'eggs' does not occur in the training data; known: 'ham', 'spam'");
}

Test(data, the_label_of_a_stored_model_that_a_task_lacks_is_told_with_the_task)
{
    struct tap_data_options options = fixture_data_options();
    options.task = "order";
    struct tap_data *data = open_data(&options);
    const char *other[] = {"hunter", "quarry"};
    cr_expect_null(tap_data_open(&options, data->tokenizer, other, 2, &error));
    cr_expect(strncmp(error.message, "order:", 6) == 0 && strstr(error.message, ": the label 'prey' ") != NULL, "%s",
              error.message);
    tap_data_free(data);
}

Test(data, one_label_is_not_enough)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "ham\tx\nham\ty\n");
    expect_refusal(&options, "train.tsv: every row has the label 'ham'; at least two labels are needed");
}

Test(data, contradictory_sources_are_refused)
{
    struct tap_data_options options = fixture_data_options();
    expect_refusal(&options, "data.train: names no file");
    options.train = NULL;
    options.task = NULL;
    expect_refusal(&options, "data.train: names no file");
    options.task = "order";
    options.test = "x.tsv";
    expect_refusal(&options, "one or the other");
    options = fixture_data_options();
    options.train = "-";
    options.valid = "-";
    expect_refusal(&options, "only one of them can be standard input");
    options = fixture_data_options();
    options.task = "chaos";
    expect_refusal(&options, "data.task: 'chaos' is unknown; accepted: 'order'");
}

Test(data, bad_options_reach_the_caller)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "ham\tx\nspam\ty\n");
    options.valid_fraction = 1.5;
    expect_refusal(&options, "data.valid_fraction: 1.5");
    options.valid_fraction = 0.1;
    options.tokenizer = "bpe";
    expect_refusal(&options, "data.tokenizer: 'bpe' is unknown");
    options.tokenizer = "word";
    options.encoding = "ebcdic";
    expect_refusal(&options, "data.encoding: 'ebcdic' is unknown");
    options.encoding = "utf-8";
    options.train = fixture_path("none.tsv");
    expect_refusal(&options, "none.tsv: cannot open");
}

Test(data, rows_are_the_same_whatever_their_format)
{
    const struct {
        const char *name, *format, *text;
    } cases[] = {
        {"in.tsv", "auto", "A:x\tOne, two caf\xE9\nB\tthree four\nA:y\tfive one\n"},
        {"in.csv", "auto", "A:x,\"One, two caf\xE9\"\r\nB,three four\r\nA:y,five one"},
        {"in.jsonl", "auto",
         "{\"label\":\"A:x\",\"text\":\"One, two caf\\u00e9\"}\n{\"text\":\"three four\",\"label\":\"B\"}\n"
         "{\"label\":\"A:y\",\"text\":\"five one\"}\n"},
        {"in.ft", "auto", "__label__A:x One, two caf\xE9\n__label__B three four\n__label__A:y five one\n"},
        {"in", "space", "A:x One, two caf\xE9\nB three four\nA:y five one\n"},
    };
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0;
    options.encoding = "cp1252";
    options.label_prefix_end = ":";
    struct tap_data *first = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.format = cases[i].format;
        options.train = fixture_text(cases[i].name, cases[i].text);
        struct tap_data *data = open_data(&options);
        if (first == NULL)
            first = data;
        const struct tap_dataset *a = &first->parts[TAP_PART_TRAIN];
        const struct tap_dataset *b = &data->parts[TAP_PART_TRAIN];
        cr_assert_eq(b->n_rows, 3);
        cr_assert_eq(data->n_labels, 2);
        cr_expect_str_eq(data->labels[0], "A");
        cr_assert_eq(b->n_tokens, a->n_tokens);
        cr_expect_arr_eq(b->tokens, a->tokens, a->n_tokens * sizeof *a->tokens, "%s", cases[i].name);
        cr_expect_arr_eq(b->labels, a->labels, a->n_rows * sizeof *a->labels, "%s", cases[i].name);
        if (data != first)
            tap_data_free(data);
    }
    tap_data_free(first);
}

Test(data, a_file_is_read_for_evaluation)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "ham\tx y\nspam\tz\n");
    options.valid_fraction = 0;
    struct tap_data *data = open_data(&options);
    struct tap_read_options read_options = tap_data_read_options(&options);
    struct tap_dataset dataset = {0};
    const char *path = fixture_text("new.tsv", "spam\tz y\nspam\t\n");
    cr_assert_eq(tap_dataset_read(path, &read_options, data->tokenizer, data->labels, data->n_labels, &dataset, &error),
                 TAP_OK);
    cr_expect_eq(dataset.n_rows, 2);
    cr_expect_eq(dataset.label_counts[0], 0);
    cr_expect_eq(dataset.label_counts[1], 2);
    cr_expect_eq(dataset.n_tokens, 3);
    cr_expect_eq(dataset.tokens[2], TAP_TOKEN_UNKNOWN);
    tap_dataset_clear(&dataset);
    path = fixture_text("new.tsv", "spam\tz\nhum\tx\n");
    cr_expect_eq(tap_dataset_read(path, &read_options, data->tokenizer, data->labels, data->n_labels, &dataset, &error),
                 TAP_ERR_VALUE);
    cr_expect_not_null(strstr(error.message, "new.tsv:2: the label 'hum'"));
    cr_expect_eq(dataset.n_rows, 0, "nothing is written");
    tap_data_free(data);
}

/* A part's texts and those that its tokens spell. */
static void expect_kept(const struct tap_data *data, enum tap_part part)
{
    const struct tap_row_choice *choice = &data->rows[part];
    uint32_t row = 0;
    for (uint32_t i = 0; choice->rows != NULL && i < choice->rows->n; i++) {
        size_t n_bytes;
        if (!tap_row_is_chosen(choice, i))
            continue;
        const char *text = tap_rows_text(choice->rows, i, &n_bytes);
        const char *tokens = row_text(data, part, row);
        cr_expect_eq(strlen(tokens), n_bytes + 1);
        cr_expect_eq(strncmp(text, tokens, n_bytes), 0, "part %d row %u: %s", part, (unsigned)row, tokens);
        cr_expect_eq(choice->rows->rows[i].line, data->parts[part].lines[row]);
        row++;
    }
    cr_expect_eq(row, data->parts[part].n_rows);
}

Test(data, rows_are_kept_when_asked_for)
{
    struct tap_data_options options = fixture_data_options();
    options.train =
        fixture_text("train.tsv", "a\tone\nb\ttwo\na\tthree\nb\tfour\na\tfive\nb\tsix\na\tseven\nb\teight\n");
    options.test = fixture_text("test.tsv", "b\tone two\na\tsix\n");
    options.valid_fraction = 0.5;
    struct tap_data *data = open_data(&options);
    for (int part = 0; part < TAP_N_PARTS; part++)
        cr_expect_null(data->rows[part].rows, "not asked for");
    tap_data_free(data);
    options.keep_rows = true;
    options.min_count = 1;
    data = open_data(&options);
    cr_assert_not_null(data, "%s", error.message);
    cr_assert_eq(data->parts[TAP_PART_VALID].n_rows, 4);
    expect_kept(data, TAP_PART_TRAIN);
    cr_assert_eq(data->rows[TAP_PART_TEST].rows->n, 2);
    cr_assert_eq(data->rows[TAP_PART_VALID].rows, data->rows[TAP_PART_TRAIN].rows);
    tap_data_free(data);
    options = fixture_data_options();
    options.task = "order";
    options.task_options.rows = 40;
    options.keep_rows = true;
    data = open_data(&options);
    cr_assert_not_null(data, "%s", error.message);
    cr_assert_eq(data->rows[TAP_PART_TRAIN].rows->n, 40);
    tap_data_free(data);
}

Test(data, every_failed_allocation_is_an_error)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "a\tone\nb\ttwo\nc\tthree\na\tfour\nb\tfive\nc\tsix\n");
    options.test = fixture_text("test.tsv", "a\tone\n");
    for (int round = 0; round < 4; round++) {
        uint64_t call = 1;
        options.keep_rows = round % 2 == 0;
        if (round == 2) {
            options = fixture_data_options();
            options.task = "order";
            options.task_options.rows = 40;
        }
        for (;; call++) {
            tap_error_clear(&error);
            tap_mem_fail_at(call, round % 2 != 0);
            struct tap_data *data = tap_data_open(&options, NULL, NULL, 0, &error);
            tap_mem_fail_at(0, false);
            if (data != NULL) {
                cr_assert_eq(error.status, TAP_OK);
                tap_data_free(data);
                break;
            }
            cr_assert_eq(error.status, TAP_ERR_MEMORY, "call %llu: %s", (unsigned long long)call, error.message);
            cr_assert_not_null(strstr(error.message, "out of memory"));
        }
        cr_expect_gt(call, 30);
    }
}

Test(data, the_sms_spam_collection_is_split_by_label)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_sms_spam();
    if (options.train == NULL)
        cr_skip_test("skipped: no sms_spam/SMSSpamCollection in TAPESTRY_DATA or ../shared/data");
    struct tap_data *data = open_data(&options);
    cr_assert_not_null(data, "%s", error.message);
    cr_expect_eq(data->parts[TAP_PART_TRAIN].n_rows + data->parts[TAP_PART_VALID].n_rows, 5574);
    cr_expect_eq(data->parts[TAP_PART_VALID].n_rows, 557);
    uint64_t n_spam = data->parts[TAP_PART_VALID].label_counts[1];
    cr_expect(n_spam == 74 || n_spam == 75, "a tenth of 747, not %llu", (unsigned long long)n_spam);
    tap_data_free(data);
}
