/* task_order.c: who chases whom. Each sentence has one hunter and one prey, and the label says which of the two does
 * the chasing (or following, biting, ...): "the cat chases the mouse" is `hunter`, "the mouse chases the cat" is
 * `prey`.
 *
 * Every sentence comes together with its twin, in which the two animals have changed places and nothing else: the same
 * words, the other label. So the bag of words says nothing whatever about the label, in any part of the data (twins
 * stay together), and a model that does not see the order of words can only guess. Chinese is written without spaces.
 */
#include "quote.h"
#include "rng.h"
#include "tasks.h"

#include <stdio.h>
#include <string.h>

#define TWINS 2
#define MOST_ROWS 1000000 /* far fewer than there are sentences, so that new ones are found at once */
#define SENTENCE_BYTES 256

/* Words of one language; a list ends with NULL. */
struct grammar {
    const char *space;
    const char *const *hunters, *const *prey, *const *verbs;
    const char *const *determiners, *const *adjectives, *const *adverbs; /* any of these may be left out ... */
    const char *const *times, *const *places;                            /* ... except the determiner */
};

static const struct grammar english = {
    .space = " ",
    .hunters =
        (const char *const[]){"cat", "dog", "fox", "wolf", "tiger", "lion", "hawk", "snake", "bear", "leopard", NULL},
    .prey = (const char *const[]){"mouse", "rabbit", "sheep", "deer", "hen", "duck", "goose", "frog", "pigeon",
                                  "squirrel", NULL},
    .verbs = (const char *const[]){"chases", "follows", "hunts", "catches", "watches", "bites", "attacks", "frightens",
                                   NULL},
    .determiners = (const char *const[]){"the", "a", "this", "that", NULL},
    .adjectives = (const char *const[]){"big", "small", "young", "black", "white", "hungry", "tired", "brave", NULL},
    .adverbs = (const char *const[]){"quickly", "slowly", "quietly", "often", "always", "suddenly", NULL},
    .times = (const char *const[]){"today", "at night", "in the morning", "every day", "in winter", NULL},
    .places = (const char *const[]){"in the garden", "near the river", "behind the house", "on the hill",
                                    "across the field", "under the trees", NULL},
};

/* No character of an animal is part of any other word, nor of another animal's name. */
static const struct grammar chinese = {
    .space = "",
    .hunters = (const char *const[]){"猫", "狗", "狐狸", "狼", "老虎", "狮子", "鹰", "蛇", "熊", "豹", NULL},
    .prey = (const char *const[]){"田鼠", "兔", "羊", "鹿", "鸡", "鸭", "鹅", "青蛙", "鸽", "猴", NULL},
    .verbs = (const char *const[]){"追", "跟着", "捕捉", "抓住", "看着", "咬", "攻击", "吓跑", NULL},
    .determiners = (const char *const[]){"一只", "这只", "那只", "那边的", NULL},
    .adjectives = (const char *const[]){"大", "小", "黑", "白", "胖", "瘦", "勇敢的", "年轻的", NULL},
    .adverbs = (const char *const[]){"很快地", "慢慢地", "悄悄地", "常常", "总是", "突然", NULL},
    .times = (const char *const[]){"今天", "晚上", "早晨", "每天", "冬季", NULL},
    .places = (const char *const[]){"在花园里", "在河边", "在屋后", "在山上", "在路旁", "在树下", NULL},
};

/* The words of one sentence in their order; NULL for one left out. The animals are put in later. */
struct sentence {
    const struct grammar *grammar;
    const char *time, *first_determiner, *first_adjective, *adverb, *verb, *second_determiner, *second_adjective,
        *place;
};

static const char *draw(struct tap_rng *rng, const char *const *words)
{
    uint32_t n = 0;
    while (words[n] != NULL)
        n++;
    return words[tap_rng_below(rng, n)];
}

/* One of the words, or none, one time in two. */
static const char *draw_optional(struct tap_rng *rng, const char *const *words)
{
    return tap_rng_below(rng, 2) == 0 ? NULL : draw(rng, words);
}

