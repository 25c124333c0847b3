/* test_tokenizer_wordpiece.c: which pieces are learned, into which words are cut, and which may be stored. */
#include "mem.h"
#include "unicode.h"
#include "wordpiece_fixture.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tap_error error;

/* A tokenizer with these pieces behind [UNK]. */
static struct tap_tokenizer *with_pieces(bool lowercase, const char *const *pieces, size_t n_pieces)
{
    const char *tokens[32] = {"[UNK]"};
    memcpy(tokens + 1, pieces, n_pieces * sizeof *pieces);
    struct tap_tokenizer *tokenizer =
        wordpiece_from_parts(lowercase, 4096, tokens, n_pieces + 1, &error);
    cr_assert_not_null(tokenizer, "%s", error.message);
    return tokenizer;
}
#define WITH_PIECES(lowercase, ...)                                                                                    \
    with_pieces(lowercase, (const char *const[]){__VA_ARGS__},                                                         \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void expect_cut(const struct tap_tokenizer *tokenizer, const char *text, const char *expected)
{
    const char *found = wordpiece_cut(tokenizer, text, strlen(text));
    cr_expect_str_eq(found, expected, "'%s' gives '%s', not '%s'", text, found, expected);
}

/* --- cutting -------------------------------------------------------------------------------------------------------
 */

Test(wordpiece, the_longest_piece_comes_first)
{
    struct tap_tokenizer *tokenizer =
        WITH_PIECES(true, "un", "u", "##n", "##want", "##wanted", "##ed", "a", "##able", ".");
    expect_cut(tokenizer, "Unwanted unwant un.able", "un ##wanted un ##want un . [UNK]");
    expect_cut(tokenizer, "unwanteded uned a", "un ##wanted ##ed un ##ed a");
    expect_cut(tokenizer, "able", "[UNK]"); /* ##able continues a word, a begins one, but nothing continues it */
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, a_word_with_an_unknown_part_is_one_unknown)
{
    struct tap_tokenizer *tokenizer = WITH_PIECES(true, "po", "##k", "p", "##p");
    expect_cut(tokenizer, "pok", "po ##k");
    expect_cut(tokenizer, "pokz", "[UNK]");
    expect_cut(tokenizer, "zpok", "[UNK]");
    expect_cut(tokenizer, "pok pokz pok", "po ##k [UNK] po ##k");
    expect_cut(tokenizer, "po\xFFk", "po [UNK] [UNK]"); /* a bad byte is U+FFFD, a symbol; k begins no word */
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, the_longest_match_is_not_taken_back)
{
    struct tap_tokenizer *tokenizer = WITH_PIECES(true, "a", "ab", "##bc", "##d");
    expect_cut(tokenizer, "abc abd", "[UNK] ab ##d"); /* a ##bc would do, but greedy is greedy */
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, words_of_100_characters_are_cut_and_longer_ones_unknown)
{
    struct tap_tokenizer *tokenizer = WITH_PIECES(true, "p", "##p", "\xF0\x90\x8C\xB0", "##\xF0\x90\x8C\xB0", "x");
    for (size_t n = 1; n < 205; n++) {
        char latin[256] = "";
        char gothic[4 * 256] = "";
        char accented[3 * 256] = "";
        for (size_t i = 0; i < n; i++) {
            strcat(latin, "p");
            strcat(gothic, "\xF0\x90\x8C\xB0");
            strcat(accented, "p\xCC\x81");
        }
        const char *words[] = {latin, gothic, accented};
        for (size_t w = 0; w < 3; w++) {
            struct tap_token_buffer buffer = {0};
            tap_tokenizer_encode(tokenizer, words[w], strlen(words[w]), &buffer, NULL, &error);
            cr_expect_eq(buffer.n, n <= 100 ? n : 1, "%zu characters, word %zu", n, w);
            cr_expect_eq(buffer.ids[0] == TAP_TOKEN_UNKNOWN, n > 100);
            tap_token_buffer_clear(&buffer);
        }
        strcat(latin, " x");
        const char *found = wordpiece_cut(tokenizer, latin, strlen(latin));
        cr_expect_eq(found[strlen(found) - 1], 'x', "what follows a long word is cut as ever");
    }
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, composed_and_decomposed_spellings_are_alike_without_case)
{
    struct tap_tokenizer *tokenizer =
        WITH_PIECES(true, "kanto", "lush", "##i", "\xE3\x83\x8F", "\xE1\x84\x92", "##\xE1\x85\xA1", "##\xE1\x86\xAB");
    expect_cut(tokenizer, "Kant\xC5\x8D", "kanto");
    expect_cut(tokenizer, "Kanto\xCC\x84", "kanto");
    expect_cut(tokenizer, "l\xC7\x9Cshi", "lush ##i");          /* U+01DC */
    expect_cut(tokenizer, "lu\xCC\x88\xCC\x80shi", "lush ##i"); /* its full decomposition */
    expect_cut(tokenizer, "l\xC3\xBC\xCC\x80shi", "lush ##i");  /* half of it */
    expect_cut(tokenizer, "\xE3\x83\x90", "\xE3\x83\x8F");      /* U+30D0 loses its voicing mark */
    expect_cut(tokenizer, "\xE3\x83\x8F\xE3\x82\x99", "\xE3\x83\x8F");
    expect_cut(tokenizer, "\xED\x95\x9C", "\xE1\x84\x92 ##\xE1\x85\xA1 ##\xE1\x86\xAB"); /* a syllable is its jamo */
    expect_cut(tokenizer, "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "\xE1\x84\x92 ##\xE1\x85\xA1 ##\xE1\x86\xAB");
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, marks_that_stay_are_in_their_order)
{
    const char *text = "x\xE3\x80\xAE\xF0\x96\xBF\xB0";            /* x, class 224, class 6 */
    const char *blocked = "x\xE3\x80\xAE\xCD\x8F\xF0\x96\xBF\xB0"; /* with U+034F, class 0, which is stripped */
    struct tap_tokenizer *tokenizer = WITH_PIECES(true, "x", "##\xF0\x96\xBF\xB0\xE3\x80\xAE");
    expect_cut(tokenizer, text, "x ##\xF0\x96\xBF\xB0\xE3\x80\xAE");
    expect_cut(tokenizer, blocked, "x ##\xF0\x96\xBF\xB0\xE3\x80\xAE");
    tap_tokenizer_free(tokenizer);
    tokenizer = WITH_PIECES(false, "x", "##\xE3\x80\xAE\xF0\x96\xBF\xB0");
    expect_cut(tokenizer, text, "x ##\xE3\x80\xAE\xF0\x96\xBF\xB0");
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, accents_stay_with_case)
{
    struct tap_tokenizer *tokenizer = WITH_PIECES(false, "Kant", "##\xC5\x8D", "##o", "##\xCC\x84", "\xE3\x83\x90",
                                                  "\xE3\x83\x8F", "##\xE3\x82\x99", "\xED\x95\x9C");
    expect_cut(tokenizer, "Kant\xC5\x8D", "Kant ##\xC5\x8D");
    expect_cut(tokenizer, "Kanto\xCC\x84", "Kant ##o ##\xCC\x84");
    expect_cut(tokenizer, "kant", "[UNK]");
    expect_cut(tokenizer, "\xE3\x83\x90", "\xE3\x83\x90");
    expect_cut(tokenizer, "\xE3\x83\x8F\xE3\x82\x99", "\xE3\x83\x8F ##\xE3\x82\x99");
    expect_cut(tokenizer, "\xED\x95\x9C", "\xED\x95\x9C");
    tap_tokenizer_free(tokenizer);
}

/* Every code point of Unicode in a word and alone, as it is and decomposed by hand, gives the same tokens. */
Test(wordpiece, every_code_point_is_cut_like_its_decomposition)
{
    struct tap_tokenizer *tokenizer = WITH_PIECES(true, "x", "##x", "a", "##a", "e", "##e", "i", "##i", "##u", "u");
    for (int32_t code_point = 1; code_point <= 0x10FFFF; code_point++) {
        int32_t parts[TAP_UNICODE_MAX_PARTS];
        char composed[16] = "x";
        char decomposed[32] = "x";
        char expected[256];
        size_t n_composed = 1;
        size_t n_decomposed = 1;
        if (code_point >= 0xD800 && code_point <= 0xDFFF)
            continue;
        size_t n_parts = tap_unicode_decompose(code_point, parts);
        if (n_parts == 1 && parts[0] == code_point)
            continue;
        n_composed += tap_unicode_encode(code_point, composed + 1);
        for (size_t i = 0; i < n_parts; i++) {
            int32_t again[TAP_UNICODE_MAX_PARTS];
            cr_assert(tap_unicode_decompose(parts[i], again) == 1 && again[0] == parts[i],
                      "U+%04X is decomposed to the end", (unsigned)code_point);
            n_decomposed += tap_unicode_encode(parts[i], decomposed + n_decomposed);
        }
        composed[n_composed++] = 'x';
        decomposed[n_decomposed++] = 'x';
        strcpy(expected, wordpiece_cut(tokenizer, decomposed, n_decomposed));
        cr_expect_str_eq(wordpiece_cut(tokenizer, composed, n_composed), expected, "U+%04X", (unsigned)code_point);
    }
    tap_tokenizer_free(tokenizer);
}

/* Private use, unassigned and U+FFFD are visible; zero, controls, format characters and blanks are not. */
Test(wordpiece, one_rule_for_what_cannot_be_seen)
{
    struct tap_tokenizer *tokenizer = WITH_PIECES(true, "ab", "-", "c");
    static const struct {
        const char *name, *bytes;
        size_t n_bytes;
        const char *alone, *inside;
    } cases[] = {
        {"private use", "\xEF\x81\x99", 3, "[UNK]", "ab [UNK] c"},
        {"unassigned", "\xCD\xB8", 2, "[UNK]", "ab [UNK] c"},
        {"replacement character", "\xEF\xBF\xBD", 3, "[UNK]", "ab [UNK] c"},
        {"zero", "\0", 1, "[UNK]", "ab c"}, /* a text without tokens is one unknown */
        {"control", "\x01", 1, "[UNK]", "ab c"},
        {"carriage return", "\r", 1, "[UNK]", "ab c"},
        {"zero width space", "\xE2\x80\x8B", 3, "[UNK]", "ab c"},
        {"soft hyphen", "\xC2\xAD", 2, "[UNK]", "ab c"},
        {"byte order mark", "\xEF\xBB\xBF", 3, "[UNK]", "ab c"},
        {"variation selector", "\xEF\xB8\x8F", 3, "[UNK]", "ab c"},
        {"an accent", "\xCC\x81", 2, "[UNK]", "[UNK]"}, /* goes without ending the word: abc is unknown */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[16] = "ab";
        memcpy(text + 2, cases[i].bytes, cases[i].n_bytes);
        text[2 + cases[i].n_bytes] = 'c';
        cr_expect_str_eq(wordpiece_cut(tokenizer, cases[i].bytes, cases[i].n_bytes), cases[i].alone, "%s",
                         cases[i].name);
        cr_expect_str_eq(wordpiece_cut(tokenizer, text, cases[i].n_bytes + 3), cases[i].inside, "%s", cases[i].name);
    }
    expect_cut(tokenizer, "\xEF\x81\x99 ab-c", "[UNK] ab - c");
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, special_tokens_and_prefixes_are_plain_text)
{
    const char *text = "price [SEP] 10 [MASK] [PAD] [CLS] [UNK] ##ing ##";
    for (int lowercase = 0; lowercase < 2; lowercase++) {
        struct tap_tokenizer_options options = wordpiece_options();
        options.add_cls = true;
        options.lowercase = lowercase != 0;
        struct tap_tokenizer *tokenizer = wordpiece_learn(options, text);
        struct tap_token_buffer buffer = {0};
        cr_assert_eq(tap_tokenizer_encode(tokenizer, text, strlen(text), &buffer, NULL, &error), TAP_OK);
        cr_expect_eq(buffer.ids[0], TAP_TOKEN_CLS);
        for (size_t i = 1; i < buffer.n; i++)
            cr_expect_gt(buffer.ids[i], TAP_TOKEN_CLS);
        tap_token_buffer_clear(&buffer);
        tap_tokenizer_free(tokenizer);
    }
    struct tap_tokenizer *tokenizer = WITH_PIECES(true, "#", "ing", "##ing", "x", "[", "]", "sep");
    expect_cut(tokenizer, "##ing x##ing [SEP]", "# # ing x # # ing [ sep ]");
    tap_tokenizer_free(tokenizer);
}

/* --- learning ------------------------------------------------------------------------------------------------------
 */

Test(wordpiece, characters_come_first_then_the_merges)
{
    struct tap_tokenizer *tokenizer =
        wordpiece_learn(wordpiece_options(), "low low low lower lower newest newest widest");
    /* ##e and ##w 7 times, ##o and l 5, ...; then ##o ##w and l ##o are found 5 times, and the first goes by its bytes;
     * then l ##ow 5, ##e ##s and ##es ##t 3, and those found twice */
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer),
                     "[UNK] ##e ##w ##o l ##s ##t ##r n ##d ##i w ##ow low ##es ##est ##er ##ew "
                     "##ewest lower newest");
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, ties_go_by_left_then_right_text)
{
    struct tap_tokenizer *tokenizer = wordpiece_learn(wordpiece_options(), "zb zb za za az az ay ay");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] a z ##a ##b ##y ##z ay az za zb");
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, learning_ends_by_count_or_by_size)
{
    struct tap_tokenizer_options options = wordpiece_options();
    struct tap_tokenizer *tokenizer = wordpiece_learn(options, "ab cd");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] ##b ##d a c", "a pair found once is not merged");
    tap_tokenizer_free(tokenizer);
    options.max_vocab = 6;
    tokenizer = wordpiece_learn(options, "ab ab ab cd cd");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] ##b a ##d c ab");
    tap_tokenizer_free(tokenizer);
    options.max_vocab = 3;
    tokenizer = wordpiece_learn(options, "ab ab ab cd cd");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] ##b a");
    tap_tokenizer_free(tokenizer);
    options.max_vocab = 1;
    tokenizer = wordpiece_learn(options, "ab ab ab cd cd");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK]");
    expect_cut(tokenizer, "ab cd", "[UNK] [UNK]");
    tap_tokenizer_free(tokenizer);
    options.max_vocab = 50000;
    options.min_count = 3;
    tokenizer = wordpiece_learn(options, "ab ab ab cd cd abd");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] ##b a ##d ab"); /* c is left out; ab ##d occurs once */
    expect_cut(tokenizer, "abd cd ab", "ab ##d [UNK] ab");
    tap_tokenizer_free(tokenizer);
    tokenizer = wordpiece_learn(wordpiece_options(), "");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK]");
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, words_with_a_left_out_character_are_not_merged)
{
    struct tap_tokenizer_options options = wordpiece_options();
    options.min_count = 3;
    struct tap_tokenizer *tokenizer = wordpiece_learn(options, "xyz xyz q q q xy x y z z z wz wy wy");
    /* ##y 5 times, x 4, q and z and ##z 3; w is not left out (3): wz wy wy. x ##y would be 3 with xyz and xy */
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] ##y x ##z q w z xy");
    tap_tokenizer_free(tokenizer);
    tokenizer = wordpiece_learn(options, "xyq xyq xy x y y y");
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] x ##y y",
                     "the words with the rare q do not count for x ##y");
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, a_pair_too_long_for_a_token_is_not_merged)
{
    char word[4 * 100 + 1] = "";
    char text[2 * sizeof word + 1];
    for (int i = 0; i < 100; i++)
        strcat(word, "\xF0\x90\x8C\xB0");
    snprintf(text, sizeof text, "%s %s", word, word);
    struct tap_tokenizer *tokenizer = wordpiece_learn(wordpiece_options(), text);
    size_t longest = 0;
    for (uint32_t i = 0; i < tap_tokenizer_n_tokens(tokenizer); i++)
        longest =
            strlen(tap_tokenizer_token(tokenizer, i)) > longest ? strlen(tap_tokenizer_token(tokenizer, i)) : longest;
    cr_expect_leq(longest, (size_t)TAP_TOKEN_MAX_BYTES);
    cr_expect_gt(longest, (size_t)TAP_TOKEN_MAX_BYTES / 2);
    cr_expect_null(strstr(wordpiece_cut(tokenizer, text, strlen(text)), "[UNK]"));
    tap_tokenizer_free(tokenizer);
}

