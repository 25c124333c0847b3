/* format_fasttext.c: fastText's training files: "__label__x text". A line begins with its label; one blank or tab
 * behind it is no part of the text. A second word that begins with __label__ is refused: rows have one label. */
#include "formats.h"
#include "quote.h"
#include "row_lines.h"

#include <inttypes.h>
#include <string.h>

#define PREFIX "__label__"
#define PREFIX_BYTES (sizeof PREFIX - 1)

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool is_label(const char *word, size_t n_bytes)
{
    return n_bytes >= PREFIX_BYTES && memcmp(word, PREFIX, PREFIX_BYTES) == 0;
}

static size_t word_length(const char *word, size_t n_bytes)
{
    size_t n = 0;
    while (n < n_bytes && !is_blank(word[n]))
        n++;
    return n;
}

/* The next word that is a label, NULL when there is none. */
static const char *find_label(const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += word_length(text + i, n_bytes - i) + 1)
        if (is_label(text + i, n_bytes - i))
            return text + i;
    return NULL;
}

static enum tap_status read_row(struct tap_input *input, struct tap_line line, const struct tap_read_options *options,
                                struct tap_rows *rows, struct tap_error *error)
{
    const char *end = line.bytes + line.n_bytes;
    if (!is_label(line.bytes, line.n_bytes))
        return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": does not begin with " PREFIX, input->name,
                             line.number);
    size_t n_word_bytes = word_length(line.bytes, line.n_bytes);
    const char *text = line.bytes + n_word_bytes + (n_word_bytes < line.n_bytes ? 1 : 0);
    const char *second = find_label(text, (size_t)(end - text));
    if (second != NULL)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s:%" PRIu64 ": a second label, %s; a row has one", input->name,
                             line.number, tap_quote(second, word_length(second, (size_t)(end - second))).text);
    return tap_add_row(input, options, rows, line.bytes + PREFIX_BYTES, n_word_bytes - PREFIX_BYTES, text,
                       (size_t)(end - text), line.number, error);
}

enum tap_status tap_format_fasttext(struct tap_input *input, const struct tap_read_options *options,
                                    struct tap_rows *rows, struct tap_error *error)
{
    struct tap_line line;
    enum tap_status status = TAP_OK;
    while (status == TAP_OK) {
        status = tap_next_row_line(input, &line, error);
        if (status != TAP_OK || line.bytes == NULL)
            break;
        status = read_row(input, line, options, rows, error);
    }
    return status;
}
