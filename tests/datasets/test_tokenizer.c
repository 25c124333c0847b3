/* test_tokenizer.c: how texts are cut, which tokens get which numbers, and that nobody can type a special token. */
#include "data_fixture.h"
#include "mem.h"
#include "tokenizer.h"
#include "unicode.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

static struct tap_error error;

static struct tap_tokenizer_options default_options(void)
{
    return (struct tap_tokenizer_options){
        .kind = "word", .lowercase = true, .min_count = 1, .max_vocab = 50000, .max_length = 256};
}

static struct tap_tokenizer *learn_rows(struct tap_tokenizer_options options, const char *const *texts, size_t n_texts)
{
    struct tap_rows *rows = tap_rows_new();
    for (size_t i = 0; i < n_texts; i++)
        cr_assert_eq(tap_rows_append(rows, "a", 1, texts[i], strlen(texts[i]), i + 1, &error), TAP_OK);
    tap_error_clear(&error);
    struct tap_tokenizer *tokenizer = tap_tokenizer_learn(&options, (struct tap_row_choice){rows, NULL, 0}, &error);
    tap_rows_free(rows);
    return tokenizer;
}

static struct tap_tokenizer *learn(struct tap_tokenizer_options options, const char *text)
{
    return learn_rows(options, &text, 1);
}

/* The whole vocabulary with a bar behind each token. */
static const char *vocabulary(const struct tap_tokenizer *tokenizer)
{
    static char list[4096];
    size_t n = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < tap_tokenizer_n_tokens(tokenizer); i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s|", tap_tokenizer_token(tokenizer, i));
    return list;
}

