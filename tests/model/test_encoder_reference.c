/* test_encoder_reference.c: the reader of the reference values and the formula of their initial parameters. */
#include "encoder_reference.h"
#include "mem.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SMALL_WIDTH 8 /* of the encoder without layers that is computed here by hand */

static struct encoder_references *open_references(void)
{
    struct tap_error error = {0};
    struct encoder_references *references = encoder_references_new(ENCODER_REFERENCE_PATH, &error);
    cr_assert_not_null(references, "%s", error.message);
    return references;
}

static const struct encoder_reference *find_case(const struct encoder_references *references, const char *name)
{
    for (size_t i = 0; i < references->n; i++) {
        if (strcmp(references->cases[i].name, name) == 0)
            return &references->cases[i];
    }
    cr_assert_fail("no case %s", name);
    return NULL;
}

/* Writes `text`, with its checksum when wanted, to a new file whose name is left in `path`. */
static void write_file(char path[32], const char *text, size_t n_bytes, bool with_checksum)
{
    snprintf(path, 32, "/tmp/encoder-reference-XXXXXX");
    int descriptor = mkstemp(path);
    cr_assert_geq(descriptor, 0);
    FILE *file = fdopen(descriptor, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(text, 1, n_bytes, file), n_bytes);
    if (with_checksum)
        fprintf(file, "checksum %016" PRIx64 "\n", reference_hash(REFERENCE_HASH_START, text, n_bytes));
    cr_assert_eq(fclose(file), 0);
}

static void assert_refused(const char *text, size_t n_bytes, bool with_checksum, const char *message)
{
    char path[32];
    struct tap_error error = {0};
    write_file(path, text, n_bytes, with_checksum);
    struct encoder_references *references = encoder_references_new(path, &error);
    remove(path);
    cr_assert_null(references, "taken although it should say: %s", message);
    cr_assert_eq(error.status, TAP_ERR_FORMAT);
    cr_assert_not_null(strstr(error.message, message), "says: %s; expected: %s", error.message, message);
    cr_assert_not_null(strstr(error.message, path));
}

/* One case as short as can be; its lines are counted from 1. */
#define HEAD "encoders 1\n"
#define CASE_KEYS                                                                                                      \
    "case name=a seed=1 d_model=1 heads=1 layers=0 d_ff=1 activation=relu norm_position=post norm_eps=1e-5 "           \
    "positions=none pooling=mean causal=false embedding_scale=none label_smoothing=0 vocab=3 classes=2 "
#define CASE CASE_KEYS "max_length=2 class_weights=0.5,2\n"
#define BATCH "tokens 2 2 0\noffsets 2 0 2\nlabels 1 1\n"
#define VALUES "logits 2 0.25 -1.5\nloss 1 0.75\n"
#define ARRAYS "gradient classifier.bias 2 1 -1\nend\n"

Test(encoder_reference, file_holds_what_its_maker_counted)
{
    struct encoder_references *references = open_references();
    size_t n_with_steps = 0, n_arrays = 0;
    for (size_t i = 0; i < references->n; i++) {
        n_with_steps += references->cases[i].has_steps;
        n_arrays += references->cases[i].n_arrays;
        cr_assert_geq(references->cases[i].n_arrays, 3);
    }
    cr_assert_eq(references->n, 59);
    cr_assert_eq(n_with_steps, 53);
    cr_assert_eq(n_arrays, 4415);
    encoder_references_free(references);
}

Test(encoder_reference, every_gradient_has_its_parameter_after_ten_steps)
{
    static const enum reference_section sections[] = {REFERENCE_SGD, REFERENCE_ADAM, REFERENCE_ADAMW};
    struct encoder_references *references = open_references();
    for (size_t i = 0; i < references->n; i++) {
        const struct encoder_reference *reference = &references->cases[i];
        for (size_t j = 0; j < reference->n_arrays; j++) {
            const struct reference_array *gradient = &reference->arrays[j];
            for (int k = 0; k < 3 && gradient->section == REFERENCE_GRADIENT; k++) {
                size_t n = gradient->n;
                const double *values = encoder_reference_find(reference, sections[k], gradient->name, &n);
                cr_assert_eq(values != NULL, reference->has_steps, "%s %s", reference->name, gradient->name);
                cr_assert_eq(n, gradient->n);
            }
        }
        for (int k = 0; k < 3 && reference->has_steps; k++) {
            size_t n = 0;
            const double *losses = encoder_reference_find(reference, sections[k], "loss", &n);
            cr_assert_eq(n, REFERENCE_STEPS);
            cr_assert_float_eq(losses[0], reference->loss, 1e-13);
            cr_assert_lt(losses[REFERENCE_STEPS - 1], losses[0]);
        }
    }
    encoder_references_free(references);
}

