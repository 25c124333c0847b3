/* config_table.c: see config_table.h. Everything here is expanded from config.def. */
#include "config_table.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

/* Each list of choices as an array that its enum's tag names: words_of_tap_config_activation[]. */
enum { NOW = true, LATER = false };
#define CONFIG_CHOICES(tag) static const struct tap_config_choice words_of_##tag[] = {
#define CONFIG_CHOICE(enumerator, word, when) {word, enumerator, when},
#define CONFIG_CHOICES_END(tag)                                                                                        \
    {                                                                                                                  \
        NULL, 0, false                                                                                                 \
    }                                                                                                                  \
    }                                                                                                                  \
    ;
#include "config.def"

enum { ANY = false, DEFAULT_ONLY = true };
enum { FIXED = false, MAY_CHANGE = true };
#define AT_LEAST(a)                                                                                                    \
    {                                                                                                                  \
        (a), DBL_MAX, false, false                                                                                     \
    }
#define ABOVE(a)                                                                                                       \
    {                                                                                                                  \
        (a), DBL_MAX, true, false                                                                                      \
    }
#define FROM_TO(a, b)                                                                                                  \
    {                                                                                                                  \
        (a), (b), false, false                                                                                         \
    }
#define FROM_BELOW(a, b)                                                                                               \
    {                                                                                                                  \
        (a), (b), false, true                                                                                          \
    }
#define KEY(group_, key_, kind_, initial_, resume_, about_)                                                            \
    .group = #group_, .name = #key_, .kind = (kind_), .offset = offsetof(struct tap_config, group_.key_),              \
    .initial = (initial_), .may_change = (resume_), .about = (about_)

