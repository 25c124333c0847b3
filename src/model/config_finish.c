/* config_finish.c: what can be done only once all is read. A check that looks at several keys is left out when one of
 * them was refused by itself: its field then holds another value than the user gave. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "config_place.h"
#include "config_value.h"
#include "mem.h"

static bool is_given(const struct tap_config *config, const char *group, const char *key)
{
    return config->origins[tap_config_key_index(group, key)].source != NULL;
}

static bool is_invalid(const struct tap_config *config, const char *group, const char *key)
{
    return config->origins[tap_config_key_index(group, key)].is_invalid;
}

/* Where a key was given; for a default, the config file as a whole. */
static struct tap_config_place place_of(const struct tap_config *config, const char *group, const char *key)
{
    const struct tap_config_origin *origin = &config->origins[tap_config_key_index(group, key)];
    if (origin->source == NULL)
        return (struct tap_config_place){config->file, 0};
    return (struct tap_config_place){origin->source, origin->line};
}

/* Gives the keys that follow another one, and were not set themselves, its value. */
static void follow(struct tap_config *config)
{
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        const struct tap_config_key *key = &tap_config_keys[i];
        if (key->follows == NULL || config->origins[i].source != NULL)
            continue;
        const double *followed = tap_config_field_const(config, tap_config_key_index(key->group, key->follows));
        union tap_config_field value = {.real = *followed};
        tap_config_value_put(key, tap_config_field(config, i), &value);
    }
}

/* The current folder; the caller frees it. NULL and errno set on failure; no memory is ENOMEM. */
static char *current_folder(void)
{
    char *folder = NULL;
    for (size_t n_bytes = 256;; n_bytes *= 2) {
        char *grown = tap_mem_resize(folder, n_bytes, 1);
        if (grown == NULL) {
            tap_mem_free(folder);
            errno = ENOMEM;
            return NULL;
        }
        folder = grown;
        if (getcwd(folder, n_bytes) != NULL)
            return folder;
        if (errno != ERANGE) {
            int problem = errno;
            tap_mem_free(folder);
            errno = problem;
            return NULL;
        }
    }
}

/* Takes "." parts and doubled slashes out of an absolute path, in place. ".." stays: what it means depends on links. */
static void simplify(char *path)
{
    size_t n_kept = 0;
    for (const char *part = path; *part != '\0';) {
        part += strspn(part, "/");
        size_t n_bytes = strcspn(part, "/");
        bool is_dot = n_bytes == 1 && part[0] == '.';
        if (n_bytes > 0 && !is_dot) {
            path[n_kept++] = '/';
            memmove(path + n_kept, part, n_bytes);
            n_kept += n_bytes;
        }
        part += n_bytes;
    }
    if (n_kept == 0)
        path[n_kept++] = '/';
    path[n_kept] = '\0';
}

/* Makes the path in *field absolute. Returns 0, or an errno: ENOMEM, EILSEQ when the folder's name is not UTF-8, ... */
static int make_absolute(char **field)
{
    struct tap_config_text joined = {0};
    if ((*field)[0] != '/') {
        char *folder = current_folder();
        if (folder == NULL)
            return errno;
        tap_config_text_add(&joined, "%s/", folder);
        tap_mem_free(folder);
    }
    tap_config_text_add(&joined, "%s", *field);
    if (joined.out_of_memory || !tap_config_is_utf8(joined.bytes, joined.n_bytes)) {
        int problem = joined.out_of_memory ? ENOMEM : EILSEQ;
        tap_config_text_clear(&joined);
        return problem;
    }
    simplify(joined.bytes);
    tap_mem_free(*field);
    *field = joined.bytes;
    return 0;
}

