/* config_place.c: see config_place.h. */
#include "config_place.h"

#include <stdarg.h>
#include <stdio.h>

#include "mem.h"

bool tap_config_refuse(struct tap_config_errors *errors, struct tap_config_place place, const char *group,
                       const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *what = length < 0 ? NULL : tap_mem_new((size_t)length + 1, 1);
    if (what == NULL)
        return tap_config_errors_memory(errors);
    va_start(arguments, format);
    vsnprintf(what, (size_t)length + 1, format, arguments);
    va_end(arguments);
    char line[32] = "";
    if (place.line > 0)
        snprintf(line, sizeof line, ":%d", place.line);
    tap_config_errors_add(errors, "%s%s%s%s%s%s%s%s", place.source != NULL ? place.source : "", line,
                          place.source != NULL ? ": " : "", group != NULL ? group : "",
                          group != NULL && key != NULL ? "." : "", key != NULL ? key : "", group != NULL ? ": " : "",
                          what);
    tap_mem_free(what);
    return false;
}
