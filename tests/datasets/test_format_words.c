/* test_format_words.c: the formats in which a line's first word is its label: space and fasttext. */
#include "data_fixture.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

TestSuite(format_words, .fini = fixture_remove);

static struct tap_read_options options_of(const char *format)
{
    struct tap_read_options options = fixture_read_options();
    options.format = format;
    return options;
}

static void read_text(const char *format, const char *text)
{
    read_path(fixture_text("in.txt", text), options_of(format));
}

Test(format_words, one_space_parts_label_and_text)
{
    read_text("space", "1 a stirring , funny film\r\n0  two blanks \n0\tx y\n1\n1 ");
    expect_rows(5);
    expect_row(0, "1", "a stirring , funny film");
    expect_row(1, "0", " two blanks ");
    expect_row(2, "0\tx", "y");
    expect_row(3, "1", "");
    expect_row(4, "1", "");
    read_text("space", "1 x\n leading\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:2: the label is empty");
    read_text("space", "1 x\n\n1 y\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:2: an empty line");
}

Test(format_words, labels_end_at_the_prefix_end)
{
    struct tap_read_options options = options_of("space");
    options.label_prefix_end = ":";
    read_path(fixture_text("in.txt", "DESC:manner How did it : go ?\nENTY:a:b x\nHUM y\n"), options);
    expect_rows(3);
    expect_row(0, "DESC", "How did it : go ?");
    expect_row(1, "ENTY", "x");
    expect_row(2, "HUM", "y");
    read_path(fixture_text("in.txt", "A:b x\n:manner y\n"), options);
    expect_refusal(TAP_ERR_FORMAT, "in.txt:2: nothing is left of the label ':manner'");
    options.label_prefix_end = "::";
    read_path(fixture_text("in.txt", "A:b::c x\n"), options);
    expect_row(0, "A:b", "x");
    options.label_prefix_end = "";
    read_path(fixture_text("in.txt", "A:b::c x\n"), options);
    expect_row(0, "A:b::c", "x");
}

Test(format_words, labels_of_every_format_end_at_the_prefix_end)
{
    const struct {
        const char *name, *format, *text;
    } cases[] = {
        {"in.tsv", "auto", "A/b\tx\n"},
        {"in.csv", "auto", "A/b,x\n"},
        {"in.jsonl", "auto", "{\"label\":\"A/b\",\"text\":\"x\"}\n"},
        {"in.ft", "auto", "__label__A/b x\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tap_read_options options = options_of(cases[i].format);
        options.label_prefix_end = "/";
        read_path(fixture_text(cases[i].name, cases[i].text), options);
        expect_rows(1);
        expect_row(0, "A", "x");
    }
}

Test(format_words, fasttext_lines_begin_with_their_label)
{
    read_text("fasttext", "__label__a one two\n__label__b\tthree \r\n__label__c\n__label__d x__label__y\n");
    expect_rows(4);
    expect_row(0, "a", "one two");
    expect_row(1, "b", "three ");
    expect_row(2, "c", "");
    expect_row(3, "d", "x__label__y");
    cr_expect_eq(READ_NAMED("in.ft", "__label__a one\n"), TAP_OK);
}

Test(format_words, fasttext_lines_of_no_label_or_several_are_refused)
{
    read_text("fasttext", "__label__a x\none two\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:2: does not begin with __label__");
    read_text("fasttext", "__label__a x\none __label__b\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:2: does not begin with __label__");
    read_text("fasttext", "__label__a x\n__label__a __label__b one\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:2: a second label, '__label__b'; a row has one");
    read_text("fasttext", "__label__a one \t__label__b\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:1: a second label, '__label__b'; a row has one");
    read_text("fasttext", "__label__ one\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:1: the label is empty");
    read_text("fasttext", "__label__a x\n\n__label__a x\n");
    expect_refusal(TAP_ERR_FORMAT, "in.txt:2: an empty line");
}

Test(format_words, every_failed_allocation_is_an_error)
{
    expect_failed_allocations(fixture_text("in.txt", "a one\nb two\n"), options_of("space"));
    expect_failed_allocations(fixture_text("in.txt", "__label__a one\n__label__b two\n"), options_of("fasttext"));
}
