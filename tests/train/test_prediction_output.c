/* test_prediction_output.c: the writing of results by itself: ties, numbers, failing memory. */
#include "prediction_output.h"

#include "mem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const labels[] = {"d", "c", "b", "a\";"};

/* What is written for one result, in `text`. */
static enum tap_status write_one(struct prediction_options options, enum tap_record_kind kind, const tap_real *logits,
                                 const char *bytes, char text[1024], struct tap_error *error)
{
    static const uint32_t tokens[] = {3, 1};
    static const tap_real vectors[] = {1, 2, 3, 4};
    FILE *file = fmemopen(text, 1024, "w"); /* freed by fclose, and no memory of ours */
    cr_assert_not_null(file);
    struct prediction_output *output = prediction_output_new(&options, labels, 4, file, error);
    const struct prediction prediction = {.bytes = bytes,
                                          .n_bytes = strlen(bytes),
                                          .tokens = tokens,
                                          .n_tokens = 2,
                                          .logits = logits,
                                          .vector = vectors,
                                          .vector_width = 4,
                                          .token_vectors = vectors,
                                          .token_width = 2};
    if (output != NULL &&
        prediction_output_start(output, kind, kind == TAP_RECORD_CSV ? ';' : '\t', true, error) == TAP_OK)
        prediction_output_write(output, &prediction, error);
    prediction_output_free(output);
    fclose(file);
    return error->status;
}

Test(prediction_output, equal_probabilities_stand_in_the_order_of_the_labels)
{
    struct tap_error error = {0};
    char text[1024];
    const struct prediction_options options = {.format = FORMAT_TABLE, .top = 9};
    const tap_real logits[] = {0, 1, 0, 1};
    write_one(options, TAP_RECORD_CSV, logits, "x;y", text, &error);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    cr_expect_str_eq(text, "x;y;c;0.365529289;\"a\"\";\";0.365529289;d;0.134470711;b;0.134470711\r\n");
}

Test(prediction_output, probabilities_are_reals_in_json)
{
    struct tap_error error = {0};
    char text[1024];
    const struct prediction_options options = {.format = FORMAT_TABLE, .top = 2};
    const tap_real logits[] = {0, 0, 900, -900};
    write_one(options, TAP_RECORD_JSONL, logits, "{\"text\":\"}\"} ", text, &error);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    cr_expect_str_eq(text, "{\"text\":\"}\",\"predicted_label\":\"b\",\"predicted_probability\":1.0,"
                           "\"predicted_label_2\":\"d\",\"predicted_probability_2\":0.0}\r\n");
}

Test(prediction_output, a_probability_that_is_the_threshold_is_an_answer)
{
    struct tap_error error = {0};
    char text[1024];
    struct prediction_options options = {.format = FORMAT_LABEL, .threshold = 0.25, .abstain = "none"};
    const tap_real logits[] = {7, 7, 7, 7};
    write_one(options, TAP_RECORD_TSV, logits, "x", text, &error);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    cr_expect_str_eq(text, "d\n");
    options.threshold = 0.2500001;
    write_one(options, TAP_RECORD_TSV, logits, "x", text, &error);
    cr_expect_str_eq(text, "none\n");
}

Test(prediction_output, every_failed_allocation_is_an_error)
{
    static const struct {
        enum prediction_format format;
        enum tap_record_kind kind;
    } cases[] = {{FORMAT_LABEL, TAP_RECORD_CSV},
                 {FORMAT_JSONL, TAP_RECORD_TSV},
                 {FORMAT_TABLE, TAP_RECORD_CSV},
                 {FORMAT_TABLE, TAP_RECORD_JSONL}};
    const tap_real logits[] = {0, 1, 2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int persistent = 0; persistent < 2; persistent++) {
            uint64_t call = 1;
            for (;; call++) {
                struct tap_error error = {0};
                char text[1024];
                const struct prediction_options options = {.format = cases[i].format,
                                                           .vectors = cases[i].format == FORMAT_JSONL ? VECTORS_TOKEN
                                                                                                      : VECTORS_NONE,
                                                           .top = 2,
                                                           .abstain = "none",
                                                           .threshold = 0.5};
                tap_mem_fail_at(call, persistent != 0);
                write_one(options, cases[i].kind, logits, "{\"text\":1}", text, &error);
                tap_mem_fail_at(0, false);
                if (error.status == TAP_OK)
                    break;
                cr_assert_eq(error.status, TAP_ERR_MEMORY, "%zu: %s", i, error.message);
            }
            cr_expect_gt(call, 4);
        }
}
