/* data_fixture.c: see data_fixture.h. */
#include "data_fixture.h"

#include <criterion/criterion.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PATHS 64
#define PATH_BYTES 512

static char folder[] = "/tmp/tapestry-test-XXXXXX";
static int has_folder;
static char paths[MOST_PATHS][PATH_BYTES];
static int n_paths;

const char *fixture_path(const char *name)
{
    if (!has_folder)
        cr_assert_not_null(mkdtemp(folder));
    has_folder = 1;
    char *path = paths[n_paths++ % MOST_PATHS];
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

const char *fixture_file(const char *name, const void *bytes, size_t n_bytes)
{
    const char *path = fixture_path(name);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "cannot make %s", path);
    cr_assert_eq(fwrite(bytes, 1, n_bytes, file), n_bytes);
    cr_assert_eq(fclose(file), 0);
    return path;
}

const char *fixture_text(const char *name, const char *text)
{
    return fixture_file(name, text, strlen(text));
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

void fixture_remove(void)
{
    if (has_folder)
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

struct tap_read_options fixture_read_options(void)
{
    return (struct tap_read_options){.format = "auto", .header = "auto", .label_column = "1", .text_column = "2"};
}

struct tap_data_options fixture_data_options(void)
{
    return (struct tap_data_options){
        .task = "",
        .train = "",
        .valid = "",
        .test = "",
        .valid_fraction = 0.1,
        .seed = 1,
        .format = "auto",
        .header = "auto",
        .label_column = "1",
        .text_column = "2",
        .tokenizer = "word",
        .lowercase = true,
        .min_count = 1,
        .max_vocab = 50000,
        .max_length = 256,
        .task_options = {.rows = 400, .language = "english"},
    };
}

const char *fixture_published(const char *name)
{
    const char *data = getenv("TAPESTRY_DATA");
    char *path = paths[n_paths++ % MOST_PATHS];
    snprintf(path, PATH_BYTES, "%s/%s", data != NULL ? data : "../shared/data", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *fixture_sms_spam(void)
{
    return fixture_published("sms_spam/SMSSpamCollection");
}
