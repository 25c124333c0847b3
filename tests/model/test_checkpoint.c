/* test_checkpoint.c: a checkpoint gives back what was saved, and one that is wrong in any place is refused by name. */
#include "checkpoint.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config_use.h"
#include "gemm.h"
#include "json.h"
#include "mem.h"
#include "scratch_folder.h"
#include "zip_build.h"

#define META_BYTES 65536

/* A small run at step 7. */
static struct tap_config config;
static struct tap_data *data;
static struct tap_model *model;
static struct tap_optimizer *optimizer;
static struct tap_checkpoint_content content;
static struct tap_error error;
static char original[4096]; /* its file */

static void start(void)
{
    struct tap_config_errors errors = {0};
    const char *text = "model: {d_model: 4, heads: 2, layers: 1, d_ff: 3}\ndata: {task: order, max_length: 30}\n"
                       "task: {rows: 20}\noptim: {lr: 0.1}\n";
    cr_assert_eq(tap_gemm_start(&error), TAP_OK);
    cr_assert(tap_config_init(&config, &error));
    cr_assert(tap_config_read_text(&config, "test.cfg", text, strlen(text), &errors));
    cr_assert(tap_config_finish(&config, &errors));
    struct tap_data_options data_options = tap_config_data_options(&config);
    data = tap_data_open(&data_options, NULL, NULL, 0, &error);
    cr_assert_not_null(data, "%s", error.message);
    struct tap_model_options model_options =
        tap_config_model_options(&config, tap_tokenizer_n_tokens(data->tokenizer), data->n_labels);
    model = tap_model_new(&model_options, &error);
    cr_assert_not_null(model, "%s", error.message);
    tap_parameters_initialize(&model->parameters, 3);
    struct tap_optimizer_options options = tap_config_optimizer_options(&config);
    optimizer = tap_optimizer_new(tap_config_optimizer(&config), &options, &model->parameters, &error);
    cr_assert_not_null(optimizer, "%s", error.message);
    for (int step = 0; step < 7; step++) {
        for (size_t p = 0; p < model->parameters.n; p++)
            for (size_t i = 0; i < model->parameters.items[p]->tensor.size; i++)
                model->parameters.items[p]->tensor.grad[i] = (tap_real)((double)(i % 5) - 1.7) / (tap_real)(step + 3);
        cr_assert_eq(tap_optimizer_step(optimizer, 0.1, 1), TAP_OK);
    }
    content = (struct tap_checkpoint_content){
        .config = &config,
        .model = model,
        .optimizer = optimizer,
        .data = data,
        .progress = {.step = 7,
                     .epoch = 2,
                     .position = 5,
                     .loss_sum = 0.1 + 0.2,
                     .loss_weight = 17,
                     .has_best = true,
                     .best_metric = 1.0 / 3,
                     .best_step = 4,
                     .stale_evaluations = 2},
        .threads = 3,
    };
    snprintf(original, sizeof original, "%s", scratch_path("original.npz"));
    cr_assert_eq(tap_checkpoint_save(original, &content, 0, &error), TAP_OK, "%s", error.message);
}

static void end(void)
{
    tap_optimizer_free(optimizer);
    tap_model_free(model);
    tap_data_free(data);
    tap_config_clear(&config);
    scratch_remove();
}

TestSuite(checkpoint, .init = start, .fini = end);

/* --- what was saved comes back -------------------------------------------------------------------------------------
 */

static struct tap_checkpoint *open_whole(const char *path)
{
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(path, &error);
    cr_assert_not_null(checkpoint, "%s", error.message);
    return checkpoint;
}

