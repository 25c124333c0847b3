/* test_data_summary.c: what is counted of each part, on small data whose counts are known. */
#include "data.h"

#include "data_fixture.h"
#include "fnv.h"
#include "mem.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(data_summary, .fini = fixture_remove);

static struct tap_error error;
static struct tap_data *data;

static const struct tap_data_summary *summary_of(enum tap_part part)
{
    return &data->summaries[part];
}

static void open_data(const struct tap_data_options *options)
{
    tap_data_free(data);
    tap_error_clear(&error);
    data = tap_data_open(options, NULL, NULL, 0, &error);
    cr_assert_not_null(data, "%s", error.message);
}

/* Opens a training file without any other part. */
static void open_train(const char *name, const char *text)
{
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0;
    options.train = fixture_text(name, text);
    open_data(&options);
}

static void expect_texts(enum tap_part part, uint32_t n_duplicates, uint32_t n_conflicts, uint32_t n_in_train)
{
    const struct tap_data_summary *summary = summary_of(part);
    cr_expect_eq(summary->n_duplicates, n_duplicates, "part %d: %u duplicates", (int)part, summary->n_duplicates);
    cr_expect_eq(summary->n_conflicts, n_conflicts, "part %d: %u conflicts", (int)part, summary->n_conflicts);
    cr_expect_eq(summary->n_in_train, n_in_train, "part %d: %u in train", (int)part, summary->n_in_train);
}

Test(data_summary, repeated_texts_are_told_from_repeated_texts_with_another_label)
{
    open_train("in.tsv", "a\tone\nb\ttwo\na\tone\nb\tone\nb\tone\na\tthree\nb\ttwo\n");
    expect_texts(TAP_PART_TRAIN, 4, 2, 0);
}

Test(data_summary, the_label_of_the_first_row_with_a_text_is_the_one_compared)
{
    open_train("in.tsv", "a\tone\nb\tone\na\tone\nb\tone\n");
    expect_texts(TAP_PART_TRAIN, 3, 2, 0);
}

Test(data_summary, texts_are_the_same_when_every_byte_is)
{
    open_train("in.tsv", "a\tone\nb\tOne\na\tone \nb\t one\na\ton\nb\tone!\na\to ne\n");
    expect_texts(TAP_PART_TRAIN, 0, 0, 0);
    open_train("in.tsv", "a\t\nb\t \na\t\nb\t\n");
    expect_texts(TAP_PART_TRAIN, 2, 1, 0);
    /* composed and decomposed letters are different bytes */
    open_train("in.tsv", "a\t\xC3\xA9\nb\te\xCC\x81\n");
    expect_texts(TAP_PART_TRAIN, 0, 0, 0);
}

Test(data_summary, labels_are_compared_as_they_were_cut)
{
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0;
    options.label_prefix_end = ":";
    options.train = fixture_text("in.tsv", "a:x\tone\na:y\tone\nb:x\tone\nb:x\ttwo\n");
    open_data(&options);
    expect_texts(TAP_PART_TRAIN, 2, 1, 0);
}

Test(data_summary, rows_that_are_in_train_as_well_are_counted_whatever_their_label)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "a\tone\nb\ttwo\na\tthree\na\tone\n");
    options.valid = fixture_text("valid.tsv", "b\tfour\na\tone\nb\tone\nb\tfour\n");
    options.test = fixture_text("test.tsv", "a\tfive\nb\tfour\n");
    open_data(&options);
    expect_texts(TAP_PART_TRAIN, 1, 0, 0);
    expect_texts(TAP_PART_VALID, 2, 1, 2);
    expect_texts(TAP_PART_TEST, 0, 0, 0);
    cr_expect_eq(summary_of(TAP_PART_TEST)->n_in_valid, 1);
    cr_expect_eq(summary_of(TAP_PART_VALID)->n_in_valid, 0, "for the test part alone");
}

