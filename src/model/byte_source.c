/* byte_source.c: see byte_source.h. */
#include "byte_source.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So that in a message the longest path leaves room for the reason. */
#define MAX_NAME_BYTES ((size_t)500)

enum tap_status tap_byte_source_open(struct tap_byte_source *out_source, const char *path, struct tap_error *error)
{
    struct stat found;
    enum tap_status status;
    /* O_NONBLOCK: a named pipe would keep us waiting before we see that it is one. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &found) != 0) {
        status = tap_error_set(error, TAP_ERR_IO, "%.500s: cannot read: %s", path, strerror(errno));
        goto failed;
    }
    if (!S_ISREG(found.st_mode)) {
        status = tap_error_set(error, TAP_ERR_IO, "%.500s: cannot read: %s", path,
                               S_ISDIR(found.st_mode) ? "it is a folder" : "it is no regular file");
        goto failed;
    }
    char *name = tap_mem_copy_text(path, strnlen(path, MAX_NAME_BYTES));
    if (name == NULL) {
        status = tap_error_memory(error, "reading a file");
        goto failed;
    }
    *out_source = (struct tap_byte_source){.fd = fd, .n_bytes = (uint64_t)found.st_size, .name = name};
    return TAP_OK;
failed:
    if (fd >= 0)
        close(fd);
    return status;
}

enum tap_status tap_byte_source_memory(struct tap_byte_source *out_source, const void *bytes, size_t n_bytes,
                                       const char *name, struct tap_error *error)
{
    char *copy = tap_mem_copy_text(name, strnlen(name, MAX_NAME_BYTES));
    if (copy == NULL)
        return tap_error_memory(error, "reading from memory");
    *out_source = (struct tap_byte_source){
        .bytes = n_bytes > 0 ? bytes : (const unsigned char *)"", .fd = -1, .n_bytes = n_bytes, .name = copy};
    return TAP_OK;
}

enum tap_status tap_byte_source_read(const struct tap_byte_source *source, uint64_t offset, void *out, size_t n,
                                     struct tap_error *error)
{
    unsigned char *to = out;
    if (offset > source->n_bytes || n > source->n_bytes - offset)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: cut short: %zu bytes are needed at offset %llu, it has %llu",
                             source->name, n, (unsigned long long)offset, (unsigned long long)source->n_bytes);
    if (source->bytes != NULL) {
        memcpy(out, source->bytes + offset, n);
        return TAP_OK;
    }
    while (n > 0) {
        ssize_t n_read = pread(source->fd, to, n, (off_t)offset);
        if (n_read < 0 && errno == EINTR)
            continue;
        if (n_read < 0)
            return tap_error_set(error, TAP_ERR_IO, "%s: cannot read: %s", source->name, strerror(errno));
        if (n_read == 0)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s: cut short while it was read", source->name);
        to += n_read;
        offset += (uint64_t)n_read;
        n -= (size_t)n_read;
    }
    return TAP_OK;
}

void tap_byte_source_close(struct tap_byte_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    tap_mem_free(source->name);
    *source = (struct tap_byte_source){.fd = -1};
}
