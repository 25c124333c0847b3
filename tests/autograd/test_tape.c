/* test_tape.c: what the tape promises whatever the operations on it: sticky errors, gradients that add up, memory that
 * is reused, planning. */
#include "op_cases.h"
#include "parallel.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "mem.h"

static const size_t scalar_shape[] = {1}, pair[] = {2, 3}, other_pair[] = {2, 4}, tall[] = {4, 2};

static struct tap_tensor *total(struct tap_tape *tape, struct tap_tensor *x)
{
    return tap_sum(tape, x, TAP_ALL_AXES, false);
}

/* A variable of one number. */
static struct tap_tensor *variable(struct tap_tape *tape, tap_real value)
{
    return tap_variable(tape, 1, scalar_shape, &value);
}

Test(tape, after_a_failure_nested_expressions_do_nothing_and_the_first_message_stays)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *a = tap_variable(tape, 2, pair, NULL), *b = tap_variable(tape, 2, other_pair, NULL);
    struct tap_tape_use before = tap_tape_use(tape);
    struct tap_tensor *y = tap_relu(tape, tap_add(tape, tap_matmul(tape, a, b, false, false), a));
    cr_assert_null(y);
    cr_assert(tap_tape_failed(tape));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_matmul: (2, 3) and (2, 4) do not fit");
    cr_assert_null(tap_add(tape, a, a)); /* right by itself, but the tape is marked */
    cr_assert_null(tap_variable(tape, 2, pair, NULL));
    cr_assert_null(tap_input(tape, 2, pair, a->data));
    cr_assert_eq(tap_backward(tape, y), TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_matmul: (2, 3) and (2, 4) do not fit");
    cr_assert_eq(tap_tape_use(tape).n_nodes, before.n_nodes);
    cr_assert_eq(tap_tape_use(tape).n_bytes, before.n_bytes);
    tap_tape_free(tape);
}

Test(tape, a_reset_forgets_the_error)
{
    struct tap_tape *tape = test_tape();
    cr_assert_null(tap_add(tape, NULL, NULL));
    cr_assert(tap_tape_failed(tape));
    tap_tape_reset(tape);
    cr_assert_not(tap_tape_failed(tape));
    cr_assert_str_eq(tap_tape_error(tape)->message, "");
    cr_assert_not_null(tap_relu(tape, variable(tape, 1)));
    tap_tape_free(tape);
}

/* Whether the tape refused, naming all three texts, and can be used after clearing. */
static void assert_named(struct tap_tape *tape, const struct tap_tensor *y, const char *operation, const char *first, const char *second)
{
    cr_assert_null(y);
    const char *message = tap_tape_error(tape)->message;
    cr_assert(strstr(message, operation) != NULL && strstr(message, first) != NULL && strstr(message, second) != NULL, "%s", message);
    tap_tape_clear_error(tape);
    cr_assert_not_null(tap_relu(tape, variable(tape, 1)));
}

/* BR-06 */
Test(tape, shapes_that_do_not_fit_name_the_operation_and_both_shapes_and_the_tape_goes_on)
{
    struct tap_tape *tape = test_tape();
    const size_t six[] = {6}, four[] = {4};
    struct tap_tensor *a = tap_variable(tape, 2, pair, NULL), *b = tap_variable(tape, 2, other_pair, NULL);
    struct tap_tensor *c = tap_variable(tape, 2, tall, NULL), *d = tap_variable(tape, 1, six, NULL), *parts[] = {a, c};
    assert_named(tape, tap_add(tape, a, b), "tap_add", "(2, 3)", "(2, 4)");
    assert_named(tape, tap_matmul(tape, a, c, false, false), "tap_matmul", "(2, 3)", "(4, 2)");
    assert_named(tape, tap_reshape(tape, d, 1, four), "tap_reshape", "(6)", "(4)");
    assert_named(tape, tap_concat(tape, parts, 2, 0), "tap_concat", "(2, 3)", "(4, 2)");
    assert_named(tape, tap_mul(tape, a, NULL), "tap_mul", "input 2", "NULL");
    assert_named(tape, tap_linear(tape, a, b, NULL), "tap_linear", "(2, 3)", "(2, 4)");
    tap_tape_free(tape);
}

