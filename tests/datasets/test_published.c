/* test_published.c: published data sets as they were published, read with the number of rows, and of repeated ones, that
 * they have. Skipped
 * where they are not at hand (TAPESTRY_DATA, else ../shared/data). */
#include "data_fixture.h"
#include "read_fixture.h"

#include <criterion/criterion.h>

#include <string.h>

TestSuite(published, .fini = fixture_remove);

struct published {
    const char *name;
    struct tap_read_options options;
    uint32_t n_rows, n_labels;
    uint64_t last_line; /* of the last row */
};

#define AS(as_format, label, text) .format = as_format, .header = "auto", .label_column = label, .text_column = text

/* Reads them all, or skips the test. */
static void expect_published(const struct published *sets, size_t n_sets)
{
    for (size_t i = 0; i < n_sets; i++) {
        const char *path = fixture_published(sets[i].name);
        if (path == NULL)
            cr_skip_test("skipped: no %s in TAPESTRY_DATA or ../shared/data", sets[i].name);
        read_path(path, sets[i].options);
        cr_assert_eq(read_error.status, TAP_OK, "%s", read_error.message);
        cr_expect_eq(rows->n, sets[i].n_rows, "%s: %u rows", sets[i].name, rows->n);
        cr_expect_eq(rows->labels.n, sets[i].n_labels, "%s: %u labels", sets[i].name, rows->labels.n);
        cr_expect_eq(rows->rows[rows->n - 1].line, sets[i].last_line, "%s: last row on line %llu", sets[i].name,
                     (unsigned long long)rows->rows[rows->n - 1].line);
    }
}
#define EXPECT_PUBLISHED(sets) expect_published(sets, sizeof(sets) / sizeof(sets)[0])

static uint32_t count_label(const char *label)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < rows->n; row++)
        n += strcmp(tap_rows_label(rows, row), label) == 0;
    return n;
}

Test(published, trec)
{
    static const struct published sets[] = {
        {"trec/TREC.train", {AS("space", "1", "2"), .label_prefix_end = ":", .bad_bytes = "replace"}, 5452, 6, 5452},
        {"trec/TREC.train", {AS("space", "1", "2"), .label_prefix_end = ":", .encoding = "latin-1"}, 5452, 6, 5452},
        {"trec/TREC.train", {AS("space", "1", "2"), .encoding = "cp1252"}, 5452, 50, 5452},
        {"trec/TREC.test", {AS("space", "1", "2"), .label_prefix_end = ":"}, 500, 6, 500},
    };
    EXPECT_PUBLISHED(sets);
    struct tap_read_options options = sets[0].options;
    options.bad_bytes = "refuse";
    read_path(fixture_published("trec/TREC.train"), options);
    expect_refusal(TAP_ERR_FORMAT, "(0xF0) is not UTF-8");
}

Test(published, sst2)
{
    static const struct published sets[] = {
        {"sst2/stsa.binary.train", {AS("space", "1", "2")}, 6920, 2, 6920},
        {"sst2/stsa.binary.dev", {AS("space", "1", "2")}, 872, 2, 872},
        {"sst2/stsa.binary.test", {AS("space", "1", "2")}, 1821, 2, 1821},
    };
    EXPECT_PUBLISHED(sets);
}

Test(published, rt_polarity)
{
    static const struct published sets[] = {
        {"rt_polarity", {AS("auto", "1", "2"), .encoding = "cp1252"}, 10662, 2, 5331},
    };
    EXPECT_PUBLISHED(sets);
    cr_expect_eq(count_label("rt-polarity.pos"), 5331);
    struct tap_read_options options = sets[0].options;
    options.encoding = "utf-8";
    read_path(fixture_published("rt_polarity"), options);
    expect_refusal(TAP_ERR_FORMAT, "rt-polarity.neg:");
}

