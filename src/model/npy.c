/* npy.c: see npy.h. The parser takes what Python's literal syntax allows here: either quote, blanks, keys in any order,
 * a comma at the end, the suffix L of Python 2. */
#include "npy.h"
#include "mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

enum tap_status tap_npy_header_bytes(const unsigned char *prefix, size_t n_prefix, const char *where, size_t *out_n,
                                     struct tap_error *error)
{
    if (n_prefix < TAP_NPY_PREFIX_BYTES || memcmp(prefix, magic, sizeof magic) != 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: no .npy array: its first bytes are wrong", where);
    unsigned version = prefix[6];
    if (version < 1 || version > 3 || prefix[7] != 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: .npy version %u.%u; accepted: 1.0, 2.0, 3.0", where, version,
                             prefix[7]);
    size_t n_text = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    size_t n_fixed = TAP_NPY_PREFIX_BYTES;
    if (version > 1) {
        n_fixed = TAP_NPY_LONG_PREFIX_BYTES;
        if (n_prefix < n_fixed)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s: its .npy header is cut short", where);
        n_text |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    }
    if (n_text > TAP_NPY_MAX_HEADER_BYTES)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: a .npy header of %zu bytes; at most %zu are accepted", where,
                             n_text, TAP_NPY_MAX_HEADER_BYTES);
    *out_n = n_fixed + n_text;
    return TAP_OK;
}

/* --- parsing -------------------------------------------------------------------------------------------------------
 */

struct cursor {
    const char *at;
    const char *end;
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\n'))
        cursor->at++;
}

/* Takes one character, after blanks, if it is there. */
static bool take(struct cursor *cursor, char wanted)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != wanted)
        return false;
    cursor->at++;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->at) < n || memcmp(cursor->at, word, n) != 0)
        return false;
    cursor->at += n;
    return true;
}

/* A quoted text of fewer than n_out bytes, all of them printable and none escaped. */
static bool take_text(struct cursor *cursor, char *out, size_t n_out)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"'))
        return false;
    char quote = *cursor->at++;
    size_t n = 0;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        char c = *cursor->at++;
        if (n + 1 >= n_out || c < ' ' || c > '~' || c == '\\')
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return take(cursor, quote);
}

static bool take_size(struct cursor *cursor, size_t *out)
{
    size_t size = 0;
    skip_blanks(cursor);
    const char *first = cursor->at;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++)
        if (!tap_size_mul(size, 10, &size) || !tap_size_add(size, (size_t)(*cursor->at - '0'), &size))
            return false;
    if (cursor->at == first)
        return false;
    if (cursor->at < cursor->end && *cursor->at == 'L')
        cursor->at++;
    *out = size;
    return true;
}

static bool take_shape(struct cursor *cursor, struct tap_npy_header *header)
{
    bool comma = true; /* seen since the last dimension */
    if (!take(cursor, '('))
        return false;
    while (!take(cursor, ')')) {
        if (!comma || header->n_dims == TAP_NPY_MAX_DIMS || !take_size(cursor, &header->shape[header->n_dims]))
            return false;
        header->n_dims++;
        comma = take(cursor, ',');
    }
    return header->n_dims != 1 || comma; /* "(3)" is a number, "(3,)" a shape */
}

/* What a type's spelling means: byte order, kind, bytes. */
static void read_dtype(struct tap_npy_header *header)
{
    const char *type = header->dtype;
    char order = *type;
    if (order == '<' || order == '>' || order == '=')
        type++;
    header->big_endian = order == '>';
    if (strcmp(type, "f4") == 0)
        header->item_bytes = 4;
    else if (strcmp(type, "f8") == 0)
        header->item_bytes = 8;
}

static bool take_descr(struct cursor *cursor, struct tap_npy_header *header)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != '[') {
        if (!take_text(cursor, header->dtype, sizeof header->dtype))
            return false;
        read_dtype(header);
        return true;
    }
    /* A structured type: a list of fields, which is only walked past. */
    int depth = 0;
    char quote = '\0';
    for (; cursor->at < cursor->end; cursor->at++) {
        char c = *cursor->at;
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '[' || c == '(')
            depth++;
        else if ((c == ']' || c == ')') && --depth == 0)
            break;
    }
    snprintf(header->dtype, sizeof header->dtype, "structured");
    return take(cursor, ']');
}

static bool take_member(struct cursor *cursor, struct tap_npy_header *header, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[16];
    unsigned i = 0;
    if (!take_text(cursor, key, sizeof key) || !take(cursor, ':'))
        return false;
    while (i < 3 && strcmp(key, keys[i]) != 0)
        i++;
    if (i == 3 || (*seen & 1u << i) != 0)
        return false;
    *seen |= 1u << i;
    if (i == 0)
        return take_descr(cursor, header);
    if (i == 2)
        return take_shape(cursor, header);
    header->fortran_order = take_word(cursor, "True");
    return header->fortran_order || take_word(cursor, "False");
}

enum tap_status tap_npy_parse(const char *text, size_t n_bytes, const char *where, struct tap_npy_header *out_header,
                              struct tap_error *error)
{
    struct cursor cursor = {.at = text, .end = text + n_bytes};
    struct tap_npy_header header = {.n_items = 1};
    unsigned seen = 0;
    bool comma = true;
    bool is_right = take(&cursor, '{');
    while (is_right && !take(&cursor, '}')) {
        is_right = comma && take_member(&cursor, &header, &seen);
        comma = take(&cursor, ',');
    }
    skip_blanks(&cursor);
    if (!is_right || seen != 7 || cursor.at != cursor.end)
        return tap_error_set(error, TAP_ERR_FORMAT,
                             "%s: its .npy header is damaged; a dict of descr, fortran_order and shape is needed",
                             where);
    /* Beside a dimension of 0 the others must still have a product. */
    size_t product = 1;
    for (size_t i = 0; i < header.n_dims; i++) {
        if (!tap_size_mul(product, header.shape[i] > 0 ? header.shape[i] : 1, &product) || product > SIZE_MAX / 16)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s: the size of its shape overflows", where);
        header.n_items *= header.shape[i];
    }
    *out_header = header;
    return TAP_OK;
}

/* --- formatting ----------------------------------------------------------------------------------------------------
 */

size_t tap_npy_format(char *out, size_t n_bytes, const char *dtype, size_t n_dims, const size_t *shape)
{
    if (n_bytes < TAP_NPY_FORMAT_BYTES || n_dims > TAP_NPY_MAX_DIMS)
        return 0;
    size_t n = TAP_NPY_PREFIX_BYTES;
    n += (size_t)snprintf(out + n, n_bytes - n, "{'descr': '%.15s', 'fortran_order': False, 'shape': (", dtype);
    for (size_t i = 0; i < n_dims; i++)
        n += (size_t)snprintf(out + n, n_bytes - n, n_dims == 1 ? "%zu," : i + 1 < n_dims ? "%zu, " : "%zu", shape[i]);
    n += (size_t)snprintf(out + n, n_bytes - n, "), }");
    while ((n + 1) % 64 != 0)
        out[n++] = ' ';
    out[n++] = '\n';
    memcpy(out, magic, sizeof magic);
    out[6] = 1;
    out[7] = 0;
    out[8] = (char)((n - TAP_NPY_PREFIX_BYTES) & 0xff);
    out[9] = (char)((n - TAP_NPY_PREFIX_BYTES) >> 8);
    return n;
}