Test(checkpoint, progress_config_labels_and_vocabulary_come_back)
{
    struct tap_checkpoint *checkpoint = open_whole(original);
    const struct tap_progress *progress = &checkpoint->progress;
    cr_assert(progress->step == 7 && progress->epoch == 2 && progress->position == 5);
    cr_assert_eq(progress->loss_sum, 0.1 + 0.2);
    cr_assert_eq(progress->loss_weight, 17);
    cr_assert(progress->has_best && progress->best_metric == 1.0 / 3 && progress->best_step == 4);
    cr_assert_eq(progress->stale_evaluations, 2);
    cr_assert_str_eq(checkpoint->path, original);
    cr_assert_str_eq(checkpoint->kernel_family, tap_gemm_kernel_family());
    cr_assert_eq(checkpoint->labels.n, data->n_labels);
    for (size_t i = 0; i < data->n_labels; i++)
        cr_assert_str_eq(checkpoint->label_names[i], data->labels[i]);
    cr_assert_eq(tap_tokenizer_n_tokens(checkpoint->tokenizer), tap_tokenizer_n_tokens(data->tokenizer));
    for (uint32_t i = 0; i < tap_tokenizer_n_tokens(data->tokenizer); i++)
        cr_assert_str_eq(tap_tokenizer_token(checkpoint->tokenizer, i), tap_tokenizer_token(data->tokenizer, i));
    struct tap_config_text then = {0};
    struct tap_config_text now = {0};
    tap_config_write(&config, &then);
    tap_config_write(&checkpoint->config, &now);
    cr_assert_str_eq(then.bytes, now.bytes);
    tap_config_text_clear(&then);
    tap_config_text_clear(&now);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, parameters_and_states_come_back_to_the_bit)
{
    struct tap_checkpoint *checkpoint = open_whole(original);
    struct tap_model *copy = tap_checkpoint_model(checkpoint, &error);
    cr_assert_not_null(copy, "%s", error.message);
    size_t n_bytes = model->parameters.block_size * sizeof(tap_real);
    cr_assert_eq(memcmp(copy->parameters.data, model->parameters.data, n_bytes), 0);
    struct tap_optimizer_options options = tap_config_optimizer_options(&config);
    struct tap_optimizer *other = tap_optimizer_new(tap_config_optimizer(&config), &options, &copy->parameters, &error);
    cr_assert_eq(tap_checkpoint_read_optimizer(checkpoint, &copy->parameters, other, &error), TAP_OK, "%s",
                 error.message);
    cr_assert_eq(tap_optimizer_steps(other), 7);
    for (size_t s = 0; s < tap_optimizer_n_states(optimizer); s++)
        cr_assert_eq(memcmp(tap_optimizer_state_block(other, s), tap_optimizer_state_block(optimizer, s), n_bytes), 0);
    tap_optimizer_free(other);
    tap_model_free(copy);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, equal_content_gives_equal_bytes)
{
    size_t n_a, n_b;
    const char *path = scratch_path("again.npz");
    cr_assert_eq(tap_checkpoint_save(path, &content, 0, &error), TAP_OK);
    char *a = scratch_read(original, &n_a);
    char *b = scratch_read(path, &n_b);
    cr_assert(n_a == n_b && memcmp(a, b, n_a) == 0);
    tap_mem_free(a);
    tap_mem_free(b);
}

Test(checkpoint, without_optimizer_or_best_it_is_whole_too)
{
    const char *path = scratch_path("bare.npz");
    content.optimizer = NULL;
    content.progress = (struct tap_progress){0};
    cr_assert_eq(tap_checkpoint_save(path, &content, 6, &error), TAP_OK);
    struct tap_checkpoint *checkpoint = open_whole(path);
    cr_assert_not(checkpoint->progress.has_best);
    cr_assert_eq(tap_checkpoint_read_optimizer(checkpoint, &model->parameters, optimizer, &error), TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(error.message, "optim/exp_avg/embedding.weight"), "%s", error.message);
    cr_assert_eq(tap_optimizer_steps(optimizer), 7);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, numbers_that_are_not_finite_are_never_saved)
{
    const char *path = scratch_path("bad.npz");
    tap_real *places[] = {model->parameters.items[2]->tensor.data,
                          tap_optimizer_state_block(optimizer, 1) + model->parameters.items[1]->offset};
    const tap_real values[] = {(tap_real)NAN, (tap_real)INFINITY};
    for (size_t i = 0; i < 4; i++) {
        tap_real kept = *places[i / 2];
        *places[i / 2] = values[i % 2];
        tap_error_clear(&error);
        cr_assert_eq(tap_checkpoint_save(path, &content, 0, &error), TAP_ERR_NONFINITE);
        cr_assert_not_null(strstr(error.message, model->parameters.items[i < 2 ? 2 : 1]->name), "%s", error.message);
        *places[i / 2] = kept;
    }
    cr_assert_eq(scratch_n_files(), 1);
}

