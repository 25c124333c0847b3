/* tokenizer_wordpiece.c: words are cut as the word kind cuts them, then each into the longest pieces that the
 * vocabulary has, from its start on. A piece inside a word carries the prefix ##. When any part of a word fails, or the
 * word has more than 100 characters, the whole word is one unknown. Learning the vocabulary is in wordpiece_merges.c.
 *
 * In the lower-casing mode a text is brought to its canonical decomposition (NFD) and loses its nonspacing marks, so
 * that composed and decomposed spellings give the same tokens, and letters those that they have without accents; the
 * 100 characters are those that are left. Otherwise characters stay as they are. In both, what cannot be seen (spaces,
 * controls, format characters, variation selectors) ends a word and is skipped, as in the other kinds; private-use,
 * unassigned and replacement characters stand alone like symbols.
 *
 * Source  the cutting of BERT's WordPiece: Devlin et al. 2019, arXiv:1810.04805; Wu et al. 2016, arXiv:1609.08144 */
#include "tokenizer_kinds.h"

#include "fnv.h"
#include "wordpiece_merges.h"

#include <string.h>

/* A part of the character at the cursor: itself, or one of those it decomposes into. */
struct part {
    struct tap_character character; /* its n_bytes are those of the whole character */
    uint32_t n_parts;
    bool is_stripped;
};

/* Looks at the part at the cursor; false at the end of the text. Lower-casing before decomposing gives what the other
 * order would. */
static bool peek(const struct tap_token_cursor *cursor, struct part *out)
{
    out->n_parts = 1;
    out->is_stripped = false;
    if (!tap_token_cursor_peek(cursor, &out->character))
        return false;
    if (!cursor->lowercase || out->character.code_point < 0x80)
        return true;
    int32_t parts[TAP_UNICODE_MAX_PARTS];
    out->n_parts = (uint32_t)tap_unicode_decompose(out->character.code_point, parts);
    out->character.code_point = parts[cursor->n_done];
    out->character.class = tap_unicode_class_of(out->character.code_point);
    out->is_stripped = tap_unicode_is_nonspacing_mark(out->character.code_point);
    return true;
}

static void step(struct tap_token_cursor *cursor, const struct part *part)
{
    if (++cursor->n_done == part->n_parts) {
        cursor->n_done = 0;
        cursor->position += part->character.n_bytes;
    }
}

/* Puts a code point behind those of the word. Marks that follow one another go by their combining class, as in NFD;
 * they are those from `*run` on, which a code point of class 0 ends. One that is stripped does not, or pieces would not
 * be in the order that can_have expects of them. */
static void put(struct tap_token_cursor *cursor, const struct part *part, uint32_t *run)
{
    struct tap_word *word = &cursor->word;
    int32_t code_point = part->character.code_point;
    int combining_class = cursor->lowercase ? tap_unicode_combining_class(code_point) : 0;
    if (!part->is_stripped && word->n_characters < TAP_WORD_MAX_CHARACTERS) {
        uint32_t place = word->n_characters;
        for (; combining_class > 0 && place > *run; place--) {
            if (tap_unicode_combining_class(word->characters[place - 1]) <= combining_class)
                break;
            word->characters[place] = word->characters[place - 1];
        }
        word->characters[place] = code_point;
    }
    if (!part->is_stripped && word->n_characters <= TAP_WORD_MAX_CHARACTERS)
        word->n_characters++;
    if (!part->is_stripped && combining_class == 0)
        *run = word->n_characters;
    step(cursor, part);
}

/* Cuts the next word off; false when none is left. */
static bool cut(struct tap_token_cursor *cursor)
{
    struct part part;
    uint32_t run = 0;
    cursor->word.n_characters = 0;
    for (;; step(cursor, &part)) {
        if (!peek(cursor, &part))
            return false;
        if (part.character.class != TAP_UNICODE_INVISIBLE && !part.is_stripped)
            break;
    }
    enum tap_unicode_class first = part.character.class;
    put(cursor, &part, &run);
    if (first == TAP_UNICODE_SYMBOL)
        return true;
    while (peek(cursor, &part) &&
           (part.is_stripped || (part.character.class == TAP_UNICODE_WORD &&
                                 (first == TAP_UNICODE_WORD || tap_unicode_is_mark(part.character.code_point)))))
        put(cursor, &part, &run);
    return true;
}

/* Writes the word's characters as bytes; ends[i] is where character i ends. */
static size_t write_bytes(struct tap_word *word, size_t ends[TAP_WORD_MAX_CHARACTERS])
{
    size_t n_bytes = 0;
    for (uint32_t i = 0; i < word->n_characters; i++) {
        n_bytes += tap_unicode_encode(word->characters[i], word->bytes + TAP_PIECE_PREFIX_BYTES + n_bytes);
        ends[i] = n_bytes;
    }
    return n_bytes;
}

static bool next_word(struct tap_token_cursor *cursor, const char **out_word, size_t *out_n_bytes)
{
    size_t ends[TAP_WORD_MAX_CHARACTERS];
    if (!cut(cursor))
        return false;
    *out_word = cursor->word.bytes + TAP_PIECE_PREFIX_BYTES;
    *out_n_bytes = cursor->word.n_characters <= TAP_WORD_MAX_CHARACTERS ? write_bytes(&cursor->word, ends) : 0;
    return true;
}