Test(data_summary, parts_cut_from_one_file_are_compared_as_parts)
{
    enum { N = 300 };
    static char text[N * 16];
    size_t n = 0;
    /* every text three times, always with the same label */
    for (int row = 0; row < N; row++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%c\tw%d\n", 'a' + row % N / 3 % 2, row / 3);
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0.2;
    options.test_fraction = 0.3;
    options.train = fixture_text("in.tsv", text);
    open_data(&options);
    int counts[TAP_N_PARTS][N / 3] = {{0}};
    for (int part = 0; part < TAP_N_PARTS; part++)
        for (uint32_t row = 0; row < data->parts[part].n_rows; row++)
            counts[part][(data->parts[part].lines[row] - 1) / 3]++;
    uint32_t n_found = 0;
    for (int part = 0; part < TAP_N_PARTS; part++) {
        uint32_t n_duplicates = 0;
        uint32_t n_in_train = 0;
        for (int i = 0; i < N / 3; i++) {
            n_duplicates += counts[part][i] > 1 ? (uint32_t)counts[part][i] - 1 : 0;
            n_in_train += part != TAP_PART_TRAIN && counts[TAP_PART_TRAIN][i] > 0 ? (uint32_t)counts[part][i] : 0;
        }
        expect_texts((enum tap_part)part, n_duplicates, 0, n_in_train);
        n_found += n_duplicates + n_in_train;
    }
    cr_expect_gt(n_found, 100);
}

Test(data_summary, many_distinct_texts_are_all_distinct)
{
    enum { N = 20000 };
    static char text[N * 10];
    size_t n = 0;
    for (int row = 0; row < N; row++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%c\t%x\n", 'a' + row % 2, row < N - 5 ? row : row - N + 5);
    open_train("in.tsv", text);
    expect_texts(TAP_PART_TRAIN, 5, 5, 0);
}

Test(data_summary, equal_hashes_alone_make_no_equal_texts)
{
    static const char *const texts[] = {"y2lB7>_!7dI", "ic1`,b\"1xdp"};
    cr_assert_eq(tap_fnv(TAP_FNV_START, texts[0], 11), tap_fnv(TAP_FNV_START, texts[1], 11));
    struct tap_data_options options = fixture_data_options();
    static char text[100];
    snprintf(text, sizeof text, "a\t%s\nb\t%s\nb\t%s\n", texts[0], texts[1], texts[1]);
    options.train = fixture_text("train.tsv", text);
    snprintf(text, sizeof text, "a\t%s\nb\tx\n", texts[0]);
    options.valid = fixture_text("valid.tsv", text);
    options.test = fixture_text("test.tsv", "a\tic1`,b\"1xdq\n");
    open_data(&options);
    expect_texts(TAP_PART_TRAIN, 1, 0, 0);
    expect_texts(TAP_PART_VALID, 0, 0, 1);
    expect_texts(TAP_PART_TEST, 0, 0, 0);
    snprintf(text, sizeof text, "a\t%s\nb\tx\n", texts[0]);
    options.train = fixture_text("train.tsv", text);
    snprintf(text, sizeof text, "a\t%s\n", texts[1]);
    options.valid = fixture_text("valid.tsv", text);
    open_data(&options);
    expect_texts(TAP_PART_VALID, 0, 0, 0);
}

static void expect_lengths(enum tap_part part, uint32_t n_bins, const uint32_t *bins, uint32_t shortest,
                           uint32_t median)
{
    const struct tap_data_summary *summary = summary_of(part);
    cr_assert_eq(summary->n_lengths, n_bins, "%u bins", summary->n_lengths);
    for (uint32_t bin = 0; bin < n_bins; bin++)
        cr_expect_eq(summary->lengths[bin], bins[bin], "bin %u: %u", bin, summary->lengths[bin]);
    cr_expect_eq(summary->shortest, shortest, "%u", summary->shortest);
    cr_expect_eq(summary->median, median, "%u", summary->median);
}

Test(data_summary, lengths_are_binned_by_powers_of_two)
{
    static char text[4096];
    size_t n = 0;
    for (int length = 1; length <= 17; length++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%c\t", 'a' + length % 2);
        for (int i = 0; i < length; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "w ");
        text[n++] = '\n';
    }
    open_train("in.tsv", text);
    expect_lengths(TAP_PART_TRAIN, 6, (const uint32_t[]){1, 1, 2, 4, 8, 1}, 1, 9);
    expect_lengths(TAP_PART_VALID, 0, NULL, 0, 0);
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0;
    options.train = fixture_path("in.tsv");
    options.max_length = 4;
    open_data(&options);
    expect_lengths(TAP_PART_TRAIN, 3, (const uint32_t[]){1, 1, 15}, 1, 4);
    options.add_cls = true;
    open_data(&options);
    expect_lengths(TAP_PART_TRAIN, 3, (const uint32_t[]){0, 1, 16}, 2, 4);
}

Test(data_summary, half_of_the_rows_have_at_most_the_median)
{
    open_train("in.tsv", "a\tw w w w w\nb\tw\n");
    expect_lengths(TAP_PART_TRAIN, 4, (const uint32_t[]){1, 0, 0, 1}, 1, 1);
    open_train("in.tsv", "a\tw w w w w\nb\tw\na\tw w w\n");
    expect_lengths(TAP_PART_TRAIN, 4, (const uint32_t[]){1, 0, 1, 1}, 1, 3);
    open_train("in.tsv", "a\tw w w\nb\tw w w\n");
    expect_lengths(TAP_PART_TRAIN, 3, (const uint32_t[]){0, 0, 2}, 3, 3);
}

Test(data_summary, unknown_tokens_are_those_that_the_vocabulary_lacks)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "a\tone two one\nb\ttwo three\nb\t\n");
    options.valid = fixture_text("valid.tsv", "a\tone four five\na\tfour [UNK]\n");
    options.min_count = 2;
    options.max_length = 4;
    open_data(&options);
    cr_expect_eq(summary_of(TAP_PART_TRAIN)->n_unknown_tokens, 2, "three, and the token of a text of none");
    cr_expect_eq(data->parts[TAP_PART_TRAIN].n_tokens, 6);
    cr_expect_eq(summary_of(TAP_PART_VALID)->n_unknown_tokens, 6, "[, UNK and ] are three words");
    options.tokenizer = "byte";
    options.max_length = 20;
    open_data(&options);
    cr_expect_eq(summary_of(TAP_PART_VALID)->n_unknown_tokens, 0);
}

