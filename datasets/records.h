/* records.h: a table's records one by one, with all their columns: TSV, CSV and JSON lines. The formats of labelled rows
 * read theirs from here, and so does who passes the other columns on: a text is the same for both.
 *
 * TSV        one tab between fields, no quoting; empty lines at the end of the file are passed over, one with records
 *            behind it is refused, as a record is missing there
 * CSV        csv_record.h; every record has as many fields as the first; a record is named by the line on which it
 *            starts; empty lines are passed over at the start and the end of the file, and refused between records
 * JSON lines one object a line; empty lines as in TSV */
#ifndef TAP_RECORDS_H
#define TAP_RECORDS_H

#include "csv_record.h"
#include "error.h"
#include "input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_json;

enum tap_record_kind { TAP_RECORD_TSV, TAP_RECORD_CSV, TAP_RECORD_JSONL };

/* Valid until the next one is read. */
struct tap_record {
    bool at_end; /* no record is left, and all else is unset */
    bool is_first;
    uint64_t line;     /* where it starts, from 1 */
    const char *bytes; /* as it stands in the file, without its line end; NULL where that was not asked for */
    size_t n_bytes;
    size_t n_end_bytes;             /* of its line end: 2 for \r\n, 1 for \n, 0 at the end of the file */
    const struct tap_field *fields; /* TSV, CSV; at least one */
    size_t n_fields;
    const struct tap_json *object; /* JSON lines: an object, or an array that tap_record_text will refuse */
};

struct tap_records {
    struct tap_input *input; /* borrowed */
    enum tap_record_kind kind;
    bool keeps_bytes;
    char separator; /* between fields; of CSV once the first record was read */
    size_t n_records;
    size_t n_columns;    /* of the first record */
    uint64_t first_line; /* where that starts */
    struct tap_csv_record csv;
    char *bytes; /* of the CSV record at hand, before it was cut */
    size_t bytes_capacity;
    struct tap_json *object;
};

/* Begins with an opened input, which must outlive the records. `keeps_bytes`: records are also given as they stand in
 * the file. Nothing can fail. */
void tap_records_start(struct tap_records *records, struct tap_input *input, enum tap_record_kind kind,
                       bool keeps_bytes);

/* The next record, or one with at_end. Errors name file and line: TAP_ERR_FORMAT for what the kind refuses; those of
 * tap_input_next_line. */
enum tap_status tap_records_next(struct tap_records *records, struct tap_record *out_record, struct tap_error *error);

void tap_records_clear(struct tap_records *records);

/* The text under `key` of a JSON record; TAP_ERR_FORMAT, naming file and line, when there is none. A name may
 * also be an integer, which is then spelled out in `number` (TAP_JSON_NUMBER_BYTES). */
enum tap_status tap_record_text(const struct tap_record *record, const char *file_name, const char *key,
                                const char **out_text, struct tap_error *error);
enum tap_status tap_record_name(const struct tap_record *record, const char *file_name, const char *key, char *number,
                                const char **out_name, struct tap_error *error);
bool tap_record_has(const struct tap_record *record, const char *key);

/* The key under which a JSON record's text stands when data.text_column says `column`. */
const char *tap_record_text_key(const char *column);

#endif