/* The tokens of a text by their names, with a bar behind each. */
static const char *cut(const struct tap_tokenizer *tokenizer, const char *text, bool *out_is_truncated)
{
    static char list[4096];
    struct tap_token_buffer buffer = {0};
    size_t n = 0;
    list[0] = '\0';
    cr_assert_eq(tap_tokenizer_encode(tokenizer, text, strlen(text), &buffer, out_is_truncated, &error), TAP_OK);
    for (size_t i = 0; i < buffer.n; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s|", tap_tokenizer_token(tokenizer, buffer.ids[i]));
    tap_token_buffer_clear(&buffer);
    return list;
}

/* A text cut by a tokenizer that has learned all of that text. */
static void expect_cut(const char *kind, bool lowercase, const char *text, const char *expected)
{
    struct tap_tokenizer_options options = default_options();
    options.kind = kind;
    options.lowercase = lowercase;
    struct tap_tokenizer *tokenizer = learn(options, text);
    cr_assert_not_null(tokenizer, "%s", error.message);
    const char *found = cut(tokenizer, text, NULL);
    cr_expect_str_eq(found, expected, "%s of '%s': '%s', not '%s'", kind, text, found, expected);
    tap_tokenizer_free(tokenizer);
}

Test(tokenizer, words_are_runs_of_letters_marks_and_digits)
{
    expect_cut("word", true, "Don't panic: it's 42nd!", "don|'|t|panic|:|it|'|s|42nd|!|");
    expect_cut("word", true, "snake_case e-mail a.b", "snake|_|case|e|-|mail|a|.|b|");
    expect_cut("word", true, "  many   blanks\t", "many|blanks|");
    expect_cut("word", true, "!!! ...", "!|!|!|.|.|.|");
    expect_cut("word", true, "\xC3\x89t\xC3\xA9 CAF\xC3\x89", "\xC3\xA9t\xC3\xA9|caf\xC3\xA9|");
    expect_cut("word", true, "e\xCC\x81t e\xCC\x81",
               "e\xCC\x81t|e\xCC\x81|"); /* decomposed: the mark stays in the word */
    expect_cut("word", true, "\xD0\x9C\xD0\x9E\xD0\xA1\xD0\x9A\xD0\x92\xD0\x90", /* Cyrillic capitals */
               "\xD0\xBC\xD0\xBE\xD1\x81\xD0\xBA\xD0\xB2\xD0\xB0|");
    expect_cut("word", true, "\xE0\xA4\xB9\xE0\xA4\xBF\xE0\xA4\xA8\xE0\xA5\x8D\xE0\xA4\xA6\xE0\xA5\x80", /* Hindi */
               "\xE0\xA4\xB9\xE0\xA4\xBF\xE0\xA4\xA8\xE0\xA5\x8D\xE0\xA4\xA6\xE0\xA5\x80|");
    expect_cut("word", true, "\xEC\x95\x88\xEB\x85\x95 \xEC\x84\xB8\xEA\xB3\x84", /* Hangul stays in words */
               "\xEC\x95\x88\xEB\x85\x95|\xEC\x84\xB8\xEA\xB3\x84|");
}

Test(tokenizer, case_stays_when_asked)
{
    expect_cut("word", false, "The the THE", "The|the|THE|");
    expect_cut("word", true, "The the THE", "the|the|the|");
}

Test(tokenizer, cjk_characters_stand_alone)
{
    expect_cut("word", true,
               "\xE4\xB8\xAD\xE6\x96\x87"
               "abc\xE5\xAD\x97"
               "12",
               "\xE4\xB8\xAD|\xE6\x96\x87|abc|\xE5\xAD\x97|12|");
    expect_cut("word", true, "\xE3\x81\x8B\xE3\x82\xAB\xE3\x83\xBC", "\xE3\x81\x8B|\xE3\x82\xAB|\xE3\x83\xBC|");
    expect_cut("word", true, "\xE3\x81\x8B\xE3\x82\x99\xE3\x81\x8B", "\xE3\x81\x8B\xE3\x82\x99|\xE3\x81\x8B|");
    expect_cut("word", true, "\xF0\xA0\x80\x80\xF0\xA0\x80\x81", "\xF0\xA0\x80\x80|\xF0\xA0\x80\x81|");
}

Test(tokenizer, what_cannot_be_seen_separates_and_is_no_token)
{
    expect_cut("word", true,
               "a\xC2\xA0"
               "b\xE2\x80\x8B"
               "c\xEF\xBB\xBF"
               "d\xC2\xAD"
               "e\x01"
               "f\xE3\x80\x80g",
               "a|b|c|d|e|f|g|");
    expect_cut("word", true,
               "\xE2\x9D\xA4\xEF\xB8\x8F"
               "great",
               "\xE2\x9D\xA4|great|");                                     /* heart, colour selector */
    expect_cut("word", true, "\xEF\x81\x99 ab-c", "\xEF\x81\x99|ab|-|c|"); /* private use stays */
    expect_cut("word", true, "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80|\xF0\x9F\x98\x80|");
}

Test(tokenizer, characters_and_bytes)
{
    expect_cut("char", true, "Ab 1\xE4\xB8\xAD!", "a|b|1|\xE4\xB8\xAD|!|");
    expect_cut("char", true, "e\xCC\x81", "e|\xCC\x81|");
    expect_cut("byte", true, "A \xC3\x89", "<0x61>|<0x20>|<0xC3>|<0xA9>|");
    expect_cut("byte", false, "A\x7F\n", "<0x41>|<0x7F>|<0x0A>|");
    expect_cut("byte", false, "<0x41>", "<0x3C>|<0x30>|<0x78>|<0x34>|<0x31>|<0x3E>|");
}

Test(tokenizer, bytes_have_a_fixed_vocabulary)
{
    struct tap_tokenizer_options options = default_options();
    options.kind = "byte";
    options.add_cls = true;
    struct tap_tokenizer *tokenizer = learn(options, "x");
    cr_assert_not_null(tokenizer);
    cr_expect_eq(tap_tokenizer_n_tokens(tokenizer), 258);
    for (uint32_t byte = 0; byte < 256; byte++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", byte);
        cr_expect_str_eq(tap_tokenizer_token(tokenizer, byte + 2), name);
    }
    tap_tokenizer_free(tokenizer);
    options.max_vocab = 257;
    cr_expect_null(learn(options, "x"));
    cr_expect_not_null(strstr(error.message, "data.max_vocab: 257; a byte tokenizer always has 258 tokens"));
}

Test(tokenizer, a_text_without_tokens_is_one_unknown)
{
    const char *texts[] = {"", " ", "\t \r", "\xE2\x80\x8B", "\x01\x02"};
    struct tap_tokenizer_options options = default_options();
    struct tap_tokenizer *plain = learn(options, "a b");
    options.add_cls = true;
    struct tap_tokenizer *with_cls = learn(options, "a b");
    bool is_truncated = true;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_expect_str_eq(cut(plain, texts[i], &is_truncated), "[UNK]|");
        cr_expect_not(is_truncated);
        cr_expect_str_eq(cut(with_cls, texts[i], NULL), "[CLS]|[UNK]|");
    }
    cr_expect_str_eq(cut(plain, "unseen words", NULL), "[UNK]|[UNK]|");
    tap_tokenizer_free(plain);
    tap_tokenizer_free(with_cls);
}

