/* test_npz_write.c: what is written is read back to the bit, equal content gives equal bytes, and a write that fails
 * leaves what was there. */
#include "file_calls.h"
#include "mem.h"
#include "npz.h"
#include "rng.h"
#include "scratch_folder.h"
#include "zip_build.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(npz_write, .fini = scratch_remove);

#define N_LARGE ((size_t)30000)
static const char moment_name[] = "optim/exp_avg/encoder.layers.0.linear1.weight";
static const char meta[] = "{\"step\":3}";
static const tap_real small[6] = {1, -2.5, 1e-30, (tap_real)-0.0, 5, 6};
static tap_real large[N_LARGE];

static void fill_large(void)
{
    struct tap_rng rng = {.key = tap_rng_key(1, TAP_RNG_TEST, 0, 0)};
    for (size_t i = 0; i < N_LARGE; i++)
        large[i] = (tap_real)tap_rng_normal(&rng);
    large[7] = (tap_real)NAN;
    large[8] = (tap_real)INFINITY;
}

/* One checkpoint: a matrix, a large moment, a scalar, an empty array, meta.json. */
static enum tap_status save(const char *path, int compression, struct tap_error *error)
{
    struct tap_npz_writer *writer = tap_npz_create(path, compression, error);
    if (writer == NULL)
        return error->status;
    tap_npz_add_bytes(writer, "meta.json", meta, strlen(meta));
    tap_npz_add_real(writer, "embedding.weight", 2, (size_t[]){2, 3}, small);
    tap_npz_add_real(writer, moment_name, 3, (size_t[]){30, 10, 100}, large);
    tap_npz_add_real(writer, "scalar", 0, NULL, small + 1);
    tap_npz_add_real(writer, "empty", 2, (size_t[]){0, 3}, NULL);
    tap_npz_add_bytes(writer, "nothing", NULL, 0);
    return tap_npz_commit(writer, error);
}

/* True when the array `name` has this shape and holds these very bits. */
static bool has_array(struct tap_npz *npz, const char *name, size_t n_dims, const size_t *shape,
                      const tap_real *expected)
{
    struct tap_npy_header header;
    size_t index = tap_npz_find_array(npz, name);
    if (index == TAP_NPZ_NONE || tap_npz_array(npz, index, &header, NULL) != TAP_OK || header.n_dims != n_dims)
        return false;
    for (size_t d = 0; d < n_dims; d++)
        if (header.shape[d] != shape[d])
            return false;
    tap_real *out = tap_mem_new(header.n_items, sizeof *out);
    bool same = out != NULL && tap_npz_read_real(npz, index, out, header.n_items, NULL) == TAP_OK &&
                (header.n_items == 0 || memcmp(out, expected, header.n_items * sizeof *out) == 0);
    tap_mem_free(out);
    return same && strcmp(tap_npz_name(npz, index), name) == 0 && header.item_bytes == sizeof *out;
}

static bool is_whole(const char *path)
{
    struct tap_npz *npz = tap_npz_open(path, true, NULL);
    char *bytes = NULL;
    size_t n = 0;
    bool whole = npz != NULL && tap_npz_n_members(npz) == 6 &&
                 tap_npz_read_bytes(npz, "meta.json", &bytes, &n, 100, NULL) == TAP_OK && n == strlen(meta) &&
                 strcmp(bytes, meta) == 0 && has_array(npz, "embedding.weight", 2, (size_t[]){2, 3}, small) &&
                 has_array(npz, moment_name, 3, (size_t[]){30, 10, 100}, large) &&
                 has_array(npz, "scalar", 0, NULL, small + 1) && has_array(npz, "empty", 2, (size_t[]){0, 3}, NULL) &&
                 tap_npz_find_bytes(npz, "nothing") == 5;
    tap_mem_free(bytes);
    tap_npz_close(npz);
    return whole;
}

Test(npz_write, what_is_written_is_read_back_at_every_compression)
{
    const char *path = scratch_path("x.npz");
    fill_large();
    for (int compression = 0; compression <= 9; compression++) {
        struct tap_error error = {0};
        cr_assert_eq(save(path, compression, &error), TAP_OK, "%s", error.message);
        cr_assert(is_whole(path), "compression %d", compression);
        cr_assert_eq(scratch_n_files(), 1);
    }
}

Test(npz_write, compression_makes_equal_numbers_small)
{
    size_t n;
    struct tap_error error = {0};
    struct tap_npz_writer *writer = tap_npz_create(scratch_path("x.npz"), 6, &error);
    tap_npz_add_real(writer, "zeros", 1, (size_t[]){N_LARGE}, large);
    cr_assert_eq(tap_npz_commit(writer, &error), TAP_OK);
    tap_mem_free(scratch_read(scratch_path("x.npz"), &n));
    cr_assert_lt(n, 2000);
}

