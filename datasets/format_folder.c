/* format_folder.c: a folder with one file a class and one text a line. A file's name without its extension (and without
 * ".gz" behind that) is the label; where that would give two files the same label, all files keep their whole names.
 * Files are read in the order of their names' bytes; hidden ones (a dot in front) are passed over. */
#include "formats.h"
#include "mem.h"
#include "row_lines.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct name_list {
    char **names;
    size_t n, capacity;
};

static void clear_names(struct name_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        tap_mem_free(list->names[i]);
    tap_mem_free(list->names);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum tap_status add_name(struct name_list *list, const char *name, struct tap_error *error)
{
    if (!tap_mem_reserve(&list->names, &list->capacity, list->n + 1, sizeof *list->names))
        return tap_error_memory(error, "the files of a folder");
    list->names[list->n] = tap_mem_copy_text(name, strlen(name));
    if (list->names[list->n] == NULL)
        return tap_error_memory(error, "the files of a folder");
    list->n++;
    return TAP_OK;
}

static enum tap_status list_files(const char *path, struct name_list *list, struct tap_error *error)
{
    enum tap_status status = TAP_OK;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return tap_error_set(error, TAP_ERR_IO, "%s: cannot open as a folder: %s", path, strerror(errno));
    while (status == TAP_OK) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL && errno != 0)
            status = tap_error_set(error, TAP_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        if (entry == NULL)
            break;
        if (entry->d_name[0] != '.')
            status = add_name(list, entry->d_name, error);
    }
    closedir(folder);
    if (status == TAP_OK && list->n == 0)
        status = tap_error_set(error, TAP_ERR_FORMAT, "%s: no files; a file for each class is needed", path);
    if (list->n > 0)
        qsort(list->names, list->n, sizeof *list->names, compare_names);
    return status;
}

/* How many of the name's first bytes are its label. */
static size_t stem_length(const char *name)
{
    size_t n_bytes = strlen(name);
    if (n_bytes > 3 && strcasecmp(name + n_bytes - 3, ".gz") == 0)
        n_bytes -= 3;
    const char *dot = memrchr(name, '.', n_bytes);
    return dot != NULL && dot > name ? (size_t)(dot - name) : n_bytes;
}

/* Whether the names without extension are all different. */
static enum tap_status have_distinct_stems(const struct name_list *list, bool *out_distinct, struct tap_error *error)
{
    struct tap_string_table stems = {0};
    bool has_memory = true;
    for (size_t i = 0; i < list->n && has_memory; i++) {
        uint32_t number;
        has_memory = tap_string_table_add(&stems, list->names[i], stem_length(list->names[i]), &number);
    }
    *out_distinct = stems.n == list->n;
    tap_string_table_clear(&stems);
    return has_memory ? TAP_OK : tap_error_memory(error, "the files of a folder");
}

static enum tap_status read_lines(struct tap_input *file, const struct tap_read_options *options, const char *label,
                                  size_t n_label_bytes, struct tap_rows *rows, struct tap_error *error)
{
    struct tap_line line;
    uint32_t n_before = rows->n;
    enum tap_status status = tap_decoder_choose(&file->decoder, options->encoding, options->bad_bytes, error);
    while (status == TAP_OK) {
        status = tap_next_row_line(file, &line, error);
        if (status != TAP_OK || line.bytes == NULL)
            break;
        status = tap_add_row(file, options, rows, label, n_label_bytes, line.bytes, line.n_bytes, line.number, error);
    }
    if (status == TAP_OK && rows->n == n_before)
        status = tap_error_set(error, TAP_ERR_FORMAT, "%s: no rows", file->name);
    return status;
}

static enum tap_status read_file(struct tap_input *folder, const struct tap_read_options *options, const char *name,
                                 size_t n_label_bytes, struct tap_rows *rows, struct tap_error *error)
{
    struct tap_input file;
    size_t n_bytes = strlen(folder->path) + strlen(name) + sizeof "/";
    char *path = tap_mem_new(n_bytes, 1);
    if (path == NULL)
        return tap_error_memory(error, "the files of a folder");
    snprintf(path, n_bytes, "%s/%s", folder->path, name);
    enum tap_status status = tap_input_open(path, &file, error);
    if (status == TAP_OK) {
        status = tap_rows_start_file(rows, path, error);
        if (status == TAP_OK)
            status = read_lines(&file, options, name, n_label_bytes, rows, error);
        tap_input_add_file(folder, name, &file);
        tap_input_close(&file);
    }
    tap_mem_free(path);
    return status;
}

enum tap_status tap_format_folder(struct tap_input *input, const struct tap_read_options *options,
                                  struct tap_rows *rows, struct tap_error *error)
{
    struct name_list list = {0};
    bool are_distinct = false;
    enum tap_status status = list_files(input->path, &list, error);
    if (status == TAP_OK)
        status = have_distinct_stems(&list, &are_distinct, error);
    for (size_t i = 0; i < list.n && status == TAP_OK; i++) {
        const char *name = list.names[i];
        status = read_file(input, options, name, are_distinct ? stem_length(name) : strlen(name), rows, error);
    }
    clear_names(&list);
    return status;
}