Test(tape, tensors_of_too_many_dimensions_or_numbers_are_refused)
{
    struct tap_tape *tape = test_tape();
    const size_t seven[] = {1, 1, 1, 1, 1, 1, 1}, huge[] = {SIZE_MAX / 2, 3}, large[] = {SIZE_MAX / 8, 4};
    cr_assert_null(tap_input(tape, 7, seven, NULL));
    cr_assert_str_eq(tap_tape_error(tape)->message, "input: 7 dimensions; 0 to 6 are possible");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_input(tape, -1, seven, NULL));
    tap_tape_clear_error(tape);
    cr_assert_null(tap_variable(tape, 2, huge, NULL));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_SHAPE);
    cr_assert(strstr(tap_tape_error(tape)->message, "overflows") != NULL);
    tap_tape_clear_error(tape);
    cr_assert_null(tap_variable(tape, 2, large, NULL));
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_MEMORY);
    tap_tape_free(tape);
}

Test(tape, inputs_borrow_and_variables_copy_their_numbers)
{
    struct tap_tape *tape = test_tape();
    tap_real numbers[] = {1, 2, 3, 4, 5, 6};
    struct tap_tensor *input = tap_input(tape, 2, pair, numbers), *copy = tap_input_copy(tape, 2, pair, numbers);
    struct tap_tensor *leaf = tap_variable(tape, 2, pair, numbers), *zeros = tap_variable(tape, 2, pair, NULL);
    numbers[0] = 7;
    cr_assert(input->data[0] == 7 && copy->data[0] == 1 && leaf->data[0] == 1);
    cr_assert(!input->requires_grad && !copy->requires_grad && leaf->requires_grad);
    for (int i = 0; i < 6; i++)
        cr_assert(leaf->grad[i] == 0 && zeros->data[i] == 0);
    cr_assert(input->n_dims == 2 && input->size == 6 && input->node == NULL);
    tap_tape_free(tape);
}

Test(tape, both_sides_of_an_operation_may_be_the_same_tensor)
{
    struct tap_tape *tape = test_tape();
    const tap_real numbers[] = {1, -2, 3, 5};
    const size_t square[] = {2, 2};
    struct tap_tensor *(*const operations[])(struct tap_tape *, struct tap_tensor *, struct tap_tensor *) = {tap_add, tap_sub, tap_mul, tap_div};
    for (int k = 0; k < 4; k++) {
        struct tap_tensor *x = tap_variable(tape, 2, square, numbers);
        cr_assert_eq(tap_backward(tape, total(tape, operations[k](tape, x, x))), TAP_OK);
        for (int i = 0; i < 4; i++) {
            double right = k == 0 ? 2 : k == 2 ? 2 * (double)numbers[i] : 0;
            cr_assert_float_eq((double)x->grad[i], right, 4 * TAP_REAL_EPSILON, "operation %d", k);
        }
    }
    struct tap_tensor *x = tap_variable(tape, 2, square, numbers);
    cr_assert_eq(tap_backward(tape, total(tape, tap_matmul(tape, x, x, false, false))), TAP_OK);
    const double right[] = {-1 + 4, 8 + 4, -1 + 3, 8 + 3}; /* sums of rows of x plus sums of columns */
    for (int i = 0; i < 4; i++)
        cr_assert_float_eq((double)x->grad[i], right[i], 1e-6);
    tap_tape_free(tape);
}

