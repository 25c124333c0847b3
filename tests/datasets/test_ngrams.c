/* test_ngrams.c: hashed n-grams of tokens, and the batches that they make. */
#include "batches.h"
#include "ngrams.h"

#include "fnv.h"
#include "mem.h"
#include "tokenizer.h"

#include <criterion/criterion.h>

#include <string.h>

enum { CHARACTER_BUCKETS = 1000003, BIGRAM_BUCKETS = 999983 }; /* so many that the few n-grams here do not meet */

static struct tap_error error;
static const struct tap_ngram_options both = {CHARACTER_BUCKETS, 3, 5, BIGRAM_BUCKETS};

static uint32_t bucket(const char *ngram, uint32_t n_buckets)
{
    uint64_t hash = tap_fnv(TAP_FNV_START, ngram, strlen(ngram));
    return (uint32_t)((hash ^ hash >> 32) % n_buckets);
}

/* Checks that token `token` of a store has just these character n-grams, in this order. */
static void expect_characters(const struct tap_ngram_store *store, size_t token, const char *const *ngrams, size_t n)
{
    cr_assert_eq(tap_ngram_store_count(store, token, 1), n);
    for (size_t i = 0; i < n; i++)
        cr_expect_eq(store->buckets[store->starts[store->spellings[token]] + i], bucket(ngrams[i], CHARACTER_BUCKETS),
                     "%s", ngrams[i]);
}

static struct tap_tokenizer *new_tokenizer(struct tap_ngram_options ngrams, bool add_cls, int max_length)
{
    const struct tap_tokenizer_options options = {.kind = "word",
                                                  .lowercase = true,
                                                  .add_cls = add_cls,
                                                  .max_length = max_length,
                                                  .ngrams = ngrams};
    const char *tokens[] = {"[UNK]", add_cls ? "[CLS]" : "cat", add_cls ? "cat" : "sat", add_cls ? "sat" : "on"};
    struct tap_tokenizer *tokenizer = tap_tokenizer_from_parts(&options, tokens, 4, &error);
    cr_assert_not_null(tokenizer, "%s", error.message);
    return tokenizer;
}

static void encode(const struct tap_tokenizer *tokenizer, const char *text, struct tap_token_buffer *buffer)
{
    cr_assert_eq(tap_tokenizer_encode(tokenizer, text, strlen(text), buffer, NULL, &error), TAP_OK);
}

Test(ngrams, a_words_character_ngrams_are_those_of_the_word_between_marks)
{
    struct tap_ngram_store store = {0};
    const char *const cat[] = {"<ca", "<cat", "<cat>", "cat", "cat>", "at>"}, *const a[] = {"<a>"};
    const char *const cafe[] = {"<\xC3\xA9t", "<\xC3\xA9t\xC3\xA9", "<\xC3\xA9t\xC3\xA9>", "\xC3\xA9t\xC3\xA9",
                                "\xC3\xA9t\xC3\xA9>", "t\xC3\xA9>"};
    cr_assert(tap_ngram_store_add(&store, &both, "cat", 3, 0));
    cr_assert(tap_ngram_store_add(&store, &both, "a", 1, 0));
    cr_assert(tap_ngram_store_add(&store, &both, "\xC3\xA9t\xC3\xA9", 5, 0));
    cr_assert(tap_ngram_store_add(&store, &both, "cat", 3, 0));
    cr_assert(tap_ngram_store_add(&store, &both, NULL, 0, 0));
    expect_characters(&store, 0, cat, 6);
    expect_characters(&store, 1, a, 1);
    expect_characters(&store, 2, cafe, 6);
    expect_characters(&store, 3, cat, 6);
    cr_expect_eq(tap_ngram_store_count(&store, 4, 1), 0);
    cr_expect_eq(tap_ngram_store_count(&store, 0, 5), 19);
    cr_expect_eq(store.words.n, 3, "one entry for each spelling");
    tap_ngram_store_clear(&store);
}

Test(ngrams, unknown_words_keep_their_own_spelling_and_bigrams)
{
    struct tap_tokenizer *tokenizer = new_tokenizer(both, false, 9);
    struct tap_token_buffer buffer = {0};
    const char *const dog[] = {"<do", "<dog", "<dog>", "dog", "dog>", "og>"};
    encode(tokenizer, "Cat dog cow", &buffer);
    cr_assert_eq(buffer.n, 3);
    cr_expect_eq(buffer.ids[1], TAP_TOKEN_UNKNOWN);
    cr_expect_eq(buffer.ids[2], TAP_TOKEN_UNKNOWN);
    expect_characters(&buffer.ngrams, 1, dog, 6);
    cr_expect_neq(buffer.ngrams.spellings[1], buffer.ngrams.spellings[2]);
    cr_expect_eq(buffer.ngrams.bigrams[0], TAP_NO_NGRAM);
    cr_expect_eq(buffer.ngrams.bigrams[1], bucket("cat dog", BIGRAM_BUCKETS));
    cr_expect_eq(buffer.ngrams.bigrams[2], bucket("dog cow", BIGRAM_BUCKETS));
    encode(tokenizer, "dog", &buffer);
    cr_expect_eq(buffer.ngrams.bigrams[3], TAP_NO_NGRAM, "a text's first token has no bigram");
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}

