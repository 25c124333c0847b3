/* test_config_write.c: a written config reads back the same; numbers under every locale; memory that runs out. */
#include <criterion/criterion.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_case.h"
#include "config_number.h"
#include "config_table.h"
#include "mem.h"
#include "rng.h"

static struct tap_rng rng_for(uint32_t place)
{
    return (struct tap_rng){.key = tap_rng_key(20240229, TAP_RNG_TEST, 0, place)};
}

/* A finite double >= 0 of any size: random bits. */
static double random_real(struct tap_rng *rng)
{
    double value;
    do {
        uint64_t bits = ((uint64_t)tap_rng_next(rng) << 32 | tap_rng_next(rng)) & ~(1ull << 63);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

/* Some characters that YAML treats in ways of its own, in any order. */
static void random_text(struct tap_rng *rng, char out[128])
{
    static const char *const pieces[] = {"a",
                                         "B9",
                                         " ",
                                         "#",
                                         ": ",
                                         "- ",
                                         "\"",
                                         "'",
                                         "\\",
                                         "\n",
                                         "\t",
                                         "\r",
                                         "\x01",
                                         "%",
                                         "@",
                                         "{",
                                         "[",
                                         "\x7F",
                                         "\xC2\x85",
                                         "\xC2\xA0",
                                         "\xE2\x80\xA8",
                                         "\xE2\x80\xA9",
                                         "&",
                                         "*",
                                         "!",
                                         "|",
                                         "\x1B",
                                         "~",
                                         "\xEF\xBB\xBF",
                                         "\xEF\xBF\xBE",
                                         "\xE4\xB8\xAD",
                                         "\xF0\x9F\x98\x80"};
    out[0] = '\0';
    for (uint32_t n = tap_rng_below(rng, 12); n > 0; n--)
        strcat(out, pieces[tap_rng_below(rng, sizeof pieces / sizeof *pieces)]);
}

/* Gives key i a random value that it accepts, within its range. */
static void set_random(struct config_case *c, size_t i, struct tap_rng *rng)
{
    const struct tap_config_key *key = &tap_config_keys[i];
    struct tap_config_text text = {0};
    char piece[128];
    if (key->only_default)
        return;
    switch (key->kind) {
    case TAP_CONFIG_KIND_INTEGER: {
        int64_t min = (int64_t)key->range.min, max = key->range.max < INT_MAX ? (int64_t)key->range.max : INT_MAX;
        tap_config_text_add(&text, "%lld", (long long)(min + tap_rng_next(rng) % (max - min + 1)));
        break;
    }
    case TAP_CONFIG_KIND_REAL: {
        double max = key->range.max < DBL_MAX ? key->range.max : INFINITY, value;
        do
            value = tap_rng_below(rng, 2) ? tap_rng_uniform(rng) : random_real(rng);
        while (value <= key->range.min || value >= max);
        tap_config_write_real(value, &text);
        break;
    }
    case TAP_CONFIG_KIND_FLAG:
        tap_config_text_add(&text, "%s", tap_rng_below(rng, 2) ? "true" : "false");
        break;
    case TAP_CONFIG_KIND_CHOICE: {
        uint32_t n = 0, chosen;
        while (key->choices[n].word != NULL)
            n++;
        do
            chosen = tap_rng_below(rng, n);
        while (!key->choices[chosen].is_supported);
        tap_config_text_add(&text, "%s", key->choices[chosen].word);
        break;
    }
    case TAP_CONFIG_KIND_TEXT:
        random_text(rng, piece);
        tap_config_text_add(&text, "x%s", piece);
        break;
    case TAP_CONFIG_KIND_TEXTS:
        tap_config_text_add(&text, "[\"encoder.*\"");
        for (uint32_t n = tap_rng_below(rng, 3); n > 0; n--)
            tap_config_text_add(&text, ", \"layer %u: [x], \\\"y\\\"\"", (unsigned)tap_rng_below(rng, 100));
        tap_config_text_add(&text, "]");
        break;
    case TAP_CONFIG_KIND_WEIGHTS:
        tap_config_text_add(&text, "[1");
        for (uint32_t n = tap_rng_below(rng, 5); n > 0; n--) {
            tap_config_text_add(&text, ", ");
            tap_config_write_real(random_real(rng), &text);
        }
        tap_config_text_add(&text, "]");
        break;
    }
    cr_expect(tap_config_set_text(&c->config, key->group, key->name, text.bytes, "random", &c->errors), "%s",
              config_case_messages(c));
    tap_config_text_clear(&text);
}

Test(config_write, a_random_config_reads_back_the_same)
{
    struct tap_rng rng = rng_for(1);
    for (int round = 0; round < 300; round++) {
        struct config_case *c = config_case_new(), *again = config_case_new();
        for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++)
            set_random(c, i, &rng);
        struct tap_config_text written = config_case_written(c);
        cr_assert(config_case_read(again, written.bytes), "%s\n%s", config_case_messages(again), written.bytes);
        cr_expect(tap_config_compare_for_resume(&c->config, &again->config, &again->errors), "%s",
                  config_case_messages(again));
        struct tap_config_text second = config_case_written(again);
        cr_expect_str_eq(second.bytes, written.bytes);
        const struct tap_config_weights *weights = &c->config.train.class_weights;
        cr_assert_eq(weights->n_values, again->config.train.class_weights.n_values);
        cr_expect_arr_eq(weights->values, again->config.train.class_weights.values, weights->n_values * sizeof(double));
        cr_expect_eq(memcmp(&c->config.optim, &again->config.optim, offsetof(struct tap_config_optim, decay)), 0);
        tap_config_text_clear(&written);
        tap_config_text_clear(&second);
        config_case_free(c);
        config_case_free(again);
    }
}

Test(config_write, a_finished_config_reads_back_finished)
{
    struct config_case *c = config_case_new(), *again = config_case_new();
    cr_expect(config_case_read(c, "data: {train: t.tsv}\nmodel: {dropout: 0.7}"));
    cr_expect(tap_config_finish(&c->config, &c->errors));
    struct tap_config_text written = config_case_written(c);
    cr_expect(strstr(written.bytes, "  residual_dropout: 0.7\n") != NULL);
    cr_expect(strstr(written.bytes, "  train: \"/") != NULL);
    cr_assert_eq(chdir("/"), 0);
    cr_expect(config_case_read(again, written.bytes));
    cr_expect(tap_config_set(&again->config, "model.dropout=0.5", &again->errors));
    cr_expect(tap_config_finish(&again->config, &again->errors));
    cr_expect_eq(again->config.model.residual_dropout, 0.7, "a resolved value stands by itself");
    cr_expect(tap_config_set(&again->config, "model.dropout=0.7", &again->errors));
    struct tap_config_text second = config_case_written(again);
    cr_expect_str_eq(second.bytes, written.bytes);
    tap_config_text_clear(&written);
    tap_config_text_clear(&second);
    config_case_free(c);
    config_case_free(again);
}

static void expect_written(double value, const char *expected)
{
    struct tap_config_text text = {0};
    tap_config_write_real(value, &text);
    cr_expect_str_eq(text.bytes, expected);
    tap_config_text_clear(&text);
}

Test(config_write, a_number_is_written_in_its_shortest_exact_form)
{
    expect_written(0.0, "0");
    expect_written(1.0, "1");
    expect_written(-1.0, "-1");
    expect_written(64.0, "64");
    expect_written(2147483647.0, "2147483647");
    expect_written(0.1, "0.1");
    expect_written(0.30000000000000004, "0.30000000000000004");
    expect_written(2.5, "2.5");
    expect_written(1e-3, "1e-3");
    expect_written(0.01, "0.01");
    expect_written(0.00125, "0.00125");
    expect_written(1e-8, "1e-8");
    expect_written(1e17, "100000000000000000");
    expect_written(1e18, "1e18");
    expect_written(DBL_MAX, "1.7976931348623157e308");
    expect_written(5e-324, "5e-324");
    expect_written(123456.789, "123456.789");
    expect_written(1.25e-20, "1.25e-20");
    expect_written(0.012345678901234567, "0.012345678901234567");
}

static void check_random_numbers(int n, uint32_t place)
{
    struct tap_rng rng = rng_for(place);
    for (int i = 0; i < n; i++) {
        double value = i % 2 ? random_real(&rng) : tap_rng_uniform(&rng) * 1000.0, again = -1.0;
        struct tap_config_text text = {0};
        tap_config_write_real(value, &text);
        cr_assert_eq(tap_config_read_real(text.bytes, text.n_bytes, &again), TAP_CONFIG_NUMBER_OK, "%s", text.bytes);
        cr_assert_eq(again, value, "%s", text.bytes);
        tap_config_text_clear(&text);
    }
}

Test(config_write, any_number_reads_back_to_the_same_bits)
{
    check_random_numbers(20000, 2);
}

/* Sets a locale with a decimal comma, making one in a folder of its own if none is installed. */
static bool use_comma_locale(char folder[])
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    char command[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            return true;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", folder);
    if (system(command) != 0 || setenv("LOCPATH", folder, 1) != 0)
        return false;
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

Test(config_write, a_decimal_comma_locale_changes_nothing)
{
    char folder[] = "/tmp/test_config_XXXXXX", command[64], with_comma[16];
    cr_assert_not_null(mkdtemp(folder));
    bool has_comma = use_comma_locale(folder);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_expect_eq(system(command), 0);
    if (!has_comma)
        cr_skip_test("no locale with a decimal comma, and no localedef to make one");
    snprintf(with_comma, sizeof with_comma, "%.1f", 0.5);
    cr_assert_str_eq(with_comma, "0,5", "the locale is in force");
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "optim: {lr: 1.5e-3, eps: 0.25}\ntrain: {class_weights: [0.5, 1.25]}"), "%s",
              config_case_messages(c));
    cr_expect_eq(c->config.optim.lr, 1.5e-3);
    cr_expect_eq(c->config.optim.eps, 0.25);
    cr_expect_str_eq(config_case_value(c, "train", "class_weights"), "[0.5, 1.25]");
    cr_expect_str_eq(config_case_value(c, "optim", "eps"), "0.25");
    cr_expect(!config_case_read(c, "optim:\n  lr: 0,5"));
    check_random_numbers(2000, 3);
    config_case_free(c);
}

