/* formats.c: see formats.h. */
#include "formats.h"

#include "quote.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct format {
    const char *name;
    tap_format_reader *reader;
    const char *endings;
};

static const struct format formats[] = {
#define TAP_FORMAT(name, reader, endings, summary) {#name, reader, endings},
#include "formats.def"
#undef TAP_FORMAT
};
#define N_FORMATS (sizeof formats / sizeof formats[0])

/* "auto, tsv, ...". */
#define TAP_FORMAT(name, reader, endings, summary) ", " #name
static const char accepted[] = "auto"
#include "formats.def"
    ;
#undef TAP_FORMAT

static const struct format *format_by_name(const char *name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static bool has_ending(const char *endings, const char *ending, size_t n_bytes)
{
    for (const char *at = endings; *at != '\0'; at = strchr(at, ' ') + 1)
        if ((size_t)(strchr(at, ' ') - at) == n_bytes && strncasecmp(at, ending, n_bytes) == 0)
            return true;
    return false;
}

/* The last dot among the first bytes of a name, NULL when there is none. */
static const char *last_dot(const char *name, size_t n_bytes)
{
    return memrchr(name, '.', n_bytes);
}

static const struct format *format_by_path(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return format_by_name("folder");
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t n_bytes = strlen(name);
    const char *dot = last_dot(name, n_bytes);
    if (dot != NULL && strcasecmp(dot, ".gz") == 0) {
        n_bytes = (size_t)(dot - name);
        dot = last_dot(name, n_bytes);
    }
    for (size_t i = 0; dot != NULL && i < N_FORMATS; i++)
        if (has_ending(formats[i].endings, dot, n_bytes - (size_t)(dot - name)))
            return &formats[i];
    return &formats[0];
}

static const struct format *choose_format(const char *name, const char *path)
{
    return strcmp(name, "auto") == 0 ? format_by_path(path) : format_by_name(name);
}

const char *tap_format_of(const char *name, const char *path)
{
    const struct format *format = choose_format(name, path);
    return format != NULL ? format->name : NULL;
}

static enum tap_status read_input(const struct format *format, struct tap_input *input,
                                  const struct tap_read_options *options, struct tap_rows *rows,
                                  struct tap_fingerprint *out_fingerprint, struct tap_error *error)
{
    uint32_t n_before = rows->n;
    enum tap_status status = tap_decoder_choose(&input->decoder, options->encoding, options->bad_bytes, error);
    if (status == TAP_OK)
        status = tap_rows_start_file(rows, input->name, error);
    if (status == TAP_OK)
        status = format->reader(input, options, rows, error);
    if (status == TAP_OK && rows->n == n_before)
        status = tap_error_set(error, TAP_ERR_FORMAT, "%s: no rows%s", input->name,
                               input->n_bytes == 0 ? ": the file is empty" : "");
    if (status == TAP_OK && out_fingerprint != NULL)
        status = tap_input_fingerprint(input, out_fingerprint, error);
    return status;
}

enum tap_status tap_read_rows(const char *path, const struct tap_read_options *options, struct tap_rows *rows,
                              struct tap_fingerprint *out_fingerprint, struct tap_error *error)
{
    struct tap_input input;
    enum tap_status status = TAP_OK;
    const char *name = options->format;
    const struct format *format = choose_format(name, path);
    if (format == NULL)
        return tap_error_set(error, TAP_ERR_VALUE, "data.format: %s is unknown; accepted: %s",
                             tap_quote(name, strlen(name)).text, accepted);
    if (format->reader == tap_format_folder)
        tap_input_of_folder(path, &input);
    else
        status = tap_input_open(path, &input, error);
    if (status != TAP_OK)
        return status;
    status = read_input(format, &input, options, rows, out_fingerprint, error);
    tap_input_close(&input);
    return status;
}
