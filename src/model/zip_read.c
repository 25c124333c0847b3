/* zip_read.c: see zip_read.h. Written on zlib alone: the zip library's reader neither compares local headers with the
 * directory's names, nor minds holes and overlaps, nor looks past the declared size for the end of a deflate stream. */
#include "zip_read.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define INPUT_BYTES ((size_t)1 << 16)
#define N_DIGITS 8

struct tap_zip_reader {
    struct tap_byte_source source;
    struct tap_zip_directory directory;
    const struct tap_zip_member *member; /* the open one; NULL: none */
    bool inflating;                      /* `stream` must be ended */
    bool ended;                          /* the deflate stream has come to its end */
    uint64_t in_offset;                  /* of the member's next byte in the archive that is not in `input` yet */
    uint64_t n_in_left;                  /* stored bytes from there on */
    uint64_t n_left;                     /* bytes yet to be given out */
    uint32_t crc;                        /* of those given out */
    z_stream stream;
    unsigned char input[INPUT_BYTES];
};

/* --- the checksum of the whole file --------------------------------------------------------------------------------
 */

static enum tap_status compare_checksum(struct tap_zip_reader *reader, const char digits[N_DIGITS],
                                        struct tap_error *error)
{
    uint64_t n = reader->source.n_bytes - N_DIGITS;
    uLong crc = crc32_z(0, NULL, 0);
    for (uint64_t offset = 0; offset < n;) {
        size_t n_block = n - offset < INPUT_BYTES ? (size_t)(n - offset) : INPUT_BYTES;
        enum tap_status status = tap_byte_source_read(&reader->source, offset, reader->input, n_block, error);
        if (status != TAP_OK)
            return status;
        crc = crc32_z(crc, reader->input, n_block);
        offset += n_block;
    }
    char expected[N_DIGITS + 1];
    snprintf(expected, sizeof expected, "%08lx", (unsigned long)crc & 0xffffffffu);
    if (memcmp(expected, digits, N_DIGITS) != 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: damaged: its checksum is %.8s, its bytes give %s",
                             reader->source.name, digits, expected);
    return TAP_OK;
}

static bool is_hex_digit(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static enum tap_status check_checksum(struct tap_zip_reader *reader, bool required, struct tap_error *error)
{
    unsigned char tail[TAP_ZIP_END_BYTES + N_DIGITS];
    static const unsigned char end_signature[] = {'P', 'K', 5, 6};
    bool is_there = reader->source.n_bytes >= sizeof tail;
    if (is_there) {
        enum tap_status status =
            tap_byte_source_read(&reader->source, reader->source.n_bytes - sizeof tail, tail, sizeof tail, error);
        if (status != TAP_OK)
            return status;
        is_there = memcmp(tail, end_signature, 4) == 0 && tail[TAP_ZIP_END_BYTES - 2] == N_DIGITS &&
                   tail[TAP_ZIP_END_BYTES - 1] == 0;
        for (size_t i = TAP_ZIP_END_BYTES; i < sizeof tail; i++)
            is_there = is_there && is_hex_digit(tail[i]);
    }
    if (is_there)
        return compare_checksum(reader, (const char *)tail + TAP_ZIP_END_BYTES, error);
    return required
               ? tap_error_set(error, TAP_ERR_FORMAT,
                               "%s: no whole checkpoint: it does not end in a checksum (damaged, cut short, or made "
                               "by another program)",
                               reader->source.name)
               : TAP_OK;
}

/* --- opening -------------------------------------------------------------------------------------------------------
 */

struct tap_zip_reader *tap_zip_open(struct tap_byte_source source, bool require_checksum, struct tap_error *error)
{
    struct tap_zip_reader *reader = tap_mem_new(1, sizeof *reader);
    if (reader == NULL) {
        tap_error_memory(error, "reading an archive");
        tap_byte_source_close(&source);
        return NULL;
    }
    reader->source = source;
    if (check_checksum(reader, require_checksum, error) != TAP_OK ||
        tap_zip_directory_read(&reader->source, &reader->directory, error) != TAP_OK) {
        tap_zip_close(reader);
        return NULL;
    }
    return reader;
}

static void give_up_member(struct tap_zip_reader *reader)
{
    if (reader->inflating)
        inflateEnd(&reader->stream);
    reader->inflating = false;
    reader->member = NULL;
}

void tap_zip_close(struct tap_zip_reader *reader)
{
    if (reader == NULL)
        return;
    give_up_member(reader);
    tap_zip_directory_free(&reader->directory);
    tap_byte_source_close(&reader->source);
    tap_mem_free(reader);
}

const struct tap_zip_directory *tap_zip_reader_directory(const struct tap_zip_reader *reader)
{
    return &reader->directory;
}

const char *tap_zip_reader_name(const struct tap_zip_reader *reader)
{
    return reader->source.name;
}

/* --- members -------------------------------------------------------------------------------------------------------
 */

static voidpf zlib_allocate(voidpf opaque, uInt count, uInt item_bytes)
{
    (void)opaque;
    return tap_mem_new(count, item_bytes);
}

static void zlib_free(voidpf opaque, voidpf block)
{
    (void)opaque;
    tap_mem_free(block);
}

static enum tap_status damaged(const struct tap_zip_reader *reader, const char *what, struct tap_error *error)
{
    return tap_error_set(error, TAP_ERR_FORMAT, "%s: %.200s: damaged: %s", reader->source.name, reader->member->name,
                         what);
}

enum tap_status tap_zip_member_open(struct tap_zip_reader *reader, size_t index, struct tap_error *error)
{
    TAP_CHECK(index < reader->directory.n_members);
    give_up_member(reader);
    reader->member = &reader->directory.members[index];
    reader->in_offset = reader->member->data_offset;
    reader->n_in_left = reader->member->n_stored_bytes;
    reader->n_left = reader->member->n_bytes;
    reader->crc = 0;
    reader->ended = !reader->member->deflated;
    if (!reader->member->deflated)
        return TAP_OK;
    reader->stream = (z_stream){.zalloc = zlib_allocate, .zfree = zlib_free};
    if (inflateInit2(&reader->stream, -MAX_WBITS) != Z_OK)
        return tap_error_memory(error, "decompression");
    reader->inflating = true;
    return TAP_OK;
}

/* Inflates up to n bytes into `out`, which may end the stream; the count given out in *out_n. */
static enum tap_status inflate_some(struct tap_zip_reader *reader, unsigned char *out, size_t n, size_t *out_n,
                                    struct tap_error *error)
{
    z_stream *stream = &reader->stream;
    uInt n_block = n < INPUT_BYTES ? (uInt)n : (uInt)INPUT_BYTES;
    if (stream->avail_in == 0 && reader->n_in_left > 0) {
        size_t n_in = reader->n_in_left < INPUT_BYTES ? (size_t)reader->n_in_left : INPUT_BYTES;
        enum tap_status status = tap_byte_source_read(&reader->source, reader->in_offset, reader->input, n_in, error);
        if (status != TAP_OK)
            return status;
        reader->in_offset += n_in;
        reader->n_in_left -= n_in;
        stream->next_in = reader->input;
        stream->avail_in = (uInt)n_in;
    }
    stream->next_out = out;
    stream->avail_out = n_block;
    int result = inflate(stream, Z_NO_FLUSH);
    *out_n = n_block - stream->avail_out;
    if (result == Z_MEM_ERROR)
        return tap_error_memory(error, "decompression");
    reader->ended = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END)
        return damaged(reader, "its compressed data are wrong or end too early", error);
    return TAP_OK;
}

