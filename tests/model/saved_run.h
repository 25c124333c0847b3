/* saved_run.h: a small run at step 7, saved as a checkpoint in the test's own folder. */
#ifndef SAVED_RUN_H
#define SAVED_RUN_H

#include "checkpoint.h"

#define META_BYTES 65536

struct saved_run {
    struct tap_config config;
    struct tap_data *data;
    struct tap_model *model;
    struct tap_optimizer *optimizer;
    struct tap_checkpoint_content content;
    struct tap_error error; /* for the tests to use */
    char path[4096];
};
extern struct saved_run saved;

/* .init and .fini of a suite. */
void saved_run_start(void);
void saved_run_end(void);

/* Its meta.json. */
void saved_run_meta(char meta[META_BYTES]);

/* Writes a copy with another meta.json (NULL: none) and without the array `leave_out` (NULL: with all); its path. */
const char *saved_run_copy(const char *meta, const char *leave_out);

/* Opens a checkpoint that must be whole. */
struct tap_checkpoint *open_whole(const char *path);

#endif
