/* test_parameters.c: named parameters as views into one block. */
#include "parameters.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "mem.h"

static const struct tap_init zeros = {TAP_INIT_ZEROS, 0}, ones = {TAP_INIT_ONES, 0}, normal = {TAP_INIT_NORMAL, 0.5},
                             uniform = {TAP_INIT_UNIFORM, 0.25};
static const size_t shapes[][2] = {{3, 5}, {7, 1}, {100, 200}, {0, 4}, {90, 111}};

static void add_five(struct tap_parameters *parameters, struct tap_tensor *tensors[5], struct tap_error *error)
{
    const struct tap_init inits[] = {zeros, ones, normal, ones, uniform};
    const char *names[] = {"zeros", "ones", "normal", "nothing", "uniform"};
    for (int i = 0; i < 5; i++)
        tensors[i] = tap_parameters_add(parameters, i < 2 ? "" : "layer.0", names[i], 2, shapes[i], inits[i], error);
    tap_parameters_allocate(parameters, error);
}

Test(parameters, tensors_are_views_into_the_two_blocks_in_order)
{
    struct tap_parameters parameters = {0};
    struct tap_tensor *tensors[5];
    struct tap_error error = {0};
    add_five(&parameters, tensors, &error);
    cr_assert_eq(error.status, TAP_OK, "%s", error.message);
    cr_assert(parameters.n == 5 && parameters.n_numbers == 15 + 7 + 20000 + 9990);
    size_t end = 0;
    for (size_t i = 0; i < 5; i++) {
        const struct tap_parameter *item = parameters.items[i];
        cr_assert_eq(&item->tensor, tensors[i]);
        cr_assert(item->offset >= end && item->offset * sizeof(tap_real) % TAP_ALIGNMENT == 0);
        cr_assert_eq(item->tensor.data, parameters.data + item->offset);
        cr_assert_eq(item->tensor.grad, parameters.grad + item->offset);
        cr_assert(item->tensor.requires_grad && item->tensor.has_grad && item->tensor.node == NULL);
        end = item->offset + item->tensor.size;
    }
    cr_assert_leq(end, parameters.block_size);
    for (size_t i = 0; i < parameters.block_size; i++)
        cr_assert(parameters.data[i] == 0 && parameters.grad[i] == 0);
    tap_parameters_clear(&parameters);
    cr_assert(parameters.n == 0 && parameters.data == NULL);
}

Test(parameters, names_are_joined_and_found)
{
    struct tap_parameters parameters = {0};
    struct tap_tensor *tensors[5];
    struct tap_error error = {0};
    add_five(&parameters, tensors, &error);
    cr_assert_eq(&tap_parameters_find(&parameters, "layer.0.normal")->tensor, tensors[2]);
    cr_assert_eq(&tap_parameters_find(&parameters, "ones")->tensor, tensors[1]);
    cr_assert_null(tap_parameters_find(&parameters, "normal"));
    cr_assert_null(tap_parameters_find(&parameters, ""));
    tap_parameters_clear(&parameters);
}

Test(parameters, a_name_that_is_taken_is_refused)
{
    struct tap_parameters parameters = {0};
    struct tap_error error = {0};
    cr_assert_not_null(tap_parameters_add(&parameters, "a", "b", 1, shapes[0], zeros, &error));
    cr_assert_null(tap_parameters_add(&parameters, "", "a.b", 1, shapes[0], zeros, &error));
    cr_assert_eq(error.status, TAP_ERR_VALUE);
    cr_assert_str_eq(error.message, "two parameters are named a.b");
    cr_assert_null(tap_parameters_add(&parameters, "", "c", 1, shapes[0], zeros, &error)); /* errors are sticky */
    cr_assert_eq(tap_parameters_allocate(&parameters, &error), TAP_ERR_VALUE);
    cr_assert_eq(parameters.n, 1);
    tap_parameters_clear(&parameters);
}

Test(parameters, sizes_that_overflow_are_refused)
{
    struct tap_parameters parameters = {0};
    const size_t huge[] = {SIZE_MAX / 2, 3}, large[] = {SIZE_MAX / 16, 8}, limit[] = {SIZE_MAX, 1};
    struct tap_error error = {0};
    cr_assert_null(tap_parameters_add(&parameters, "", "huge", 2, huge, zeros, &error));
    cr_assert_str_eq(error.message, "parameter huge is too large");
    tap_error_clear(&error);
    cr_assert_null(tap_parameters_add(&parameters, "", "limit", 2, limit, zeros, &error));
    tap_error_clear(&error);
    cr_assert_not_null(tap_parameters_add(&parameters, "", "large", 2, large, zeros, &error));
    cr_assert_eq(tap_parameters_allocate(&parameters, &error), TAP_ERR_MEMORY);
    tap_parameters_clear(&parameters);
}