static void make_paths_absolute(struct tap_config *config, struct tap_config_errors *errors)
{
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++) {
        const struct tap_config_key *key = &tap_config_keys[i];
        if (key->kind != TAP_CONFIG_KIND_TEXT || key->use != TAP_CONFIG_USE_PATH)
            continue;
        char **field = tap_config_field(config, i);
        if ((*field)[0] == '\0' || strcmp(*field, "-") == 0)
            continue;
        int problem = make_absolute(field);
        if (problem == ENOMEM)
            tap_config_errors_memory(errors);
        else if (problem != 0)
            tap_config_refuse(errors, place_of(config, key->group, key->name), key->group, key->name,
                              "no absolute path for '%s', since the current folder is not known: %s; accepted: an "
                              "absolute path",
                              *field, problem == EILSEQ ? "its name is not UTF-8" : strerror(problem));
    }
}

enum { MOST_DIVISORS = 32 };

/* Appends the numbers that divide n, in order; of very many, the first. Those above the root are n / those below. */
static void list_divisors(int n, struct tap_config_text *out)
{
    int n_listed = 0;
    int64_t d = 1;
    for (; d * d <= n && n_listed < MOST_DIVISORS; d++)
        if (n % d == 0)
            tap_config_text_add(out, "%s%d", n_listed++ > 0 ? ", " : "", (int)d);
    for (d--; d >= 1 && n_listed < MOST_DIVISORS; d--)
        if (n % d == 0 && d * d != n)
            tap_config_text_add(out, "%s%d", n_listed++ > 0 ? ", " : "", (int)(n / d));
    tap_config_text_add(out, "%s", d >= 1 ? ", ..." : "");
}