Test(encoder_reference, shapes_follow_from_the_configuration)
{
    struct encoder_references *references = open_references();
    for (size_t i = 0; i < references->n; i++) {
        const struct encoder_reference *reference = &references->cases[i];
        size_t n = 0;
        cr_assert_not_null(encoder_reference_find(reference, REFERENCE_GRADIENT, "embedding.weight", &n));
        cr_assert_eq(n, reference->vocab * reference->d_model);
        cr_assert_not_null(encoder_reference_find(reference, REFERENCE_GRADIENT, "classifier.weight", &n));
        size_t n_pools = strcmp(reference->pooling, "mean_max") == 0 ? 2 : 1;
        cr_assert_eq(n, reference->classes * reference->d_model * n_pools);
        bool is_learned = strcmp(reference->positions, "learned") == 0;
        n = 0;
        encoder_reference_find(reference, REFERENCE_GRADIENT, "position.weight", &n);
        cr_assert_eq(n, is_learned ? reference->max_length * reference->d_model : 0);
        n = 0;
        encoder_reference_find(reference, REFERENCE_GRADIENT, "encoder.layers.0.linear1.weight", &n);
        cr_assert_eq(n, reference->layers > 0 ? reference->d_ff * reference->d_model : 0);
        bool is_pre_norm = strcmp(reference->norm_position, "pre") == 0;
        bool has_norm = encoder_reference_find(reference, REFERENCE_GRADIENT, "encoder.norm.bias", NULL) != NULL;
        cr_assert_eq(has_norm, is_pre_norm);
        cr_assert_eq(reference->d_model % reference->heads, 0);
        cr_assert(reference->n_class_weights == 0 || reference->n_class_weights == reference->classes);
    }
    encoder_references_free(references);
}

Test(encoder_reference, one_case_reads_as_it_was_made)
{
    struct encoder_references *references = open_references();
    const struct encoder_reference *reference = find_case(references, "learned_positions");
    cr_assert_eq(reference->seed, 32);
    cr_assert_eq(reference->d_model, 8);
    cr_assert_eq(reference->heads, 2);
    cr_assert_eq(reference->d_ff, 8);
    cr_assert_eq(reference->max_length, 7);
    cr_assert_str_eq(reference->pooling, "cls");
    cr_assert_str_eq(reference->activation, "relu");
    cr_assert_eq(reference->norm_eps, 1e-5);
    cr_assert_eq(reference->n_sequences, 3);
    cr_assert_eq(reference->offsets[2], 8);
    cr_assert_not(reference->causal);
    cr_assert_null(reference->class_weights);

    reference = find_case(references, "smoothing_and_weights");
    cr_assert_eq(reference->label_smoothing, 0.25);
    cr_assert_eq(reference->n_class_weights, 2);
    cr_assert_eq(reference->class_weights[0], 3.0);
    cr_assert_eq(reference->class_weights[1], 0.25);
    cr_assert(find_case(references, "causal_max")->causal);
    encoder_references_free(references);
}

Test(encoder_reference, values_do_not_depend_on_the_locale)
{
    struct encoder_references *references = open_references();
    double loss = references->cases[0].loss;
    encoder_references_free(references);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        cr_skip_test("no locale with a decimal comma here");
    references = open_references();
    cr_assert_eq(references->cases[0].loss, loss);
    encoder_references_free(references);
}

Test(encoder_reference, streams_are_those_of_the_maker)
{
    const uint32_t right[] = {59293, 18550, 19797, 2844};
    uint32_t numbers[4];
    reference_stream(7, "embedding.weight", 4, numbers);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(numbers[i], right[i]);

    struct encoder_references *references = open_references();
    for (size_t i = 0; i < references->n; i++) {
        const struct encoder_reference *reference = &references->cases[i];
        uint32_t drawn[64];
        cr_assert_leq(reference->n_tokens, 64);
        reference_stream(reference->seed, "tokens", reference->n_tokens, drawn);
        for (size_t j = 0; j < reference->n_tokens; j++)
            cr_assert_eq(reference->tokens[j], drawn[j] % reference->vocab);
        reference_stream(reference->seed, "labels", reference->n_sequences, drawn);
        for (size_t j = 0; j < reference->n_sequences; j++)
            cr_assert_eq(reference->labels[j], drawn[j] % reference->classes);
    }
    encoder_references_free(references);
}

Test(encoder_reference, initial_parameters_are_those_of_the_maker)
{
    const struct encoder_reference reference = {.seed = 7};
    double values[3];
    reference_fill(&reference, "embedding.weight", 3, values);
    cr_assert_eq(values[0], 0.6071090698242188);
    cr_assert_eq(values[2], -0.29688262939453125);
    reference_fill(&reference, "encoder.layers.0.norm1.weight", 3, values);
    cr_assert_eq(values[0], 0.9034614562988281);
    cr_assert_eq(values[2], 1.1026382446289062);
    reference_fill(&reference, "encoder.norm.bias", 2, values);
    cr_assert_eq(values[1], 0.579620361328125);
}

