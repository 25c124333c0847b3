/* test_format_tsv.c: label TAB text, with all the ways in which files are odd; and what is no such file. */
#include "data_fixture.h"
#include "formats.h"
#include "mem.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(format_tsv, .fini = fixture_remove);

static enum tap_status read_bytes(const char *bytes, size_t n_bytes)
{
    return read_path(fixture_file("in.tsv", bytes, n_bytes), fixture_read_options());
}

#define READ(text) read_bytes(text, sizeof(text) - 1)

Test(format_tsv, quotation_marks_are_text)
{
    READ("0\tapple\n1\t\"pear\n0\tplum \"x\"\n1\tfig\n0\t\"kiwi\" end\n1\t\"\"\n");
    cr_assert_eq(rows->n, 6);
    expect_row(1, "1", "\"pear");
    expect_row(4, "0", "\"kiwi\" end");
    expect_row(5, "1", "\"\"");
}

Test(format_tsv, words_that_look_like_values_stay_words)
{
    READ("NA\tnull\nnull\tNA\nNA\tNone\nNA\tnan\nNA\tN/A\nNA\tTRUE\nNA\t1e5\nNA\t007\n");
    cr_assert_eq(rows->n, 8);
    cr_expect_eq(rows->labels.n, 2);
    expect_row(0, "NA", "null");
    expect_row(7, "NA", "007");
}

Test(format_tsv, lines_end_at_newline_or_carriage_return_newline_alone)
{
    READ("a\tone\r\nb\tone\rtwo\na\tx\xE2\x80\xA8y\x0By\x0C\xC2\x85z\nb\tlast\r");
    cr_assert_eq(rows->n, 4);
    expect_row(0, "a", "one");
    expect_row(1, "b", "one\rtwo");
    expect_row(2, "a", "x\xE2\x80\xA8y\x0By\x0C\xC2\x85z");
    expect_row(3, "b", "last\r");
    cr_expect_eq(rows->rows[3].line, 4);
}

Test(format_tsv, a_last_line_without_newline_is_a_row)
{
    READ("a\tone\nb\ttwo");
    cr_assert_eq(rows->n, 2);
    expect_row(1, "b", "two");
}

Test(format_tsv, byte_order_mark_is_dropped_at_the_start_alone)
{
    READ("\xEF\xBB\xBF"
         "a\tone\nb\t\xEF\xBB\xBFtwo\n");
    expect_row(0, "a", "one");
    expect_row(1, "b", "\xEF\xBB\xBFtwo");
    READ("\xEF\xBB\xBF\xEF\xBB\xBF"
         "a\tone\n");
    expect_row(0,
               "\xEF\xBB\xBF"
               "a",
               "one");
    READ("\xEF\xBB\xBF");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv: no rows");
}

Test(format_tsv, empty_texts_and_blanks_are_kept)
{
    READ("a\t\nb\t \nc\t\t\n");
    cr_assert_eq(rows->n, 3);
    expect_row(0, "a", "");
    expect_row(1, "b", " ");
    expect_row(2, "c", "");
}

Test(format_tsv, blanks_around_labels_are_kept)
{
    READ(" a \t x \n");
    expect_row(0, " a ", " x ");
}

Test(format_tsv, empty_labels_are_refused_with_their_line)
{
    READ("a\tone\n\ttwo\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: the label (column 1) is empty");
}

Test(format_tsv, a_missing_column_is_refused_with_its_line)
{
    READ("a\tone\nb two\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: 1 column, but data.text_column is 2");
    struct tap_read_options options = fixture_read_options();
    options.label_column = "4";
    read_path(fixture_text("in.tsv", "a\tone\n"), options);
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:1: 2 columns, but data.label_column is 4");
}

Test(format_tsv, empty_lines_are_passed_over_at_the_end_alone)
{
    READ("a\tone\nb\ttwo\n\n\r\n\n");
    cr_expect_eq(rows->n, 2);
    READ("a\tone\n\n\nb\ttwo\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: an empty line");
    READ("\na\tone\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:1: an empty line");
    READ("\n\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv: no rows");
}

Test(format_tsv, empty_files_are_refused)
{
    READ("");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv: no rows: the file is empty");
}

