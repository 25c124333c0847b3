/* config_place.c: see config_place.h. */
#include "config_place.h"

bool tap_config_refuse(struct tap_config_errors *errors, struct tap_config_place place, const char *group,
                       const char *key, const char *format, ...)
{
    struct tap_config_text text = {0};
    if (place.source != NULL)
        tap_config_text_add(&text, "%s", place.source);
    if (place.source != NULL && place.line > 0)
        tap_config_text_add(&text, ":%d", place.line);
    if (place.source != NULL)
        tap_config_text_add(&text, ": ");
    if (group != NULL && key != NULL)
        tap_config_text_add(&text, "%s.%s: ", group, key);
    else if (group != NULL)
        tap_config_text_add(&text, "%s: ", group);
    va_list arguments;
    va_start(arguments, format);
    tap_config_text_add_list(&text, format, arguments);
    va_end(arguments);
    if (text.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_errors_add(errors, "%s", text.bytes);
    tap_config_text_clear(&text);
    return false;
}