Test(encoder_reference, initial_parameters_are_exact_in_float)
{
    const struct encoder_reference reference = {.seed = 1};
    double values[1000];
    reference_fill(&reference, "classifier.weight", 1000, values);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq((double)(float)values[i], values[i]);
    reference_fill(&reference, "encoder.norm.weight", 1000, values);
    for (int i = 0; i < 1000; i++)
        cr_assert(values[i] >= 0.875 && values[i] < 1.125 && (double)(float)values[i] == values[i]);
}

/* The logits of the encoder without layers, by plain loops: parameters, tokens and layouts fit the stored values. */
Test(encoder_reference, logits_without_layers_follow_by_hand)
{
    struct encoder_references *references = open_references();
    const struct encoder_reference *reference = find_case(references, "depth_0");
    double embedding[7 * SMALL_WIDTH], weight[3 * SMALL_WIDTH], bias[3];
    cr_assert(reference->vocab == 7 && reference->classes == 3 && reference->d_model == SMALL_WIDTH);
    reference_fill(reference, "embedding.weight", 7 * SMALL_WIDTH, embedding);
    reference_fill(reference, "classifier.weight", 3 * SMALL_WIDTH, weight);
    reference_fill(reference, "classifier.bias", 3, bias);
    for (size_t s = 0; s < reference->n_sequences; s++) {
        double pooled[SMALL_WIDTH] = {0};
        size_t first = reference->offsets[s], length = reference->offsets[s + 1] - first;
        for (size_t p = 0; p < length; p++) {
            for (size_t j = 0; j < SMALL_WIDTH; j++) {
                double angle = (double)p / pow(10000.0, (double)(j - j % 2) / SMALL_WIDTH);
                pooled[j] += embedding[reference->tokens[first + p] * SMALL_WIDTH + j];
                pooled[j] += j % 2 ? cos(angle) : sin(angle);
            }
        }
        for (size_t c = 0; c < 3; c++) {
            double logit = bias[c];
            for (size_t j = 0; j < SMALL_WIDTH; j++)
                logit += weight[c * SMALL_WIDTH + j] * pooled[j] / (double)length;
            cr_assert_float_eq(logit, reference->logits[s * 3 + c], 1e-13); /* a few roundings of numbers near 1 */
        }
    }
    encoder_references_free(references);
}

Test(encoder_reference, shortest_text_is_read)
{
    static const char text[] = "# a comment\n" HEAD CASE BATCH VALUES ARRAYS;
    char path[32];
    struct tap_error error = {0};
    write_file(path, text, sizeof text - 1, true);
    struct encoder_references *references = encoder_references_new(path, &error);
    remove(path);
    cr_assert_not_null(references, "%s", error.message);
    const struct encoder_reference *reference = references->cases;
    size_t n = 0;
    const double *gradient = encoder_reference_find(reference, REFERENCE_GRADIENT, "classifier.bias", &n);
    cr_assert(references->n == 1 && n == 2 && gradient[0] == 1 && gradient[1] == -1);
    cr_assert(reference->loss == 0.75 && reference->logits[1] == -1.5 && reference->tokens[0] == 2);
    cr_assert_null(encoder_reference_find(reference, REFERENCE_SGD, "classifier.bias", &n));
    cr_assert_not(reference->has_steps);
    encoder_references_free(references);
}

Test(encoder_reference, changed_or_cut_file_is_refused)
{
    static const char text[] = HEAD CASE BATCH VALUES ARRAYS;
    char whole[sizeof text + 32];
    int n_bytes = snprintf(whole, sizeof whole, "%schecksum %016" PRIx64 "\n", text,
                           reference_hash(REFERENCE_HASH_START, text, sizeof text - 1));
    for (size_t i = 0; i < (size_t)n_bytes; i++) {
        if (i % 7 == 0 || i + 40 > (size_t)n_bytes)
            assert_refused(whole, i, false, "changed or cut off");
        whole[i] ^= 1;
        if (i % 7 == 0 || i + 40 > (size_t)n_bytes)
            assert_refused(whole, (size_t)n_bytes, false, "changed or cut off");
        whole[i] ^= 1;
    }
}