Test(ngrams, a_token_that_is_no_text_has_none)
{
    struct tap_tokenizer *tokenizer = new_tokenizer(both, true, 3);
    struct tap_token_buffer buffer = {0};
    bool is_truncated;
    encode(tokenizer, "cat sat", &buffer);
    cr_expect_eq(tap_ngram_store_count(&buffer.ngrams, 0, 1), 0);
    cr_expect_eq(buffer.ngrams.bigrams[0], TAP_NO_NGRAM);
    cr_expect_eq(buffer.ngrams.bigrams[1], TAP_NO_NGRAM, "none with [CLS]");
    cr_expect_eq(buffer.ngrams.bigrams[2], bucket("cat sat", BIGRAM_BUCKETS));
    encode(tokenizer, "  ", &buffer);
    cr_expect_eq(tap_ngram_store_count(&buffer.ngrams, 3, 2), 0);
    cr_assert_eq(tap_tokenizer_encode(tokenizer, "cat cat cat", 11, &buffer, &is_truncated, &error), TAP_OK);
    cr_expect(is_truncated);
    cr_expect_eq(buffer.ngrams.n_tokens, buffer.n);
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}

Test(ngrams, what_is_cut_off_takes_its_ngrams_along)
{
    const struct tap_tokenizer_options options = {.kind = "word", .max_length = 3, .truncate = "both", .ngrams = both};
    struct tap_tokenizer *tokenizer = tap_tokenizer_from_parts(&options, (const char *[]){"[UNK]"}, 1, &error);
    struct tap_token_buffer buffer = {0};
    const char *const e[] = {"<e>"};
    encode(tokenizer, "x y", &buffer);
    encode(tokenizer, "a b c d e", &buffer); /* a b e stay */
    cr_assert_eq(buffer.n, 5);
    cr_assert_eq(buffer.ngrams.n_tokens, 5);
    expect_characters(&buffer.ngrams, 4, e, 1);
    cr_expect_eq(buffer.ngrams.bigrams[3], bucket("a b", BIGRAM_BUCKETS));
    cr_expect_eq(buffer.ngrams.bigrams[4], bucket("d e", BIGRAM_BUCKETS), "the text's own neighbour");
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}

/* The n-grams of the only token of `text` after another text, which must not matter. */
static void expect_own_spelling(const char *kind, const char *text, const char *before, size_t n_spelling)
{
    const struct tap_tokenizer_options options = {.kind = kind, .lowercase = true, .max_length = 50, .ngrams = both};
    struct tap_tokenizer *tokenizer = tap_tokenizer_from_parts(&options, (const char *[]){"[UNK]", "a"}, 2, &error);
    struct tap_token_buffer buffer = {0};
    cr_assert_not_null(tokenizer, "%s", error.message);
    encode(tokenizer, before, &buffer);
    size_t first = buffer.n;
    encode(tokenizer, text, &buffer);
    cr_assert_eq(buffer.n, first + 1, "%s", kind);
    cr_expect_eq(buffer.ids[first], TAP_TOKEN_UNKNOWN);
    uint32_t spelling = buffer.ngrams.spellings[first];
    cr_assert_neq(spelling, TAP_NO_NGRAM);
    cr_expect_eq(tap_string_table_length(&buffer.ngrams.words, spelling), n_spelling, "%s", kind);
    cr_expect_eq(memcmp(tap_string_table_get(&buffer.ngrams.words, spelling), text, n_spelling), 0, "%s", kind);
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}

Test(ngrams, an_unknown_or_too_long_token_has_the_ngrams_of_its_own_text)
{
    static char thai[100 * 3 + 1], latin[301];
    for (int i = 0; i < 100; i++)
        memcpy(thai + i * 3, "\xE0\xB8\x81", 3);
    memset(latin, 'x', 300);
    expect_own_spelling("wordpiece", "zebra", "a", 5);
    expect_own_spelling("wordpiece", "zebra", "unknown a others", 5);
    expect_own_spelling("wordpiece", latin, "a", 100); /* more than 100 characters: its first 100 */
    expect_own_spelling("wordpiece", thai, "a", 255);
    expect_own_spelling("word", thai, "a", 255); /* as many whole characters as 256 bytes hold */
    expect_own_spelling("word", latin, thai, 256);
}

