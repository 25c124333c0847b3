/* report.h: what a program tells: its work on standard output, errors and warnings on standard error, one line each. On
 * a terminal the progress of a run is one line that is written over; elsewhere each is a line of its own. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

struct report {
    bool quiet;       /* nothing on standard output */
    bool is_terminal; /* standard output is one */
    bool is_drawn;    /* a progress line stands unfinished */
    bool has_failed;  /* standard output took something no more: closed pipe, full disk */
};

void report_start(struct report *report, bool quiet);

/* A finished line. */
void report_line(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A progress line. */
void report_progress(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line on standard error. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_warning(const char *message);

#endif
