/* fnv.c: see fnv.h. */
#include "fnv.h"

#define FNV_PRIME 0x100000001B3u

uint64_t tap_fnv(uint64_t hash, const void *bytes, size_t n_bytes)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ byte[i]) * FNV_PRIME;
    return hash;
}