Test(wordpiece, only_the_chosen_rows_are_learned)
{
    struct tap_rows *rows = tap_rows_new();
    const char *texts[] = {"train train", "valid valid", "train"};
    const uint8_t parts[] = {0, 1, 0};
    for (size_t i = 0; i < 3; i++)
        tap_rows_append(rows, "a", 1, texts[i], strlen(texts[i]), i + 1, &error);
    struct tap_tokenizer_options options = wordpiece_options();
    struct tap_tokenizer *tokenizer = tap_tokenizer_learn(&options, (struct tap_row_choice){rows, parts, 0}, &error);
    cr_expect_str_eq(wordpiece_vocabulary(tokenizer), "[UNK] ##a ##i ##n ##r t ##ai ##ain ##rain train");
    tap_tokenizer_free(tokenizer);
    tap_rows_free(rows);
}

Test(wordpiece, the_order_of_rows_does_not_matter)
{
    enum { n = 200 };
    static char lines[n][64];
    struct text texts[n];
    static char first[1 << 16];
    for (int i = 0; i < n; i++)
        snprintf(lines[i], sizeof lines[i], "w%c%ca q%cw%ct tie%c%d", 'a' + i % 7, 'a' + i % 11, 'a' + i % 3,
                 'b' + i % 5, 'a' + i % 25, i % 50);
    for (int stride = 1; stride < n; stride += 2) {
        if (stride % 5 == 0)
            continue; /* not a permutation of 200 */
        for (int i = 0; i < n; i++)
            texts[i] = (struct text){lines[i * stride % n], strlen(lines[i * stride % n])};
        struct tap_tokenizer *tokenizer = wordpiece_learn_texts(wordpiece_options(), texts, n);
        if (stride == 1)
            strcpy(first, wordpiece_vocabulary(tokenizer));
        cr_expect_str_eq(wordpiece_vocabulary(tokenizer), first);
        tap_tokenizer_free(tokenizer);
    }
    cr_expect_gt(strlen(first), 1000u);
}

