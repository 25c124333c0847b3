/* test_parallel.c: how many threads work gets, and that nothing depends on it. */
#include "parallel.h"

#include <criterion/criterion.h>
#include <omp.h>

Test(parallel, little_work_stays_on_one_thread)
{
    tap_set_threads(4);
    cr_assert_eq(tap_threads_for(0), 1);
    cr_assert_eq(tap_threads_for(1000), 1);
    cr_assert_eq(tap_threads_for(1e9), 4);
}

Test(parallel, the_number_of_threads_is_as_asked_and_at_most_256)
{
    tap_set_threads(3);
    cr_assert_eq(tap_get_threads(), 3);
    tap_set_threads(99999);
    cr_assert_eq(tap_get_threads(), 256);
    tap_set_threads(0);
    cr_assert(tap_get_threads() >= 1 && tap_get_threads() <= 256);
    tap_set_threads(-5);
    cr_assert_geq(tap_get_threads(), 1);
}

Test(parallel, without_a_choice_there_is_at_least_one)
{
    cr_assert(tap_get_threads() >= 1 && tap_get_threads() <= 256);
}

Test(parallel, inside_a_parallel_region_threads_do_not_multiply)
{
    int most = 0;
    tap_set_threads(4);
#pragma omp parallel num_threads(2) reduction(max : most)
    most = tap_threads_for(1e9);
    cr_assert_eq(most, 1);
}

Test(parallel, division_rounds_up_without_overflow)
{
    cr_assert_eq(tap_ceil_div(0, 7), 0);
    cr_assert_eq(tap_ceil_div(7, 7), 1);
    cr_assert_eq(tap_ceil_div(8, 7), 2);
    cr_assert_eq(tap_ceil_div((size_t)-1, 2), ((size_t)-1) / 2 + 1);
    cr_assert_eq(tap_min_size(3, 5), 3);
    cr_assert_eq(tap_min_size(5, 3), 3);
}