Test(checkpoint, a_place_that_cannot_be_written_is_named)
{
    cr_assert_eq(tap_checkpoint_save("/nowhere/x.npz", &content, 0, &error), TAP_ERR_IO);
    cr_assert_not_null(strstr(error.message, "/nowhere/x.npz"), "%s", error.message);
}

/* --- wrong descriptions --------------------------------------------------------------------------------------------
 */

/* Writes a copy of the original with another meta.json (NULL: none), and without the array `leave_out`. */
static const char *write_copy(const char *meta, const char *leave_out)
{
    const char *path = scratch_path("copy.npz");
    struct tap_error own = {0};
    struct tap_npz *npz = tap_npz_open(original, true, &own);
    struct tap_npz_writer *writer = tap_npz_create(path, 0, &own);
    cr_assert(npz != NULL && writer != NULL, "%s", own.message);
    for (size_t i = 0; i < tap_npz_n_members(npz); i++) {
        static tap_real numbers[4096];
        struct tap_npy_header header;
        size_t n = 1;
        if (!tap_npz_is_array(npz, i) || (leave_out != NULL && strcmp(tap_npz_name(npz, i), leave_out) == 0))
            continue;
        cr_assert_eq(tap_npz_array(npz, i, &header, &own), TAP_OK);
        for (size_t d = 0; d < header.n_dims; d++)
            n *= header.shape[d];
        cr_assert(n <= 4096 && tap_npz_read_real(npz, i, numbers, n, &own) == TAP_OK);
        tap_npz_add_real(writer, tap_npz_name(npz, i), header.n_dims, header.shape, numbers);
    }
    if (meta != NULL)
        tap_npz_add_bytes(writer, "meta.json", meta, strlen(meta));
    cr_assert_eq(tap_npz_commit(writer, &own), TAP_OK, "%s", own.message);
    tap_npz_close(npz);
    return path;
}

/* Asserts that this description is refused with one line that names the file and holds `text`. */
static void expect_refused(const char *meta, const char *text)
{
    struct tap_error own = {0};
    const char *path = write_copy(meta, NULL);
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(path, &own);
    cr_assert_null(checkpoint, "accepted: %.300s ... %s", meta, meta + (strlen(meta) > 900 ? strlen(meta) - 900 : 0));
    cr_assert(own.status == TAP_ERR_FORMAT || own.status == TAP_ERR_VALUE, "%s", own.message);
    cr_assert_not_null(strstr(own.message, path), "%s", own.message);
    cr_assert_not_null(strstr(own.message, text), "\"%s\" is not in: %s", text, own.message);
    cr_assert_null(strchr(own.message, '\n'));
}

static void read_meta(char meta[META_BYTES])
{
    char *bytes = NULL;
    size_t n = 0;
    struct tap_npz *npz = tap_npz_open(original, true, &error);
    cr_assert_eq(tap_npz_read_bytes(npz, "meta.json", &bytes, &n, META_BYTES - 1, &error), TAP_OK, "%s", error.message);
    memcpy(meta, bytes, n + 1);
    tap_mem_free(bytes);
    tap_npz_close(npz);
}

/* The end of the JSON value at `at`. */
static const char *end_of_value(const char *at)
{
    int depth = 0;
    bool in_text = false;
    for (;; at++) {
        if (in_text) {
            at += *at == '\\';
            in_text = *at != '"';
        } else if (*at == '"') {
            in_text = true;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']')) {
            return at;
        } else if (*at == '}' || *at == ']') {
            depth--;
        }
    }
}

