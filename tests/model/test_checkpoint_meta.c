/* test_checkpoint_meta.c: a checkpoint whose description is wrong in any place is refused by name. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "saved_run.h"

TestSuite(checkpoint_meta, .init = saved_run_start, .fini = saved_run_end);

/* Asserts that this description is refused with one line that names the file and holds `text`. */
static void expect_refused(const char *meta, const char *text)
{
    struct tap_error own = {0};
    const char *path = saved_run_copy(meta, NULL);
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(path, &own);
    cr_assert_null(checkpoint, "accepted: %.300s ... %s", meta, meta + (strlen(meta) > 900 ? strlen(meta) - 900 : 0));
    cr_assert(own.status == TAP_ERR_FORMAT || own.status == TAP_ERR_VALUE, "%s", own.message);
    cr_assert_not_null(strstr(own.message, path), "%s", own.message);
    cr_assert_not_null(strstr(own.message, text), "\"%s\" is not in: %s", text, own.message);
    cr_assert_null(strchr(own.message, '\n'));
}

/* The end of the JSON value at `at`. */
static const char *end_of_value(const char *at)
{
    int depth = 0;
    bool in_text = false;
    for (;; at++) {
        if (in_text) {
            at += *at == '\\';
            in_text = *at != '"';
        } else if (*at == '"') {
            in_text = true;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']')) {
            return at;
        } else if (*at == '}' || *at == ']') {
            depth--;
        }
    }
}

/* `meta` with the value behind the first `"key":` after `group` (may be "") replaced; NULL: the member taken out. */
static const char *with_value(const char *meta, const char *group, const char *key, const char *value)
{
    static char out[META_BYTES * 2];
    char quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *from = strstr(meta, group);
    cr_assert_not_null(from);
    const char *member = strstr(from, quoted);
    cr_assert_not_null(member, "%s", key);
    const char *start_of_value = member + strlen(quoted);
    const char *after = end_of_value(start_of_value);
    if (value != NULL)
        snprintf(out, sizeof out, "%.*s%s%s", (int)(start_of_value - meta), meta, value, after);
    else if (*after == ',')
        snprintf(out, sizeof out, "%.*s%s", (int)(member - meta), meta, after + 1);
    else
        snprintf(out, sizeof out, "%.*s%s", (int)(member - 1 - meta), meta, after);
    return out;
}

static bool opens(const char *meta)
{
    struct tap_error own = {0};
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(saved_run_copy(meta, NULL), &own);
    tap_checkpoint_close(checkpoint);
    return checkpoint != NULL;
}

Test(checkpoint_meta, each_field_is_needed_and_of_its_type)
{
    static const struct {
        const char *group, *key;
        const char *accepted; /* of the values below, those that are right, between blanks */
    } fields[] = {
        {"", "format", ""},
        {"", "version", " \"x\" "},
        {"", "engine", " \"x\" "},
        {"", "kernel_family", " \"x\" "},
        {"", "threads", " 3 "},
        {"", "step", ""},
        {"", "epoch", " 3 "},
        {"", "position", " 3 "},
        {"", "loss_sum", " -7 3 0.5 "},
        {"", "loss_weight", " 3 0.5 "},
        {"", "best_metric", " -7 3 0.5 "},
        {"", "best_step", " 3 "},
        {"", "stale_evaluations", " 3 "},
        {"", "config", ""},
        {"", "labels", ""},
        {"", "vocabulary", ""},
        {"\"vocabulary\":", "tokenizer", ""},
        {"", "files", " {} "},
        {"\"tokenizer\":{", "kind", ""},
        {"\"tokenizer\":{", "lowercase", " true "},
        {"\"tokenizer\":{", "max_length", ""},
        {"\"tokenizer\":{", "add_cls", ""},
    };
    static const char *const values[] = {"null", "true", "\"x\"", "[]", "{}", "-7", "3", "0.5", "99999999999999999999"};
    static char meta[META_BYTES];
    saved_run_meta(meta);
    cr_assert(opens(meta));
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        const char *key = fields[f].key;
        expect_refused(with_value(meta, fields[f].group, key, NULL), strcmp(key, "step") == 0 ? "" : key);
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char word[64];
            const char *changed = with_value(meta, fields[f].group, key, values[v]);
            snprintf(word, sizeof word, " %s ", values[v]);
            if (strstr(fields[f].accepted, word) == NULL && !(strcmp(key, "step") == 0 && strcmp(values[v], "3") == 0))
                expect_refused(changed, "");
            else
                cr_assert(opens(changed) == (strcmp(key, "step") != 0), "%s: %s", key, values[v]);
        }
    }
}

Test(checkpoint_meta, each_key_of_the_config_is_read)
{
    static char meta[META_BYTES];
    saved_run_meta(meta);
    for (size_t i = 0; i < tap_config_n_keys(); i++) {
        char group[64];
        snprintf(group, sizeof group, "\"%s\":{", tap_config_key_group(i));
        expect_refused(with_value(meta, group, tap_config_key_name(i), "{}"), tap_config_key_name(i));
        expect_refused(with_value(meta, group, tap_config_key_name(i), "null"), tap_config_key_name(i));
    }
    expect_refused(with_value(meta, "\"model\":{", "heads", "3"), "heads");
    expect_refused(with_value(meta, "\"model\":{", "activation", "\"tanh\""), "activation");
    expect_refused(with_value(meta, "\"optim\":{", "lr", "-1"), "optim.lr");
    static const char *const groups[] = {"model", "data", "train", "optim", "checkpoint"};
    for (size_t i = 0; i < 5; i++) /* train is also the name of a file, which stands before it */
        expect_refused(with_value(meta, i == 2 ? "\"train\":{" : "\"config\":", groups[i], NULL), groups[i]);
}