Test(published, tables_of_tabs)
{
    static const struct published sets[] = {
        {"sms_spam/SMSSpamCollection", {AS("auto", "1", "2")}, 5574, 2, 5574},
        {"thucnews_titles/dev.txt", {AS("auto", "2", "1")}, 10000, 10, 10000},
        {"thucnews_titles/test.txt", {AS("auto", "2", "1")}, 10000, 10, 10000},
        {"listops/test_d20s.tsv", {AS("auto", "1", "2")}, 10000, 10, 10000},
    };
    EXPECT_PUBLISHED(sets);
}

Test(published, fewclue)
{
    static const struct published sets[] = {
        {"fewclue_tnews/train_few_all.json", {AS("auto", "1", "sentence")}, 1185, 15, 1185},
        {"fewclue_tnews/dev_few_all.json", {AS("auto", "label", "sentence")}, 1098, 15, 1098},
        {"fewclue_tnews/test_public.json", {AS("auto", "label_desc", "sentence")}, 2010, 15, 2010},
        {"fewclue_eprstmt/train_few_all.json", {AS("auto", "1", "sentence")}, 160, 2, 160},
        {"fewclue_eprstmt/dev_few_all.json", {AS("auto", "1", "sentence")}, 160, 2, 160},
        {"fewclue_eprstmt/test_public.json", {AS("auto", "1", "sentence")}, 610, 2, 610},
    };
    EXPECT_PUBLISHED(sets);
    cr_expect_eq(count_label("Positive"), 305);
}

Test(published, ag_news)
{
    static const struct published sets[] = {
        {"ag_news_test/test.csv", {AS("auto", "1", "2")}, 7600, 4, 7600},
        {"ag_news_test/test.csv", {AS("auto", "1", "3")}, 7600, 4, 7600},
    };
    EXPECT_PUBLISHED(sets);
    cr_expect_eq(count_label("1"), 1900);
}

Test(published, banking77)
{
    static const struct published sets[] = {
        {"banking77/train.csv", {AS("auto", "category", "text")}, 10003, 77, 10017},
        {"banking77/test.csv", {AS("auto", "category", "text")}, 3080, 77, 3085},
    };
    EXPECT_PUBLISHED(sets);
    cr_expect_eq(count_label(tap_rows_label(rows, 0)), 40);
}

Test(published, youtube_spam)
{
    static const struct published sets[] = {
        {"youtube_spam/Youtube01-Psy.csv", {AS("auto", "CLASS", "CONTENT")}, 350, 2, 352},
        {"youtube_spam/Youtube02-KatyPerry.csv", {AS("auto", "CLASS", "CONTENT")}, 350, 2, 351},
        {"youtube_spam/Youtube03-LMFAO.csv", {AS("auto", "CLASS", "CONTENT")}, 438, 2, 439},
        {"youtube_spam/Youtube04-Eminem.csv", {AS("auto", "CLASS", "CONTENT")}, 448, 2, 454},
        {"youtube_spam/Youtube05-Shakira.csv", {AS("auto", "CLASS", "CONTENT")}, 370, 2, 371},
    };
    EXPECT_PUBLISHED(sets);
    cr_expect_eq(count_label("1"), 174);
}

/* Repeated texts, those with another label, and those in train, by part; 0 for a part that is not there. */
struct repeated {
    const char *train, *valid, *test;
    struct tap_read_options options;
    uint32_t counts[TAP_N_PARTS][3];
    uint64_t n_replaced; /* in train */
};

