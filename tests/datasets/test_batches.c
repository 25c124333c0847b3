/* test_batches.c: every row once an epoch, exact places, bounds that hold, and no memory taken on the way. */
#include "batches.h"

#include "data_fixture.h"
#include "mem.h"

#include <criterion/criterion.h>

#include <string.h>

enum { n_rows = 103, most_length = 17 };

static struct tap_error error;
static uint32_t tokens[n_rows * most_length], labels[n_rows];
static size_t offsets[n_rows + 1];
static struct tap_dataset dataset;

/* Row r is (r % most_length) + 1 tokens, all with the value r. */
static void make_dataset(void)
{
    size_t n = 0;
    for (uint32_t row = 0; row < n_rows; row++) {
        for (uint32_t i = 0; i <= row % most_length; i++)
            tokens[n++] = row;
        labels[row] = row % 3;
        offsets[row + 1] = n;
    }
    dataset = (struct tap_dataset){.n_rows = n_rows,
                                   .n_labels = 3,
                                   .tokens = tokens,
                                   .offsets = offsets,
                                   .labels = labels,
                                   .n_tokens = n,
                                   .longest = most_length};
}

TestSuite(batches, .init = make_dataset);

static const struct tap_batches_options all_options[] = {
    {.batch_size = 1},
    {.batch_size = 10},
    {.batch_size = 103},
    {.batch_size = 1000, .shuffle = true, .seed = 1},
    {.batch_size = 7, .shuffle = true, .seed = 5},
    {.batch_size = 7, .batch_tokens = 64, .shuffle = true, .seed = 5},
    {.batch_tokens = 1, .shuffle = true, .seed = 5},
    {.batch_tokens = 17},
    {.batch_tokens = 100000, .shuffle = true},
};
#define N_OPTIONS (sizeof all_options / sizeof all_options[0])

/* Checks a batch and appends its rows to `rows`. */
static void take(const struct tap_batches *batches, const struct tap_batch *batch, uint32_t *rows, uint32_t *n)
{
    uint32_t n_sequences, n_tokens, longest;
    tap_batches_upper_bound(batches, &n_sequences, &n_tokens, &longest);
    cr_assert_geq(batch->segments.n, 1);
    cr_assert_leq(batch->segments.n, n_sequences);
    cr_assert_leq(batch->n_tokens, n_tokens);
    cr_assert_eq(batch->segments.offsets[0], 0);
    cr_assert_eq(batch->segments.offsets[batch->segments.n], batch->n_tokens);
    for (uint32_t s = 0; s < batch->segments.n; s++) {
        uint32_t begin = batch->segments.offsets[s];
        uint32_t end = batch->segments.offsets[s + 1];
        uint32_t row = batch->tokens[begin];
        cr_assert_eq(end - begin, row % most_length + 1);
        cr_assert_leq(end - begin, longest);
        for (uint32_t i = begin; i < end; i++)
            cr_assert_eq(batch->tokens[i], row);
        cr_assert_eq(batch->labels[s], row % 3);
        cr_assert_lt(*n, n_rows);
        rows[(*n)++] = row;
    }
    cr_assert_eq(tap_batches_position(batches), *n);
}

/* Walks an epoch; returns the number of batches. */
static uint32_t walk(struct tap_batches *batches, uint64_t epoch, uint32_t *rows)
{
    struct tap_batch batch;
    uint32_t n = 0;
    uint32_t n_batches = 0;
    tap_batches_start(batches, epoch);
    for (; tap_batches_next(batches, n_batches * 1000, &batch); n_batches++) {
        cr_assert_eq(batch.segments.first, n_batches * 1000);
        take(batches, &batch, rows, &n);
    }
    cr_assert_eq(n, n_rows);
    cr_assert_not(tap_batches_next(batches, 0, &batch), "the end stays the end");
    return n_batches;
}

Test(batches, every_row_comes_exactly_once_an_epoch)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        struct tap_batches *batches = tap_batches_new(&dataset, &all_options[i], &error);
        cr_assert_not_null(batches, "%s", error.message);
        for (uint64_t epoch = 1; epoch < 6; epoch++) {
            uint32_t rows[n_rows];
            bool is_seen[n_rows] = {false};
            uint32_t n_expected = tap_batches_count(batches, epoch);
            cr_expect_eq(walk(batches, epoch, rows), n_expected);
            for (uint32_t j = 0; j < n_rows; j++) {
                cr_assert_not(is_seen[rows[j]]);
                is_seen[rows[j]] = true;
            }
        }
        tap_batches_free(batches);
    }
}