/* Everything that a run does with a config, errors included; true when memory sufficed. */
static bool whole_life(const char *path)
{
    struct tap_config config, stored;
    struct tap_error error = {0};
    struct tap_config_errors errors = {0};
    struct tap_config_text text = {0};
    if (!tap_config_init(&config, &error)) {
        cr_expect_eq(error.status, TAP_ERR_MEMORY);
        cr_expect_str_eq(error.message, "out of memory for the config");
        tap_config_clear(&config);
        return false;
    }
    if (!tap_config_init(&stored, &error)) {
        tap_config_clear(&config);
        return false;
    }
    tap_config_read_file(&config, path, &errors);
    tap_config_set(&config, "train.class_weights=[1, 2]", &errors);
    tap_config_set(&config, "data.task=t", &errors);
    tap_config_set(&config, "nonsense", &errors);
    tap_config_set_text(&config, "train", "class_weights", "[3, 4, 5]", "last.npz", &errors);
    tap_config_set_text(&config, "train", "class_weights", "[3, 4", "last.npz", &errors);
    tap_config_finish(&config, &errors);
    tap_config_compare_for_resume(&stored, &config, &errors);
    tap_config_write(&config, &text);
    tap_config_document(&text);
    bool is_whole = !errors.out_of_memory && !text.out_of_memory;
    if (errors.out_of_memory)
        cr_expect_str_eq(tap_config_errors_get(&errors, tap_config_errors_count(&errors) - 1),
                         "out of memory for the config");
    if (is_whole)
        cr_expect_eq(errors.n_messages, 19u);
    tap_config_text_clear(&text);
    tap_config_errors_clear(&errors);
    tap_config_clear(&config);
    tap_config_clear(&stored);
    return is_whole;
}

Test(config_write, running_out_of_memory_anywhere_is_an_error_and_no_more, .timeout = 120)
{
    char path[] = "/tmp/test_config_XXXXXX";
    int descriptor = mkstemp(path);
    static const char file[] = "model:\n  heads: 3\n  lays: 2\n  d_ff: x\n  activation: silu\n  seed: 3\n"
                               "data:\n  train: relative\n  valid_fraction: 0.6\n  test_fraction: 0.5\n"
                               "optim:\n  warmup: 2.5\nchekpoint:\n  keep: 3\ntrain:\n  freeze: [a, b]\n  epochs: 3\n";
    cr_assert_eq(write(descriptor, file, sizeof file - 1), (ssize_t)sizeof file - 1);
    close(descriptor);
    cr_expect(whole_life(path), "with all the memory it wants");
    for (int persistent = 0; persistent < 2; persistent++) {
        uint64_t n = 1;
        for (bool is_whole = false; !is_whole; n++) {
            tap_mem_fail_at(n, persistent != 0);
            is_whole = whole_life(path);
            tap_mem_fail_at(0, false);
            cr_assert_lt(n, 20000u);
        }
        cr_expect_gt(n, 200u);
    }
    unlink(path);
}