Test(tape, a_tensor_used_a_thousand_times_gets_a_thousand_parts)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *x = variable(tape, 3), *middle = tap_scale(tape, x, 2), *sum = middle;
    for (int i = 1; i < 1000; i++)
        sum = tap_add(tape, sum, middle);
    cr_assert_eq(tap_backward(tape, sum), TAP_OK);
    cr_assert_eq(middle->grad[0], 1000);
    cr_assert_eq(x->grad[0], 2000);
    tap_tape_free(tape);
}

Test(tape, an_unused_variable_has_a_gradient_of_exactly_zero)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *used = variable(tape, 3), *unused = tap_variable(tape, 2, pair, NULL);
    struct tap_tensor *dead_end = tap_exp(tape, unused); /* recorded, but the loss does not depend on it */
    cr_assert_eq(tap_backward(tape, tap_mul(tape, used, used)), TAP_OK);
    cr_assert_eq(used->grad[0], 6);
    cr_assert_not(dead_end->has_grad);
    for (int i = 0; i < 6; i++)
        cr_assert_eq(unused->grad[i], 0);
    tap_tape_free(tape);
}

struct chain {
    struct tap_tape *tape;
    struct tap_tensor *end;
    enum tap_status status;
};

static void *run_backward(void *argument)
{
    struct chain *chain = argument;
    chain->status = tap_backward(chain->tape, chain->end);
    return NULL;
}

#ifdef __SANITIZE_ADDRESS__
#define SMALL_STACK_BYTES (256 * 1024) /* its frames are larger, its thread-local storage takes some */
#else
#define SMALL_STACK_BYTES (64 * 1024)
#endif

Test(tape, a_chain_of_ten_thousand_operations_runs_backward_in_a_small_stack)
{
    struct chain chain = {test_tape(), NULL, TAP_ERR_VALUE};
    struct tap_tensor *x = variable(chain.tape, 1);
    pthread_attr_t attributes;
    pthread_t thread;
    chain.end = x;
    for (int i = 0; i < 10000; i++)
        chain.end = tap_scale(chain.tape, chain.end, i % 2 == 0 ? 2 : 0.5);
    cr_assert_eq(tap_tape_use(chain.tape).n_nodes, 10000);
    cr_assert_eq(pthread_attr_init(&attributes), 0);
    cr_assert_eq(pthread_attr_setstacksize(&attributes, SMALL_STACK_BYTES), 0);
    cr_assert_eq(pthread_create(&thread, &attributes, run_backward, &chain), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    cr_assert_eq(chain.status, TAP_OK);
    cr_assert_eq(x->grad[0], 1);
    tap_tape_free(chain.tape);
}

Test(tape, with_gradients_off_nothing_is_kept_and_nothing_requires_a_gradient)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *x = tap_variable(tape, 2, pair, NULL);
    size_t before = tap_tape_use(tape).n_bytes;
    cr_assert(tap_tape_set_gradients(tape, false));
    struct tap_tensor *y = tap_layer_norm(tape, x, NULL, NULL, 1e-5);
    size_t without = tap_tape_use(tape).n_bytes - before;
    cr_assert_not(y->requires_grad);
    cr_assert_eq(tap_backward(tape, total(tape, y)), TAP_ERR_VALUE);
    cr_assert(strstr(tap_tape_error(tape)->message, "nothing that requires a gradient") != NULL);
    tap_tape_clear_error(tape);
    cr_assert_not(tap_tape_set_gradients(tape, true));
    before = tap_tape_use(tape).n_bytes;
    struct tap_tensor *z = tap_layer_norm(tape, x, NULL, NULL, 1e-5);
    cr_assert(z->requires_grad);
    cr_assert_lt(without, tap_tape_use(tape).n_bytes - before); /* layer norm keeps mean and deviation for backward */
    tap_tape_free(tape);
}

Test(tape, a_detached_tensor_passes_no_gradient)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *x = variable(tape, 3), *detached = tap_detach(tape, x);
    cr_assert_not(detached->requires_grad);
    cr_assert_eq(detached->data[0], 3);
    cr_assert_eq(tap_backward(tape, tap_mul(tape, x, detached)), TAP_OK);
    cr_assert_eq(x->grad[0], 3); /* not 6 */
    tap_tape_free(tape);
}