Test(checkpoint_meta, fields_that_contradict_one_another_are_refused)
{
    static char meta[META_BYTES];
    saved_run_meta(meta);
    expect_refused(with_value(meta, "", "best_step", "8"), "best_step");
    expect_refused(with_value(meta, "", "epoch", "0"), "epoch");
    expect_refused(with_value(meta, "", "step", "0"), "");
    expect_refused(with_value(meta, "", "position", "4294967296"), "position");
    expect_refused(with_value(meta, "", "labels", "[\"a\",\"a\"]"), "twice");
    expect_refused(with_value(meta, "", "labels", "[\"a\",1]"), "labels");
    expect_refused(with_value(meta, "", "vocabulary", "[\"[UNK]\",\"a\",\"a\"]"), "");
    expect_refused(with_value(meta, "", "vocabulary", "[\"a\",\"b\"]"), "");
    expect_refused(with_value(meta, "", "vocabulary", "[\"[UNK]\",\"\"]"), "");
    expect_refused(with_value(meta, "", "vocabulary", "[\"[UNK]\",7]"), "vocabulary");
    expect_refused(with_value(meta, "\"tokenizer\":{", "lowercase", "false"), "tokenizer");
    expect_refused(with_value(meta, "\"tokenizer\":{", "max_length", "31"), "tokenizer");
    expect_refused(with_value(meta, "\"tokenizer\":{", "truncate", "\"tail\""), "tokenizer");
    expect_refused(with_value(meta, "", "files", "{\"train\":{\"path\":\"x\",\"bytes\":1}}"), "hash");
    expect_refused(with_value(meta, "", "files", "{\"train\":{\"path\":\"x\",\"bytes\":1,\"hash\":\"ab\"}}"), "hash");
    expect_refused(with_value(meta, "", "files", "{\"train\":7}"), "train");
}

Test(checkpoint_meta, a_later_format_is_refused_by_its_number)
{
    static char meta[META_BYTES];
    saved_run_meta(meta);
    expect_refused(with_value(meta, "", "format", "2"), "checkpoint format 2");
    expect_refused(with_value(meta, "", "format", "0"), "checkpoint format 0");
    /* whatever else it holds */
    expect_refused("{\"format\":12,\"something\":\"new\"}", "checkpoint format 12");
}

Test(checkpoint_meta, a_description_that_is_no_json_object_is_refused)
{
    static char meta[META_BYTES];
    static char longer[META_BYTES + 2];
    saved_run_meta(meta);
    snprintf(longer, sizeof longer, "%s}", meta);
    expect_refused(longer, "");
    snprintf(longer, sizeof longer, "%.*s", (int)strlen(meta) - 1, meta);
    expect_refused(longer, "");
    expect_refused("", "");
    expect_refused("[]", "");
    expect_refused("null", "");
    expect_refused("{}", "format");
    expect_refused("{\"format\":1,\"format\":1}", "format");
    expect_refused(NULL, "meta.json");
}

Test(checkpoint_meta, an_older_file_keeps_the_head_of_long_texts)
{
    static char meta[META_BYTES];
    static char older[META_BYTES];
    static const char *const values[] = {"null", "true", "\"x\"", "[]", "{}", "-7", "3", "\"both\"", "\"\""};
    saved_run_meta(meta);
    cr_assert(opens(with_value(meta, "\"tokenizer\":{", "truncate", NULL)));
    snprintf(older, sizeof older, "%s", with_value(meta, "\"data\":{", "truncate", NULL)); /* of the config */
    cr_assert(opens(older));
    struct tap_checkpoint *checkpoint =
        open_whole(saved_run_copy(with_value(older, "\"tokenizer\":{", "truncate", NULL), NULL));
    cr_expect_str_eq(tap_tokenizer_truncate_name(checkpoint->tokenizer), "head");
    cr_expect_eq(checkpoint->config.data.truncate, TAP_CONFIG_TRUNCATE_HEAD);
    tap_checkpoint_close(checkpoint);
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
        expect_refused(with_value(meta, "\"tokenizer\":{", "truncate", values[v]), "");
    expect_refused(with_value(meta, "\"data\":{", "truncate", "\"tail\""), "tokenizer");
}

Test(checkpoint_meta, another_way_to_truncate_comes_back)
{
    static const char *const names[] = {"head", "tail", "both"};
    for (int i = 0; i < 3; i++) {
        static char meta[META_BYTES];
        static char changed[META_BYTES];
        char value[16];
        saved_run_meta(meta);
        snprintf(value, sizeof value, "\"%s\"", names[i]);
        snprintf(changed, sizeof changed, "%s", with_value(meta, "\"data\":{", "truncate", value));
        struct tap_checkpoint *checkpoint =
            open_whole(saved_run_copy(with_value(changed, "\"tokenizer\":{", "truncate", value), NULL));
        cr_expect_str_eq(tap_tokenizer_truncate_name(checkpoint->tokenizer), names[i]);
        tap_checkpoint_close(checkpoint);
    }
}
