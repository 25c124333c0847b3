/* test_predict_answers.c: --top, --threshold and --abstain of ./predict, in every format. */
#include "json.h"
#include "predict_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(predict_answers, .init = make_model, .fini = work_remove);

enum { N_LABELS = 3 };
static const char *const labels[] = {"bad", "good", "so so"};
static const char input[] = "plum fig pear\nnut\nunseen words\nleek bean rye apple\n";
enum { N_LINES = 4 };

/* Labels and probabilities of a line, by falling probability, as the plain JSON lines give them. */
struct ranking {
    const char *labels[N_LABELS];
    double probabilities[N_LABELS];
};

static struct ranking ranking_of(const char *line)
{
    struct ranking ranking = {0};
    const char *at = strstr(line, "\"probabilities\":{");
    cr_assert_not_null(at);
    for (int c = 0; c < N_LABELS; c++) {
        at = strstr(at, text_of("\"%s\":", labels[c])) + strlen(labels[c]) + 3;
        double probability = strtod(at, NULL);
        int place = c;
        for (; place > 0 && ranking.probabilities[place - 1] < probability; place--) {
            ranking.labels[place] = ranking.labels[place - 1];
            ranking.probabilities[place] = ranking.probabilities[place - 1];
        }
        ranking.labels[place] = labels[c];
        ranking.probabilities[place] = probability;
    }
    return ranking;
}

static struct ranking rankings[N_LINES];

static void rank_all(void)
{
    const char *lines = PREDICT(input, "--format", "jsonl");
    for (int i = 0; i < N_LINES; i++)
        rankings[i] = ranking_of(line_of(lines, i));
}

Test(predict_answers, top_labels_stand_by_falling_probability_in_every_format)
{
    rank_all();
    for (int k = 1; k <= 4; k++) {
        const char *top = text_of("%d", k);
        int n = k < N_LABELS ? k : N_LABELS;
        const char *label = PREDICT(input, "--top", top);
        const char *tsv = PREDICT(input, "--top", top, "--format", "tsv");
        const char *jsonl = PREDICT(input, "--top", top, "--format", "jsonl");
        const char *table = PREDICT(input, "--top", top, "--input-format", "tsv", "--text-column", "1");
        for (int i = 0; i < N_LINES; i++) {
            const char *names = "";
            const char *pairs = "";
            const char *list = "";
            for (int r = 0; r < n; r++) {
                const char *name = rankings[i].labels[r];
                double probability = rankings[i].probabilities[r];
                names = text_of("%s%s%s", names, r > 0 ? "\t" : "", name);
                pairs = text_of("%s%s\t%.9g\t", pairs, name, probability);
                list =
                    text_of("%s%s{\"label\":\"%s\",\"probability\":%.9g}", list, r > 0 ? "," : "", name, probability);
            }
            const char *text = text_of("%.*s", (int)strlen(line_of(input, i)) - 1, line_of(input, i));
            cr_expect_str_eq(line_of(label, i), text_of("%s\n", names));
            cr_expect_str_eq(line_of(tsv, i), text_of("%s%s\n", pairs, text));
            cr_expect_str_eq(line_of(table, i), text_of("%s\t%.*s\n", text, (int)strlen(pairs) - 1, pairs));
            cr_expect_not_null(strstr(line_of(jsonl, i), text_of(",\"top\":[%s]}\n", list)), "%s", line_of(jsonl, i));
        }
    }
}

Test(predict_answers, without_top_there_is_no_list_and_the_bytes_are_as_before)
{
    const char *jsonl = PREDICT(input, "--format", "jsonl");
    cr_expect_null(strstr(jsonl, "\"top\""));
    cr_expect_str_eq(PREDICT(input, "--top", "1"), PREDICT(input, "--format", "label"));
    cr_expect_str_eq(PREDICT(input, "--top", "1", "--format", "tsv"), PREDICT(input, "--format", "tsv"));
}

/* Half way between the best probabilities of the least and the most certain line: some are below, some above. */
static double middle(void)
{
    double least = 1;
    double most = 0;
    for (int i = 0; i < N_LINES; i++) {
        double best = rankings[i].probabilities[0];
        least = best < least ? best : least;
        most = best > most ? best : most;
    }
    cr_assert_gt(most - least, 1e-4);
    return (least + most) / 2;
}

