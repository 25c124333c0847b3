/* test_npy.c: headers of .npy arrays. */
#include "npy.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static enum tap_status parse(const char *text, struct tap_npy_header *header, struct tap_error *error)
{
    return tap_npy_parse(text, strlen(text), "x", header, error);
}

Test(npy, every_spelling_of_the_dict_is_read)
{
    static const char *const texts[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'shape': (2, 3,), 'descr': '<f4', 'fortran_order': False}\n",
        "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3)}",
        " { 'fortran_order' : False , 'shape' : ( 2L , 3L ) , 'descr' : '<f4' , } ",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tap_npy_header header;
        struct tap_error error = {0};
        cr_assert_eq(parse(texts[i], &header, &error), TAP_OK, "%s: %s", texts[i], error.message);
        cr_assert_str_eq(header.dtype, "<f4");
        cr_assert_eq(header.item_bytes, 4);
        cr_assert_not(header.fortran_order);
        cr_assert_not(header.big_endian);
        cr_assert_eq(header.n_dims, 2);
        cr_assert_eq(header.shape[0], 2);
        cr_assert_eq(header.shape[1], 3);
        cr_assert_eq(header.n_items, 6);
    }
}

Test(npy, shapes_of_any_rank_are_read)
{
    const struct {
        const char *shape;
        size_t n_dims, n_items;
    } cases[] = {{"()", 0, 1},
                 {"(7,)", 1, 7},
                 {"(0,)", 1, 0},
                 {"(3, 0, 2)", 3, 0},
                 {"(1,1,1,1)", 4, 1},
                 {"(0, 1000000)", 2, 0},
                 {"(4294967296,)", 1, 4294967296}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        struct tap_npy_header header;
        snprintf(text, sizeof text, "{'descr': '>f8', 'fortran_order': True, 'shape': %s}", cases[i].shape);
        cr_assert_eq(parse(text, &header, NULL), TAP_OK, "%s", text);
        cr_assert_eq(header.n_dims, cases[i].n_dims);
        cr_assert_eq(header.n_items, cases[i].n_items);
        cr_assert(header.big_endian && header.fortran_order && header.item_bytes == 8);
    }
}

Test(npy, a_damaged_dict_is_refused)
{
    static const char *const texts[] = {
        "",
        "{}",
        "{",
        "{,}",
        "x",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'shape': (1,)}",
        "{'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': <f4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4xxxxxxxxxxxxxxxxxxxxxxxxxxx', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f\n4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': false, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
        "{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999999,)}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tap_npy_header header;
        struct tap_error error = {0};
        cr_assert_eq(parse(texts[i], &header, &error), TAP_ERR_FORMAT, "%s", texts[i]);
    }
}

Test(npy, a_shape_whose_size_overflows_is_refused)
{
    static const char *const shapes[] = {
        "(2, 18446744073709551614)", "(2, 9223372036854775807)",  "(4294967296, 4294967296)",
        "(4611686018427387904,)",    "(9223372036854775807, 2)",  "(18446744073709551615,)",
        "(2305843009213693952,)",    "(0, 18446744073709551615)", "(4294967296, 0, 4294967296)",
        "(3, 6148914691236517206)",  "(1152921504606846976, 16)",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[200];
        struct tap_npy_header header;
        struct tap_error error = {0};
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}", shapes[i]);
        cr_assert_eq(parse(text, &header, &error), TAP_ERR_FORMAT, "%s", text);
        cr_assert_str_eq(error.message, "x: the size of its shape overflows");
    }
}

Test(npy, sixty_four_dimensions_are_the_most)
{
    for (size_t n_dims = 64; n_dims <= 65; n_dims++) {
        char text[400] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
        struct tap_npy_header header;
        for (size_t i = 0; i < n_dims; i++)
            strcat(text, "1,");
        strcat(text, ")}");
        cr_assert_eq(parse(text, &header, NULL) == TAP_OK, n_dims == 64);
    }
}

Test(npy, types_other_than_floats_of_4_and_8_bytes_have_no_item_size)
{
    static const char *const types[] = {
        "'<f2'", "'<i8'", "'|i1'", "'|b1'",  "'|O'", "'<c8'",  "'<U2'",
        "'|f4'", "'f'",   "''",    "'<f16'", "'<f'", "'<f44'", "[('a, [', '<i4'), ('b', '<f4', (2,))]"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[200];
        struct tap_npy_header header;
        struct tap_error error = {0};
        snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': False, 'shape': (1,)}", types[i]);
        cr_assert_eq(parse(text, &header, &error), TAP_OK, "%s: %s", text, error.message);
        cr_assert_eq(header.item_bytes, 0, "%s", text);
    }
}

Test(npy, what_is_formatted_is_parsed_and_padded_to_64_bytes)
{
    size_t shape[64];
    for (size_t i = 0; i < 64; i++)
        shape[i] = i == 63 ? SIZE_MAX / 16 : 1;
    for (size_t n_dims = 0; n_dims <= 64; n_dims++) {
        char text[TAP_NPY_FORMAT_BYTES];
        size_t n = tap_npy_format(text, sizeof text, "<f8", n_dims, shape + 64 - n_dims);
        size_t n_read;
        struct tap_npy_header header;
        cr_assert(n > 0 && n % 64 == 0 && text[n - 1] == '\n');
        cr_assert_eq(tap_npy_header_bytes((unsigned char *)text, 12, "x", &n_read, NULL), TAP_OK);
        cr_assert_eq(n_read, n);
        cr_assert_eq(tap_npy_parse(text + 10, n - 10, "x", &header, NULL), TAP_OK, "%s", text + 10);
        cr_assert_eq(header.n_dims, n_dims);
        cr_assert_eq(memcmp(header.shape, shape + 64 - n_dims, n_dims * sizeof *shape), 0);
    }
    char text[TAP_NPY_FORMAT_BYTES];
    cr_assert_eq(tap_npy_format(text, sizeof text, "<f8", 65, shape), 0);
    cr_assert_eq(tap_npy_format(text, 100, "<f8", 1, shape), 0);
}

Test(npy, prefixes_that_are_none_are_refused)
{
    const struct {
        const char *bytes;
        size_t n;
        bool right;
    } cases[] = {
        {"\x93NUMPY\1\0\x10\0", 10, true},      {"\x93NUMPY\2\0\x10\0\0\0", 12, true},
        {"\x93NUMPY\3\0\x10\0\0\0", 12, true},  {"\x93NUMPY\0\0\x10\0\0\0", 12, false},
        {"\x93NUMPY\4\0\x10\0\0\0", 12, false}, {"\x93NUMPY\1\1\x10\0\0\0", 12, false},
        {"\x93NUMPX\1\0\x10\0\0\0", 12, false}, {"\x93NUMPY\1\0\x10", 9, false},
        {"\x93NUMPY\2\0\x10\0\0", 11, false},   {"\x93NUMPY\2\0\xff\xff\xff\xff", 12, false},
        {"\x93NUMPY\2\0\0\0\0\x80", 12, false}, {"", 0, false},
        {"\x93NUMPY\2\0\0\0\1\0", 12, true},    {"\x93NUMPY\2\0\1\0\1\0", 12, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n;
        enum tap_status status = tap_npy_header_bytes((const unsigned char *)cases[i].bytes, cases[i].n, "x", &n, NULL);
        cr_assert_eq(status == TAP_OK, cases[i].right, "case %zu", i);
    }
}
