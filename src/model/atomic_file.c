/* atomic_file.c: see atomic_file.h. The order is what protects: the data reach the disk before the name does, and the
 * name before anyone is told. */
#include "atomic_file.h"
#include "file_calls.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 16)

/* In a message, so that the longest path leaves room for the reason. */
#define PATH_FORMAT "%.500s"

/* The names that replacing one file needs. */
struct file_names {
    char target[PATH_MAX]; /* what is renamed to: symbolic links followed */
    char folder[PATH_MAX];
    char temporary[PATH_MAX];
};

struct tap_atomic_file {
    struct file_names names;
    int fd;
    uint64_t n_flushed; /* bytes handed to the system; the file's bytes from there on are in `buffer` */
    size_t n_buffered;
    struct tap_error error;
    char *path; /* as the caller named it, for messages */
    unsigned char buffer[BUFFER_BYTES];
};

static enum tap_status io_error(struct tap_error *error, const char *path, const char *what)
{
    return tap_error_set(error, TAP_ERR_IO, PATH_FORMAT ": cannot %s: %s", path, what, strerror(errno));
}

/* Follows `path` if it is a symbolic link, and refuses what a file must not replace. */
static enum tap_status resolve_target(const char *path, char target[PATH_MAX], struct tap_error *error)
{
    struct stat found;
    size_t n = strlen(path);
    if (n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return io_error(error, path, "write");
    }
    memcpy(target, path, n + 1);
    if (lstat(path, &found) == 0 && S_ISLNK(found.st_mode) && realpath(path, target) == NULL)
        return tap_error_set(error, TAP_ERR_IO, PATH_FORMAT ": cannot write: a symbolic link that leads nowhere: %s",
                             path, strerror(errno));
    if (stat(target, &found) == 0 && !S_ISREG(found.st_mode))
        return tap_error_set(error, TAP_ERR_IO, PATH_FORMAT ": cannot write: there is %s of this name, no regular file",
                             path, S_ISDIR(found.st_mode) ? "a folder" : "a device or pipe");
    return TAP_OK;
}

static enum tap_status find_names(const char *path, struct file_names *names, struct tap_error *error)
{
    static atomic_uint n_temporary;
    names->target[0] = '\0';
    enum tap_status status = resolve_target(path, names->target, error);
    if (status != TAP_OK)
        return status;
    const char *slash = strrchr(names->target, '/');
    const char *name = slash != NULL ? slash + 1 : names->target;
    if (*name == '\0')
        return tap_error_set(error, TAP_ERR_IO, PATH_FORMAT ": cannot write: the name of a file is needed", path);
    if (slash == NULL)
        snprintf(names->folder, PATH_MAX, ".");
    else
        snprintf(names->folder, PATH_MAX, "%.*s", slash == names->target ? 1 : (int)(slash - names->target),
                 names->target);
    /* The name is cut, so that the temporary one is not too long where the target's is not. */
    int n = snprintf(names->temporary, PATH_MAX, "%.*s.%.200s.tmp-%ld-%u", (int)(name - names->target), names->target,
                     name, (long)getpid(), atomic_fetch_add(&n_temporary, 1));
    if (n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return io_error(error, path, "write");
    }
    return TAP_OK;
}

