/* test_vectors.c: a text's vectors by one call are those that the model gives in a batch with others. */
#include <criterion/criterion.h>
#include <string.h>

#include "mem.h"
#include "saved_run.h"
#include "vectors.h"

TestSuite(vectors, .init = saved_run_start, .fini = saved_run_end);

enum { N_TEXTS = 4 };
static const char *const texts[N_TEXTS] = {"the cat chases the dog", "dog", "",
                                           "a word that nobody knows; and the cat"};

static struct tap_tape *new_tape(void)
{
    struct tap_tape *tape = tap_tape_new(&saved.error);
    cr_assert_not_null(tape, "%s", saved.error.message);
    return tape;
}

static struct tap_tensor *vectors_of(struct tap_tape *tape, const char *text, enum tap_vectors which)
{
    struct tap_tensor *vectors =
        tap_model_vectors(saved.model, saved.data->tokenizer, tape, text, strlen(text), which, &saved.error);
    cr_assert_not_null(vectors, "%s", saved.error.message);
    return vectors;
}

static bool same_bits(const tap_real *a, const tap_real *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

Test(vectors, have_the_bits_of_encode_and_pool_of_a_whole_batch)
{
    struct tap_tape *tape = new_tape(), *own = new_tape();
    struct tap_token_buffer tokens = {0};
    uint32_t offsets[N_TEXTS + 1] = {0};
    for (int i = 0; i < N_TEXTS; i++) {
        cr_assert_eq(
            tap_tokenizer_encode(saved.data->tokenizer, texts[i], strlen(texts[i]), &tokens, NULL, &saved.error),
            TAP_OK);
        offsets[i + 1] = (uint32_t)tokens.n;
    }
    const struct tap_segments segments = {N_TEXTS, offsets, 0};
    const struct tap_context context = {.tape = tape, .segments = &segments};
    struct tap_tensor *encoded = tap_model_encode(saved.model, &context, tokens.ids);
    struct tap_tensor *pooled = tap_model_pool(saved.model, &context, encoded);
    cr_assert_not_null(pooled);
    const size_t width = pooled->shape[1];
    cr_assert_gt(offsets[1], 1);
    for (int i = 0; i < N_TEXTS; i++) {
        struct tap_tensor *sequence = vectors_of(own, texts[i], TAP_VECTORS_SEQUENCE);
        cr_assert(sequence->n_dims == 2 && sequence->shape[0] == 1 && sequence->shape[1] == width);
        cr_expect(same_bits(sequence->data, pooled->data + (size_t)i * width, width), "text %d", i);
        struct tap_tensor *each = vectors_of(own, texts[i], TAP_VECTORS_TOKEN);
        cr_assert(each->n_dims == 2 && each->shape[0] == offsets[i + 1] - offsets[i] && each->shape[1] == width);
        cr_expect(same_bits(each->data, encoded->data + offsets[i] * width, each->size), "text %d", i);
        cr_expect_not(each->requires_grad);
    }
    tap_token_buffer_clear(&tokens);
    tap_tape_free(own);
    tap_tape_free(tape);
}

Test(vectors, leave_the_tape_recording_gradients_as_it_was)
{
    struct tap_tape *tape = new_tape();
    vectors_of(tape, texts[0], TAP_VECTORS_SEQUENCE);
    cr_expect(tap_tape_set_gradients(tape, false));
    vectors_of(tape, texts[0], TAP_VECTORS_SEQUENCE);
    cr_expect_not(tap_tape_set_gradients(tape, true));
    tap_tape_free(tape);
}

Test(vectors, refuse_the_tokenizer_of_a_larger_vocabulary_and_recover)
{
    struct tap_tape *tape = new_tape();
    struct tap_model_options options = tap_model_default_options(1, 2);
    struct tap_model *small = tap_model_new(&options, &saved.error);
    cr_assert_not_null(small);
    const char *name = tap_tokenizer_token(saved.data->tokenizer, 2);
    struct tap_error error = {0};
    cr_assert_null(
        tap_model_vectors(small, saved.data->tokenizer, tape, name, strlen(name), TAP_VECTORS_TOKEN, &error));
    cr_expect_eq(error.status, TAP_ERR_VALUE, "%s", error.message);
    cr_expect_null(
        tap_model_vectors(saved.model, saved.data->tokenizer, tape, name, strlen(name), TAP_VECTORS_TOKEN, &error),
        "an error that is marked already");
    vectors_of(tape, name, TAP_VECTORS_TOKEN);
    tap_model_free(small);
    tap_tape_free(tape);
}

Test(vectors, refuse_texts_longer_than_the_positions)
{
    struct tap_tape *tape = new_tape();
    struct tap_model_options options = saved.model->options;
    options.embedding.max_length = 1;
    struct tap_model *model = tap_model_new(&options, &saved.error);
    cr_assert_not_null(model);
    struct tap_error error = {0};
    cr_assert_null(tap_model_vectors(model, saved.data->tokenizer, tape, "a b", 3, TAP_VECTORS_SEQUENCE, &error));
    cr_expect_eq(error.status, TAP_ERR_SHAPE, "%s", error.message);
    tap_model_free(model);
    tap_tape_free(tape);
}

Test(vectors, survive_the_failure_of_any_allocation)
{
    bool is_whole = false;
    int n_failures = 0;
    for (uint64_t n = 1; !is_whole; n++) {
        struct tap_tape *tape = new_tape(); /* with its memory still to take */
        struct tap_error error = {0};
        tap_mem_fail_at(n, true);
        struct tap_tensor *vectors = tap_model_vectors(saved.model, saved.data->tokenizer, tape, texts[0],
                                                       strlen(texts[0]), TAP_VECTORS_SEQUENCE, &error);
        tap_mem_fail_at(0, false);
        is_whole = vectors != NULL;
        cr_assert_eq(error.status, is_whole ? TAP_OK : TAP_ERR_MEMORY, "%s", error.message);
        n_failures += !is_whole;
        tap_tape_free(tape);
    }
    cr_assert_gt(n_failures, 0);
}
