/* test_records.c: a table's records with all their columns, and what an input does before it waits. */
#include "records.h"

#include "data_fixture.h"
#include "mem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(records, .fini = fixture_remove);

/* All records as "line:bytes|field|field...;", or the error's message. */
static const char *dump(enum tap_record_kind kind, const char *bytes)
{
    static char text[4096];
    struct tap_error error = {0};
    struct tap_input input;
    struct tap_records records;
    struct tap_record record;
    size_t n = 0;
    text[0] = '\0';
    cr_assert_eq(tap_input_open(fixture_text("in", bytes), &input, &error), TAP_OK, "%s", error.message);
    tap_records_start(&records, &input, kind, true);
    while (tap_records_next(&records, &record, &error) == TAP_OK && !record.at_end) {
        cr_expect_eq(record.is_first, records.n_records == 1);
        n +=
            (size_t)snprintf(text + n, sizeof text - n, "%d:%.*s", (int)record.line, (int)record.n_bytes, record.bytes);
        for (size_t i = 0; i < record.n_fields; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "|%.*s", (int)record.fields[i].n_bytes,
                                  record.fields[i].bytes);
        n += (size_t)snprintf(text + n, sizeof text - n, "/%d;", (int)record.n_end_bytes);
    }
    tap_records_clear(&records);
    tap_input_close(&input);
    if (error.status != TAP_OK)
        snprintf(text + n, sizeof text - n, "%s", strstr(error.message, "in:"));
    return text;
}

Test(records, csv_is_given_as_it_stands_and_cut)
{
    cr_expect_str_eq(dump(TAP_RECORD_CSV, "\na,\"b \"\"c\"\"\"\r\n\"x\r\ny\",\nlast,\"\""),
                     "2:a,\"b \"\"c\"\"\"|a|b \"c\"/2;3:\"x\r\ny\",|x\r\ny|/1;5:last,\"\"|last|/0;");
    cr_expect_str_eq(dump(TAP_RECORD_CSV, "a;b\nc\n"), "1:a;b|a|b/1;in:2: 1 column, but line 1 has 2; a field that "
                                                       "holds a separator must be quoted");
    cr_expect_str_eq(dump(TAP_RECORD_CSV, "a\n\nb\n"), "1:a|a/1;in:2: an empty line; every line holds a row");
    cr_expect_str_eq(dump(TAP_RECORD_CSV, "a\n\n\n"), "1:a|a/1;");
    cr_expect_str_eq(dump(TAP_RECORD_CSV, "\n\n"), "");
}

Test(records, tsv_is_cut_at_every_tab)
{
    cr_expect_str_eq(dump(TAP_RECORD_TSV, "a\tb\t\r\n\t\n\"c\n\n"), "1:a\tb\t|a|b|/2;2:\t||/1;3:\"c|\"c/1;");
    cr_expect_str_eq(dump(TAP_RECORD_TSV, "a\n\nb\n"), "1:a|a/1;in:2: an empty line; every line holds a row");
}

Test(records, json_lines_have_members)
{
    struct tap_error error = {0};
    struct tap_input input;
    struct tap_records records;
    struct tap_record record;
    const char *text = NULL;
    char number[24];
    cr_assert_eq(tap_input_open(fixture_text("in", "{\"a\":\"x\",\"b\":7}\n[1]\n{\"a\"}\n"), &input, &error), TAP_OK);
    tap_records_start(&records, &input, TAP_RECORD_JSONL, true);
    cr_assert_eq(tap_records_next(&records, &record, &error), TAP_OK);
    cr_expect(record.n_fields == 0 && strncmp(record.bytes, "{\"a\":\"x\",\"b\":7}", record.n_bytes) == 0);
    cr_expect(tap_record_has(&record, "a") && !tap_record_has(&record, "c"));
    cr_assert_eq(tap_record_text(&record, "in", "a", &text, &error), TAP_OK);
    cr_expect_str_eq(text, "x");
    cr_assert_eq(tap_record_name(&record, "in", "b", number, &text, &error), TAP_OK);
    cr_expect_str_eq(text, "7");
    cr_expect_eq(tap_record_text(&record, "in", "b", &text, &error), TAP_ERR_FORMAT);
    cr_expect_str_eq(error.message, "in:1: b is an integer; it must be a text");
    error = (struct tap_error){0};
    cr_assert_eq(tap_records_next(&records, &record, &error), TAP_OK);
    cr_expect_not(tap_record_has(&record, "a"));
    cr_expect_eq(tap_record_text(&record, "in", "a", &text, &error), TAP_ERR_FORMAT);
    error = (struct tap_error){0};
    cr_expect_eq(tap_records_next(&records, &record, &error), TAP_ERR_FORMAT);
    cr_expect_not_null(strstr(error.message, "in:3: no valid JSON"));
    tap_records_clear(&records);
    tap_input_close(&input);
}