Test(tokenizer, special_tokens_cannot_be_typed)
{
    const char *kinds[] = {"word", "char", "byte", "wordpiece"};
    for (int i = 0; i < 4; i++) {
        struct tap_tokenizer_options options = default_options();
        options.kind = kinds[i];
        options.add_cls = true;
        options.lowercase = false;
        const char *text = "price [SEP] 10 [CLS] [UNK]";
        struct tap_tokenizer *tokenizer = learn(options, text);
        struct tap_token_buffer buffer = {0};
        cr_assert_eq(tap_tokenizer_encode(tokenizer, text, strlen(text), &buffer, NULL, &error), TAP_OK);
        cr_assert_eq(buffer.ids[0], TAP_TOKEN_CLS);
        for (size_t j = 1; j < buffer.n; j++)
            cr_expect_gt(buffer.ids[j], TAP_TOKEN_CLS);
        tap_token_buffer_clear(&buffer);
        tap_tokenizer_free(tokenizer);
    }
    struct tap_tokenizer_options options = default_options();
    options.add_cls = true;
    struct tap_tokenizer *tokenizer = learn(options, "[CLS]");
    cr_expect_str_eq(cut(tokenizer, "[CLS]", NULL), "[CLS]|[|cls|]|");
    tap_tokenizer_free(tokenizer);
}

Test(tokenizer, vocabulary_is_by_falling_count_then_bytes)
{
    struct tap_tokenizer_options options = default_options();
    struct tap_tokenizer *tokenizer = learn(options, "b a c b Z z \xC3\xA9 ab ab ab !");
    cr_expect_str_eq(vocabulary(tokenizer), "[UNK]|ab|b|z|!|a|c|\xC3\xA9|");
    tap_tokenizer_free(tokenizer);
    options.add_cls = true;
    options.min_count = 2;
    tokenizer = learn(options, "b a c b Z z \xC3\xA9 ab ab ab !");
    cr_expect_str_eq(vocabulary(tokenizer), "[UNK]|[CLS]|ab|b|z|");
    tap_tokenizer_free(tokenizer);
    options.max_vocab = 3;
    tokenizer = learn(options, "b a c b Z z ab ab ab !");
    cr_expect_str_eq(vocabulary(tokenizer), "[UNK]|[CLS]|ab|");
    cr_expect_str_eq(cut(tokenizer, "ab b", NULL), "[CLS]|ab|[UNK]|");
    tap_tokenizer_free(tokenizer);
}

Test(tokenizer, vocabulary_does_not_depend_on_the_order_of_rows)
{
    enum { n = 200 };
    static char lines[n][64];
    const char *texts[n];
    char first[4096];
    for (int i = 0; i < n; i++)
        snprintf(lines[i], sizeof lines[i], "w%d w%d w%d tie%d", i % 7, i % 11, i % 3, i % 50);
    for (int stride = 1; stride < n; stride += 2) {
        if (stride % 5 == 0)
            continue; /* not a permutation of 200 */
        for (int i = 0; i < n; i++)
            texts[i] = lines[i * stride % n];
        struct tap_tokenizer *tokenizer = learn_rows(default_options(), texts, n);
        if (stride == 1)
            strcpy(first, vocabulary(tokenizer));
        cr_expect_str_eq(vocabulary(tokenizer), first);
        tap_tokenizer_free(tokenizer);
    }
}

