/* test_config_read.c: config files, good and bad. Every bad one gives exactly the messages written beside it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_case.h"
#include "mem.h"

#define CONFIG_FORM "a config in UTF-8: 'group:' and below it, indented, 'key: value' lines\n"
#define GROUP_FORM "'group:' and below it, indented, 'key: value' lines\n"
#define INTEGER_1 "an integer from 1 to 2147483647\n"
#define INTEGER_0 "an integer from 0 to 2147483647\n"
#define BELOW_1 "a number from 0 to below 1\n"

struct bad_case {
    const char *text, *messages;
};

static void check_bad(const struct bad_case *cases, size_t n_cases)
{
    for (size_t i = 0; i < n_cases; i++) {
        struct config_case *c = config_case_new();
        cr_expect(!config_case_read(c, cases[i].text), "accepted: %s", cases[i].text);
        cr_expect_str_eq(config_case_messages(c), cases[i].messages, "%s\ngave\n%s\nnot\n%s", cases[i].text,
                         config_case_messages(c), cases[i].messages);
        config_case_free(c);
    }
}
#define CHECK_BAD(cases) check_bad(cases, sizeof(cases) / sizeof *(cases))

Test(config_read, a_bad_integer_is_told_with_line_key_and_range)
{
    static const struct bad_case cases[] = {
        {"model: {heads: 8.0}", "x.cfg:1: model.heads: '8.0' is no integer; accepted: " INTEGER_1},
        {"model: {heads: 1e2}", "x.cfg:1: model.heads: '1e2' is no integer; accepted: " INTEGER_1},
        {"model: {heads: 08}", "x.cfg:1: model.heads: '08' is no integer; accepted: " INTEGER_1},
        {"model: {heads: 0x8}", "x.cfg:1: model.heads: '0x8' is no integer; accepted: " INTEGER_1},
        {"model: {heads: 00}", "x.cfg:1: model.heads: '00' is no integer; accepted: " INTEGER_1},
        {"model: {layers: -0}", "x.cfg:1: model.layers: '-0' is no integer; accepted: " INTEGER_0},
        {"model: {heads: 2147483648}", "x.cfg:1: model.heads: '2147483648' is out of range; accepted: " INTEGER_1},
        {"model: {heads: -2147483648}", "x.cfg:1: model.heads: '-2147483648' is out of range; accepted: " INTEGER_1},
        {"model: {heads: 9999999999999999999}",
         "x.cfg:1: model.heads: '9999999999999999999' is out of range; accepted: " INTEGER_1},
        {"model: {heads: 0}", "x.cfg:1: model.heads: '0' is out of range; accepted: " INTEGER_1},
        {"model: {heads: -1}", "x.cfg:1: model.heads: '-1' is out of range; accepted: " INTEGER_1},
        {"model: {layers: -1}", "x.cfg:1: model.layers: '-1' is out of range; accepted: " INTEGER_0},
        {"model: {heads: 4x}", "x.cfg:1: model.heads: '4x' is no integer; accepted: " INTEGER_1},
        {"model: {heads: 4 4}", "x.cfg:1: model.heads: '4 4' is no integer; accepted: " INTEGER_1},
        {"model: {heads: ' 4'}", "x.cfg:1: model.heads: ' 4' is no integer; accepted: " INTEGER_1},
        {"model: {heads: \"\"}", "x.cfg:1: model.heads: '' is no integer; accepted: " INTEGER_1},
        {"model:\n  heads:\n", "x.cfg:2: model.heads: '' is no integer; accepted: " INTEGER_1},
        {"model: {heads: ~}", "x.cfg:1: model.heads: '~' is no integer; accepted: " INTEGER_1},
        {"model: {heads: null}", "x.cfg:1: model.heads: 'null' is no integer; accepted: " INTEGER_1},
        {"model: {heads: +}", "x.cfg:1: model.heads: '+' is no integer; accepted: " INTEGER_1},
        {"model: {heads: 1_000}", "x.cfg:1: model.heads: '1_000' is no integer; accepted: " INTEGER_1},
        {"model: {heads: \"4\\n\"}", "x.cfg:1: model.heads: '4?' is no integer; accepted: " INTEGER_1},
        {"model: {heads: 99999999999x}", "x.cfg:1: model.heads: '99999999999x' is no integer; accepted: " INTEGER_1},
        {"checkpoint: {compression: 10}",
         "x.cfg:1: checkpoint.compression: '10' is out of range; accepted: an integer from 0 to 9\n"},
    };
    CHECK_BAD(cases);
}

Test(config_read, a_bad_number_is_told_with_line_key_and_range)
{
    static const struct bad_case cases[] = {
        {"optim: {lr: 1e-3x}", "x.cfg:1: optim.lr: '1e-3x' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: 1e}", "x.cfg:1: optim.lr: '1e' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: 1e+}", "x.cfg:1: optim.lr: '1e+' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: 1e-3 1e-4}", "x.cfg:1: optim.lr: '1e-3 1e-4' is no number; accepted: a number from 0 up\n"},
        {"optim:\n  lr: 1,5", "x.cfg:2: optim.lr: '1,5' is no number; accepted: a number from 0 up\n"},
        {"optim:\n  lr: 0,001", "x.cfg:2: optim.lr: '0,001' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: \"\"}", "x.cfg:1: optim.lr: '' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: nan}", "x.cfg:1: optim.lr: 'nan' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: .nan}", "x.cfg:1: optim.lr: '.nan' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: inf}", "x.cfg:1: optim.lr: 'inf' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: -Infinity}", "x.cfg:1: optim.lr: '-Infinity' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: 1e400}", "x.cfg:1: optim.lr: '1e400' is out of range; accepted: a number from 0 up\n"},
        {"optim: {lr: 1e-400}",
         "x.cfg:1: optim.lr: '1e-400' is too near to 0 for a number to hold; accepted: a number from 0 up\n"},
        {"optim: {lr: 0x1p-10}", "x.cfg:1: optim.lr: '0x1p-10' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: .}", "x.cfg:1: optim.lr: '.' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: 1.2.3}", "x.cfg:1: optim.lr: '1.2.3' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: --1}", "x.cfg:1: optim.lr: '--1' is no number; accepted: a number from 0 up\n"},
        {"optim: {lr: -1e-3}", "x.cfg:1: optim.lr: '-1e-3' is out of range; accepted: a number from 0 up\n"},
        {"optim: {clip_norm: -1}", "x.cfg:1: optim.clip_norm: '-1' is out of range; accepted: a number from 0 up\n"},
        {"optim: {clip_norm: off}", "x.cfg:1: optim.clip_norm: 'off' is no number; accepted: a number from 0 up\n"},
        {"optim: {clip_norm: nan}", "x.cfg:1: optim.clip_norm: 'nan' is no number; accepted: a number from 0 up\n"},
        {"optim: {clip_norm: inf}", "x.cfg:1: optim.clip_norm: 'inf' is no number; accepted: a number from 0 up\n"},
        {"optim: {beta1: 1}", "x.cfg:1: optim.beta1: '1' is out of range; accepted: " BELOW_1},
        {"optim: {beta2: 1.0}", "x.cfg:1: optim.beta2: '1.0' is out of range; accepted: " BELOW_1},
        {"model: {dropout: 1}", "x.cfg:1: model.dropout: '1' is out of range; accepted: " BELOW_1},
        {"model: {ffn_dropout: -0.1}", "x.cfg:1: model.ffn_dropout: '-0.1' is out of range; accepted: " BELOW_1},
        {"model: {norm_eps: 0}", "x.cfg:1: model.norm_eps: '0' is out of range; accepted: a number above 0\n"},
        {"train: {word_dropout: 1}", "x.cfg:1: train.word_dropout: '1' is out of range; accepted: " BELOW_1},
        {"train: {label_smoothing: 1}", "x.cfg:1: train.label_smoothing: '1' is out of range; accepted: " BELOW_1},
        {"optim: {warmup: -1}",
         "x.cfg:1: optim.warmup: '-1' is out of range; accepted: a number from 0 to 2147483647\n"},
    };
    CHECK_BAD(cases);
}

Test(config_read, an_unknown_name_is_told_with_the_nearest_known_one)
{
    static const struct bad_case cases[] = {
        {"model:\n  haeds: 4\n", "x.cfg:2: model.haeds: unknown key; the nearest known one is model.heads\n"},
        {"model:\n  n_heads: 4\n", "x.cfg:2: model.n_heads: unknown key; the nearest known one is model.heads\n"},
        {"model: {Heads: 4}", "x.cfg:1: model.Heads: unknown key; the nearest known one is model.heads\n"},
        {"optim: {betas: 4}", "x.cfg:1: optim.betas: unknown key; the nearest known one is optim.beta1\n"},
        {"model: {lr: 4}", "x.cfg:1: model.lr: unknown key; the nearest known one is optim.lr\n"},
        {"model: {seed: 4}", "x.cfg:1: model.seed: unknown key; the nearest known one is data.seed, train.seed\n"},
        {"model: {<<: 4}", "x.cfg:1: model.<<: unknown key; the nearest known one is model.d_ff\n"},
        {"modle:\n  heads: 4\n", "x.cfg:1: modle: unknown group; the nearest known one is model\n"},
        {"optimizer: {lr: 1}", "x.cfg:1: optimizer: unknown group; the nearest known one is optim\n"},
        {"checkpiont:\n  x: [1, [2]]\nmodel: {heads: 0}",
         "x.cfg:1: checkpiont: unknown group; the nearest known one is checkpoint\n"
         "x.cfg:3: model.heads: '0' is out of range; accepted: " INTEGER_1},
        {"lr: 1e-3\n", "x.cfg:1: lr: a key outside its group; accepted: optim.lr\n"},
        {"seed: 3\n", "x.cfg:1: seed: a key outside its group; accepted: data.seed, train.seed\n"},
        {"model.heads: 4\n", "x.cfg:1: model.heads: unknown group; the nearest known one is model\n"},
    };
    CHECK_BAD(cases);
}

Test(config_read, a_bad_word_is_told_with_those_accepted)
{
    static const struct bad_case cases[] = {
        {"model: {activation: rleu}", "x.cfg:1: model.activation: 'rleu' is unknown; accepted: relu, gelu, gelu_tanh, silu\n"},
        {"model: {activation: ReLU}", "x.cfg:1: model.activation: 'ReLU' is unknown; accepted: relu, gelu, gelu_tanh, silu\n"},
        {"model: {activation: ''}", "x.cfg:1: model.activation: '' is unknown; accepted: relu, gelu, gelu_tanh, silu\n"},
        {"data: {encoding: utf-16}",
         "x.cfg:1: data.encoding: 'utf-16' is unknown; accepted: utf-8, cp1252, latin-1\n"},
        {"data: {format: xls}",
         "x.cfg:1: data.format: 'xls' is unknown; accepted: auto, tsv, csv, jsonl, fasttext, space, folder\n"},
        {"data: {tokenizer: bpe}",
         "x.cfg:1: data.tokenizer: 'bpe' is unknown; accepted: word, char, byte, wordpiece\n"},
        {"data: {truncate: middle}", "x.cfg:1: data.truncate: 'middle' is unknown; accepted: head, tail, both\n"},
        {"data: {bad_bytes: skip}", "x.cfg:1: data.bad_bytes: 'skip' is unknown; accepted: refuse, replace\n"},
        {"model: {causal: yes}", "x.cfg:1: model.causal: 'yes' is no flag; accepted: true, false\n"},
        {"model: {causal: True}", "x.cfg:1: model.causal: 'True' is no flag; accepted: true, false\n"},
        {"model: {causal: 1}", "x.cfg:1: model.causal: '1' is no flag; accepted: true, false\n"},
        {"data: {label_column: 0}",
         "x.cfg:1: data.label_column: '0' is no column; accepted: a number from 1, or a name\n"},
        {"data: {text_column: -2}",
         "x.cfg:1: data.text_column: '-2' is no column; accepted: a number from 1, or a name\n"},
        {"data: {text_column: ''}",
         "x.cfg:1: data.text_column: '' is no column; accepted: a number from 1, or a name\n"},
        {"data: {text_column: 02}",
         "x.cfg:1: data.text_column: '02' is no column; accepted: a number from 1, or a name\n"},
        {"data: {task: \"a\\0b\"}", "x.cfg:1: data.task: a zero byte; accepted: a text in UTF-8\n"},
        {"data: {train: [a, b]}", "x.cfg:1: data.train: a list; accepted: a path in UTF-8\n"},
        {"train: {freeze: all}", "x.cfg:1: train.freeze: 'all' is no list; accepted: a list of texts\n"},
        {"model: {heads: [4]}", "x.cfg:1: model.heads: a list; accepted: " INTEGER_1},
        {"model:\n  heads:\n    n: 4\n  layers: -1\n",
         "x.cfg:3: model.heads: a mapping; accepted: " INTEGER_1
         "x.cfg:4: model.layers: '-1' is out of range; accepted: " INTEGER_0},
    };
    CHECK_BAD(cases);
}

#define WEIGHTS "none, balanced, or a list of numbers from 0 up, one of them above 0\n"

Test(config_read, bad_class_weights_are_told)
{
    static const struct bad_case cases[] = {
        {"train: {class_weights: even}", "x.cfg:1: train.class_weights: 'even' is unknown; accepted: " WEIGHTS},
        {"train: {class_weights: 2}", "x.cfg:1: train.class_weights: '2' is unknown; accepted: " WEIGHTS},
        {"train: {class_weights: []}", "x.cfg:1: train.class_weights: no weight is above 0; accepted: " WEIGHTS},
        {"train: {class_weights: [0, 0.0]}", "x.cfg:1: train.class_weights: no weight is above 0; accepted: " WEIGHTS},
        {"train: {class_weights: [1, x]}", "x.cfg:1: train.class_weights: 'x' is no number; accepted: " WEIGHTS},
        {"train: {class_weights: [1, -1]}", "x.cfg:1: train.class_weights: '-1' is out of range; accepted: " WEIGHTS},
        {"train: {class_weights: [1, nan]}", "x.cfg:1: train.class_weights: 'nan' is no number; accepted: " WEIGHTS},
        {"train: {class_weights: [1, [2]]}", "x.cfg:1: train.class_weights: a list within a list; accepted: " WEIGHTS},
        {"train: {class_weights: [1, {a: 2}]}",
         "x.cfg:1: train.class_weights: a mapping within a list; accepted: " WEIGHTS},
        {"train: {class_weights: [1, \"\\0\"]}", "x.cfg:1: train.class_weights: a zero byte; accepted: " WEIGHTS},
        {"train: {class_weights: [1, !!int 2, &a 3]}", "x.cfg:1: train.class_weights: a tag; accepted: " WEIGHTS},
    };
    CHECK_BAD(cases);
}

Test(config_read, what_comes_later_is_refused_by_name)
{
    static const struct bad_case cases[] = {
        {"train: {matmul: bf16}", "x.cfg:1: train.matmul: 'bf16' is not supported yet; accepted: f32\n"},
    };
    CHECK_BAD(cases);
}

Test(config_read, what_is_given_twice_is_refused)
{
    static const struct bad_case cases[] = {
        {"model:\n  heads: 4\n  heads: 4\n",
         "x.cfg:3: model.heads: given twice, first in line 2; accepted: each key once\n"},
        {"model: {heads: x}\ndata:\nmodel:\n  heads: 4\n  layers: 1",
         "x.cfg:1: model.heads: 'x' is no integer; accepted: " INTEGER_1
         "x.cfg:3: model: given twice, first in line 1; accepted: each group once\n"
         "x.cfg:4: model.heads: given twice, first in line 1; accepted: each key once\n"},
        {"data:\ndata:\n", "x.cfg:2: data: given twice, first in line 1; accepted: each group once\n"},
        {"model: {heads: 4}\n---\nmodel: {layers: 4}\n", "x.cfg:2: a second document; accepted: " GROUP_FORM},
    };
    CHECK_BAD(cases);
}

Test(config_read, yaml_beyond_two_plain_levels_is_refused)
{
    static const struct bad_case cases[] = {
        {"model: 5\n", "x.cfg:1: model: not a group of keys; accepted: " GROUP_FORM},
        {"model: ''\n", "x.cfg:1: model: not a group of keys; accepted: " GROUP_FORM},
        {"model: ~\n", "x.cfg:1: model: not a group of keys; accepted: " GROUP_FORM},
        {"model: [heads, layers]\n", "x.cfg:1: model: not a group of keys; accepted: " GROUP_FORM},
        {"model:\n  heads:4\n", "x.cfg:1: model: not a group of keys; accepted: " GROUP_FORM},
        {"model: &m\n  heads: &h 4\n  layers: *h\n  d_ff: !!int 5\n  dropout: !x [1]\n  lr: *h\n",
         "x.cfg:1: model: an anchor; accepted: " GROUP_FORM "x.cfg:2: model.heads: an anchor; accepted: " INTEGER_1
         "x.cfg:3: model.layers: an alias; accepted: " INTEGER_0 "x.cfg:4: model.d_ff: a tag; accepted: " INTEGER_1
         "x.cfg:5: model.dropout: a tag; accepted: " BELOW_1
         "x.cfg:6: model.lr: unknown key; the nearest known one is optim.lr\n"},
        {"optim: *m\n", "x.cfg:1: optim: an alias; accepted: " GROUP_FORM},
        {"*m : {heads: 4}\n[a]: {b: c}\n",
         "x.cfg:1: an alias; accepted: " GROUP_FORM "x.cfg:2: a name that is no word; accepted: " GROUP_FORM},
        {"model:\n  ? [heads]\n  : [4]\n  layers: x\n",
         "x.cfg:2: model.?: a name that is no word; accepted: 'key: value' lines\n"
         "x.cfg:4: model.layers: 'x' is no integer; accepted: " INTEGER_0},
        {"\"mo\\0del\": {heads: 4}\n", "x.cfg:1: a zero byte; accepted: " GROUP_FORM},
        {"&r {model: {}}\n", "x.cfg:1: an anchor; accepted: " CONFIG_FORM},
        {"hello\n", "x.cfg:1: not a mapping of groups; accepted: " CONFIG_FORM},
        {"# c\n\n- a\n", "x.cfg:3: not a mapping of groups; accepted: " CONFIG_FORM},
    };
    CHECK_BAD(cases);
}

Test(config_read, what_is_no_yaml_gives_one_message_alone)
{
    static const struct bad_case cases[] = {
        {"model:\n  heads: 0\n\tlayers: 4\n",
         "x.cfg:3: not YAML: while scanning a plain scalar from line 2 on, found a tab character that violates "
         "indentation; accepted: " CONFIG_FORM},
        {"model:\n\theads: 4\n",
         "x.cfg:2: not YAML: while scanning for the next token from line 2 on, found character that cannot start any "
         "token; accepted: " CONFIG_FORM},
        {"model:\n  heads: 0\n   layers: 3\n",
         "x.cfg:3: not YAML: mapping values are not allowed in this context; accepted: " CONFIG_FORM},
        {"data: {task: \"abc}\n\n",
         "x.cfg:3: not YAML: while scanning a quoted scalar from line 1 on, found unexpected end of stream; "
         "accepted: " CONFIG_FORM},
        {"model: {heads: 4\n",
         "x.cfg:2: not YAML: while parsing a flow mapping from line 1 on, did not find expected ',' or '}'; "
         "accepted: " CONFIG_FORM},
        {"model:\n  heads: 4\n  layers: \x01\n",
         "x.cfg:3: not YAML: control characters are not allowed; accepted: " CONFIG_FORM},
        {"data:\n  train: a\xFF\n", "x.cfg:2: not YAML: invalid leading UTF-8 octet; accepted: " CONFIG_FORM},
        {"%YAML 3.0\n---\nmodel:\n", "x.cfg:1: not YAML: found incompatible YAML document; accepted: " CONFIG_FORM},
    };
    CHECK_BAD(cases);
}

Test(config_read, all_errors_are_told_in_the_order_of_the_lines)
{
    struct config_case *c = config_case_new();
    cr_assert(!config_case_read(c, "model:\n  heads: 8.0\n  lays: 2\noptim:\n  lr: fast\nchekpoint:\n  keep: 0\n"));
    tap_config_set(&c->config, "train.epochs=many", &c->errors);
    cr_expect_str_eq(config_case_messages(c),
                     "x.cfg:2: model.heads: '8.0' is no integer; accepted: " INTEGER_1
                     "x.cfg:3: model.lays: unknown key; the nearest known one is model.layers\n"
                     "x.cfg:5: optim.lr: 'fast' is no number; accepted: a number from 0 up\n"
                     "x.cfg:6: chekpoint: unknown group; the nearest known one is checkpoint\n"
                     "--set: train.epochs: 'many' is no integer; accepted: " INTEGER_0);
    cr_expect_str_eq(config_case_value(c, "model", "heads"), "4", "a refused value changes nothing");
    config_case_free(c);
}

Test(config_read, utf16_is_refused_by_name)
{
    static const char little[] = "\xFF\xFEm\0:\0", big[] = "\xFE\xFF\0m\0:";
    struct config_case *c = config_case_new();
    cr_expect(!tap_config_read_text(&c->config, "x.cfg", little, sizeof little - 1, &c->errors));
    cr_expect(!tap_config_read_text(&c->config, "x.cfg", big, sizeof big - 1, &c->errors));
    cr_expect_str_eq(config_case_messages(c), "x.cfg:1: UTF-16 instead of UTF-8; accepted: " CONFIG_FORM
                                              "x.cfg:1: UTF-16 instead of UTF-8; accepted: " CONFIG_FORM);
    config_case_free(c);
}

/* The key model.heads after reading a good text. */
static void check_heads(const char *text, const char *heads)
{
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, text), "%s gave %s", text, config_case_messages(c));
    cr_expect_str_eq(config_case_value(c, "model", "heads"), heads, "%s", text);
    config_case_free(c);
}

