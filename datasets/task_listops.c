/* task_listops.c: nested lists of operations on digits (listops.h); the label is the value, `0` to `9`.
 *
 * The rules of the published data: a tree begins at level 1. Below level `depth` it is a list with probability 1/4,
 * else a digit; at level `depth` it is a digit. A list has one of the four operations and 2 to 5 members, each a tree
 * one level deeper; all choices are even. Two things are added: trees of more than `length` tokens are drawn again, and
 * so are those that were there already. Labels are as frequent as the rules make them, between about 8 and 13 in 100.
 *
 * A token is what stands between blanks: `[MED`, `]` or a digit. The word tokenizer cuts `[MED` in two (`[` and `med`),
 * so that data.max_length has to be one third above task.length.
 *
 * Source  Nangia, Bowman 2018; there depth is 20 and length has no bound */
#include "listops.h"
#include "task_maker.h"

#include <string.h>

#define MOST_MEMBERS 5
#define MOST_TOKEN_BYTES 5 /* "[MED " */

struct sizes {
    int length, depth;
};

struct writer {
    char *text;
    size_t n_bytes;
    int n_tokens, most_tokens;
};

/* Does nothing once the text is longer than it may be; only the count goes on. */
static void write_token(struct writer *writer, const char *token, size_t n_bytes)
{
    if (++writer->n_tokens > writer->most_tokens)
        return;
    if (writer->n_bytes > 0)
        writer->text[writer->n_bytes++] = ' ';
    memcpy(writer->text + writer->n_bytes, token, n_bytes);
    writer->n_bytes += n_bytes;
}

/* Writes a tree; false when it would have more tokens than it may. */
static bool write_tree(struct tap_rng *rng, int depth, struct writer *writer)
{
    static const char *const operations[] = {"[MIN", "[MAX", "[MED", "[SM"};
    uint32_t n_missing[TAP_LISTOPS_MOST_DEPTH + 1] = {0}; /* members still to come of each open list */
    int n_open = 0;
    do {
        if (n_open + 1 < depth && tap_rng_below(rng, 4) == 0) {
            const char *operation = operations[tap_rng_below(rng, 4)];
            write_token(writer, operation, strlen(operation));
            n_missing[++n_open] = 2 + tap_rng_below(rng, MOST_MEMBERS - 1);
        } else {
            write_token(writer, &"0123456789"[tap_rng_below(rng, 10)], 1);
            /* the end of a member may be the end of the list, which is a member of the next one */
            while (n_open > 0 && --n_missing[n_open] == 0) {
                write_token(writer, "]", 1);
                n_open--;
            }
        }
    } while (n_open > 0 && writer->n_tokens <= writer->most_tokens);
    return writer->n_tokens <= writer->most_tokens;
}

static bool draw(struct tap_rng *rng, const void *sizes_pointer, uint32_t number, struct tap_task_draft *out_draft)
{
    static const char *const labels[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    const struct sizes *sizes = sizes_pointer;
    struct writer writer = {.text = out_draft->text, .most_tokens = sizes->length};
    int value = 0;
    (void)number;
    if (!write_tree(rng, sizes->depth, &writer))
        return false;
    enum tap_status status = tap_listops_value(writer.text, writer.n_bytes, &value, NULL);
    TAP_CHECK(status == TAP_OK);
    out_draft->n_bytes = writer.n_bytes;
    out_draft->label = labels[value];
    return true;
}

enum tap_status tap_task_listops(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                                 uint32_t *out_group_size, struct tap_error *error)
{
    static const struct tap_task_size length = {"task.length", 100, 4, 4096};
    static const struct tap_task_size depth = {"task.depth", 20, 2, TAP_LISTOPS_MOST_DEPTH};
    struct sizes sizes;
    enum tap_status status = tap_task_choose_size(&length, options->length, &sizes.length, error);
    if (status == TAP_OK)
        status = tap_task_choose_size(&depth, options->depth, &sizes.depth, error);
    if (status != TAP_OK)
        return status;
    struct tap_task_plan plan = {
        .name = "listops",
        .rows = options->rows,
        .n_together = 1,
        .least_rows = 10,
        .most_bytes = MOST_TOKEN_BYTES * (size_t)sizes.length,
        .sizes = &sizes,
        .draw = draw,
    };
    return tap_task_make_rows(&plan, seed, rows, out_group_size, error);
}
