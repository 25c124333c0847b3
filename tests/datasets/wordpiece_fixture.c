/* wordpiece_fixture.c: see wordpiece_fixture.h. */
#include "wordpiece_fixture.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

static struct tap_error error;

struct tap_tokenizer_options wordpiece_options(void)
{
    return (struct tap_tokenizer_options){
        .kind = "wordpiece", .lowercase = true, .min_count = 1, .max_vocab = 50000, .max_length = 4096};
}

struct tap_tokenizer *wordpiece_learn_texts(struct tap_tokenizer_options options, const struct text *texts,
                                            size_t n_texts)
{
    struct tap_rows *rows = tap_rows_new();
    for (size_t i = 0; i < n_texts; i++)
        cr_assert_eq(tap_rows_append(rows, "a", 1, texts[i].bytes, texts[i].n_bytes, i + 1, &error), TAP_OK);
    tap_error_clear(&error);
    struct tap_tokenizer *tokenizer = tap_tokenizer_learn(&options, (struct tap_row_choice){rows, NULL, 0}, &error);
    cr_assert_not_null(tokenizer, "%s", error.message);
    tap_rows_free(rows);
    return tokenizer;
}

struct tap_tokenizer *wordpiece_from_parts(bool lowercase, int max_length, const char *const *tokens, size_t n_tokens,
                                           struct tap_error *out_error)
{
    const struct tap_tokenizer_options options = {
        .kind = "wordpiece", .lowercase = lowercase, .max_length = max_length};
    return tap_tokenizer_from_parts(&options, tokens, n_tokens, out_error);
}

struct tap_tokenizer *wordpiece_learn(struct tap_tokenizer_options options, const char *text)
{
    return wordpiece_learn_texts(options, &(struct text){(char *)text, strlen(text)}, 1);
}

const char *wordpiece_vocabulary(const struct tap_tokenizer *tokenizer)
{
    static char list[1 << 16];
    size_t n = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < tap_tokenizer_n_tokens(tokenizer); i++)
        n += (size_t)snprintf(list + n, sizeof list - n, i == 0 ? "%s" : " %s", tap_tokenizer_token(tokenizer, i));
    return list;
}

const char *wordpiece_cut(const struct tap_tokenizer *tokenizer, const char *text, size_t n_bytes)
{
    static char list[1 << 16];
    struct tap_token_buffer buffer = {0};
    size_t n = 0;
    list[0] = '\0';
    cr_assert_eq(tap_tokenizer_encode(tokenizer, text, n_bytes, &buffer, NULL, &error), TAP_OK);
    for (size_t i = 0; i < buffer.n; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, i == 0 ? "%s" : " %s",
                              tap_tokenizer_token(tokenizer, buffer.ids[i]));
    tap_token_buffer_clear(&buffer);
    return list;
}