Test(ngrams, a_batch_holds_the_bags_of_its_tokens_in_order)
{
    struct tap_tokenizer *tokenizer = new_tokenizer(both, false, 9);
    struct tap_token_buffer buffer = {0};
    struct tap_ngram_batch batch = {0};
    encode(tokenizer, "a cat a", &buffer);
    const struct tap_ngrams *ngrams = tap_token_buffer_ngrams(tokenizer, &buffer, &batch, &error);
    const uint32_t offsets[] = {0, 1, 7, 8}, bigram_offsets[] = {0, 0, 1, 2};
    cr_assert_not_null(ngrams);
    cr_expect_arr_eq(ngrams->characters.offsets, offsets, sizeof offsets);
    cr_expect_arr_eq(ngrams->bigrams.offsets, bigram_offsets, sizeof bigram_offsets);
    cr_expect_eq(ngrams->characters.ids[0], bucket("<a>", CHARACTER_BUCKETS));
    cr_expect_eq(ngrams->characters.ids[7], bucket("<a>", CHARACTER_BUCKETS));
    cr_expect_eq(ngrams->bigrams.ids[0], bucket("a cat", BIGRAM_BUCKETS));
    cr_expect_eq(ngrams->bigrams.ids[1], bucket("cat a", BIGRAM_BUCKETS));
    tap_token_buffer_empty(&buffer);
    encode(tokenizer, "cat", &buffer);
    ngrams = tap_token_buffer_ngrams(tokenizer, &buffer, &batch, &error);
    cr_expect_eq(ngrams->characters.offsets[1], 6);
    cr_expect_eq(ngrams->bigrams.offsets[1], 0);
    tap_ngram_batch_clear(&batch);
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
    tokenizer = new_tokenizer((struct tap_ngram_options){0}, false, 9);
    encode(tokenizer, "cat", &buffer);
    cr_expect_null(tap_token_buffer_ngrams(tokenizer, &buffer, &batch, &error));
    cr_expect_eq(error.status, TAP_OK);
    cr_expect_null(buffer.ngrams.bigrams, "nothing is kept for a tokenizer without n-grams");
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}

Test(ngrams, a_dropped_token_keeps_its_characters_and_loses_the_bigrams_it_is_part_of)
{
    struct tap_tokenizer *tokenizer = new_tokenizer(both, false, 9);
    struct tap_token_buffer buffer = {0};
    struct tap_ngram_batch batch = {0};
    const bool dropped[] = {false, true, false, false};
    const uint32_t bigram_offsets[] = {0, 0, 0, 0, 1};
    encode(tokenizer, "a cat a cat", &buffer);
    tap_ngram_batch_start(&batch);
    cr_assert(tap_ngram_batch_add(&batch, &buffer.ngrams, 0, 4, dropped));
    const struct tap_ngrams *ngrams = tap_ngram_batch_view(&batch);
    cr_expect_eq(ngrams->characters.offsets[4], 14);
    cr_expect_arr_eq(ngrams->bigrams.offsets, bigram_offsets, sizeof bigram_offsets);
    cr_expect_eq(ngrams->bigrams.ids[0], bucket("a cat", BIGRAM_BUCKETS));
    tap_ngram_batch_clear(&batch);
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}

Test(ngrams, bad_sizes_are_refused)
{
    const struct tap_ngram_options none_shortest = {10, 0, 5, 0}, crossed = {10, 6, 5, 0}, no_characters = {0, 6, 5, 3};
    const struct tap_ngram_options *bad[] = {&none_shortest, &crossed};
    struct tap_tokenizer_options options = {.kind = "word", .max_length = 5};
    for (int i = 0; i < 2; i++) {
        options.ngrams = *bad[i];
        cr_expect_null(tap_tokenizer_from_parts(&options, (const char *[]){"[UNK]"}, 1, &error));
        cr_expect_not_null(strstr(error.message, "data.char_ngram_min"));
        tap_error_clear(&error);
    }
    options.ngrams = no_characters;
    struct tap_tokenizer *tokenizer = tap_tokenizer_from_parts(&options, (const char *[]){"[UNK]"}, 1, &error);
    cr_expect_not_null(tokenizer, "lengths are not looked at where there are no character n-grams");
    tap_tokenizer_free(tokenizer);
}

Test(ngrams, a_failed_addition_leaves_the_buffer_as_it_was)
{
    struct tap_tokenizer *tokenizer = new_tokenizer(both, true, 90);
    struct tap_token_buffer buffer = {0};
    bool is_done = false;
    for (uint64_t n = 1; !is_done; n++) {
        tap_mem_fail_at(n, false);
        is_done = tap_tokenizer_encode(tokenizer, "some words and some others", 26, &buffer, NULL, &error) == TAP_OK;
        tap_mem_fail_at(0, false);
        cr_assert(is_done || (error.status == TAP_ERR_MEMORY && buffer.n == 0 && buffer.ngrams.n_tokens == 0));
        tap_error_clear(&error);
    }
    cr_expect_eq(buffer.n, 6);
    cr_expect_eq(tap_ngram_store_count(&buffer.ngrams, 2, 1), tap_ngram_store_count(&buffer.ngrams, 3, 1) + 6);
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}
