/* rows.c: see rows.h. */
#include "rows.h"

#include "mem.h"

#include <string.h>

struct tap_rows *tap_rows_new(void)
{
    return tap_mem_new(1, sizeof(struct tap_rows));
}

void tap_rows_free(struct tap_rows *rows)
{
    if (rows == NULL)
        return;
    tap_mem_free(rows->pool);
    tap_mem_free(rows->rows);
    tap_string_table_clear(&rows->labels);
    for (size_t i = 0; i < rows->n_files; i++)
        tap_mem_free(rows->files[i].name);
    tap_mem_free(rows->files);
    tap_mem_free(rows);
}

enum tap_status tap_rows_append(struct tap_rows *rows, const char *label, size_t n_label_bytes, const char *text,
                                size_t n_text_bytes, uint64_t line, struct tap_error *error)
{
    size_t n_pool_bytes;
    uint32_t label_number;
    if (rows->n == UINT32_MAX)
        return tap_error_set(error, TAP_ERR_VALUE, "more than %u rows", UINT32_MAX);
    if (!tap_size_add(rows->n_pool_bytes, n_text_bytes, &n_pool_bytes) ||
        !tap_mem_reserve(&rows->pool, &rows->pool_capacity, n_pool_bytes, 1) ||
        !tap_mem_reserve(&rows->rows, &rows->rows_capacity, (size_t)rows->n + 1, sizeof *rows->rows) ||
        !tap_string_table_add(&rows->labels, label, n_label_bytes, &label_number))
        return tap_error_memory(error, "rows of text");
    if (n_text_bytes > 0)
        memcpy(rows->pool + rows->n_pool_bytes, text, n_text_bytes);
    rows->rows[rows->n++] = (struct tap_row){rows->n_pool_bytes, n_text_bytes, line, label_number, 0};
    rows->n_pool_bytes = n_pool_bytes;
    return TAP_OK;
}

const char *tap_rows_text(const struct tap_rows *rows, uint32_t row, size_t *out_n_bytes)
{
    TAP_CHECK(row < rows->n);
    *out_n_bytes = rows->rows[row].n_text_bytes;
    /* a pool of nothing but empty texts was never allocated */
    return rows->pool == NULL ? "" : rows->pool + rows->rows[row].text_start;
}

const char *tap_rows_label(const struct tap_rows *rows, uint32_t row)
{
    TAP_CHECK(row < rows->n);
    return tap_string_table_get(&rows->labels, rows->rows[row].label);
}

enum tap_status tap_rows_start_file(struct tap_rows *rows, const char *name, struct tap_error *error)
{
    char *copy = tap_mem_copy_text(name, strlen(name));
    if (copy == NULL || !tap_mem_reserve(&rows->files, &rows->files_capacity, rows->n_files + 1, sizeof *rows->files)) {
        tap_mem_free(copy);
        return tap_error_memory(error, "rows of text");
    }
    rows->files[rows->n_files++] = (struct tap_rows_file){copy, rows->n};
    return TAP_OK;
}

const char *tap_rows_file(const struct tap_rows *rows, uint32_t row)
{
    size_t begin = 0; /* files[begin - 1] does not start behind the row, files[end] does */
    size_t end = rows->n_files;
    TAP_CHECK(row < rows->n);
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (rows->files[middle].first_row <= row)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin > 0 ? rows->files[begin - 1].name : NULL;
}