Test(config_read, yaml_may_be_written_in_many_ways)
{
    check_heads("model:\n  heads: 8", "8");
    check_heads("model:\n  heads: 8\n", "8");
    check_heads("\xEF\xBB\xBFmodel:\r\n  heads: 8\r\n", "8");
    check_heads("model:\r  heads: 8\r", "8");
    check_heads("model: {heads: 8}", "8");
    check_heads("{model: {heads: 8, layers: 0}, data: }", "8");
    check_heads("\"model\":\n  'heads': \"8\" # comment\n", "8");
    check_heads("model:\n  heads:\t8\n", "8");
    check_heads("model:\n  heads:\n    8\n", "8");
    check_heads("---\nmodel: {heads: +8}\n...\n", "8");
    check_heads("%YAML 1.1\n---\nmodel: {heads: 8}\n", "8");
    check_heads("model:\n  # heads: 8\n", "4");
    check_heads("model:\n", "4");
    check_heads("{}", "4");
    check_heads("", "4");
    check_heads("\xEF\xBB\xBF", "4");
    check_heads("# only a comment", "4");
    check_heads("---\n", "4");
    check_heads("model: {heads: 2147483647}", "2147483647");
}

Test(config_read, a_number_means_the_same_however_it_is_written)
{
    static const char *const spellings[] = {"1e-3", "1E-3", "1.0e-3", ".001", "0.001", "+1e-3", "1e-03"};
    static const unsigned char bits[] = {0x6F, 0x12, 0x83, 0x3A};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        char text[64];
        struct config_case *c = config_case_new();
        snprintf(text, sizeof text, "optim: {lr: %s}", spellings[i]);
        cr_expect(config_case_read(c, text));
        float lr = (float)c->config.optim.lr;
        cr_expect_arr_eq(&lr, bits, sizeof bits, "%s", spellings[i]);
        config_case_free(c);
    }
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "optim: {lr: 2, eps: -0, weight_decay: 0e-999, clip_norm: 1e308, final_lr: 5e-324}"));
    cr_expect_str_eq(config_case_messages(c), "");
    cr_expect_eq(c->config.optim.lr, 2.0);
    cr_expect_str_eq(config_case_value(c, "optim", "eps"), "0");
    cr_expect_eq(c->config.optim.clip_norm, 1e308);
    cr_expect_eq(c->config.optim.final_lr, 5e-324);
    config_case_free(c);
}