/* `meta` with the value behind the first `"key":` after `group` (may be "") replaced; NULL: the member taken out. */
static const char *with_value(const char *meta, const char *group, const char *key, const char *value)
{
    static char out[META_BYTES * 2];
    char quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *from = strstr(meta, group);
    cr_assert_not_null(from);
    const char *member = strstr(from, quoted);
    cr_assert_not_null(member, "%s", key);
    const char *start_of_value = member + strlen(quoted);
    const char *after = end_of_value(start_of_value);
    if (value != NULL)
        snprintf(out, sizeof out, "%.*s%s%s", (int)(start_of_value - meta), meta, value, after);
    else if (*after == ',')
        snprintf(out, sizeof out, "%.*s%s", (int)(member - meta), meta, after + 1);
    else
        snprintf(out, sizeof out, "%.*s%s", (int)(member - 1 - meta), meta, after);
    return out;
}

static bool opens(const char *meta)
{
    struct tap_error own = {0};
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(write_copy(meta, NULL), &own);
    tap_checkpoint_close(checkpoint);
    return checkpoint != NULL;
}

Test(checkpoint, each_field_is_needed_and_of_its_type)
{
    static const struct {
        const char *group, *key;
        const char *accepted; /* of the values below, those that are right, between blanks */
    } fields[] = {
        {"", "format", ""},
        {"", "version", " \"x\" "},
        {"", "engine", " \"x\" "},
        {"", "kernel_family", " \"x\" "},
        {"", "threads", " 3 "},
        {"", "step", ""},
        {"", "epoch", " 3 "},
        {"", "position", " 3 "},
        {"", "loss_sum", " -7 3 0.5 "},
        {"", "loss_weight", " 3 0.5 "},
        {"", "best_metric", " -7 3 0.5 "},
        {"", "best_step", " 3 "},
        {"", "stale_evaluations", " 3 "},
        {"", "config", ""},
        {"", "labels", ""},
        {"", "vocabulary", ""},
        {"\"vocabulary\":", "tokenizer", ""},
        {"", "files", " {} "},
        {"\"tokenizer\":{", "kind", ""},
        {"\"tokenizer\":{", "lowercase", " true "},
        {"\"tokenizer\":{", "max_length", ""},
        {"\"tokenizer\":{", "add_cls", ""},
    };
    static const char *const values[] = {"null", "true", "\"x\"", "[]", "{}", "-7", "3", "0.5", "99999999999999999999"};
    static char meta[META_BYTES];
    read_meta(meta);
    cr_assert(opens(meta));
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        const char *key = fields[f].key;
        expect_refused(with_value(meta, fields[f].group, key, NULL), strcmp(key, "step") == 0 ? "" : key);
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char word[64];
            const char *changed = with_value(meta, fields[f].group, key, values[v]);
            snprintf(word, sizeof word, " %s ", values[v]);
            if (strstr(fields[f].accepted, word) == NULL && !(strcmp(key, "step") == 0 && strcmp(values[v], "3") == 0))
                expect_refused(changed, "");
            else
                cr_assert(opens(changed) == (strcmp(key, "step") != 0), "%s: %s", key, values[v]);
        }
    }
}

Test(checkpoint, each_key_of_the_config_is_read)
{
    static char meta[META_BYTES];
    read_meta(meta);
    for (size_t i = 0; i < tap_config_n_keys(); i++) {
        char group[64];
        snprintf(group, sizeof group, "\"%s\":{", tap_config_key_group(i));
        expect_refused(with_value(meta, group, tap_config_key_name(i), "{}"), tap_config_key_name(i));
        expect_refused(with_value(meta, group, tap_config_key_name(i), "null"), tap_config_key_name(i));
    }
    expect_refused(with_value(meta, "\"model\":{", "heads", "3"), "heads");
    expect_refused(with_value(meta, "\"model\":{", "activation", "\"tanh\""), "activation");
    expect_refused(with_value(meta, "\"optim\":{", "lr", "-1"), "optim.lr");
    static const char *const groups[] = {"model", "data", "train", "optim", "checkpoint"};
    for (size_t i = 0; i < 5; i++) /* train is also the name of a file, which stands before it */
        expect_refused(with_value(meta, i == 2 ? "\"train\":{" : "\"config\":", groups[i], NULL), groups[i]);
}