Test(format_tsv, nul_bytes_are_refused_with_their_line)
{
    READ("a\tone\nb\tt\0wo\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: a NUL byte");
    READ("a\0\t\0o\0\n\0");
    expect_refusal(TAP_ERR_FORMAT, "UTF-16?");
}

Test(format_tsv, invalid_utf8_is_refused_with_line_and_byte)
{
    READ("a\tone\nb\tcaf\xE9\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:2: byte 6 of the line (0xE9) is not UTF-8");
    READ("a\tcut \xE4\xB8");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:1: byte 7 of the line (0xE4)");
    READ("a\t\xED\xA0\x80\n");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:1: byte 3");
}

Test(format_tsv, what_is_no_text_is_refused_by_name)
{
    const struct {
        const char *bytes;
        size_t n_bytes;
        const char *words;
    } cases[] = {
        {"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16, "a PNG image"},
        {"\xFF\xFE"
         "a\0\t\0",
         6, "UTF-16"},
        {"\xFE\xFF\0a\0\t", 6, "UTF-16"},
        {"\xFF\xFE\0\0a\0\0\0", 8, "UTF-32"},
        {"PK\x03\x04zipzip", 10, "a zip archive"},
        {"BZh91AY&SYxx", 12, "bzip2"},
        {"\xFD"
         "7zXZ\0\0",
         7, "xz data"},
        {"\x28\xB5\x2F\xFD\x04", 5, "zstd"},
        {"%PDF-1.7\n", 9, "a PDF"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        read_bytes(cases[i].bytes, cases[i].n_bytes);
        expect_refusal(TAP_ERR_FORMAT, cases[i].words);
        expect_refusal(TAP_ERR_FORMAT, "in.tsv: ");
        expect_refusal(TAP_ERR_FORMAT, "UTF-8 text is needed");
    }
    READ("BZh9\tno archive, but a text\n");
    expect_row(0, "BZh9", "no archive, but a text");
}

Test(format_tsv, folders_and_missing_files_are_refused)
{
    const char *folder = fixture_path("folder.tsv");
    cr_assert_eq(mkdir(folder, 0700), 0);
    read_path(folder, fixture_read_options());
    expect_refusal(TAP_ERR_FORMAT, "folder.tsv: no files; a file for each class is needed");
    struct tap_read_options options = fixture_read_options();
    options.format = "tsv";
    read_path(folder, options);
    expect_refusal(TAP_ERR_FORMAT, "folder.tsv: is a folder");
    read_path(fixture_path("none.tsv"), options);
    expect_refusal(TAP_ERR_IO, "none.tsv: cannot open: No such file or directory");
}

Test(format_tsv, auto_goes_by_the_ending)
{
    const char *text = "a\t\"one\" and more\n";
    const char *read[] = {"x.tsv", "x.TSV", "x.txt", "x", "x.data", ".tsv", "x.csv/y", "x.tsv.gz", "x.gz", ".gz"};
    const char *refused[] = {"x.csv", "x.CSV", "x.csv.gz", "x.jsonl", "x.json", "x.ndjson", "x.JSONL.GZ", "x.ft"};
    mkdir(fixture_path("x.csv"), 0700);
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        read_path(fixture_text(read[i], text), fixture_read_options());
        cr_expect_eq(read_error.status, TAP_OK, "%s: %s", read[i], read_error.message);
    }
    unlink(fixture_path("x.csv/y"));
    rmdir(fixture_path("x.csv"));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct tap_read_options options = fixture_read_options();
        const char *path = fixture_text(refused[i], text);
        cr_expect_eq(read_path(path, options), TAP_ERR_FORMAT, "%s: of another format, where this is no row",
                     refused[i]);
        options.format = "tsv";
        cr_expect_eq(read_path(path, options), TAP_OK, "%s: %s", refused[i], read_error.message);
    }
}

Test(format_tsv, formats_are_refused_by_name)
{
    struct tap_read_options options = fixture_read_options();
    const char *path = fixture_text("in.tsv", "a\tone\n");
    options.format = "xls";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE,
                   "data.format: 'xls' is unknown; accepted: auto, tsv, csv, jsonl, fasttext, space, folder");
}