Test(tokenizer, only_the_chosen_rows_are_learned)
{
    struct tap_rows *rows = tap_rows_new();
    const char *texts[] = {"train one", "valid", "train two"};
    const uint8_t parts[] = {0, 1, 0};
    for (size_t i = 0; i < 3; i++)
        tap_rows_append(rows, "a", 1, texts[i], strlen(texts[i]), i + 1, &error);
    struct tap_tokenizer_options options = default_options();
    struct tap_tokenizer *tokenizer = tap_tokenizer_learn(&options, (struct tap_row_choice){rows, parts, 0}, &error);
    cr_expect_str_eq(vocabulary(tokenizer), "[UNK]|train|one|two|");
    tap_tokenizer_free(tokenizer);
    tap_rows_free(rows);
}

Test(tokenizer, long_texts_keep_their_head)
{
    struct tap_tokenizer_options options = default_options();
    options.max_length = 3;
    bool is_truncated;
    struct tap_tokenizer *tokenizer = learn(options, "a b c d");
    cr_expect_str_eq(cut(tokenizer, "a b c", &is_truncated), "a|b|c|");
    cr_expect_not(is_truncated);
    cr_expect_str_eq(cut(tokenizer, "a b c  ", &is_truncated), "a|b|c|");
    cr_expect_not(is_truncated, "blanks are nothing to cut off");
    cr_expect_str_eq(cut(tokenizer, "a b c d", &is_truncated), "a|b|c|");
    cr_expect(is_truncated);
    tap_tokenizer_free(tokenizer);
    options.add_cls = true;
    tokenizer = learn(options, "a b c d");
    cr_expect_str_eq(cut(tokenizer, "a b", &is_truncated), "[CLS]|a|b|");
    cr_expect_not(is_truncated);
    cr_expect_str_eq(cut(tokenizer, "a b c", &is_truncated), "[CLS]|a|b|");
    cr_expect(is_truncated, "[CLS] counts");
    tap_tokenizer_free(tokenizer);
}

/* What the tokenizer keeps of a text of n tokens, "a b c ...", and that it says so. */
static void expect_kept(const char *truncate, int max_length, bool add_cls, int n, const char *expected)
{
    struct tap_tokenizer_options options = default_options();
    char text[64] = "";
    bool is_truncated;
    options.max_length = max_length;
    options.truncate = truncate;
    options.add_cls = add_cls;
    struct tap_tokenizer *tokenizer = learn(options, "a b c d e f g h i j");
    cr_assert_not_null(tokenizer, "%s", error.message);
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%c ", 'a' + i);
    const char *found = cut(tokenizer, text, &is_truncated);
    cr_expect_str_eq(found, expected, "%s %d of %d: %s, not %s", truncate, max_length, n, found, expected);
    cr_expect_eq(is_truncated, n + add_cls > max_length, "%s %d of %d", truncate, max_length, n);
    tap_tokenizer_free(tokenizer);
}

Test(tokenizer, long_texts_keep_what_truncate_says)
{
    static const char *const all[] = {"head", "tail", "both", NULL};
    for (int i = 0; i < 4; i++) {
        expect_kept(all[i], 4, false, 4, "a|b|c|d|");
        expect_kept(all[i], 4, true, 3, "[CLS]|a|b|c|");
        expect_kept(all[i], 4, false, 0, "[UNK]|");
        expect_kept(all[i], 4, true, 0, "[CLS]|[UNK]|");
    }
    expect_kept(NULL, 4, false, 10, "a|b|c|d|");
    expect_kept("head", 4, false, 10, "a|b|c|d|");
    expect_kept("tail", 4, false, 10, "g|h|i|j|");
    expect_kept("both", 4, false, 10, "a|b|i|j|");
    expect_kept("both", 5, false, 10, "a|b|c|i|j|");
    expect_kept("tail", 4, false, 5, "b|c|d|e|");
    expect_kept("both", 4, false, 5, "a|b|d|e|");
    expect_kept("head", 4, true, 10, "[CLS]|a|b|c|");
    expect_kept("tail", 4, true, 10, "[CLS]|h|i|j|");
    expect_kept("both", 4, true, 10, "[CLS]|a|b|j|");
    expect_kept("both", 5, true, 10, "[CLS]|a|b|i|j|");
    expect_kept("head", 1, false, 10, "a|");
    expect_kept("tail", 1, false, 10, "j|");
    expect_kept("both", 1, false, 10, "a|");
    expect_kept("tail", 2, true, 10, "[CLS]|j|");
    expect_kept("both", 2, true, 10, "[CLS]|a|");
    expect_kept("both", 9, false, 10, "a|b|c|d|e|g|h|i|j|");
}