Test(batches, sizes_are_what_was_asked)
{
    struct tap_batches *batches = tap_batches_new(&dataset, &all_options[1], &error);
    struct tap_batch batch;
    for (int i = 0; i < 10; i++) {
        cr_assert(tap_batches_next(batches, 0, &batch));
        cr_expect_eq(batch.segments.n, 10);
    }
    cr_assert(tap_batches_next(batches, 0, &batch));
    cr_expect_eq(batch.segments.n, 3, "the last one is smaller, not dropped");
    cr_expect_eq(tap_batches_count(batches, 1), 11);
    tap_batches_free(batches);
}

Test(batches, tokens_fill_a_batch_as_far_as_rows_fit)
{
    struct tap_batches_options options = {.batch_tokens = 17};
    struct tap_batches *batches = tap_batches_new(&dataset, &options, &error);
    struct tap_batch batch;
    cr_assert(tap_batches_next(batches, 0, &batch)); /* 1+2+3+4+5 = 15, and 6 more would be too many */
    cr_expect_eq(batch.segments.n, 5);
    cr_expect_eq(batch.n_tokens, 15);
    cr_assert(tap_batches_next(batches, 0, &batch)); /* 6+7, then 8 */
    cr_expect_eq(batch.segments.n, 2);
    tap_batches_free(batches);
    options.batch_tokens = 3; /* fewer than most rows have: one at a time */
    batches = tap_batches_new(&dataset, &options, &error);
    cr_assert(tap_batches_seek(batches, 16));
    cr_assert(tap_batches_next(batches, 0, &batch));
    cr_expect_eq(batch.segments.n, 1);
    cr_expect_eq(batch.n_tokens, 17);
    tap_batches_free(batches);
}

Test(batches, epochs_differ_and_repeat)
{
    struct tap_batches_options options = {.batch_size = 8, .shuffle = true, .seed = 3};
    struct tap_batches *batches = tap_batches_new(&dataset, &options, &error);
    uint32_t first[n_rows], second[n_rows], again[n_rows];
    walk(batches, 1, first);
    walk(batches, 2, second);
    walk(batches, 1, again);
    cr_expect_arr_neq(first, second, sizeof first);
    cr_expect_arr_eq(first, again, sizeof first);
    tap_batches_free(batches);
    options.seed = 4;
    batches = tap_batches_new(&dataset, &options, &error);
    walk(batches, 1, second);
    cr_expect_arr_neq(first, second, sizeof first, "another seed");
    tap_batches_free(batches);
}

Test(batches, without_shuffling_rows_come_in_order)
{
    struct tap_batches_options options = {.batch_size = 8};
    struct tap_batches *batches = tap_batches_new(&dataset, &options, &error);
    uint32_t rows[n_rows];
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        walk(batches, epoch, rows);
        for (uint32_t i = 0; i < n_rows; i++)
            cr_assert_eq(rows[i], i);
    }
    tap_batches_free(batches);
}

Test(batches, any_place_is_found_again_exactly)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        struct tap_batches *batches = tap_batches_new(&dataset, &all_options[i], &error);
        uint32_t rows[n_rows];
        uint32_t n_batches = walk(batches, 3, rows);
        for (uint32_t stop = 0; stop <= n_batches; stop++) {
            struct tap_batch batch;
            tap_batches_start(batches, 3);
            for (uint32_t j = 0; j < stop; j++)
                cr_assert(tap_batches_next(batches, 0, &batch));
            uint32_t position = tap_batches_position(batches);
            struct tap_batches *resumed = tap_batches_new(&dataset, &all_options[i], &error);
            tap_batches_start(resumed, 3);
            cr_assert(tap_batches_seek(resumed, position));
            uint32_t n = position;
            uint32_t n_left = 0;
            uint32_t rest[n_rows];
            memcpy(rest, rows, sizeof rest);
            for (; tap_batches_next(resumed, 0, &batch); n_left++)
                take(resumed, &batch, rest, &n);
            cr_assert_eq(n_left, n_batches - stop);
            cr_assert_arr_eq(rest, rows, sizeof rows);
            tap_batches_free(resumed);
        }
        cr_expect_not(tap_batches_seek(batches, n_rows + 1));
        tap_batches_free(batches);
    }
}

Test(batches, counting_another_epoch_keeps_the_place)
{
    struct tap_batches_options options = {.batch_tokens = 40, .shuffle = true, .seed = 9};
    struct tap_batches *batches = tap_batches_new(&dataset, &options, &error);
    struct tap_batch batch;
    uint32_t rows[n_rows], expected[n_rows];
    uint32_t n = 0;
    walk(batches, 2, expected);
    tap_batches_start(batches, 2);
    while (tap_batches_next(batches, 0, &batch)) {
        take(batches, &batch, rows, &n);
        cr_assert_gt(tap_batches_count(batches, 7), 0);
    }
    cr_expect_arr_eq(rows, expected, sizeof rows);
    tap_batches_free(batches);
}

