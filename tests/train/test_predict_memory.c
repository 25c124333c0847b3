/* test_predict_memory.c: what ./predict holds does not grow with its input. */
#include "predict_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(predict_memory, .init = make_model, .fini = work_remove);

/* The address sanitizer otherwise keeps 256 MiB of freed blocks; without it this means nothing. */
#define NO_QUARANTINE "ASAN_OPTIONS=quarantine_size_mb=0:thread_local_quarantine_size_kb=0"

/* Short lines, and yet 12 MiB of them: whoever keeps them is found out. */
#define WORDS " plum fig pear apple nut leek bean rye plum fig pear apple"

/* The peak, in KiB, while predicting so many short records from a file of a format. */
static long peak_of(const char *format, int n)
{
    const char *path = work_path("in");
    const struct program_options nowhere = {.stdout_path = "/dev/null", .environment = NO_QUARANTINE};
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    for (int i = 0; i < n; i++)
        fprintf(file, strcmp(format, "jsonl") == 0 ? "{\"text\":\"%d" WORDS "\"}\n" : "%d" WORDS "\n", i);
    cr_assert_eq(fclose(file), 0);
    struct program_result result =
        RUN_WITH(&nowhere, "predict", "--model", MODEL, "--threads", "1", "--input", path, "--input-format", format);
    expect_done(result);
    return result.peak_kib;
}

#define MOST_GROWTH_KIB 3072

Test(predict_memory, a_hundred_times_as_many_records_take_no_more)
{
    static const char *const formats[] = {"text", "csv", "jsonl"};
    for (size_t i = 0; i < 3; i++) {
        long few = peak_of(formats[i], 2000);
        long many = peak_of(formats[i], 200000);
        cr_expect_lt(many, few + MOST_GROWTH_KIB, "%s: %ld KiB, then %ld", formats[i], few, many);
    }
}

Test(predict_memory, long_records_do_not_pile_up)
{
    /* 64 texts are a batch; of 2 MiB each they would be 128 MiB */
    const char *path = work_path("long.csv");
    const struct program_options nowhere = {.stdout_path = "/dev/null", .environment = NO_QUARANTINE};
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    for (int i = 0; i < 40; i++) {
        fputs("plum,", file);
        for (int k = 0; k < 2 << 20; k++)
            fputc('x', file);
        fputc('\n', file);
    }
    cr_assert_eq(fclose(file), 0);
    struct program_result result =
        RUN_WITH(&nowhere, "predict", "--model", MODEL, "--threads", "1", "--input", path, "--input-format", "csv");
    expect_done(result);
    cr_expect_lt(result.peak_kib, peak_of("csv", 2000) + (32 << 10), "%ld KiB", result.peak_kib);
}