Test(tape, a_frozen_parameters_gradient_is_not_touched)
{
    struct tap_tape *tape = test_tape();
    struct tap_error error = {0};
    struct tap_parameters parameters = {0};
    const struct tap_init ones = {TAP_INIT_ONES, 0};
    struct tap_tensor *frozen = tap_parameters_add(&parameters, "", "frozen", 2, pair, ones, &error);
    struct tap_tensor *free_one = tap_parameters_add(&parameters, "", "free", 2, pair, ones, &error);
    cr_assert_eq(tap_parameters_allocate(&parameters, &error), TAP_OK);
    tap_parameters_initialize(&parameters, 1);
    frozen->requires_grad = false;
    for (int i = 0; i < 6; i++)
        frozen->grad[i] = 5;
    cr_assert_eq(tap_backward(tape, total(tape, tap_mul(tape, frozen, free_one))), TAP_OK);
    for (int i = 0; i < 6; i++)
        cr_assert(frozen->grad[i] == 5 && free_one->grad[i] == 1);
    tap_parameters_clear(&parameters);
    tap_tape_free(tape);
}

Test(tape, gradients_of_leaves_add_up_over_backward_calls_and_tapes_and_those_between_are_set_anew)
{
    struct tap_error error = {0};
    struct tap_parameters parameters = {0};
    struct tap_tensor *w = tap_parameters_add(&parameters, "", "w", 1, scalar_shape, (struct tap_init){TAP_INIT_ONES, 0}, &error);
    cr_assert_eq(tap_parameters_allocate(&parameters, &error), TAP_OK);
    tap_parameters_initialize(&parameters, 1);
    for (int i = 0; i < 2; i++) {
        struct tap_tape *tape = test_tape();
        struct tap_tensor *middle = tap_scale(tape, w, 3), *loss = tap_mul(tape, middle, middle), *second = tap_scale(tape, middle, 5);
        cr_assert_eq(tap_backward(tape, loss), TAP_OK);
        cr_assert_eq(middle->grad[0], 6);
        cr_assert_eq(tap_backward(tape, loss), TAP_OK);
        cr_assert_eq(middle->grad[0], 6);
        cr_assert_eq(tap_backward(tape, second), TAP_OK);
        cr_assert_eq(middle->grad[0], 5);
        cr_assert_not(loss->has_grad);
        tap_tape_free(tape);
        cr_assert_eq(w->grad[0], (i + 1) * (18 + 18 + 15));
    }
    tap_parameters_clear(&parameters);
}

Test(tape, backward_needs_one_number_that_depends_on_something)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *x = tap_variable(tape, 2, pair, NULL);
    cr_assert_eq(tap_backward(tape, tap_relu(tape, x)), TAP_ERR_SHAPE);
    cr_assert_str_eq(tap_tape_error(tape)->message, "backward: the loss has shape (2, 3); one number is needed");
    tap_tape_clear_error(tape);
    cr_assert_eq(tap_backward(tape, NULL), TAP_ERR_VALUE);
    tap_tape_clear_error(tape);
    cr_assert_eq(tap_backward(tape, tap_input_copy(tape, 1, scalar_shape, NULL)), TAP_ERR_VALUE);
    tap_tape_clear_error(tape);
    struct tap_tensor *leaf = variable(tape, 2);
    cr_assert_eq(tap_backward(tape, leaf), TAP_OK);
    cr_assert_eq(leaf->grad[0], 1);
    tap_tape_free(tape);
}

