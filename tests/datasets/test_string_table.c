/* test_string_table.c: numbering and finding strings; the hash; text quoted for messages. */
#include "fnv.h"
#include "mem.h"
#include "quote.h"
#include "string_table.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

Test(string_table, numbers_follow_first_appearance_and_hold)
{
    struct tap_string_table table = {0};
    char text[32];
    uint32_t number;
    cr_assert_not(tap_string_table_find(&table, "x", 1, &number), "empty");
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(text, sizeof text, "word %u", i);
        cr_assert(tap_string_table_add(&table, text, (size_t)n, &number));
        cr_assert_eq(number, i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(text, sizeof text, "word %u", i);
        cr_assert(tap_string_table_add(&table, text, (size_t)n, &number), "again");
        cr_assert_eq(number, i);
        cr_assert_str_eq(tap_string_table_get(&table, i), text);
        cr_assert_eq(tap_string_table_length(&table, i), (size_t)n);
    }
    cr_assert_eq(table.n, 20000);
    cr_assert_not(tap_string_table_find(&table, "word 20000", 10, &number));
    cr_assert_not(tap_string_table_find(&table, "word", 4, &number), "a part of one is another string");
    tap_string_table_clear(&table);
    cr_assert_eq(table.n, 0);
}

Test(string_table, empty_strings_and_zero_bytes_are_strings)
{
    struct tap_string_table table = {0};
    uint32_t number;
    cr_assert(tap_string_table_add(&table, "", 0, &number));
    cr_assert(tap_string_table_add(&table, "a\0b", 3, &number));
    cr_assert_eq(number, 1);
    cr_assert(tap_string_table_add(&table, "a\0c", 3, &number));
    cr_assert_eq(number, 2);
    cr_assert(tap_string_table_find(&table, "", 0, &number));
    cr_assert_eq(number, 0);
    tap_string_table_clear(&table);
}

Test(string_table, a_failed_allocation_changes_nothing)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        struct tap_string_table table = {0};
        char text[32];
        uint32_t number;
        uint32_t n_failures = 0;
        for (uint32_t i = 0; i < 500; i++) {
            int n = snprintf(text, sizeof text, "word %u", i);
            for (uint64_t call = 1;; call++) {
                uint32_t before = table.n;
                tap_mem_fail_at(call, persistent != 0);
                bool is_added = tap_string_table_add(&table, text, (size_t)n, &number);
                tap_mem_fail_at(0, false);
                if (is_added)
                    break;
                n_failures++;
                cr_assert_eq(table.n, before);
                cr_assert_not(tap_string_table_find(&table, text, (size_t)n, &number));
            }
            cr_assert_eq(number, i);
        }
        cr_assert_gt(n_failures, 10);
        tap_string_table_clear(&table);
    }
}

Test(fnv, published_values)
{
    cr_expect_eq(tap_fnv(TAP_FNV_START, "", 0), 0xcbf29ce484222325u);
    cr_expect_eq(tap_fnv(TAP_FNV_START, "a", 1), 0xaf63dc4c8601ec8cu);
    cr_expect_eq(tap_fnv(TAP_FNV_START, "foobar", 6), 0x85944171f73967e8u);
    cr_expect_eq(tap_fnv(tap_fnv(TAP_FNV_START, "foo", 3), "bar", 3), 0x85944171f73967e8u, "in pieces");
}

Test(quote, stays_on_one_line_and_short)
{
    cr_expect_str_eq(tap_quote("ham", 3).text, "'ham'");
    cr_expect_str_eq(tap_quote("", 0).text, "''");
    cr_expect_str_eq(tap_quote("a\nb\rc\x1B[0m\xFF", 10).text, "'a?b?c?[0m?'");
    cr_expect_str_eq(tap_quote("\xE4\xB8\xAD", 3).text, "'\xE4\xB8\xAD'");
    char text[300];
    for (size_t n = 0; n < sizeof text; n++) {
        for (size_t i = 0; i < n; i++)
            text[i] = "\xE4\xB8\xAD"[i % 3];
        struct tap_quote quote = tap_quote(text, n);
        size_t length = strlen(quote.text);
        cr_assert_lt(length, sizeof quote.text);
        cr_assert_eq(quote.text[length - 1], '\'');
        cr_assert_eq(strstr(quote.text, "...") != NULL, n > 74, "%zu bytes: %s", n, quote.text);
    }
}

Test(quote, a_long_list_says_how_many_are_left_out)
{
    const char *names[100];
    char list[TAP_NAME_LIST_BYTES];
    names[0] = "ham";
    names[1] = "spam";
    cr_expect_str_eq(tap_name_list(names, 2, list), "'ham', 'spam'");
    cr_expect_str_eq(tap_name_list(names, 0, list), "");
    for (int i = 0; i < 100; i++)
        names[i] = "a label";
    tap_name_list(names, 100, list);
    unsigned n_left = 0;
    cr_assert_not_null(strstr(list, ", and "));
    cr_assert_eq(sscanf(strstr(list, ", and "), ", and %u more", &n_left), 1);
    size_t n_shown = 0;
    for (const char *at = list; (at = strstr(at, "'a label'")) != NULL; at++)
        n_shown++;
    cr_expect_eq(n_shown + n_left, 100);
}