/* Of all kinds: the tokens that truncation leaves are the first and last of the whole text's, and texts encoded before
 * stay as they are. */
Test(tokenizer, every_kind_keeps_the_ends_of_its_own_tokens)
{
    const char *kinds[] = {"word", "char", "byte", "wordpiece"};
    const char *names[] = {"head", "tail", "both"};
    const char *text = "Some words, \xC3\xA9t\xC3\xA9 words and \xE4\xB8\xAD\xE6\x96\x87 with words at the end";
    for (int i = 0; i < 24; i++) {
        struct tap_tokenizer_options options = default_options();
        struct tap_token_buffer whole = {0};
        struct tap_token_buffer kept = {0};
        bool is_truncated;
        options.kind = kinds[i % 4];
        options.truncate = names[i / 4 % 3];
        options.add_cls = i >= 12;
        size_t n_cls = options.add_cls ? 1 : 0;
        struct tap_tokenizer *tokenizer = learn(options, text);
        cr_expect_str_eq(tap_tokenizer_truncate_name(tokenizer), options.truncate);
        cr_assert_eq(tap_tokenizer_encode(tokenizer, text, strlen(text), &whole, NULL, &error), TAP_OK);
        for (uint32_t length = 2; length <= whole.n; length++) {
            tokenizer->max_length = length;
            size_t start = kept.n;
            cr_assert_eq(tap_tokenizer_encode(tokenizer, text, strlen(text), &kept, &is_truncated, &error), TAP_OK);
            cr_assert_eq(kept.n - start, length);
            cr_expect_eq(is_truncated, length < whole.n);
            size_t room = length - n_cls;
            size_t n_front = i / 4 % 3 == 0 ? room : i / 4 % 3 == 1 ? 0 : room - room / 2;
            const uint32_t *ids = kept.ids + start;
            cr_expect_eq(memcmp(ids, whole.ids, (n_cls + n_front) * sizeof *ids), 0);
            cr_expect_eq(
                memcmp(ids + n_cls + n_front, whole.ids + whole.n - (room - n_front), (room - n_front) * sizeof *ids),
                0);
        }
        tap_token_buffer_clear(&whole);
        tap_token_buffer_clear(&kept);
        tap_tokenizer_free(tokenizer);
    }
}

Test(tokenizer, words_up_to_the_limit_are_known)
{
    char text[TAP_TOKEN_MAX_BYTES + 2];
    memset(text, 'w', sizeof text);
    text[TAP_TOKEN_MAX_BYTES] = '\0';
    struct tap_tokenizer *tokenizer = learn(default_options(), text);
    cr_expect_eq(tap_tokenizer_n_tokens(tokenizer), 2);
    cr_expect_str_neq(cut(tokenizer, text, NULL), "[UNK]|");
    text[TAP_TOKEN_MAX_BYTES] = 'w';
    text[TAP_TOKEN_MAX_BYTES + 1] = '\0';
    cr_expect_str_eq(cut(tokenizer, text, NULL), "[UNK]|", "not taken for its own start");
    tap_tokenizer_free(tokenizer);
    tokenizer = learn(default_options(), text);
    cr_expect_eq(tap_tokenizer_n_tokens(tokenizer), 1);
    tap_tokenizer_free(tokenizer);
}

Test(tokenizer, invalid_bytes_do_no_harm)
{
    const char *kinds[] = {"word", "char", "wordpiece", "byte"};
    for (int i = 0; i < 4; i++) {
        struct tap_tokenizer_options options = default_options();
        options.kind = kinds[i];
        struct tap_tokenizer *tokenizer = learn(options, "a b");
        const char *found = cut(tokenizer,
                                "a\xFF"
                                "b\xE4\xB8",
                                NULL);
        if (i < 3)
            cr_expect_str_eq(found, "a|[UNK]|b|[UNK]|[UNK]|");
        tap_tokenizer_free(tokenizer);
    }
}

