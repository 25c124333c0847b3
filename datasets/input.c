/* input.c: see input.h. Plain read() rather than stdio: the buffer is ours to bound, and an error keeps its reason. */
#include "input.h"

#include "file_kinds.h"
#include "fnv.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BUFFER_BYTES ((size_t)64 << 10)
#define LINE_END_BYTES 2 /* \r\n */

void tap_fingerprint_clear(struct tap_fingerprint *fingerprint)
{
    tap_mem_free(fingerprint->path);
    *fingerprint = (struct tap_fingerprint){0};
}

/* Makes room behind buffer[end]: moves what is left to the front, or doubles the buffer. */
static enum tap_status make_room(struct tap_input *input, struct tap_error *error)
{
    if (input->begin > 0) {
        memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
    if (input->end == input->capacity &&
        !tap_mem_reserve(&input->buffer, &input->capacity, input->capacity + FIRST_BUFFER_BYTES, 1))
        return tap_error_memory(error, "a line of text");
    return TAP_OK;
}

/* The file's bytes as they are, on their way into the fingerprint; a tap_raw_read. */
static enum tap_status read_file(void *context, char *to, size_t capacity, size_t *out_n_read, struct tap_error *error)
{
    struct tap_input *input = context;
    ssize_t n_read;
    enum tap_status status = TAP_OK;
    if (input->before_read != NULL)
        status = input->before_read(input->before_read_context, error);
    if (status != TAP_OK)
        return status;
    do
        n_read = read(input->descriptor, to, capacity);
    while (n_read < 0 && errno == EINTR);
    if (n_read < 0)
        return tap_error_set(error, TAP_ERR_IO, "%s: cannot read: %s", input->name, strerror(errno));
    input->hash = tap_fnv(input->hash, to, (size_t)n_read);
    input->n_bytes += (uint64_t)n_read;
    *out_n_read = (size_t)n_read;
    return TAP_OK;
}

/* Reads once more behind buffer[end]; sets at_end when nothing came. */
static enum tap_status fill(struct tap_input *input, struct tap_error *error)
{
    size_t n_read = 0;
    if (input->end == input->capacity && make_room(input, error) != TAP_OK)
        return TAP_ERR_MEMORY;
    char *to = input->buffer + input->end;
    size_t room = input->capacity - input->end;
    enum tap_status status = input->gzip != NULL
                                 ? tap_gzip_read(input->gzip, read_file, input, input->name, to, room, &n_read, error)
                                 : read_file(input, to, room, &n_read, error);
    if (status != TAP_OK)
        return status;
    input->at_end = n_read == 0;
    input->end += n_read;
    return TAP_OK;
}

/* Reads until the first bytes tell what the file is. A whole line does, however short: no kind's start goes beyond a line
 * end. So a line from a pipe is there before the next one is written. */
static enum tap_status fill_start(struct tap_input *input, struct tap_error *error)
{
    enum tap_status status = TAP_OK;
    while (status == TAP_OK && input->end < TAP_FILE_KIND_BYTES && !input->at_end &&
           memchr(input->buffer, '\n', input->end) == NULL)
        status = fill(input, error);
    return status;
}

static enum tap_status open_descriptor(struct tap_input *input, struct tap_error *error)
{
    struct stat about;
    if (strcmp(input->path, "-") == 0) {
        input->name = "standard input";
        input->descriptor = STDIN_FILENO;
    } else {
        input->descriptor = open(input->path, O_RDONLY | O_CLOEXEC);
    }
    if (input->descriptor < 0 || fstat(input->descriptor, &about) != 0)
        return tap_error_set(error, TAP_ERR_IO, "%s: cannot open: %s", input->name, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: is a folder; a text file is needed", input->name);
    return TAP_OK;
}

/* Looks at the first bytes: expands gzip data, refuses what is known to be no text and drops a byte-order mark. */
static enum tap_status check_start(struct tap_input *input, struct tap_error *error)
{
    enum tap_status status = fill_start(input, error);
    if (status == TAP_OK && tap_gzip_is_start(input->buffer, input->end)) {
        input->gzip = tap_gzip_new(input->buffer, input->end, error);
        input->end = 0;
        input->at_end = false;
        status = input->gzip != NULL ? fill_start(input, error) : TAP_ERR_MEMORY;
    }
    if (status != TAP_OK)
        return status;
    const char *kind = tap_file_kind(input->buffer, input->end);
    if (kind != NULL)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: %s%s, not supported; UTF-8 text is needed", input->name, kind,
                             input->gzip != NULL ? " within gzip data" : "");
    if (input->end >= 3 && memcmp(input->buffer, "\xEF\xBB\xBF", 3) == 0)
        input->begin = 3;
    return TAP_OK;
}

enum tap_status tap_input_open(const char *path, struct tap_input *out_input, struct tap_error *error)
{
    struct tap_input input = {.path = path, .name = path, .descriptor = -1, .hash = TAP_FNV_START};
    struct tap_error own_error = {0};
    if (!tap_mem_reserve(&input.buffer, &input.capacity, FIRST_BUFFER_BYTES, 1))
        return tap_error_memory(error, "reading a file");
    if (open_descriptor(&input, &own_error) != TAP_OK || check_start(&input, &own_error) != TAP_OK) {
        tap_input_close(&input);
        return tap_error_set(error, own_error.status, "%s", own_error.message);
    }
    *out_input = input;
    return TAP_OK;
}

void tap_input_of_folder(const char *path, struct tap_input *out_input)
{
    *out_input = (struct tap_input){.path = path, .name = path, .descriptor = -1, .hash = TAP_FNV_START};
}

void tap_input_add_file(struct tap_input *folder, const char *file_name, const struct tap_input *file)
{
    char ending[64]; /* size and hash in words, so that they are the same on every machine */
    folder->n_bytes += file->n_bytes;
    folder->hash = tap_fnv(folder->hash, file_name, strlen(file_name));
    int n = snprintf(ending, sizeof ending, "/%" PRIu64 "/%016" PRIx64 "/", file->n_bytes, file->hash);
    folder->hash = tap_fnv(folder->hash, ending, (size_t)n);
}

void tap_input_close(struct tap_input *input)
{
    if (input->descriptor > STDIN_FILENO)
        close(input->descriptor);
    input->descriptor = -1;
    tap_mem_free(input->buffer);
    input->buffer = NULL;
    tap_gzip_free(input->gzip);
    input->gzip = NULL;
    tap_decoder_clear(&input->decoder);
}

static enum tap_status line_too_long(const struct tap_input *input, uint64_t number, struct tap_error *error)
{
    return tap_error_set(error, TAP_ERR_VALUE, "%s:%" PRIu64 ": a line of more than %zu bytes", input->name, number,
                         TAP_LINE_MAX_BYTES);
}

/* The number of bytes up to the next \n in the buffer, reading on until there is one; up to the end of the file when
 * there is none. */
static enum tap_status find_line_end(struct tap_input *input, size_t *out_n_bytes, bool *out_is_ended,
                                     struct tap_error *error)
{
    size_t n_searched = 0;
    for (;;) {
        const char *start = input->buffer + input->begin;
        size_t n_there = input->end - input->begin;
        const char *found = memchr(start + n_searched, '\n', n_there - n_searched);
        *out_is_ended = found != NULL;
        *out_n_bytes = found != NULL ? (size_t)(found - start) : n_there;
        if (*out_n_bytes > TAP_LINE_MAX_BYTES + LINE_END_BYTES - 1)
            return line_too_long(input, input->n_lines + 1, error);
        if (found != NULL || input->at_end)
            return TAP_OK;
        n_searched = n_there;
        enum tap_status status = fill(input, error);
        if (status != TAP_OK)
            return status;
    }
}

enum tap_status tap_input_next_line(struct tap_input *input, struct tap_line *out_line, struct tap_error *error)
{
    size_t n_bytes;
    bool is_ended;
    enum tap_status status = find_line_end(input, &n_bytes, &is_ended, error);
    if (status != TAP_OK)
        return status;
    if (n_bytes == 0 && !is_ended) {
        *out_line = (struct tap_line){NULL, 0, input->n_lines + 1, 0};
        return TAP_OK;
    }
    struct tap_line line = {input->buffer + input->begin, n_bytes, input->n_lines + 1, is_ended ? 1 : 0};
    input->begin += n_bytes + (is_ended ? 1 : 0);
    input->n_lines++;
    if (is_ended && n_bytes > 0 && line.bytes[n_bytes - 1] == '\r') {
        line.n_bytes--;
        line.n_end_bytes = LINE_END_BYTES;
    }
    if (line.n_bytes > TAP_LINE_MAX_BYTES)
        return line_too_long(input, line.number, error);
    status = tap_decode(&input->decoder, input->name, line.number, &line.bytes, &line.n_bytes, error);
    if (status == TAP_OK)
        *out_line = line;
    return status;
}

enum tap_status tap_input_fingerprint(const struct tap_input *input, struct tap_fingerprint *out_fingerprint,
                                      struct tap_error *error)
{
    char *path = tap_mem_copy_text(input->path, strlen(input->path));
    if (path == NULL)
        return tap_error_memory(error, "the fingerprint of a file");
    out_fingerprint->path = path;
    out_fingerprint->n_bytes = input->n_bytes;
    snprintf(out_fingerprint->hash, sizeof out_fingerprint->hash, "%016" PRIx64, input->hash);
    return TAP_OK;
}
