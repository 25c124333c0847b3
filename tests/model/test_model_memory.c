/* test_model_memory.c: what a training step takes: planned, reserved, and refused at every single allocation. */
#include "model_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "autograd/op_cases.h"
#include "mem.h"
#include "parallel.h"

static void check_plan(struct tap_model *model, const struct batch *batch)
{
    struct tap_tape *tape = test_tape();
    struct tap_error error = {0};
    struct tap_tape_use use;
    uint32_t n = batch->segments.n;
    cr_assert_eq(tap_model_plan(model, tape, n, batch->offsets[n], longest_of(batch), &use, &error), TAP_OK, "%s", error.message);
    cr_assert_not(tap_tape_is_planning(tape));
    cr_assert_eq(tap_backward(tape, loss_of(model, tape, batch, true)), TAP_OK);
    struct tap_tape_use real = tap_tape_use(tape);
    cr_expect_eq(real.n_bytes, use.n_bytes, "%u sequences: %zu bytes, %zu planned", n, real.n_bytes, use.n_bytes);
    cr_expect_eq(real.scratch_bytes, use.scratch_bytes, "%u sequences: %zu scratch bytes, %zu planned", n, real.scratch_bytes, use.scratch_bytes);
    cr_expect_eq(real.record_bytes, use.record_bytes);
    cr_expect_eq(real.n_nodes, use.n_nodes);
    tap_tape_free(tape);
}

Test(model_memory, the_plan_is_what_a_step_takes)
{
    static struct batch batch;
    static const uint32_t one[] = {1}, with_empty[] = {0, 39, 0, 1}, equal[] = {8, 8, 8};
    for (int kind = 0; kind < 6; kind++) {
        struct tap_model_options options = small_options();
        options.encoder.norm_position = kind & 1 ? TAP_NORM_POSITION_PRE : TAP_NORM_POSITION_POST;
        options.pooling = (enum tap_pooling)(kind % 3);
        set_dropout(&options, kind < 3 ? 0.1 : 0);
        tap_set_threads(1 + kind % 4);
        struct tap_model *model = new_model(&options);
        fill_random_batch(&batch, 70, 40);
        check_plan(model, &batch);
        fill_batch(&batch, 1, one);
        check_plan(model, &batch);
        fill_batch(&batch, 4, with_empty);
        check_plan(model, &batch);
        fill_batch(&batch, 3, equal);
        check_plan(model, &batch);
        tap_model_free(model);
    }
}

Test(model_memory, after_a_reserve_no_step_asks_for_memory)
{
    static struct batch batch;
    struct tap_tape *tape = test_tape();
    struct tap_error error = {0};
    struct tap_tape_use use;
    struct tap_model_options options = tap_model_default_options(VOCABULARY, CLASSES);
    tap_set_threads(2);
    struct tap_model *model = new_model(&options);
    struct tap_optimizer *optimizer = new_optimizer(model, &error);
    cr_assert_eq(tap_model_plan(model, tape, 40, 1200, 40, &use, &error), TAP_OK, "%s", error.message);
    cr_assert_eq(tap_tape_reserve(tape, &use), TAP_OK);
    uint64_t before = tap_mem_n_calls();
    for (uint32_t step = 0; step < 8; step++) {
        fill_random_batch(&batch, 40 - step, 40 - step); /* at most so many sequences, tokens and tokens in one */
        cr_assert_leq(batch.offsets[40 - step], 1200);
        cr_assert(isfinite(train_step(model, tape, optimizer, &batch, 1e-3)), "%s", tap_tape_error(tape)->message);
    }
    cr_assert_eq(tap_mem_n_calls(), before);
    tap_optimizer_free(optimizer);
    tap_model_free(model);
    tap_tape_free(tape);
}

/* Model, optimizer, plan, reserve and two steps. */
static enum tap_status train_from_nothing(const struct tap_model_options *options, const struct batch *batch, struct tap_error *error)
{
    enum tap_status status = TAP_ERR_MEMORY;
    struct tap_tape_use use;
    struct tap_optimizer *optimizer = NULL;
    struct tap_tape *tape = tap_tape_new(error);
    struct tap_model *model = tap_model_new(options, error);
    if (tape == NULL || model == NULL)
        goto done;
    tap_parameters_initialize(&model->parameters, 1);
    optimizer = new_optimizer(model, error);
    if (optimizer == NULL)
        goto done;
    uint32_t n = batch->segments.n;
    if (n % 2 == 0 && (tap_model_plan(model, tape, n, batch->offsets[n], longest_of(batch), &use, error) != TAP_OK ||
                       tap_tape_reserve(tape, &use) != TAP_OK)) {
        tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
        goto done;
    }
    for (int step = 0; step < 2; step++)
        if (!isfinite(train_step(model, tape, optimizer, batch, 1e-3))) {
            tap_error_set(error, tap_tape_error(tape)->status, "%s", tap_tape_error(tape)->message);
            goto done;
        }
    status = TAP_OK;
done:
    tap_optimizer_free(optimizer);
    tap_model_free(model);
    tap_tape_free(tape);
    return status == TAP_OK ? TAP_OK : error->status;
}

Test(model_memory, an_allocation_that_fails_anywhere_in_training_is_an_error_and_leaks_nothing)
{
    static struct batch batch;
    struct tap_model_options options = small_options();
    set_dropout(&options, 0.1);
    options.embedding.positions = TAP_POSITIONS_LEARNED;
    tap_tape_free(test_tape()); /* the engine has started */
    for (uint32_t n_sequences = 4; n_sequences <= 61; n_sequences += 57) /* even: with a plan; 61: several chunks */
        for (int persistent = 0; persistent < 2; persistent++) {
            bool succeeded = false;
            fill_random_batch(&batch, n_sequences, 40);
            for (uint64_t n = 1; !succeeded; n++) {
                struct tap_error error = {0};
                tap_mem_fail_at(n, persistent);
                enum tap_status status = train_from_nothing(&options, &batch, &error);
                tap_mem_fail_at(0, false);
                succeeded = status == TAP_OK;
                cr_assert(succeeded || (status == TAP_ERR_MEMORY && strlen(error.message) > 0), "call %d: status %d, %s", (int)n,
                          (int)status, error.message);
                cr_assert_lt(n, 1000);
            }
        }
}

Test(model_memory, a_plan_that_cannot_be_met_is_an_error_and_the_tape_goes_on)
{
    static struct batch batch;
    struct tap_tape *tape = test_tape();
    struct tap_error error = {0};
    struct tap_tape_use use = {.n_nodes = 77};
    struct tap_model_options options = small_options();
    struct tap_model *model = new_model(&options);
    cr_assert_eq(tap_model_plan(model, tape, 3, 100, 41, &use, &error), TAP_ERR_SHAPE); /* longer than max_length */
    cr_assert(strstr(error.message, "41") != NULL && strstr(error.message, "40") != NULL, "%s", error.message);
    tap_error_clear(&error);
    tap_mem_fail_at(1, false);
    cr_assert_eq(tap_model_plan(model, tape, 3, 100, 40, &use, &error), TAP_ERR_MEMORY);
    tap_mem_fail_at(0, false);
    cr_assert_eq(use.n_nodes, 77); /* written only on success */
    cr_assert_not(tap_tape_is_planning(tape));
    fill_random_batch(&batch, 3, 5);
    cr_assert_eq(tap_backward(tape, loss_of(model, tape, &batch, true)), TAP_OK, "%s", tap_tape_error(tape)->message);
    tap_model_free(model);
    tap_tape_free(tape);
}
