/* task_sense.c: which sense a word has. Three words with two senses each (light: not heavy, not dark; bank: of a
 * river, for money; apple: fruit, company), and one sentence with two readings: "i saw the man with the telescope",
 * where a second sentence settles whose it is ("he had lent it to me").
 *
 * Every text comes together with its twin of the other sense: the same words up to and with the ambiguous one, then a
 * context of the other sense. So outside of the context no word says anything of the sense, in any part of the data
 * (twins stay together). For the telescope not even the single words of the context do: who lends it to whom has to be
 * read. Everything is lower-case, so that a capital tells no apple from another.
 */
#include "task_maker.h"

#include <stdio.h>
#include <string.h>

#define N_WORDS 4
#define N_SENSES 2
#define MOST_SLOTS 8
#define MOST_PARTS 4
#define SENTENCE_BYTES 256

/* Words to choose from, as a list that ends with NULL; "" is none. */
#define WORDS(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

/* A phrase is one choice from each of its lists. */
struct phrase {
    const char *const *parts[MOST_PARTS];
};

struct sense {
    const char *label;
    struct phrase contexts[MOST_SLOTS]; /* the first one without parts ends them */
};

struct ambiguous_word {
    const char *const *frame[MOST_SLOTS + 1]; /* up to and with the ambiguous word */
    struct sense senses[N_SENSES];
};

#define PEOPLE                                                                                                         \
    WORDS("anna", "ben", "clara", "david", "my uncle", "our teacher", "her sister", "the old man", "the young woman",  \
          "the painter", "a friend", "their neighbour")
#define TIMES                                                                                                          \
    WORDS("", "", "", "yesterday", "this morning", "last week", "in spring", "on monday", "after lunch", "one evening")

static const struct ambiguous_word light = {
    .frame = {TIMES, WORDS("the", "this", "that", "my", "our"),
              WORDS("", "", "small", "new", "old", "red", "blue", "round", "plain"),
              WORDS("lamp", "lantern", "tent", "box", "chair", "curtain", "kite", "boat", "van", "scarf", "paper",
                    "balloon"),
              WORDS("was", "seemed", "felt"), WORDS("", "so", "very", "quite", "really", "surprisingly"),
              WORDS("light")},
    .senses = {
        {"light_not_heavy",
         {{{WORDS("and", "so"), PEOPLE, WORDS("lifted it", "carried it", "picked it up", "held it"),
            WORDS("with one hand", "with two fingers", "without effort", "with ease")}},
          {{WORDS("and"), WORDS("weighed", "put on the scales it weighed"), WORDS("only", "less than", "about"),
            WORDS("a kilo", "a pound", "two ounces", "an egg")}},
          {{WORDS("and"), WORDS("the wind", "a breeze", "the storm"),
            WORDS("blew it", "lifted it", "carried it", "swept it"), WORDS("away", "over the wall", "into the air")}}}},
        {"light_not_dark",
         {{{WORDS("and", "so"), PEOPLE, WORDS("read", "wrote", "drew", "painted"),
            WORDS("beside it", "in its shine", "without a candle", "until midnight")}},
          {{WORDS("and"), WORDS("shone", "glowed", "gleamed"), WORDS("like", "brighter than"),
            WORDS("the moon", "a star", "the sun", "snow")}},
          {{WORDS("and"), WORDS("the colour", "the glow", "its white"),
            WORDS("dazzled", "blinded", "woke", "was seen by"), PEOPLE}}}},
    }};

static const struct ambiguous_word bank = {
    .frame = {TIMES, PEOPLE,
              WORDS("went to", "walked to", "stood at", "waited at", "drove to", "hurried to", "stopped at",
                    "came back to"),
              WORDS("the", "this", "that"),
              WORDS("", "", "old", "quiet", "near", "far", "green", "famous", "other", "north"), WORDS("bank")},
    .senses = {
        {"bank_river",
         {{{WORDS("to", "hoping to", "in order to"), WORDS("catch", "look for", "feed", "watch"),
            WORDS("", "some", "the", "many"), WORDS("fish", "frogs", "ducks", "trout", "otters")}},
          {{WORDS("to", "hoping to", "in order to"), WORDS("swim", "paddle", "fish", "bathe"),
            WORDS("", "alone", "with friends", "for an hour")}},
          {{WORDS("where", "because"), WORDS("the water", "the river", "the stream"),
            WORDS("is", "was", "had become", "looked"), WORDS("deep", "shallow", "muddy", "cold", "wild")}}}},
        {"bank_money",
         {{{WORDS("to", "hoping to", "in order to"), WORDS("change", "deposit", "withdraw", "borrow"),
            WORDS("", "some", "the", "more"), WORDS("money", "cash", "coins", "dollars", "savings")}},
          {{WORDS("to", "hoping to", "in order to"), WORDS("open", "close", "check", "ask about"),
            WORDS("an account", "a loan", "a mortgage", "the interest")}},
          {{WORDS("where", "because"), WORDS("the clerk", "the cashier", "the manager"),
            WORDS("is", "was", "had become", "looked"), WORDS("rude", "friendly", "helpful", "ill", "busy")}}}},
    }};

