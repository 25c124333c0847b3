/* test_json.c: the JSON door. What it builds it reads back; what is no JSON, or not the kind that is asked for, is
 * refused with the place's name. */
#include "json.h"
#include "mem.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct tap_json *parse(const char *text, struct tap_error *error)
{
    return tap_json_parse(text, strlen(text), "x.json", error);
}

static void assert_dump(const struct tap_json *value, int digits, const char *expected)
{
    struct tap_error error = {0};
    size_t n;
    char *text = tap_json_dump(value, digits, &n, &error);
    cr_assert_not_null(text);
    cr_assert_str_eq(text, expected);
    cr_assert_eq(n, strlen(expected));
    tap_mem_free(text);
}

/* A value with every kind in it; the error tells whether it is whole. */
static struct tap_json *build(struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    tap_json_set_text(object, "zebra", "tab\t\"quote\" \xc3\xa9\xf0\x9f\x98\x80", error);
    tap_json_set_integer(object, "alpha", 9007199254740992, error);
    tap_json_set_integer(object, "least", INT64_MIN, error);
    tap_json_set_real(object, "real", 0.5, error);
    tap_json_set_flag(object, "yes", true, error);
    struct tap_json *array = tap_json_new_array(error);
    tap_json_append_integer(array, 1, error);
    tap_json_append_real(array, 2, error);
    tap_json_append_text(array, "three", error);
    tap_json_append_text_n(array, "fourteen", 4, error);
    tap_json_append_flag(array, false, error);
    tap_json_append(array, tap_json_new_object(error), error);
    tap_json_set(object, "list", array, error);
    tap_json_set_text_n(object, "part", "partial", 4, error);
    return object;
}

static const char built[] = "{\"zebra\":\"tab\\t\\\"quote\\\" \xc3\xa9\xf0\x9f\x98\x80\",\"alpha\":9007199254740992,"
                            "\"least\":-9223372036854775808,\"real\":0.5,\"yes\":true,"
                            "\"list\":[1,2.0,\"three\",\"four\",false,{}],\"part\":\"part\"}";

Test(json, dump_is_one_compact_line_in_order_of_setting)
{
    struct tap_error error = {0};
    struct tap_json *object = build(&error);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    assert_dump(object, TAP_JSON_DIGITS_DOUBLE, built);
    tap_json_free(object);
}

Test(json, parse_then_dump_gives_the_same_text)
{
    struct tap_error error = {0};
    struct tap_json *value = parse(built, &error);
    cr_assert_not_null(value, "%s", error.message);
    assert_dump(value, TAP_JSON_DIGITS_DOUBLE, built);
    tap_json_free(value);
}

Test(json, a_key_set_again_keeps_its_place)
{
    struct tap_error error = {0};
    struct tap_json *object = tap_json_new_object(&error);
    tap_json_set_integer(object, "a", 1, &error);
    tap_json_set_integer(object, "b", 2, &error);
    tap_json_set_text(object, "a", "", &error);
    assert_dump(object, 9, "{\"a\":\"\",\"b\":2}");
    tap_json_free(object);
}

Test(json, order_of_many_members_is_kept)
{
    struct tap_error error = {0};
    struct tap_json *object = tap_json_new_object(&error);
    char key[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "key%d", (i * 617) % 1000);
        tap_json_set_integer(object, key, i, &error);
    }
    struct tap_json_place root = tap_json_root(object, "x", &error);
    struct tap_json_place member;
    void *iterator = NULL;
    int n = 0;
    for (; tap_json_next(&root, &iterator, &member); n++)
        cr_assert_eq(tap_json_as_integer(member, 0, 1000), n);
    cr_assert_eq(n, 1000);
    cr_assert_eq(error.status, TAP_OK);
    tap_json_free(object);
}

