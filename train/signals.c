/* signals.c: a signal asks the run to stop after the step at hand; a second one does not wait. */
#include "training.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t received;

static void note(int number)
{
    if (received != 0)
        _exit(128 + number);
    received = number;
}

void signals_start(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void ignore_broken_pipes(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int signals_received(void)
{
    return received;
}

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
