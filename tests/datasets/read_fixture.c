/* read_fixture.c: see read_fixture.h. */
#include "read_fixture.h"

#include "data_fixture.h"
#include "mem.h"

#include <criterion/criterion.h>

#include <string.h>

struct tap_rows *rows;
struct tap_error read_error;

enum tap_status read_path(const char *path, struct tap_read_options options)
{
    tap_rows_free(rows);
    rows = tap_rows_new();
    tap_error_clear(&read_error);
    enum tap_status status = tap_read_rows(path, &options, rows, NULL, &read_error);
    cr_assert_eq(status, read_error.status);
    cr_assert_null(strchr(read_error.message, '\n'), "one line");
    return status;
}

enum tap_status read_named(const char *name, const char *bytes, size_t n_bytes)
{
    return read_path(fixture_file(name, bytes, n_bytes), fixture_read_options());
}

void expect_row(uint32_t row, const char *label, const char *text)
{
    size_t n_bytes;
    cr_assert_lt(row, rows->n, "row %u of %u; %s", row, rows->n, read_error.message);
    const char *found = tap_rows_text(rows, row, &n_bytes);
    cr_expect_str_eq(tap_rows_label(rows, row), label, "row %u", row);
    cr_expect(n_bytes == strlen(text) && memcmp(found, text, n_bytes) == 0, "row %u: '%.*s', not '%s'", row,
              (int)n_bytes, found, text);
}

void expect_rows(uint32_t n)
{
    cr_assert_eq(read_error.status, TAP_OK, "%s", read_error.message);
    cr_assert_eq(rows->n, n, "%u rows, not %u", rows->n, n);
}

void expect_refusal(enum tap_status status, const char *words)
{
    cr_expect_eq(read_error.status, status, "status %d, message '%s'", (int)read_error.status, read_error.message);
    cr_expect_not_null(strstr(read_error.message, words), "'%s' not in '%s'", words, read_error.message);
}

void expect_failed_allocations(const char *path, struct tap_read_options options)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        uint64_t call = 1;
        for (;; call++) {
            struct tap_fingerprint fingerprint = {0};
            tap_error_clear(&read_error);
            struct tap_rows *read = tap_rows_new();
            tap_mem_fail_at(call, persistent != 0);
            enum tap_status status = tap_read_rows(path, &options, read, &fingerprint, &read_error);
            tap_mem_fail_at(0, false);
            tap_rows_free(read);
            tap_fingerprint_clear(&fingerprint);
            if (status == TAP_OK)
                break;
            cr_assert_eq(status, TAP_ERR_MEMORY, "%s", read_error.message);
            cr_assert_not_null(strstr(read_error.message, "out of memory"), "%s", read_error.message);
        }
        cr_expect_gt(call, 4);
    }
}