Test(npz_write, equal_content_gives_equal_bytes)
{
    fill_large();
    for (int compression = 0; compression <= 9; compression += 9) {
        struct tap_error error = {0};
        size_t n[2];
        cr_assert_eq(save(scratch_path("a"), compression, &error), TAP_OK);
        char *first = scratch_read(scratch_path("a"), &n[0]);
        sleep(compression == 0 ? 2 : 0); /* the time stamps of a zip are of two seconds */
        cr_assert_eq(save(scratch_path("b"), compression, &error), TAP_OK);
        char *second = scratch_read(scratch_path("b"), &n[1]);
        cr_assert(n[0] == n[1] && memcmp(first, second, n[0]) == 0);
        tap_mem_free(first);
        tap_mem_free(second);
    }
}

Test(npz_write, the_comment_is_the_crc_of_all_bytes_before_it)
{
    struct tap_error error = {0};
    size_t n;
    char digits[9];
    cr_assert_eq(save(scratch_path("a"), 0, &error), TAP_OK);
    char *bytes = scratch_read(scratch_path("a"), &n);
    snprintf(digits, sizeof digits, "%08x", zip_build_crc(bytes, n - 8));
    cr_assert_str_eq(bytes + n - 8, digits);
    tap_mem_free(bytes);
}

Test(npz_write, a_file_can_be_saved_onto_itself)
{
    struct tap_error error = {0};
    const char *path = scratch_path("x.npz");
    size_t n[2];
    fill_large();
    cr_assert_eq(save(path, 0, &error), TAP_OK);
    char *first = scratch_read(path, &n[0]);
    for (int round = 0; round < 10; round++) {
        struct tap_npz *npz = tap_npz_open(path, true, &error);
        struct tap_npz_writer *writer = tap_npz_create(path, 0, &error);
        for (size_t i = 0; i < tap_npz_n_members(npz); i++) {
            struct tap_npy_header header;
            if (!tap_npz_is_array(npz, i)) {
                char *bytes;
                size_t n_bytes;
                cr_assert_eq(tap_npz_read_bytes(npz, tap_npz_name(npz, i), &bytes, &n_bytes, 1000, &error), TAP_OK);
                tap_npz_add_bytes(writer, tap_npz_name(npz, i), bytes, n_bytes);
                tap_mem_free(bytes);
                continue;
            }
            cr_assert_eq(tap_npz_array(npz, i, &header, &error), TAP_OK);
            tap_real *numbers = tap_mem_new(header.n_items, sizeof *numbers);
            cr_assert_eq(tap_npz_read_real(npz, i, numbers, header.n_items, &error), TAP_OK);
            tap_npz_add_real(writer, tap_npz_name(npz, i), header.n_dims, header.shape, numbers);
            tap_mem_free(numbers);
        }
        cr_assert_eq(tap_npz_commit(writer, &error), TAP_OK);
        tap_npz_close(npz);
        char *again = scratch_read(path, &n[1]);
        cr_assert(n[0] == n[1] && memcmp(first, again, n[0]) == 0);
        tap_mem_free(again);
    }
    tap_mem_free(first);
}

Test(npz_write, wrong_requests_are_refused_and_leave_nothing)
{
    static const char *const names[] = {"", "/x", "../x", "a/../b", "a\nb", "a\\b", "..", "a/.."};
    static char too_long[2000];
    struct tap_error error = {0};
    const char *path = scratch_path("x.npz");
    cr_assert_null(tap_npz_create(path, -1, &error));
    tap_error_clear(&error);
    cr_assert_null(tap_npz_create(path, 10, &error));
    cr_assert_eq(error.status, TAP_ERR_VALUE);
    for (size_t i = 0; i < 13; i++) {
        tap_error_clear(&error);
        struct tap_npz_writer *writer = tap_npz_create(path, 0, &error);
        memset(too_long, 'x', 1025);
        if (i < 8)
            tap_npz_add_bytes(writer, names[i], "x", 1);
        else if (i == 8)
            tap_npz_add_bytes(writer, too_long, "x", 1);
        else if (i == 9)
            tap_npz_add_real(writer, too_long, 0, NULL, small);
        else if (i == 10)
            tap_npz_add_real(writer, "x", 65, (size_t[65]){0}, small);
        else if (i == 11)
            tap_npz_add_real(writer, "x", 2, (size_t[]){(size_t)1 << 62, 4}, small);
        else if (i == 12) {
            tap_npz_add_bytes(writer, "twice.npy", "x", 1);
            tap_npz_add_real(writer, "other", 0, NULL, small);
            tap_npz_add_real(writer, "twice", 0, NULL, small);
        }
        tap_npz_add_real(writer, "after", 0, NULL, small);
        cr_assert_eq(tap_npz_commit(writer, &error), TAP_ERR_VALUE, "case %zu", i);
        cr_assert_not_null(strstr(error.message, path), "%s", error.message);
        cr_assert_eq(scratch_n_files(), 0);
    }
}