Test(checkpoint, fields_that_contradict_one_another_are_refused)
{
    static char meta[META_BYTES];
    read_meta(meta);
    expect_refused(with_value(meta, "", "best_step", "8"), "best_step");
    expect_refused(with_value(meta, "", "epoch", "0"), "epoch");
    expect_refused(with_value(meta, "", "step", "0"), "");
    expect_refused(with_value(meta, "", "position", "4294967296"), "position");
    expect_refused(with_value(meta, "", "labels", "[\"a\",\"a\"]"), "twice");
    expect_refused(with_value(meta, "", "labels", "[\"a\",1]"), "labels");
    expect_refused(with_value(meta, "", "vocabulary", "[\"[UNK]\",\"a\",\"a\"]"), "");
    expect_refused(with_value(meta, "", "vocabulary", "[\"a\",\"b\"]"), "");
    expect_refused(with_value(meta, "", "vocabulary", "[\"[UNK]\",\"\"]"), "");
    expect_refused(with_value(meta, "", "vocabulary", "[\"[UNK]\",7]"), "vocabulary");
    expect_refused(with_value(meta, "\"tokenizer\":{", "lowercase", "false"), "tokenizer");
    expect_refused(with_value(meta, "\"tokenizer\":{", "max_length", "31"), "tokenizer");
    expect_refused(with_value(meta, "", "files", "{\"train\":{\"path\":\"x\",\"bytes\":1}}"), "hash");
    expect_refused(with_value(meta, "", "files", "{\"train\":{\"path\":\"x\",\"bytes\":1,\"hash\":\"ab\"}}"), "hash");
    expect_refused(with_value(meta, "", "files", "{\"train\":7}"), "train");
}

Test(checkpoint, a_later_format_is_refused_by_its_number)
{
    static char meta[META_BYTES];
    read_meta(meta);
    expect_refused(with_value(meta, "", "format", "2"), "checkpoint format 2");
    expect_refused(with_value(meta, "", "format", "0"), "checkpoint format 0");
    /* whatever else it holds */
    expect_refused("{\"format\":12,\"something\":\"new\"}", "checkpoint format 12");
}

Test(checkpoint, a_description_that_is_no_json_object_is_refused)
{
    static char meta[META_BYTES];
    static char longer[META_BYTES + 2];
    read_meta(meta);
    snprintf(longer, sizeof longer, "%s}", meta);
    expect_refused(longer, "");
    snprintf(longer, sizeof longer, "%.*s", (int)strlen(meta) - 1, meta);
    expect_refused(longer, "");
    expect_refused("", "");
    expect_refused("[]", "");
    expect_refused("null", "");
    expect_refused("{}", "format");
    expect_refused("{\"format\":1,\"format\":1}", "format");
    expect_refused(NULL, "meta.json");
}

/* --- arrays --------------------------------------------------------------------------------------------------------
 */

Test(checkpoint, each_array_is_needed)
{
    static char meta[META_BYTES];
    read_meta(meta);
    for (size_t p = 0; p < model->parameters.n; p++) {
        const char *name = model->parameters.items[p]->name;
        struct tap_error own = {0};
        struct tap_checkpoint *checkpoint = open_whole(write_copy(meta, name));
        cr_assert_null(tap_checkpoint_model(checkpoint, &own));
        cr_assert(own.status == TAP_ERR_FORMAT && strstr(own.message, name) != NULL, "%s", own.message);
        tap_checkpoint_close(checkpoint);
        for (size_t s = 0; s < tap_optimizer_n_states(optimizer); s++) {
            char state[200];
            snprintf(state, sizeof state, "optim/%s/%s", tap_optimizer_state_name(optimizer, s), name);
            tap_error_clear(&own);
            checkpoint = open_whole(write_copy(meta, state));
            cr_assert_eq(tap_checkpoint_read_optimizer(checkpoint, &model->parameters, optimizer, &own),
                         TAP_ERR_FORMAT);
            cr_assert_not_null(strstr(own.message, state), "%s", own.message);
            tap_checkpoint_close(checkpoint);
        }
    }
}

