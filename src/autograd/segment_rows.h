/* segment_rows.h: helpers for the operations that look at the sequences of a packed batch. */
#ifndef TAP_SEGMENT_ROWS_H
#define TAP_SEGMENT_ROWS_H

#include "op.h"
#include "segments.h"

/* True when `segments` are sound (offsets from 0, not descending) and cover exactly n_rows; else marks the tape with
 * TAP_ERR_VALUE or TAP_ERR_SHAPE. */
bool tap_op_segments_fit(struct tap_tape *tape, const struct tap_op *op, const struct tap_segments *segments,
                         size_t n_rows);

/* The sequence that holds row `row`, which must be below offsets[n]. */
uint32_t tap_segment_of(const struct tap_segments *segments, size_t row);

/* The length of the longest sequence; 0 when there is none. */
size_t tap_longest_segment(const struct tap_segments *segments);

#endif
