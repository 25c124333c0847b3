/* csv_record.h: one record of a CSV file by RFC 4180, which may go over several lines. */
#ifndef TAP_CSV_RECORD_H
#define TAP_CSV_RECORD_H

#include "error.h"
#include "input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One field of a record. */
struct tap_field {
    const char *bytes; /* within the record; no closing zero */
    size_t n_bytes;
};

/* Zero-initialise before use; what it holds is valid until the next read. */
struct tap_csv_record {
    char *bytes;
    size_t n_bytes, capacity;
    uint64_t line;      /* where it starts, from 1 */
    size_t n_end_bytes; /* of the line end behind it: 2 for \r\n, 1 for \n, 0 at the end of the file */
    bool at_end;        /* no record is left */
    struct tap_field *fields;
    size_t n_fields, fields_capacity;
};

/* Reads the lines of the next record, uncut. Lines are added while a quotation mark is open; line ends within a record
 * stay as they are. At most TAP_LINE_MAX_BYTES bytes. */
enum tap_status tap_csv_read(struct tap_input *input, struct tap_csv_record *record, struct tap_error *error);

/* The separator of a file by its first record, uncut: a tab if one stands outside of quotation marks, else the first
 * comma or semicolon there, else a comma. */
char tap_csv_separator(const struct tap_csv_record *record);

/* Cuts a record that was just read into its fields, once: quotation marks around a field go, doubled ones inside become
 * one. Errors (TAP_ERR_FORMAT, naming the line where the record starts): a quotation mark that never closes, one inside
 * a field without quotation marks, bytes between a closing one and the next separator. */
enum tap_status tap_csv_cut(struct tap_csv_record *record, char separator, const char *file_name,
                            struct tap_error *error);

void tap_csv_clear(struct tap_csv_record *record);

#endif
