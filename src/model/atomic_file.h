/* atomic_file.h: files that are never half there. A file is written under a temporary name beside its target
 * (`.<name>.tmp-<pid>-<n>`), flushed to disk and renamed: whoever opens the target, at any instant and after a crash,
 * finds the old file whole or the new one whole. It leaves out writing in place and appending.
 *
 * A target that is a symbolic link stays one; the file that it leads to is replaced. A target that is there must be a
 * regular file. Errors: TAP_ERR_IO, naming the path as it was given and the system's reason ("No space left on
 * device"); TAP_ERR_MEMORY. */
#ifndef TAP_ATOMIC_FILE_H
#define TAP_ATOMIC_FILE_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

struct tap_atomic_file;

/* Starts a file; NULL on an error. The folder must exist and be writable. End it with commit or abandon. */
struct tap_atomic_file *tap_atomic_file_open(const char *path, struct tap_error *error);

/* Appends n bytes. Errors are sticky: after one, writing and patching do nothing, and commit reports it. */
enum tap_status tap_atomic_file_write(struct tap_atomic_file *file, const void *bytes, size_t n);

/* Overwrites n bytes at `offset`; offset + n <= bytes written so far. */
enum tap_status tap_atomic_file_patch(struct tap_atomic_file *file, uint64_t offset, const void *bytes, size_t n);

/* Reads back n bytes at `offset`; offset + n <= bytes written so far. */
enum tap_status tap_atomic_file_read_back(struct tap_atomic_file *file, uint64_t offset, void *out, size_t n);

/* Bytes written so far. */
uint64_t tap_atomic_file_size(const struct tap_atomic_file *file);

/* Marks the file as failed, unless it is, with the status and a message made by whoever fills it. */
enum tap_status tap_atomic_file_fail(struct tap_atomic_file *file, enum tap_status status, const char *what);
enum tap_status tap_atomic_file_status(const struct tap_atomic_file *file);

/* tap_atomic_file_commit: makes the target the file that was written: flush, fsync, close, rename, fsync of the folder;
 * each one's result is checked. Frees `file`.
 *
 * Errors     the first one since opening. The temporary file is gone and the target is as it was, except when the last
 *            step alone failed: then the target is the new file, but a power loss may still undo that */
enum tap_status tap_atomic_file_commit(struct tap_atomic_file *file, struct tap_error *error);

/* Removes the temporary file and frees `file`; the target is as it was. Accepts NULL. */
void tap_atomic_file_abandon(struct tap_atomic_file *file);

/* Writes a whole file of n bytes. */
enum tap_status tap_file_write(const char *path, const void *bytes, size_t n, struct tap_error *error);

/* tap_file_publish_link: makes `target` the same file as `existing` (a regular file that has been flushed to disk) at
 * one instant: a hard link under a temporary name, renamed. Where the file system has no links, or not between the two,
 * `target` becomes a copy, as whole. */
enum tap_status tap_file_publish_link(const char *existing, const char *target, struct tap_error *error);

#endif