Test(format_tsv, columns_are_chosen_by_number)
{
    struct tap_read_options options = fixture_read_options();
    options.label_column = "3";
    options.text_column = "1";
    read_path(fixture_text("in.tsv", "one\tx\ta\ty\ntwo\tx\tb\n"), options);
    cr_assert_eq(rows->n, 2);
    expect_row(0, "a", "one");
    expect_row(1, "b", "two");
}

Test(format_tsv, columns_are_chosen_by_name)
{
    struct tap_read_options options = fixture_read_options();
    const char *path = fixture_text("in.tsv", "\xEF\xBB\xBFkind\tid\twords\r\na\t1\tone\r\nb\t2\ttwo\r\n");
    options.label_column = "kind";
    options.text_column = "words";
    read_path(path, options);
    cr_assert_eq(rows->n, 2);
    expect_row(0, "a", "one");
    expect_row(1, "b", "two");
    cr_expect_eq(rows->rows[0].line, 2);
    options.text_column = "3";
    cr_expect_eq(read_path(path, options), TAP_OK, "one by name, one by number");
    options.label_column = "class";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE, "in.tsv:1: data.label_column: no column of the header is named 'class'");
    options.label_column = "words";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE, "in.tsv:1: data.label_column and data.text_column are both column 3");
    options.label_column = "kind";
    options.text_column = "9";
    read_path(path, options);
    expect_refusal(TAP_ERR_FORMAT, "in.tsv:1: 3 columns in the header, but data.text_column is 9");
    options.text_column = "2";
    read_path(fixture_text("in.tsv", "kind\tx\tkind\na\tb\tc\n"), options);
    expect_refusal(TAP_ERR_VALUE, "in.tsv:1: data.label_column: columns 1 and 3 are both named 'kind'");
}

Test(format_tsv, header_yes_no_and_auto)
{
    struct tap_read_options options = fixture_read_options();
    const char *path = fixture_text("in.tsv", "label\ttext\na\tone\n");
    read_path(path, options);
    cr_expect_eq(rows->n, 2, "auto with numbers: the first line is a row");
    options.header = "no";
    read_path(path, options);
    cr_expect_eq(rows->n, 2);
    options.header = "yes";
    read_path(path, options);
    cr_assert_eq(rows->n, 1);
    expect_row(0, "a", "one");
    read_path(fixture_text("in.tsv", "label\ttext\n"), options);
    expect_refusal(TAP_ERR_FORMAT, "in.tsv: no rows");
    options.header = "maybe";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE, "data.header: 'maybe'; accepted: auto, yes, no");
    options.header = "no";
    options.text_column = "text";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE, "data.text_column: is given by name ('text'), but data.header is no");
}

Test(format_tsv, impossible_columns_are_refused)
{
    const char *bad[] = {"0", "000", "1000001", "99999999999999999999999999", ""};
    const char *path = fixture_text("in.tsv", "a\tone\n");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tap_read_options options = fixture_read_options();
        options.label_column = bad[i];
        read_path(path, options);
        expect_refusal(TAP_ERR_VALUE, "data.label_column: ");
    }
    struct tap_read_options options = fixture_read_options();
    options.label_column = "02";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE, "data.label_column: is the same as data.text_column");
}

Test(format_tsv, lines_up_to_the_limit_are_read)
{
    size_t n_bytes = TAP_LINE_MAX_BYTES + 16;
    char *bytes = tap_mem_new(n_bytes, 1);
    cr_assert_not_null(bytes);
    for (int with_end = 0; with_end < 3; with_end++) { /* no end, \n, \r\n */
        const char *end = with_end == 0 ? "" : with_end == 1 ? "\n" : "\r\n";
        memset(bytes, 'x', n_bytes);
        bytes[1] = '\t';
        memcpy(bytes + TAP_LINE_MAX_BYTES, end, strlen(end));
        read_bytes(bytes, TAP_LINE_MAX_BYTES + strlen(end));
        cr_assert_eq(read_error.status, TAP_OK, "%s", read_error.message);
        cr_assert_eq(rows->n_pool_bytes, TAP_LINE_MAX_BYTES - 2);
        memset(bytes, 'x', n_bytes);
        bytes[1] = '\t';
        memcpy(bytes + TAP_LINE_MAX_BYTES + 1, end, strlen(end));
        read_bytes(bytes, TAP_LINE_MAX_BYTES + 1 + strlen(end));
        expect_refusal(TAP_ERR_VALUE, "in.tsv:1: a line of more than 16777216 bytes");
    }
    tap_mem_free(bytes);
}

