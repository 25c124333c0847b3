/* fnv.h: the FNV-1a hash with 64 bits, for hash tables and for telling one data file from another. It notices
 * accidents, not forgery.
 *
 * Source  Fowler, Noll, Vo; IETF draft-eastlake-fnv */
#ifndef TAP_FNV_H
#define TAP_FNV_H

#include <stddef.h>
#include <stdint.h>

#define TAP_FNV_START 0xCBF29CE484222325u

/* The hash of what `hash` stands for (nothing yet: TAP_FNV_START) followed by these bytes. */
uint64_t tap_fnv(uint64_t hash, const void *bytes, size_t n_bytes);

#endif
