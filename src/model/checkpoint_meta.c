/* checkpoint_meta.c: see checkpoint_meta.h. The members, in order: format, version, engine, kernel_family, threads,
 * step, epoch, position, loss_sum, loss_weight, best_metric and best_step (once there is a best), stale_evaluations,
 * config, labels, vocabulary, tokenizer (kind, lowercase, max_length, truncate, add_cls, n-grams), files. Reals have 17
 * digits: they come back to the last bit. */
#include "checkpoint_meta.h"

#include <string.h>

#include "config_number.h"
#include "config_use.h"
#include "gemm.h"
#include "json.h"
#include "mem.h"
#include "tokenizer.h"
#include "version.h"

static const char *const part_names[TAP_N_PARTS] = {"train", "valid", "test"};

/* --- writing -------------------------------------------------------------------------------------------------------
 */

static void write_value(struct tap_json *group, const struct tap_config *config, size_t key, struct tap_error *error)
{
    struct tap_config_text text = {0};
    const char *name = tap_config_key_name(key);
    tap_config_get_text(config, key, &text);
    if (text.out_of_memory) {
        tap_error_memory(error, "a config's text");
    } else {
        const char *value = text.bytes != NULL ? text.bytes : "";
        int integer = 0;
        double real = 0;
        switch (tap_config_key_kind(key)) {
        case TAP_CONFIG_KIND_INTEGER:
            tap_config_read_integer(value, text.n_bytes, &integer);
            tap_json_set_integer(group, name, integer, error);
            break;
        case TAP_CONFIG_KIND_REAL:
            tap_config_read_real(value, text.n_bytes, &real);
            tap_json_set_real(group, name, real, error);
            break;
        case TAP_CONFIG_KIND_FLAG:
            tap_json_set_flag(group, name, strcmp(value, "true") == 0, error);
            break;
        default:
            tap_json_set_text_n(group, name, value, text.n_bytes, error);
        }
    }
    tap_config_text_clear(&text);
}

static struct tap_json *write_config(const struct tap_config *config, struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    struct tap_json *group = NULL;
    for (size_t i = 0; i < tap_config_n_keys(); i++) {
        if (i == 0 || strcmp(tap_config_key_group(i), tap_config_key_group(i - 1)) != 0) {
            group = tap_json_new_object(error);
            tap_json_set(object, tap_config_key_group(i), group, error);
        }
        if (error->status == TAP_OK)
            write_value(group, config, i, error);
    }
    return object;
}

static struct tap_json *write_tokenizer(const struct tap_tokenizer *tokenizer, struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    tap_json_set_text(object, "kind", tap_tokenizer_kind_name(tokenizer), error);
    tap_json_set_flag(object, "lowercase", tokenizer->lowercase, error);
    tap_json_set_integer(object, "max_length", tokenizer->max_length, error);
    tap_json_set_text(object, "truncate", tap_tokenizer_truncate_name(tokenizer), error);
    tap_json_set_flag(object, "add_cls", tokenizer->add_cls, error);
    tap_json_set_integer(object, "char_ngrams", tokenizer->ngrams.character_buckets, error);
    tap_json_set_integer(object, "char_ngram_min", tokenizer->ngrams.shortest, error);
    tap_json_set_integer(object, "char_ngram_max", tokenizer->ngrams.longest, error);
    tap_json_set_integer(object, "bigrams", tokenizer->ngrams.bigram_buckets, error);
    return object;
}

static struct tap_json *write_files(const struct tap_data *data, struct tap_error *error)
{
    struct tap_json *object = tap_json_new_object(error);
    for (int part = 0; part < TAP_N_PARTS; part++) {
        const struct tap_fingerprint *file = &data->files[part];
        if (file->path == NULL)
            continue;
        struct tap_json *entry = tap_json_new_object(error);
        tap_json_set_text(entry, "path", file->path, error);
        tap_json_set_integer(entry, "bytes", (int64_t)file->n_bytes, error);
        tap_json_set_text(entry, "hash", file->hash, error);
        tap_json_set(object, part_names[part], entry, error);
    }
    return object;
}

static void write_progress(struct tap_json *meta, const struct tap_progress *progress, struct tap_error *error)
{
    tap_json_set_integer(meta, "step", progress->step, error);
    tap_json_set_integer(meta, "epoch", progress->epoch, error);
    tap_json_set_integer(meta, "position", progress->position, error);
    tap_json_set_real(meta, "loss_sum", progress->loss_sum, error);
    tap_json_set_real(meta, "loss_weight", progress->loss_weight, error);
    if (progress->has_best) {
        tap_json_set_real(meta, "best_metric", progress->best_metric, error);
        tap_json_set_integer(meta, "best_step", progress->best_step, error);
    }
    tap_json_set_integer(meta, "stale_evaluations", progress->stale_evaluations, error);
}