/* --- stored parts, and memory --------------------------------------------------------------------------------------
 */

/* Every code point that a text can bring into the vocabulary is accepted from a checkpoint. */
Test(wordpiece, every_character_may_be_stored)
{
    for (int lowercase = 0; lowercase < 2; lowercase++) {
        struct tap_tokenizer_options options = wordpiece_options();
        options.lowercase = lowercase != 0;
        options.max_vocab = 1 << 30;
        struct tap_rows *rows = tap_rows_new();
        for (int32_t code_point = 0; code_point <= 0xE0200; code_point++) {
            char text[2 * TAP_UTF8_MAX_BYTES + 2];
            if (code_point == 0xD800)
                code_point = 0xE000;
            if (code_point == 0x34000) /* unassigned up to the tags; beyond those there is private use alone */
                code_point = 0xE0000;
            size_t n = tap_unicode_encode(code_point, text);
            text[n++] = ' ';
            text[n++] = 'x';
            n += tap_unicode_encode(code_point, text + n);
            cr_assert_eq(tap_rows_append(rows, "a", 1, text, n, 1, &error), TAP_OK);
        }
        struct tap_tokenizer *learned = tap_tokenizer_learn(&options, (struct tap_row_choice){rows, NULL, 0}, &error);
        cr_assert_not_null(learned, "%s", error.message);
        uint32_t n_tokens = tap_tokenizer_n_tokens(learned);
        cr_assert_gt(n_tokens, 200000u);
        const char **tokens = malloc(n_tokens * sizeof *tokens);
        for (uint32_t i = 0; i < n_tokens; i++)
            tokens[i] = tap_tokenizer_token(learned, i);
        struct tap_tokenizer *stored =
            wordpiece_from_parts(options.lowercase, 4096, tokens, n_tokens, &error);
        cr_expect_not_null(stored, "%s", error.message);
        free(tokens);
        tap_tokenizer_free(stored);
        tap_tokenizer_free(learned);
        tap_rows_free(rows);
    }
}