Test(json, nine_digits_give_back_every_float_and_seventeen_every_double)
{
    const double reals[] = {0.1,     1.0 / 3, 1e-3, FLT_MAX, FLT_MIN, FLT_TRUE_MIN,  16777217.0,         -0.0,
                            DBL_MAX, DBL_MIN, M_PI, 5e-324,  1e22,    123456789.125, 0.30000000000000004};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        struct tap_error error = {0};
        struct tap_json *array = tap_json_new_array(&error);
        tap_json_append_real(array, reals[i], &error);
        for (int digits = 9; digits <= 17; digits += 8) {
            if (digits == 9 && fabs(reals[i]) > FLT_MAX)
                continue;
            char *text = tap_json_dump(array, digits, NULL, &error);
            struct tap_json *again = parse(text, &error);
            cr_assert_not_null(again, "%s: %s", text, error.message);
            struct tap_json_place root = tap_json_root(again, "x", &error);
            double read = tap_json_as_real(tap_json_item(&root, 0));
            if (digits == 9)
                cr_assert_eq((float)read, (float)reals[i], "%s", text);
            else
                cr_assert_eq(memcmp(&read, &reals[i], sizeof read), 0, "%s", text);
            tap_json_free(again);
            tap_mem_free(text);
        }
        tap_json_free(array);
    }
}

Test(json, nan_and_infinity_cannot_be_set)
{
    const double reals[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        struct tap_error error = {0};
        struct tap_json *object = tap_json_new_object(&error);
        tap_json_set_real(object, "x", reals[i], &error);
        cr_assert_eq(error.status, TAP_ERR_NONFINITE);
        assert_dump(object, 9, "{}");
        tap_json_free(object);
    }
}