static const struct ambiguous_word apple = {
    .frame = {TIMES, PEOPLE,
              WORDS("talked about", "read about", "thought of", "wrote about", "asked about", "dreamed of", "praised",
                    "liked"),
              WORDS("", "the story of", "the future of", "the success of", "the whole of"),
              WORDS("", "", "big", "famous", "american", "good old", "rich"), WORDS("apple")},
    .senses = {
        {"apple_fruit",
         {{{WORDS("that", "which"), WORDS("fell", "hung", "dropped", "rolled"), WORDS("from", "below", "near"),
            WORDS("the tree", "the branch", "the basket", "the leaves")}},
          {{WORDS("that", "which"), WORDS("tasted", "smelled", "was"), WORDS("", "very", "a little"),
            WORDS("sweet", "sour", "ripe", "juicy", "rotten")}},
          {{WORDS("before", "after"), WORDS("peeling", "eating", "baking", "cutting"),
            WORDS("", "it with", "a slice with"), WORDS("a pie", "a cake", "cinnamon", "sugar")}}}},
        {"apple_company",
         {{{WORDS("that", "which"), WORDS("sold", "designed", "built", "announced"), WORDS("new", "cheap", "better"),
            WORDS("phones", "computers", "laptops", "tablets")}},
          {{WORDS("that", "which"), WORDS("hired", "paid", "sued", "dismissed"), WORDS("", "many", "a few"),
            WORDS("engineers", "lawyers", "managers", "programmers", "rivals")}},
          {{WORDS("before", "after"), WORDS("buying", "selling", "losing", "counting"), WORDS("", "some of", "all of"),
            WORDS("its shares", "its stock", "its profits", "its software")}}}},
    }};

static const struct ambiguous_word telescope = {
    .frame = {TIMES, WORDS("i"), WORDS("saw", "watched", "noticed", "observed", "found"), WORDS("the", "that"),
              WORDS("", "", "old", "young", "tall", "strange", "quiet"),
              WORDS("man", "boy", "sailor", "guard", "teacher", "painter", "neighbour", "doctor"),
              WORDS("", "", "on the hill", "in the garden", "across the street", "near the harbour", "on the roof"),
              WORDS("with the telescope.")},
    .senses = {
        {"telescope_mine",
         {{{WORDS("earlier", "before that", "that day"), WORDS("he"), WORDS("lent", "gave", "handed", "sold"),
            WORDS("it to me")}},
          {{WORDS("earlier", "before that", "that day"), WORDS("i"), WORDS("borrowed", "took", "bought", "got"),
            WORDS("it from him")}},
          {{WORDS("earlier", "before that", "that day"), WORDS("i"), WORDS("built", "repaired", "cleaned", "unpacked"),
            WORDS("it", "it at home", "it with care")}}}},
        {"telescope_his",
         {{{WORDS("earlier", "before that", "that day"), WORDS("i"), WORDS("lent", "gave", "handed", "sold"),
            WORDS("it to him")}},
          {{WORDS("earlier", "before that", "that day"), WORDS("he"), WORDS("borrowed", "took", "bought", "got"),
            WORDS("it from me")}},
          {{WORDS("earlier", "before that", "that day"), WORDS("he"), WORDS("built", "repaired", "cleaned", "unpacked"),
            WORDS("it", "it at home", "it with care")}}}},
    }};

static const struct ambiguous_word *const ambiguous_words[N_WORDS] = {&light, &bank, &apple, &telescope};

/* Appends one choice of the list, with a space before it unless it is the first. */
static void append_choice(struct tap_rng *rng, const char *const *words, struct tap_task_draft *draft)
{
    uint32_t n = 0;
    while (words[n] != NULL)
        n++;
    const char *word = words[tap_rng_below(rng, n)];
    if (word[0] == '\0')
        return;
    int n_bytes = snprintf(draft->text + draft->n_bytes, SENTENCE_BYTES - draft->n_bytes, "%s%s",
                           draft->n_bytes > 0 ? " " : "", word);
    draft->n_bytes += (size_t)n_bytes;
    TAP_CHECK(draft->n_bytes < SENTENCE_BYTES);
}

static void append_context(struct tap_rng *rng, const struct sense *sense, struct tap_task_draft *draft)
{
    uint32_t n = 0;
    while (n < MOST_SLOTS && sense->contexts[n].parts[0] != NULL)
        n++;
    const struct phrase *phrase = &sense->contexts[tap_rng_below(rng, n)];
    for (int i = 0; i < MOST_PARTS && phrase->parts[i] != NULL; i++)
        append_choice(rng, phrase->parts[i], draft);
}

static bool draw(struct tap_rng *rng, const void *sizes, uint32_t number, struct tap_task_draft *out_drafts)
{
    const struct ambiguous_word *word = ambiguous_words[number % N_WORDS];
    (void)sizes;
    out_drafts[0].n_bytes = 0;
    for (int i = 0; word->frame[i] != NULL; i++)
        append_choice(rng, word->frame[i], &out_drafts[0]);
    memcpy(out_drafts[1].text, out_drafts[0].text, out_drafts[0].n_bytes);
    out_drafts[1].n_bytes = out_drafts[0].n_bytes;
    for (int i = 0; i < N_SENSES; i++) {
        append_context(rng, &word->senses[i], &out_drafts[i]);
        out_drafts[i].label = word->senses[i].label;
    }
    return true;
}

enum tap_status tap_task_sense(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                               uint32_t *out_group_size, struct tap_error *error)
{
    struct tap_task_plan plan = {
        .name = "sense",
        .rows = options->rows,
        .n_together = N_SENSES,
        .least_rows = N_WORDS * N_SENSES,
        .most_bytes = SENTENCE_BYTES,
        .draw = draw,
    };
    return tap_task_make_rows(&plan, seed, rows, out_group_size, error);
}