Test(wordpiece, impossible_stored_pieces_are_refused)
{
    static const struct {
        const char *piece;
        bool is_possible[2]; /* without and with lower-casing */
    } cases[] = {
        {"##", {false, false}},
        {"#", {true, true}},
        {"###", {false, false}}, /* a symbol stands alone */
        {"##.", {false, false}},
        {"##x", {true, true}},
        {"a b", {false, false}},
        {"##a b", {false, false}},
        {"a-b", {false, false}},
        {" a", {false, false}},
        {"a\r", {false, false}},
        {"##a\n", {false, false}},
        {"\r", {false, false}},
        {"A", {true, false}},
        {"##\xC3\xA9", {true, false}},
        {"\xCC\x81", {true, false}}, /* a mark alone */
        {"##\xCC\x81", {true, false}},
        {"e\xCC\x81", {true, false}},
        {"\xED\x95\x9C", {true, false}},    /* a Hangul syllable */
        {"\xE4\xB8\xAD", {true, true}},     /* Han */
        {"##\xE4\xB8\xAD", {false, false}}, /* stands alone */
        {"\xE4\xB8\xAD\xE6\x96\x87", {false, false}},
        {"\xE3\x81\x8B\xE3\x82\x99", {true, false}}, /* with a voicing mark */
        {"##\xE2\x80\x8B", {false, false}},
        {"[CLS]", {false, false}},
        {"##[UNK]", {false, false}},
        {"\xEF\x81\x99", {true, true}},                  /* private use */
        {"\xF0\x96\xBF\xB0\xE3\x80\xAE", {true, true}},  /* marks of class 6 and 224, */
        {"\xE3\x80\xAE\xF0\x96\xBF\xB0", {true, false}}, /* and not in their order */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int lowercase = 0; lowercase < 2; lowercase++) {
            const char *tokens[] = {"[UNK]", "a", cases[i].piece};
            tap_error_clear(&error);
            struct tap_tokenizer *tokenizer =
                wordpiece_from_parts(lowercase != 0, 16, tokens, 3, &error);
            cr_expect_eq(tokenizer != NULL, cases[i].is_possible[lowercase], "'%s', %d", cases[i].piece, lowercase);
            cr_expect(tokenizer != NULL || error.status == TAP_ERR_FORMAT);
            tap_tokenizer_free(tokenizer);
        }
    char word[102];
    memset(word, 'w', 101);
    for (int n = 100; n <= 101; n++) {
        word[n] = '\0';
        struct tap_tokenizer *tokenizer =
            wordpiece_from_parts(true, 16, (const char *[]){"[UNK]", word}, 2, NULL);
        cr_expect_eq(tokenizer != NULL, n == 100, "no word has more than 100 characters");
        tap_tokenizer_free(tokenizer);
        word[n] = 'w';
    }
    tap_error_clear(&error);
    cr_expect_null(
        wordpiece_from_parts(true, 16, (const char *[]){"[UNK]", "##"}, 2, &error));
    cr_expect_str_eq(error.message,
                     "vocabulary: token 1 is '##', which no wordpiece tokenizer has in the lower-casing mode");
    tap_error_clear(&error);
    cr_expect_null(
        wordpiece_from_parts(false, 16, (const char *[]){"[UNK]", "a b"}, 2, &error));
    cr_expect_str_eq(error.message, "vocabulary: token 1 is 'a b', which no wordpiece tokenizer has");
}