Test(parameters, initial_values_are_what_their_kind_says)
{
    struct tap_parameters parameters = {0};
    struct tap_tensor *tensors[5];
    struct tap_error error = {0};
    add_five(&parameters, tensors, &error);
    tap_parameters_initialize(&parameters, 3);
    double sum = 0, squares = 0, largest = 0, uniform_sum = 0, uniform_squares = 0;
    for (size_t i = 0; i < tensors[0]->size; i++)
        cr_assert_eq(tensors[0]->data[i], 0);
    for (size_t i = 0; i < tensors[1]->size; i++)
        cr_assert_eq(tensors[1]->data[i], 1);
    for (size_t i = 0; i < 20000; i++) {
        sum += (double)tensors[2]->data[i] / 20000;
        squares += (double)tensors[2]->data[i] * (double)tensors[2]->data[i] / 20000;
    }
    cr_assert_float_eq(sum, 0, 5 * 0.5 / sqrt(20000)); /* five standard deviations */
    cr_assert_float_eq(squares, 0.25, 5 * 0.25 * sqrt(2.0 / 20000));
    for (size_t i = 0; i < 9990; i++) {
        largest = fmax(largest, fabs((double)tensors[4]->data[i]));
        uniform_sum += (double)tensors[4]->data[i] / 9990;
        uniform_squares += (double)tensors[4]->data[i] * (double)tensors[4]->data[i] / 9990;
    }
    cr_assert(largest <= 0.25 && largest > 0.249);
    cr_assert_float_eq(uniform_sum, 0, 5 * 0.25 / sqrt(3 * 9990.0));
    cr_assert_float_eq(uniform_squares, 0.0625 / 3, 5 * 0.0625 * sqrt(4.0 / 45 / 9990));
    tap_parameters_clear(&parameters);
}

Test(parameters, initial_values_depend_on_seed_and_place_alone)
{
    struct tap_parameters one = {0}, same = {0};
    struct tap_tensor *tensors[5], *others[5];
    struct tap_error error = {0};
    add_five(&one, tensors, &error);
    add_five(&same, others, &error);
    tap_parameters_initialize(&one, 0); /* a seed like any other */
    tap_parameters_initialize(&same, 0);
    cr_assert_eq(memcmp(one.data, same.data, one.block_size * sizeof *one.data), 0);
    tap_parameters_initialize(&same, UINT64_C(1) << 32);
    cr_assert_neq(memcmp(tensors[2]->data, others[2]->data, 20000 * sizeof *one.data), 0);
    tap_parameters_initialize(&same, 0);
    cr_assert_eq(memcmp(one.data, same.data, one.block_size * sizeof *one.data), 0); /* again and again */
    tap_parameters_clear(&one);
    tap_parameters_clear(&same);
}

Test(parameters, the_gradients_norm_is_that_of_all_together)
{
    struct tap_parameters parameters = {0};
    struct tap_tensor *tensors[5];
    struct tap_error error = {0};
    add_five(&parameters, tensors, &error);
    cr_assert_eq(tap_parameters_grad_norm(&parameters), 0);
    tensors[0]->grad[14] = 3;
    tensors[2]->grad[7] = -4;
    tensors[4]->grad[9989] = 12;
    cr_assert_eq(tap_parameters_grad_norm(&parameters), 13);
    tensors[1]->grad[0] = (tap_real)1e30;
    cr_assert_float_eq(tap_parameters_grad_norm(&parameters) / 1e30, 1, 1e-6); /* no overflow of squares in float */
    tensors[1]->grad[0] = INFINITY;
    cr_assert(isinf(tap_parameters_grad_norm(&parameters)));
    tensors[1]->grad[0] = NAN;
    cr_assert(isnan(tap_parameters_grad_norm(&parameters)));
    tap_parameters_zero_grad(&parameters);
    cr_assert_eq(tap_parameters_grad_norm(&parameters), 0);
    tap_parameters_clear(&parameters);
}

Test(parameters, no_parameters_are_a_set_too)
{
    struct tap_parameters parameters = {0};
    struct tap_error error = {0};
    cr_assert_eq(tap_parameters_allocate(&parameters, &error), TAP_OK);
    tap_parameters_initialize(&parameters, 1);
    tap_parameters_zero_grad(&parameters);
    cr_assert_eq(tap_parameters_grad_norm(&parameters), 0);
    cr_assert_null(tap_parameters_find(&parameters, "a"));
    tap_parameters_clear(&parameters);
    tap_parameters_clear(&parameters);
}

Test(parameters, xavier_bounds_are_those_of_glorot_and_bengio)
{
    struct tap_init init = tap_init_xavier_uniform(64, 32);
    cr_assert_eq(init.kind, TAP_INIT_UNIFORM);
    cr_assert_float_eq(init.scale, 0.25, 1e-15);
}

Test(parameters, memory_that_runs_out_is_an_error_and_leaks_nothing)
{
    bool succeeded = false;
    for (uint64_t n = 1; !succeeded; n++) {
        struct tap_parameters parameters = {0};
        struct tap_tensor *tensors[5];
        struct tap_error error = {0};
        tap_mem_fail_at(n, n % 2 == 0);
        add_five(&parameters, tensors, &error);
        tap_mem_fail_at(0, false);
        succeeded = error.status == TAP_OK;
        cr_assert(succeeded || error.status == TAP_ERR_MEMORY, "%s", error.message);
        tap_parameters_clear(&parameters);
        cr_assert_lt(n, 50);
    }
}
