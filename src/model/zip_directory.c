/* zip_directory.c: see zip_directory.h. The end record is found first, then the directory that it points to, then each
 * member's local header in the order of their places. */
#include "zip_directory.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#define END_SIGNATURE 0x06054b50u
#define END64_SIGNATURE 0x06064b50u
#define LOCATOR_SIGNATURE 0x07064b50u
#define CENTRAL_SIGNATURE 0x02014b50u
#define LOCAL_SIGNATURE 0x04034b50u
#define DESCRIPTOR_SIGNATURE 0x08074b50u

#define END64_BYTES 56
#define LOCATOR_BYTES 20
#define CENTRAL_BYTES 46
#define LOCAL_BYTES 30
#define MAX_COMMENT_BYTES 65535
#define MAX_DESCRIPTOR_BYTES 24

#define FLAG_ENCRYPTED 0x2041u  /* encrypted, strongly encrypted, directory encrypted */
#define FLAG_DESCRIPTOR 0x0008u /* sizes and CRC follow the data */
#define FLAG_KNOWN 0x080eu      /* deflate's effort, descriptor, UTF-8 name */

#define METHOD_STORED 0
#define METHOD_DEFLATED 8

/* The most bytes that one byte of deflate can stand for: a match of 258 bytes takes two bits or more. */
#define DEFLATE_MAX_RATIO 1032

#define MARK16 0xffffu
#define MARK32 0xffffffffu

static uint32_t get16(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const unsigned char *p)
{
    return get16(p) | get16(p + 2) << 16;
}