/* A step with products, norms and dropout: some of everything that takes memory. */
static struct tap_tensor *step(struct tap_tape *tape, struct tap_tensor *const *inputs, size_t n)
{
    const size_t shape[] = {n, 24};
    struct tap_tensor *x = tap_input_copy(tape, 2, shape, NULL);
    x = tap_relu(tape, tap_linear(tape, x, inputs[0], inputs[1]));
    x = tap_dropout(tape, tap_layer_norm(tape, x, NULL, NULL, 1e-5), 0.1, (struct tap_rng_key){{1, 2}}, NULL);
    struct tap_tensor *loss = total(tape, tap_matmul(tape, x, x, true, false));
    tap_backward(tape, loss);
    return loss;
}

static void add_step_parameters(struct tap_parameters *parameters, struct tap_tensor *inputs[2])
{
    struct tap_error error = {0};
    const size_t weight_shape[] = {40, 24};
    *parameters = (struct tap_parameters){0};
    inputs[0] = tap_parameters_add(parameters, "", "weight", 2, weight_shape, tap_init_xavier_uniform(24, 40), &error);
    inputs[1] = tap_parameters_add(parameters, "", "bias", 1, weight_shape, (struct tap_init){TAP_INIT_NORMAL, 1}, &error);
    cr_assert_eq(tap_parameters_allocate(parameters, &error), TAP_OK);
    tap_parameters_initialize(parameters, 1);
}

Test(tape, after_the_first_step_no_step_asks_for_memory)
{
    struct tap_tape *tape = test_tape();
    struct tap_parameters parameters;
    struct tap_tensor *inputs[2];
    add_step_parameters(&parameters, inputs);
    cr_assert_not_null(step(tape, inputs, 300));
    size_t first_bytes = tap_tape_use(tape).n_bytes;
    tap_tape_reset(tape);
    cr_assert_eq(tap_tape_use(tape).n_bytes, 0);
    uint64_t before = tap_mem_n_calls();
    for (size_t i = 0; i < 20; i++) {
        cr_assert_not_null(step(tape, inputs, 300 - 13 * i));
        cr_assert_leq(tap_tape_use(tape).n_bytes, first_bytes);
        tap_tape_reset(tape);
    }
    cr_assert_eq(tap_mem_n_calls(), before);
    tap_tape_free(tape);
    tap_parameters_clear(&parameters);
}

Test(tape, after_a_reserve_even_the_first_step_asks_for_no_memory)
{
    struct tap_tape *tape = test_tape();
    struct tap_parameters parameters;
    struct tap_tensor *inputs[2];
    add_step_parameters(&parameters, inputs);
    tap_tape_set_planning(tape, true);
    cr_assert(tap_tape_is_planning(tape));
    struct tap_tensor *planned = step(tape, inputs, 300);
    cr_assert_not_null(planned);
    cr_assert_null(planned->data);
    struct tap_tape_use use = tap_tape_use(tape);
    tap_tape_set_planning(tape, false);
    cr_assert_eq(tap_tape_reserve(tape, &use), TAP_OK);
    uint64_t before = tap_mem_n_calls();
    cr_assert_not_null(step(tape, inputs, 300));
    cr_assert_eq(tap_mem_n_calls(), before);
    struct tap_tape_use real = tap_tape_use(tape);
    cr_assert_eq(real.n_bytes, use.n_bytes);
    cr_assert_eq(real.record_bytes, use.record_bytes);
    cr_assert_eq(real.scratch_bytes, use.scratch_bytes);
    cr_assert_eq(real.n_nodes, use.n_nodes);
    cr_assert_eq(real.forward_flops, use.forward_flops);
    tap_tape_free(tape);
    tap_parameters_clear(&parameters);
}

Test(tape, a_plan_may_be_larger_than_any_memory)
{
    struct tap_tape *tape = test_tape();
    const size_t shape[] = {(size_t)1 << 30, (size_t)1 << 20};
    tap_tape_set_planning(tape, true);
    cr_assert_not_null(tap_relu(tape, tap_variable(tape, 2, shape, NULL)));
    struct tap_tape_use use = tap_tape_use(tape);
    cr_assert_geq(use.n_bytes, 3 * sizeof(tap_real) << 50); /* data, gradient, result */
    tap_tape_set_planning(tape, false);
    use.n_bytes = SIZE_MAX; /* what no allocator is asked for */
    cr_assert_eq(tap_tape_reserve(tape, &use), TAP_ERR_MEMORY);
    cr_assert_eq(tap_tape_error(tape)->status, TAP_ERR_MEMORY);
    tap_tape_reset(tape);
    cr_assert_not_null(tap_relu(tape, variable(tape, 1)));
    tap_tape_free(tape);
}

