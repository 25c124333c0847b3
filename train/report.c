/* report.c: see report.h. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void report_start(struct report *report, bool quiet)
{
    *report = (struct report){.quiet = quiet, .is_terminal = isatty(STDOUT_FILENO) == 1};
}

/* Text, then what ends it; remembers when standard output takes no more. */
static void put(struct report *report, const char *before, const char *format, va_list arguments, const char *after)
{
    if (report->quiet || report->has_failed)
        return;
    if (fputs(before, stdout) == EOF || vprintf(format, arguments) < 0 || fputs(after, stdout) == EOF ||
        fflush(stdout) != 0)
        report->has_failed = true;
}

void report_line(struct report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put(report, report->is_drawn ? "\r\033[K" : "", format, arguments, "\n");
    va_end(arguments);
    report->is_drawn = false;
}

void report_progress(struct report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (report->is_terminal)
        put(report, "\r", format, arguments, "\033[K");
    else
        put(report, "", format, arguments, "\n");
    va_end(arguments);
    report->is_drawn = report->is_terminal;
}

void report_error(const char *format, ...)
{
    char line[8192];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++) /* a name or value may hold a line end, which must not end the line */
        if ((unsigned char)*c < ' ' || *c == '\x7F')
            *c = '?';
    fprintf(stderr, "%s%s\n", line, n >= (int)sizeof line ? "..." : "");
}

void report_warning(const char *message)
{
    report_error("warning: %s", message);
}
