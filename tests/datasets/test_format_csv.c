/* test_format_csv.c: RFC 4180, and what it leaves open. */
#include "data_fixture.h"
#include "mem.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

TestSuite(format_csv, .fini = fixture_remove);

#define READ(text) READ_NAMED("in.csv", text)

static void read_named_columns(const char *path, const char *label, const char *text)
{
    struct tap_read_options options = fixture_read_options();
    options.label_column = label;
    options.text_column = text;
    read_path(path, options);
}

Test(format_csv, quotes_separators_and_line_ends_within_fields_are_text)
{
    READ("a,one\nb,\"two, three\"\na,\"say \"\"hi\"\"\"\nb,\"x\ny\r\nz\"\na,\"\"\nb,\"\"\"\"\na,\"\"\"q\"\"\"\n");
    expect_rows(7);
    expect_row(0, "a", "one");
    expect_row(1, "b", "two, three");
    expect_row(2, "a", "say \"hi\"");
    expect_row(3, "b", "x\ny\r\nz");
    expect_row(4, "a", "");
    expect_row(5, "b", "\"");
    expect_row(6, "a", "\"q\"");
}

Test(format_csv, records_are_named_by_the_line_on_which_they_start)
{
    READ("a,\"one\n\n\"\nb,two\na,\"x\r\ny\"\r\nb,z");
    expect_rows(4);
    cr_expect_eq(rows->rows[0].line, 1);
    cr_expect_eq(rows->rows[1].line, 4);
    cr_expect_eq(rows->rows[2].line, 5);
    cr_expect_eq(rows->rows[3].line, 7);
}

Test(format_csv, carriage_return_newline_ends_a_record_and_a_lone_one_is_text)
{
    READ("a,one\r\nb,\"two\"\r\na,x\ry\r\nb,last\r");
    expect_rows(4);
    expect_row(0, "a", "one");
    expect_row(1, "b", "two");
    expect_row(2, "a", "x\ry");
    expect_row(3, "b", "last\r");
}

Test(format_csv, a_last_record_without_newline_is_a_row)
{
    READ("a,one\nb,two");
    expect_rows(2);
    expect_row(1, "b", "two");
    READ("a,one\nb,\"t\nwo\"");
    expect_rows(2);
    expect_row(1, "b", "t\nwo");
    READ("a,one\nb,");
    expect_rows(2);
    expect_row(1, "b", "");
}

Test(format_csv, byte_order_mark_is_no_part_of_the_first_column)
{
    read_named_columns(fixture_text("in.csv", "\xEF\xBB\xBFlabel,text\na,\xEF\xBB\xBFone\n"), "label", "text");
    expect_rows(1);
    expect_row(0, "a", "\xEF\xBB\xBFone");
    READ("\xEF\xBB\xBF\"a\",one\n");
    expect_row(0, "a", "one");
    READ("\xEF\xBB\xBF");
    expect_refusal(TAP_ERR_FORMAT, "in.csv: no rows");
}

Test(format_csv, the_first_record_tells_the_separator)
{
    READ("a;one, two\nb;three, four\n");
    expect_rows(2);
    expect_row(1, "b", "three, four");
    READ("a\tone, two; three\nb\t\"four\tfive\"\n");
    expect_rows(2);
    expect_row(0, "a", "one, two; three");
    expect_row(1, "b", "four\tfive");
    READ("\"a;\tb\",one\nb,two; three\n");
    expect_rows(2);
    expect_row(0, "a;\tb", "one");
    READ("one\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:1: 1 column, but data.text_column is 2");
}

Test(format_csv, columns_are_chosen_by_name_and_number)
{
    const char *path = fixture_text("in.csv", "id,\"the text\",kind\r\n1,one,a\r\n2,two,b\r\n");
    read_named_columns(path, "kind", "the text");
    expect_rows(2);
    expect_row(0, "a", "one");
    expect_row(1, "b", "two");
    cr_expect_eq(rows->rows[0].line, 2);
    read_named_columns(path, "3", "2");
    expect_rows(3);
    read_named_columns(path, "class", "2");
    expect_refusal(TAP_ERR_VALUE, "in.csv:1: data.label_column: no column of the header is named 'class'");
    read_named_columns(path, "4", "2");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:1: 3 columns, but data.label_column is 4");
    struct tap_read_options options = fixture_read_options();
    options.header = "yes";
    read_path(path, options);
    expect_rows(2);
    expect_row(0, "1", "one");
    read_named_columns(fixture_text("in.csv", "\n\nx,kind,kind\na,b,c\n"), "kind", "x");
    expect_refusal(TAP_ERR_VALUE, "in.csv:3: data.label_column: columns 2 and 3 are both named 'kind'");
    options.header = "no";
    options.text_column = "text";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE, "data.text_column: is given by name ('text'), but data.header is no");
}

Test(format_csv, records_of_other_widths_are_refused_with_their_line)
{
    READ("a,one\nb,\"x\ny\"\na,two, three\n");
    expect_refusal(TAP_ERR_FORMAT,
                   "in.csv:4: 3 columns, but line 1 has 2; a field that holds a separator must be quoted");
    READ("a,one\nb\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: 1 column, but line 1 has 2");
    READ("a,one,\nb,two\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: 2 columns, but line 1 has 3");
}