Test(config_read, texts_are_taken_as_they_are)
{
    struct config_case *c = config_case_new();
    cr_expect(config_case_read(c, "data: {task: ~, train: null, valid: \"a \\\"b\\\" \\u4e2d\", test: true, "
                                  "label_column: '3', text_column: body}"));
    cr_expect_str_eq(c->config.data.task, "~");
    cr_expect_str_eq(c->config.data.train, "null");
    cr_expect_str_eq(c->config.data.valid, "a \"b\" \xE4\xB8\xAD");
    cr_expect_str_eq(c->config.data.test, "true");
    cr_expect_eq(tap_config_column_number(c->config.data.label_column), 3);
    cr_expect_eq(tap_config_column_number(c->config.data.text_column), 0);
    config_case_free(c);
}

Test(config_read, lists_are_read_in_block_and_flow_form)
{
    static const char *const texts[] = {"train: {class_weights: [1, 2.5, 0]}",
                                        "train:\n  class_weights:\n  - 1\n  - '2.5'\n  - 0\n"};
    for (size_t i = 0; i < 2; i++) {
        struct config_case *c = config_case_new();
        cr_expect(config_case_read(c, texts[i]));
        const struct tap_config_weights *weights = &c->config.train.class_weights;
        cr_expect_eq(weights->weighting, TAP_CONFIG_CLASS_WEIGHTS_LISTED);
        cr_assert_eq(weights->n_values, 3);
        cr_expect_eq(weights->values[0], 1.0);
        cr_expect_eq(weights->values[1], 2.5);
        cr_expect_eq(weights->values[2], 0.0);
        cr_expect(config_case_read(c, "train: {class_weights: balanced, freeze: []}"));
        cr_expect_eq(weights->weighting, TAP_CONFIG_CLASS_WEIGHTS_BALANCED);
        cr_expect_null(weights->values);
        cr_expect_eq(c->config.train.freeze.n_items, 0);
        config_case_free(c);
    }
}