/* Flushes the folder, so that a rename in it survives a power loss. Some file systems cannot, and say EINVAL. */
static enum tap_status flush_folder(const struct file_names *names, const char *path, struct tap_error *error)
{
    int fd = tap_call_open(names->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return io_error(error, path, "flush its folder");
    enum tap_status status = TAP_OK;
    if (tap_call_fsync(fd) != 0 && errno != EINVAL)
        status = io_error(error, path, "flush its folder");
    if (tap_call_close(fd) != 0 && status == TAP_OK)
        status = io_error(error, path, "flush its folder");
    return status;
}

struct tap_atomic_file *tap_atomic_file_open(const char *path, struct tap_error *error)
{
    struct tap_atomic_file *file = tap_mem_new(1, sizeof *file);
    if (file == NULL || (file->path = tap_mem_copy_text(path, strlen(path))) == NULL) {
        tap_error_memory(error, "writing a file");
        goto failed;
    }
    if (find_names(path, &file->names, error) != TAP_OK)
        goto failed;
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    file->fd = tap_call_open(file->names.temporary, flags, 0666);
    if (file->fd < 0 && errno == EEXIST) { /* left by a process of the same number that was killed */
        tap_call_unlink(file->names.temporary);
        file->fd = tap_call_open(file->names.temporary, flags, 0666);
    }
    if (file->fd < 0) {
        io_error(error, path, "create");
        goto failed;
    }
    return file;
failed:
    if (file != NULL)
        tap_mem_free(file->path);
    tap_mem_free(file);
    return NULL;
}

/* Hands bytes to the system, in as many calls as it takes. */
static enum tap_status write_through(struct tap_atomic_file *file, const unsigned char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t n_written = tap_call_write(file->fd, bytes, n);
        if (n_written < 0)
            return io_error(&file->error, file->path, "write");
        bytes += n_written;
        n -= (size_t)n_written;
        file->n_flushed += (size_t)n_written;
    }
    return TAP_OK;
}

static enum tap_status flush_buffer(struct tap_atomic_file *file)
{
    if (file->error.status != TAP_OK)
        return file->error.status;
    size_t n = file->n_buffered;
    file->n_buffered = 0;
    return write_through(file, file->buffer, n);
}

enum tap_status tap_atomic_file_write(struct tap_atomic_file *file, const void *bytes, size_t n)
{
    if (file->error.status == TAP_OK && n > BUFFER_BYTES - file->n_buffered)
        flush_buffer(file);
    if (file->error.status != TAP_OK || n == 0)
        return file->error.status;
    if (n >= BUFFER_BYTES)
        return write_through(file, bytes, n);
    memcpy(file->buffer + file->n_buffered, bytes, n);
    file->n_buffered += n;
    return TAP_OK;
}

enum tap_status tap_atomic_file_patch(struct tap_atomic_file *file, uint64_t offset, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    if (file->error.status != TAP_OK)
        return file->error.status;
    TAP_CHECK(offset <= tap_atomic_file_size(file) && n <= tap_atomic_file_size(file) - offset);
    while (n > 0 && offset < file->n_flushed) {
        uint64_t n_below = file->n_flushed - offset;
        ssize_t n_written = tap_call_pwrite(file->fd, from, n < n_below ? n : (size_t)n_below, (off_t)offset);
        if (n_written < 0)
            return io_error(&file->error, file->path, "write");
        from += n_written;
        offset += (uint64_t)n_written;
        n -= (size_t)n_written;
    }
    if (n > 0)
        memcpy(file->buffer + (offset - file->n_flushed), from, n);
    return TAP_OK;
}

enum tap_status tap_atomic_file_read_back(struct tap_atomic_file *file, uint64_t offset, void *out, size_t n)
{
    unsigned char *to = out;
    if (flush_buffer(file) != TAP_OK)
        return file->error.status;
    TAP_CHECK(offset <= file->n_flushed && n <= file->n_flushed - offset);
    while (n > 0) {
        ssize_t n_read = tap_call_pread(file->fd, to, n, (off_t)offset);
        if (n_read == 0)
            errno = EIO; /* someone cut the file */
        if (n_read <= 0)
            return io_error(&file->error, file->path, "read back");
        to += n_read;
        offset += (uint64_t)n_read;
        n -= (size_t)n_read;
    }
    return TAP_OK;
}

uint64_t tap_atomic_file_size(const struct tap_atomic_file *file)
{
    return file->n_flushed + file->n_buffered;
}

enum tap_status tap_atomic_file_fail(struct tap_atomic_file *file, enum tap_status status, const char *what)
{
    return tap_error_set(&file->error, status, PATH_FORMAT ": %s", file->path, what);
}

enum tap_status tap_atomic_file_status(const struct tap_atomic_file *file)
{
    return file->error.status;
}

