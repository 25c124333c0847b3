/* test_format_jsonl.c: one object a line. */
#include "data_fixture.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

#include <string.h>

TestSuite(format_jsonl, .fini = fixture_remove);

#define READ(text) READ_NAMED("in.jsonl", text)

Test(format_jsonl, label_and_text_are_the_default_keys)
{
    READ("{\"label\":\"a\",\"text\":\"one\"}\r\n{\"id\":{\"x\":[1,null]},\"text\":\"two\",\"label\":\"b\"}\n"
         "  { \"text\" : \"three\" , \"label\" : 7 }  ");
    expect_rows(3);
    expect_row(0, "a", "one");
    expect_row(1, "b", "two");
    expect_row(2, "7", "three");
    cr_expect_eq(rows->rows[2].line, 3);
}

Test(format_jsonl, keys_are_chosen_by_name)
{
    struct tap_read_options options = fixture_read_options();
    options.label_column = "kind";
    options.text_column = "3";
    const char *path = fixture_text("in.jsonl", "{\"kind\":\"a\",\"3\":\"one\"}\n");
    read_path(path, options);
    expect_rows(1);
    expect_row(0, "a", "one");
    options.text_column = "kind";
    read_path(path, options);
    expect_refusal(TAP_ERR_VALUE, "data.label_column: is the same as data.text_column: 'kind'");
    options.text_column = "body";
    read_path(path, options);
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:1: body is missing");
}

Test(format_jsonl, escapes_and_surrogate_pairs_are_read)
{
    READ("{\"label\":\"\\u0061\",\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"}\n");
    expect_rows(1);
    expect_row(0, "a", "\"\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80");
    READ("{\"label\":\"a\",\"text\":\"one\"}\n{\"label\":\"a\",\"text\":\"\\ud83d\"}\n");
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:2: no valid JSON");
    READ("{\"label\":\"a\",\"text\":\"\\ude00\\ud83d\"}\n");
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:1: no valid JSON");
    READ("{\"label\":\"a\",\"text\":\"\\u0000\"}\n");
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:1: no valid JSON");
}

Test(format_jsonl, integers_are_labels_by_their_digits)
{
    READ("{\"label\":0,\"text\":\"x\"}\n{\"label\":-5,\"text\":\"x\"}\n{\"label\":\"0\",\"text\":\"x\"}\n"
         "{\"label\":9223372036854775807,\"text\":\"x\"}\n");
    expect_rows(4);
    expect_row(0, "0", "x");
    expect_row(1, "-5", "x");
    expect_row(2, "0", "x");
    expect_row(3, "9223372036854775807", "x");
    cr_expect_eq(rows->labels.n, 3);
}

Test(format_jsonl, values_of_other_kinds_are_refused_with_their_line)
{
    const struct {
        const char *line, *words;
    } cases[] = {
        {"{\"label\":1.5,\"text\":\"x\"}", "in.jsonl:2: label is a real; it must be a text or an integer"},
        {"{\"label\":null,\"text\":\"x\"}", "in.jsonl:2: label is null; it must be a text or an integer"},
        {"{\"label\":true,\"text\":\"x\"}", "in.jsonl:2: label is true; it must be a text or an integer"},
        {"{\"label\":[1],\"text\":\"x\"}", "in.jsonl:2: label is an array; it must be a text or an integer"},
        {"{\"label\":\"a\",\"text\":null}", "in.jsonl:2: text is null; it must be a text"},
        {"{\"label\":\"a\",\"text\":7}", "in.jsonl:2: text is an integer; it must be a text"},
        {"{\"label\":\"a\",\"text\":true}", "in.jsonl:2: text is true; it must be a text"},
        {"{\"label\":\"a\"}", "in.jsonl:2: text is missing"},
        {"{\"text\":\"a\"}", "in.jsonl:2: label is missing"},
        {"{\"label\":\"\",\"text\":\"x\"}", "in.jsonl:2: the label is empty"},
        {"[\"a\",\"x\"]", "in.jsonl:2: the top level is an array; it must be an object"},
        {"{\"label\":\"a\",\"label\":\"b\",\"text\":\"x\"}", "in.jsonl:2: no valid JSON: duplicate object key"},
        {"{\"label\":\"a\",\"text\":\"x\",\"n\":NaN}", "in.jsonl:2: no valid JSON"},
        {"{\"label\":\"a\",\"text\":\"x\",\"n\":Infinity}", "in.jsonl:2: no valid JSON"},
        {"{\"label\":\"a\",\"text\":\"x\"} {}", "in.jsonl:2: no valid JSON"},
        {"{\"label\":\"a\",\"text\":\"x\"", "in.jsonl:2: no valid JSON"},
        {"{'label':'a','text':'x'}", "in.jsonl:2: no valid JSON"},
        {"\"a\"", "in.jsonl:2: no valid JSON"},
        {"label\ttext", "in.jsonl:2: no valid JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char bytes[256] = "{\"label\":\"a\",\"text\":\"x\"}\n";
        strcat(strcat(bytes, cases[i].line), "\n{}\n");
        read_path(fixture_text("in.jsonl", bytes), fixture_read_options());
        expect_refusal(TAP_ERR_FORMAT, cases[i].words);
    }
}

Test(format_jsonl, line_ends_and_marks_are_those_of_all_formats)
{
    READ("\xEF\xBB\xBF{\"label\":\"a\",\"text\":\"\xEF\xBB\xBFx\xEF\xBB\xBF\"}\n\n\r\n");
    expect_rows(1);
    expect_row(0, "a", "\xEF\xBB\xBFx\xEF\xBB\xBF");
    READ("{\"label\":\"a\",\"text\":\"x\"}\n\n{\"label\":\"a\",\"text\":\"x\"}\n");
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:2: an empty line");
    READ("{\"label\":\"a\",\n\"text\":\"x\"}\n");
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:1: no valid JSON");
    READ("{\"label\":\"a\",\"text\":\"x\"}\n{\"label\":\"a\",\"text\":\"caf\xE9\"}\n");
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:2: byte 25 of the line (0xE9) is not UTF-8");
    READ("{\"label\":\"a\",\"text\":\"x\0\"}\n");
    expect_refusal(TAP_ERR_FORMAT, "in.jsonl:1: a NUL byte");
}

Test(format_jsonl, every_failed_allocation_is_an_error)
{
    expect_failed_allocations(
        fixture_text("in.jsonl", "{\"label\":1,\"text\":\"one\"}\n{\"x\":[1.5],\"label\":\"b\",\"text\":\"two\\n\"}\n"),
        fixture_read_options());
}