char *tap_checkpoint_meta_write(const struct tap_checkpoint_content *content, size_t *out_n_bytes,
                                struct tap_error *error)
{
    struct tap_json *meta = tap_json_new_object(error);
    struct tap_json *labels = tap_json_new_array(error);
    struct tap_json *vocabulary = tap_json_new_array(error);
    const struct tap_tokenizer *tokenizer = content->data->tokenizer;
    for (size_t i = 0; i < content->data->n_labels; i++)
        tap_json_append_text(labels, content->data->labels[i], error);
    for (uint32_t i = 0; i < tap_tokenizer_n_tokens(tokenizer); i++)
        tap_json_append_text(vocabulary, tap_tokenizer_token(tokenizer, i), error);
    tap_json_set_integer(meta, "format", TAP_CHECKPOINT_FORMAT, error);
    tap_json_set_text(meta, "version", TAP_VERSION, error);
    tap_json_set_text(meta, "engine", tap_gemm_engine(), error);
    tap_json_set_text(meta, "kernel_family", tap_gemm_kernel_family(), error);
    tap_json_set_integer(meta, "threads", content->threads, error);
    write_progress(meta, &content->progress, error);
    tap_json_set(meta, "config", write_config(content->config, error), error);
    tap_json_set(meta, "labels", labels, error);
    tap_json_set(meta, "vocabulary", vocabulary, error);
    tap_json_set(meta, "tokenizer", write_tokenizer(tokenizer, error), error);
    tap_json_set(meta, "files", write_files(content->data, error), error);
    char *text = error->status == TAP_OK ? tap_json_dump(meta, TAP_JSON_DIGITS_DOUBLE, out_n_bytes, error) : NULL;
    tap_json_free(meta);
    return text;
}

/* --- reading -------------------------------------------------------------------------------------------------------
 */

static void read_value(struct tap_checkpoint *checkpoint, const struct tap_json_place *group, size_t key,
                       struct tap_config_errors *errors)
{
    struct tap_config_text number = {0};
    const char *name = tap_config_key_name(key);
    const char *text = NULL;
    switch (tap_config_key_kind(key)) {
    case TAP_CONFIG_KIND_INTEGER:
        tap_config_text_add(&number, "%d", (int)tap_json_get_integer(group, name, INT32_MIN, INT32_MAX));
        text = number.bytes;
        break;
    case TAP_CONFIG_KIND_REAL:
        tap_config_write_real(tap_json_get_real(group, name), &number);
        text = number.bytes;
        break;
    case TAP_CONFIG_KIND_FLAG:
        text = tap_json_get_flag(group, name) ? "true" : "false";
        break;
    default:
        text = tap_json_get_text(group, name);
    }
    if (number.out_of_memory)
        tap_config_errors_memory(errors);
    else if (group->error->status == TAP_OK)
        tap_config_set_text(&checkpoint->config, tap_config_key_group(key), name, text, checkpoint->path, errors);
    tap_config_text_clear(&number);
}

/* A message of a part that does not know the file. */
static void set_named(struct tap_error *error, const char *path, const char *message)
{
    if (strstr(message, path) != NULL)
        tap_error_set(error, TAP_ERR_FORMAT, "%s", message);
    else
        tap_error_set(error, TAP_ERR_FORMAT, "%s: %s", path, message);
}

static enum tap_status read_config(struct tap_checkpoint *checkpoint, const struct tap_json_place *meta,
                                   struct tap_error *error)
{
    struct tap_config_errors errors = {0};
    struct tap_json_place config = tap_json_get_object(meta, "config");
    for (size_t i = 0; i < tap_config_n_keys() && error->status == TAP_OK; i++) {
        struct tap_json_place group = tap_json_get_object(&config, tap_config_key_group(i));
        /* a key that came with a later version of the program has its default in older files */
        if (error->status == TAP_OK && tap_json_has(&group, tap_config_key_name(i)))
            read_value(checkpoint, &group, i, &errors);
    }
    if (error->status == TAP_OK)
        tap_config_finish(&checkpoint->config, &errors);
    if (errors.out_of_memory)
        tap_error_memory(error, "a config");
    else if (tap_config_errors_count(&errors) > 0)
        set_named(error, checkpoint->path, tap_config_errors_get(&errors, 0));
    tap_config_errors_clear(&errors);
    return error->status;
}

