/* test_task_sense.c: the sense follows from the context by rules written here a second time, and from nothing before.
 */
#include "task_case.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(list) (sizeof(list) / sizeof(list)[0])
enum { n_rows = 4000 };

/* What stands in the context of one sense and never in that of the other; each context holds one of these. */
struct sense_rule {
    const char *word, *label;
    const char *signs[24];
};
static const struct sense_rule rules[] = {
    {"light", "light_not_heavy", {" with ", " without effort", " weighed ", " wind ", " breeze ", " storm "}},
    {"light",
     "light_not_dark",
     {" beside it", " shine", " candle", " midnight", " shone ", " glowed ", " gleamed ", " dazzled ", " blinded ",
      " woke ", " was seen by "}},
    {"bank",
     "bank_river",
     {" fish", " frogs", " ducks", " trout", " otters", " swim", " paddle", " bathe", " water ", " river ",
      " stream "}},
    {"bank",
     "bank_money",
     {" money", " cash", " coins", " dollars", " savings", " account", " loan", " mortgage", " interest", " clerk ",
      " cashier ", " manager "}},
    {"apple",
     "apple_fruit",
     {" fell ", " hung ", " dropped ", " rolled ", " tasted ", " smelled ", " sweet", " sour", " ripe", " juicy",
      " rotten", " pie", " cake", " cinnamon", " sugar"}},
    {"apple",
     "apple_company",
     {" phones", " computers", " laptops", " tablets", " engineers", " lawyers", " managers", " programmers", " rivals",
      " shares", " stock", " profits", " software"}},
    {"telescope", "telescope_mine", {" he lent it to me",
                                     " he gave it to me",
                                     " he handed it to me",
                                     " he sold it to me",
                                     " i borrowed it from him",
                                     " i took it from him",
                                     " i bought it from him",
                                     " i got it from him",
                                     ". earlier i built",
                                     ". earlier i repaired",
                                     ". earlier i cleaned",
                                     ". earlier i unpacked",
                                     " that i built",
                                     " that i repaired",
                                     " that i cleaned",
                                     " that i unpacked",
                                     " day i built",
                                     " day i repaired",
                                     " day i cleaned",
                                     " day i unpacked"}},
    {"telescope",
     "telescope_his",
     {" i lent it to him", " i gave it to him", " i handed it to him", " i sold it to him", " he borrowed it from me",
      " he took it from me", " he bought it from me", " he got it from me", " he built", " he repaired", " he cleaned",
      " he unpacked"}},
};

/* The text with blanks around it, cut behind the ambiguous word; returns the context, and the word's rule of sense 0.
 */
static const char *find_context(const char *text, char padded[512], const struct sense_rule **out_rule)
{
    snprintf(padded, 512, " %s ", text);
    for (size_t i = 0; i < N(rules); i += 2) {
        const char *after = i + 2 < N(rules) ? " " : ". ";
        char word[32];
        snprintf(word, sizeof word, " %s%s", rules[i].word, after);
        const char *place = strstr(padded, word);
        if (place != NULL) {
            *out_rule = &rules[i];
            return place + 1 + strlen(rules[i].word);
        }
    }
    return NULL;
}

static bool has_sign(const char *context, const struct sense_rule *rule)
{
    for (size_t i = 0; i < N(rule->signs) && rule->signs[i] != NULL; i++)
        if (strstr(context, rule->signs[i]) != NULL)
            return true;
    return false;
}

Test(task_sense, the_context_settles_the_sense)
{
    struct tap_task_options options = {.rows = n_rows};
    struct tap_rows *rows = task_case_rows("sense", &options, 1, 2);
    for (uint32_t row = 0; row < rows->n; row++) {
        char padded[512];
        const char *text = task_case_text(rows, row);
        const struct sense_rule *rule = NULL;
        const char *context = find_context(text, padded, &rule);
        cr_assert_not_null(context, "%s", text);
        bool is_first = has_sign(context, &rule[0]);
        bool is_second = has_sign(context, &rule[1]);
        cr_assert_neq(is_first, is_second, "%s", text);
        cr_assert_str_eq(tap_rows_label(rows, row), rule[is_second].label, "%s", text);
    }
    task_case_expect_distinct(rows);
    tap_rows_free(rows);
}

