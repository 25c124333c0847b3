/* task_brackets.c: do the brackets of a text match. `balanced` texts are Dyck words over `kinds` kinds of brackets,
 * at most `depth` open at once. Each comes with a `broken` twin in which two brackets have changed places and nothing
 * else: a near miss of the same brackets, so counting them says nothing whatever about the label in any part of the
 * data (twins stay together). Texts have an even length from half of `length` up to it, and no spaces. */
#include "task_maker.h"

#include <string.h>

#define MOST_KINDS 4
#define MOST_DEPTH 64
#define MOST_LENGTH 4096
#define MOST_SWAPS 100 /* tries to break a word; "()()" and the like take a few */

static const char opening[] = "([{<";
static const char closing[] = ")]}>";

struct sizes {
    int length, depth, kinds;
};

/* Whether the text is a Dyck word of no more than MOST_LENGTH brackets. */
static bool is_balanced(const char *text, size_t n_bytes)
{
    char expected[MOST_LENGTH];
    size_t n_open = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        const char *kind = strchr(opening, text[i]);
        if (kind != NULL)
            expected[n_open++] = closing[kind - opening];
        else if (n_open == 0 || expected[--n_open] != text[i])
            return false;
    }
    return n_open == 0;
}

/* A random walk that opens or closes with equal chance wherever both may be. */
static void draw_balanced(struct tap_rng *rng, const struct sizes *sizes, size_t n_bytes, char *out_text)
{
    char expected[MOST_DEPTH];
    size_t n_open = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        bool may_open = n_open < (size_t)sizes->depth && n_open < n_bytes - i;
        bool may_close = n_open > 0;
        if (may_open && (!may_close || tap_rng_below(rng, 2) == 0)) {
            uint32_t kind = tap_rng_below(rng, (uint32_t)sizes->kinds);
            out_text[i] = opening[kind];
            expected[n_open++] = closing[kind];
        } else {
            out_text[i] = expected[--n_open];
        }
    }
    TAP_CHECK(n_open == 0);
}

static bool draw(struct tap_rng *rng, const void *sizes_pointer, uint32_t number, struct tap_task_draft *out_drafts)
{
    const struct sizes *sizes = sizes_pointer;
    uint32_t most_pairs = (uint32_t)sizes->length / 2;
    uint32_t least_pairs = (most_pairs + 1) / 2;
    size_t n_bytes = 2 * (size_t)(least_pairs + tap_rng_below(rng, most_pairs - least_pairs + 1));
    char *broken = out_drafts[1].text;
    (void)number;
    draw_balanced(rng, sizes, n_bytes, out_drafts[0].text);
    out_drafts[0].n_bytes = out_drafts[1].n_bytes = n_bytes;
    out_drafts[0].label = "balanced";
    out_drafts[1].label = "broken";
    for (int i = 0; i < MOST_SWAPS; i++) {
        size_t a = tap_rng_below(rng, (uint32_t)n_bytes);
        size_t b = tap_rng_below(rng, (uint32_t)n_bytes);
        memcpy(broken, out_drafts[0].text, n_bytes);
        broken[a] = out_drafts[0].text[b];
        broken[b] = out_drafts[0].text[a];
        if (!is_balanced(broken, n_bytes))
            return true;
    }
    return false;
}

enum tap_status tap_task_brackets(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                                  uint32_t *out_group_size, struct tap_error *error)
{
    static const struct tap_task_size length = {"task.length", 24, 2, MOST_LENGTH};
    static const struct tap_task_size depth = {"task.depth", 4, 1, MOST_DEPTH};
    static const struct tap_task_size kinds = {"task.kinds", 2, 1, MOST_KINDS};
    struct sizes sizes;
    enum tap_status status = tap_task_choose_size(&length, options->length, &sizes.length, error);
    if (status == TAP_OK)
        status = tap_task_choose_size(&depth, options->depth, &sizes.depth, error);
    if (status == TAP_OK)
        status = tap_task_choose_size(&kinds, options->kinds, &sizes.kinds, error);
    if (status != TAP_OK)
        return status;
    struct tap_task_plan plan = {
        .name = "brackets",
        .rows = options->rows,
        .n_together = 2,
        .least_rows = 4,
        .most_bytes = (size_t)sizes.length,
        .sizes = &sizes,
        .draw = draw,
    };
    return tap_task_make_rows(&plan, seed, rows, out_group_size, error);
}