Test(format_csv, stray_quotation_marks_are_refused_with_their_line)
{
    READ("a,one\nb,5\" screen\na,two\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: column 2: a quotation mark inside a field that is not quoted");
    READ("a,one\nb, \"two\"\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: column 2: a quotation mark inside a field that is not quoted");
    READ("a,one\nb,\"two\" three\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: column 2: text behind a closing quotation mark");
    READ("a,one\nb,\"two\n\na,three\n\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: column 2: a quotation mark opens and never closes");
    READ("\"");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:1: column 1: a quotation mark opens and never closes");
    READ("a,\"\"\"");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:1: column 2: a quotation mark opens and never closes");
}

Test(format_csv, empty_lines_are_passed_over_at_both_ends_alone)
{
    READ("\n\r\na,one\nb,two\n\n\r\n");
    expect_rows(2);
    cr_expect_eq(rows->rows[0].line, 3);
    READ("a,one\n\n\nb,two\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: an empty line");
    READ("\n\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv: no rows");
    READ("");
    expect_refusal(TAP_ERR_FORMAT, "in.csv: no rows: the file is empty");
}

Test(format_csv, empty_labels_are_refused_with_their_line)
{
    READ("a,one\n\"\",two\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: the label (column 1) is empty");
    READ(",,\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:1: the label (column 1) is empty");
}

Test(format_csv, bad_bytes_are_refused_with_their_physical_line)
{
    READ("a,one\nb,\"x\ncaf\xE9\"\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:3: byte 4 of the line (0xE9) is not UTF-8");
    READ("a,one\nb,\"x\ny\0\"\n");
    expect_refusal(TAP_ERR_FORMAT, "in.csv:3: a NUL byte");
}

Test(format_csv, words_that_look_like_values_stay_words)
{
    READ("NA,null\nnull,NA\nNA,007\n");
    expect_rows(3);
    expect_row(0, "NA", "null");
    expect_row(2, "NA", "007");
    cr_expect_eq(rows->labels.n, 2);
}

Test(format_csv, records_over_the_limit_are_refused)
{
    size_t n_bytes = TAP_LINE_MAX_BYTES + 4096;
    char *bytes = tap_mem_new(n_bytes, 1);
    cr_assert_not_null(bytes);
    memset(bytes, 'x', n_bytes);
    for (size_t i = 999; i < n_bytes; i += 1000)
        bytes[i] = '\n';
    memcpy(bytes, "a,one\nb,\"", 9);
    bytes[n_bytes - 1] = '"';
    read_named("in.csv", bytes, n_bytes);
    expect_refusal(TAP_ERR_FORMAT, "in.csv:2: column 2: a quotation mark opens and never closes");
    memcpy(bytes, "a,\"\n", 4);
    memset(bytes + 4, 'x', 1000);
    bytes[TAP_LINE_MAX_BYTES] = '\n';
    bytes[TAP_LINE_MAX_BYTES + 1] = '"';
    bytes[TAP_LINE_MAX_BYTES + 2] = '\n';
    read_named("in.csv", bytes, TAP_LINE_MAX_BYTES + 3);
    expect_refusal(TAP_ERR_VALUE, "in.csv:1: a record of more than 16777216 bytes");
    memmove(bytes + TAP_LINE_MAX_BYTES - 1, "\"\n", 2);
    read_named("in.csv", bytes, TAP_LINE_MAX_BYTES + 1);
    expect_rows(1);
    tap_mem_free(bytes);
}

Test(format_csv, every_failed_allocation_is_an_error)
{
    struct tap_read_options options = fixture_read_options();
    options.label_column = "kind";
    options.text_column = "text";
    expect_failed_allocations(fixture_text("in.csv", "kind,text\na,\"one\ntwo\"\nb,\"\"\"three\"\"\"\n"), options);
}

struct edge_case {
    const char *name, *label, *text; /* columns */
    uint32_t n_rows;
    const char *labels[3], *texts[3];
};

Test(format_csv, the_published_edge_cases_pass)
{
    static const struct edge_case cases[] = {
        {"comma_in_quotes.csv", "first", "city", 1, {"John"}, {"Anytown, WW"}},
        {"empty.csv", "a", "c", 2, {"1", "2"}, {"", "4"}},
        {"empty_crlf.csv", "a", "c", 2, {"1", "2"}, {"", "4"}},
        {"escaped_quotes.csv", "a", "b", 2, {"1", "3"}, {"ha \"ha\" ha", "4"}},
        {"json.csv", "key", "val", 1, {"1"}, {"{\"type\": \"Point\", \"coordinates\": [102.0, 0.5]}"}},
        {"newlines.csv", "b", "a", 3, {"2", "5", "8"}, {"1", "Once upon \na time", "7"}},
        {"newlines_crlf.csv", "b", "a", 3, {"2", "5", "8"}, {"1", "Once upon \r\na time", "7"}},
        {"quotes_and_newlines.csv", "a", "b", 2, {"1", "3"}, {"ha \n\"ha\" \nha", "4"}},
        {"simple.csv", "a", "c", 1, {"1"}, {"3"}},
        {"simple_crlf.csv", "a", "c", 1, {"1"}, {"3"}},
        {"utf8.csv", "a", "c", 2, {"1", "4"}, {"3", "\xCA\xA4"}},
        {"utf-8-bom-sample.csv", "A", "C", 1, {"X"}, {"Z"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "csv_edge_cases/csvs/%s", cases[i].name);
        const char *path = fixture_published(name);
        if (path == NULL)
            cr_skip_test("skipped: no csv_edge_cases in TAPESTRY_DATA or ../shared/data");
        read_named_columns(path, cases[i].label, cases[i].text);
        expect_rows(cases[i].n_rows);
        for (uint32_t row = 0; row < cases[i].n_rows; row++)
            expect_row(row, cases[i].labels[row], cases[i].texts[row]);
    }
}