Test(task_sense, twins_are_equal_up_to_and_with_the_ambiguous_word)
{
    struct tap_task_options options = {.rows = n_rows};
    struct tap_rows *rows = task_case_rows("sense", &options, 1, 2);
    for (uint32_t row = 0; row < rows->n; row += 2) {
        char padded[2][512];
        const struct sense_rule *rule[2] = {NULL, NULL};
        size_t n_same[2];
        for (uint32_t i = 0; i < 2; i++)
            n_same[i] = (size_t)(find_context(task_case_text(rows, row + i), padded[i], &rule[i]) - padded[i]);
        cr_assert_eq(rule[0], rule[1]);
        cr_assert_eq(n_same[0], n_same[1]);
        cr_assert_arr_eq(padded[0], padded[1], n_same[0]);
        cr_assert_str_eq(tap_rows_label(rows, row), rule[0]->label);
        cr_assert_str_eq(tap_rows_label(rows, row + 1), rule[0][1].label);
    }
    tap_rows_free(rows);
}

/* The same words in both readings: all that differs is who does what to whom. */
Test(task_sense, no_single_word_settles_whose_telescope_it_is)
{
    static const char *const words[] = {" he ",       " him ",  " me ",    " lent ",   " gave ",
                                        " borrowed ", " took ", " built ", " sold ",   " repaired ",
                                        " from ",     " it ",   " to ",    " earlier "};
    struct tap_task_options options = {.rows = 8 * n_rows};
    struct tap_rows *rows = task_case_rows("sense", &options, 1, 2);
    for (size_t i = 0; i < N(words); i++) {
        int n_with[2] = {0, 0};
        for (uint32_t row = 0; row < rows->n; row++) {
            char padded[512];
            snprintf(padded, sizeof padded, " %s ", task_case_text(rows, row));
            const char *label = tap_rows_label(rows, row);
            if (strncmp(label, "telescope", 9) == 0 && strstr(padded, words[i]) != NULL)
                n_with[strcmp(label, "telescope_his") == 0]++;
        }
        /* the one word that is not even is "he": in two of three contexts of his, and in one of mine */
        double share = n_with[0] / (double)(n_with[0] + n_with[1]);
        cr_expect(share > 0.3 && share < 0.7, "%s: %g", words[i], share);
    }
    tap_rows_free(rows);
}

Test(task_sense, everything_is_lower_case)
{
    struct tap_task_options options = {.rows = n_rows};
    struct tap_rows *rows = task_case_rows("sense", &options, 1, 2);
    for (uint32_t row = 0; row < rows->n; row++) {
        const char *text = task_case_text(rows, row);
        cr_assert_eq(strspn(text, "abcdefghijklmnopqrstuvwxyz ."), strlen(text), "%s", text);
        cr_assert_null(strstr(text, "  "), "%s", text);
        cr_assert(text[0] != ' ' && text[strlen(text) - 1] != ' ');
    }
    tap_rows_free(rows);
}

Test(task_sense, labels_are_balanced_in_every_part_and_the_seed_decides)
{
    struct tap_task_options options = {.rows = 4000};
    task_case_expect_balance("sense", &options, 8, 1);
    task_case_expect_seeded("sense", &options);
}

/* Every word before the context stands in as many rows of one sense as of the other, in each part. */
Test(task_sense, twins_are_in_the_same_part)
{
    struct tap_task_options options = {.rows = n_rows};
    struct tap_data *data = task_case_data("sense", &options);
    static int part_of_line[n_rows + 1];
    for (int part = 0; part < TAP_N_PARTS; part++)
        for (uint32_t row = 0; row < data->parts[part].n_rows; row++)
            part_of_line[data->parts[part].lines[row]] = part + 1;
    for (int line = 1; line <= n_rows; line += 2) {
        cr_assert_neq(part_of_line[line], 0);
        cr_assert_eq(part_of_line[line], part_of_line[line + 1]);
    }
    tap_data_free(data);
}

Test(task_sense, bad_rows_are_refused_by_key_and_other_sizes_do_not_matter)
{
    struct tap_task_options options = {.rows = 16};
    const int bad_rows[] = {-2, 0, 6, 9, 1000002, 2147483646};
    const int good_rows[] = {8, 10, 20000};
    const int any[] = {-5, 0, 7};
    task_case_expect_refused("sense", &options, &options.rows, bad_rows, N(bad_rows), "task.rows: ");
    task_case_expect_accepted("sense", &options, &options.rows, good_rows, N(good_rows));
    task_case_expect_accepted("sense", &options, &options.length, any, N(any));
}

Test(task_sense, memory_may_run_out_anywhere)
{
    struct tap_task_options options = {.rows = 100};
    task_case_expect_memory_errors("sense", &options);
}
