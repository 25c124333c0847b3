/* test_config_table.c: what must hold of every key in config.def, whichever keys there are: each limit on both sides,
 * each choice, each default. */
#include <criterion/criterion.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config_case.h"
#include "config_number.h"
#include "config_table.h"

/* Whether key i takes a value; it is set from a text as a checkpoint does. */
static bool is_taken(size_t i, const char *text)
{
    struct config_case *c = config_case_new();
    const struct tap_config_key *key = &tap_config_keys[i];
    bool is_good = tap_config_set_text(&c->config, key->group, key->name, text, "stored", &c->errors);
    cr_expect_eq(tap_config_errors_count(&c->errors), is_good ? 0 : 1, "%s.%s: %s", key->group, key->name, text);
    if (is_good)
        cr_expect_str_eq(config_case_value(c, key->group, key->name), text);
    config_case_free(c);
    return is_good;
}

static void expect_taken(size_t i, double value, bool is_within)
{
    struct tap_config_text text = {0};
    tap_config_write_real(value, &text);
    const struct tap_config_key *key = &tap_config_keys[i];
    bool is_default = key->initial != NULL && strcmp(text.bytes, key->initial) == 0;
    bool is_expected = is_within && (!key->only_default || is_default);
    cr_expect_eq(is_taken(i, text.bytes), is_expected, "%s.%s: %s", key->group, key->name, text.bytes);
    tap_config_text_clear(&text);
}

Test(config_table, every_limit_of_every_integer_holds_on_both_sides)
{
    size_t n_checked = 0;
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        const struct tap_config_key *key = &tap_config_keys[i];
        if (key->kind != TAP_CONFIG_KIND_INTEGER)
            continue;
        double max = fmin(key->range.max, INT_MAX);
        expect_taken(i, key->range.min, true);
        expect_taken(i, key->range.min - 1, false);
        expect_taken(i, max, true);
        expect_taken(i, max + 1, false);
        n_checked++;
    }
    cr_expect_gt(n_checked, 20);
}

Test(config_table, every_limit_of_every_number_holds_on_both_sides)
{
    size_t n_checked = 0;
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        const struct tap_config_range *range = &tap_config_keys[i].range;
        if (tap_config_keys[i].kind != TAP_CONFIG_KIND_REAL)
            continue;
        expect_taken(i, range->min, !range->min_is_open);
        expect_taken(i, nextafter(range->min, -1.0), false);
        expect_taken(i, nextafter(range->min, 1.0), true);
        expect_taken(i, range->max, !range->max_is_open);
        expect_taken(i, nextafter(range->max, 0.0), true);
        if (range->max < DBL_MAX)
            expect_taken(i, nextafter(range->max, INFINITY), false);
        n_checked++;
    }
    cr_expect_gt(n_checked, 15);
}

Test(config_table, every_choice_and_flag_is_taken_or_said_to_come_later)
{
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        const struct tap_config_key *key = &tap_config_keys[i];
        if (key->choices != NULL)
            for (const struct tap_config_choice *choice = key->choices; choice->word != NULL; choice++)
                cr_expect_eq(is_taken(i, choice->word), choice->is_supported, "%s.%s", key->group, key->name);
        if (key->kind == TAP_CONFIG_KIND_FLAG) {
            cr_expect_eq(is_taken(i, "true"), !key->only_default || strcmp(key->initial, "true") == 0);
            cr_expect_eq(is_taken(i, "false"), !key->only_default || strcmp(key->initial, "false") == 0);
        }
    }
}

Test(config_table, every_default_is_accepted_and_written_in_the_shortest_form)
{
    struct config_case *c = config_case_new();
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        const struct tap_config_key *key = &tap_config_keys[i];
        const char *initial = key->follows != NULL
                                  ? tap_config_keys[tap_config_key_index(key->group, key->follows)].initial
                                  : key->initial;
        cr_expect_str_eq(config_case_value(c, key->group, key->name), initial, "%s.%s", key->group, key->name);
        cr_expect(is_taken(i, initial), "%s.%s", key->group, key->name);
    }
    config_case_free(c);
}

Test(config_table, every_key_has_a_name_of_its_own_and_a_meaning)
{
    cr_expect_eq(tap_config_n_keys(), (size_t)TAP_CONFIG_N_KEYS);
    size_t n_keys = 0;
    for (size_t g = 0; g < TAP_CONFIG_N_GROUPS; g++) {
        cr_expect_eq(tap_config_groups[g].first_key, n_keys);
        n_keys += tap_config_groups[g].n_keys;
        cr_expect_eq(tap_config_find_group(tap_config_groups[g].name), g);
        cr_expect_eq(tap_config_nearest_group(tap_config_groups[g].name), g);
    }
    cr_expect_eq(n_keys, (size_t)TAP_CONFIG_N_KEYS);
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        cr_expect_eq(tap_config_key_index(tap_config_key_group(i), tap_config_key_name(i)), i);
        cr_expect_eq(tap_config_nearest_key(tap_config_find_group(tap_config_key_group(i)), tap_config_key_name(i)), i);
        cr_expect_eq(tap_config_key_kind(i), tap_config_keys[i].kind);
        cr_expect_gt(strlen(tap_config_keys[i].about), 4u);
    }
}