static uint64_t get64(const unsigned char *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* Where the directory is. */
struct extent {
    uint64_t offset;
    uint64_t n_bytes;
    uint64_t n_members;
};

static enum tap_status damaged(const struct tap_byte_source *source, const char *what, struct tap_error *error)
{
    return tap_error_set(error, TAP_ERR_FORMAT, "%s: no whole .npz (zip) file: %s", source->name, what);
}

static enum tap_status bad_member(const struct tap_byte_source *source, const struct tap_zip_member *member,
                                  const char *what, struct tap_error *error)
{
    return tap_error_set(error, TAP_ERR_FORMAT, "%s: %.*s: %s", source->name,
                         (int)(member->n_name_bytes < 200 ? member->n_name_bytes : 200), member->name, what);
}

/* --- the end record ------------------------------------------------------------------------------------------------
 */

/* Reads the ZIP64 end record that the locator in front of the end record (at `end`) points to. */
static enum tap_status read_end64(const struct tap_byte_source *source, uint64_t end, struct extent *out,
                                  struct tap_error *error)
{
    unsigned char locator[LOCATOR_BYTES];
    unsigned char record[END64_BYTES];
    if (end < LOCATOR_BYTES + END64_BYTES)
        return damaged(source, "its directory does not end where its end record begins", error);
    uint64_t limit = end - LOCATOR_BYTES; /* where the ZIP64 record must end */
    enum tap_status status = tap_byte_source_read(source, limit, locator, sizeof locator, error);
    if (status != TAP_OK)
        return status;
    uint64_t at = get64(locator + 8);
    if (get32(locator) != LOCATOR_SIGNATURE || at > limit - END64_BYTES)
        return damaged(source, "its directory does not end where its end record begins", error);
    status = tap_byte_source_read(source, at, record, sizeof record, error);
    if (status != TAP_OK)
        return status;
    if (get32(record) != END64_SIGNATURE || get64(record + 4) != limit - at - 12)
        return damaged(source, "its ZIP64 end record is damaged", error);
    if (get32(locator + 4) != 0 || get32(locator + 16) > 1 || get32(record + 16) != 0 || get32(record + 20) != 0 ||
        get64(record + 24) != get64(record + 32))
        return damaged(source, "it is one of several parts", error);
    *out =
        (struct extent){.offset = get64(record + 48), .n_bytes = get64(record + 40), .n_members = get64(record + 32)};
    if (out->offset > at || out->n_bytes != at - out->offset)
        return damaged(source, "its directory does not end where its end record begins", error);
    return TAP_OK;
}

/* The directory's place according to the end record at `end`, whose fixed part is given. */
static enum tap_status read_end(const struct tap_byte_source *source, const unsigned char *record, uint64_t end,
                                struct extent *out, struct tap_error *error)
{
    struct extent here = {.offset = get32(record + 16), .n_bytes = get32(record + 12), .n_members = get16(record + 10)};
    bool is_whole = get16(record + 4) == 0 && get16(record + 6) == 0 && get16(record + 8) == here.n_members;
    if (is_whole && here.offset <= end && here.n_bytes == end - here.offset) {
        *out = here;
        return TAP_OK;
    }
    struct extent large = {0};
    enum tap_status status = read_end64(source, end, &large, error);
    if (status != TAP_OK)
        return status;
    if ((here.offset != MARK32 && here.offset != large.offset) ||
        (here.n_bytes != MARK32 && here.n_bytes != large.n_bytes) ||
        (here.n_members != MARK16 && here.n_members != large.n_members))
        return damaged(source, "its two end records differ", error);
    *out = large;
    return TAP_OK;
}

/* Finds the end record: the last one whose comment ends where the file ends. */
static enum tap_status find_directory(const struct tap_byte_source *source, struct extent *out, struct tap_error *error)
{
    if (source->n_bytes < TAP_ZIP_END_BYTES)
        return damaged(source, source->n_bytes == 0 ? "it is empty" : "it is too short", error);
    const uint64_t most = TAP_ZIP_END_BYTES + MAX_COMMENT_BYTES;
    size_t n_tail = source->n_bytes < most ? (size_t)source->n_bytes : (size_t)most;
    uint64_t tail_offset = source->n_bytes - n_tail;
    unsigned char *tail = tap_mem_new(n_tail, 1);
    if (tail == NULL)
        return tap_error_memory(error, "the end of an archive");
    enum tap_status status = tap_byte_source_read(source, tail_offset, tail, n_tail, error);
    size_t at = n_tail - TAP_ZIP_END_BYTES + 1;
    bool found = false;
    while (status == TAP_OK && !found && at > 0) {
        at--;
        found = get32(tail + at) == END_SIGNATURE && get16(tail + at + 20) == n_tail - at - TAP_ZIP_END_BYTES;
    }
    if (status == TAP_OK && !found)
        status = damaged(source, "its end is missing or something follows it", error);
    if (status == TAP_OK)
        status = read_end(source, tail + at, tail_offset + at, out, error);
    tap_mem_free(tail);
    return status;
}

/* --- extra fields --------------------------------------------------------------------------------------------------
 */

/* Finds the ZIP64 field among a header's extra fields. NULL result: there is none. False: the fields are damaged, or
 * there are two. Up to three bytes at the end may be padding. */
static bool find_zip64(const unsigned char *extra, size_t n, const unsigned char **out_field, size_t *out_n)
{
    *out_field = NULL;
    *out_n = 0;
    while (n >= 4) {
        size_t n_field = get16(extra + 2);
        if (n_field > n - 4)
            return false;
        if (get16(extra) == 1) {
            if (*out_field != NULL)
                return false;
            *out_field = extra + 4;
            *out_n = n_field;
        }
        extra += 4 + n_field;
        n -= 4 + n_field;
    }
    return true;
}

/* Replaces a size that is the ZIP64 mark by the field's next number. */
static bool take_large(uint64_t *size, const unsigned char **field, size_t *n_field)
{
    if (*size != MARK32)
        return true;
    if (*n_field < 8)
        return false;
    *size = get64(*field);
    *field += 8;
    *n_field -= 8;
    return true;
}

/* --- the directory -------------------------------------------------------------------------------------------------
 */

const char *tap_zip_name_fault(const char *name, size_t n_bytes)
{
    if (n_bytes == 0 || n_bytes > TAP_ZIP_MAX_NAME_BYTES)
        return "a member's name must have 1 to 1024 bytes";
    for (size_t i = 0; i < n_bytes; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f || name[i] == '\\')
            return "a member's name must not hold control characters or backslashes";
    if (name[0] == '/')
        return "a member's name must not begin with a slash";
    for (size_t start = 0; start < n_bytes;) {
        const char *slash = memchr(name + start, '/', n_bytes - start);
        size_t n_part = slash != NULL ? (size_t)(slash - name) - start : n_bytes - start;
        if (n_part == 2 && name[start] == '.' && name[start + 1] == '.')
            return "a member's name must not have a part \"..\"";
        start += n_part + 1;
    }
    return NULL;
}

static enum tap_status check_member(const struct tap_byte_source *source, const struct tap_zip_member *member,
                                    uint32_t method, uint64_t limit, struct tap_error *error)
{
    const char *fault = tap_zip_name_fault(member->name, member->n_name_bytes);
    if (fault != NULL)
        return damaged(source, fault, error);
    if ((member->flags & FLAG_ENCRYPTED) != 0)
        return bad_member(source, member, "is encrypted, which is not supported", error);
    if ((member->flags & ~FLAG_KNOWN) != 0)
        return bad_member(source, member, "has unknown flags", error);
    if (method != METHOD_STORED && method != METHOD_DEFLATED)
        return tap_error_set(error, TAP_ERR_FORMAT,
                             "%s: %.200s: compression method %u; accepted: 0 (stored), 8 (deflated)", source->name,
                             member->name, method);
    if (member->header_offset > limit || member->n_stored_bytes > limit - member->header_offset)
        return bad_member(source, member, "does not lie within the file", error);
    if (!member->deflated && member->n_bytes != member->n_stored_bytes)
        return bad_member(source, member, "is stored, but its two sizes differ", error);
    if (member->deflated && member->n_bytes / DEFLATE_MAX_RATIO > member->n_stored_bytes)
        return bad_member(source, member, "claims to be larger than its compressed bytes can stand for", error);
    return TAP_OK;
}

/* Reads one record of the directory; its name is moved to the record's front, so that a closing zero has room. */
static enum tap_status read_member(const struct tap_byte_source *source, unsigned char *record, uint64_t n_left,
                                   uint64_t limit, struct tap_zip_member *member, size_t *out_n,
                                   struct tap_error *error)
{
    if (n_left < CENTRAL_BYTES || get32(record) != CENTRAL_SIGNATURE)
        return damaged(source, "its directory is damaged", error);
    size_t n_name = get16(record + 28);
    size_t n_extra = get16(record + 30);
    *out_n = CENTRAL_BYTES + n_name + n_extra + get16(record + 32);
    if (*out_n > n_left)
        return damaged(source, "its directory is damaged", error);
    const unsigned char *field;
    size_t n_field;
    uint64_t offset = get32(record + 42);
    uint32_t method = get16(record + 10);
    *member = (struct tap_zip_member){.name = (const char *)record,
                                      .n_name_bytes = n_name,
                                      .n_stored_bytes = get32(record + 20),
                                      .n_bytes = get32(record + 24),
                                      .crc = get32(record + 16),
                                      .flags = (uint16_t)get16(record + 8),
                                      .deflated = method == METHOD_DEFLATED};
    bool is_first_part = get16(record + 34) == 0;
    if (!find_zip64(record + CENTRAL_BYTES + n_name, n_extra, &field, &n_field) ||
        !take_large(&member->n_bytes, &field, &n_field) || !take_large(&member->n_stored_bytes, &field, &n_field) ||
        !take_large(&offset, &field, &n_field) || !is_first_part)
        return damaged(source, "its directory is damaged", error);
    member->header_offset = offset;
    memmove(record, record + CENTRAL_BYTES, n_name);
    record[n_name] = '\0';
    return check_member(source, member, method, limit, error);
}

static enum tap_status read_members(const struct tap_byte_source *source, const struct extent *extent,
                                    struct tap_zip_directory *directory, struct tap_error *error)
{
    unsigned char *record = directory->block;
    uint64_t n_left = extent->n_bytes;
    for (size_t i = 0; i < directory->n_members; i++) {
        size_t n = 0;
        enum tap_status status = read_member(source, record, n_left, extent->offset, &directory->members[i], &n, error);
        if (status != TAP_OK)
            return status;
        record += n;
        n_left -= n;
    }
    return n_left == 0 ? TAP_OK : damaged(source, "its directory holds more than it lists", error);
}

/* --- order ---------------------------------------------------------------------------------------------------------
 */

static int compare_names(const void *a, const void *b, void *members_pointer)
{
    const struct tap_zip_member *members = members_pointer;
    return strcmp(members[*(const size_t *)a].name, members[*(const size_t *)b].name);
}

static int compare_places(const void *a, const void *b, void *members_pointer)
{
    const struct tap_zip_member *members = members_pointer;
    uint64_t x = members[*(const size_t *)a].header_offset;
    uint64_t y = members[*(const size_t *)b].header_offset;
    return (x > y) - (x < y);
}

static enum tap_status sort_names(const struct tap_byte_source *source, struct tap_zip_directory *directory,
                                  struct tap_error *error)
{
    size_t *order = directory->by_name;
    qsort_r(order, directory->n_members, sizeof *order, compare_names, directory->members);
    for (size_t i = 1; i < directory->n_members; i++)
        if (strcmp(directory->members[order[i - 1]].name, directory->members[order[i]].name) == 0)
            return bad_member(source, &directory->members[order[i]], "this name is there twice", error);
    return TAP_OK;
}

/* --- local headers -------------------------------------------------------------------------------------------------
 */

/* True when the local header says what the directory says. `tail` is what follows its fixed part: name, extra fields.
 * With a descriptor, sizes and CRC are not known yet and whatever stands here means nothing. */
static bool header_agrees(const unsigned char *header, const unsigned char *tail, const struct tap_zip_member *member)
{
    const unsigned char *field;
    size_t n_field;
    size_t n_name = get16(header + 26);
    if (get32(header) != LOCAL_SIGNATURE || n_name != member->n_name_bytes || memcmp(tail, member->name, n_name) != 0 ||
        get16(header + 6) != member->flags || get16(header + 8) != (member->deflated ? METHOD_DEFLATED : METHOD_STORED))
        return false;
    if (!find_zip64(tail + n_name, get16(header + 28), &field, &n_field))
        return false;
    if ((member->flags & FLAG_DESCRIPTOR) != 0)
        return true;
    uint64_t n_bytes = get32(header + 22);
    uint64_t n_stored = get32(header + 18);
    return take_large(&n_bytes, &field, &n_field) && take_large(&n_stored, &field, &n_field) &&
           n_bytes == member->n_bytes && n_stored == member->n_stored_bytes && get32(header + 14) == member->crc;
}

/* True when these bytes are the member's data descriptor: CRC and sizes of 4 or 8 bytes, with a signature or without.
 */
static bool is_descriptor(const unsigned char *p, size_t n, const struct tap_zip_member *member)
{
    if (n == 16 || n == 24) {
        if (get32(p) != DESCRIPTOR_SIGNATURE)
            return false;
        p += 4;
        n -= 4;
    }
    if (n == 12)
        return get32(p) == member->crc && get32(p + 4) == member->n_stored_bytes && get32(p + 8) == member->n_bytes;
    return n == 20 && get32(p) == member->crc && get64(p + 4) == member->n_stored_bytes &&
           get64(p + 12) == member->n_bytes;
}

/* Checks the member's local header, and that the member ends exactly where the next one begins. */
static enum tap_status check_local(const struct tap_byte_source *source, struct tap_zip_member *member, uint64_t next,
                                   unsigned char *scratch, struct tap_error *error)
{
    unsigned char header[LOCAL_BYTES];
    enum tap_status status = tap_byte_source_read(source, member->header_offset, header, sizeof header, error);
    if (status != TAP_OK)
        return status;
    size_t n_tail = (size_t)get16(header + 26) + get16(header + 28);
    uint64_t at = member->header_offset + LOCAL_BYTES;
    if (at > next || n_tail > next - at || member->n_stored_bytes > next - at - n_tail)
        return bad_member(source, member, "reaches into what follows it", error);
    status = tap_byte_source_read(source, at, scratch, n_tail, error);
    if (status != TAP_OK)
        return status;
    if (!header_agrees(header, scratch, member))
        return bad_member(source, member, "its header differs from the directory", error);
    member->data_offset = at + n_tail;
    uint64_t end = member->data_offset + member->n_stored_bytes;
    uint64_t n_gap = next - end;
    if ((member->flags & FLAG_DESCRIPTOR) == 0)
        return n_gap == 0 ? TAP_OK : bad_member(source, member, "unknown bytes follow it", error);
    if (n_gap > MAX_DESCRIPTOR_BYTES)
        return bad_member(source, member, "unknown bytes follow it", error);
    status = tap_byte_source_read(source, end, scratch, (size_t)n_gap, error);
    if (status == TAP_OK && !is_descriptor(scratch, (size_t)n_gap, member))
        status = bad_member(source, member, "its data descriptor differs from the directory", error);
    return status;
}

/* Checks that the members lie end to end from the file's first byte to the directory. */
static enum tap_status check_places(const struct tap_byte_source *source, struct tap_zip_directory *directory,
                                    uint64_t limit, struct tap_error *error)
{
    enum tap_status status = TAP_ERR_MEMORY;
    size_t n = directory->n_members;
    size_t *order = tap_mem_new(n, sizeof *order);
    unsigned char *scratch = tap_mem_new(2, 65536); /* a header's name and extra fields */
    if (order == NULL || scratch == NULL) {
        tap_error_memory(error, "an archive's directory");
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, compare_places, directory->members);
    status = TAP_OK;
    if ((n > 0 ? directory->members[order[0]].header_offset : limit) != 0)
        status = damaged(source, "unknown bytes stand before its first member", error);
    for (size_t i = 0; i < n && status == TAP_OK; i++) {
        uint64_t next = i + 1 < n ? directory->members[order[i + 1]].header_offset : limit;
        status = check_local(source, &directory->members[order[i]], next, scratch, error);
    }
done:
    tap_mem_free(order);
    tap_mem_free(scratch);
    return status;
}

enum tap_status tap_zip_directory_read(const struct tap_byte_source *source, struct tap_zip_directory *out_directory,
                                       struct tap_error *error)
{
    struct extent extent = {0};
    struct tap_zip_directory directory = {0};
    enum tap_status status = find_directory(source, &extent, error);
    if (status != TAP_OK)
        return status;
    if (extent.n_members > extent.n_bytes / CENTRAL_BYTES || extent.n_members > TAP_ZIP_MAX_MEMBERS)
        return damaged(source, "its directory cannot hold as many members as it claims (at most 65535 are accepted)",
                       error);
    directory.n_members = (size_t)extent.n_members;
    directory.block = tap_mem_new((size_t)extent.n_bytes, 1);
    directory.members = tap_mem_new(directory.n_members, sizeof *directory.members);
    directory.by_name = tap_mem_new(directory.n_members, sizeof *directory.by_name);
    if (directory.block == NULL || directory.members == NULL || directory.by_name == NULL) {
        tap_error_memory(error, "an archive's directory");
        status = TAP_ERR_MEMORY;
    }
    for (size_t i = 0; status == TAP_OK && i < directory.n_members; i++)
        directory.by_name[i] = i;
    if (status == TAP_OK)
        status = tap_byte_source_read(source, extent.offset, directory.block, (size_t)extent.n_bytes, error);
    if (status == TAP_OK)
        status = read_members(source, &extent, &directory, error);
    if (status == TAP_OK)
        status = sort_names(source, &directory, error);
    if (status == TAP_OK)
        status = check_places(source, &directory, extent.offset, error);
    if (status == TAP_OK)
        *out_directory = directory;
    else
        tap_zip_directory_free(&directory);
    return status;
}

void tap_zip_directory_free(struct tap_zip_directory *directory)
{
    tap_mem_free(directory->block);
    tap_mem_free(directory->members);
    tap_mem_free(directory->by_name);
    *directory = (struct tap_zip_directory){0};
}

size_t tap_zip_directory_find(const struct tap_zip_directory *directory, const char *name)
{
    size_t low = 0;
    size_t high = directory->n_members;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, directory->members[directory->by_name[middle]].name);
        if (order == 0)
            return directory->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return SIZE_MAX;
}
