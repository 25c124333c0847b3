/* file_calls.c: see file_calls.h. The fault is one plain structure, for tests set it while nothing else saves. */
#include "file_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static struct tap_call_fault fault;
static atomic_uint_fast64_t n_calls;
static atomic_uint_fast64_t n_interruptible;

void tap_call_fault_set(const struct tap_call_fault *wanted)
{
    fault = wanted != NULL ? *wanted : (struct tap_call_fault){0};
    atomic_store(&n_calls, 0);
    atomic_store(&n_interruptible, 0);
}

uint64_t tap_call_n_calls(void)
{
    return atomic_load(&n_calls);
}

/* Counts a call; true, with errno set, when a test asked for it to fail. */
static bool fails(void)
{
    uint64_t call = atomic_fetch_add(&n_calls, 1) + 1;
    if (fault.at == 0 || (fault.persistent ? call < fault.at : call != fault.at))
        return false;
    if (fault.error_number == 0)
        raise(SIGKILL);
    errno = fault.error_number;
    return true;
}

/* True when a test asked for this attempt to be interrupted. */
static bool is_interrupted(void)
{
    if (!fault.interrupted || atomic_fetch_add(&n_interruptible, 1) % 2 != 0)
        return false;
    errno = EINTR;
    return true;
}

static size_t limited(size_t n)
{
    return fault.most_bytes > 0 && n > fault.most_bytes ? fault.most_bytes : n;
}

int tap_call_open(const char *path, int flags, mode_t mode)
{
    int fd;
    if (fails())
        return -1;
    do
        fd = open(path, flags, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

ssize_t tap_call_write(int fd, const void *bytes, size_t n)
{
    ssize_t n_written;
    if (fails())
        return -1;
    do
        n_written = is_interrupted() ? -1 : write(fd, bytes, limited(n));
    while (n_written < 0 && errno == EINTR);
    return n_written;
}

ssize_t tap_call_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    ssize_t n_written;
    if (fails())
        return -1;
    do
        n_written = is_interrupted() ? -1 : pwrite(fd, bytes, limited(n), offset);
    while (n_written < 0 && errno == EINTR);
    return n_written;
}

ssize_t tap_call_pread(int fd, void *out, size_t n, off_t offset)
{
    ssize_t n_read;
    if (fails())
        return -1;
    do
        n_read = is_interrupted() ? -1 : pread(fd, out, limited(n), offset);
    while (n_read < 0 && errno == EINTR);
    return n_read;
}

int tap_call_fsync(int fd)
{
    int status;
    if (fails())
        return -1;
    do
        status = is_interrupted() ? -1 : fsync(fd);
    while (status != 0 && errno == EINTR);
    return status;
}

int tap_call_close(int fd)
{
    /* A close that reports an error has closed all the same, so the fault comes after it. */
    bool failing = fails();
    int fault_errno = errno;
    int status = close(fd);
    if (failing) {
        errno = fault_errno;
        return -1;
    }
    return status != 0 && errno == EINTR ? 0 : status;
}

int tap_call_rename(const char *from, const char *to)
{
    return fails() ? -1 : rename(from, to);
}

int tap_call_link(const char *existing, const char *path)
{
    return fails() ? -1 : linkat(AT_FDCWD, existing, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int tap_call_unlink(const char *path)
{
    (void)fails();
    return unlink(path);
}