Test(tokenizer, bad_options_are_refused_by_key)
{
    struct tap_tokenizer_options options = default_options();
    options.kind = "syllable";
    cr_expect_null(learn(options, "a"));
    cr_expect_str_eq(error.message,
                     "data.tokenizer: 'syllable' is unknown; accepted: 'word', 'char', 'byte', 'wordpiece'");
    options = default_options();
    options.truncate = "middle";
    cr_expect_null(learn(options, "a"));
    cr_expect_str_eq(error.message, "data.truncate: 'middle' is unknown; accepted: 'head', 'tail', 'both'");
    options = default_options();
    options.min_count = 0;
    cr_expect_null(learn(options, "a"));
    cr_expect_not_null(strstr(error.message, "data.min_count: 0"));
    options = default_options();
    options.max_vocab = 0;
    cr_expect_null(learn(options, "a"));
    cr_expect_not_null(strstr(error.message, "data.max_vocab: 0"));
    options.max_vocab = 1;
    options.add_cls = true;
    cr_expect_null(learn(options, "a"));
    cr_expect_not_null(strstr(error.message, "data.max_vocab: 1; at least 2"));
    for (int length = -1; length < 2; length++) {
        options = default_options();
        options.max_length = length;
        options.add_cls = length == 1;
        cr_expect_null(learn(options, "a"));
        cr_expect_not_null(strstr(error.message, "data.max_length: "), "%s", error.message);
    }
}

Test(tokenizer, stored_parts_give_the_same_tokenizer)
{
    const char *kinds[] = {"word", "char", "byte", "wordpiece"};
    const char *truncates[] = {"head", "tail", "both", NULL};
    for (int i = 0; i < 32; i++) {
        const char *tokens[512];
        struct tap_tokenizer_options options = default_options();
        options.kind = kinds[i % 4];
        options.add_cls = i / 4 % 2 != 0;
        options.lowercase = options.add_cls;
        options.truncate = truncates[i / 8];
        options.max_length = 9;
        struct tap_tokenizer *learned = learn(options, "Some words, some CAF\xC3\x89 \xE4\xB8\xAD\xE6\x96\x87.");
        uint32_t n = tap_tokenizer_n_tokens(learned);
        for (uint32_t j = 0; j < n; j++)
            tokens[j] = tap_tokenizer_token(learned, j);
        struct tap_tokenizer *stored =
            tap_tokenizer_from_parts(&options, tokens, n, &error);
        cr_assert_not_null(stored, "%s", error.message);
        char expected[4096];
        const char *text = "Other WORDS, caf\xC3\xA9 \xE6\x96\x87 [CLS] and more of them";
        bool is_truncated;
        strcpy(expected, cut(learned, text, NULL));
        cr_expect_str_eq(cut(stored, text, &is_truncated), expected);
        cr_expect(is_truncated);
        tap_tokenizer_free(learned);
        tap_tokenizer_free(stored);
    }
}

static void expect_bad_parts(const char *kind, bool add_cls, const char *const *tokens, size_t n, const char *words)
{
    tap_error_clear(&error);
    struct tap_tokenizer_options options = {.kind = kind, .lowercase = true, .add_cls = add_cls, .max_length = 16};
    cr_expect_null(tap_tokenizer_from_parts(&options, tokens, n, &error));
    cr_expect_not_null(strstr(error.message, words), "'%s' not in '%s'", words, error.message);
}