Test(json, text_and_keys_must_be_utf8_without_a_zero)
{
    const struct {
        const char *text;
        size_t n;
    } bad[] = {{"a\0b", 3},    {"\0", 1}, {"\xff", 1}, {"\xc3", 1}, {"\xed\xa0\x80", 3}, {"\xf4\x90\x80\x80", 4},
               {"\xc0\x80", 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tap_error error = {0};
        struct tap_json *object = tap_json_new_object(&error);
        tap_json_set_text_n(object, "x", bad[i].text, bad[i].n, &error);
        cr_assert_eq(error.status, TAP_ERR_VALUE, "case %zu", i);
        tap_json_free(object);
    }
    struct tap_error error = {0};
    struct tap_json *object = tap_json_new_object(&error);
    tap_json_set(object, "\xff", tap_json_new_array(&error), &error);
    cr_assert_eq(error.status, TAP_ERR_VALUE);
    cr_assert_not_null(strstr(error.message, "a key must be UTF-8"), "%s", error.message);
    tap_json_free(object);
}

Test(json, any_utf8_survives)
{
    struct tap_error error = {0};
    char text[4 * 300];
    size_t n = 0;
    for (unsigned c = 1; c < 0x80; c++)
        text[n++] = (char)c;
    memcpy(text + n, "\xc2\x80\xdf\xbf\xe2\x80\xa8\xef\xbf\xbf\xf4\x8f\xbf\xbf", 15);
    struct tap_json *object = tap_json_new_object(&error);
    tap_json_set_text(object, text, text, &error);
    char *dumped = tap_json_dump(object, 9, NULL, &error);
    cr_assert_null(strchr(dumped, '\n'));
    struct tap_json *again = parse(dumped, &error);
    struct tap_json_place root = tap_json_root(again, "x", &error);
    cr_assert_str_eq(tap_json_get_text(&root, text), text);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    tap_mem_free(dumped);
    tap_json_free(again);
    tap_json_free(object);
}

Test(json, what_is_no_json_is_refused_with_its_line)
{
    const struct {
        const char *text;
        const char *message;
    } bad[] = {
        {"", "x.json:1:"},
        {"{", "x.json:1:"},
        {"nul", "x.json:1:"},
        {"7", "x.json:1:"},
        {"\"text\"", "x.json:1:"},
        {"{} {}", "x.json:1:"},
        {"{}\n\nx", "x.json:3:"},
        {"{\"a\":1,\n\"a\":2}", "x.json:2: no valid JSON: duplicate object key"},
        {"[NaN]", "x.json:1:"},
        {"[Infinity]", "x.json:1:"},
        {"[1e999]", "x.json:1:"},
        {"[9223372036854775808]", "x.json:1: no valid JSON: too big integer"},
        {"[-9223372036854775809]", "x.json:1:"},
        {"[01]", "x.json:1:"},
        {"[1,]", "x.json:1:"},
        {"['a']", "x.json:1:"},
        {"[\"\xff\"]", "x.json:1:"},
        {"[\"\\ud800\"]", "x.json:1:"},
        {"[\"a\\u0000b\"]", "x.json:1:"},
        {"[\"a\nb\"]", "x.json:"},
        {"// no\n[]", "x.json:1:"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tap_error error = {0};
        cr_assert_null(parse(bad[i].text, &error), "case %zu", i);
        cr_assert_eq(error.status, TAP_ERR_FORMAT);
        cr_assert_eq(strncmp(error.message, bad[i].message, strlen(bad[i].message)), 0, "%s", error.message);
        cr_assert_null(strchr(error.message, '\n'));
    }
    struct tap_error error = {0};
    cr_assert_null(tap_json_parse("[1]\0", 4, "x.json", &error));
    cr_assert_null(tap_json_parse("[\"a\0b\"]", 7, "x.json", &error));
    cr_assert_null(tap_json_parse(NULL, 0, "x.json", &error));
}

Test(json, deep_nesting_is_refused_and_does_not_crash)
{
    static char text[200000];
    memset(text, '[', sizeof text);
    struct tap_error error = {0};
    cr_assert_null(tap_json_parse(text, sizeof text, "x.json", &error));
    cr_assert_eq(error.status, TAP_ERR_FORMAT);
}

Test(json, typed_getters_read_what_is_there)
{
    struct tap_error error = {0};
    struct tap_json *value =
        parse("{\"t\":\"text\",\"i\":-9223372036854775808,\"r\":2.5,\"n\":3,\"f\":true,\"g\":false,"
              "\"o\":{\"a.b\":[[],[10,20]]},\"null\":null}",
              &error);
    struct tap_json_place root = tap_json_root(value, "x", &error);
    cr_assert_str_eq(tap_json_get_text(&root, "t"), "text");
    cr_assert_eq(tap_json_get_integer(&root, "i", INT64_MIN, INT64_MAX), INT64_MIN);
    cr_assert_eq(tap_json_get_real(&root, "r"), 2.5);
    cr_assert_eq(tap_json_get_real(&root, "n"), 3.0);
    cr_assert(tap_json_get_flag(&root, "f"));
    cr_assert_not(tap_json_get_flag(&root, "g"));
    cr_assert(tap_json_has(&root, "null"));
    cr_assert_not(tap_json_has(&root, "nil"));
    cr_assert_eq(tap_json_length(&root), 8);
    struct tap_json_place o = tap_json_get_object(&root, "o");
    struct tap_json_place list = tap_json_get_array(&o, "a.b");
    struct tap_json_place first = tap_json_item(&list, 0);
    struct tap_json_place second = tap_json_item(&list, 1);
    cr_assert_eq(tap_json_length(&list), 2);
    cr_assert_eq(tap_json_length(&first), 0);
    cr_assert_eq(tap_json_as_integer(tap_json_item(&second, 1), 0, 20), 20);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    tap_json_free(value);
}

/* One wrong reading of {"a":{"b":[1,"x",2.5]}} and what is said about it. */
enum wrong {
    MISSING,
    NOT_TEXT,
    NOT_INTEGER,
    REAL_NOT_INTEGER,
    NOT_REAL,
    NOT_FLAG,
    NOT_OBJECT,
    NOT_ARRAY,
    TOO_SMALL,
    TOO_BIG,
    PAST_END,
    ITEM_OF_OBJECT,
    KEY_OF_ARRAY,
    LENGTH_OF_NUMBER,
    NEXT_OF_ARRAY,
    ROOT_KIND,
    N_WRONG
};

static void read_wrongly(enum wrong wrong, const struct tap_json_place *root)
{
    struct tap_json_place a = tap_json_get_object(root, "a");
    struct tap_json_place b = tap_json_get_array(&a, "b");
    struct tap_json_place number = tap_json_item(&b, 0);
    struct tap_json_place member;
    void *iterator = NULL;
    switch (wrong) {
    case MISSING:
        tap_json_get_text(&a, "c");
        break;
    case NOT_TEXT:
        tap_json_as_text(number);
        break;
    case NOT_INTEGER:
        tap_json_as_integer(tap_json_item(&b, 1), 0, 9);
        break;
    case REAL_NOT_INTEGER:
        tap_json_as_integer(tap_json_item(&b, 2), 0, 9);
        break;
    case NOT_REAL:
        tap_json_as_real(tap_json_item(&b, 1));
        break;
    case NOT_FLAG:
        tap_json_as_flag(number);
        break;
    case NOT_OBJECT:
        tap_json_get_object(&a, "b");
        break;
    case NOT_ARRAY:
        tap_json_get_array(root, "a");
        break;
    case TOO_SMALL:
        tap_json_as_integer(number, 2, 9);
        break;
    case TOO_BIG:
        tap_json_as_integer(number, -9, 0);
        break;
    case PAST_END:
        tap_json_item(&b, 3);
        break;
    case ITEM_OF_OBJECT:
        tap_json_item(&a, 0);
        break;
    case KEY_OF_ARRAY:
        tap_json_get(&b, "k");
        break;
    case LENGTH_OF_NUMBER:
        tap_json_length(&number);
        break;
    case NEXT_OF_ARRAY:
        tap_json_next(&b, &iterator, &member);
        break;
    case ROOT_KIND:
        tap_json_item(root, 0);
        break;
    case N_WRONG:
        break;
    }
}

Test(json, wrong_kinds_and_missing_keys_name_the_place)
{
    static const char *const messages[N_WRONG] = {
        [MISSING] = "m.json: a.c is missing",
        [NOT_TEXT] = "m.json: a.b[0] is an integer; it must be a text",
        [NOT_INTEGER] = "m.json: a.b[1] is a text; it must be an integer",
        [REAL_NOT_INTEGER] = "m.json: a.b[2] is a real; it must be an integer",
        [NOT_REAL] = "m.json: a.b[1] is a text; it must be a number",
        [NOT_FLAG] = "m.json: a.b[0] is an integer; it must be true or false",
        [NOT_OBJECT] = "m.json: a.b is an array; it must be an object",
        [NOT_ARRAY] = "m.json: a is an object; it must be an array",
        [TOO_SMALL] = "m.json: a.b[0] is 1; it must lie in 2 to 9",
        [TOO_BIG] = "m.json: a.b[0] is 1; it must lie in -9 to 0",
        [PAST_END] = "m.json: a.b[3] is missing: the array has 3 items",
        [ITEM_OF_OBJECT] = "m.json: a is an object; it must be an array",
        [KEY_OF_ARRAY] = "m.json: a.b is an array; it must be an object",
        [LENGTH_OF_NUMBER] = "m.json: a.b[0] is an integer; it must be an array or an object",
        [NEXT_OF_ARRAY] = "m.json: a.b is an array; it must be an object",
        [ROOT_KIND] = "m.json: the top level is an object; it must be an array",
    };
    struct tap_error error = {0};
    struct tap_json *value = parse("{\"a\":{\"b\":[1,\"x\",2.5]}}", &error);
    for (enum wrong wrong = 0; wrong < N_WRONG; wrong++) {
        tap_error_clear(&error);
        struct tap_json_place root = tap_json_root(value, "m.json", &error);
        read_wrongly(wrong, &root);
        cr_assert_eq(error.status, TAP_ERR_FORMAT, "case %d", (int)wrong);
        cr_assert_str_eq(error.message, messages[wrong]);
    }
    tap_json_free(value);
}

Test(json, after_a_first_error_reading_goes_on_safely_and_keeps_it)
{
    struct tap_error error = {0};
    struct tap_json *value = parse("{}", &error);
    struct tap_json_place root = tap_json_root(value, "x", &error);
    struct tap_json_place gone = tap_json_get_object(&root, "gone");
    struct tap_json_place deeper = tap_json_get_array(&gone, "deeper");
    struct tap_json_place member;
    void *iterator = NULL;
    cr_assert_str_eq(tap_json_as_text(tap_json_item(&deeper, 4)), "");
    cr_assert_eq(tap_json_get_integer(&gone, "i", 1, 2), 0);
    cr_assert_eq(tap_json_get_real(&gone, "r"), 0.0);
    cr_assert_not(tap_json_get_flag(&gone, "f"));
    cr_assert_not(tap_json_has(&gone, "f"));
    cr_assert_eq(tap_json_length(&deeper), 0);
    cr_assert_not(tap_json_next(&gone, &iterator, &member));
    cr_assert_str_eq(error.message, "x: gone is missing");
    tap_json_free(value);
}

Test(json, a_long_or_strange_path_still_gives_one_line)
{
    struct tap_error error = {0};
    char key[400];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    struct tap_json *value = parse("{\"a\\nb\":{}}", &error);
    struct tap_json_place root = tap_json_root(value, "x", &error);
    struct tap_json_place odd = tap_json_get(&root, "a\nb");
    tap_json_get(&odd, "c");
    cr_assert_str_eq(error.message, "x: a b.c is missing");
    tap_error_clear(&error);
    tap_json_get(&root, key);
    cr_assert_not_null(strstr(error.message, "is missing"));
    tap_json_free(value);
}

Test(json, null_values_are_accepted_everywhere)
{
    struct tap_error error = {0};
    tap_json_free(NULL);
    tap_json_set_integer(NULL, "a", 1, &error);
    tap_json_append_integer(NULL, 1, &error);
    tap_json_set(NULL, "a", tap_json_new_object(&error), &error);
    struct tap_json *object = tap_json_new_object(&error);
    tap_json_set(object, "a", NULL, &error);
    cr_assert_null(tap_json_dump(NULL, 9, NULL, &error));
    cr_assert_eq(error.status, TAP_OK);
    assert_dump(object, 9, "{}");
    tap_json_free(object);
}

/* Builds, dumps, parses; the text on success, NULL with a marked error on failure. */
static char *round_trip(struct tap_error *error)
{
    struct tap_json *object = build(error);
    char *text = tap_json_dump(object, 17, NULL, error);
    tap_json_free(object);
    if (text == NULL)
        return NULL;
    struct tap_json *again = tap_json_parse(text, strlen(text), "x", error);
    tap_mem_free(text);
    text = tap_json_dump(again, 17, NULL, error);
    tap_json_free(again);
    if (error->status != TAP_OK) {
        tap_mem_free(text);
        return NULL;
    }
    return text;
}

Test(json, every_failing_allocation_is_a_clean_error)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        uint64_t n = 0;
        char *text = NULL;
        while (text == NULL) {
            struct tap_error error = {0};
            tap_mem_fail_at(++n, persistent != 0);
            text = round_trip(&error);
            tap_mem_fail_at(0, false);
            cr_assert_eq(error.status, text == NULL ? TAP_ERR_MEMORY : TAP_OK, "allocation %d: %s", (int)n,
                         error.message);
        }
        cr_assert_str_eq(text, built);
        cr_assert_gt(n, 20);
        tap_mem_free(text);
    }
}
