/* test_npz_numpy.c: files of NumPy's own (tests/reference/make_npz.py) are read to the bit, and none of their flipped
 * bits gives other numbers. */
#include "mem.h"
#include "npz.h"
#include "scratch_folder.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const files[] = {"tests/reference/numpy_stored.npz", "tests/reference/numpy_compressed.npz"};

/* Reads the array into out; its number of dimensions. */
static size_t read_array(struct tap_npz *npz, const char *name, tap_real *out, size_t n)
{
    struct tap_error error = {0};
    struct tap_npy_header header;
    size_t index = tap_npz_find_array(npz, name);
    cr_assert_neq(index, TAP_NPZ_NONE, "%s", name);
    cr_assert_eq(tap_npz_array(npz, index, &header, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(tap_npz_read_real(npz, index, out, n, &error), TAP_OK, "%s", error.message);
    return header.n_dims;
}

Test(npz_numpy, arrays_of_either_width_order_and_layout_are_read)
{
    static const char *const names[] = {"f4", "f4_big", "f8", "f8_big", "fortran"};
    for (size_t f = 0; f < 2; f++) {
        struct tap_error error = {0};
        tap_real out[500];
        struct tap_npz *npz = tap_npz_open(files[f], false, &error);
        cr_assert_not_null(npz, "%s", error.message);
        cr_assert_eq(tap_npz_n_members(npz), 20);
        for (size_t i = 0; i < 5; i++) {
            cr_assert_eq(read_array(npz, names[i], out, 6), 2);
            for (int j = 0; j < 6; j++)
                cr_assert_eq(out[j], (tap_real)(j + 1) / 4, "%s", names[i]);
        }
        cr_assert_eq(read_array(npz, "fortran_3d", out, 24), 3);
        for (int j = 0; j < 24; j++)
            cr_assert_eq(out[j], (tap_real)j / 4);
        cr_assert_eq(read_array(npz, "scalar", out, 1), 0);
        cr_assert_eq(out[0], (tap_real)0.25);
        cr_assert_eq(read_array(npz, "empty", out, 0), 2);
        cr_assert_eq(read_array(npz, "specials", out, 5), 1);
        cr_assert(isnan(out[0]) && out[1] == (tap_real)INFINITY && out[2] == (tap_real)-INFINITY && out[3] == 0 &&
                  signbit(out[3]) && out[4] == (tap_real)1e-45f);
        cr_assert_eq(read_array(npz, "ramp", out, 500), 1);
        for (int j = 0; j < 500; j++)
            cr_assert_eq(out[j], (tap_real)(j % 10));
        cr_assert_eq(read_array(npz, "encoder.layers.0.linear1.weight", out, 9), 2);
        for (int j = 0; j < 9; j++)
            cr_assert_eq(out[j], (tap_real)(j % 4 == 0));
        tap_npz_close(npz);
    }
}

Test(npz_numpy, other_types_are_refused_by_name)
{
    const struct {
        const char *name, *type;
    } cases[] = {{"half", "<f2"},
                 {"int64", "<i8"},
                 {"int8", "|i1"},
                 {"flags", "|b1"},
                 {"complex", "<c16"},
                 {"objects", "|O"},
                 {"structured", "structured"},
                 {"text", "<U2"}};
    for (size_t f = 0; f < 2; f++) {
        struct tap_npz *npz = tap_npz_open(files[f], false, NULL);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct tap_error error = {0};
            tap_real out[6];
            char expected[200];
            snprintf(expected, sizeof expected, "%s: %s: type %s; accepted: ", files[f], cases[i].name, cases[i].type);
            cr_assert_eq(tap_npz_read_real(npz, tap_npz_find_array(npz, cases[i].name), out, 6, &error),
                         TAP_ERR_FORMAT);
            cr_assert_eq(strncmp(error.message, expected, strlen(expected)), 0, "%s", error.message);
        }
        tap_npz_close(npz);
    }
}

Test(npz_numpy, files_without_a_checksum_are_refused_where_one_is_required)
{
    struct tap_error error = {0};
    cr_assert_null(tap_npz_open(files[0], true, &error));
    cr_assert_not_null(strstr(error.message, "does not end in a checksum"), "%s", error.message);
}

Test(npz_numpy, streamed_archives_and_later_header_versions_are_read)
{
    static const char *const names[] = {"v1", "v2", "v3", "v3_deflated"};
    struct tap_error error = {0};
    struct tap_npz *npz = tap_npz_open("tests/reference/numpy_streamed.npz", false, &error);
    cr_assert_not_null(npz, "%s", error.message);
    for (int i = 0; i < 4; i++) {
        tap_real out[6];
        read_array(npz, names[i], out, 6);
        for (int j = 0; j < 6; j++)
            cr_assert_eq(out[j], (tap_real)(j + 1) / 4 + (tap_real)i);
    }
    tap_npz_close(npz);
}

/* All the numbers of a file one after another, a NaN where something was refused: into out, their count returned.
 * 0 when the file was. Each name goes into the sum `names`. */
static size_t read_all(const void *bytes, size_t n, tap_real *out, size_t n_out, unsigned *names)
{
    struct tap_npz *npz = tap_npz_open_memory(bytes, n, "x", false, NULL);
    size_t n_read = 0;
    *names = 0;
    for (size_t i = 0; npz != NULL && i < tap_npz_n_members(npz); i++) {
        struct tap_npy_header header;
        for (const char *c = tap_npz_name(npz, i); *c != '\0'; c++)
            *names = *names * 31 + (unsigned char)*c;
        if (tap_npz_array(npz, i, &header, NULL) != TAP_OK || n_out - n_read < header.n_items + 1 ||
            tap_npz_read_real(npz, i, out + n_read, header.n_items, NULL) != TAP_OK) {
            out[n_read++] = (tap_real)NAN;
            continue;
        }
        n_read += header.n_items;
    }
    tap_npz_close(npz);
    return n_read;
}

Test(npz_numpy, no_flipped_bit_gives_other_numbers_or_names)
{
    static const char *const all[] = {"tests/reference/numpy_stored.npz", "tests/reference/numpy_compressed.npz",
                                      "tests/reference/numpy_streamed.npz"};
    enum { N = 1000 };
    for (size_t f = 0; f < 3; f++) {
        tap_real right[N], out[N];
        unsigned right_names, names;
        size_t n;
        unsigned char *bytes = (unsigned char *)scratch_read(all[f], &n);
        size_t n_right = read_all(bytes, n, right, N, &right_names);
        cr_assert_gt(n_right, 20);
        for (size_t bit = 0; bit < 8 * n; bit += f == 2 ? 1 : 7) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            size_t n_read = read_all(bytes, n, out, N, &names);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (n_read == 0)
                continue;
            cr_assert_eq(names, right_names, "bit %zu", bit);
            /* Arrays that are refused leave one NaN in place of their numbers; without any of these all must be equal.
             */
            if (n_read == n_right)
                for (size_t i = 0; i < n_right; i++)
                    cr_assert(memcmp(&out[i], &right[i], sizeof *out) == 0 || isnan(out[i]), "bit %zu", bit);
        }
        tap_mem_free(bytes);
    }
}
