/* test_recipes.c: the configs that come with the project reach what they say. Once, in float and without sanitizers:
 * these are whole trainings. */
#include "run_program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined TAP_REAL_IS_DOUBLE && !defined __SANITIZE_ADDRESS__

/* The largest accuracy, in percent, of the lines "... <split>: loss ... accuracy A%". */
static double best_accuracy(const char *out, const char *split)
{
    double best = -1;
    char mark[32];
    snprintf(mark, sizeof mark, "  %s: loss", split);
    for (const char *line = strstr(out, mark); line != NULL; line = strstr(line + 1, mark)) {
        double accuracy = strtod(strstr(line, "accuracy ") + strlen("accuracy "), NULL);
        best = accuracy > best ? accuracy : best;
    }
    return best;
}

Test(recipes, tiny_cfg_tells_who_chases_whom, .fini = work_remove)
{
    struct program_result run = RUN("train", "--config", "train/tiny.cfg", "--out", work_path("run"), "--threads", "1");
    expect_done(run);
    cr_assert_geq(best_accuracy(run.out, "valid"), 99, "%s", run.out);
}

Test(recipes, without_positions_order_cannot_be_told, .fini = work_remove)
{
    struct program_result run = RUN("train", "--config", "train/tiny.cfg", "--set", "model.positions=none", "--set",
                                    "train.epochs=3", "--out", work_path("run"), "--threads", "1");
    expect_done(run);
    /* both twins of every sentence get one and the same answer: exactly half of them are right, but for rounding */
    double accuracy = best_accuracy(run.out, "valid");
    cr_assert(accuracy >= 49 && accuracy <= 51, "%g %%", accuracy);
}

Test(recipes, spam_cfg_knows_spam, .fini = work_remove)
{
    const char *folder = getenv("TAPESTRY_DATA") != NULL ? getenv("TAPESTRY_DATA") : "../shared/data";
    const char *file = text_of("%s/sms_spam/SMSSpamCollection", folder);
    if (!exists(file))
        cr_skip_test("%s is not there", file);
    struct program_result run = RUN("train", "--config", "train/spam.cfg", "--set", text_of("data.train=%s", file), "--out",
                                    work_path("run"), "--threads", "1");
    expect_done(run);
    cr_assert_geq(best_accuracy(run.out, "test"), 97.5, "%s", run.out);
}

#endif

Test(recipes, heads_and_layers_change_by_set_alone, .fini = work_remove)
{
    static const int heads[] = {1, 2, 4, 8, 16}, layers[] = {1, 2, 4, 6, 12};
    for (int h = 0; h < 5; h++)
        for (int l = 0; l < 5; l++)
            expect_done(RUN("train", "--config", "train/tiny.cfg", "--set", text_of("model.heads=%d", heads[h]), "--set",
                            text_of("model.layers=%d", layers[l]), "--set", "task.rows=40", "--set", "train.steps=1",
                            "--set", "train.batch_size=4", "--threads", "1", "--out",
                            work_path(text_of("run-%d-%d", heads[h], layers[l]))));
}