static void expect_repeated(const struct repeated *set)
{
    struct tap_error error = {0};
    struct tap_data_options options = fixture_data_options();
    options.valid_fraction = 0;
    options.train = fixture_published(set->train);
    options.valid = set->valid != NULL ? fixture_published(set->valid) : "";
    options.test = set->test != NULL ? fixture_published(set->test) : "";
    if (options.train == NULL || options.valid == NULL || options.test == NULL)
        cr_skip_test("skipped: no %s in TAPESTRY_DATA or ../shared/data", set->train);
    options.format = set->options.format;
    options.label_column = set->options.label_column;
    options.text_column = set->options.text_column;
    options.encoding = set->options.encoding;
    options.bad_bytes = set->options.bad_bytes;
    options.label_prefix_end = set->options.label_prefix_end;
    struct tap_data *data = tap_data_open(&options, NULL, NULL, 0, &error);
    cr_assert_not_null(data, "%s", error.message);
    for (int part = 0; part < TAP_N_PARTS; part++) {
        const struct tap_data_summary *found = &data->summaries[part];
        const uint32_t *counts = set->counts[part];
        cr_expect(found->n_duplicates == counts[0] && found->n_conflicts == counts[1] && found->n_in_train == counts[2],
                  "%s, part %d: %u, %u, %u", set->train, part, found->n_duplicates, found->n_conflicts,
                  found->n_in_train);
    }
    cr_expect_eq(data->summaries[TAP_PART_TRAIN].n_replaced_bytes, set->n_replaced);
    tap_data_free(data);
}

Test(published, texts_are_repeated_as_often_as_is_known)
{
    static const struct repeated sets[] = {
        {"trec/TREC.train",
         NULL,
         "trec/TREC.test",
         {AS("space", "1", "2"), .label_prefix_end = ":", .bad_bytes = "replace"},
         {{71, 0, 0}, {0}, {0, 0, 10}},
         1},
        {"sst2/stsa.binary.train",
         "sst2/stsa.binary.dev",
         "sst2/stsa.binary.test",
         {AS("space", "1", "2")},
         {{9, 0, 0}, {0}, {0, 0, 2}},
         0},
        {"sms_spam/SMSSpamCollection", NULL, NULL, {AS("auto", "1", "2")}, {{403, 0, 0}}, 0},
        {"rt_polarity", NULL, NULL, {AS("auto", "1", "2"), .encoding = "cp1252"}, {{0}}, 0},
        {"thucnews_titles/dev.txt",
         NULL,
         "thucnews_titles/test.txt",
         {AS("auto", "2", "1")},
         {{7, 0, 0}, {0}, {11, 1, 8}},
         0},
        {"fewclue_eprstmt/train_few_all.json",
         "fewclue_eprstmt/dev_few_all.json",
         "fewclue_eprstmt/test_public.json",
         {AS("auto", "1", "sentence")},
         {{29, 0, 0}, {25, 0, 0}, {0}},
         0},
        /* titles, descriptions */
        {"ag_news_test/test.csv", NULL, NULL, {AS("auto", "1", "2")}, {{31, 4, 0}}, 0},
        {"ag_news_test/test.csv", NULL, NULL, {AS("auto", "1", "3")}, {{6, 0, 0}}, 0},
        {"banking77/train.csv",
         NULL,
         "banking77/test.csv",
         {AS("auto", "category", "text")},
         {{0}, {0}, {0}}, /* but for line ends and blanks, no two are the same */
         0},
        {"kaggle_spam_csv/spam.csv", NULL, NULL, {AS("auto", "v1", "v2"), .encoding = "latin-1"}, {{403, 0, 0}}, 0},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        expect_repeated(&sets[i]);
}

Test(published, kaggle_spam)
{
    static const struct published sets[] = {
        {"kaggle_spam_csv/spam.csv", {AS("auto", "v1", "v2"), .encoding = "latin-1"}, 5572, 2, 5573},
        {"kaggle_spam_csv/spam.csv", {AS("auto", "v1", "v2"), .encoding = "cp1252"}, 5572, 2, 5573},
        {"kaggle_spam_csv/spam.csv", {AS("auto", "v1", "v2"), .bad_bytes = "replace"}, 5572, 2, 5573},
    };
    EXPECT_PUBLISHED(sets);
    cr_expect_eq(count_label("ham"), 4825);
    struct tap_read_options options = sets[0].options;
    options.encoding = "utf-8";
    read_path(fixture_published("kaggle_spam_csv/spam.csv"), options);
    expect_refusal(TAP_ERR_FORMAT, "is not UTF-8; set data.encoding");
    cr_expect_not_null(strstr(read_error.message, "spam.csv:"));
}
