/* test_wordpiece_reference.c: vocabularies and pieces as an independent implementation has them
 * (tests/reference/wordpiece.txt; make_wordpiece.py says how it was made). */
#include "unicode.h"
#include "wordpiece_fixture.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE "tests/reference/wordpiece.txt"
#define MOST_ROWS 256
#define LINE_BYTES 8192

static struct tap_error error;

/* Undoes \u{HEX}. */
static struct text unescape(const char *line)
{
    struct text text = {malloc(strlen(line) + 1), 0};
    while (*line != '\0') {
        if (strncmp(line, "\\u{", 3) == 0) {
            char *end;
            text.n_bytes += tap_unicode_encode((int32_t)strtol(line + 3, &end, 16), text.bytes + text.n_bytes);
            line = end + 1;
        } else {
            text.bytes[text.n_bytes++] = *line++;
        }
    }
    text.bytes[text.n_bytes] = '\0';
    return text;
}

struct reference_case {
    char name[64];
    struct tap_tokenizer_options options;
    struct text rows[MOST_ROWS];
    size_t n_rows;
    struct tap_tokenizer *tokenizer; /* once the rows are over */
    uint32_t n_tokens;
    struct text text; /* whose pieces come next */
    size_t n_texts;
};

/* The vocabulary is whole: all its tokens were compared. */
static void end_case(struct reference_case *c)
{
    if (c->tokenizer != NULL)
        cr_expect_eq(tap_tokenizer_n_tokens(c->tokenizer), c->n_tokens, "%s", c->name);
    tap_tokenizer_free(c->tokenizer);
    for (size_t i = 0; i < c->n_rows; i++)
        free(c->rows[i].bytes);
}

static void start_case(struct reference_case *c, const char *line)
{
    int lowercase;
    struct tap_tokenizer_options options = wordpiece_options();
    end_case(c);
    *c = (struct reference_case){.n_tokens = 1, .n_texts = c->n_texts};
    cr_assert_eq(sscanf(line, "%63s %d %d %d", c->name, &lowercase, &options.min_count, &options.max_vocab), 4);
    options.lowercase = lowercase != 0;
    c->options = options;
}

static void compare_token(struct reference_case *c, const char *line)
{
    struct text token = unescape(line);
    if (c->tokenizer == NULL)
        c->tokenizer = wordpiece_learn_texts(c->options, c->rows, c->n_rows);
    cr_assert_lt(c->n_tokens, tap_tokenizer_n_tokens(c->tokenizer), "%s: '%s' and what follows is missing", c->name,
                 line);
    const char *found = tap_tokenizer_token(c->tokenizer, c->n_tokens);
    cr_assert_str_eq(found, token.bytes, "%s, number %u: '%s', not '%s'", c->name, c->n_tokens, found, line);
    c->n_tokens++;
    free(token.bytes);
}

static void compare_pieces(struct reference_case *c, const char *line)
{
    struct text pieces = unescape(line[0] == ' ' ? line + 1 : line);
    const char *expected = pieces.n_bytes > 0 ? pieces.bytes : "[UNK]";
    const char *found = wordpiece_cut(c->tokenizer, c->text.bytes, c->text.n_bytes);
    cr_expect_str_eq(found, expected, "%s: '%s' gives '%s', not '%s'", c->name, c->text.bytes, found, expected);
    free(c->text.bytes);
    free(pieces.bytes);
    c->n_texts++;
}

Test(wordpiece_reference, an_independent_implementation_learns_and_cuts_the_same)
{
    static struct reference_case c;
    static char line[LINE_BYTES];
    size_t n_cases = 0;
    FILE *stream = fopen(REFERENCE, "rb");
    cr_assert_not_null(stream, REFERENCE " is looked for in the current folder, the project's root");
    while (fgets(line, sizeof line, stream) != NULL) {
        size_t n = strlen(line);
        cr_assert(n > 0 && line[n - 1] == '\n', "a line of the reference is too long");
        line[n - 1] = '\0';
        if (strncmp(line, "case ", 5) == 0) {
            start_case(&c, line + 5);
            n_cases++;
        } else if (strncmp(line, "row ", 4) == 0) {
            cr_assert_lt(c.n_rows, (size_t)MOST_ROWS);
            c.rows[c.n_rows++] = unescape(line + 4);
        } else if (strncmp(line, "token ", 6) == 0) {
            compare_token(&c, line + 6);
        } else if (strncmp(line, "text ", 5) == 0) {
            c.text = unescape(line + 5);
        } else {
            cr_assert_eq(strncmp(line, "pieces", 6), 0, "%s", line);
            compare_pieces(&c, line + 6);
        }
    }
    end_case(&c);
    fclose(stream);
    cr_expect_eq(n_cases, 9);
    cr_expect_geq(c.n_texts, 500u);
}

Test(wordpiece_reference, every_learned_vocabulary_may_be_stored)
{
    static char line[LINE_BYTES];
    struct text rows[MOST_ROWS];
    size_t n_rows = 0;
    FILE *stream = fopen(REFERENCE, "rb");
    cr_assert_not_null(stream);
    while (fgets(line, sizeof line, stream) != NULL && n_rows < MOST_ROWS) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "row ", 4) == 0)
            rows[n_rows++] = unescape(line + 4);
    }
    fclose(stream);
    for (int lowercase = 0; lowercase < 2; lowercase++) {
        static const char *tokens[4096];
        struct tap_tokenizer_options options = wordpiece_options();
        options.lowercase = lowercase != 0;
        struct tap_tokenizer *learned = wordpiece_learn_texts(options, rows, n_rows);
        uint32_t n = tap_tokenizer_n_tokens(learned);
        cr_assert(n > 500 && n <= 4096);
        for (uint32_t i = 0; i < n; i++)
            tokens[i] = tap_tokenizer_token(learned, i);
        struct tap_tokenizer *stored =
            wordpiece_from_parts(options.lowercase, 4096, tokens, n, &error);
        cr_assert_not_null(stored, "%s", error.message);
        for (size_t i = 0; i < n_rows; i++) {
            static char expected[1 << 16];
            strcpy(expected, wordpiece_cut(learned, rows[i].bytes, rows[i].n_bytes));
            cr_expect_str_eq(wordpiece_cut(stored, rows[i].bytes, rows[i].n_bytes), expected);
        }
        tap_tokenizer_free(learned);
        tap_tokenizer_free(stored);
    }
    for (size_t i = 0; i < n_rows; i++)
        free(rows[i].bytes);
}
