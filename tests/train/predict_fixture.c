/* predict_fixture.c: see predict_fixture.h. */
#include "predict_fixture.h"

#include "tiny_run.h"

#include <criterion/criterion.h>
#include <string.h>

void make_model_of(const char *path, const char *data_keys)
{
    write_text_file(work_path("test.cfg"),
                    text_of("model: {d_model: 8, heads: 2, layers: 2, d_ff: 16}\ndata: {train: %s, "
                            "%s}\ntrain: {epochs: 3, batch_size: 8}\noptim: {lr: 1e-2}\n",
                            path, data_keys));
    expect_done(RUN("train", "--config", work_path("test.cfg"), "--out", work_path("run")));
}

void make_model(void)
{
    write_tiny_data(work_path("data.tsv"), 40);
    make_model_of(work_path("data.tsv"), "max_length: 12, char_ngrams: 50, bigrams: 40");
}

const char *line_of(const char *text, int i)
{
    for (; i > 0; i--)
        text = strchr(text, '\n') + 1;
    return text_of("%.*s", (int)(strchr(text, '\n') - text) + 1, text);
}

struct program_result try_predict(const char *input, const char *const *arguments)
{
    const struct program_options options = {.input = input};
    return run_program(&options, "predict", arguments);
}

const char *predict_with(const char *input, const char *const *arguments)
{
    struct program_result result = try_predict(input, arguments);
    expect_done(result);
    return result.out;
}