Test(encoder_reference, wrong_text_is_refused_with_its_line)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", ":0: another line was expected: encoders"},
        {"encoder 1\n", ":1: another line was expected: encoders"},
        {"encoders\n", ":1: not a whole number below 2^32: "},
        {"encoders -1\n", ":1: not a whole number below 2^32: -1"},
        {"encoders 4294967296\n", ":1: not a whole number"},
        {"encoders 1 2\n", ":1: more on the line"},
        {"encoders 2\n" CASE BATCH VALUES ARRAYS, ":9: a line `case` was expected"},
        {HEAD CASE BATCH VALUES ARRAYS "end\n", ":10: more than the cases counted"},
        {HEAD CASE BATCH VALUES, ":7: a line `end` was expected"},
        {HEAD CASE_KEYS "max_length=2\n" BATCH VALUES ARRAYS, ":2: a key is missing in the case: a"},
        {HEAD CASE_KEYS "max_length=2 class_weights=none vocab=3\n", ":2: a key given twice: vocab"},
        {HEAD CASE_KEYS "max_length=2 class_weights=none width=3\n", ":2: not a key=value that is known: width"},
        {HEAD CASE_KEYS "max_length\n", ":2: not a key=value that is known: max_length"},
        {HEAD CASE_KEYS "max_length=2.5\n", ":2: not a whole number below 2^32: 2.5"},
        {HEAD CASE_KEYS "class_weights=1,,2\n", ":2: not a number: "},
        {HEAD "case causal=yes\n", ":2: neither true nor false: yes"},
        {HEAD "case norm_eps=small\n", ":2: not a number: small"},
        {HEAD "case pooling=\n", ":2: a key without a value"},
        {HEAD CASE "tokens 2 2 3\n", ":3: a token outside the vocabulary"},
        {HEAD CASE "tokens 3 2 0\n", ":3: not a whole number"},
        {HEAD CASE "tokens 1 2 0\n", ":3: more on the line than its count says: 0"},
        {HEAD CASE "tokens 2 2 0\noffsets 0\n", ":4: offsets do not ascend"},
        {HEAD CASE "tokens 2 2 0\noffsets 2 1 2\n", ":4: offsets do not ascend"},
        {HEAD CASE "tokens 2 2 0\noffsets 2 0 1\n", ":4: offsets do not ascend"},
        {HEAD CASE "tokens 2 2 0\noffsets 4 0 2 1 2\n", ":4: offsets do not ascend"},
        {HEAD CASE "tokens 2 2 0\noffsets 2 0 2\nlabels 1 2\n", ":5: not one label"},
        {HEAD CASE "tokens 2 2 0\noffsets 2 0 2\nlabels 2 0 1\n", ":5: not one label"},
        {HEAD CASE BATCH "loss 1 1\n", ":6: another line was expected: logits"},
        {HEAD CASE BATCH "logits 1 0.5\n", ":6: not one logit a sequence and class"},
        {HEAD CASE BATCH "logits 2 0.5 0,5\n", ":6: not a number: 0,5"},
        {HEAD CASE BATCH "logits 2 1 2\nloss 2 1 2\n", ":7: not one loss"},
        {HEAD CASE BATCH VALUES "gradients a 1 1\n", ":8: not a line that is known: gradients"},
        {HEAD CASE BATCH VALUES "gradient a 2 1\n", ":8: not a number: "},
        {HEAD CASE BATCH VALUES "gradient a\n", ":8: not a whole number"},
        {HEAD CASE BATCH VALUES "end 1\n", ":8: more on the line"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_refused(wrong[i].text, strlen(wrong[i].text), true, wrong[i].message);
}

Test(encoder_reference, text_with_a_zero_byte_is_refused)
{
    static const char text[] = HEAD CASE "\0" BATCH VALUES ARRAYS;
    assert_refused(text, sizeof text - 1, true, "changed or cut off");
}

Test(encoder_reference, missing_file_and_folder_are_refused_by_name)
{
    struct tap_error error = {0};
    cr_assert_null(encoder_references_new("tests/reference/none.txt", &error));
    cr_assert_eq(error.status, TAP_ERR_IO);
    cr_assert_str_eq(error.message, "tests/reference/none.txt: No such file or directory");
    tap_error_clear(&error);
    cr_assert_null(encoder_references_new("tests", &error));
    cr_assert_eq(error.status, TAP_ERR_IO);
    cr_assert_str_eq(error.message, "tests: can't be read");
}

Test(encoder_reference, each_failed_allocation_is_reported)
{
    uint64_t n_failed = 0;
    for (uint64_t n = 1;; n++) {
        struct tap_error error = {0};
        tap_mem_fail_at(n, false);
        struct encoder_references *references = encoder_references_new(ENCODER_REFERENCE_PATH, &error);
        tap_mem_fail_at(0, false);
        encoder_references_free(references);
        if (references != NULL)
            break;
        cr_assert_eq(error.status, TAP_ERR_MEMORY);
        n_failed++;
    }
    cr_assert_geq(n_failed, 6);
    encoder_references_free(NULL);
}