Test(predict_answers, below_the_threshold_the_answer_is_the_abstain_label)
{
    rank_all();
    const char *threshold = text_of("%.9f", middle());
    const char *label = PREDICT(input, "--threshold", threshold, "--abstain", "no idea", "--top", "2");
    const char *tsv = PREDICT(input, "--threshold", threshold, "--format", "tsv");
    const char *jsonl = PREDICT(input, "--threshold", threshold, "--format", "jsonl", "--top", "1");
    const char *plain = PREDICT(input, "--format", "jsonl");
    const char *table = PREDICT(input, "--threshold", threshold, "--input-format", "csv", "--abstain", "\"no\", idea",
                                "--header", "no");
    for (int i = 0; i < N_LINES; i++) {
        const struct ranking *ranking = &rankings[i];
        bool abstains = ranking->probabilities[0] < middle();
        cr_expect_str_eq(line_of(label, i),
                         text_of("%s\t%s\n", abstains ? "no idea" : ranking->labels[0], ranking->labels[1]));
        const char *start = text_of("%s\t%.9g\t", abstains ? "unknown" : ranking->labels[0], ranking->probabilities[0]);
        cr_expect_eq(strncmp(line_of(tsv, i), start, strlen(start)), 0, "%s", line_of(tsv, i));
        const char *end =
            text_of(",%s,%.9g\n", abstains ? "\"\"\"no\"\", idea\"" : ranking->labels[0], ranking->probabilities[0]);
        const char *row = line_of(table, i);
        cr_expect_str_eq(row + strlen(row) - strlen(end), end);
        /* label alone changes: all else, the list too, is the model's */
        const char *object = line_of(jsonl, i);
        cr_expect_not_null(
            strstr(object, text_of("\"label\":\"%s\",\"logits\"", abstains ? "unknown" : ranking->labels[0])), "%s",
            object);
        cr_expect_not_null(strstr(object, text_of("\"top\":[{\"label\":\"%s\"", ranking->labels[0])));
        const char *rest = strstr(line_of(plain, i), "\"logits\"");
        cr_expect_not_null(strstr(object, text_of("%.*s", (int)strlen(rest) - 2, rest)));
    }
}

Test(predict_answers, the_ends_of_the_threshold)
{
    cr_expect_str_eq(PREDICT(input, "--threshold", "0"), PREDICT(input, "--format", "label"));
    cr_expect_str_eq(PREDICT(input, "--threshold", "1"), "unknown\nunknown\nunknown\nunknown\n");
}

Test(predict_answers, bad_values_are_named)
{
    static const char *const tops[] = {"0", "-1", "x", "1.5", "", "2147483648"};
    static const char *const thresholds[] = {"-0.1", "1.01", "x", "", "nan", "0,5"};
    static const char *const abstains[] = {"", "a\tb", "a\nb", "\xFF"};
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++)
        EXPECT_ERROR(TRY_PREDICT(input, "--top", tops[i]), 2, "--top: ", "from 1");
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
        EXPECT_ERROR(TRY_PREDICT(input, "--threshold", thresholds[i]), 2, "--threshold: ", "from 0 to 1");
    for (size_t i = 0; i < sizeof abstains / sizeof abstains[0]; i++)
        EXPECT_ERROR(TRY_PREDICT(input, "--threshold", "0.5", "--abstain", abstains[i]), 2,
                     "--abstain: ", "without tab or line break");
    EXPECT_ERROR(TRY_PREDICT(input, "--threshold", "0.5", "--abstain", "so so"), 2, "'so so' is a label of the model");
    EXPECT_ERROR(TRY_PREDICT(input, "--abstain", "none"), 2, "--abstain goes with --threshold");
    EXPECT_ERROR(TRY_PREDICT(input, "--text-column", "1"), 2, "--text-column goes with --input-format");
    EXPECT_ERROR(TRY_PREDICT(input, "--header", "yes"), 2, "--header goes with --input-format");
    EXPECT_ERROR(TRY_PREDICT(input, "--input-format", "jsonl", "--header", "yes"), 2, "--header goes with");
    EXPECT_ERROR(TRY_PREDICT(input, "--input-format", "csv", "--header", "maybe"), 2, "maybe", "auto, yes, no");
    EXPECT_ERROR(TRY_PREDICT(input, "--input-format", "xml"), 2, "xml", "text, csv, tsv, jsonl");
    EXPECT_ERROR(TRY_PREDICT(input, "--input-format", "csv", "--text-column", ""), 2, "--text-column: is empty");
    EXPECT_ERROR(TRY_PREDICT(input, "--input-format", "csv", "--text-column", "0"), 2, "--text-column: 0");
    EXPECT_ERROR(TRY_PREDICT(input, "--input-format", "csv", "--text-column", "text", "--header", "no"), 2, "--header");
    EXPECT_ERROR(TRY_PREDICT(input, "--input-format", "csv", "--vectors", "token"), 2, "--vectors goes with");
}

Test(predict_answers, an_abstain_label_that_the_model_has_by_default_is_refused)
{
    work_remove();
    write_text_file(work_path("data.tsv"), "unknown\tplum\nb\tfig\nunknown\tplum\nb\tfig\n");
    make_model_of(work_path("data.tsv"), "valid_fraction: 0");
    EXPECT_ERROR(TRY_PREDICT("plum\n", "--threshold", "0.5"), 2, "--abstain: 'unknown' is a label of the model");
    PREDICT("plum\n", "--threshold", "0.5", "--abstain", "none");
}
