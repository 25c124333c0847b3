/* test_gzip_input.c: gzip data of any number of members is read; anything less than whole is refused. */
#include "data_fixture.h"
#include "mem.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

TestSuite(gzip_input, .fini = fixture_remove);

#define MOST_PACKED ((size_t)1 << 20)
static char packed[MOST_PACKED];
static size_t n_packed;

/* Adds a member to `packed`. */
static void pack(const char *bytes, size_t n_bytes)
{
    z_stream stream = {0};
    cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)n_bytes;
    stream.next_out = (Bytef *)packed + n_packed;
    stream.avail_out = (uInt)(MOST_PACKED - n_packed);
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    n_packed = MOST_PACKED - stream.avail_out;
    deflateEnd(&stream);
}

static void pack_text(const char *text)
{
    pack(text, strlen(text));
}

static enum tap_status read_packed(const char *name)
{
    return read_named(name, packed, n_packed);
}

/* Rows of random digits, so that they hardly shrink. */
static size_t fill_rows(char *bytes, int n_rows)
{
    size_t n = 0;
    uint32_t state = 1;
    for (int row = 0; row < n_rows; row++) {
        n += (size_t)sprintf(bytes + n, "%c\t", 'a' + row % 2);
        for (int i = 0; i < 20; i++) {
            state = state * 1664525u + 1013904223u;
            n += (size_t)sprintf(bytes + n, "%x", (unsigned)(state >> 16));
        }
        bytes[n++] = '\n';
    }
    bytes[n] = '\0';
    return n;
}

Test(gzip_input, every_format_is_read_by_content_whatever_the_name)
{
    const struct {
        const char *name, *text;
    } cases[] = {
        {"in.tsv.gz", "a\tone\r\nb\ttwo"},
        {"in.tsv", "a\tone\nb\ttwo\n"},
        {"in.csv.gz", "a,\"one\"\nb,two\n"},
        {"in.jsonl.gz", "{\"label\":\"a\",\"text\":\"one\"}\n{\"label\":\"b\",\"text\":\"two\"}\n"},
        {"in.ft.GZ", "__label__a one\n__label__b two\n"},
        {"in.gz", "\xEF\xBB\xBF"
                  "a\tone\nb\ttwo\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        n_packed = 0;
        pack_text(cases[i].text);
        read_packed(cases[i].name);
        expect_rows(2);
        expect_row(0, "a", "one");
        expect_row(1, "b", "two");
    }
    cr_expect_eq(READ_NAMED("plain.tsv.gz", "a\tone\n"), TAP_OK, "text that is named .gz");
}

Test(gzip_input, standard_input_and_folders_may_be_gzip_data)
{
    pack_text("one\n");
    mkdir(fixture_path("set"), 0700);
    fixture_file("set/a.txt.gz", packed, n_packed);
    fixture_text("set/b.txt", "two\n");
    read_path(fixture_path("set"), fixture_read_options());
    expect_rows(2);
    expect_row(0, "a", "one");
    n_packed = 0;
    pack_text("a\tone\n");
    int descriptor = open(fixture_file("in", packed, n_packed), O_RDONLY);
    cr_assert_eq(dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
    read_path("-", fixture_read_options());
    expect_rows(1);
    expect_row(0, "a", "one");
}

Test(gzip_input, members_are_concatenated)
{
    pack_text("a\tone\nb\tt");
    pack_text("");
    pack_text("wo\na\tthree");
    pack_text("");
    read_packed("in.tsv.gz");
    expect_rows(3);
    expect_row(1, "b", "two");
    expect_row(2, "a", "three");
}

Test(gzip_input, data_cut_at_any_length_is_refused)
{
    char text[4096];
    fill_rows(text, 20);
    pack_text(text);
    size_t n_first = n_packed;
    pack_text("a\tlast\n");
    size_t n_whole = n_packed;
    for (size_t n = 0; n < n_whole; n++) {
        if (n == n_first)
            continue; /* one whole member: nothing tells that there was another */
        read_named("in.tsv.gz", packed, n);
        expect_refusal(TAP_ERR_FORMAT,
                       n == 0 ? "in.tsv.gz: no rows: the file is empty" : "in.tsv.gz: the gzip data is cut short");
    }
    read_named("in.tsv.gz", packed, n_first);
    expect_rows(20);
    read_named("in.tsv.gz", packed, n_whole);
    expect_rows(21);
}

Test(gzip_input, data_longer_than_the_buffers_is_refused_when_cut)
{
    char *text = tap_mem_new(1 << 20, 1);
    size_t n_bytes = fill_rows(text, 5000);
    pack(text, n_bytes);
    size_t n_whole = n_packed;
    cr_assert_gt(n_whole, 150000, "%zu", n_whole);
    const size_t lengths[] = {14072, 16384, 65535, 65536, 65537, 131071, 131072, 131073};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] + 20; i++) {
        read_named("in.tsv.gz", packed, i < 8 ? lengths[i] : n_whole - (i - 7));
        expect_refusal(TAP_ERR_FORMAT, "in.tsv.gz: the gzip data is cut short");
    }
    n_packed = n_whole;
    read_packed("in.tsv.gz");
    expect_rows(5000);
    cr_expect_eq(rows->rows[4999].line, 5000);
    tap_mem_free(text);
}

