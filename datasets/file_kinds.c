/* file_kinds.c: see file_kinds.h. Only signatures that no text begins with. */
#include "file_kinds.h"

#include <string.h>

struct file_kind {
    const char *start;
    size_t n_bytes;
    const char *name;
};
#define FILE_KIND(start, name)                                                                                         \
    {                                                                                                                  \
        start, sizeof(start) - 1, name                                                                                 \
    }

/* The longer of two that begin alike comes first. None holds a line end (input.c stops at one). */
static const struct file_kind file_kinds[] = {
    FILE_KIND("\xFF\xFE\x00\x00", "UTF-32 text"),
    FILE_KIND("\x00\x00\xFE\xFF", "UTF-32 text"),
    FILE_KIND("\xFF\xFE", "UTF-16 text"),
    FILE_KIND("\xFE\xFF", "UTF-16 text"),
    FILE_KIND("\x1F\x8B", "gzip data"),
    FILE_KIND("BZh91AY&SY", "bzip2 data"),
    FILE_KIND("\xFD"
              "7zXZ",
              "xz data"),
    FILE_KIND("\x28\xB5\x2F\xFD", "zstd data"),
    FILE_KIND("7z\xBC\xAF\x27\x1C", "a 7-Zip archive"),
    FILE_KIND("PK\x03\x04", "a zip archive (or an office document, or an .npz)"),
    FILE_KIND("PK\x05\x06", "an empty zip archive"),
    FILE_KIND("\x89PNG", "a PNG image"),
    FILE_KIND("\xFF\xD8\xFF", "a JPEG image"),
    FILE_KIND("%PDF-", "a PDF document"),
    FILE_KIND("\x93NUMPY", "a NumPy array"),
    FILE_KIND("SQLite format 3", "an SQLite database"),
    FILE_KIND("\x7F"
              "ELF",
              "a program"),
};

const char *tap_file_kind(const char *start, size_t n_bytes)
{
    for (size_t i = 0; i < sizeof file_kinds / sizeof file_kinds[0]; i++)
        if (n_bytes >= file_kinds[i].n_bytes && memcmp(start, file_kinds[i].start, file_kinds[i].n_bytes) == 0)
            return file_kinds[i].name;
    return NULL;
}