/* The same four rows in each format: two replaced bytes in the first, one in the last; the third has the first one's text. */
static const struct {
    const char *name, *format, *text;
} replaced_cases[] = {
    {"in.tsv", "auto", "A\tx \xFF\xFE\nB\ty\nA\tx \xEF\xBF\xBD\xEF\xBF\xBD\nB\ty \xE9\n"},
    {"in.csv", "auto", "A,\"x\n\xFF\xFE\"\nB,y\nA,\"x\n\xEF\xBF\xBD\xEF\xBF\xBD\"\nB,y \xE9\n"},
    {"in.jsonl", "auto",
     "{\"label\":\"A\",\"text\":\"x \xFF\xFE\"}\n{\"label\":\"B\",\"text\":\"y\"}\n"
     "{\"label\":\"A\",\"text\":\"x \\ufffd\\ufffd\"}\n{\"label\":\"B\",\"text\":\"y \xE9\"}\n"},
    {"in.ft", "auto",
     "__label__A x \xFF\xFE\n__label__B y\n__label__A x \xEF\xBF\xBD\xEF\xBF\xBD\n__label__B y \xE9\n"},
    {"in", "space", "A x \xFF\xFE\nB y\nA x \xEF\xBF\xBD\xEF\xBF\xBD\nB y \xE9\n"},
};

