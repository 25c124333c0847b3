/* data_report.c: data.json: rows, tokens and labels of each part, and what data_summary.h counts; zeros for a part that
 * is not there. */
#include "training.h"

#include "mem.h"

const char *part_name(enum tap_part part)
{
    static const char *const names[TAP_N_PARTS] = {"train", "valid", "test"};
    return names[part];
}

double unknown_rate(const struct tap_data *data, enum tap_part part)
{
    size_t n_tokens = data->parts[part].n_tokens;
    return n_tokens > 0 ? (double)data->summaries[part].n_unknown_tokens / (double)n_tokens : 0;
}

/* [{"upto":1,"rows":n},{"upto":2,"rows":n},{"upto":4,"rows":n},...]: each row stands in one, the first that fits. */
static struct tap_json *lengths_report(const struct tap_data_summary *summary, struct tap_error *error)
{
    struct tap_json *lengths = tap_json_new_array(error);
    for (uint32_t bin = 0; bin < summary->n_lengths; bin++) {
        struct tap_json *object = tap_json_new_object(error);
        tap_json_set_integer(object, "upto", (int64_t)1 << bin, error);
        tap_json_set_integer(object, "rows", summary->lengths[bin], error);
        tap_json_append(lengths, object, error);
    }
    return lengths;
}

static struct tap_json *part_report(const struct tap_data *data, enum tap_part part, struct tap_error *error)
{
    const struct tap_dataset *dataset = &data->parts[part];
    const struct tap_data_summary *summary = &data->summaries[part];
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
    tap_json_set(object, "lengths", lengths_report(summary, error), error);
    tap_json_set_integer(object, "duplicates", summary->n_duplicates, error);
    tap_json_set_integer(object, "conflicts", summary->n_conflicts, error);
    tap_json_set_integer(object, "in_train", summary->n_in_train, error);
    tap_json_set_integer(object, "in_valid", summary->n_in_valid, error);
    tap_json_set_integer(object, "unknown_tokens", (int64_t)summary->n_unknown_tokens, error);
    tap_json_set_real(object, "unknown_rate", unknown_rate(data, part), error);
    tap_json_set_integer(object, "replaced", (int64_t)summary->n_replaced_bytes, error);
    return object;
}

char *data_report(const struct tap_data *data, struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    for (int part = 0; part < TAP_N_PARTS; part++)
        tap_json_set(object, part_name((enum tap_part)part), part_report(data, part, error), error);
    char *text = error->status == TAP_OK ? tap_json_dump(object, TAP_JSON_DIGITS_FLOAT, NULL, error) : NULL;
    tap_json_free(object);
    return text;
}