/* The contract's table of defaults, written a second time on purpose: a default that changes must change here too. */
Test(config_table, the_defaults_are_the_promised_ones)
{
    static const char expected[] =
        "model:\n  d_model: 64\n  heads: 4\n  d_head: 0\n  layers: 2\n  d_ff: 256\n  dropout: 0.1\n"
        "  embedding_dropout: 0.1\n  attention_dropout: 0.1\n  residual_dropout: 0.1\n  ffn_dropout: 0.1\n"
        "  activation: relu\n  norm: layer\n  norm_position: post\n  norm_eps: 1e-5\n  residual: true\n  bias: true\n"
        "  scale_scores: true\n  project_qkv: true\n  causal: false\n  positions: sinusoidal\n"
        "  embedding_scale: none\n  pooling: mean\n"
        "data:\n  task: \"\"\n  train: \"\"\n  valid: \"\"\n  test: \"\"\n  valid_fraction: 0.1\n  test_fraction: 0\n"
        "  seed: 1\n  format: auto\n  encoding: utf-8\n  bad_bytes: refuse\n  header: auto\n  label_column: \"1\"\n"
        "  text_column: \"2\"\n  label_prefix_end: \"\"\n  tokenizer: word\n  lowercase: true\n  min_count: 1\n  max_vocab: 50000\n"
        "  char_ngrams: 0\n  char_ngram_min: 3\n  char_ngram_max: 5\n  bigrams: 0\n  max_length: 256\n"
        "  truncate: head\n"
        "task:\n  rows: 6000\n  language: both\n  length: 0\n  depth: 0\n  kinds: 0\n"
        "train:\n  seed: 1\n  epochs: 10\n  steps: -1\n  stop_after: -1\n  batch_size: 32\n  batch_tokens: 0\n"
        "  accumulate: 1\n  log_every: 10\n  evaluate_every: 0\n  patience: 0\n  metric: accuracy\n"
        "  label_smoothing: 0\n  word_dropout: 0\n  class_weights: none\n  matmul: f32\n  threads: 0\n  init: \"\"\n"
        "  init_partial: false\n  freeze: []\n"
        "optim:\n  name: adam\n  lr: 1e-3\n  beta1: 0.9\n  beta2: 0.999\n  eps: 1e-8\n  weight_decay: 0\n"
        "  decay: matrices\n  amsgrad: false\n  momentum: 0\n  nesterov: false\n  clip_norm: 0\n"
        "  schedule: constant\n  warmup: 0\n  final_lr: 0\n"
        "checkpoint:\n  every: 0\n  keep: 3\n  compression: 0\n";
    struct config_case *c = config_case_new();
    struct tap_config_text written = config_case_written(c);
    cr_expect_str_eq(written.bytes, expected);
    tap_config_text_clear(&written);
    config_case_free(c);
}

Test(config_table, the_fields_hold_what_the_words_say)
{
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "model: {activation: gelu, norm_position: pre, causal: true, dropout: 0.25}\n"
                                  "optim: {name: sgd, schedule: linear, decay: all}\n"
                                  "train: {metric: mcc, steps: 0}\ndata: {header: no}\ntask: {language: chinese}\n"));
    cr_expect_eq(c->config.model.activation, TAP_CONFIG_ACTIVATION_GELU);
    cr_expect_eq(c->config.model.norm_position, TAP_CONFIG_NORM_POSITION_PRE);
    cr_expect(c->config.model.causal);
    cr_expect_eq(c->config.model.dropout, 0.25);
    cr_expect_eq(c->config.optim.name, TAP_CONFIG_OPTIMIZER_SGD);
    cr_expect_eq(c->config.optim.schedule, TAP_CONFIG_SCHEDULE_LINEAR);
    cr_expect_eq(c->config.optim.decay, TAP_CONFIG_DECAY_ALL);
    cr_expect_eq(c->config.train.metric, TAP_CONFIG_METRIC_MCC);
    cr_expect_eq(c->config.train.steps, 0);
    cr_expect_eq(c->config.data.header, TAP_CONFIG_HEADER_NO);
    cr_expect_eq(c->config.task.language, TAP_CONFIG_LANGUAGE_CHINESE);
    config_case_free(c);
}

Test(config_table, the_reference_page_is_what_the_table_gives)
{
    struct tap_config_text page = {0};
    tap_config_document(&page);
    FILE *stream = fopen("docs/config.md", "rb");
    cr_assert_not_null(stream, "docs/config.md is looked for in the current folder, the project's root");
    static char stored[65536];
    size_t n_bytes = fread(stored, 1, sizeof stored - 1, stream);
    fclose(stream);
    cr_expect(n_bytes == page.n_bytes && memcmp(stored, page.bytes, n_bytes) == 0,
              "docs/config.md is out of date: make docs/config.md");
    tap_config_text_clear(&page);
}