Test(data_summary, replaced_bytes_are_those_of_the_rows_lines_in_every_format)
{
    for (size_t i = 0; i < sizeof replaced_cases / sizeof replaced_cases[0]; i++) {
        struct tap_data_options options = fixture_data_options();
        options.format = replaced_cases[i].format;
        options.bad_bytes = "replace";
        options.train = fixture_text(replaced_cases[i].name, replaced_cases[i].text);
        struct tap_read_options read_options = tap_data_read_options(&options);
        struct tap_rows *rows = tap_rows_new();
        cr_assert_eq(tap_read_rows(options.train, &read_options, rows, NULL, &error), TAP_OK, "%s", error.message);
        const uint32_t expected[] = {2, 0, 0, 1};
        cr_assert_eq(rows->n, 4);
        for (uint32_t row = 0; row < 4; row++)
            cr_expect_eq(rows->rows[row].n_replaced, expected[row], "%s, row %u: %u", replaced_cases[i].name, row,
                         rows->rows[row].n_replaced);
        tap_rows_free(rows);
        options.valid_fraction = 0;
        open_data(&options);
        cr_expect_eq(summary_of(TAP_PART_TRAIN)->n_replaced_bytes, 3, "%s", replaced_cases[i].name);
        /* U+FFFD that was there before is no replaced byte, but no different text either */
        expect_texts(TAP_PART_TRAIN, 1, 0, 0);
    }
}

Test(data_summary, replaced_bytes_count_for_the_part_of_their_row)
{
    static char text[4096];
    size_t n = 0;
    for (int row = 0; row < 100; row++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%c\t%d\x81%s\n", 'a' + row % 2, row,
                              row % 3 == 0 ? "\x81" : "");
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0.3;
    options.encoding = "cp1252";
    options.bad_bytes = "replace";
    options.train = fixture_text("in.tsv", text);
    options.test = fixture_text("test.tsv", "a\x8D\x81\tx\x81y\nb\tz\n");
    options.label_prefix_end = "\xEF\xBF\xBD";
    open_data(&options);
    uint64_t n_valid = 0;
    for (uint32_t row = 0; row < data->parts[TAP_PART_VALID].n_rows; row++)
        n_valid += (data->parts[TAP_PART_VALID].lines[row] - 1) % 3 == 0 ? 2 : 1;
    cr_expect_eq(summary_of(TAP_PART_VALID)->n_replaced_bytes, n_valid);
    cr_expect_eq(summary_of(TAP_PART_TRAIN)->n_replaced_bytes, 134 - n_valid);
    cr_expect_eq(summary_of(TAP_PART_TEST)->n_replaced_bytes, 3, "those of labels, too");
}

Test(data_summary, a_headers_replaced_bytes_count_for_the_first_row)
{
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0;
    options.header = "yes";
    options.bad_bytes = "replace";
    options.train = fixture_text("in.csv", "label,te\xFFxt\nA,x\nB,y\xFF\n");
    open_data(&options);
    cr_expect_eq(summary_of(TAP_PART_TRAIN)->n_replaced_bytes, 2);
}

Test(data_summary, a_folder_is_summed_over_its_files)
{
    struct tap_data_options options = fixture_data_options();
    cr_assert_eq(mkdir(fixture_path("set"), 0700), 0);
    cr_assert_eq(mkdir(fixture_path("test"), 0700), 0);
    fixture_text("set/ham.txt", "hello\xFF\nsee you\n");
    fixture_text("set/spam.txt", "buy now\nsee you\n\xFF\xFF\nsee you\n");
    fixture_text("test/ham.txt", "see you\nhello\xFF\xFF\n");
    options.train = fixture_path("set");
    options.test = fixture_path("test");
    options.valid_fraction = 0;
    options.bad_bytes = "replace";
    open_data(&options);
    expect_texts(TAP_PART_TRAIN, 2, 2, 0);
    expect_texts(TAP_PART_TEST, 0, 0, 1);
    cr_expect_eq(summary_of(TAP_PART_TRAIN)->n_replaced_bytes, 3);
    cr_expect_eq(summary_of(TAP_PART_TEST)->n_replaced_bytes, 2);
}

