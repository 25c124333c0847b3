/* formats.c: see formats.h. */
#include "formats.h"

#include "quote.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct format {
    const char *name;
    tap_format_reader *reader; /* NULL: not supported yet */
    const char *endings;
};

static const struct format formats[] = {
#define TAP_FORMAT(name, reader, endings, summary) {#name, reader, endings},
#define TAP_FORMAT_LATER(name, endings) {#name, NULL, endings},
#include "formats.def"
#undef TAP_FORMAT
#undef TAP_FORMAT_LATER
};
#define N_FORMATS (sizeof formats / sizeof formats[0])

/* "auto, tsv": what can be read now. */
#define TAP_FORMAT(name, reader, endings, summary) ", " #name
#define TAP_FORMAT_LATER(name, endings)
static const char accepted[] = "auto"
#include "formats.def"
    ;
#undef TAP_FORMAT
#undef TAP_FORMAT_LATER

static const struct format *format_by_name(const char *name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static bool has_ending(const char *endings, const char *ending)
{
    size_t n_bytes = strlen(ending);
    for (const char *at = endings; *at != '\0'; at = strchr(at, ' ') + 1)
        if ((size_t)(strchr(at, ' ') - at) == n_bytes && strncasecmp(at, ending, n_bytes) == 0)
            return true;
    return false;
}

static const struct format *format_by_path(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return format_by_name("folder");
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    for (size_t i = 0; dot != NULL && i < N_FORMATS; i++)
        if (has_ending(formats[i].endings, dot))
            return &formats[i];
    return &formats[0];
}

/* The format to read `path` with; NULL, with the error set, when there is none. */
static const struct format *choose_format(const char *path, const char *name, struct tap_error *error)
{
    bool is_auto = strcmp(name, "auto") == 0;
    const struct format *format = is_auto ? format_by_path(path) : format_by_name(name);
    if (format == NULL)
        tap_error_set(error, TAP_ERR_VALUE, "data.format: %s is unknown; accepted: %s",
                      tap_quote(name, strlen(name)).text, accepted);
    else if (format->reader == NULL && is_auto)
        tap_error_set(error, TAP_ERR_VALUE,
                      "%s: looks like the format %s, which is not supported yet; data.format accepts: %s", path,
                      format->name, accepted);
    else if (format->reader == NULL)
        tap_error_set(error, TAP_ERR_VALUE, "data.format: %s is not supported yet; accepted: %s", format->name,
                      accepted);
    return format != NULL && format->reader != NULL ? format : NULL;
}

enum tap_status tap_read_rows(const char *path, const struct tap_read_options *options, struct tap_rows *rows,
                              struct tap_fingerprint *out_fingerprint, struct tap_error *error)
{
    struct tap_input input;
    uint32_t n_before = rows->n;
    const struct format *format = choose_format(path, options->format, error);
    if (format == NULL)
        return TAP_ERR_VALUE;
    enum tap_status status = tap_input_open(path, &input, error);
    if (status != TAP_OK)
        return status;
    status = format->reader(&input, options, rows, error);
    if (status == TAP_OK && rows->n == n_before)
        status = tap_error_set(error, TAP_ERR_FORMAT, "%s: no rows%s", input.name,
                               input.n_bytes == 0 ? ": the file is empty" : "");
    if (status == TAP_OK && out_fingerprint != NULL)
        status = tap_input_fingerprint(&input, out_fingerprint, error);
    tap_input_close(&input);
    return status;
}