Test(format_tsv, lines_across_buffer_edges_are_whole)
{
    /* rows of every length near the size of the read buffer, so that each kind of edge falls on one */
    enum { n_rows = 40 };
    size_t n = 0;
    char *bytes = tap_mem_new((size_t)n_rows * 70000, 1);
    for (int row = 0; row < n_rows; row++) {
        size_t length = 65536 - 20 + (size_t)row;
        bytes[n++] = (char)('a' + row % 2);
        bytes[n++] = '\t';
        memset(bytes + n, '0' + row % 10, length);
        n += length;
        bytes[n++] = '\r';
        bytes[n++] = '\n';
    }
    read_bytes(bytes, n);
    cr_assert_eq(rows->n, n_rows, "%s", read_error.message);
    for (uint32_t row = 0; row < n_rows; row++) {
        size_t length;
        const char *text = tap_rows_text(rows, row, &length);
        cr_assert_eq(length, 65536 - 20 + (size_t)row);
        for (size_t i = 0; i < length; i++)
            cr_assert_eq(text[i], (char)('0' + row % 10));
    }
    tap_mem_free(bytes);
}

Test(format_tsv, standard_input_is_a_file_too)
{
    int descriptor = open(fixture_text("in.tsv", "a\tone\nb\n"), O_RDONLY);
    cr_assert_eq(dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
    read_path("-", fixture_read_options());
    expect_refusal(TAP_ERR_FORMAT, "standard input:2: 1 column");
}

Test(format_tsv, fingerprints_tell_files_apart)
{
    struct tap_read_options options = fixture_read_options();
    struct tap_fingerprint fingerprint;
    const char *path = fixture_text("in.tsv", "\xEF\xBB\xBF"
                                              "a\tone\r\n");
    rows = tap_rows_new();
    cr_assert_eq(tap_read_rows(path, &options, rows, &fingerprint, &read_error), TAP_OK);
    cr_expect_str_eq(fingerprint.path, path);
    cr_expect_eq(fingerprint.n_bytes, 10, "all bytes count");
    cr_expect_eq(strlen(fingerprint.hash), 16);
    char first[17];
    strcpy(first, fingerprint.hash);
    tap_fingerprint_clear(&fingerprint);
    path = fixture_text("in.tsv", "\xEF\xBB\xBF"
                                  "a\tOne\r\n");
    cr_assert_eq(tap_read_rows(path, &options, rows, &fingerprint, &read_error), TAP_OK);
    cr_expect_str_neq(fingerprint.hash, first);
    tap_fingerprint_clear(&fingerprint);
}

Test(format_tsv, every_failed_allocation_is_an_error)
{
    const char *path = fixture_text("in.tsv", "kind\twords\na\tone\nb\ttwo\nc\tthree\n");
    struct tap_read_options options = fixture_read_options();
    options.label_column = "kind";
    options.text_column = "words";
    expect_failed_allocations(path, options);
}

Test(format_tsv, the_sms_spam_collection_reads_as_published)
{
    const char *path = fixture_sms_spam();
    if (path == NULL)
        cr_skip_test("skipped: no sms_spam/SMSSpamCollection in TAPESTRY_DATA or ../shared/data");
    read_path(path, fixture_read_options());
    cr_assert_eq(read_error.status, TAP_OK, "%s", read_error.message);
    uint32_t n_of[2] = {0, 0};
    cr_assert_eq(rows->labels.n, 2);
    for (uint32_t row = 0; row < rows->n; row++)
        n_of[strcmp(tap_rows_label(rows, row), "spam") == 0]++;
    cr_expect_eq(rows->n, 5574);
    cr_expect_eq(n_of[0], 4827);
    cr_expect_eq(n_of[1], 747);
}