static enum tap_status read_labels(struct tap_checkpoint *checkpoint, const struct tap_json_place *meta,
                                   struct tap_error *error)
{
    struct tap_json_place labels = tap_json_get_array(meta, "labels");
    size_t n = tap_json_length(&labels);
    if (error->status == TAP_OK && n < 1)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: no labels", checkpoint->path);
    for (size_t i = 0; i < n && error->status == TAP_OK; i++) {
        uint32_t number;
        const char *name = tap_json_as_text(tap_json_item(&labels, i));
        if (error->status == TAP_OK && !tap_string_table_add(&checkpoint->labels, name, strlen(name), &number))
            return tap_error_memory(error, "labels");
        if (error->status == TAP_OK && number != i)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s: label %s is there twice", checkpoint->path, name);
    }
    checkpoint->label_names = tap_mem_new(n, sizeof *checkpoint->label_names);
    if (checkpoint->label_names == NULL)
        return tap_error_memory(error, "labels");
    for (size_t i = 0; i < n && error->status == TAP_OK; i++)
        checkpoint->label_names[i] = tap_string_table_get(&checkpoint->labels, (uint32_t)i);
    return error->status;
}

static struct tap_ngram_options read_ngrams(const struct tap_json_place *rules)
{
    return (struct tap_ngram_options){
        .character_buckets = (uint32_t)tap_json_get_integer(rules, "char_ngrams", 0, INT32_MAX),
        .shortest = (uint32_t)tap_json_get_integer(rules, "char_ngram_min", 1, INT32_MAX),
        .longest = (uint32_t)tap_json_get_integer(rules, "char_ngram_max", 1, INT32_MAX),
        .bigram_buckets = (uint32_t)tap_json_get_integer(rules, "bigrams", 0, INT32_MAX),
    };
}

static enum tap_status read_tokenizer(struct tap_checkpoint *checkpoint, const struct tap_json_place *meta,
                                      struct tap_error *error)
{
    struct tap_json_place vocabulary = tap_json_get_array(meta, "vocabulary");
    struct tap_json_place rules = tap_json_get_object(meta, "tokenizer");
    size_t n = tap_json_length(&vocabulary);
    const char **tokens = tap_mem_new(n, sizeof *tokens);
    if (tokens == NULL)
        return tap_error_memory(error, "a vocabulary");
    for (size_t i = 0; i < n; i++)
        tokens[i] = tap_json_as_text(tap_json_item(&vocabulary, i));
    struct tap_data_options data = tap_config_data_options(&checkpoint->config);
    struct tap_tokenizer_options options = {
        .kind = tap_json_get_text(&rules, "kind"),
        .lowercase = tap_json_get_flag(&rules, "lowercase"),
        .max_length = (int)tap_json_get_integer(&rules, "max_length", 1, INT32_MAX),
        /* files of before there was a choice kept the head */
        .truncate = tap_json_has(&rules, "truncate") ? tap_json_get_text(&rules, "truncate") : "head",
        .add_cls = tap_json_get_flag(&rules, "add_cls"),
        .ngrams = data.ngrams, /* files of version 0.1 do not have them here, and their config has the defaults */
    };
    if (error->status == TAP_OK && tap_json_has(&rules, "char_ngrams"))
        options.ngrams = read_ngrams(&rules);
    if (error->status == TAP_OK &&
        (strcmp(options.kind, data.tokenizer) != 0 || options.lowercase != data.lowercase ||
         options.max_length != data.max_length || strcmp(options.truncate, data.truncate) != 0 ||
         options.add_cls != data.add_cls || memcmp(&options.ngrams, &data.ngrams, sizeof options.ngrams) != 0))
        tap_error_set(error, TAP_ERR_FORMAT, "%s: the tokenizer is not the one that its config describes",
                      checkpoint->path);
    if (error->status == TAP_OK) {
        struct tap_error own = {0};
        checkpoint->tokenizer = tap_tokenizer_from_parts(&options, tokens, n, &own);
        if (own.status == TAP_ERR_MEMORY)
            *error = own;
        else if (checkpoint->tokenizer == NULL)
            set_named(error, checkpoint->path, own.message);
    }
    tap_mem_free(tokens);
    return error->status;
}