Test(gzip_input, bytes_behind_the_end_are_refused)
{
    const char *behind[] = {"x", "\0", "a\ttwo\n",
                            "\x1F"
                            "x",
                            "\x1F\x8B\x07\0"};
    const size_t n_behind[] = {1, 1, 6, 2, 4};
    pack_text("a\tone\n");
    size_t n_whole = n_packed;
    for (size_t i = 0; i < 5; i++) {
        memcpy(packed + n_whole, behind[i], n_behind[i]);
        read_named("in.tsv.gz", packed, n_whole + n_behind[i]);
        expect_refusal(TAP_ERR_FORMAT, i < 3 ? "in.tsv.gz: other bytes follow the end of the gzip data"
                                             : "in.tsv.gz: corrupt gzip data: ");
    }
}

Test(gzip_input, changed_bits_never_change_the_rows)
{
    char text[4096];
    int n_refused = 0;
    fill_rows(text, 3);
    pack_text(text);
    for (size_t bit = 0; bit < 8 * n_packed; bit++) {
        packed[bit / 8] ^= (char)(1 << bit % 8);
        if (bit >= 16 && read_packed("in.tsv.gz") == TAP_OK) {
            size_t n_bytes;
            expect_rows(3);
            const char *found = tap_rows_text(rows, 0, &n_bytes);
            cr_expect_eq(memcmp(found, text + 2, n_bytes), 0, "bit %zu", bit);
        } else {
            n_refused++;
        }
        packed[bit / 8] ^= (char)(1 << bit % 8);
    }
    cr_expect_gt(n_refused, (int)(8 * n_packed) - 80, "all but those of time, system and hints in the header");
}

Test(gzip_input, checksum_and_length_are_checked)
{
    pack_text("a\tone\n");
    packed[n_packed - 8] ^= 1;
    read_packed("in.tsv.gz");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv.gz: corrupt gzip data: incorrect data check");
    packed[n_packed - 8] ^= 1;
    packed[n_packed - 4] ^= 1;
    read_packed("in.tsv.gz");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv.gz: corrupt gzip data: incorrect length check");
}

Test(gzip_input, what_is_inside_is_held_to_the_rules_of_text)
{
    pack_text("a\tone\nb\tcaf\xE9\n");
    read_packed("in.tsv.gz");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv.gz:2: byte 6 of the line (0xE9) is not UTF-8");
    n_packed = 0;
    pack("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);
    read_packed("in.tsv.gz");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv.gz: a PNG image within gzip data, not supported");
    char inner[64];
    n_packed = 0;
    pack_text("a\tone\n");
    size_t n_inner = n_packed;
    memcpy(inner, packed, n_inner);
    n_packed = 0;
    pack(inner, n_inner);
    read_packed("in.tsv.gz");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv.gz: gzip data within gzip data, not supported");
    n_packed = 0;
    pack_text("");
    read_packed("in.tsv.gz");
    expect_refusal(TAP_ERR_FORMAT, "in.tsv.gz: no rows");
}

Test(gzip_input, a_line_that_expands_past_the_limit_is_refused_in_bounded_memory)
{
    size_t n_bytes = (size_t)100 << 20;
    char *bytes = tap_mem_new(n_bytes, 1);
    memset(bytes, 'x', n_bytes);
    bytes[1] = '\t';
    pack(bytes, n_bytes);
    tap_mem_free(bytes);
    cr_assert_lt(n_packed, 120000);
    read_packed("in.tsv.gz");
    expect_refusal(TAP_ERR_VALUE, "in.tsv.gz:1: a line of more than 16777216 bytes");
}

Test(gzip_input, the_fingerprint_is_that_of_the_file)
{
    struct tap_read_options options = fixture_read_options();
    struct tap_fingerprint fingerprint;
    pack_text("a\tone\n");
    rows = tap_rows_new();
    cr_assert_eq(tap_read_rows(fixture_file("in.gz", packed, n_packed), &options, rows, &fingerprint, &read_error),
                 TAP_OK);
    cr_expect_eq(fingerprint.n_bytes, n_packed);
    tap_fingerprint_clear(&fingerprint);
}

Test(gzip_input, every_failed_allocation_is_an_error)
{
    pack_text("a\tone\n");
    pack_text("b\ttwo\n");
    expect_failed_allocations(fixture_file("in.tsv.gz", packed, n_packed), fixture_read_options());
}