/* The longest piece of the vocabulary that begins with character `first` of the word; how many characters it has, 0
 * when there is none. The prefix is written over the bytes before it, which are done with. */
static uint32_t longest_piece(const struct tap_string_table *vocabulary, struct tap_word *word, const size_t *ends,
                              uint32_t first, uint32_t *out_number)
{
    uint64_t hashes[TAP_WORD_MAX_CHARACTERS]; /* of the piece that ends with character i */
    size_t start = first == 0 ? 0 : ends[first - 1];
    char *piece = word->bytes + TAP_PIECE_PREFIX_BYTES + start;
    size_t n_prefix_bytes = first == 0 ? 0 : TAP_PIECE_PREFIX_BYTES;
    piece -= n_prefix_bytes;
    memcpy(piece, TAP_PIECE_PREFIX, n_prefix_bytes);
    uint64_t hash = tap_fnv(TAP_FNV_START, piece, n_prefix_bytes);
    size_t n_bytes = n_prefix_bytes;
    for (uint32_t i = first; i < word->n_characters; i++) {
        size_t n_next = ends[i] - start + n_prefix_bytes;
        hash = tap_fnv(hash, piece + n_bytes, n_next - n_bytes);
        hashes[i] = hash;
        n_bytes = n_next;
    }
    for (uint32_t i = word->n_characters; i > first; i--)
        if (tap_string_table_find_hashed(vocabulary, hashes[i - 1], piece, ends[i - 1] - start + n_prefix_bytes,
                                         out_number))
            return i - first;
    return 0;
}

/* Cuts the word into pieces, or into one unknown. */
static void match(const struct tap_string_table *vocabulary, struct tap_word *word)
{
    size_t ends[TAP_WORD_MAX_CHARACTERS];
    uint32_t n = 0;
    word->n_pieces = 0;
    word->n_given = 0;
    bool is_known = word->n_characters <= TAP_WORD_MAX_CHARACTERS;
    if (is_known)
        write_bytes(word, ends);
    for (uint32_t first = 0; is_known && first < word->n_characters; first += n) {
        n = longest_piece(vocabulary, word, ends, first, &word->pieces[word->n_pieces]);
        is_known = n > 0;
        word->n_pieces += is_known;
    }
    if (!is_known) {
        word->pieces[0] = TAP_TOKEN_UNKNOWN;
        word->n_pieces = 1;
    }
}

/* Makes the token the whole word, unknown: the spelling is for its n-grams. */
static void take_unknown(struct tap_token_cursor *cursor)
{
    const struct tap_word *word = &cursor->word;
    cursor->n_token_bytes = TAP_TOKEN_MAX_BYTES + 1;
    cursor->n_written_bytes = 0;
    for (uint32_t i = 0; i < word->n_characters && i < TAP_WORD_MAX_CHARACTERS; i++) {
        char bytes[TAP_UTF8_MAX_BYTES];
        size_t n_bytes = tap_unicode_encode(word->characters[i], bytes);
        if (cursor->n_written_bytes + n_bytes > TAP_TOKEN_MAX_BYTES)
            break;
        memcpy(cursor->token + cursor->n_written_bytes, bytes, n_bytes);
        cursor->n_written_bytes += n_bytes;
    }
}

static bool next_piece(struct tap_token_cursor *cursor)
{
    const struct tap_string_table *vocabulary = &cursor->tokenizer->vocabulary;
    struct tap_word *word = &cursor->word;
    if (word->n_given == word->n_pieces) {
        if (!cut(cursor))
            return false;
        match(vocabulary, word);
    }
    uint32_t number = word->pieces[word->n_given++];
    if (number == TAP_TOKEN_UNKNOWN) {
        take_unknown(cursor);
        return true;
    }
    cursor->n_token_bytes = tap_string_table_length(vocabulary, number);
    cursor->n_written_bytes = cursor->n_token_bytes;
    memcpy(cursor->token, tap_string_table_get(vocabulary, number), cursor->n_token_bytes);
    return true;
}

/* Whether it is one whole word, or what follows the first character of one. */
static bool can_have(const struct tap_tokenizer *tokenizer, const char *token, size_t n_bytes)
{
    struct tap_token_cursor cursor;
    const char *word;
    size_t n_word_bytes;
    bool is_inside = n_bytes >= TAP_PIECE_PREFIX_BYTES && memcmp(token, TAP_PIECE_PREFIX, TAP_PIECE_PREFIX_BYTES) == 0;
    if (is_inside) {
        token += TAP_PIECE_PREFIX_BYTES;
        n_bytes -= TAP_PIECE_PREFIX_BYTES;
    }
    tap_token_cursor_start(&cursor, tokenizer, token, n_bytes);
    return next_word(&cursor, &word, &n_word_bytes) && n_word_bytes == n_bytes && memcmp(word, token, n_bytes) == 0 &&
           (!is_inside || tap_unicode_class_of(cursor.word.characters[0]) == TAP_UNICODE_WORD);
}

const struct tap_tokenizer_kind tap_tokenizer_wordpiece = {.name = "wordpiece",
                                                           .next = next_piece,
                                                           .next_word = next_word,
                                                           .learn = tap_wordpiece_learn,
                                                           .can_have = can_have};
