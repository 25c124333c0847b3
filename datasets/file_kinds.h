/* file_kinds.h: telling from its first bytes that a file is no UTF-8 text, and what it is instead. */
#ifndef TAP_FILE_KINDS_H
#define TAP_FILE_KINDS_H

#include <stddef.h>

/* How many first bytes are worth having. */
#define TAP_FILE_KIND_BYTES 16

/* What a file that begins so is, in words for a message ("gzip data"); NULL for what may be text. */
const char *tap_file_kind(const char *start, size_t n_bytes);

#endif
