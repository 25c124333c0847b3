/* config_errors.c: see config_errors.h. */
#include "config_errors.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "mem.h"

/* Makes room for n_bytes more and a closing zero; false, and the text marked, when memory runs out. */
static bool reserve(struct tap_config_text *text, size_t n_bytes)
{
    size_t needed;
    if (!text->out_of_memory && tap_size_add(text->n_bytes, n_bytes, &needed) && tap_size_add(needed, 1, &needed) &&
        tap_mem_reserve(&text->bytes, &text->capacity, needed, 1))
        return true;
    text->out_of_memory = true;
    return false;
}

void tap_config_text_add_list(struct tap_config_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !reserve(text, (size_t)length))
        return;
    vsnprintf(text->bytes + text->n_bytes, (size_t)length + 1, format, arguments);
    text->n_bytes += (size_t)length;
}

void tap_config_text_add(struct tap_config_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tap_config_text_add_list(text, format, arguments);
    va_end(arguments);
}

void tap_config_text_add_bytes(struct tap_config_text *text, const char *bytes, size_t n_bytes)
{
    if (!reserve(text, n_bytes))
        return;
    if (n_bytes > 0)
        memcpy(text->bytes + text->n_bytes, bytes, n_bytes);
    text->n_bytes += n_bytes;
    text->bytes[text->n_bytes] = '\0';
}

void tap_config_text_clear(struct tap_config_text *text)
{
    tap_mem_free(text->bytes);
    *text = (struct tap_config_text){0};
}

bool tap_config_errors_memory(struct tap_config_errors *errors)
{
    errors->out_of_memory = true;
    errors->n_added++;
    return false;
}

bool tap_config_errors_add(struct tap_config_errors *errors, const char *format, ...)
{
    errors->n_added++;
    if (errors->n_messages > TAP_CONFIG_MOST_ERRORS)
        return false;
    struct tap_config_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    if (errors->n_messages == TAP_CONFIG_MOST_ERRORS)
        tap_config_text_add(&text, "more errors than %d; the others are not listed", TAP_CONFIG_MOST_ERRORS);
    else
        tap_config_text_add_list(&text, format, arguments);
    va_end(arguments);
    if (text.bytes == NULL || text.out_of_memory ||
        !tap_mem_reserve(&errors->messages, &errors->capacity, errors->n_messages + 1, sizeof *errors->messages)) {
        tap_config_text_clear(&text);
        return tap_config_errors_memory(errors);
    }
    for (size_t i = 0; i < text.n_bytes; i++)
        if ((unsigned char)text.bytes[i] < 0x20 || text.bytes[i] == 0x7F)
            text.bytes[i] = '?';
    errors->messages[errors->n_messages++] = text.bytes;
    return false;
}

size_t tap_config_errors_count(const struct tap_config_errors *errors)
{
    return errors->n_messages + (errors->out_of_memory ? 1 : 0);
}

const char *tap_config_errors_get(const struct tap_config_errors *errors, size_t i)
{
    TAP_CHECK(i < tap_config_errors_count(errors));
    return i < errors->n_messages ? errors->messages[i] : "out of memory for the config";
}

void tap_config_errors_truncate(struct tap_config_errors *errors, size_t n)
{
    while (errors->n_messages > n)
        tap_mem_free(errors->messages[--errors->n_messages]);
}

void tap_config_errors_clear(struct tap_config_errors *errors)
{
    tap_config_errors_truncate(errors, 0);
    tap_mem_free(errors->messages);
    *errors = (struct tap_config_errors){0};
}
