/* config_case.c: see config_case.h. */
#include "config_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "config_table.h"
#include "mem.h"

struct config_case *config_case_new(void)
{
    struct config_case *c = tap_mem_new(1, sizeof *c);
    struct tap_error error = {0};
    cr_assert_not_null(c);
    cr_assert(tap_config_init(&c->config, &error), "%s", error.message);
    return c;
}

void config_case_free(struct config_case *c)
{
    tap_config_clear(&c->config);
    tap_config_errors_clear(&c->errors);
    tap_mem_free(c);
}

bool config_case_read(struct config_case *c, const char *text)
{
    return tap_config_read_text(&c->config, "x.cfg", text, strlen(text), &c->errors);
}

const char *config_case_messages(const struct config_case *c)
{
    static char messages[65536];
    size_t used = 0;
    messages[0] = '\0';
    for (size_t i = 0; i < tap_config_errors_count(&c->errors); i++) {
        int n = snprintf(messages + used, sizeof messages - used, "%s\n", tap_config_errors_get(&c->errors, i));
        cr_assert(n >= 0 && (size_t)n < sizeof messages - used);
        used += (size_t)n;
    }
    return messages;
}

const char *config_case_value(const struct config_case *c, const char *group, const char *key)
{
    static char value[8192];
    struct tap_config_text text = {0};
    tap_config_get_text(&c->config, tap_config_key_index(group, key), &text);
    cr_assert_lt(text.n_bytes, sizeof value);
    memcpy(value, text.bytes, text.n_bytes + 1);
    tap_config_text_clear(&text);
    return value;
}

struct tap_config_text config_case_written(const struct config_case *c)
{
    struct tap_config_text text = {0};
    tap_config_write(&c->config, &text);
    cr_assert(!text.out_of_memory);
    return text;
}