/* n_bytes of `c` between two texts; the caller frees it. */
static char *stretched(const char *before, char c, size_t n_bytes, const char *after)
{
    size_t n_before = strlen(before), n_after = strlen(after);
    char *text = tap_mem_new(n_before + n_bytes + n_after + 1, 1);
    cr_assert_not_null(text);
    memcpy(text, before, n_before);
    memset(text + n_before, c, n_bytes);
    memcpy(text + n_before + n_bytes, after, n_after);
    return text;
}

Test(config_read, a_line_of_a_megabyte_is_no_problem)
{
    struct config_case *c = config_case_new();
    char *comment = stretched("model:\n  heads: 8 #", 'c', 1 << 20, "\n  layers: 1\n");
    cr_expect(config_case_read(c, comment));
    cr_expect_eq(c->config.model.layers, 1);
    char *value = stretched("data: {task: ", 'c', 1 << 20, "}\n");
    cr_expect(config_case_read(c, value));
    cr_expect_eq(strlen(c->config.data.task), 1u << 20);
    char *bad = stretched("model: {heads: ", '1', 1 << 20, "}\n");
    cr_expect(!config_case_read(c, bad));
    char *key = stretched("model:\n  ? ", 'k', 1 << 20, "\n  : 1\n");
    cr_expect(!config_case_read(c, key));
    cr_expect_str_eq(
        config_case_messages(c),
        "x.cfg:1: model.heads: '111111111111111111111111111111111111111111111111111111111111...' is out of "
        "range; accepted: " INTEGER_1
        "x.cfg:3: model.kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...: unknown key; the "
        "nearest known one is model.project_qkv\n");
    tap_mem_free(comment);
    tap_mem_free(value);
    tap_mem_free(bad);
    tap_mem_free(key);
    config_case_free(c);
}

