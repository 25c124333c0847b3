/* data_report.c: data.json: rows, tokens and labels of each part; zeros for a part that is not there. */
#include "training.h"

#include "mem.h"

static struct tap_json *part_report(const struct tap_data *data, enum tap_part part, struct tap_error *error)
{
    const struct tap_dataset *dataset = &data->parts[part];
    struct tap_json *object = tap_json_new_object(error);
    struct tap_json *labels = tap_json_new_object(error);
    for (size_t c = 0; c < data->n_labels; c++)
        tap_json_set_integer(labels, data->labels[c], dataset->n_rows > 0 ? (int64_t)dataset->label_counts[c] : 0,
                             error);
    tap_json_set_integer(object, "rows", dataset->n_rows, error);
    tap_json_set_integer(object, "tokens", (int64_t)dataset->n_tokens, error);
    tap_json_set(object, "labels", labels, error);
    tap_json_set_integer(object, "longest", dataset->longest, error);
    tap_json_set_integer(object, "truncated", dataset->n_truncated, error);
    return object;
}

char *data_report(const struct tap_data *data, struct tap_error *error)
{
    static const char *const names[TAP_N_PARTS] = {"train", "valid", "test"};
    struct tap_json *object = tap_json_new_object(error);
    for (int part = 0; part < TAP_N_PARTS; part++)
        tap_json_set(object, names[part], part_report(data, part, error), error);
    char *text = error->status == TAP_OK ? tap_json_dump(object, TAP_JSON_DIGITS_FLOAT, NULL, error) : NULL;
    tap_json_free(object);
    return text;
}