Test(wordpiece, every_failed_allocation_is_an_error)
{
    static char texts[1200][32];
    for (int persistent = 0; persistent < 2; persistent++) {
        struct tap_tokenizer_options options = wordpiece_options();
        struct tap_rows *rows = tap_rows_new();
        for (int i = 0; i < 1200; i++) {
            snprintf(texts[i], sizeof texts[i], "w%c%c%c%c ab", 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i % 7,
                     'a' + i % 5);
            tap_rows_append(rows, "a", 1, texts[i], strlen(texts[i]), 1, &error);
        }
        uint64_t call = 1;
        for (;; call++) {
            tap_error_clear(&error);
            tap_mem_fail_at(call, persistent != 0);
            struct tap_tokenizer *tokenizer =
                tap_tokenizer_learn(&options, (struct tap_row_choice){rows, NULL, 0}, &error);
            tap_mem_fail_at(0, false);
            tap_tokenizer_free(tokenizer);
            if (tokenizer != NULL)
                break;
            cr_assert_eq(error.status, TAP_ERR_MEMORY, "%s", error.message);
        }
        cr_expect_gt(call, 40u);
        tap_rows_free(rows);
    }
}

Test(wordpiece, cutting_takes_memory_for_the_buffer_alone)
{
    struct tap_tokenizer *tokenizer = wordpiece_learn(wordpiece_options(), "some words some words");
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