Test(config_read, a_shortened_value_is_not_cut_within_a_character)
{
    struct config_case *c = config_case_new();
    char *text = stretched("model: {heads: x", 'y', 58, "\xE4\xB8\xAD\xE4\xB8\xAD}");
    cr_expect(!config_case_read(c, text));
    cr_expect_str_eq(config_case_messages(c),
                     "x.cfg:1: model.heads: 'xyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...' is no "
                     "integer; accepted: " INTEGER_1);
    tap_mem_free(text);
    config_case_free(c);
}

Test(config_read, a_flood_of_errors_and_of_levels_ends_early, .timeout = 20)
{
    struct config_case *c = config_case_new();
    char *many = tap_mem_new(5 * 100000 + 1, 1);
    for (size_t i = 0; i < 100000; i++)
        memcpy(many + 5 * i, "a: b\n", 5);
    cr_expect(!config_case_read(c, many));
    cr_expect_eq(tap_config_errors_count(&c->errors), TAP_CONFIG_MOST_ERRORS + 1);
    cr_expect_str_eq(tap_config_errors_get(&c->errors, TAP_CONFIG_MOST_ERRORS),
                     "more errors than 1000; the others are not listed");
    cr_expect(!config_case_read(c, "b: c"), "an error that is not listed any more is an error");
    tap_config_errors_truncate(&c->errors, 0);
    for (size_t i = 0; i < 100000; i++)
        memcpy(many + 5 * i, " {a: ", 5);
    cr_expect(!config_case_read(c, many));
    cr_expect_str_eq(config_case_messages(c), "x.cfg:1: nested too deeply; accepted: " CONFIG_FORM);
    tap_mem_free(many);
    config_case_free(c);
}