Test(tape, planning_takes_no_memory_for_numbers_and_leaves_gradients_alone)
{
    struct tap_tape *tape = test_tape();
    struct tap_parameters parameters;
    struct tap_tensor *inputs[2];
    add_step_parameters(&parameters, inputs);
    inputs[0]->grad[3] = 7;
    tap_tape_set_planning(tape, true);
    cr_assert_not_null(step(tape, inputs, 300));
    cr_assert_not(tap_tape_failed(tape));
    cr_assert_null(tap_tape_first_nonfinite(tape));
    cr_assert_eq(inputs[0]->grad[3], 7);
    cr_assert_eq(inputs[0]->grad[4], 0);
    tap_tape_free(tape);
    tap_parameters_clear(&parameters);
}

Test(tape, the_first_result_that_is_not_finite_is_named)
{
    struct tap_tape *tape = test_tape();
    struct tap_tensor *x = variable(tape, -1), *fine = tap_relu(tape, x);
    cr_assert_null(tap_tape_first_nonfinite(tape));
    struct tap_tensor *bad = tap_log(tape, x), *later = tap_exp(tape, tap_add(tape, fine, bad));
    cr_assert_eq(tap_tape_first_nonfinite(tape), bad);
    cr_assert_str_eq(tap_tensor_operation(bad), "tap_log");
    cr_assert_str_eq(tap_tensor_operation(later), "tap_exp");
    cr_assert_str_eq(tap_tensor_operation(x), "input");
    tap_tape_reset(tape);
    cr_assert_null(tap_tape_first_nonfinite(tape));
    tap_exp(tape, variable(tape, (tap_real)1e30)); /* infinity */
    cr_assert_str_eq(tap_tensor_operation(tap_tape_first_nonfinite(tape)), "tap_exp");
    tap_tape_free(tape);
}

Test(tape, memory_that_runs_out_marks_the_tape_and_leaves_it_usable)
{
    struct tap_error error = {0};
    struct tap_parameters parameters;
    struct tap_tensor *inputs[2];
    bool succeeded = false;
    add_step_parameters(&parameters, inputs);
    tap_tape_free(test_tape()); /* the engine has started */
    tap_mem_fail_at(1, false);
    cr_assert_null(tap_tape_new(&error));
    cr_assert_eq(error.status, TAP_ERR_MEMORY);
    for (uint64_t n = 1; !succeeded; n++) {
        struct tap_tape *tape = test_tape();
        tap_mem_fail_at(n, n % 2 == 0);
        step(tape, inputs, 3000);
        succeeded = !tap_tape_failed(tape);
        cr_assert(succeeded || tap_tape_error(tape)->status == TAP_ERR_MEMORY);
        tap_mem_fail_at(0, false);
        tap_tape_reset(tape);
        step(tape, inputs, 3000);
        cr_assert_not(tap_tape_failed(tape), "%s", tap_tape_error(tape)->message);
        tap_tape_free(tape);
        cr_assert_lt(n, 100);
    }
    tap_parameters_clear(&parameters);
}

Test(tape, a_reset_without_memory_to_join_chunks_is_made_good_by_the_next_step)
{
    struct tap_tape *tape = test_tape();
    struct tap_parameters parameters;
    struct tap_tensor *inputs[2];
    add_step_parameters(&parameters, inputs);
    step(tape, inputs, 3000);
    tap_mem_fail_at(1, true);
    tap_tape_reset(tape);
    tap_mem_fail_at(0, false);
    step(tape, inputs, 3000);
    cr_assert_not(tap_tape_failed(tape), "%s", tap_tape_error(tape)->message);
    tap_tape_free(tape);
    tap_parameters_clear(&parameters);
}

