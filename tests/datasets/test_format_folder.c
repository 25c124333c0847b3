/* test_format_folder.c: one file a class. */
#include "data_fixture.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(format_folder, .fini = fixture_remove);

static const char *make_folder(void)
{
    const char *folder = fixture_path("set");
    cr_assert_eq(mkdir(folder, 0700), 0);
    return folder;
}

Test(format_folder, a_file_name_without_extension_is_the_label)
{
    const char *folder = make_folder();
    fixture_text("set/spam.txt", "buy\tnow\n\"cheap\"\r\n");
    fixture_text("set/ham", "hello");
    fixture_text("set/no.spam.csv", "a,b\n\n");
    fixture_text("set/.hidden", "");
    read_path(folder, fixture_read_options());
    expect_rows(4);
    expect_row(0, "ham", "hello");
    expect_row(1, "no.spam", "a,b");
    expect_row(2, "spam", "buy\tnow");
    expect_row(3, "spam", "\"cheap\"");
    cr_expect_eq(rows->rows[3].line, 2);
    const char *files[] = {"set/ham", "set/no.spam.csv", "set/spam.txt", "set/spam.txt"};
    for (uint32_t row = 0; row < 4; row++)
        cr_expect_str_eq(tap_rows_file(rows, row), fixture_path(files[row]));
}

Test(format_folder, names_that_differ_in_the_extension_alone_are_whole_labels)
{
    const char *folder = make_folder();
    fixture_text("set/review.pos", "good\n");
    fixture_text("set/review.neg", "bad\n");
    read_path(folder, fixture_read_options());
    expect_rows(2);
    expect_row(0, "review.neg", "bad");
    expect_row(1, "review.pos", "good");
}

Test(format_folder, what_is_wrong_is_told_with_the_files_name)
{
    const char *folder = make_folder();
    read_path(folder, fixture_read_options());
    expect_refusal(TAP_ERR_FORMAT, "set: no files; a file for each class is needed");
    fixture_text("set/a.txt", "one\n");
    fixture_text("set/b.txt", "one\ncaf\xE9\n");
    read_path(folder, fixture_read_options());
    expect_refusal(TAP_ERR_FORMAT, "set/b.txt:2: byte 4 of the line (0xE9) is not UTF-8");
    fixture_text("set/b.txt", "one\n\ntwo\n");
    read_path(folder, fixture_read_options());
    expect_refusal(TAP_ERR_FORMAT, "set/b.txt:2: an empty line");
    fixture_text("set/b.txt", "");
    read_path(folder, fixture_read_options());
    expect_refusal(TAP_ERR_FORMAT, "set/b.txt: no rows");
    unlink(fixture_path("set/b.txt"));
    cr_assert_eq(mkdir(fixture_path("set/c"), 0700), 0);
    read_path(folder, fixture_read_options());
    expect_refusal(TAP_ERR_FORMAT, "set/c: is a folder");
    struct tap_read_options options = fixture_read_options();
    options.format = "folder";
    read_path(fixture_text("file", "x\n"), options);
    expect_refusal(TAP_ERR_IO, "file: cannot open as a folder: Not a directory");
}

Test(format_folder, its_fingerprint_tells_of_every_file)
{
    const char *folder = make_folder();
    const char *texts[] = {"one\n", "two\n", "one\n"};
    struct tap_read_options options = fixture_read_options();
    char hashes[3][17];
    fixture_text("set/a.txt", "x\n");
    for (int i = 0; i < 3; i++) {
        struct tap_fingerprint fingerprint;
        fixture_text("set/b.txt", texts[i]);
        tap_rows_free(rows);
        rows = tap_rows_new();
        cr_assert_eq(tap_read_rows(folder, &options, rows, &fingerprint, &read_error), TAP_OK, "%s",
                     read_error.message);
        cr_expect_eq(fingerprint.n_bytes, 6);
        strcpy(hashes[i], fingerprint.hash);
        tap_fingerprint_clear(&fingerprint);
    }
    cr_expect_str_neq(hashes[0], hashes[1]);
    cr_expect_str_eq(hashes[0], hashes[2]);
}

Test(format_folder, every_row_knows_its_file)
{
    const char *folder = make_folder();
    fixture_text("set/b.txt", "one\ntwo\n");
    fixture_text("set/a", "one\n");
    fixture_text("set/c.x.txt", "one\ntwo\nthree\n");
    read_path(folder, fixture_read_options());
    expect_rows(6);
    static const char *const files[] = {"set/a", "set/b.txt", "set/b.txt", "set/c.x.txt", "set/c.x.txt", "set/c.x.txt"};
    for (uint32_t row = 0; row < 6; row++)
        cr_expect_str_eq(tap_rows_file(rows, row), fixture_path(files[row]));
    read_path(fixture_text("file.tsv", "a\tone\n"), fixture_read_options());
    expect_rows(1);
    cr_expect_str_eq(tap_rows_file(rows, 0), fixture_path("file.tsv"));
}

Test(format_folder, every_failed_allocation_is_an_error)
{
    const char *folder = make_folder();
    fixture_text("set/a.txt", "one\n");
    fixture_text("set/b.txt", "two\n");
    expect_failed_allocations(folder, fixture_read_options());
}