Test(npz_write, names_at_the_limit_and_in_utf8_are_written)
{
    static char name[1025];
    struct tap_error error = {0};
    memset(name, 'x', 1024);
    struct tap_npz_writer *writer = tap_npz_create(scratch_path("x.npz"), 0, &error);
    tap_npz_add_bytes(writer, name, "x", 1);
    name[1020] = '\0';
    tap_npz_add_real(writer, name, 0, NULL, small);
    tap_npz_add_real(writer, "\xc3\xa9.weight", 0, NULL, small);
    cr_assert_eq(tap_npz_commit(writer, &error), TAP_OK, "%s", error.message);
    struct tap_npz *npz = tap_npz_open(scratch_path("x.npz"), true, &error);
    cr_assert_eq(tap_npz_find_array(npz, name), 1);
    cr_assert_eq(tap_npz_find_array(npz, "\xc3\xa9.weight"), 2);
    tap_npz_close(npz);
}

Test(npz_write, as_many_members_as_16_bits_count_and_no_more_are_written)
{
    for (int n_members = 65535; n_members <= 65536; n_members++) {
        struct tap_error error = {0};
        struct tap_npz_writer *writer = tap_npz_create(scratch_path("x.npz"), 0, &error);
        char name[32];
        for (int i = 0; i < n_members; i++) {
            snprintf(name, sizeof name, "member%d", i);
            tap_npz_add_bytes(writer, name, name, strlen(name));
        }
        enum tap_status status = tap_npz_commit(writer, &error);
        if (n_members > 65535) {
            cr_assert_eq(status, TAP_ERR_VALUE);
            cr_assert_not_null(strstr(error.message, "65535"), "%s", error.message);
            break;
        }
        struct tap_npz *npz = tap_npz_open(scratch_path("x.npz"), true, &error);
        cr_assert_not_null(npz, "%s", error.message);
        cr_assert_eq(tap_npz_n_members(npz), (size_t)n_members);
        cr_assert_eq(tap_npz_find_bytes(npz, "member65534"), 65534);
        tap_npz_close(npz);
    }
}

Test(npz_write, an_empty_archive_is_written_and_read)
{
    struct tap_error error = {0};
    cr_assert_eq(tap_npz_commit(tap_npz_create(scratch_path("x.npz"), 0, &error), &error), TAP_OK);
    struct tap_npz *npz = tap_npz_open(scratch_path("x.npz"), true, &error);
    cr_assert_not_null(npz, "%s", error.message);
    cr_assert_eq(tap_npz_n_members(npz), 0);
    cr_assert_eq(tap_npz_find_array(npz, "x"), TAP_NPZ_NONE);
    tap_npz_close(npz);
}

/* --- failures ------------------------------------------------------------------------------------------------------
 */

Test(npz_write, abandoning_leaves_what_was_there)
{
    struct tap_error error = {0};
    const char *path = scratch_path("x.npz");
    fill_large();
    scratch_write(path, "old", 3);
    struct tap_npz_writer *writer = tap_npz_create(path, 3, &error);
    tap_npz_add_real(writer, "large", 1, (size_t[]){N_LARGE}, large);
    tap_npz_abandon(writer);
    tap_npz_abandon(NULL);
    cr_assert(scratch_holds(path, "old"));
    cr_assert_eq(scratch_n_files(), 1);
}

Test(npz_write, any_failing_call_leaves_the_old_file_and_no_temporary)
{
    const int errors[] = {ENOSPC, EDQUOT, EIO};
    const char *path = scratch_path("x.npz");
    fill_large();
    for (int i = 0; i < 12; i++) {
        bool done = false;
        for (uint64_t call = 1; !done; call++) {
            scratch_write(path, "old", 3);
            size_t n_open = scratch_n_open();
            struct tap_error error = {0};
            struct tap_call_fault fault = {.at = call, .persistent = i % 2 == 0, .error_number = errors[i / 2 % 3]};
            tap_call_fault_set(&fault);
            enum tap_status status = save(path, i < 6 ? 0 : 1, &error);
            done = tap_call_n_calls() < call;
            tap_call_fault_set(NULL);
            cr_assert_eq(scratch_n_files(), 1);
            cr_assert_eq(scratch_n_open(), n_open);
            if (done) {
                cr_assert_eq(status, TAP_OK);
                cr_assert_gt(call, 8);
                break;
            }
            /* The last calls, and only they, come after the rename. */
            bool renamed = strstr(error.message, "flush its folder") != NULL;
            cr_assert(renamed ? is_whole(path) : scratch_holds(path, "old"), "call %d", (int)call);
            cr_assert_eq(status, TAP_ERR_IO, "the failure of call %d was ignored", (int)call);
            cr_assert_not_null(strstr(error.message, path), "%s", error.message);
            cr_assert_not_null(strstr(error.message, strerror(errors[i / 2 % 3])), "%s", error.message);
        }
    }
}