Test(tokenizer, impossible_stored_parts_are_refused)
{
    char too_long[TAP_TOKEN_MAX_BYTES + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    expect_bad_parts("word", false, NULL, 0, "0 tokens");
    expect_bad_parts("word", true, (const char *[]){"[UNK]"}, 1, "1 tokens; 2 to");
    expect_bad_parts("word", false, (const char *[]){"a", "[UNK]"}, 2, "token 0 is 'a'; [UNK] is needed");
    expect_bad_parts("word", true, (const char *[]){"[UNK]", "a"}, 2, "token 1 is 'a'; [CLS] is needed");
    expect_bad_parts("word", false, (const char *[]){"[UNK]", "a", "b", "a"}, 4, "tokens 1 and 3 are both 'a'");
    expect_bad_parts("word", false, (const char *[]){"[UNK]", "[UNK]"}, 2, "tokens 0 and 1 are both '[UNK]'");
    expect_bad_parts("word", false, (const char *[]){"[UNK]", ""}, 2, "token 1 is ''");
    expect_bad_parts("word", false, (const char *[]){"[UNK]", too_long}, 2, "1 to 256 bytes");
    expect_bad_parts("word", false, (const char *[]){"[UNK]", "\xFF"}, 2, "UTF-8");
    expect_bad_parts("wordpiece", false, (const char *[]){"[UNK]", "##"}, 2, "token 1 is '##', which no wordpiece");
    expect_bad_parts("syllable", false, (const char *[]){"[UNK]"}, 1, "'syllable' is unknown");
    expect_bad_parts("byte", false, (const char *[]){"[UNK]", "<0x01>"}, 2, "a byte tokenizer has not there");
    expect_bad_parts("byte", false, (const char *[]){"[UNK]", "<0x00>"}, 2, "a byte tokenizer has more");
    const struct tap_tokenizer_options no_length = {.kind = "word"}, negative = {.kind = "word", .max_length = -1};
    cr_expect_null(tap_tokenizer_from_parts(&no_length, (const char *[]){"[UNK]"}, 1, NULL));
    cr_expect_null(tap_tokenizer_from_parts(&negative, (const char *[]){"[UNK]"}, 1, NULL));
    const struct tap_tokenizer_options unknown = {.kind = "word", .max_length = 9, .truncate = "end"};
    cr_expect_null(tap_tokenizer_from_parts(&unknown, (const char *[]){"[UNK]"}, 1, &error));
}

Test(tokenizer, encoding_takes_memory_for_the_buffer_alone)
{
    struct tap_tokenizer *tokenizer = learn(default_options(), "some words");
    struct tap_token_buffer buffer = {0};
    cr_assert(tap_mem_reserve(&buffer.ids, &buffer.capacity, 1000, sizeof *buffer.ids));
    uint64_t before = tap_mem_n_calls();
    for (int i = 0; i < 100; i++)
        cr_assert_eq(tap_tokenizer_encode(tokenizer, "Some unseen words!", 18, &buffer, NULL, &error), TAP_OK);
    cr_expect_eq(tap_mem_n_calls(), before);
    cr_expect_eq(buffer.n, 400);
    tap_token_buffer_clear(&buffer);
    tap_tokenizer_free(tokenizer);
}

Test(tokenizer, every_failed_allocation_is_an_error)
{
    const char *kinds[] = {"word", "byte"};
    for (int i = 0; i < 4; i++) {
        struct tap_tokenizer_options options = default_options();
        options.kind = kinds[i / 2];
        options.add_cls = true;
        struct tap_rows *rows = tap_rows_new();
        const char *text =
            "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 ! ? . , ; : - + * /";
        tap_rows_append(rows, "a", 1, text, strlen(text), 1, &error);
        uint64_t call = 1;
        for (;; call++) {
            struct tap_token_buffer buffer = {0};
            tap_error_clear(&error);
            tap_mem_fail_at(call, i % 2 != 0);
            struct tap_tokenizer *tokenizer =
                tap_tokenizer_learn(&options, (struct tap_row_choice){rows, NULL, 0}, &error);
            enum tap_status status = error.status;
            if (tokenizer != NULL)
                status = tap_tokenizer_encode(tokenizer, text, strlen(text), &buffer, NULL, &error);
            tap_mem_fail_at(0, false);
            tap_tokenizer_free(tokenizer);
            if (status == TAP_OK) {
                tap_token_buffer_clear(&buffer);
                break;
            }
            cr_assert_eq(status, TAP_ERR_MEMORY, "%s", error.message);
            cr_assert_eq(buffer.n, 0, "nothing half done");
            tap_token_buffer_clear(&buffer);
        }
        cr_expect_gt(call, 5);
        tap_rows_free(rows);
    }
}
