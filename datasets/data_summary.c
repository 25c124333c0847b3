/* data_summary.c: see data_summary.h. Equal texts are found by a hash table of row numbers (linear probing): equal
 * hashes alone prove nothing, the bytes are compared as well. */
#include "data_summary.h"

#include "fnv.h"
#include "mem.h"

#include <string.h>

/* Rows with distinct texts. */
struct text_set {
    const struct tap_rows *rows;
    uint64_t *hashes; /* by row; of those in the set */
    uint32_t *slots;  /* row + 1, 0 for a free slot; at most half of them taken */
    size_t n_slots;   /* a power of two */
};

/* The row of the set that has this text, or else the free slot for it. */
static bool find_text(const struct text_set *set, uint64_t hash, const char *text, size_t n_bytes, uint32_t *out_row,
                      size_t *out_slot)
{
    TAP_CHECK(set->n_slots > 0);
    size_t slot = (size_t)hash & (set->n_slots - 1);
    for (; set->slots[slot] != 0; slot = (slot + 1) & (set->n_slots - 1)) {
        size_t n_other_bytes;
        uint32_t row = set->slots[slot] - 1;
        const char *other = tap_rows_text(set->rows, row, &n_other_bytes);
        if (set->hashes[row] == hash && n_other_bytes == n_bytes && memcmp(other, text, n_bytes) == 0) {
            *out_row = row;
            return true;
        }
    }
    *out_slot = slot;
    return false;
}

/* An empty set with room for n_texts rows out of `rows`. */
static bool set_init(struct text_set *set, const struct tap_rows *rows, uint32_t n_texts)
{
    size_t n_needed;
    size_t n_slots = 1;
    *set = (struct text_set){.rows = rows};
    if (!tap_size_mul(n_texts, 2, &n_needed))
        return false;
    while (n_slots < n_needed)
        if (!tap_size_mul(n_slots, 2, &n_slots))
            return false;
    set->n_slots = n_slots;
    set->hashes = tap_mem_new(rows->n, sizeof *set->hashes);
    set->slots = tap_mem_new(n_slots, sizeof *set->slots);
    return set->hashes != NULL && set->slots != NULL;
}

static void set_clear(struct text_set *set)
{
    tap_mem_free(set->hashes);
    tap_mem_free(set->slots);
}

static bool has_text(const struct text_set *set, uint64_t hash, const char *text, size_t n_bytes)
{
    uint32_t row;
    size_t slot;
    return set->n_slots > 0 && find_text(set, hash, text, n_bytes, &row, &slot);
}

/* Counts duplicates, conflicts, rows in the parts before this one and replaced bytes, and leaves the part's texts in its
 * set. The sets of absent parts are empty. */
static void compare_rows(struct tap_row_choice choice, enum tap_part part, struct text_set sets[TAP_N_PARTS],
                         struct tap_data_summary *summary)
{
    struct text_set *own = &sets[part];
    const struct tap_rows *rows = choice.rows;
    for (uint32_t row = 0; row < rows->n; row++) {
        size_t n_bytes, slot;
        uint32_t first;
        if (!tap_row_is_chosen(&choice, row))
            continue;
        const char *text = tap_rows_text(rows, row, &n_bytes);
        uint64_t hash = tap_fnv(TAP_FNV_START, text, n_bytes);
        summary->n_replaced_bytes += rows->rows[row].n_replaced;
        if (part != TAP_PART_TRAIN)
            summary->n_in_train += has_text(&sets[TAP_PART_TRAIN], hash, text, n_bytes);
        if (part == TAP_PART_TEST)
            summary->n_in_valid += has_text(&sets[TAP_PART_VALID], hash, text, n_bytes);
        if (find_text(own, hash, text, n_bytes, &first, &slot)) {
            summary->n_duplicates++;
            summary->n_conflicts += rows->rows[first].label != rows->rows[row].label;
        } else {
            own->slots[slot] = row + 1;
            own->hashes[row] = hash;
        }
    }
}

/* The bin of a length of at least 1. */
static uint32_t bin_of(size_t length)
{
    uint32_t bin = 0;
    while (((size_t)1 << bin) < length)
        bin++;
    return bin;
}

static enum tap_status count_lengths(const struct tap_dataset *dataset, struct tap_data_summary *summary,
                                     struct tap_error *error)
{
    uint32_t *counts = tap_mem_new((size_t)dataset->longest + 1, sizeof *counts); /* rows of each length */
    if (counts == NULL)
        return tap_error_memory(error, "the summary of the data");
    for (uint32_t row = 0; row < dataset->n_rows; row++) {
        size_t length = dataset->offsets[row + 1] - dataset->offsets[row];
        counts[length]++;
        summary->lengths[bin_of(length)]++;
    }
    summary->n_lengths = bin_of(dataset->longest) + 1;
    uint32_t n_rows = 0; /* of at most that length */
    for (uint32_t length = 1; length <= dataset->longest && summary->median == 0; length++) {
        n_rows += counts[length];
        if (summary->shortest == 0 && n_rows > 0)
            summary->shortest = length;
        if (n_rows >= dataset->n_rows - n_rows)
            summary->median = length;
    }
    tap_mem_free(counts);
    return TAP_OK;
}

static enum tap_status summarize(struct tap_row_choice choice, enum tap_part part, const struct tap_dataset *dataset,
                                 struct text_set sets[TAP_N_PARTS], struct tap_data_summary *summary,
                                 struct tap_error *error)
{
    if (!set_init(&sets[part], choice.rows, dataset->n_rows))
        return tap_error_memory(error, "the summary of the data");
    compare_rows(choice, part, sets, summary);
    for (size_t i = 0; i < dataset->n_tokens; i++)
        summary->n_unknown_tokens += dataset->tokens[i] == TAP_TOKEN_UNKNOWN;
    return count_lengths(dataset, summary, error);
}

enum tap_status tap_data_summarize(const struct tap_row_choice choices[TAP_N_PARTS],
                                   const struct tap_dataset datasets[TAP_N_PARTS],
                                   struct tap_data_summary out_summaries[TAP_N_PARTS], struct tap_error *error)
{
    struct tap_data_summary summaries[TAP_N_PARTS] = {0};
    struct text_set sets[TAP_N_PARTS] = {0};
    enum tap_status status = TAP_OK;
    for (int part = 0; part < TAP_N_PARTS && status == TAP_OK; part++)
        if (datasets[part].n_rows > 0)
            status = summarize(choices[part], (enum tap_part)part, &datasets[part], sets, &summaries[part], error);
    for (int part = 0; part < TAP_N_PARTS; part++)
        set_clear(&sets[part]);
    if (status == TAP_OK)
        memcpy(out_summaries, summaries, sizeof summaries);
    return status;
}