enum tap_status tap_atomic_file_commit(struct tap_atomic_file *file, struct tap_error *error)
{
    flush_buffer(file);
    if (file->error.status == TAP_OK && tap_call_fsync(file->fd) != 0)
        io_error(&file->error, file->path, "write to disk");
    int status = tap_call_close(file->fd);
    file->fd = -1;
    if (file->error.status == TAP_OK && status != 0)
        io_error(&file->error, file->path, "close");
    if (file->error.status == TAP_OK && tap_call_rename(file->names.temporary, file->names.target) != 0)
        io_error(&file->error, file->path, "rename to it");
    enum tap_status result = file->error.status;
    if (result != TAP_OK) {
        tap_error_set(error, result, "%s", file->error.message);
        tap_atomic_file_abandon(file);
        return result;
    }
    result = flush_folder(&file->names, file->path, error);
    tap_mem_free(file->path);
    tap_mem_free(file);
    return result;
}

void tap_atomic_file_abandon(struct tap_atomic_file *file)
{
    if (file == NULL)
        return;
    if (file->fd >= 0)
        tap_call_close(file->fd);
    tap_call_unlink(file->names.temporary);
    tap_mem_free(file->path);
    tap_mem_free(file);
}

enum tap_status tap_file_write(const char *path, const void *bytes, size_t n, struct tap_error *error)
{
    struct tap_error first = {0}; /* so that the status tells about this file, whatever `error` held */
    struct tap_atomic_file *file = tap_atomic_file_open(path, &first);
    if (file != NULL) {
        tap_atomic_file_write(file, bytes, n);
        tap_atomic_file_commit(file, &first);
    }
    return first.status == TAP_OK ? TAP_OK : tap_error_set(error, first.status, "%s", first.message);
}

/* --- one file, two names -------------------------------------------------------------------------------------------
 */

/* A copy in place of a link. */
static enum tap_status publish_copy(const char *existing, const char *target, struct tap_error *error)
{
    int from = tap_call_open(existing, O_RDONLY | O_CLOEXEC, 0);
    if (from < 0)
        return io_error(error, existing, "read");
    enum tap_status status = TAP_ERR_MEMORY;
    struct tap_error first = {0};
    struct tap_atomic_file *file = tap_atomic_file_open(target, &first);
    unsigned char *block = tap_mem_new(BUFFER_BYTES, 1);
    if (file == NULL || block == NULL) {
        status = file == NULL ? tap_error_set(error, first.status, "%s", first.message)
                              : tap_error_memory(error, "copying a file");
        tap_atomic_file_abandon(file);
        goto done;
    }
    off_t offset = 0;
    ssize_t n;
    while ((n = tap_call_pread(from, block, BUFFER_BYTES, offset)) > 0) {
        tap_atomic_file_write(file, block, (size_t)n);
        offset += n;
    }
    if (n < 0) {
        status = io_error(error, existing, "read");
        tap_atomic_file_abandon(file);
    } else {
        status = tap_atomic_file_commit(file, error);
    }
done:
    tap_mem_free(block);
    tap_call_close(from);
    return status;
}

/* What link says where a copy does as well. */
static bool wants_copy(int error_number)
{
    return error_number == EPERM || error_number == EMLINK || error_number == EXDEV || error_number == ENOTSUP ||
           error_number == EOPNOTSUPP || error_number == EACCES || error_number == ENOSYS;
}

enum tap_status tap_file_publish_link(const char *existing, const char *target, struct tap_error *error)
{
    struct file_names names;
    struct stat found;
    enum tap_status status = find_names(target, &names, error);
    if (status != TAP_OK)
        return status;
    if (stat(existing, &found) != 0)
        return io_error(error, existing, "read");
    if (!S_ISREG(found.st_mode))
        return tap_error_set(error, TAP_ERR_IO, PATH_FORMAT ": is no regular file", existing);
    int result = tap_call_link(existing, names.temporary);
    if (result != 0 && errno == EEXIST) {
        tap_call_unlink(names.temporary);
        result = tap_call_link(existing, names.temporary);
    }
    if (result != 0 && wants_copy(errno))
        return publish_copy(existing, target, error);
    if (result != 0)
        return io_error(error, target, "create");
    if (tap_call_rename(names.temporary, names.target) != 0) {
        status = io_error(error, target, "rename to it");
        tap_call_unlink(names.temporary);
        return status;
    }
    tap_call_unlink(names.temporary); /* still there when the two were the same file: then rename does nothing */
    return flush_folder(&names, target, error);
}