/* heads must divide d_model, unless heads have a width of their own. */
static void check_heads(const struct tap_config *config, struct tap_config_errors *errors)
{
    const struct tap_config_model *model = &config->model;
    if (is_invalid(config, "model", "d_model") || is_invalid(config, "model", "heads") ||
        is_invalid(config, "model", "d_head") || model->d_head > 0 || model->d_model % model->heads == 0)
        return;
    struct tap_config_text divisors = {0};
    list_divisors(model->d_model, &divisors);
    const char *key = is_given(config, "model", "heads") ? "heads" : "d_model";
    if (divisors.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse(errors, place_of(config, "model", key), "model", key,
                          "d_model %d is not divisible by heads %d; accepted for this d_model: heads %s",
                          model->d_model, model->heads, divisors.bytes);
    tap_config_text_clear(&divisors);
}

/* Without projections the heads' columns are the model's own. */
static void check_projections(const struct tap_config *config, struct tap_config_errors *errors)
{
    const struct tap_config_model *model = &config->model;
    if (is_invalid(config, "model", "d_model") || is_invalid(config, "model", "heads") ||
        is_invalid(config, "model", "d_head") || model->project_qkv || model->d_head == 0 ||
        (int64_t)model->heads * model->d_head == model->d_model)
        return;
    tap_config_refuse(
        errors, place_of(config, "model", "d_head"), "model", "d_head",
        "with model.project_qkv false, %d heads of width %d do not make d_model %d; accepted: 0 (d_model / heads)",
        model->heads, model->d_head, model->d_model);
}

/* Data come from a built-in task or from files, and files begin with one to train on. */
static void check_source(const struct tap_config *config, struct tap_config_errors *errors)
{
    static const char *const files[] = {"train", "valid", "test"};
    const struct tap_config_data *data = &config->data;
    const char *const paths[] = {data->train, data->valid, data->test};
    if (is_invalid(config, "data", "task") || is_invalid(config, "data", "train"))
        return;
    bool has_task = data->task[0] != '\0', has_train = data->train[0] != '\0';
    const char *file = NULL;
    for (size_t i = 0; i < 3 && file == NULL; i++)
        if (paths[i][0] != '\0')
            file = files[i];
    if (has_task && file != NULL) {
        struct tap_config_text task = {0};
        tap_config_quote(data->task, strlen(data->task), &task);
        if (task.out_of_memory)
            tap_config_errors_memory(errors);
        else
            tap_config_refuse(errors, place_of(config, "data", file), "data", file,
                              "files and the built-in task %s at once; accepted: data.task, or data.train, not both",
                              task.bytes);
        tap_config_text_clear(&task);
    } else if (!has_task && !has_train && file != NULL) {
        tap_config_refuse(errors, place_of(config, "data", file), "data", file,
                          "a file to train on is missing; accepted: data.train as well");
    } else if (!has_task && !has_train && !config->may_lack_data) {
        tap_config_refuse(errors, place_of(config, "data", "task"), "data", "task",
                          "no data; accepted: data.task, a built-in task's name, or data.train, a file");
    }
}

/* The fractions that are used, those whose file is not given, must leave something to train on. */
static void check_fractions(const struct tap_config *config, struct tap_config_errors *errors)
{
    const struct tap_config_data *data = &config->data;
    if (is_invalid(config, "data", "valid_fraction") || is_invalid(config, "data", "test_fraction") ||
        data->valid[0] != '\0' || data->test[0] != '\0' || data->valid_fraction + data->test_fraction < 1.0)
        return;
    const char *key = is_given(config, "data", "test_fraction") ? "test_fraction" : "valid_fraction";
    struct tap_config_text valid = {0}, test = {0};
    size_t i_valid = tap_config_key_index("data", "valid_fraction");
    size_t i_test = tap_config_key_index("data", "test_fraction");
    tap_config_get_text(config, i_valid, &valid);
    tap_config_get_text(config, i_test, &test);
    if (valid.out_of_memory || test.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse(errors, place_of(config, "data", key), "data", key,
                          "valid_fraction %s and test_fraction %s leave nothing to train on; accepted: a sum below 1",
                          valid.bytes, test.bytes);
    tap_config_text_clear(&valid);
    tap_config_text_clear(&test);
}

/* From 1 on, warmup counts steps. */
static void check_warmup(const struct tap_config *config, struct tap_config_errors *errors)
{
    double warmup = config->optim.warmup;
    if (is_invalid(config, "optim", "warmup") || warmup < 1.0 || warmup == floor(warmup))
        return;
    struct tap_config_text text = {0};
    tap_config_get_text(config, tap_config_key_index("optim", "warmup"), &text);
    if (text.out_of_memory)
        tap_config_errors_memory(errors);
    else
        tap_config_refuse(errors, place_of(config, "optim", "warmup"), "optim", "warmup",
                          "'%s' is no whole number of steps; accepted: a fraction below 1, or whole steps", text.bytes);
    tap_config_text_clear(&text);
}

/* Only where there are character n-grams: a default may then be beyond the other key. */
static void check_ngrams(const struct tap_config *config, struct tap_config_errors *errors)
{
    const struct tap_config_data *data = &config->data;
    if (is_invalid(config, "data", "char_ngrams") || is_invalid(config, "data", "char_ngram_min") ||
        is_invalid(config, "data", "char_ngram_max") || data->char_ngrams == 0 ||
        data->char_ngram_min <= data->char_ngram_max)
        return;
    const char *key = is_given(config, "data", "char_ngram_min") ? "char_ngram_min" : "char_ngram_max";
    tap_config_refuse(errors, place_of(config, "data", key), "data", key,
                      "char_ngram_min %d is above char_ngram_max %d; accepted: min at most max", data->char_ngram_min,
                      data->char_ngram_max);
}

bool tap_config_finish(struct tap_config *config, struct tap_config_errors *errors)
{
    size_t n_before = errors->n_added;
    if (config->is_unreadable)
        return false;
    follow(config);
    make_paths_absolute(config, errors);
    check_heads(config, errors);
    check_projections(config, errors);
    check_source(config, errors);
    check_fractions(config, errors);
    check_warmup(config, errors);
    check_ngrams(config, errors);
    return errors->n_added == n_before;
}
