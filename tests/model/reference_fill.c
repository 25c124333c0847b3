/* reference_fill.c: the initial parameters of the reference encoders, the same bits as make_encoders.py's.
 *
 * Sources  FNV-1a: Fowler, Noll, Vo, draft-eastlake-fnv; SplitMix64: Steele, Lea, Flood 2014,
 * doi 10.1145/2660193.2660195 */
#include "encoder_reference.h"

#include <stdio.h>
#include <string.h>

uint64_t reference_hash(uint64_t hash, const void *bytes, size_t n_bytes)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001B3u;
    return hash;
}

/* The state at the start: the hash of the text "SEED/NAME". */
static uint64_t stream_start(size_t seed, const char *name)
{
    char prefix[32];
    int n_bytes = snprintf(prefix, sizeof prefix, "%zu/", seed);
    uint64_t hash = reference_hash(REFERENCE_HASH_START, prefix, (size_t)n_bytes);
    return reference_hash(hash, name, strlen(name));
}

/* The next output's top 16 bits: u = r/65536 - 1/2 and all made of it here have at most 19 bits, exact in float. */
static uint32_t stream_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ z >> 31) >> 48);
}

void reference_stream(size_t seed, const char *name, size_t n, uint32_t *out)
{
    uint64_t state = stream_start(seed, name);
    for (size_t i = 0; i < n; i++)
        out[i] = stream_next(&state);
}

static bool is_norm_weight(const char *name)
{
    static const char ending[] = ".weight";
    size_t n_bytes = strlen(name);
    size_t n_ending = sizeof ending - 1;
    return strstr(name, "norm") != NULL && n_bytes >= n_ending && strcmp(name + n_bytes - n_ending, ending) == 0;
}

void reference_fill(const struct encoder_reference *reference, const char *name, size_t n, double *out)
{
    uint64_t state = stream_start(reference->seed, name);
    bool is_gain = is_norm_weight(name);
    for (size_t i = 0; i < n; i++) {
        double u = stream_next(&state) / 65536.0 - 0.5;
        out[i] = is_gain ? 1 + u / 4 : 1.5 * u;
    }
}
