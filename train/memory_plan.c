/* memory_plan.c: what a run will take, told before it starts: parameters, arithmetic and memory. */
#include "training.h"

#include <stdio.h>
#include <unistd.h>

/* The engine's packing buffers, thread stacks and what a save takes, as measured with the AVX-512 kernels. */
#define OVERHEAD_BYTES ((size_t)2 << 20)
/* Batches are looked at in so many epochs; the largest one of any further epoch is hardly larger. */
#define EPOCHS_LOOKED_AT 3

size_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Tokens of the largest batch of the first epochs, and its sequences; the place in the data is lost. */
static void largest_batch(struct training *training, uint32_t *out_tokens, uint32_t *out_sequences)
{
    struct tap_batch batch;
    *out_tokens = 0;
    *out_sequences = 0;
    for (uint64_t epoch = 1; epoch <= EPOCHS_LOOKED_AT; epoch++) {
        tap_batches_start(training->batches, epoch);
        while (tap_batches_next(training->batches, 0, &batch))
            if (batch.n_tokens > *out_tokens) {
                *out_tokens = batch.n_tokens;
                *out_sequences = batch.segments.n;
            }
    }
}

enum tap_status training_plan(struct training *training, struct tap_error *error)
{
    uint32_t bound_sequences, bound_tokens, longest, n_sequences, n_tokens;
    struct tap_tape_use use;
    struct training_needs *needs = &training->needs;
    size_t block_bytes = training->model->parameters.block_size * sizeof(tap_real);
    tap_batches_upper_bound(training->batches, &bound_sequences, &bound_tokens, &longest);
    largest_batch(training, &n_tokens, &n_sequences);
    if (tap_model_plan(training->model, training->tape, n_sequences, n_tokens, longest, &use, error) != TAP_OK)
        return error->status;
    needs->forward_flops_per_token = n_tokens > 0 ? use.forward_flops / n_tokens : 0;
    needs->parameter_bytes = training->model->parameters.n_numbers * sizeof(tap_real);
    needs->peak_bytes += tap_optimizer_n_states(training->optimizer) * block_bytes + use.n_bytes + use.record_bytes +
                         use.scratch_bytes + OVERHEAD_BYTES;
    return TAP_OK;
}