static struct sentence draw_sentence(struct tap_rng *rng, const struct grammar *grammar)
{
    struct sentence sentence = {.grammar = grammar};
    sentence.time = draw_optional(rng, grammar->times);
    sentence.first_determiner = draw(rng, grammar->determiners);
    sentence.first_adjective = draw_optional(rng, grammar->adjectives);
    sentence.adverb = draw_optional(rng, grammar->adverbs);
    sentence.verb = draw(rng, grammar->verbs);
    sentence.second_determiner = draw(rng, grammar->determiners);
    sentence.second_adjective = draw_optional(rng, grammar->adjectives);
    sentence.place = draw_optional(rng, grammar->places);
    return sentence;
}

/* Writes the sentence in which `first` does something to `second`; returns its bytes. */
static size_t write_sentence(const struct sentence *sentence, const char *first, const char *second,
                             char out[SENTENCE_BYTES])
{
    /* Chinese says where before what is done there */
    bool is_chinese = sentence->grammar == &chinese;
    const char *words[] = {
        sentence->time, sentence->first_determiner,          sentence->first_adjective,
        first,          is_chinese ? sentence->place : NULL, sentence->adverb,
        sentence->verb, sentence->second_determiner,         sentence->second_adjective,
        second,         is_chinese ? NULL : sentence->place,
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i] != NULL)
            n += (size_t)snprintf(out + n, SENTENCE_BYTES - n, "%s%s", n > 0 ? sentence->grammar->space : "", words[i]);
    TAP_CHECK(n < SENTENCE_BYTES);
    return n;
}

static enum tap_status check_options(const struct tap_task_options *options, struct tap_error *error)
{
    const char *language = options->language;
    if (options->rows < 4 || options->rows > MOST_ROWS || options->rows % TWINS != 0)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "task.rows: %d; an even number from 4 to %d (sentences come in pairs)", options->rows,
                             MOST_ROWS);
    if (language == NULL ||
        (strcmp(language, "english") != 0 && strcmp(language, "chinese") != 0 && strcmp(language, "both") != 0))
        return tap_error_set(error, TAP_ERR_VALUE, "task.language: %s; accepted: english, chinese, both",
                             language == NULL ? "missing" : tap_quote(language, strlen(language)).text);
    return TAP_OK;
}

/* Appends one new pair of twins, the hunter's first; `seen` holds the hunters' sentences so far. */
static enum tap_status append_twins(struct tap_rng *rng, const struct grammar *grammar, struct tap_string_table *seen,
                                    struct tap_rows *rows, struct tap_error *error)
{
    struct sentence sentence;
    char text[SENTENCE_BYTES];
    const char *hunter;
    const char *prey;
    size_t n_bytes;
    uint32_t number;
    do {
        sentence = draw_sentence(rng, grammar);
        hunter = draw(rng, grammar->hunters);
        prey = draw(rng, grammar->prey);
        n_bytes = write_sentence(&sentence, hunter, prey, text);
    } while (tap_string_table_find(seen, text, n_bytes, &number));
    if (!tap_string_table_add(seen, text, n_bytes, &number))
        return tap_error_memory(error, "the task order");
    enum tap_status status = tap_rows_append(rows, "hunter", strlen("hunter"), text, n_bytes, rows->n + 1, error);
    if (status != TAP_OK)
        return status;
    n_bytes = write_sentence(&sentence, prey, hunter, text);
    return tap_rows_append(rows, "prey", strlen("prey"), text, n_bytes, rows->n + 1, error);
}

enum tap_status tap_task_order(const struct tap_task_options *options, uint64_t seed, struct tap_rows *rows,
                               uint32_t *out_group_size, struct tap_error *error)
{
    struct tap_string_table seen = {0};
    struct tap_rng rng = {tap_rng_key(seed, TAP_RNG_TASK, 0, 0), 0};
    enum tap_status status = check_options(options, error);
    for (int row = 0; row < options->rows && status == TAP_OK; row += TWINS) {
        bool is_chinese = strcmp(options->language, "chinese") == 0;
        if (strcmp(options->language, "both") == 0)
            is_chinese = tap_rng_below(&rng, 2) == 1;
        status = append_twins(&rng, is_chinese ? &chinese : &english, &seen, rows, error);
    }
    tap_string_table_clear(&seen);
    if (status == TAP_OK)
        *out_group_size = TWINS;
    return status;
}
