/* wordpiece_merges.c: see wordpiece_merges.h. Pieces are known by their numbers in the vocabulary. Counts of pairs are
 * kept up to date: a merge looks only at the words that hold the pair. */
#include "wordpiece_merges.h"

#include "mem.h"
#include "pair_counts.h"
#include "tokenizer_kinds.h"

#include <string.h>

/* A word as a row of pieces. */
struct piece_row {
    size_t start; /* in `pieces` */
    uint32_t n;
    uint64_t count;
};

struct learner {
    struct tap_string_table *vocabulary;
    uint32_t *pieces;
    struct piece_row *rows;
    uint32_t n_rows;
    struct tap_pair_counts pairs;
};

/* A character of a word as a piece, and how many bytes of the word it is. */
static size_t first_piece(const char *word, size_t position, size_t n_bytes,
                          char out_piece[TAP_PIECE_PREFIX_BYTES + TAP_UTF8_MAX_BYTES], size_t *out_n_bytes)
{
    int32_t code_point;
    size_t n_prefix_bytes = position == 0 ? 0 : TAP_PIECE_PREFIX_BYTES;
    size_t length = tap_unicode_decode(word + position, n_bytes - position, &code_point);
    TAP_CHECK(length > 0);
    memcpy(out_piece, TAP_PIECE_PREFIX, n_prefix_bytes);
    memcpy(out_piece + n_prefix_bytes, word + position, length);
    *out_n_bytes = n_prefix_bytes + length;
    return length;
}

/* Adds the characters that occur often enough to the vocabulary. */
static bool add_characters(struct tap_string_table *vocabulary, const struct tap_word_counts *words,
                           const struct tap_tokenizer_options *options)
{
    struct tap_word_counts characters = {0};
    bool has_memory = true;
    for (uint32_t i = 0; i < words->words.n && has_memory; i++) {
        const char *word = tap_string_table_get(&words->words, i);
        size_t n_bytes = tap_string_table_length(&words->words, i);
        for (size_t position = 0; position < n_bytes && has_memory;) {
            char piece[TAP_PIECE_PREFIX_BYTES + TAP_UTF8_MAX_BYTES];
            size_t n_piece_bytes;
            position += first_piece(word, position, n_bytes, piece, &n_piece_bytes);
            has_memory = tap_word_counts_add(&characters, piece, n_piece_bytes, words->counts[i]);
        }
    }
    has_memory =
        has_memory && tap_vocabulary_add_most_frequent(vocabulary, &characters, options->min_count, options->max_vocab);
    tap_word_counts_clear(&characters);
    return has_memory;
}

/* Writes the word as characters into the learner's next row; a word with one that the vocabulary lacks gets no row,
 * since it will be unknown as a whole. */
static void add_row(struct learner *learner, size_t start, const char *word, size_t n_bytes, uint64_t count)
{
    uint32_t n = 0;
    for (size_t position = 0; position < n_bytes; n++) {
        char piece[TAP_PIECE_PREFIX_BYTES + TAP_UTF8_MAX_BYTES];
        size_t n_piece_bytes;
        position += first_piece(word, position, n_bytes, piece, &n_piece_bytes);
        if (!tap_string_table_find(learner->vocabulary, piece, n_piece_bytes, &learner->pieces[start + n]))
            return;
    }
    learner->rows[learner->n_rows++] = (struct piece_row){start, n, count};
}

static bool add_rows(struct learner *learner, const struct tap_word_counts *words)
{
    size_t start = 0;
    learner->pieces = tap_mem_new(words->words.n_pool_bytes, sizeof *learner->pieces); /* characters are fewer */
    learner->rows = tap_mem_new(words->words.n, sizeof *learner->rows);
    if (learner->pieces == NULL || learner->rows == NULL)
        return false;
    for (uint32_t i = 0; i < words->words.n; i++) {
        size_t n_bytes = tap_string_table_length(&words->words, i);
        add_row(learner, start, tap_string_table_get(&words->words, i), n_bytes, words->counts[i]);
        start += n_bytes;
    }
    for (uint32_t i = 0; i < learner->n_rows; i++) {
        const struct piece_row *row = &learner->rows[i];
        const uint32_t *pieces = learner->pieces + row->start;
        for (uint32_t j = 0; j + 1 < row->n; j++)
            if (!tap_pair_counts_add(&learner->pairs, pieces[j], pieces[j + 1], i, row->count))
                return false;
    }
    return true;
}

