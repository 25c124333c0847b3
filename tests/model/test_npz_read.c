/* test_npz_read.c: archives made by hand: right ones that our writer never makes are read, wrong ones are refused by
 * name, whatever their checksum says. */
#include "mem.h"
#include "npz.h"
#include "scratch_folder.h"
#include "zip_build.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(npz_read, .fini = scratch_remove);

static struct zip_build zip;
static const unsigned char numbers[24] = {0, 0, 128, 63, 0, 0, 0,   64, 0, 0, 64,  64,
                                          0, 0, 128, 64, 0, 0, 160, 64, 0, 0, 192, 64};
static const char plain[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

/* Starts an archive anew. */
static void start(void)
{
    memset(&zip, 0, sizeof zip);
}

/* Adds the array 1 to 6 of shape (2, 3). */
static void add_array(const char *name, const struct zip_options *options)
{
    unsigned char bytes[256];
    size_t n = npy_build(bytes, 1, plain, numbers, sizeof numbers);
    zip_build_add(&zip, name, bytes, n, options);
}

static struct tap_npz *open_zip(struct tap_error *error)
{
    return tap_npz_open_memory(zip.bytes, zip.n, "x.npz", false, error);
}

static void assert_opens_and_holds(const char *name)
{
    struct tap_error error = {0};
    tap_real out[6] = {0};
    struct tap_npz *npz = open_zip(&error);
    cr_assert_not_null(npz, "%s", error.message);
    cr_assert_eq(tap_npz_read_real(npz, tap_npz_find_array(npz, name), out, 6, &error), TAP_OK, "%s", error.message);
    for (int i = 0; i < 6; i++)
        cr_assert_eq(out[i], (tap_real)(i + 1));
    tap_npz_close(npz);
}

/* The archive is refused, when it is opened or when its first member is read; the message holds `reason`. */
static void assert_refused(const char *reason)
{
    struct tap_error error = {0};
    tap_real out[6];
    struct tap_npz *npz = open_zip(&error);
    if (npz != NULL)
        cr_assert_neq(tap_npz_read_real(npz, 0, out, 6, &error), TAP_OK, "expected: %s", reason);
    cr_assert_eq(error.status, TAP_ERR_FORMAT, "%s", error.message);
    cr_assert_eq(strncmp(error.message, "x.npz: ", 7), 0);
    cr_assert_not_null(strstr(error.message, reason), "expected: %s; got: %s", reason, error.message);
    cr_assert_null(strchr(error.message, '\n'));
    tap_npz_close(npz);
}

Test(npz_read, every_right_form_of_a_member_is_read)
{
    const struct zip_options forms[] = {
        {0},
        {.deflated = true},
        {.zip64_local = true},
        {.zip64_local = true, .deflated = true},
        {.zip64_local = true, .zip64_central = true},
        {.descriptor = 12},
        {.descriptor = 16},
        {.descriptor = 20, .zip64_local = true},
        {.descriptor = 24, .zip64_local = true, .deflated = true},
        {.flags = 0x0800},
        {.flags = 0x0006, .deflated = true},
        {.extra = "\xfe\xca\4\0....", .n_extra = 8},
        {.extra = "\0\0", .n_extra = 2},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int end = 0; end < 4; end++) {
            start();
            add_array("before.npy", NULL);
            add_array("a/b.weight.npy", &forms[i]);
            add_array("after.npy", NULL);
            if (end == 3)
                zip_build_end_checksum(&zip);
            else
                zip_build_end(&zip, end == 1 ? "some comment" : NULL, end == 2);
            assert_opens_and_holds("a/b.weight");
            assert_opens_and_holds("before");
            assert_opens_and_holds("after");
        }
}

Test(npz_read, every_wrong_form_of_a_member_is_refused)
{
    const struct {
        struct zip_options options;
        const char *reason;
    } forms[] = {
        {{.crc_change = 1}, "CRC is wrong"},
        {{.crc_change = 1, .deflated = true}, "CRC is wrong"},
        {{.local_crc_change = 1}, "header differs"},
        {{.local_name = "b.npy"}, "header differs"},
        {{.local_name = "ab.npy"}, "header differs"},
        {{.local_method = 8}, "header differs"},
        {{.method = 12}, "compression method 12; accepted"},
        {{.method = 99}, "compression method 99; accepted"},
        {{.flags = 0x0001}, "is encrypted"},
        {{.flags = 0x0041}, "is encrypted"},
        {{.flags = 0x2000}, "is encrypted"},
        {{.flags = 0x0020}, "unknown flags"},
        {{.more_bytes = 4}, "two sizes differ"},
        {{.more_bytes = 1, .deflated = true}, "its shape needs 24 bytes, it has 25"},
        {{.more_bytes = (uint64_t)-1, .deflated = true}, "its shape needs 24 bytes, it has 23"},
        {{.more_bytes = (uint64_t)-4, .deflated = true}, "its shape needs 24 bytes, it has 20"},
        {{.more_bytes = (uint64_t)1 << 31, .deflated = true}, "larger than its compressed bytes"},
        {{.more_bytes = (uint64_t)1 << 61, .deflated = true, .zip64_local = true, .zip64_central = true},
         "larger than"},
        {{.more_bytes = (uint64_t)1 << 61,
          .more_stored = (uint64_t)1 << 61,
          .zip64_local = true,
          .zip64_central = true},
         "does not lie within"},
        {{.more_stored = 4, .more_bytes = 4}, "reaches into"},
        {{.more_stored = (uint64_t)-4, .more_bytes = (uint64_t)-4}, "unknown bytes follow"},
        {{.n_hole = 1}, "unknown bytes follow"},
        {{.n_hole = 4096}, "unknown bytes follow"},
        {{.n_hole = 1, .descriptor = 16}, "data descriptor"},
        {{.n_hole = 100, .descriptor = 16}, "unknown bytes follow"},
        {{.local_crc_change = 1, .descriptor = 12}, "data descriptor"},
        {{.local_crc_change = 1, .descriptor = 24}, "data descriptor"},
        {{.n_deflate_tail = 1, .deflated = true}, "unknown bytes follow its compressed"},
        {{.offset_change = 1}, "before its first member"},
        {{.offset_change = 0x7fffffff}, "does not lie within"},
        {{.offset_change = (uint32_t)-1}, "directory is damaged"},
        {{.extra = "\1\0\x10\0", .n_extra = 4}, "directory is damaged"},
        {{.extra = "\1\0\0\0\1\0\0\0", .n_extra = 8}, "directory is damaged"},
        {{.zip64_central = true, .extra = "\1\0\0\0", .n_extra = 4}, "directory is damaged"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        start();
        add_array("a.npy", &forms[i].options);
        add_array("after.npy", NULL);
        zip_build_end(&zip, NULL, false);
        assert_refused(forms[i].reason);
    }
}

Test(npz_read, a_deflate_stream_of_another_length_than_declared_is_refused)
{
    static const char data[300];
    const struct {
        int change;
        const char *reason;
    } cases[] = {{-300, "more bytes than it claims"},
                 {-1, "more bytes than it claims"},
                 {0, NULL},
                 {1, "fewer bytes"},
                 {5000, "fewer"}};
    for (size_t i = 0; i < 5; i++) {
        struct tap_error error = {0};
        char *bytes = NULL;
        size_t n;
        struct zip_options options = {.deflated = true, .more_bytes = (uint64_t)(int64_t)cases[i].change};
        start();
        zip_build_add(&zip, "m", data, sizeof data, &options);
        zip_build_end(&zip, NULL, false);
        struct tap_npz *npz = open_zip(&error);
        cr_assert_not_null(npz, "%s", error.message);
        enum tap_status status = tap_npz_read_bytes(npz, "m", &bytes, &n, 10000, &error);
        cr_assert_eq(status == TAP_OK, cases[i].reason == NULL);
        cr_assert(cases[i].reason == NULL || strstr(error.message, cases[i].reason), "%s", error.message);
        tap_mem_free(bytes);
        tap_npz_close(npz);
    }
}

Test(npz_read, names_that_could_be_paths_or_break_a_line_are_refused)
{
    static const char *const names[] = {"../../x.npy", "/etc/passwd.npy", "a/../b.npy", "..",
                                        "a\\b.npy",    "a\nb.npy",        "\x7f",       ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        start();
        add_array(names[i], NULL);
        zip_build_end(&zip, NULL, false);
        assert_refused("member's name");
    }
    start();
    add_array("a...b/..c/d...npy", NULL);
    zip_build_end(&zip, NULL, false);
    assert_opens_and_holds("a...b/..c/d..");
}

Test(npz_read, a_name_with_a_zero_byte_is_refused)
{
    start();
    add_array("a!.npy", NULL);
    zip_build_end(&zip, NULL, false);
    for (size_t i = 0; i + 6 < zip.n; i++)
        if (memcmp(zip.bytes + i, "a!.npy", 6) == 0)
            zip.bytes[i + 1] = '\0';
    assert_refused("member's name");
}

Test(npz_read, a_name_that_is_there_twice_is_refused)
{
    start();
    add_array("a.npy", NULL);
    add_array("b.npy", NULL);
    add_array("a.npy", NULL);
    zip_build_end(&zip, NULL, false);
    assert_refused("a.npy: this name is there twice");
}

Test(npz_read, members_that_share_bytes_are_refused)
{
    start();
    add_array("a.npy", NULL);
    unsigned char directory[100];
    size_t n = zip.n_directory;
    memcpy(directory, zip.directory, n);
    directory[n - 5] = 'b'; /* the name */
    memcpy(zip.directory + n, directory, n);
    zip.n_directory += n;
    zip.n_members++;
    zip_build_end(&zip, NULL, false);
    assert_refused("");
}

Test(npz_read, end_records_that_do_not_fit_are_refused)
{
    const struct {
        size_t from_end;
        unsigned char value;
        const char *reason;
    } changes[] = {
        {22, 0, "its end is missing"},     {18, 1, "directory does not end"}, {16, 1, "directory does not end"},
        {14, 9, "directory does not end"}, {12, 9, "directory does not end"}, {10, 0, "directory does not end"},
        {6, 0, "directory does not end"},  {3, 1, "directory does not end"},  {2, 1, "its end is missing"},
        {1, 1, "its end is missing"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        start();
        add_array("a.npy", NULL);
        zip_build_end(&zip, NULL, false);
        zip.bytes[zip.n - changes[i].from_end] = changes[i].value;
        assert_refused(changes[i].reason);
    }
    /* Both counts changed alike. */
    for (unsigned char count = 0; count < 4; count++) {
        start();
        add_array("a.npy", NULL);
        zip_build_end(&zip, NULL, false);
        zip.bytes[zip.n - 14] = zip.bytes[zip.n - 12] = count;
        if (count != 1)
            assert_refused("directory");
    }
}

Test(npz_read, zip64_end_records_with_hostile_sizes_are_refused)
{
    static const uint64_t values[] = {
        0,         2,          0x7fffffff,    0x80000000, (uint64_t)1 << 32, (uint64_t)1 << 61, (uint64_t)1 << 62,
        INT64_MAX, UINT64_MAX, UINT64_MAX - 3};
    /* The record's own size, both counts, the directory's size and offset, the locator's offset. */
    static const size_t fields[][2] = {{4, 4}, {24, 32}, {24, 24}, {32, 32}, {40, 40}, {48, 48}, {64, 64}};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            start();
            add_array("a.npy", NULL);
            zip_build_end(&zip, NULL, true);
            unsigned char *record = zip.bytes + zip.n - 22 - 20 - 56;
            if (f == 5 && values[v] == 0)
                continue; /* the right directory may not begin at 0; it never does here, but its size is then wrong too
                           */
            memcpy(record + fields[f][0], &values[v], 8);
            memcpy(record + fields[f][1], &values[v], 8);
            assert_refused("");
        }
}

Test(npz_read, hostile_lengths_in_any_field_of_the_headers_are_refused)
{
    static const uint32_t values[] = {1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    /* Directory: stored size, size, offset; then local header: stored size, size. And 16 bit lengths. */
    static const size_t large[] = {20, 24, 42};
    static const size_t short_fields[] = {28, 30, 32, 34};
    static const size_t local_fields[] = {18, 22, 26, 28};
    for (size_t v = 0; v < 5; v++)
        for (size_t f = 0; f < 11; f++) {
            start();
            add_array("a.npy", NULL);
            size_t directory = zip.n;
            zip_build_end(&zip, NULL, false);
            if (f < 3)
                memcpy(zip.bytes + directory + large[f], &values[v], 4);
            else if (f < 7)
                memcpy(zip.bytes + directory + short_fields[f - 3], &values[v], 2);
            else
                memcpy(zip.bytes + local_fields[f - 7], &values[v], f < 9 ? 4 : 2);
            bool unchanged = f >= 3 && f != 7 && f != 8 && (values[v] & 0xffff) == 0;
            if (!unchanged)
                assert_refused("");
        }
}

/* --- arrays --------------------------------------------------------------------------------------------------------
 */

/* One member a.npy with this dict and these bytes. */
static void build_array(int version, const char *text, const void *data, size_t n)
{
    unsigned char bytes[8192];
    start();
    zip_build_add(&zip, "a.npy", bytes, npy_build(bytes, version, text, data, n), NULL);
    zip_build_end(&zip, NULL, false);
}

Test(npz_read, header_versions_1_2_and_3_are_read)
{
    for (int version = 1; version <= 3; version++) {
        build_array(version, plain, numbers, sizeof numbers);
        assert_opens_and_holds("a");
    }
    build_array(4, plain, numbers, sizeof numbers);
    assert_refused("x.npz: a: .npy version 4.0; accepted: 1.0, 2.0, 3.0");
}

Test(npz_read, fortran_order_is_turned_into_c_order)
{
    const float columns[] = {1, 4, 2, 5, 3, 6};
    build_array(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", columns, sizeof columns);
    assert_opens_and_holds("a");
}

Test(npz_read, shapes_that_do_not_fit_the_bytes_are_refused)
{
    static const char *const shapes[] = {
        "(2, 2)",
        "(2, 4)",
        "()",
        "(7,)",
        "(0, 3)",
        "(2, 3, 0)",
        "(2305843009213693953,)",
        "(4294967296, 4294967296)",
        "(4611686018427387904,)",
        "(2, 18446744073709551614)",
        "(2, 9223372036854775807)",
        "(-1, 5)",
        "(1152921504606846975,)",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shapes[i]);
        build_array(1, text, numbers, sizeof numbers);
        assert_refused("x.npz: a: ");
    }
    const size_t wrong[] = {0, 1, 4, 20, 23};
    for (size_t i = 0; i < 5; i++) {
        char reason[64];
        snprintf(reason, sizeof reason, "its shape needs 24 bytes, it has %zu", wrong[i]);
        build_array(1, plain, numbers, wrong[i]);
        assert_refused(reason);
    }
}

Test(npz_read, header_lengths_that_are_wrong_are_refused)
{
    for (int change = -2; change <= 2; change++) {
        unsigned char bytes[256];
        size_t n = npy_build(bytes, 1, plain, numbers, sizeof numbers);
        bytes[8] = (unsigned char)(bytes[8] + change);
        start();
        zip_build_add(&zip, "a.npy", bytes, n, NULL);
        zip_build_end(&zip, NULL, false);
        if (change != 0)
            assert_refused("x.npz: a: its ");
    }
    /* A header longer than its member, and members shorter than any header. */
    unsigned char bytes[256];
    size_t n = npy_build(bytes, 1, plain, numbers, sizeof numbers);
    bytes[9] = 0xff;
    start();
    zip_build_add(&zip, "a.npy", bytes, n, NULL);
    zip_build_end(&zip, NULL, false);
    assert_refused("cut short");
    bytes[9] = 0;
    for (size_t n_member = 0; n_member < n; n_member++) {
        start();
        zip_build_add(&zip, "a.npy", bytes, n_member, NULL);
        zip_build_end(&zip, NULL, false);
        assert_refused("x.npz: a: ");
    }
}

Test(npz_read, other_types_are_refused_by_name)
{
    static const char *const types[] = {"<f2", "<i4", "|O", "<c8", "<u8", "|b1", "<U1"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[200], reason[100];
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (6,), }", types[i]);
        snprintf(reason, sizeof reason, "x.npz: a: type %s; accepted: <f4 >f4 <f8 >f8", types[i]);
        build_array(1, text, numbers, sizeof numbers);
        assert_refused(reason);
    }
}

Test(npz_read, another_count_than_expected_is_refused)
{
    struct tap_error error = {0};
    tap_real out[7];
    build_array(1, plain, numbers, sizeof numbers);
    struct tap_npz *npz = open_zip(&error);
    cr_assert_eq(tap_npz_read_real(npz, 0, out, 7, &error), TAP_ERR_SHAPE);
    cr_assert_str_eq(error.message, "x.npz: a: has 6 numbers; 7 are needed");
    cr_assert_eq(tap_npz_read_real(npz, 0, out, 5, NULL), TAP_ERR_SHAPE);
    tap_npz_close(npz);
}

Test(npz_read, a_double_too_large_for_a_float_is_refused_in_the_float_build)
{
    struct tap_error error = {0};
    tap_real out[1];
    const double huge = 1e300;
    build_array(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &huge, sizeof huge);
    struct tap_npz *npz = open_zip(&error);
    enum tap_status status = tap_npz_read_real(npz, 0, out, 1, &error);
    cr_assert_eq(status, sizeof(tap_real) == 4 ? TAP_ERR_VALUE : TAP_OK, "%s", error.message);
    tap_npz_close(npz);
}

/* --- plain members -------------------------------------------------------------------------------------------------
 */

Test(npz_read, plain_members_are_read_up_to_the_limit)
{
    struct tap_error error = {0};
    char *bytes = NULL;
    size_t n = 0;
    start();
    zip_build_add(&zip, "meta.json", "{\"a\":1}", 7, &(struct zip_options){.deflated = true});
    zip_build_add(&zip, ".npy", "", 0, &(struct zip_options){.deflated = true});
    add_array("a.npy", NULL);
    zip_build_end(&zip, NULL, false);
    struct tap_npz *npz = open_zip(&error);
    cr_assert_eq(tap_npz_read_bytes(npz, "meta.json", &bytes, &n, 7, &error), TAP_OK, "%s", error.message);
    cr_assert(n == 7 && strcmp(bytes, "{\"a\":1}") == 0);
    tap_mem_free(bytes);
    cr_assert_eq(tap_npz_read_bytes(npz, ".npy", &bytes, &n, 0, &error), TAP_OK, "%s", error.message);
    cr_assert(n == 0 && bytes[0] == '\0');
    tap_mem_free(bytes);
    cr_assert_eq(tap_npz_read_bytes(npz, "meta.json", &bytes, &n, 6, &error), TAP_ERR_FORMAT);
    cr_assert_str_eq(error.message, "x.npz: meta.json has 7 bytes; at most 6 are accepted");
    tap_error_clear(&error);
    cr_assert_eq(tap_npz_read_bytes(npz, "meta", &bytes, &n, 6, &error), TAP_ERR_FORMAT);
    cr_assert_str_eq(error.message, "x.npz: meta is missing");
    cr_assert_eq(tap_npz_read_bytes(npz, "a.npy", &bytes, &n, 1000, NULL), TAP_ERR_FORMAT);
    tap_error_clear(&error);
    tap_real out[6];
    struct tap_npy_header header;
    cr_assert_eq(tap_npz_read_real(npz, 0, out, 6, &error), TAP_ERR_VALUE);
    cr_assert_str_eq(error.message, "x.npz: meta.json: is no array");
    cr_assert_eq(tap_npz_array(npz, 0, &header, NULL), TAP_ERR_VALUE);
    cr_assert_eq(tap_npz_find_array(npz, "meta.json"), TAP_NPZ_NONE);
    cr_assert_eq(tap_npz_find_array(npz, "a"), 2);
    cr_assert_eq(tap_npz_find_bytes(npz, "a.npy"), TAP_NPZ_NONE);
    tap_npz_close(npz);
}

/* --- opening -------------------------------------------------------------------------------------------------------
 */

Test(npz_read, a_checksum_is_required_where_it_is_asked_for)
{
    struct tap_error error = {0};
    static const char *const comments[] = {NULL, "0000000", "000000000", "ABCDEF01", "0123456g"};
    for (size_t i = 0; i < 5; i++) {
        start();
        add_array("a.npy", NULL);
        zip_build_end(&zip, comments[i], false);
        tap_error_clear(&error);
        cr_assert_null(tap_npz_open_memory(zip.bytes, zip.n, "x.npz", true, &error));
        cr_assert_not_null(strstr(error.message, "does not end in a checksum"), "%s", error.message);
        assert_opens_and_holds("a");
    }
    start();
    add_array("a.npy", NULL);
    zip_build_end_checksum(&zip);
    struct tap_npz *npz = tap_npz_open_memory(zip.bytes, zip.n, "x.npz", true, &error);
    cr_assert_not_null(npz);
    tap_npz_close(npz);
    zip.bytes[zip.n - 1] = zip.bytes[zip.n - 1] == '0' ? '1' : '0';
    assert_refused("damaged: its checksum is");
}

Test(npz_read, what_is_no_npz_file_is_refused_with_the_reason)
{
    const struct {
        const char *name, *reason;
    } cases[] = {{"missing", "No such file"},   {".", "it is a folder"},  {"pipe", "no regular file"},
                 {"file/x", "Not a directory"}, {"empty", "it is empty"}, {"file", "too short"},
                 {"long", "its end is missing"}};
    char bytes[5000];
    memset(bytes, 'P', sizeof bytes);
    scratch_write(scratch_path("file"), "hello", 5);
    scratch_write(scratch_path("empty"), "", 0);
    scratch_write(scratch_path("long"), bytes, sizeof bytes);
    cr_assert_eq(mkfifo(scratch_path("pipe"), 0600), 0);
    size_t n_open = scratch_n_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tap_error error = {0};
        const char *path = scratch_path(cases[i].name);
        cr_assert_null(tap_npz_open(path, false, &error));
        cr_assert_not_null(strstr(error.message, path), "%s", error.message);
        cr_assert_not_null(strstr(error.message, cases[i].reason), "%s", error.message);
        cr_assert_eq(scratch_n_open(), n_open);
    }
    cr_assert_null(tap_npz_open_memory(NULL, 0, "nothing", false, NULL));
    tap_npz_close(NULL);
}

Test(npz_read, a_file_cut_while_it_is_read_is_an_error)
{
    struct tap_error error = {0};
    tap_real out[6];
    start();
    add_array("a.npy", NULL);
    zip_build_end(&zip, NULL, false);
    scratch_write(scratch_path("x.npz"), zip.bytes, zip.n);
    struct tap_npz *npz = tap_npz_open(scratch_path("x.npz"), false, &error);
    scratch_write(scratch_path("x.npz"), zip.bytes, 100);
    cr_assert_eq(tap_npz_read_real(npz, 0, out, 6, &error), TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(error.message, "cut short while it was read"));
    tap_npz_close(npz);
}

Test(npz_read, every_failing_allocation_is_a_clean_error)
{
    start();
    zip_build_add(&zip, "meta.json", "{}", 2, &(struct zip_options){.deflated = true});
    add_array("a.npy", &(struct zip_options){.deflated = true});
    zip_build_end_checksum(&zip);
    scratch_write(scratch_path("x.npz"), zip.bytes, zip.n);
    for (int kind = 0; kind < 4; kind++) {
        enum tap_status status = TAP_ERR_MEMORY;
        uint64_t n = 0;
        size_t n_open = scratch_n_open();
        while (status != TAP_OK) {
            struct tap_error error = {0};
            tap_real out[6];
            char *bytes = NULL;
            size_t n_bytes;
            tap_mem_fail_at(++n, kind % 2 != 0);
            struct tap_npz *npz = kind < 2 ? tap_npz_open_memory(zip.bytes, zip.n, "x.npz", true, &error)
                                           : tap_npz_open(scratch_path("x.npz"), true, &error);
            if (npz != NULL && tap_npz_read_bytes(npz, "meta.json", &bytes, &n_bytes, 10, &error) == TAP_OK)
                tap_npz_read_real(npz, 1, out, 6, &error);
            tap_mem_fail_at(0, false);
            tap_mem_free(bytes);
            tap_npz_close(npz);
            status = error.status;
            cr_assert(status == TAP_OK || status == TAP_ERR_MEMORY, "%s", error.message);
            cr_assert_eq(scratch_n_open(), n_open);
        }
        cr_assert_gt(n, 10);
    }
}
