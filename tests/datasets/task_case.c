/* task_case.c: see task_case.h. */
#include "task_case.h"

#include "data_fixture.h"
#include "mem.h"

#include <criterion/criterion.h>

#include <string.h>

static struct tap_error error;

struct tap_rows *task_case_rows(const char *task, const struct tap_task_options *options, uint64_t seed,
                                uint32_t group_size)
{
    struct tap_rows *rows = tap_rows_new();
    uint32_t made_group_size = 0;
    tap_error_clear(&error);
    cr_assert_eq(tap_task_make(task, options, seed, rows, &made_group_size, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(made_group_size, group_size);
    cr_assert_eq(rows->n, (uint32_t)options->rows);
    for (uint32_t row = 0; row < rows->n; row++)
        cr_assert_eq(rows->rows[row].line, row + 1);
    return rows;
}

const char *task_case_text(const struct tap_rows *rows, uint32_t row)
{
    static char text[TASK_CASE_TEXT_BYTES];
    size_t n_bytes;
    const char *bytes = tap_rows_text(rows, row, &n_bytes);
    cr_assert_lt(n_bytes, sizeof text);
    memcpy(text, bytes, n_bytes);
    text[n_bytes] = '\0';
    return text;
}

struct tap_data *task_case_data(const char *task, const struct tap_task_options *options)
{
    struct tap_data_options data_options = fixture_data_options();
    data_options.task = task;
    data_options.task_options = *options;
    data_options.test_fraction = 0.1;
    tap_error_clear(&error);
    struct tap_data *data = tap_data_open(&data_options, NULL, NULL, 0, &error);
    cr_assert_not_null(data, "%s", error.message);
    return data;
}

void task_case_expect_distinct(const struct tap_rows *rows)
{
    struct tap_string_table texts = {0};
    for (uint32_t row = 0; row < rows->n; row++) {
        const char *text = task_case_text(rows, row);
        uint32_t number;
        cr_assert(tap_string_table_add(&texts, text, strlen(text), &number));
        cr_assert_eq(number, row, "'%s' comes twice", text);
    }
    tap_string_table_clear(&texts);
}

void task_case_expect_seeded(const char *task, const struct tap_task_options *options)
{
    struct tap_rows *made[3];
    uint32_t group_size;
    for (int i = 0; i < 3; i++) {
        made[i] = tap_rows_new();
        cr_assert_eq(tap_task_make(task, options, i == 2 ? 8 : 7, made[i], &group_size, &error), TAP_OK, "%s",
                     error.message);
    }
    cr_assert_eq(made[0]->n_pool_bytes, made[1]->n_pool_bytes);
    cr_expect_arr_eq(made[0]->pool, made[1]->pool, made[0]->n_pool_bytes);
    for (uint32_t row = 0; row < made[0]->n; row++)
        cr_expect_str_eq(tap_rows_label(made[0], row), tap_rows_label(made[1], row));
    cr_expect(made[0]->n_pool_bytes != made[2]->n_pool_bytes ||
              memcmp(made[0]->pool, made[2]->pool, made[0]->n_pool_bytes) != 0);
    for (int i = 0; i < 3; i++)
        tap_rows_free(made[i]);
}

void task_case_expect_balance(const char *task, const struct tap_task_options *options, uint32_t n_labels,
                              uint32_t spread)
{
    struct tap_data *data = task_case_data(task, options);
    cr_assert_eq(data->n_labels, n_labels);
    uint32_t n_rows = 0;
    for (int part = 0; part < TAP_N_PARTS; part++)
        n_rows += data->parts[part].n_rows;
    cr_assert_eq(n_rows, (uint32_t)options->rows);
    for (uint32_t label = 0; label < n_labels; label++) {
        size_t n_of_label = 0;
        for (int part = 0; part < TAP_N_PARTS; part++) {
            double share = (double)data->parts[part].n_rows / n_labels;
            size_t n = data->parts[part].label_counts[label];
            cr_expect(n + spread >= share && n <= share + spread, "%s: %zu of label %s in part %d", task, n,
                      data->labels[label], part);
            n_of_label += n;
        }
        cr_expect_eq(n_of_label, n_rows / n_labels);
    }
    tap_data_free(data);
}

void task_case_expect_refused(const char *task, struct tap_task_options *options, int *field, const int *values,
                              size_t n, const char *key)
{
    int kept = *field;
    for (size_t i = 0; i < n; i++) {
        struct tap_rows *rows = tap_rows_new();
        uint32_t group_size = 77;
        *field = values[i];
        tap_error_clear(&error);
        cr_expect_eq(tap_task_make(task, options, 1, rows, &group_size, &error), TAP_ERR_VALUE, "%s %s %d", task, key,
                     values[i]);
        cr_expect_eq(strncmp(error.message, key, strlen(key)), 0, "%s", error.message);
        cr_expect_null(strchr(error.message, '\n'));
        cr_expect_eq(group_size, 77);
        tap_rows_free(rows);
    }
    *field = kept;
}

void task_case_expect_accepted(const char *task, struct tap_task_options *options, int *field, const int *values,
                               size_t n)
{
    int kept = *field;
    for (size_t i = 0; i < n; i++) {
        struct tap_rows *rows = tap_rows_new();
        uint32_t group_size;
        *field = values[i];
        tap_error_clear(&error);
        cr_expect_eq(tap_task_make(task, options, 1, rows, &group_size, &error), TAP_OK, "%s %d: %s", task, values[i],
                     error.message);
        cr_expect_eq(rows->n, (uint32_t)options->rows);
        tap_rows_free(rows);
    }
    *field = kept;
}

void task_case_expect_memory_errors(const char *task, const struct tap_task_options *options)
{
    bool is_made = false;
    uint64_t n_failed = 0;
    for (uint64_t n = 1; !is_made; n++) {
        struct tap_rows *rows = tap_rows_new();
        uint32_t group_size;
        tap_error_clear(&error);
        tap_mem_fail_at(n, false);
        enum tap_status status = tap_task_make(task, options, 1, rows, &group_size, &error);
        tap_mem_fail_at(0, false);
        is_made = status == TAP_OK;
        cr_assert(is_made || status == TAP_ERR_MEMORY, "%s", error.message);
        n_failed += !is_made;
        tap_rows_free(rows);
    }
    cr_expect_gt(n_failed, 5);
}
