/* gzip_input.c: see gzip_input.h. */
#include "gzip_input.h"

#include "mem.h"

#include <string.h>
#include <zlib.h>

#define PACKED_BYTES ((size_t)64 << 10)
#define GZIP_FIRST_BYTE '\x1F'
#define GZIP_SECOND_BYTE '\x8B'
#define GZIP_ONLY (16 + MAX_WBITS) /* zlib's way to ask for gzip's header and trailer, and to check them */
#define MOST_BYTES_AT_ONCE ((size_t)1 << 30)

struct tap_gzip {
    z_stream stream;
    char packed[PACKED_BYTES];
    bool is_between; /* no member has begun, or the last one has ended */
    bool at_end;     /* of the file */
    bool has_member; /* at least one ended */
};

static void *allocate(void *context, unsigned count, unsigned item_bytes)
{
    (void)context;
    return tap_mem_new(count, item_bytes);
}

static void release(void *context, void *block)
{
    (void)context;
    tap_mem_free(block);
}

bool tap_gzip_is_start(const char *start, size_t n_bytes)
{
    return n_bytes > 0 && start[0] == GZIP_FIRST_BYTE && (n_bytes == 1 || start[1] == GZIP_SECOND_BYTE);
}

struct tap_gzip *tap_gzip_new(const char *start, size_t n_bytes, struct tap_error *error)
{
    TAP_CHECK(n_bytes <= PACKED_BYTES);
    struct tap_gzip *gzip = tap_mem_new(1, sizeof *gzip);
    if (gzip == NULL) {
        tap_error_memory(error, "reading gzip data");
        return NULL;
    }
    gzip->stream.zalloc = allocate;
    gzip->stream.zfree = release;
    if (inflateInit2(&gzip->stream, GZIP_ONLY) != Z_OK) {
        tap_mem_free(gzip);
        tap_error_memory(error, "reading gzip data");
        return NULL;
    }
    memcpy(gzip->packed, start, n_bytes);
    gzip->stream.next_in = (Bytef *)gzip->packed;
    gzip->stream.avail_in = (uInt)n_bytes;
    gzip->is_between = true;
    return gzip;
}

void tap_gzip_free(struct tap_gzip *gzip)
{
    if (gzip == NULL)
        return;
    inflateEnd(&gzip->stream);
    tap_mem_free(gzip);
}

static enum tap_status refill(struct tap_gzip *gzip, tap_raw_read *raw_read, void *context, struct tap_error *error)
{
    size_t n_read;
    enum tap_status status = raw_read(context, gzip->packed, PACKED_BYTES, &n_read, error);
    if (status != TAP_OK)
        return status;
    gzip->at_end = n_read == 0;
    gzip->stream.next_in = (Bytef *)gzip->packed;
    gzip->stream.avail_in = (uInt)n_read;
    return TAP_OK;
}

/* Expands what is there of a member; on its end the next one may begin. */
static enum tap_status expand(struct tap_gzip *gzip, const char *file_name, struct tap_error *error)
{
    if (gzip->is_between && gzip->has_member && gzip->stream.next_in[0] != (Bytef)GZIP_FIRST_BYTE)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: other bytes follow the end of the gzip data", file_name);
    if (gzip->is_between)
        inflateReset(&gzip->stream);
    gzip->is_between = false;
    int result = inflate(&gzip->stream, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR)
        return tap_error_memory(error, "reading gzip data");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: corrupt gzip data: %s", file_name,
                             gzip->stream.msg != NULL ? gzip->stream.msg : "unknown reason");
    gzip->is_between = result == Z_STREAM_END;
    gzip->has_member = gzip->has_member || result == Z_STREAM_END;
    return TAP_OK;
}

enum tap_status tap_gzip_read(struct tap_gzip *gzip, tap_raw_read *raw_read, void *context, const char *file_name,
                              char *to, size_t capacity, size_t *out_n_read, struct tap_error *error)
{
    enum tap_status status = TAP_OK;
    size_t room = capacity < MOST_BYTES_AT_ONCE ? capacity : MOST_BYTES_AT_ONCE;
    gzip->stream.next_out = (Bytef *)to;
    gzip->stream.avail_out = (uInt)room;
    *out_n_read = 0;
    while (status == TAP_OK && gzip->stream.avail_out == room) {
        if (gzip->stream.avail_in == 0 && !gzip->at_end)
            status = refill(gzip, raw_read, context, error);
        if (status != TAP_OK || (gzip->stream.avail_in == 0 && gzip->is_between))
            break;
        if (gzip->stream.avail_in == 0 && gzip->at_end)
            /* even where zlib holds back output for want of room, whole data has its 8-byte trailer still to give */
            status = tap_error_set(error, TAP_ERR_FORMAT, "%s: the gzip data is cut short", file_name);
        else
            status = expand(gzip, file_name, error);
    }
    *out_n_read = room - gzip->stream.avail_out;
    return status;
}
