/* task_majority.c: which letter is there most often. A text is a row of letters, each drawn evenly from the first
 * `kinds` letters of the alphabet; its label is the letter that is there more often than any other. Texts where two
 * letters tie are drawn again. Labels take turns: where another letter won, it and the wanted one change places in the
 * whole text, which leaves every text with one winner as likely as before. */
#include "task_maker.h"

#define MOST_KINDS 26

static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                      "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};

struct sizes {
    int length; /* tokens of every text */
    int kinds;
};

/* The most frequent kind; -1 when there are two. */
static int find_winner(const int counts[MOST_KINDS])
{
    int winner = 0;
    int n_winners = 1;
    for (int kind = 1; kind < MOST_KINDS; kind++) {
        if (counts[kind] > counts[winner]) {
            winner = kind;
            n_winners = 1;
        } else if (counts[kind] == counts[winner]) {
            n_winners++;
        }
    }
    return n_winners == 1 ? winner : -1;
}

static bool draw(struct tap_rng *rng, const void *sizes_pointer, uint32_t number, struct tap_task_draft *out_draft)
{
    const struct sizes *sizes = sizes_pointer;
    char *text = out_draft->text;
    int counts[MOST_KINDS] = {0};
    out_draft->n_bytes = 2 * (size_t)sizes->length - 1;
    for (size_t i = 0; i < out_draft->n_bytes; i += 2) {
        uint32_t kind = tap_rng_below(rng, (uint32_t)sizes->kinds);
        counts[kind]++;
        text[i] = letters[kind][0];
        text[i + 1] = ' ';
    }
    int winner = find_winner(counts);
    if (winner < 0)
        return false;
    out_draft->label = letters[number % (uint32_t)sizes->kinds];
    char wanted = out_draft->label[0];
    char won = letters[winner][0];
    for (size_t i = 0; i < out_draft->n_bytes; i += 2) {
        if (text[i] == won)
            text[i] = wanted;
        else if (text[i] == wanted)
            text[i] = won;
    }
    return true;
}

enum tap_status tap_task_majority(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                                  uint32_t *out_group_size, struct tap_error *error)
{
    static const struct tap_task_size length = {"task.length", 32, 1, 4096};
    static const struct tap_task_size kinds = {"task.kinds", 2, 2, MOST_KINDS};
    struct sizes sizes;
    enum tap_status status = tap_task_choose_size(&length, options->length, &sizes.length, error);
    if (status == TAP_OK)
        status = tap_task_choose_size(&kinds, options->kinds, &sizes.kinds, error);
    if (status != TAP_OK)
        return status;
    struct tap_task_plan plan = {
        .name = "majority",
        .rows = options->rows,
        .n_together = 1,
        .least_rows = sizes.kinds,
        .most_bytes = 2 * (size_t)sizes.length,
        .sizes = &sizes,
        .draw = draw,
    };
    return tap_task_make_rows(&plan, seed, rows, out_group_size, error);
}
