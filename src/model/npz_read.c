/* npz_read.c: the reading half of npz.h. Numbers pass through one block of fixed size on their way to their place,
 * unless they already lie in the file as they shall lie in memory. */
#include "mem.h"
#include "npz.h"
#include "zip_read.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 14)
#define SUFFIX ".npy"
#define N_SUFFIX (sizeof SUFFIX - 1)

/* Native numbers can be read in place. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the byte order in memory is taken to be little-endian");

struct tap_npz {
    struct tap_zip_reader *zip;
    const struct tap_zip_directory *directory;
    char **array_names; /* of array members: the name without its suffix; else NULL */
};

static bool has_suffix(const struct tap_zip_member *member)
{
    return member->n_name_bytes > N_SUFFIX &&
           memcmp(member->name + member->n_name_bytes - N_SUFFIX, SUFFIX, N_SUFFIX) == 0;
}

static struct tap_npz *npz_new(struct tap_byte_source source, bool require_checksum, struct tap_error *error)
{
    struct tap_npz *npz = tap_mem_new(1, sizeof *npz);
    if (npz == NULL) {
        tap_error_memory(error, "reading an .npz file");
        tap_byte_source_close(&source);
        return NULL;
    }
    npz->zip = tap_zip_open(source, require_checksum, error);
    if (npz->zip == NULL)
        goto failed;
    npz->directory = tap_zip_reader_directory(npz->zip);
    npz->array_names = tap_mem_new(npz->directory->n_members, sizeof *npz->array_names);
    bool done = npz->array_names != NULL;
    for (size_t i = 0; done && i < npz->directory->n_members; i++) {
        const struct tap_zip_member *member = &npz->directory->members[i];
        if (has_suffix(member)) {
            npz->array_names[i] = tap_mem_copy_text(member->name, member->n_name_bytes - N_SUFFIX);
            done = npz->array_names[i] != NULL;
        }
    }
    if (done)
        return npz;
    tap_error_memory(error, "the names of an .npz file");
failed:
    tap_npz_close(npz);
    return NULL;
}

struct tap_npz *tap_npz_open(const char *path, bool require_checksum, struct tap_error *error)
{
    struct tap_byte_source source;
    if (tap_byte_source_open(&source, path, error) != TAP_OK)
        return NULL;
    return npz_new(source, require_checksum, error);
}

struct tap_npz *tap_npz_open_memory(const void *bytes, size_t n_bytes, const char *name, bool require_checksum,
                                    struct tap_error *error)
{
    struct tap_byte_source source;
    if (tap_byte_source_memory(&source, bytes, n_bytes, name, error) != TAP_OK)
        return NULL;
    return npz_new(source, require_checksum, error);
}

void tap_npz_close(struct tap_npz *npz)
{
    if (npz == NULL)
        return;
    for (size_t i = 0; npz->array_names != NULL && i < npz->directory->n_members; i++)
        tap_mem_free(npz->array_names[i]);
    tap_mem_free(npz->array_names);
    tap_zip_close(npz->zip);
    tap_mem_free(npz);
}

/* --- members -------------------------------------------------------------------------------------------------------
 */

size_t tap_npz_n_members(const struct tap_npz *npz)
{
    return npz->directory->n_members;
}

bool tap_npz_is_array(const struct tap_npz *npz, size_t index)
{
    TAP_CHECK(index < npz->directory->n_members);
    return npz->array_names[index] != NULL;
}

const char *tap_npz_name(const struct tap_npz *npz, size_t index)
{
    return tap_npz_is_array(npz, index) ? npz->array_names[index] : npz->directory->members[index].name;
}

size_t tap_npz_find_array(const struct tap_npz *npz, const char *name)
{
    char member[TAP_ZIP_MAX_NAME_BYTES + 1];
    if ((size_t)snprintf(member, sizeof member, "%s" SUFFIX, name) >= sizeof member)
        return TAP_NPZ_NONE;
    size_t index = tap_zip_directory_find(npz->directory, member);
    return index == SIZE_MAX || !tap_npz_is_array(npz, index) ? TAP_NPZ_NONE : index;
}

