/* batch_lengths.c: what a config trains, for a peer that is to do the same work: prints the model's sizes as arguments
 * of peer_step.py, and writes the lengths of the sequences of epoch 1, one batch a line. */
#include "tapestry.h"

#include <stdio.h>

static int fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return 1;
}

/* Writes the lengths; their mean, for a peer that wants all sequences alike. 0: the file could not be written. */
static uint32_t write_lengths(struct tap_batches *batches, const char *path)
{
    struct tap_batch batch;
    uint64_t n_tokens = 0, n_sequences = 0;
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 0;
    while (tap_batches_next(batches, 0, &batch)) {
        const uint32_t *offsets = batch.segments.offsets;
        for (uint32_t s = 0; s < batch.segments.n; s++)
            fprintf(file, "%u%c", (unsigned)(offsets[s + 1] - offsets[s]), s + 1 < batch.segments.n ? ' ' : '\n');
        n_tokens += batch.n_tokens;
        n_sequences += batch.segments.n;
    }
    if (fclose(file) != 0 || n_sequences == 0)
        return 0;
    return (uint32_t)((n_tokens + n_sequences / 2) / n_sequences);
}

int main(int argc, char **argv)
{
    struct tap_error error = {0};
    struct tap_config config;
    struct tap_config_errors errors = {0};
    if (argc != 3)
        return fail("usage: batch_lengths CONFIG LENGTHS");
    if (!tap_config_init(&config, &error))
        return fail(error.message);
    tap_config_read_file(&config, argv[1], &errors);
    tap_config_finish(&config, &errors);
    if (tap_config_errors_count(&errors) > 0)
        return fail(tap_config_errors_get(&errors, 0));
    const struct tap_data_options source = tap_config_data_options(&config);
    const struct tap_batches_options cut = {
        .batch_size = (uint32_t)config.train.batch_size,
        .batch_tokens = (uint32_t)config.train.batch_tokens,
        .shuffle = true,
        .seed = (uint64_t)config.train.seed,
    };
    struct tap_data *data = tap_data_open(&source, NULL, NULL, 0, &error);
    struct tap_batches *batches = data == NULL ? NULL : tap_batches_new(&data->parts[TAP_PART_TRAIN], &cut, &error);
    if (batches == NULL)
        return fail(error.message);
    uint32_t mean = write_lengths(batches, argv[2]);
    if (mean == 0)
        return fail("the file of lengths cannot be written");
    printf("--d_model %d --heads %d --layers %d --d_ff %d --dropout %g --vocab %u --classes %zu --sequences %d "
           "--length %u\n",
           config.model.d_model, config.model.heads, config.model.layers, config.model.d_ff, config.model.dropout,
           (unsigned)tap_tokenizer_n_tokens(data->tokenizer), data->n_labels, config.train.batch_size, (unsigned)mean);
    tap_batches_free(batches);
    tap_data_free(data);
    tap_config_errors_clear(&errors);
    tap_config_clear(&config);
    return 0;
}