Test(batches, nothing_allocates_after_creation)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        struct tap_batches *batches = tap_batches_new(&dataset, &all_options[i], &error);
        uint32_t rows[n_rows];
        uint64_t before = tap_mem_n_calls();
        for (uint64_t epoch = 1; epoch < 4; epoch++) {
            walk(batches, epoch, rows);
            tap_batches_count(batches, epoch + 1);
        }
        cr_expect_eq(tap_mem_n_calls(), before);
        tap_batches_free(batches);
    }
}

Test(batches, upper_bounds_are_reached_by_the_longest_rows)
{
    struct tap_batches_options options = {.batch_size = 6};
    uint32_t n_sequences, n_tokens, longest;
    struct tap_batches *batches = tap_batches_new(&dataset, &options, &error);
    tap_batches_upper_bound(batches, &n_sequences, &n_tokens, &longest);
    cr_expect_eq(n_sequences, 6);
    cr_expect_eq(n_tokens, 6 * 17, "103 rows hold six of length 17");
    cr_expect_eq(longest, 17);
    tap_batches_free(batches);
    options.batch_tokens = 10;
    batches = tap_batches_new(&dataset, &options, &error);
    tap_batches_upper_bound(batches, &n_sequences, &n_tokens, &longest);
    cr_expect_eq(n_tokens, 17, "one row may be longer than batch_tokens");
    cr_expect_eq(n_sequences, 8, "seven of length 1 and one of length 2 fit into 10: %u", n_sequences);
    tap_batches_free(batches);
    options.batch_tokens = UINT32_MAX;
    batches = tap_batches_new(&dataset, &options, &error);
    tap_batches_upper_bound(batches, &n_sequences, &n_tokens, &longest);
    cr_expect_eq(n_tokens, dataset.n_tokens);
    cr_expect_eq(n_sequences, n_rows);
    tap_batches_free(batches);
}

Test(batches, impossible_requests_are_refused)
{
    struct tap_dataset none = {0};
    struct tap_batches_options options = {.batch_size = 1};
    cr_expect_null(tap_batches_new(&none, &options, &error));
    cr_expect_not_null(strstr(error.message, "no rows"));
    tap_error_clear(&error);
    options.batch_size = 0;
    cr_expect_null(tap_batches_new(&dataset, &options, &error));
    cr_expect_not_null(strstr(error.message, "train.batch_size: 0"));
    tap_error_clear(&error);
    /* three rows of 2^31 tokens: never read, as the batch is refused before */
    static uint32_t three_labels[3];
    static size_t far_offsets[] = {0, (size_t)1 << 31, (size_t)2 << 31, (size_t)3 << 31};
    struct tap_dataset huge = {.n_rows = 3,
                               .n_labels = 1,
                               .offsets = far_offsets,
                               .labels = three_labels,
                               .n_tokens = (size_t)3 << 31,
                               .longest = (uint32_t)1 << 31};
    options.batch_size = 2;
    cr_expect_null(tap_batches_new(&huge, &options, &error));
    cr_expect_not_null(strstr(error.message, "a batch could hold 4294967296 tokens"), "%s", error.message);
}

Test(batches, every_failed_allocation_is_an_error)
{
    struct tap_batches_options options = {.batch_size = 8, .shuffle = true};
    uint64_t call = 1;
    for (;; call++) {
        tap_error_clear(&error);
        tap_mem_fail_at(call, false);
        struct tap_batches *batches = tap_batches_new(&dataset, &options, &error);
        tap_mem_fail_at(0, false);
        if (batches != NULL) {
            tap_batches_free(batches);
            break;
        }
        cr_assert_eq(error.status, TAP_ERR_MEMORY);
    }
    cr_expect_eq(call, 7, "six blocks");
}

/* Counts the unknown tokens of an epoch, and sums up which they are. */
static uint32_t count_dropped(struct tap_batches *batches, uint64_t epoch, uint64_t *out_places)
{
    struct tap_batch batch;
    uint32_t n = 0;
    uint32_t place = 0;
    *out_places = 0;
    tap_batches_start(batches, epoch);
    while (tap_batches_next(batches, 0, &batch))
        for (uint32_t i = 0; i < batch.n_tokens; i++, place++)
            if (batch.tokens[i] == TAP_TOKEN_UNKNOWN) {
                n++;
                *out_places += (uint64_t)place * place;
            }
    return n;
}