Test(checkpoint, a_model_of_another_shape_is_not_partly_loaded)
{
    struct tap_checkpoint *checkpoint = open_whole(original);
    struct tap_model_options options = model->options;
    options.classes = 3; /* the last tensors differ, the first ones fit */
    struct tap_model *other = tap_model_new(&options, &error);
    cr_assert_not_null(other, "%s", error.message);
    cr_assert_eq(tap_parameters_read(&other->parameters, checkpoint->npz, checkpoint->path, false, NULL, &error),
                 TAP_ERR_SHAPE);
    cr_assert_not_null(strstr(error.message, "classifier.weight has shape (2, 4); the model needs (3, 4)"), "%s",
                       error.message);
    for (size_t i = 0; i < other->parameters.block_size; i++)
        cr_assert_eq(other->parameters.data[i], 0);
    tap_model_free(other);
    tap_checkpoint_close(checkpoint);
}

Test(checkpoint, numbers_that_are_not_finite_are_not_read)
{
    model->parameters.items[0]->tensor.data[1] = (tap_real)INFINITY;
    const char *path = scratch_path("inf.npz");
    struct tap_npz_writer *writer = tap_npz_create(path, 0, &error);
    for (size_t p = 0; p < model->parameters.n; p++)
        tap_npz_add_real(writer, model->parameters.items[p]->name, (size_t)model->parameters.items[p]->tensor.n_dims,
                         model->parameters.items[p]->tensor.shape, model->parameters.items[p]->tensor.data);
    cr_assert_eq(tap_npz_commit(writer, &error), TAP_OK);
    cr_assert_eq(tap_parameters_read_file(&model->parameters, path, false, NULL, &error), TAP_ERR_NONFINITE);
    cr_assert_not_null(strstr(error.message, model->parameters.items[0]->name), "%s", error.message);
}

/* --- files of numpy.savez ------------------------------------------------------------------------------------------
 */

/* Adds an array of float64 in Fortran order, whose number i of the C order is value + i / 8. */
static void add_foreign(struct zip_build *zip, const struct tap_parameter *parameter, double value)
{
    static unsigned char bytes[32768];
    static double numbers[2048];
    char name[128], text[200];
    const struct tap_tensor *tensor = &parameter->tensor;
    size_t n_rows = tensor->n_dims == 2 ? tensor->shape[0] : 1;
    size_t n_columns = tensor->size / n_rows;
    const struct zip_options options = {.zip64_local = true, .deflated = true};
    for (size_t r = 0; r < n_rows; r++)
        for (size_t c = 0; c < n_columns; c++)
            numbers[c * n_rows + r] = value + (double)(r * n_columns + c) / 8;
    if (tensor->n_dims == 2)
        snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': True, 'shape': (%zu, %zu), }", n_rows,
                 n_columns);
    else
        snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': True, 'shape': (%zu,), }", n_columns);
    snprintf(name, sizeof name, "%s.npy", parameter->name);
    zip_build_add(zip, name, bytes, npy_build(bytes, 1, text, numbers, tensor->size * sizeof(double)), &options);
}

Test(checkpoint, init_takes_a_file_of_numpy)
{
    static struct zip_build zip;
    const struct tap_parameters *parameters = &model->parameters;
    for (size_t p = parameters->n; p-- > 0;) /* in another order */
        add_foreign(&zip, parameters->items[p], (double)p);
    zip_build_end(&zip, NULL, false);
    const char *path = scratch_path("numpy.npz");
    scratch_write(path, zip.bytes, zip.n);
    size_t n_missing = 99;
    cr_assert_eq(tap_parameters_read_file(&model->parameters, path, false, &n_missing, &error), TAP_OK, "%s",
                 error.message);
    cr_assert_eq(n_missing, 0);
    for (size_t p = 0; p < parameters->n; p++)
        for (size_t i = 0; i < parameters->items[p]->tensor.size; i++)
            cr_assert_eq(parameters->items[p]->tensor.data[i], (tap_real)((double)p + (double)i / 8));
    /* but it is no checkpoint */
    cr_assert_null(tap_checkpoint_open(path, &error));
    cr_assert_eq(error.status, TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(error.message, path));
}