size_t tap_npz_find_bytes(const struct tap_npz *npz, const char *name)
{
    size_t index = tap_zip_directory_find(npz->directory, name);
    return index == SIZE_MAX || tap_npz_is_array(npz, index) ? TAP_NPZ_NONE : index;
}

enum tap_status tap_npz_read_bytes(struct tap_npz *npz, const char *name, char **out_bytes, size_t *out_n, size_t limit,
                                   struct tap_error *error)
{
    const char *file = tap_zip_reader_name(npz->zip);
    size_t index = tap_npz_find_bytes(npz, name);
    if (index == TAP_NPZ_NONE)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: %s is missing", file, name);
    uint64_t n = npz->directory->members[index].n_bytes;
    if (n > limit)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: %s has %llu bytes; at most %zu are accepted", file, name,
                             (unsigned long long)n, limit);
    char *bytes = tap_mem_new((size_t)n + 1, 1);
    if (bytes == NULL)
        return tap_error_memory(error, name);
    enum tap_status status = tap_zip_member_open(npz->zip, index, error);
    if (status == TAP_OK)
        status = tap_zip_member_read(npz->zip, bytes, (size_t)n, error);
    if (status == TAP_OK)
        status = tap_zip_member_finish(npz->zip, error);
    if (status != TAP_OK) {
        tap_mem_free(bytes);
        return status;
    }
    *out_bytes = bytes;
    *out_n = (size_t)n;
    return TAP_OK;
}

/* --- arrays --------------------------------------------------------------------------------------------------------
 */

/* What names an array in messages: file and name. */
struct label {
    char text[512];
};

static struct label label_of(const struct tap_npz *npz, size_t index)
{
    struct label label;
    snprintf(label.text, sizeof label.text, "%.250s: %.250s", tap_zip_reader_name(npz->zip), tap_npz_name(npz, index));
    return label;
}

/* Opens an array member and reads its header, so that its numbers come next. `n_data` is what the member has left. */
static enum tap_status read_header(struct tap_npz *npz, size_t index, const char *where,
                                   struct tap_npy_header *out_header, uint64_t *out_n_data, struct tap_error *error)
{
    unsigned char prefix[TAP_NPY_LONG_PREFIX_BYTES];
    uint64_t n_member = npz->directory->members[index].n_bytes;
    size_t n_prefix = n_member < sizeof prefix ? (size_t)n_member : sizeof prefix;
    size_t n_header = 0;
    enum tap_status status = tap_zip_member_open(npz->zip, index, error);
    if (status == TAP_OK)
        status = tap_zip_member_read(npz->zip, prefix, n_prefix, error);
    if (status == TAP_OK)
        status = tap_npy_header_bytes(prefix, n_prefix, where, &n_header, error);
    if (status != TAP_OK)
        return status;
    if (n_header > n_member || n_header < n_prefix)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: its .npy header is cut short", where);
    char *text = tap_mem_new(n_header, 1);
    if (text == NULL)
        return tap_error_memory(error, "an array's header");
    memcpy(text, prefix, n_prefix);
    size_t n_fixed = prefix[6] == 1 ? TAP_NPY_PREFIX_BYTES : TAP_NPY_LONG_PREFIX_BYTES;
    status = tap_zip_member_read(npz->zip, text + n_prefix, n_header - n_prefix, error);
    if (status == TAP_OK)
        status = tap_npy_parse(text + n_fixed, n_header - n_fixed, where, out_header, error);
    tap_mem_free(text);
    if (status != TAP_OK)
        return status;
    *out_n_data = n_member - n_header;
    if (out_header->item_bytes > 0 && out_header->n_items * out_header->item_bytes != *out_n_data)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: its shape needs %zu bytes, it has %llu", where,
                             out_header->n_items * out_header->item_bytes, (unsigned long long)*out_n_data);
    return TAP_OK;
}

enum tap_status tap_npz_array(struct tap_npz *npz, size_t index, struct tap_npy_header *out_header,
                              struct tap_error *error)
{
    uint64_t n_data;
    struct tap_npy_header header = {0};
    struct label label = label_of(npz, index);
    if (!tap_npz_is_array(npz, index))
        return tap_error_set(error, TAP_ERR_VALUE, "%s: is no array", label.text);
    enum tap_status status = read_header(npz, index, label.text, &header, &n_data, error);
    if (status == TAP_OK)
        *out_header = header;
    return status;
}

