/* checkpoint_meta.h: meta.json, the description inside a checkpoint; for checkpoint.c alone. */
#ifndef TAP_CHECKPOINT_META_H
#define TAP_CHECKPOINT_META_H

#include "checkpoint.h"

/* The description as JSON text, for tap_mem_free; NULL with error marked. */
char *tap_checkpoint_meta_write(const struct tap_checkpoint_content *content, size_t *out_n_bytes,
                                struct tap_error *error);

/* Fills config, progress, labels, tokenizer, files and kernel family; what is filled when it fails is freed by
 * tap_checkpoint_close. */
enum tap_status tap_checkpoint_meta_read(struct tap_checkpoint *checkpoint, const char *bytes, size_t n_bytes,
                                         struct tap_error *error);

#endif