Test(checkpoint, partial_init_leaves_what_the_file_lacks)
{
    static struct zip_build zip;
    struct tap_parameter *first = model->parameters.items[0];
    tap_real kept = model->parameters.items[1]->tensor.data[0];
    add_foreign(&zip, first, 5);
    zip_build_end(&zip, NULL, false);
    const char *path = scratch_path("part.npz");
    scratch_write(path, zip.bytes, zip.n);
    size_t n_missing = 0;
    cr_assert_eq(tap_parameters_read_file(&model->parameters, path, false, NULL, &error), TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(error.message, model->parameters.items[1]->name), "%s", error.message);
    cr_assert_neq(first->tensor.data[0], 5);
    tap_error_clear(&error);
    cr_assert_eq(tap_parameters_read_file(&model->parameters, path, true, &n_missing, &error), TAP_OK, "%s",
                 error.message);
    cr_assert_eq(n_missing, model->parameters.n - 1);
    cr_assert_eq(first->tensor.data[0], 5);
    cr_assert_eq(model->parameters.items[1]->tensor.data[0], kept);
}

/* --- data files ----------------------------------------------------------------------------------------------------
 */

Test(checkpoint, changed_and_exchanged_data_files_are_refused)
{
    struct tap_checkpoint *checkpoint = open_whole(original);
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, data, &error), TAP_OK);
    struct tap_data other = *data;
    other.files[TAP_PART_VALID] = (struct tap_fingerprint){.path = (char *)"valid.tsv", .n_bytes = 3};
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &error), TAP_ERR_FORMAT);
    checkpoint->files[TAP_PART_VALID] = other.files[TAP_PART_VALID];
    tap_error_clear(&error);
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &error), TAP_OK);
    checkpoint->files[TAP_PART_VALID].n_bytes = 4;
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &error), TAP_ERR_VALUE);
    cr_assert_not_null(strstr(error.message, "valid.tsv: the file has changed"));
    checkpoint->files[TAP_PART_VALID] = other.files[TAP_PART_VALID];
    checkpoint->files[TAP_PART_VALID].hash[0] = 'x';
    tap_error_clear(&error);
    cr_assert_eq(tap_checkpoint_check_files(checkpoint, &other, &error), TAP_ERR_VALUE);
    checkpoint->files[TAP_PART_VALID] = (struct tap_fingerprint){0};
    tap_checkpoint_close(checkpoint);
}

/* --- memory --------------------------------------------------------------------------------------------------------
 */

/* Opens, builds the model, reads the optimizer; the status. */
static enum tap_status load(struct tap_error *own)
{
    struct tap_checkpoint *checkpoint = tap_checkpoint_open(original, own);
    struct tap_model *copy = checkpoint == NULL ? NULL : tap_checkpoint_model(checkpoint, own);
    if (copy != NULL)
        tap_checkpoint_read_optimizer(checkpoint, &copy->parameters, optimizer, own);
    tap_model_free(copy);
    tap_checkpoint_close(checkpoint);
    return own->status;
}

static enum tap_status save(struct tap_error *own)
{
    return tap_checkpoint_save(scratch_path("saved.npz"), &content, 0, own);
}

static void fail_every_allocation(enum tap_status (*work)(struct tap_error *own), bool persistent, size_t n_files)
{
    enum tap_status status = TAP_ERR_MEMORY;
    uint64_t n = 0;
    while (status != TAP_OK) {
        struct tap_error own = {0};
        tap_mem_fail_at(++n, persistent);
        status = work(&own);
        tap_mem_fail_at(0, false);
        cr_assert(status == TAP_OK || status == TAP_ERR_MEMORY, "allocation %d: %s", (int)n, own.message);
        cr_assert(status == TAP_OK || scratch_n_files() == n_files, "allocation %d", (int)n);
        cr_assert(n < 100000);
    }
    cr_assert(n > 10);
}

Test(checkpoint, any_allocation_may_fail_in_loading)
{
    fail_every_allocation(load, false, 1);
    fail_every_allocation(load, true, 1);
}

Test(checkpoint, any_allocation_may_fail_in_saving)
{
    fail_every_allocation(save, false, 1);
    remove(scratch_path("saved.npz"));
    fail_every_allocation(save, true, 1);
}