Test(data_summary, a_task_has_the_same_figures_as_a_file_of_its_rows)
{
    struct tap_data_options options = fixture_data_options();
    static char text[1 << 16];
    size_t n = 0;
    uint32_t group_size;
    options.valid_fraction = 0;
    options.task = "order";
    struct tap_rows *rows = tap_rows_new();
    cr_assert_eq(tap_task_make("order", &options.task_options, options.seed, rows, &group_size, &error), TAP_OK);
    for (uint32_t row = 0; row < rows->n; row++) {
        size_t n_bytes;
        const char *row_text = tap_rows_text(rows, row, &n_bytes);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\t%.*s\n", tap_rows_label(rows, row), (int)n_bytes,
                              row_text);
    }
    tap_rows_free(rows);
    open_data(&options);
    struct tap_data_summary summary = *summary_of(TAP_PART_TRAIN);
    expect_texts(TAP_PART_TRAIN, 0, 0, 0);
    open_train("order.tsv", text);
    cr_expect_gt(summary.median, 2);
    cr_expect_arr_eq(&summary, summary_of(TAP_PART_TRAIN), sizeof summary);
}

Test(data_summary, a_stored_tokenizer_gives_the_same_figures)
{
    struct tap_data_options options = fixture_data_options();
    options.train = fixture_text("train.tsv", "a\tone two\nb\tone\na\tone\n");
    options.valid = fixture_text("valid.tsv", "a\tone four\nb\tone\n");
    open_data(&options);
    struct tap_data *again = tap_data_open(&options, data->tokenizer, data->labels, data->n_labels, &error);
    cr_assert_not_null(again, "%s", error.message);
    cr_expect_arr_eq(again->summaries, data->summaries, sizeof data->summaries);
    cr_expect_eq(summary_of(TAP_PART_VALID)->n_unknown_tokens, 1);
    tap_data_free(again);
}

Test(data_summary, every_failed_allocation_is_an_error)
{
    struct tap_rows *rows = tap_rows_new();
    const char *labels[] = {"a", "b"};
    for (int row = 0; row < 3; row++)
        tap_rows_append(rows, labels[row % 2], 1, "text", 4, (uint64_t)row + 1, &error);
    struct tap_row_choice choice = {rows, NULL, 0};
    struct tap_row_choice choices[TAP_N_PARTS] = {choice, choice, choice};
    struct tap_tokenizer_options tokenizer_options = {
        .kind = "word", .min_count = 1, .max_vocab = 10, .max_length = 10};
    struct tap_tokenizer *tokenizer = tap_tokenizer_learn(&tokenizer_options, choice, &error);
    struct tap_dataset datasets[TAP_N_PARTS] = {0};
    for (int part = 0; part < 2; part++)
        tap_dataset_encode(choice, "rows", tokenizer, labels, 2, &datasets[part], &error);
    for (int persistent = 0; persistent < 2; persistent++) {
        struct tap_data_summary summaries[TAP_N_PARTS] = {0};
        uint64_t call = 1;
        for (;; call++) {
            tap_error_clear(&error);
            tap_mem_fail_at(call, persistent != 0);
            enum tap_status status = tap_data_summarize(choices, datasets, summaries, &error);
            tap_mem_fail_at(0, false);
            if (status == TAP_OK)
                break;
            cr_assert_eq(status, TAP_ERR_MEMORY, "%s", error.message);
            cr_assert_eq(summaries[TAP_PART_TRAIN].n_duplicates, 0, "written although it failed");
        }
        cr_expect_eq(call, 7, "three for each part that is there");
        cr_expect_eq(summaries[TAP_PART_VALID].n_in_train, 3);
    }
    for (int part = 0; part < 2; part++)
        tap_dataset_clear(&datasets[part]);
    tap_tokenizer_free(tokenizer);
    tap_rows_free(rows);
}
