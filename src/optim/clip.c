/* clip.c: see clip.h. */
#include "clip.h"

#include <math.h>
#include <stdbool.h>

double tap_clip_factor(double norm, double clip_norm)
{
    bool is_limit = clip_norm >= 0; /* false for NaN */
    if (!isfinite(norm) || !is_limit)
        return NAN;
    if (clip_norm == 0)
        return 1;
    double factor = clip_norm / (norm + 1e-6);
    return factor < 1 ? factor : 1;
}