Test(npz_write, death_at_any_call_leaves_the_old_file_or_the_new_one)
{
    const char *path = scratch_path("x.npz");
    fill_large();
    bool alive = false;
    for (uint64_t call = 1; !alive; call++) {
        scratch_write(path, "old", 3);
        pid_t child = fork();
        if (child == 0) {
            struct tap_error error = {0};
            struct tap_call_fault fault = {.at = call};
            tap_call_fault_set(&fault);
            _exit(save(path, 0, &error) == TAP_OK ? 0 : 1);
        }
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        alive = WIFEXITED(status);
        cr_assert(is_whole(path) || (!alive && scratch_holds(path, "old")), "call %d", (int)call);
        cr_assert_lt(call, 100);
    }
}

Test(npz_write, short_writes_and_interrupts_give_the_same_bytes)
{
    struct tap_error error = {0};
    size_t n[2];
    fill_large();
    cr_assert_eq(save(scratch_path("a"), 0, &error), TAP_OK);
    char *first = scratch_read(scratch_path("a"), &n[0]);
    for (size_t limit = 1; limit < 10000; limit *= 97) {
        struct tap_call_fault fault = {.most_bytes = limit, .interrupted = true};
        tap_call_fault_set(&fault);
        cr_assert_eq(save(scratch_path("b"), 0, &error), TAP_OK, "%s", error.message);
        tap_call_fault_set(NULL);
        char *second = scratch_read(scratch_path("b"), &n[1]);
        cr_assert(n[0] == n[1] && memcmp(first, second, n[0]) == 0);
        tap_mem_free(second);
    }
    tap_mem_free(first);
}

Test(npz_write, a_full_disk_at_any_size_is_an_error_and_leaves_the_old_file)
{
    const char *path = scratch_path("x.npz");
    size_t n;
    struct tap_error error = {0};
    fill_large();
    cr_assert_eq(save(path, 0, &error), TAP_OK);
    tap_mem_free(scratch_read(path, &n));
    scratch_write(path, "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < n; limit += 4096) {
        struct rlimit old;
        getrlimit(RLIMIT_FSIZE, &old);
        struct rlimit less = {.rlim_cur = limit, .rlim_max = old.rlim_max};
        tap_error_clear(&error);
        setrlimit(RLIMIT_FSIZE, &less);
        enum tap_status status = save(path, 0, &error);
        setrlimit(RLIMIT_FSIZE, &old);
        cr_assert_eq(status, TAP_ERR_IO);
        cr_assert_not_null(strstr(error.message, strerror(EFBIG)), "%s", error.message);
        cr_assert(scratch_holds(path, "old"));
        cr_assert_eq(scratch_n_files(), 1);
    }
}

Test(npz_write, every_failing_allocation_is_a_clean_error)
{
    const char *path = scratch_path("x.npz");
    fill_large();
    for (int persistent = 0; persistent < 2; persistent++) {
        enum tap_status status = TAP_ERR_MEMORY;
        uint64_t n = 0;
        while (status != TAP_OK) {
            struct tap_error error = {0};
            scratch_write(path, "old", 3);
            tap_mem_fail_at(++n, persistent != 0);
            status = save(path, 1, &error);
            tap_mem_fail_at(0, false);
            cr_assert_eq(status, status == TAP_OK ? TAP_OK : TAP_ERR_MEMORY, "%s", error.message);
            cr_assert(status == TAP_OK ? is_whole(path) : scratch_holds(path, "old"));
            cr_assert_eq(scratch_n_files(), 1);
        }
        cr_assert_gt(n, 8);
    }
}

Test(npz_write, writing_takes_less_than_a_megabyte_beside_the_tensor)
{
    const size_t n = (size_t)8 << 20;
    struct tap_error error = {0};
    tap_real *tensor = tap_mem_new(n, sizeof *tensor);
    for (size_t i = 0; i < n; i++)
        tensor[i] = (tap_real)(i % 1000);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    struct tap_npz_writer *writer = tap_npz_create(scratch_path("x.npz"), 0, &error);
    tap_npz_add_real(writer, "tensor", 1, &n, tensor);
    cr_assert_eq(tap_npz_commit(writer, &error), TAP_OK);
    getrusage(RUSAGE_SELF, &after);
    tap_mem_free(tensor);
    cr_assert_lt(after.ru_maxrss - before.ru_maxrss, 1024, "%ld KB", after.ru_maxrss - before.ru_maxrss);
}
