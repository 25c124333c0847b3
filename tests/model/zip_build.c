/* zip_build.c: see zip_build.h. */
#include "zip_build.h"

#include <stdio.h>
#include <string.h>

uint32_t zip_build_crc(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void put(unsigned char *bytes, size_t *n, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        bytes[(*n)++] = (unsigned char)(value >> 8 * i);
}

static void put_bytes(unsigned char *bytes, size_t *n, const void *data, size_t n_data)
{
    if (n_data > 0)
        memcpy(bytes + *n, data, n_data);
    *n += n_data;
}

/* What the directory and the local header have in common: flags to extra length. */
static void put_common(unsigned char *b, size_t *n, uint16_t flags, uint16_t method, uint32_t crc, uint64_t stored,
                       uint64_t size, const char *name, size_t n_extra)
{
    put(b, n, flags, 2);
    put(b, n, method, 2);
    put(b, n, 0x00210000, 4);
    put(b, n, crc, 4);
    put(b, n, stored, 4);
    put(b, n, size, 4);
    put(b, n, strlen(name), 2);
    put(b, n, n_extra, 2);
}

static void put_zip64(unsigned char *b, size_t *n, uint64_t size, uint64_t stored)
{
    put(b, n, 1, 2);
    put(b, n, 16, 2);
    put(b, n, size, 8);
    put(b, n, stored, 8);
}

static void add_local(struct zip_build *zip, const char *name, const void *data, size_t n, uint16_t method,
                      uint16_t flags, uint32_t crc, uint64_t stored, uint64_t size, const struct zip_options *o)
{
    unsigned char *b = zip->bytes;
    const char *local_name = o->local_name != NULL ? o->local_name : name;
    bool late = o->descriptor > 0;
    put(b, &zip->n, 0x04034b50, 4);
    put(b, &zip->n, 20, 2);
    put_common(b, &zip->n, flags, o->local_method != 0 ? o->local_method : method, late ? 0 : crc ^ o->local_crc_change,
               o->zip64_local ? 0xffffffffu
               : late         ? 0
                              : stored,
               o->zip64_local ? 0xffffffffu
               : late         ? 0
                              : size,
               local_name, o->zip64_local ? 20 : 0);
    put_bytes(b, &zip->n, local_name, strlen(local_name));
    if (o->zip64_local)
        put_zip64(b, &zip->n, late ? 0 : size, late ? 0 : stored);
    if (o->deflated) {
        put(b, &zip->n, 1, 1); /* the last block, stored */
        put(b, &zip->n, n, 2);
        put(b, &zip->n, ~n & 0xffff, 2);
    }
    put_bytes(b, &zip->n, data, n);
    memset(b + zip->n, 0, o->n_deflate_tail);
    zip->n += o->n_deflate_tail;
    if (o->descriptor == 16 || o->descriptor == 24)
        put(b, &zip->n, 0x08074b50, 4);
    if (late) {
        put(b, &zip->n, crc ^ o->local_crc_change, 4);
        put(b, &zip->n, stored, o->descriptor >= 20 ? 8 : 4);
        put(b, &zip->n, size, o->descriptor >= 20 ? 8 : 4);
    }
    memset(b + zip->n, 0, o->n_hole);
    zip->n += o->n_hole;
}

void zip_build_add(struct zip_build *zip, const char *name, const void *data, size_t n,
                   const struct zip_options *options)
{
    static const struct zip_options none;
    const struct zip_options *o = options != NULL ? options : &none;
    size_t offset = zip->n;
    unsigned char *d = zip->directory;
    uint16_t method = o->method != 0 ? o->method : o->deflated ? 8 : 0;
    uint16_t flags = (uint16_t)(o->flags | (o->descriptor > 0 ? 8 : 0));
    uint32_t crc = zip_build_crc(data, n) ^ o->crc_change;
    uint64_t stored = n + (o->deflated ? 5 : 0) + o->n_deflate_tail + o->more_stored;
    uint64_t size = n + o->more_bytes;
    add_local(zip, name, data, n, method, flags, crc, stored, size, o);
    put(d, &zip->n_directory, 0x02014b50, 4);
    put(d, &zip->n_directory, 20, 2);
    put(d, &zip->n_directory, 20, 2);
    put_common(d, &zip->n_directory, flags, method, crc, o->zip64_central ? 0xffffffffu : stored,
               o->zip64_central ? 0xffffffffu : size, name, (o->zip64_central ? 20 : 0) + o->n_extra);
    put(d, &zip->n_directory, 0, 2); /* comment, disk, attributes */
    put(d, &zip->n_directory, 0, 2);
    put(d, &zip->n_directory, 0, 2);
    put(d, &zip->n_directory, 0, 4);
    put(d, &zip->n_directory, offset + o->offset_change, 4);
    put_bytes(d, &zip->n_directory, name, strlen(name));
    if (o->zip64_central)
        put_zip64(d, &zip->n_directory, size, stored);
    put_bytes(d, &zip->n_directory, o->extra, o->n_extra);
    zip->n_members++;
}

void zip_build_end(struct zip_build *zip, const char *comment, bool zip64)
{
    unsigned char *b = zip->bytes;
    size_t offset = zip->n;
    put_bytes(b, &zip->n, zip->directory, zip->n_directory);
    if (zip64) {
        size_t end64 = zip->n;
        put(b, &zip->n, 0x06064b50, 4);
        put(b, &zip->n, 44, 8);
        put(b, &zip->n, 45, 2);
        put(b, &zip->n, 45, 2);
        put(b, &zip->n, 0, 8);
        put(b, &zip->n, zip->n_members, 8);
        put(b, &zip->n, zip->n_members, 8);
        put(b, &zip->n, zip->n_directory, 8);
        put(b, &zip->n, offset, 8);
        put(b, &zip->n, 0x07064b50, 4);
        put(b, &zip->n, 0, 4);
        put(b, &zip->n, end64, 8);
        put(b, &zip->n, 1, 4);
    }
    put(b, &zip->n, 0x06054b50, 4);
    put(b, &zip->n, 0, 4);
    put(b, &zip->n, zip64 ? 0xffff : zip->n_members, 2);
    put(b, &zip->n, zip64 ? 0xffff : zip->n_members, 2);
    put(b, &zip->n, zip64 ? 0xffffffffu : zip->n_directory, 4);
    put(b, &zip->n, zip64 ? 0xffffffffu : offset, 4);
    size_t n_comment = comment != NULL ? strlen(comment) : 0;
    put(b, &zip->n, n_comment, 2);
    put_bytes(b, &zip->n, comment, n_comment);
}

void zip_build_end_checksum(struct zip_build *zip)
{
    char digits[9];
    zip_build_end(zip, "00000000", false);
    snprintf(digits, sizeof digits, "%08x", zip_build_crc(zip->bytes, zip->n - 8));
    memcpy(zip->bytes + zip->n - 8, digits, 8);
}

size_t npy_build(unsigned char *out, int version, const char *text, const void *data, size_t n)
{
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    size_t n_fixed = version == 1 ? 10 : 12;
    size_t n_text = strlen(text) + 1;
    n_text += (64 - (n_fixed + n_text) % 64) % 64;
    size_t at = 0;
    put_bytes(out, &at, magic, 6);
    put(out, &at, (uint64_t)version, 1);
    put(out, &at, 0, 1);
    put(out, &at, n_text, version == 1 ? 2 : 4);
    memset(out + at, ' ', n_text);
    memcpy(out + at, text, strlen(text));
    at += n_text;
    out[at - 1] = '\n';
    put_bytes(out, &at, data, n);
    return at;
}
