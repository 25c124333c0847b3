/* split.c: see split.h. The groups are put in buckets by label (labels in byte order); each bucket is put in a random
 * order of its own, its first groups go to validation, the next ones to test, and the rest stays. */
#include "split.h"

#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct label_share {
    const char *name;
    uint32_t number;   /* in the rows' table of labels */
    uint32_t n_groups; /* of this label */
    uint32_t n_taken[TAP_N_PARTS];
    double remainder; /* what rounding down left of the exact share */
    uint32_t first;   /* of its bucket */
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct label_share *)a)->name, ((const struct label_share *)b)->name);
}

static int compare_remainders(const void *a_pointer, const void *b_pointer)
{
    const struct label_share *a = a_pointer;
    const struct label_share *b = b_pointer;
    if (a->remainder != b->remainder)
        return a->remainder > b->remainder ? -1 : 1;
    return strcmp(a->name, b->name);
}

static enum tap_status check_options(const struct tap_split_options *options, struct tap_error *error)
{
    double fractions[] = {options->valid_fraction, options->test_fraction};
    const char *keys[] = {"data.valid_fraction", "data.test_fraction"};
    for (int i = 0; i < 2; i++)
        if (!(fractions[i] >= 0 && fractions[i] < 1)) /* refuses not-a-number too */
            return tap_error_set(error, TAP_ERR_VALUE, "%s: %g; at least 0 and below 1", keys[i], fractions[i]);
    if (fractions[0] + fractions[1] >= 1)
        return tap_error_set(error, TAP_ERR_VALUE,
                             "data.test_fraction: %g, with data.valid_fraction %g; below 1 together", fractions[1],
                             fractions[0]);
    return TAP_OK;
}

/* How many groups of this label may still leave training. */
static uint32_t n_spare(const struct label_share *share)
{
    return share->n_groups - 1 - share->n_taken[TAP_PART_VALID] - share->n_taken[TAP_PART_TEST];
}

/* Gives each label's share of a fraction to `part`. Leaves the shares in the order of their remainders. */
static void apportion(struct label_share *shares, uint32_t n_labels, uint32_t n_groups, double fraction,
                      enum tap_part part)
{
    if (!(fraction > 0))
        return;
    double wanted = floor(fraction * n_groups + 0.5);
    double n_given = 0;
    for (uint32_t i = 0; i < n_labels; i++) {
        double exact = fraction * shares[i].n_groups;
        double whole = fmin(floor(exact), n_spare(&shares[i]));
        shares[i].remainder = exact - whole;
        shares[i].n_taken[part] = (uint32_t)whole;
        n_given += whole;
    }
    qsort(shares, n_labels, sizeof *shares, compare_remainders);
    if (wanted < 1)
        wanted = 1;
    for (bool has_given = true; has_given && n_given < wanted;) {
        has_given = false;
        for (uint32_t i = 0; i < n_labels && n_given < wanted; i++) {
            if (n_spare(&shares[i]) == 0)
                continue;
            shares[i].n_taken[part]++;
            n_given++;
            has_given = true;
        }
    }
}

/* Counts the groups of each label and puts the shares in byte order of the names. */
static void count_groups(const struct tap_rows *rows, uint32_t group_size, struct label_share *shares)
{
    for (uint32_t i = 0; i < rows->labels.n; i++) {
        shares[i].name = tap_string_table_get(&rows->labels, i);
        shares[i].number = i;
    }
    for (uint32_t row = 0; row < rows->n; row += group_size)
        shares[rows->rows[row].label].n_groups++;
    qsort(shares, rows->labels.n, sizeof *shares, compare_names);
}

/* Numbers of the groups, label after label in the order of the shares. `next` has one entry for each label. */
static void fill_buckets(const struct tap_rows *rows, uint32_t group_size, struct label_share *shares,
                         uint32_t n_labels, uint32_t *next, uint32_t *out_groups)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < n_labels; i++) {
        shares[i].first = first;
        next[shares[i].number] = first;
        first += shares[i].n_groups;
    }
    for (uint32_t group = 0; group < rows->n / group_size; group++)
        out_groups[next[rows->rows[(size_t)group * group_size].label]++] = group;
}

/* Draws which groups of one label leave training. `place` is the label's rank in byte order. */
static void draw(const struct label_share *share, uint32_t place, const uint32_t *bucket, uint32_t *order,
                 const struct tap_split_options *options, uint8_t *out_parts)
{
    struct tap_rng rng = {tap_rng_key(options->seed, TAP_RNG_SPLIT, 0, place), 0};
    uint32_t n_valid = share->n_taken[TAP_PART_VALID];
    uint32_t n_out = n_valid + share->n_taken[TAP_PART_TEST];
    tap_rng_permutation(&rng, order, share->n_groups);
    for (uint32_t i = 0; i < n_out; i++) {
        uint8_t part = i < n_valid ? TAP_PART_VALID : TAP_PART_TEST;
        memset(out_parts + (size_t)bucket[order[i]] * options->group_size, part, options->group_size);
    }
}

enum tap_status tap_split_rows(const struct tap_rows *rows, const struct tap_split_options *options, uint8_t *out_parts,
                               struct tap_error *error)
{
    uint32_t n_labels = rows->labels.n;
    uint32_t n_groups = rows->n / options->group_size;
    TAP_CHECK(rows->n % options->group_size == 0);
    enum tap_status status = check_options(options, error);
    if (status != TAP_OK)
        return status;
    struct label_share *shares = tap_mem_new(n_labels, sizeof *shares);
    uint32_t *groups = tap_mem_new(n_groups, sizeof *groups);
    uint32_t *order = tap_mem_new(n_groups, sizeof *order);
    uint32_t *next = tap_mem_new(n_labels, sizeof *next);
    if (shares == NULL || groups == NULL || order == NULL || next == NULL) {
        status = tap_error_memory(error, "splitting the data");
        goto clean_up;
    }
    count_groups(rows, options->group_size, shares);
    /* a label that only stands second in its groups has none, and nothing to give */
    uint32_t n_with_groups = 0;
    for (uint32_t i = 0; i < n_labels; i++)
        if (shares[i].n_groups > 0)
            shares[n_with_groups++] = shares[i];
    apportion(shares, n_with_groups, n_groups, options->valid_fraction, TAP_PART_VALID);
    apportion(shares, n_with_groups, n_groups, options->test_fraction, TAP_PART_TEST);
    qsort(shares, n_with_groups, sizeof *shares, compare_names);
    fill_buckets(rows, options->group_size, shares, n_with_groups, next, groups);
    memset(out_parts, TAP_PART_TRAIN, rows->n);
    for (uint32_t i = 0; i < n_with_groups; i++)
        draw(&shares[i], i, groups + shares[i].first, order, options, out_parts);
clean_up:
    tap_mem_free(next);
    tap_mem_free(order);
    tap_mem_free(groups);
    tap_mem_free(shares);
    return status;
}