static enum tap_status inflate_all(struct tap_zip_reader *reader, unsigned char *out, size_t n, struct tap_error *error)
{
    while (n > 0) {
        size_t n_given;
        if (reader->ended)
            return damaged(reader, "it holds fewer bytes than it claims", error);
        enum tap_status status = inflate_some(reader, out, n, &n_given, error);
        if (status != TAP_OK)
            return status;
        out += n_given;
        n -= n_given;
    }
    return TAP_OK;
}

enum tap_status tap_zip_member_read(struct tap_zip_reader *reader, void *out, size_t n, struct tap_error *error)
{
    enum tap_status status;
    TAP_CHECK(reader->member != NULL);
    if (n > reader->n_left)
        return damaged(reader, "it holds fewer bytes than are needed", error);
    if (n == 0) /* and `out` may be NULL, which would start the CRC anew */
        return TAP_OK;
    if (reader->member->deflated) {
        status = inflate_all(reader, out, n, error);
    } else {
        status = tap_byte_source_read(&reader->source, reader->in_offset, out, n, error);
        reader->in_offset += n;
        reader->n_in_left -= n;
    }
    if (status != TAP_OK)
        return status;
    reader->crc = (uint32_t)crc32_z(reader->crc, out, n);
    reader->n_left -= n;
    return TAP_OK;
}

enum tap_status tap_zip_member_finish(struct tap_zip_reader *reader, struct tap_error *error)
{
    enum tap_status status = TAP_OK;
    TAP_CHECK(reader->member != NULL);
    if (reader->n_left > 0)
        return damaged(reader, "it holds more bytes than are needed", error);
    /* One byte of room shows whether the stream goes on; a stream of no bytes is only begun here. */
    while (status == TAP_OK && !reader->ended) {
        unsigned char more;
        size_t n_given;
        status = inflate_some(reader, &more, 1, &n_given, error);
        if (status == TAP_OK && n_given > 0)
            status = damaged(reader, "it holds more bytes than it claims", error);
    }
    if (status == TAP_OK && (reader->n_in_left > 0 || (reader->inflating && reader->stream.avail_in > 0)))
        status = damaged(reader, "unknown bytes follow its compressed data", error);
    if (status == TAP_OK && reader->crc != reader->member->crc)
        status = damaged(reader, "its CRC is wrong", error);
    give_up_member(reader);
    return status;
}
