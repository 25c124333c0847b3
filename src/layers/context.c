/* context.c: see context.h. */
#include "context.h"

struct tap_rng_key tap_context_dropout_key(const struct tap_context *context, uint32_t place)
{
    return tap_rng_key(context->seed, TAP_RNG_DROPOUT, context->step, place);
}

struct tap_tensor *tap_context_dropout(const struct tap_context *context, struct tap_tensor *x, double probability,
                                       uint32_t place)
{
    if (!context->training || probability == 0)
        return x;
    return tap_dropout(context->tape, x, probability, tap_context_dropout_key(context, place), context->segments);
}