Test(config_read, a_file_that_cannot_be_read_is_told_with_its_path)
{
    char folder[] = "/tmp/test_config_XXXXXX", path[64];
    struct config_case *c = config_case_new();
    cr_assert_not_null(mkdtemp(folder));
    cr_expect(!tap_config_read_file(&c->config, "no/such.cfg", &c->errors));
    cr_expect(!tap_config_read_file(&c->config, "", &c->errors));
    cr_expect_str_eq(config_case_messages(c), "no/such.cfg: No such file or directory; accepted: a config file\n"
                                              ": No such file or directory; accepted: a config file\n");
    tap_config_errors_truncate(&c->errors, 0);
    cr_expect(!tap_config_read_file(&c->config, folder, &c->errors));
    cr_expect(strstr(config_case_messages(c), folder) == config_case_messages(c));
    cr_expect(strstr(config_case_messages(c), ": Is a directory; accepted: a config file\n") != NULL);
    cr_expect(!tap_config_finish(&c->config, &c->errors));
    cr_expect_eq(tap_config_errors_count(&c->errors), 1, "nothing is said of keys that were never read");
    tap_config_errors_truncate(&c->errors, 0);

    snprintf(path, sizeof path, "%s/large.cfg", folder);
    FILE *stream = fopen(path, "w");
    cr_assert_not_null(stream);
    cr_assert_eq(ftruncate(fileno(stream), 2 * 1024 * 1024 + 1), 0);
    fclose(stream);
    cr_expect(!tap_config_read_file(&c->config, path, &c->errors));
    cr_expect(strstr(config_case_messages(c), "/large.cfg: larger than 2097152 bytes; accepted: " CONFIG_FORM) != NULL);
    unlink(path);
    rmdir(folder);
    config_case_free(c);
}

