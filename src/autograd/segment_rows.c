/* segment_rows.c: see segment_rows.h. */
#include "segment_rows.h"

bool tap_op_segments_fit(struct tap_tape *tape, const struct tap_op *op, const struct tap_segments *segments,
                         size_t n_rows)
{
    if (segments == NULL || segments->offsets == NULL) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "segments are NULL");
        return false;
    }
    const uint32_t *offsets = segments->offsets;
    if (offsets[0] != 0) {
        tap_op_fail(tape, op, TAP_ERR_VALUE, "segments begin at %u; 0 is needed", offsets[0]);
        return false;
    }
    for (uint32_t s = 0; s < segments->n; s++)
        if (offsets[s + 1] < offsets[s]) {
            tap_op_fail(tape, op, TAP_ERR_VALUE, "segments descend from %u to %u at sequence %u", offsets[s],
                        offsets[s + 1], s);
            return false;
        }
    if (offsets[segments->n] != n_rows) {
        tap_op_fail(tape, op, TAP_ERR_SHAPE, "segments cover %u rows; x has %zu", offsets[segments->n], n_rows);
        return false;
    }
    return true;
}

uint32_t tap_segment_of(const struct tap_segments *segments, size_t row)
{
    /* invariant: offsets[low] <= row < offsets[high] */
    uint32_t low = 0;
    uint32_t high = segments->n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (segments->offsets[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t tap_longest_segment(const struct tap_segments *segments)
{
    uint32_t longest = 0;
    for (uint32_t s = 0; s < segments->n; s++) {
        uint32_t length = segments->offsets[s + 1] - segments->offsets[s];
        longest = length > longest ? length : longest;
    }
    return longest;
}