Test(records, every_failed_allocation_is_an_error)
{
    static const char *const tables[] = {"a\tb\nc\td\n", "a,\"b\nc\"\nd,e\n", "{\"a\":\"b\"}\n{\"a\":\"c\"}\n"};
    for (int kind = TAP_RECORD_TSV; kind <= TAP_RECORD_JSONL; kind++) {
        const char *path = fixture_text("in", tables[kind]);
        for (uint64_t call = 1;; call++) {
            struct tap_error error = {0};
            struct tap_input input;
            struct tap_records records;
            struct tap_record record = {0};
            tap_mem_fail_at(call, false);
            if (tap_input_open(path, &input, &error) == TAP_OK) {
                tap_records_start(&records, &input, (enum tap_record_kind)kind, true);
                while (tap_records_next(&records, &record, &error) == TAP_OK && !record.at_end)
                    ;
                tap_records_clear(&records);
                tap_input_close(&input);
            }
            tap_mem_fail_at(0, false);
            if (error.status == TAP_OK)
                break;
            cr_assert_eq(error.status, TAP_ERR_MEMORY, "%s", error.message);
        }
    }
}

struct visits {
    int n;
    bool refuses;
};

static enum tap_status visit(void *context, struct tap_error *error)
{
    struct visits *visits = context;
    visits->n++;
    return visits->refuses ? tap_error_set(error, TAP_ERR_IO, "no more") : TAP_OK;
}

/* An input of a pipe that holds a text and stays open. */
static void open_pipe(const char *text, int ends[2], char path[64], struct tap_input *out_input)
{
    struct tap_error error = {0};
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    snprintf(path, 64, "/proc/self/fd/%d", ends[0]);
    cr_assert_eq(tap_input_open(path, out_input, &error), TAP_OK, "%s", error.message);
}

Test(records, lines_that_came_are_given_without_waiting_and_waiting_is_told, .timeout = 60)
{
    struct tap_error error = {0};
    struct tap_input input;
    struct tap_line line;
    struct visits visits = {0};
    int ends[2];
    char path[64];
    open_pipe("a\nb\n", ends, path, &input); /* shorter than any file's start that is known */
    input.before_read = visit;
    input.before_read_context = &visits;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(tap_input_next_line(&input, &line, &error), TAP_OK);
        cr_expect(line.n_bytes == 1 && line.bytes[0] == "ab"[i] && visits.n == 0);
    }
    cr_assert_eq(write(ends[1], "c\n", 2), 2);
    cr_assert_eq(tap_input_next_line(&input, &line, &error), TAP_OK);
    cr_expect(line.bytes[0] == 'c' && visits.n == 1);
    visits.refuses = true;
    cr_expect_eq(tap_input_next_line(&input, &line, &error), TAP_ERR_IO);
    cr_expect_str_eq(error.message, "no more");
    tap_input_close(&input);
    close(ends[0]);
    close(ends[1]);
}

Test(records, the_remedy_of_a_bad_byte_is_the_readers)
{
    struct tap_error error = {0};
    struct tap_input input;
    struct tap_line line;
    cr_assert_eq(tap_input_open(fixture_text("in", "\xFF\n"), &input, &error), TAP_OK);
    input.decoder.remedy = "another one";
    cr_expect_eq(tap_input_next_line(&input, &line, &error), TAP_ERR_FORMAT);
    cr_expect_not_null(strstr(error.message, "in:1: byte 1 of the line (0xFF) is not UTF-8; another one"));
    tap_input_close(&input);
}
