/* run_folder.h: the folder of one run: config.cfg, data.json, metrics.jsonl, step files, last.npz and best.npz. One run
 * at a time works in it. */
#ifndef RUN_FOLDER_H
#define RUN_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "checkpoint.h"
#include "json.h"

#define RUN_METRICS_NAME "metrics.jsonl"
#define RUN_LAST_NAME "last.npz"
#define RUN_BEST_NAME "best.npz"

struct run_folder {
    char *path;
    int descriptor; /* of the folder, locked; -1: closed */
    FILE *metrics;
};

/* Makes the folder `path`, its parents too, and locks it. It may exist when it holds nothing.
 * Errors  TAP_ERR_VALUE: it holds something; TAP_ERR_IO: it cannot be made or written, or another run is in it */
enum tap_status run_folder_create(struct run_folder *folder, const char *path, struct tap_error *error);

/* The same for runs/<name>-<n> below the current folder, with the next free n. */
enum tap_status run_folder_create_next(struct run_folder *folder, const char *name, struct tap_error *error);

/* Locks a folder that is there, to go on in it, and removes what a run that was killed in a save left half done. */
enum tap_status run_folder_open(struct run_folder *folder, const char *path, struct tap_error *error);

/* Closes what is open; reports what metrics.jsonl could not take. */
enum tap_status run_folder_close(struct run_folder *folder, struct tap_error *error);

/* Marks `error` with TAP_ERR_IO: the path, what cannot be done, and errno's reason. */
enum tap_status run_io_error(struct tap_error *error, const char *path, const char *what);

/* "<folder>/<name>", for tap_mem_free; NULL with error marked. */
char *path_join(const char *folder, const char *name, struct tap_error *error);

/* Opens the newest whole checkpoint of a folder: last.npz or a step file that is newer. Each damaged one that had to be
 * passed over is told to `warn`. NULL with error marked when there is none. */
struct tap_checkpoint *run_folder_newest(const char *path, void (*warn)(const char *message), struct tap_error *error);

/* The checkpoint that --model PATH means: a file, or best.npz, else last.npz, of a folder; for tap_mem_free. */
char *model_path(const char *path, struct tap_error *error);
bool is_folder(const char *path);

/* Starts metrics.jsonl, keeping of an older one the lines up to `step` of training and validation. step < 0: none. */
enum tap_status run_folder_start_metrics(struct run_folder *folder, int64_t step, struct tap_error *error);

/* Appends one line and frees `object`. Errors of building it may still stand in `error`: nothing is written then. */
enum tap_status run_folder_log(struct run_folder *folder, struct tap_json *object, struct tap_error *error);

/* The step of a step file's name, "step-<8 or more digits>.npz"; -1 for any other name. */
int64_t run_folder_step_of_name(const char *name);

/* "<folder>/step-<step>.npz", for tap_mem_free; NULL with error marked. */
char *run_folder_step_path(const char *folder, int64_t step, struct tap_error *error);

/* Makes <folder>/<name> the same file as `existing`. */
enum tap_status run_folder_publish(const struct run_folder *folder, const char *existing, const char *name,
                                   struct tap_error *error);

/* Writes step-<step>.npz, makes last.npz the same and, for a new best, best.npz; checks the file by reading it back;
 * then removes the oldest step files beyond `keep`. */
enum tap_status run_folder_save(struct run_folder *folder, const struct tap_checkpoint_content *content,
                                int compression, int keep, bool is_best, struct tap_error *error);

#endif
