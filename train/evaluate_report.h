/* evaluate_report.h: what ./evaluate tells, for a person and for a program. */
#ifndef EVALUATE_REPORT_H
#define EVALUATE_REPORT_H

#include "baselines.h"
#include "wrong_rows.h"

struct evaluate_report {
    const struct scores *scores;
    const char *const *labels; /* names of the classes */
    const struct scored_rows *rows;
    const struct wrong_rows *wrong;    /* NULL: not wanted */
    const struct baselines *baselines; /* NULL: not wanted */
};

/* Prints it as tables on standard output. */
void evaluate_print_text(const struct evaluate_report *report);

/* Prints it as one line of JSON. Errors: TAP_ERR_MEMORY; TAP_ERR_VALUE for a text or label that JSON cannot hold */
enum tap_status evaluate_print_json(const struct evaluate_report *report, struct tap_error *error);

#endif
