/* parallel.c: see parallel.h. */
#include "parallel.h"

#include <omp.h>

#define MAX_THREADS 256
/* Starting a team costs some microseconds: as much as this many scalar operations. */
#define COST_OF_A_TEAM 50000.0

static int chosen_threads; /* 0: not chosen yet */

void tap_set_threads(int n_threads)
{
    if (n_threads <= 0)
        n_threads = omp_get_max_threads(); /* those the process may run on, or OMP_NUM_THREADS */
    chosen_threads = n_threads > MAX_THREADS ? MAX_THREADS : n_threads;
}

int tap_get_threads(void)
{
    if (chosen_threads == 0)
        tap_set_threads(0);
    return chosen_threads;
}

int tap_threads_for(double cost)
{
    if (cost < COST_OF_A_TEAM || omp_in_parallel())
        return 1;
    return tap_get_threads();
}
