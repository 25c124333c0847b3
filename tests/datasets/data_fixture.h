/* data_fixture.h: small files for the tests of readers and data, in a folder of their own. */
#ifndef DATA_FIXTURE_H
#define DATA_FIXTURE_H

#include "data.h"

#include <stddef.h>

/* Writes a file and returns its path, valid until the test ends. */
const char *fixture_file(const char *name, const void *bytes, size_t n_bytes);
const char *fixture_text(const char *name, const char *text);

/* A path in the folder, without making anything there. */
const char *fixture_path(const char *name);

/* Removes the folder; give it as .fini. */
void fixture_remove(void);

/* The readers' defaults: format and header auto, label in column 1, text in column 2. */
struct tap_read_options fixture_read_options(void);

/* The config's defaults, without any file or task. */
struct tap_data_options fixture_data_options(void);

/* A file of the published data sets (TAPESTRY_DATA, else ../shared/data): its path, or NULL where it is not at hand. */
const char *fixture_published(const char *name);

/* The published SMS Spam Collection: its path, or NULL where it is not at hand. */
const char *fixture_sms_spam(void);

#endif
