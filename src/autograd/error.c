/* error.c: see error.h. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum tap_status tap_error_set(struct tap_error *error, enum tap_status status, const char *format, ...)
{
    if (error == NULL || error->status != TAP_OK)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

enum tap_status tap_error_memory(struct tap_error *error, const char *what)
{
    return tap_error_set(error, TAP_ERR_MEMORY, "out of memory for %s", what);
}

void tap_error_clear(struct tap_error *error)
{
    error->status = TAP_OK;
    error->message[0] = '\0';
}

#ifdef TAP_CHECKS
void tap_check_failed(const char *file, int line, const char *expression)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    abort();
}
#endif