/* Merges the pair wherever it stands in the row. Only pairs with a piece that goes or comes are counted anew. */
static bool merge_in_row(struct learner *learner, uint32_t number, uint32_t left, uint32_t right, uint32_t merged)
{
    struct piece_row *row = &learner->rows[number];
    uint32_t *pieces = learner->pieces + row->start;
    bool is_changed[TAP_WORD_MAX_CHARACTERS] = {false};
    uint32_t n = 0;
    for (uint32_t i = 0; i + 1 < row->n; i++)
        if (!is_changed[i] && pieces[i] == left && pieces[i + 1] == right) {
            is_changed[i] = true;
            is_changed[i + 1] = true;
        }
    for (uint32_t i = 0; i + 1 < row->n; i++)
        if (is_changed[i] || is_changed[i + 1])
            tap_pair_counts_take(&learner->pairs, pieces[i], pieces[i + 1], row->count);
    for (uint32_t i = 0; i < row->n; n++) {
        bool is_merged = is_changed[i];
        pieces[n] = is_merged ? merged : pieces[i];
        is_changed[n] = is_merged; /* n <= i: read before */
        i += is_merged ? 2 : 1;
    }
    row->n = n;
    for (uint32_t i = 0; i + 1 < n; i++)
        if ((is_changed[i] || is_changed[i + 1]) &&
            !tap_pair_counts_add(&learner->pairs, pieces[i], pieces[i + 1], number, row->count))
            return false;
    return true;
}

/* Adds the text of both to the vocabulary, unless other merges made the same text before. */
static bool add_merged(struct tap_string_table *vocabulary, uint32_t left, uint32_t right, uint32_t *out_number)
{
    char text[TAP_TOKEN_MAX_BYTES];
    size_t n_left = tap_string_table_length(vocabulary, left);
    size_t n_right = tap_string_table_length(vocabulary, right) - TAP_PIECE_PREFIX_BYTES;
    TAP_CHECK(n_left + n_right <= TAP_TOKEN_MAX_BYTES);
    memcpy(text, tap_string_table_get(vocabulary, left), n_left);
    memcpy(text + n_left, tap_string_table_get(vocabulary, right) + TAP_PIECE_PREFIX_BYTES, n_right);
    return tap_string_table_add(vocabulary, text, n_left + n_right, out_number);
}

static bool merge_all(struct learner *learner, uint32_t max_vocab)
{
    uint32_t pair;
    while (learner->vocabulary->n < max_vocab && tap_pair_counts_pop(&learner->pairs, &pair)) {
        uint32_t left = learner->pairs.pairs[pair].left;
        uint32_t right = learner->pairs.pairs[pair].right;
        uint32_t merged;
        if (!add_merged(learner->vocabulary, left, right, &merged))
            return false;
        /* pairs that come hold the merged piece, so that this list does not grow meanwhile */
        for (uint32_t place = learner->pairs.pairs[pair].last_place; place != TAP_NO_PLACE;
             place = learner->pairs.places[place].before)
            if (!merge_in_row(learner, learner->pairs.places[place].row, left, right, merged))
                return false;
        TAP_CHECK(learner->pairs.pairs[pair].count == 0);
    }
    return true;
}

bool tap_wordpiece_learn(struct tap_string_table *vocabulary, const struct tap_word_counts *words,
                         const struct tap_tokenizer_options *options)
{
    struct learner learner = {
        .vocabulary = vocabulary,
        .pairs = {.texts = vocabulary, .least = options->min_count > 2 ? (uint64_t)options->min_count : 2},
    };
    bool has_memory = add_characters(vocabulary, words, options) && add_rows(&learner, words) &&
                      merge_all(&learner, (uint32_t)options->max_vocab);
    tap_mem_free(learner.pieces);
    tap_mem_free(learner.rows);
    tap_pair_counts_clear(&learner.pairs);
    return has_memory;
}
