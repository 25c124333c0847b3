/* file_calls.h: the system calls that saving a file makes, behind one door, so that tests can count them and make any
 * one fail, write less than asked, be interrupted, or be the last that the process lives to see. It leaves out reading
 * that has no part in saving. */
#ifndef TAP_FILE_CALLS_H
#define TAP_FILE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As the system's calls of the same names; but a call that is interrupted (EINTR) is made again, and a close that is
 * interrupted has closed (Linux). tap_call_link follows `existing` if it is a symbolic link. */
int tap_call_open(const char *path, int flags, mode_t mode);
ssize_t tap_call_write(int fd, const void *bytes, size_t n);
ssize_t tap_call_pwrite(int fd, const void *bytes, size_t n, off_t offset);
ssize_t tap_call_pread(int fd, void *out, size_t n, off_t offset);
int tap_call_fsync(int fd);
int tap_call_close(int fd);
int tap_call_rename(const char *from, const char *to);
int tap_call_link(const char *existing, const char *path);
int tap_call_unlink(const char *path);

/* For tests: what goes wrong. The calls above are counted from 1, the next one. Unlink is counted and can be the last,
 * but never fails: it is what cleans up. */
struct tap_call_fault {
    uint64_t at;       /* the number of the call that fails; 0: none */
    bool persistent;   /* and all after it */
    int error_number;  /* with this errno; 0: instead of making the call, the process dies of SIGKILL */
    size_t most_bytes; /* a write or read moves at most so many bytes; 0: no limit */
    bool interrupted;  /* every second write, read and fsync is interrupted (EINTR) first */
};
void tap_call_fault_set(const struct tap_call_fault *fault); /* NULL: none; starts the count anew */
uint64_t tap_call_n_calls(void);                             /* since tap_call_fault_set */

#endif
