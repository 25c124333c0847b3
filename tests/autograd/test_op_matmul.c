/* test_op_matmul.c: cases and values of tap_matmul. */
#include "op_cases.h"

#include <criterion/criterion.h>
#include <math.h>

struct transposes {
    bool a, b;
};

static struct tap_tensor *build(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct transposes *transposes = extra;
    return tap_matmul(tape, inputs[0], inputs[1], transposes->a, transposes->b);
}

static struct tap_tensor *build_square(struct tap_tape *tape, struct tap_tensor *const *inputs, const void *extra)
{
    const struct transposes *transposes = extra;
    return tap_matmul(tape, inputs[0], inputs[0], transposes->a, transposes->b);
}

static const struct transposes neither = {false, false}, left = {true, false}, right = {false, true}, both = {true, true};

static const struct op_case cases[] = {
    {"one number", 2, {{2, {1, 1}, 0, 0}, {2, {1, 1}, 0, 0}}, build, &neither, 0},
    {"row times column", 2, {{2, {1, 7}, 0, 0}, {2, {7, 1}, 0, 0}}, build, &neither, 0},
    {"column times row", 2, {{2, {7, 1}, 0, 0}, {2, {1, 5}, 0, 0}}, build, &neither, 0},
    {"plain", 2, {{2, {5, 7}, 0, 0}, {2, {7, 3}, 0, 0}}, build, &neither, 0},
    {"left transposed", 2, {{2, {7, 5}, 0, 0}, {2, {7, 3}, 0, 0}}, build, &left, 0},
    {"right transposed", 2, {{2, {5, 7}, 0, 0}, {2, {3, 7}, 0, 0}}, build, &right, 0},
    {"both transposed", 2, {{2, {7, 5}, 0, 0}, {2, {3, 7}, 0, 0}}, build, &both, 0},
    {"batch", 2, {{3, {3, 5, 2}, 0, 0}, {3, {3, 2, 7}, 0, 0}}, build, &neither, 0},
    {"batch transposed", 2, {{3, {3, 2, 5}, 0, 0}, {3, {3, 7, 2}, 0, 0}}, build, &both, 0},
    {"one left matrix for a batch", 2, {{2, {5, 2}, 0, 0}, {3, {3, 2, 7}, 0, 0}}, build, &neither, 0},
    {"one right matrix for a batch", 2, {{3, {3, 5, 2}, 0, 0}, {2, {2, 7}, 0, 0}}, build, &neither, 0},
    {"four dimensions broadcast", 2, {{4, {2, 1, 3, 5}, 0, 0}, {4, {1, 3, 5, 2}, 0, 0}}, build, &neither, 0},
    {"inner size 0", 2, {{2, {3, 0}, 0, 0}, {2, {0, 5}, 0, 0}}, build, &neither, 0},
    {"no rows", 2, {{2, {0, 3}, 0, 0}, {2, {3, 5}, 0, 0}}, build, &neither, 0},
    {"a block of rows and three", 2, {{2, {67, 13}, 0, 0}, {2, {13, 11}, 0, 0}}, build, &neither, 0},
    {"several blocks", 2, {{2, {200, 31}, 0, 0}, {2, {31, 64}, 0, 0}}, build, &neither, 0},
    {"many products", 2, {{3, {64, 16, 8}, 0, 0}, {3, {64, 16, 8}, 0, 0}}, build, &right, 0},
    {"a matrix with itself", 1, {{2, {5, 3}, 0, 0}}, build_square, &right, 0},
    {"constant right", 2, {{2, {5, 7}, 0, 0}, {2, {7, 3}, 0, 1}}, build, &neither, 0},
};
OP_CASES(tap_matmul, cases);

Test(op_matmul, known_products_come_out)
{
    struct tap_tape *tape = test_tape();
    const size_t weights_shape[] = {2, 3}, two_three[] = {3, 3}, pair[] = {2, 2};
    const tap_real weights[] = {4, 2, 0, 3, 1, 1};
    const tap_real vectors[] = {2, 0, 2, 0, 0, 3, 1, 3, 0};
    struct tap_tensor *w = tap_input(tape, 2, weights_shape, weights);
    struct tap_tensor *x = tap_input(tape, 2, two_three, vectors);
    assert_values(tap_matmul(tape, x, w, false, true), (const double[]){8, 8, 0, 3, 10, 6}, 6, 0);
    const tap_real mapped[] = {10, 6, 4, 4};
    struct tap_tensor *y = tap_input(tape, 2, pair, mapped);
    assert_values(tap_matmul(tape, y, y, false, true), (const double[]){136, 64, 64, 32}, 4, 0);
    tap_tape_free(tape);
}

Test(op_matmul, products_equal_plain_loops_in_double)
{
    enum { M = 131, N = 37, K = 53 };
    static tap_real a[M * K], b[K * N];
    static double right_values[M * N];
    struct tap_tape *tape = test_tape();
    const size_t shape_a[] = {M, K}, shape_b[] = {K, N};
    fill_values(a, M * K, OP_FILL_NORMAL, 1);
    fill_values(b, K * N, OP_FILL_NORMAL, 2);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < K; k++)
                right_values[i * N + j] += (double)a[i * K + k] * (double)b[k * N + j];
    assert_values(tap_matmul(tape, tap_input(tape, 2, shape_a, a), tap_input(tape, 2, shape_b, b), false, false),
                  right_values, (size_t)M * N, 200 * TAP_REAL_EPSILON);
    tap_tape_free(tape);
}

Test(op_matmul, shapes_that_do_not_fit_are_named)
{
    struct tap_tape *tape = test_tape();
    const size_t shape_a[] = {2, 3}, shape_b[] = {4, 2};
    struct tap_tensor *a = tap_input_copy(tape, 2, shape_a, NULL);
    struct tap_tensor *b = tap_input_copy(tape, 2, shape_b, NULL);
    cr_assert_null(tap_matmul(tape, a, b, false, false));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_matmul: (2, 3) and (4, 2) do not fit");
    tap_tape_clear_error(tape);
    cr_assert_null(tap_matmul(tape, a, a, false, false));
    tap_tape_clear_error(tape);
    cr_assert_not_null(tap_matmul(tape, a, b, true, true));
    tap_tape_free(tape);
}