/* One number of the file, of 4 or 8 bytes in either order. */
static double decode(const unsigned char *bytes, size_t n, bool big_endian)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= (uint64_t)bytes[i] << 8 * (big_endian ? n - 1 - i : i);
    if (n == 4) {
        uint32_t half = (uint32_t)bits;
        float number;
        memcpy(&number, &half, sizeof number);
        return number;
    }
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static bool fits_real(double number)
{
#ifdef TAP_REAL_IS_DOUBLE
    (void)number;
    return true;
#else
    return !isfinite(number) || fabs(number) <= FLT_MAX;
#endif
}

/* Walks through an array in the order of the file and tells each number's place in C order. In Fortran order the first
 * dimension runs fastest, and a step along dimension d moves by the product of the dimensions after it. */
struct walk {
    const struct tap_npy_header *header;
    size_t place;
    size_t step[TAP_NPY_MAX_DIMS];
    size_t at[TAP_NPY_MAX_DIMS];
};

static void walk_start(struct walk *walk, const struct tap_npy_header *header)
{
    size_t step = 1;
    *walk = (struct walk){.header = header};
    for (size_t d = header->n_dims; d > 0; d--) {
        walk->step[d - 1] = step;
        step *= header->shape[d - 1];
    }
}

static void walk_on(struct walk *walk)
{
    if (!walk->header->fortran_order) {
        walk->place++;
        return;
    }
    for (size_t d = 0; d < walk->header->n_dims; d++) {
        walk->place += walk->step[d];
        if (++walk->at[d] < walk->header->shape[d])
            return;
        walk->place -= walk->step[d] * walk->header->shape[d];
        walk->at[d] = 0;
    }
}

/* Reads the numbers block by block and puts each in its place. */
static enum tap_status read_converted(struct tap_npz *npz, const struct tap_npy_header *header, const char *where,
                                      tap_real *out, struct tap_error *error)
{
    unsigned char block[BLOCK_BYTES];
    struct walk walk;
    walk_start(&walk, header);
    for (size_t n_left = header->n_items; n_left > 0;) {
        size_t n = BLOCK_BYTES / header->item_bytes;
        if (n > n_left)
            n = n_left;
        enum tap_status status = tap_zip_member_read(npz->zip, block, n * header->item_bytes, error);
        if (status != TAP_OK)
            return status;
        for (size_t i = 0; i < n; i++) {
            double number = decode(block + i * header->item_bytes, header->item_bytes, header->big_endian);
            if (!fits_real(number))
                return tap_error_set(error, TAP_ERR_VALUE, "%s: holds %g, which is too large for " TAP_REAL_NAME, where,
                                     number);
            out[walk.place] = (tap_real)number;
            walk_on(&walk);
        }
        n_left -= n;
    }
    return TAP_OK;
}

enum tap_status tap_npz_read_real(struct tap_npz *npz, size_t index, tap_real *out, size_t n_expected,
                                  struct tap_error *error)
{
    uint64_t n_data;
    struct tap_npy_header header = {0};
    struct label label = label_of(npz, index);
    if (!tap_npz_is_array(npz, index))
        return tap_error_set(error, TAP_ERR_VALUE, "%s: is no array", label.text);
    enum tap_status status = read_header(npz, index, label.text, &header, &n_data, error);
    if (status != TAP_OK)
        return status;
    if (header.item_bytes == 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: type %s; accepted: <f4 >f4 <f8 >f8 (float32, float64)",
                             label.text, header.dtype);
    if (header.n_items != n_expected)
        return tap_error_set(error, TAP_ERR_SHAPE, "%s: has %zu numbers; %zu are needed", label.text, header.n_items,
                             n_expected);
    if (header.item_bytes == sizeof *out && !header.big_endian && !header.fortran_order)
        status = tap_zip_member_read(npz->zip, out, (size_t)n_data, error);
    else
        status = read_converted(npz, &header, label.text, out, error);
    return status == TAP_OK ? tap_zip_member_finish(npz->zip, error) : status;
}
