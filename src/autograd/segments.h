/* segments.h: where the sequences of a packed batch begin and end. A batch is N tokens in a row; sequence s holds the
 * tokens offsets[s] .. offsets[s+1]-1. There is no padding anywhere. */
#ifndef TAP_SEGMENTS_H
#define TAP_SEGMENTS_H

#include <stdint.h>

struct tap_segments {
    uint32_t n;              /* S, the number of sequences; 0 for an empty batch */
    const uint32_t *offsets; /* S+1 numbers, not descending, offsets[0] = 0, offsets[S] = N */
    uint32_t first;          /* number of sequence 0 within the whole batch of the optimizer step: the micro-batches of an
                                accumulated step count on, so that dropout does not see how the batch was cut */
};

#endif