Test(tape, shapes_read_as_text)
{
    char text[TAP_SHAPE_TEXT_BYTES];
    const size_t small[] = {7}, large[] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    cr_assert_str_eq(tap_shape_text(0, small, text), "()");
    cr_assert_str_eq(tap_shape_text(1, small, text), "(7)");
    cr_assert_str_eq(tap_shape_text(2, pair, text), "(2, 3)");
    cr_assert_eq(strlen(tap_shape_text(6, large, text)), 2 + 6 * 20 + 5 * 2);
}

Test(tape, shapes_are_the_same_when_every_size_is)
{
    struct tap_tape *tape = test_tape();
    const size_t six[] = {6};
    struct tap_tensor *a = tap_variable(tape, 2, pair, NULL), *b = tap_variable(tape, 2, pair, NULL);
    cr_assert(tap_same_shape(a, b));
    cr_assert_not(tap_same_shape(a, tap_variable(tape, 2, other_pair, NULL)));
    cr_assert_not(tap_same_shape(a, tap_variable(tape, 1, six, NULL)));
    tap_tape_free(tape);
}

Test(tape, freeing_nothing_is_allowed)
{
    tap_tape_free(NULL);
    struct tap_tape *tape = test_tape();
    tap_tape_reset(tape);
    cr_assert_eq(tap_tape_use(tape).n_nodes, 0);
    tap_tape_free(tape);
}

Test(tape, threads_may_be_added_between_recording_and_backward)
{
    enum { N = 640, HEADS = 4, D = 64 };
    static uint32_t offsets[N / 32 + 1];
    for (uint32_t s = 0; s <= N / 32; s++)
        offsets[s] = 32 * s;
    const struct tap_segments segments = {N / 32, offsets, 0};
    const struct tap_attention_options options = {.heads = HEADS, .scale_scores = true, .dropout = 0.1};
    const size_t shape[] = {N, 3 * D};
    struct tap_tape *tape = test_tape();
    tap_set_threads(1);
    struct tap_tensor *qkv = tap_variable(tape, 2, shape, NULL);
    fill_values(qkv->data, qkv->size, OP_FILL_NORMAL, 1);
    struct tap_tensor *loss = tap_sum(tape, tap_attention_packed(tape, qkv, &segments, &options), TAP_ALL_AXES, false);
    tap_set_threads(4); /* four threads need four scratches */
    cr_assert_eq(tap_backward(tape, loss), TAP_OK, "%s", tap_tape_error(tape)->message);
    cr_assert(tap_is_finite(qkv->grad, qkv->size));
    tap_tape_free(tape);
}

Test(tape, one_number_that_is_not_finite_is_found_at_any_place)
{
    enum { N = 9000 };
    static tap_real numbers[N];
    const tap_real bad[] = {NAN, INFINITY, -INFINITY};
    const tap_real largest = sizeof(tap_real) == sizeof(float) ? (tap_real)FLT_MAX : (tap_real)DBL_MAX;
    for (size_t i = 0; i < N; i++)
        numbers[i] = i % 2 == 0 ? largest : -largest;
    cr_assert(tap_is_finite(numbers, N));
    cr_assert(tap_is_finite(numbers, 0));
    for (int threads = 1; threads <= 3; threads++)
        for (size_t place = 0; place < N; place += place % 4096 < 4095 ? 91 : 1)
            for (int k = 0; k < 3; k++) {
                tap_real kept = numbers[place];
                tap_set_threads(threads);
                numbers[place] = bad[k];
                cr_assert_not(tap_is_finite(numbers, N), "place %zu", place);
                cr_assert(tap_is_finite(numbers, place), "before place %zu", place);
                numbers[place] = kept;
            }
}