static enum tap_status read_files(struct tap_checkpoint *checkpoint, const struct tap_json_place *meta,
                                  struct tap_error *error)
{
    struct tap_json_place files = tap_json_get_object(meta, "files");
    for (int part = 0; part < TAP_N_PARTS && error->status == TAP_OK; part++) {
        struct tap_fingerprint *file = &checkpoint->files[part];
        if (!tap_json_has(&files, part_names[part]))
            continue;
        struct tap_json_place entry = tap_json_get_object(&files, part_names[part]);
        const char *path = tap_json_get_text(&entry, "path");
        const char *hash = tap_json_get_text(&entry, "hash");
        file->n_bytes = (uint64_t)tap_json_get_integer(&entry, "bytes", 0, INT64_MAX);
        if (error->status == TAP_OK && strlen(hash) != sizeof file->hash - 1)
            return tap_error_set(error, TAP_ERR_FORMAT, "%s: files.%s.hash is damaged", checkpoint->path,
                                 part_names[part]);
        if (error->status != TAP_OK)
            break;
        memcpy(file->hash, hash, sizeof file->hash);
        file->path = tap_mem_copy_text(path, strlen(path));
        if (file->path == NULL)
            return tap_error_memory(error, "a path");
    }
    return error->status;
}

static void read_progress(struct tap_progress *progress, const struct tap_json_place *meta)
{
    progress->step = tap_json_get_integer(meta, "step", 0, INT64_MAX);
    progress->epoch = tap_json_get_integer(meta, "epoch", 0, INT64_MAX);
    progress->position = tap_json_get_integer(meta, "position", 0, UINT32_MAX);
    progress->loss_sum = tap_json_get_real(meta, "loss_sum");
    progress->loss_weight = tap_json_get_real(meta, "loss_weight");
    progress->has_best = tap_json_has(meta, "best_metric") || tap_json_has(meta, "best_step");
    if (progress->has_best) {
        progress->best_metric = tap_json_get_real(meta, "best_metric");
        progress->best_step = tap_json_get_integer(meta, "best_step", 0, progress->step);
    }
    progress->stale_evaluations = tap_json_get_integer(meta, "stale_evaluations", 0, INT64_MAX);
}

static enum tap_status read_all(struct tap_checkpoint *checkpoint, const struct tap_json_place *meta,
                                struct tap_error *error)
{
    int64_t format = tap_json_get_integer(meta, "format", 0, INT64_MAX);
    if (error->status == TAP_OK && format != TAP_CHECKPOINT_FORMAT)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: checkpoint format %lld; this program reads format %d",
                             checkpoint->path, (long long)format, TAP_CHECKPOINT_FORMAT);
    /* these three tell a person about the run; nothing here depends on them, but they must be there */
    tap_json_get_text(meta, "version");
    tap_json_get_text(meta, "engine");
    tap_json_get_integer(meta, "threads", 0, INT32_MAX);
    const char *family = tap_json_get_text(meta, "kernel_family");
    read_progress(&checkpoint->progress, meta);
    if (error->status != TAP_OK)
        return error->status;
    if (checkpoint->progress.loss_weight < 0)
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: loss_weight is below 0", checkpoint->path);
    if ((checkpoint->progress.epoch == 0) != (checkpoint->progress.step == 0) ||
        (checkpoint->progress.epoch == 0 && checkpoint->progress.position != 0))
        return tap_error_set(error, TAP_ERR_FORMAT, "%s: step %lld cannot be at position %lld of epoch %lld",
                             checkpoint->path, (long long)checkpoint->progress.step,
                             (long long)checkpoint->progress.position, (long long)checkpoint->progress.epoch);
    checkpoint->kernel_family = tap_mem_copy_text(family, strlen(family));
    if (checkpoint->kernel_family == NULL)
        return tap_error_memory(error, "a checkpoint");
    if (read_config(checkpoint, meta, error) != TAP_OK || read_labels(checkpoint, meta, error) != TAP_OK ||
        read_tokenizer(checkpoint, meta, error) != TAP_OK)
        return error->status;
    return read_files(checkpoint, meta, error);
}

enum tap_status tap_checkpoint_meta_read(struct tap_checkpoint *checkpoint, const char *bytes, size_t n_bytes,
                                         struct tap_error *error)
{
    struct tap_json *value = tap_json_parse(bytes, n_bytes, checkpoint->path, error);
    struct tap_json_place meta = tap_json_root(value, checkpoint->path, error);
    if (value != NULL)
        read_all(checkpoint, &meta, error);
    tap_json_free(value);
    return error->status;
}