Test(batches, word_dropout_makes_as_many_unknown_as_it_says_anew_each_epoch)
{
    const struct tap_batches_options options[] = {{.batch_size = 10, .seed = 3, .word_dropout = 0.25},
                                                  {.batch_size = 103, .seed = 3, .word_dropout = 0.25},
                                                  {.batch_size = 10, .seed = 4, .word_dropout = 0.25}};
    struct tap_batches *batches[3];
    uint64_t places[3], others;
    uint32_t n[3];
    for (uint32_t i = 0; i < n_rows * most_length; i++)
        tokens[i] = 7;
    for (int i = 0; i < 3; i++) {
        batches[i] = tap_batches_new(&dataset, &options[i], &error);
        n[i] = count_dropped(batches[i], 2, &places[i]);
        double expected = 0.25 * (double)dataset.n_tokens; /* and five standard deviations */
        cr_expect(n[i] > expected - 5 * 13.2 && n[i] < expected + 5 * 13.2, "%u of %zu", n[i], dataset.n_tokens);
    }
    cr_expect_eq(places[0], places[1], "how the rows are cut into batches does not matter");
    cr_expect_neq(places[0], places[2], "the seed does");
    count_dropped(batches[0], 3, &others);
    cr_expect_neq(places[0], others, "and the epoch");
    cr_expect_eq(count_dropped(batches[0], 2, &others), n[0]);
    cr_expect_eq(places[0], others, "an epoch is the same when it comes again");
    for (int i = 0; i < 3; i++)
        tap_batches_free(batches[i]);
}

Test(batches, word_dropout_leaves_the_first_token_where_it_is_cls)
{
    const struct tap_batches_options options = {.batch_size = 10, .word_dropout = 0.9, .has_cls = true};
    struct tap_batches *batches = tap_batches_new(&dataset, &options, &error);
    struct tap_batch batch;
    for (uint32_t i = 0; i < n_rows * most_length; i++)
        tokens[i] = 7;
    while (tap_batches_next(batches, 0, &batch))
        for (uint32_t s = 0; s < batch.segments.n; s++)
            cr_assert_eq(batch.tokens[batch.segments.offsets[s]], 7);
    tap_batches_free(batches);
}

Test(batches, ngrams_come_with_their_rows_in_any_order_and_take_no_memory)
{
    static uint32_t buckets[n_rows];
    struct tap_ngram_store *store = &dataset.ngrams;
    const struct tap_ngram_options both = {500, 1, 1, 400};
    char word[n_rows + 1];
    memset(word, 'x', sizeof word);
    dataset.has_ngrams = true;
    for (uint32_t row = 0; row < n_rows; row++) /* row r's words are r letters long, so they have r + 2 n-grams each */
        for (uint32_t i = 0; i <= row % most_length; i++)
            cr_assert(tap_ngram_store_add(store, &both, word, row, i == 0 ? 0 : tap_ngram_hash(word, row)));
    for (uint32_t row = 0; row < n_rows; row++)
        buckets[row] = store->bigrams[dataset.offsets[row] + (row % most_length > 0 ? 1 : 0)];
    for (size_t i = 0; i < N_OPTIONS; i++) {
        struct tap_batches *batches = tap_batches_new(&dataset, &all_options[i], &error);
        struct tap_batch batch;
        cr_assert_not_null(batches);
        uint64_t n_calls = tap_mem_n_calls();
        while (tap_batches_next(batches, 0, &batch))
            for (uint32_t t = 0; t < batch.n_tokens; t++) {
                uint32_t row = batch.tokens[t];
                const struct tap_bags *bigrams = &batch.ngrams->bigrams, *characters = &batch.ngrams->characters;
                uint32_t n_bigrams = bigrams->offsets[t + 1] - bigrams->offsets[t];
                cr_assert_eq(characters->offsets[t + 1] - characters->offsets[t], row + 2);
                cr_assert_leq(n_bigrams, 1);
                cr_assert(n_bigrams == 0 || bigrams->ids[bigrams->offsets[t]] == buckets[row]);
            }
        cr_assert_eq(tap_mem_n_calls(), n_calls);
        tap_batches_free(batches);
    }
    tap_ngram_store_clear(store);
    dataset.has_ngrams = false;
}

Test(batches, more_ngrams_than_32_bits_count_are_refused_by_name)
{
    static uint32_t spellings[n_rows * most_length];
    size_t starts[] = {0, 3000000000}; /* of one spelling; nobody looks at its n-grams */
    const struct tap_batches_options one = {.batch_size = 1};
    dataset.has_ngrams = true;
    dataset.ngrams = (struct tap_ngram_store){.spellings = spellings, .starts = starts, .n_tokens = dataset.n_tokens};
    cr_assert_null(tap_batches_new(&dataset, &one, &error));
    cr_expect_str_eq(error.message, "train.batch_size: 1; a batch could hold 51000000000 character n-grams, 4294967294 at most");
    dataset.ngrams = (struct tap_ngram_store){0};
    dataset.has_ngrams = false;
}