Test(config_read, a_file_is_read_like_a_text)
{
    char path[] = "/tmp/test_config_XXXXXX";
    int descriptor = mkstemp(path);
    cr_assert_geq(descriptor, 0);
    static const char text[] = "model: {heads: 8, layers: x}";
    cr_assert_eq(write(descriptor, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    struct config_case *c = config_case_new();
    cr_expect(!tap_config_read_file(&c->config, path, &c->errors));
    cr_expect_eq(c->config.model.heads, 8);
    char expected[256];
    snprintf(expected, sizeof expected, "%s:1: model.layers: 'x' is no integer; accepted: " INTEGER_0, path);
    cr_expect_str_eq(config_case_messages(c), expected);
    tap_config_errors_truncate(&c->errors, 0);
    cr_assert_eq(ftruncate(descriptor, 0), 0);
    cr_expect(tap_config_read_file(&c->config, path, &c->errors), "an empty file changes nothing");
    close(descriptor);
    unlink(path);
    config_case_free(c);
}

Test(config_read, a_message_is_one_line_whatever_the_path)
{
    struct config_case *c = config_case_new();
    cr_expect(!tap_config_read_file(&c->config, "no\nsuch\x1b.cfg", &c->errors));
    cr_expect_str_eq(config_case_messages(c), "no?such?.cfg: No such file or directory; accepted: a config file\n");
    config_case_free(c);
}
