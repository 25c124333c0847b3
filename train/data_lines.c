/* data_lines.c: what train tells of the data before it starts: two lines for each part that is there. */
#include "training.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"

#define MOST_LABELS 8 /* of more than these, the extremes alone are told */
#define LINE_BYTES 2048

/* A line that grows; what does not fit is left out. */
struct line {
    char text[LINE_BYTES];
    size_t n;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line->text + line->n, sizeof line->text - line->n, format, arguments);
    va_end(arguments);
    if (n > 0)
        line->n = line->n + (size_t)n < sizeof line->text ? line->n + (size_t)n : sizeof line->text - 1;
}

/* "ENTY 1125", without the quotation marks of a message. */
static void add_label(struct line *line, const char *label, uint64_t n_rows)
{
    struct tap_quote quote = tap_quote(label, strlen(label));
    add(line, "%.*s %" PRIu64, (int)strlen(quote.text) - 2, quote.text + 1, n_rows);
}

/* All labels by falling count, equal counts in the order of the labels. */
static void add_all_labels(struct line *line, const struct tap_data *data, const uint64_t *counts)
{
    bool is_told[MOST_LABELS] = {false};
    add(line, "labels: ");
    for (size_t i = 0; i < data->n_labels; i++) {
        size_t best = data->n_labels;
        for (size_t c = 0; c < data->n_labels; c++)
            if (!is_told[c] && (best == data->n_labels || counts[c] > counts[best]))
                best = c;
        is_told[best] = true;
        add(line, "%s", i > 0 ? ", " : "");
        add_label(line, data->labels[best], counts[best]);
    }
}

static void add_labels(struct line *line, const struct tap_data *data, const uint64_t *counts)
{
    size_t least = 0;
    size_t most = 0;
    if (data->n_labels <= MOST_LABELS) {
        add_all_labels(line, data, counts);
        return;
    }
    for (size_t c = 1; c < data->n_labels; c++) {
        least = counts[c] < counts[least] ? c : least;
        most = counts[c] > counts[most] ? c : most;
    }
    add(line, "%zu labels, from ", data->n_labels);
    add_label(line, data->labels[most], counts[most]);
    add(line, " to ");
    add_label(line, data->labels[least], counts[least]);
}

/* "5 duplicate rows (1 with another label)", "3 rows also in train", "2 bytes replaced", as far as there are any. */
static void add_findings(struct line *line, const struct tap_data_summary *summary)
{
    if (summary->n_duplicates > 0)
        add(line, "; %u duplicate row%s", (unsigned)summary->n_duplicates, summary->n_duplicates == 1 ? "" : "s");
    if (summary->n_conflicts > 0)
        add(line, " (%u with another label)", (unsigned)summary->n_conflicts);
    if (summary->n_in_train > 0)
        add(line, "; %u row%s also in train", (unsigned)summary->n_in_train, summary->n_in_train == 1 ? "" : "s");
    if (summary->n_in_valid > 0)
        add(line, "; %u row%s also in valid", (unsigned)summary->n_in_valid, summary->n_in_valid == 1 ? "" : "s");
    if (summary->n_replaced_bytes > 0)
        add(line, "; %" PRIu64 " byte%s replaced", summary->n_replaced_bytes,
            summary->n_replaced_bytes == 1 ? "" : "s");
}

/* "1: 4, 2: 10, 3-4: 130, 5-7: 20; 6 cut to 7": rows by the number of their tokens. What was cut is as long as allowed,
 * which the longest row then is. */
static void add_lengths(struct line *line, const struct tap_dataset *dataset, const struct tap_data_summary *summary)
{
    const char *before = "";
    for (uint32_t bin = 0; bin < summary->n_lengths; bin++) {
        uint32_t from = bin == 0 ? 1 : ((uint32_t)1 << (bin - 1)) + 1;
        uint32_t upto = bin + 1 == summary->n_lengths ? dataset->longest : (uint32_t)1 << bin;
        if (summary->lengths[bin] == 0)
            continue;
        from = from < summary->shortest ? summary->shortest : from;
        add(line, "%s%u", before, (unsigned)from);
        if (upto > from)
            add(line, "-%u", (unsigned)upto);
        add(line, ": %u", (unsigned)summary->lengths[bin]);
        before = ", ";
    }
    if (dataset->n_truncated > 0)
        add(line, "; %u cut to %u", (unsigned)dataset->n_truncated, (unsigned)dataset->longest);
}

void data_lines(const struct tap_data *data, struct report *report)
{
    for (int part = 0; part < TAP_N_PARTS; part++) {
        const struct tap_dataset *dataset = &data->parts[part];
        const struct tap_data_summary *summary = &data->summaries[part];
        struct line line = {.n = 0};
        if (dataset->n_rows == 0)
            continue;
        add(&line, "%s: %u row%s, %zu token%s (%u to %u, half have up to %u); ", part_name((enum tap_part)part),
            (unsigned)dataset->n_rows, dataset->n_rows == 1 ? "" : "s", dataset->n_tokens,
            dataset->n_tokens == 1 ? "" : "s", (unsigned)summary->shortest, (unsigned)dataset->longest,
            (unsigned)summary->median);
        add_labels(&line, data, dataset->label_counts);
        add(&line, "; %.1f%% unknown tokens", 100 * unknown_rate(data, (enum tap_part)part));
        add_findings(&line, summary);
        report_line(report, "%s", line.text);
        line = (struct line){.n = 0};
        add(&line, "  rows by tokens: ");
        add_lengths(&line, dataset, summary);
        report_line(report, "%s", line.text);
    }
}