const struct tap_config_key tap_config_keys[TAP_CONFIG_N_KEYS] = {
#define CONFIG_INTEGER(group, key, initial, limits, support, resume, about)                                            \
    {KEY(group, key, TAP_CONFIG_KIND_INTEGER, initial, resume, about), .range = limits, .only_default = (support)},
#define CONFIG_REAL(group, key, initial, limits, support, resume, about)                                               \
    {KEY(group, key, TAP_CONFIG_KIND_REAL, initial, resume, about), .range = limits, .only_default = (support)},
#define CONFIG_FOLLOWER(group, key, followed, limits, support, resume, about)                                          \
    {KEY(group, key, TAP_CONFIG_KIND_REAL, NULL, resume, about), .follows = (followed), .range = limits,               \
     .only_default = (support)},
#define CONFIG_FLAG(group, key, initial, support, resume, about)                                                       \
    {KEY(group, key, TAP_CONFIG_KIND_FLAG, initial, resume, about), .only_default = (support)},
#define CONFIG_CHOOSE(group, key, tag, initial, resume, about)                                                         \
    {KEY(group, key, TAP_CONFIG_KIND_CHOICE, initial, resume, about), .choices = words_of_##tag},
#define CONFIG_TEXT(group, key, initial, role, resume, about)                                                          \
    {KEY(group, key, TAP_CONFIG_KIND_TEXT, initial, resume, about), .use = TAP_CONFIG_USE_##role},
#define CONFIG_TEXTS(group, key, initial, support, resume, about)                                                      \
    {KEY(group, key, TAP_CONFIG_KIND_TEXTS, initial, resume, about), .only_default = (support)},
#define CONFIG_WEIGHTS(group, key, tag, initial, resume, about)                                                        \
    {KEY(group, key, TAP_CONFIG_KIND_WEIGHTS, initial, resume, about), .choices = words_of_##tag},
#include "config.def"
};

/* Counts the keys: place_of_optim_lr is the number of that key, first_of_optim that of the group's first one,
 * end_of_optim that of the first one after it. The other two names only set the count back by the one that those have
 * used up. */
enum place {
#define CONFIG_GROUP(tag, group, about) first_of_##group, before_##group = first_of_##group - 1,
#define CONFIG_INTEGER(group, key, initial, limits, support, resume, about) place_of_##group##_##key,
#define CONFIG_REAL(group, key, initial, limits, support, resume, about) place_of_##group##_##key,
#define CONFIG_FOLLOWER(group, key, followed, limits, support, resume, about) place_of_##group##_##key,
#define CONFIG_FLAG(group, key, initial, support, resume, about) place_of_##group##_##key,
#define CONFIG_CHOOSE(group, key, tag, initial, resume, about) place_of_##group##_##key,
#define CONFIG_TEXT(group, key, initial, role, resume, about) place_of_##group##_##key,
#define CONFIG_TEXTS(group, key, initial, support, resume, about) place_of_##group##_##key,
#define CONFIG_WEIGHTS(group, key, tag, initial, resume, about) place_of_##group##_##key,
#define CONFIG_GROUP_END(group) end_of_##group, last_of_##group = end_of_##group - 1,
#include "config.def"
};

const struct tap_config_group tap_config_groups[TAP_CONFIG_N_GROUPS] = {
#define CONFIG_GROUP(tag, group_, about_)                                                                              \
    {.name = #group_, .about = (about_), .first_key = first_of_##group_, .n_keys = end_of_##group_ - first_of_##group_},
#include "config.def"
};
_Static_assert(sizeof(enum tap_config_activation) == sizeof(int), "a choice is read and written as an int");

size_t tap_config_find_group(const char *group)
{
    for (size_t i = 0; i < TAP_CONFIG_N_GROUPS; i++)
        if (strcmp(tap_config_groups[i].name, group) == 0)
            return i;
    return SIZE_MAX;
}

size_t tap_config_find_key(size_t group, const char *key)
{
    const struct tap_config_group *g = &tap_config_groups[group];
    for (size_t i = g->first_key; i < g->first_key + g->n_keys; i++)
        if (strcmp(tap_config_keys[i].name, key) == 0)
            return i;
    return SIZE_MAX;
}

size_t tap_config_key_index(const char *group, const char *key)
{
    size_t i = tap_config_find_group(group);
    size_t index = i == SIZE_MAX ? SIZE_MAX : tap_config_find_key(i, key);
    TAP_CHECK(index != SIZE_MAX);
    return index;
}

enum { NAME_BYTES = 64 }; /* more of a name is not compared: a hostile one costs nothing */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: d[i][j] = edits from the first i bytes of a to the first j of b, three rows kept. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n_a = strnlen(a, NAME_BYTES), n_b = strnlen(b, NAME_BYTES);
    size_t rows[3][NAME_BYTES + 1];
    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[n_a % 3][n_b];
}

size_t tap_config_nearest_group(const char *group)
{
    size_t best = 0, best_distance = SIZE_MAX;
    for (size_t i = 0; i < TAP_CONFIG_N_GROUPS; i++) {
        size_t distance = edit_distance(group, tap_config_groups[i].name);
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

size_t tap_config_nearest_key(size_t group, const char *key)
{
    const struct tap_config_group *g = &tap_config_groups[group];
    size_t best = g->first_key, best_distance = SIZE_MAX;
    for (size_t i = g->first_key; i < g->first_key + g->n_keys; i++) {
        size_t distance = edit_distance(key, tap_config_keys[i].name);
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

bool tap_config_groups_of_key(const char *key, struct tap_config_text *out)
{
    bool found = false;
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++)
        if (strcmp(tap_config_keys[i].name, key) == 0) {
            tap_config_text_add(out, "%s%s.%s", found ? ", " : "", tap_config_keys[i].group, key);
            found = true;
        }
    return found;
}

void *tap_config_field(struct tap_config *config, size_t i)
{
    return (char *)config + tap_config_keys[i].offset;
}

const void *tap_config_field_const(const struct tap_config *config, size_t i)
{
    return (const char *)config + tap_config_keys[i].offset;
}

size_t tap_config_n_keys(void)
{
    return TAP_CONFIG_N_KEYS;
}

const char *tap_config_key_group(size_t i)
{
    return tap_config_keys[i].group;
}

const char *tap_config_key_name(size_t i)
{
    return tap_config_keys[i].name;
}

enum tap_config_kind tap_config_key_kind(size_t i)
{
    return tap_config_keys[i].kind;
}
