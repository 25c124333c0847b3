/* test_embedding.c: cases of the embedding layer, and what is known of sinusoidal positions. */
#include "layer_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/op_cases.h"

static void add(struct layer_run *run, const struct layer_case *c, struct tap_error *error)
{
    struct tap_embedding_options options = *(const struct tap_embedding_options *)c->options;
    options.vocabulary = LAYER_VOCABULARY;
    options.d_model = c->d_model;
    tap_embedding_layer_add(&run->layer.embedding, &run->parameters, &options, error);
}

/* x is added, so that it has a gradient as in the other layers. */
static struct tap_tensor *forward(struct layer_run *run, const struct tap_context *context)
{
    struct tap_tensor *y = tap_embedding_layer_forward(&run->layer.embedding, context, layer_tokens, LAYER_TOKENS);
    return tap_add(context->tape, y, run->x);
}

static void clear(struct layer_run *run)
{
    tap_embedding_layer_clear(&run->layer.embedding);
}

static const struct tap_embedding_options none = {.max_length = 5, .positions = TAP_POSITIONS_NONE},
                                          sinusoidal = {.max_length = 5, .positions = TAP_POSITIONS_SINUSOIDAL},
                                          learned = {.max_length = 8, .positions = TAP_POSITIONS_LEARNED},
                                          scaled = {.max_length = 5, .positions = TAP_POSITIONS_SINUSOIDAL, .scale = true},
                                          scaled_learned = {.max_length = 5, .positions = TAP_POSITIONS_LEARNED, .scale = true},
                                          dropped = {.max_length = 6, .positions = TAP_POSITIONS_LEARNED, .scale = true, .dropout = 0.3},
                                          spelled = {.max_length = 5, .character_buckets = LAYER_CHARACTER_BUCKETS},
                                          paired = {.max_length = 5, .bigram_buckets = LAYER_BIGRAM_BUCKETS},
                                          both = {.max_length = 5,
                                                  .positions = TAP_POSITIONS_SINUSOIDAL,
                                                  .scale = true,
                                                  .dropout = 0.3,
                                                  .character_buckets = LAYER_CHARACTER_BUCKETS,
                                                  .bigram_buckets = LAYER_BIGRAM_BUCKETS};
static const struct layer_case cases[] = {
    {"no positions", 6, &none, false},         {"sinusoidal", 5, &sinusoidal, false},
    {"learned", 6, &learned, false},           {"scaled", 4, &scaled, false},
    {"scaled, learned", 1, &scaled_learned, false}, {"dropout", 6, &dropped, true},
    {"character n-grams", 5, &spelled, false}, {"bigrams", 4, &paired, false},
    {"n-grams, scaled, dropout", 6, &both, true},
};
LAYER_CASES(tap_embedding_layer, cases, add, forward, clear);

Test(sinusoidal_positions, five_positions_of_width_four_are_these)
{
    const double right[] = {0,        1,        0,       1,       0.84147,  0.54030,  0.01000, 0.99995, 0.90930, -0.41615,
                            0.02000,  0.99980,  0.14112, -0.98999, 0.03000, 0.99955,  -0.75680, -0.65364, 0.03999, 0.99920};
    tap_real table[20];
    tap_sinusoidal_positions(5, 4, table);
    for (int i = 0; i < 20; i++)
        cr_assert_float_eq((double)table[i], right[i], 6e-6, "number %d: %g", i, (double)table[i]); /* five digits are given */
}

Test(sinusoidal_positions, an_odd_width_ends_with_a_sine)
{
    tap_real odd[7 * 5], one[7];
    tap_sinusoidal_positions(7, 5, odd);
    tap_sinusoidal_positions(7, 1, one);
    for (int p = 0; p < 7; p++) {
        cr_assert_float_eq((double)odd[p * 5 + 4], sin(p / pow(10000, 4.0 / 5)), TAP_REAL_EPSILON);
        cr_assert_float_eq((double)odd[p * 5 + 3], cos(p / pow(10000, 2.0 / 5)), TAP_REAL_EPSILON);
        cr_assert_float_eq((double)one[p], sin(p), TAP_REAL_EPSILON);
    }
}

/* The matrix is built from the angles' addition: each pair (sin, cos) is turned by the pair of position k. */
Test(sinusoidal_positions, one_matrix_for_each_offset_leads_from_every_position_to_the_one_that_far_ahead)
{
    enum { N = 90, D = 16 };
    static tap_real table[N * D];
    static const size_t offsets[] = {1, 2, 7, 40};
    tap_sinusoidal_positions(N, D, table);
    for (size_t k = 0; k < sizeof offsets / sizeof offsets[0]; k++) {
        double matrix[D][D] = {{0}};
        for (size_t i = 0; i < D; i += 2) {
            double sine = (double)table[offsets[k] * D + i], cosine = (double)table[offsets[k] * D + i + 1];
            matrix[i][i] = matrix[i + 1][i + 1] = cosine;
            matrix[i][i + 1] = sine;
            matrix[i + 1][i] = -sine;
        }
        for (size_t p = 0; p + offsets[k] < N; p++)
            for (size_t i = 0; i < D; i++) {
                double moved = 0;
                for (size_t j = 0; j < D; j++)
                    moved += matrix[i][j] * (double)table[p * D + j];
                /* an angle of up to N is itself rounded, in double */
                cr_assert_float_eq(moved, (double)table[(p + offsets[k]) * D + i], 4 * TAP_REAL_EPSILON + N * DBL_EPSILON, "offset %zu, position %zu",
                                   offsets[k], p);
            }
    }
}

enum { MANY = 10000, WIDTH = 32 };
static tap_real many[MANY * WIDTH];

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, WIDTH * sizeof(tap_real));
}

Test(sinusoidal_positions, ten_thousand_positions_are_bounded_by_one_and_distinct)
{
    tap_sinusoidal_positions(MANY, WIDTH, many);
    for (size_t i = 0; i < (size_t)MANY * WIDTH; i++)
        cr_assert(fabs((double)many[i]) <= 1);
    qsort(many, MANY, WIDTH * sizeof *many, compare_rows);
    for (size_t p = 1; p < MANY; p++)
        cr_assert_neq(compare_rows(many + (p - 1) * WIDTH, many + p * WIDTH), 0);
}

Test(embedding_layer, a_tokens_vector_is_scaled_and_its_position_added)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    for (int scale = 0; scale < 2; scale++)
        for (int learned_ones = 0; learned_ones < 2; learned_ones++) {
            struct layer_run run;
            struct tap_error error = {0};
            layer_set_up(&run, &tap_embedding_layer_cases, &cases[scale ? learned_ones ? 4 : 3 : learned_ones ? 2 : 1], &error);
            const struct tap_embedding_layer *layer = &run.layer.embedding;
            size_t d = layer->options.d_model;
            tap_tape_reset(tape);
            struct tap_tensor *y = tap_embedding_layer_forward(&run.layer.embedding, &context, layer_tokens, LAYER_TOKENS);
            const size_t places[LAYER_TOKENS] = {0, 1, 2, 0, 0, 1, 2, 3, 4};
            tap_real table[5 * 8];
            tap_sinusoidal_positions(5, d, table);
            const tap_real *positions = learned_ones ? layer->position->data : table;
            for (size_t n = 0; n < LAYER_TOKENS; n++)
                for (size_t j = 0; j < d; j++) {
                    double right = (double)layer->weight->data[layer_tokens[n] * d + j] * (scale ? sqrt((double)d) : 1) +
                                   (double)positions[places[n] * d + j];
                    cr_assert_float_eq((double)y->data[n * d + j], right, 10 * TAP_REAL_EPSILON);
                }
            layer_tear_down(&run, &tap_embedding_layer_cases);
        }
    tap_tape_free(tape);
}

Test(embedding_layer, a_sequence_longer_than_its_positions_is_refused)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    const enum tap_positions kinds[] = {TAP_POSITIONS_SINUSOIDAL, TAP_POSITIONS_LEARNED};
    for (int i = 0; i < 2; i++) {
        struct tap_parameters parameters = {0};
        struct tap_embedding_layer layer = {0};
        struct tap_error error = {0};
        const struct tap_embedding_options options = {.vocabulary = LAYER_VOCABULARY, .d_model = 4, .max_length = 4, .positions = kinds[i]};
        tap_embedding_layer_add(&layer, &parameters, &options, &error);
        initialize_all(&parameters, &error);
        cr_assert_null(tap_embedding_layer_forward(&layer, &context, layer_tokens, LAYER_TOKENS));
        cr_assert_str_eq(tap_tape_error(tape)->message,
                         "tap_add_positions: the longest sequence has 5 tokens; the table has 4 rows");
        tap_tape_reset(tape);
        tap_parameters_clear(&parameters);
        tap_embedding_layer_clear(&layer);
    }
    tap_tape_free(tape);
}

Test(embedding_layer, vectors_start_with_length_one_and_positions_with_deviation_a_fiftieth)
{
    struct tap_parameters parameters = {0};
    struct tap_embedding_layer layer = {0};
    struct tap_error error = {0};
    const struct tap_embedding_options options = {.vocabulary = 500, .d_model = 64, .max_length = 300, .positions = TAP_POSITIONS_LEARNED};
    tap_embedding_layer_add(&layer, &parameters, &options, &error);
    initialize_all(&parameters, &error);
    const struct tap_tensor *tensors[] = {parameter_of(&parameters, "embedding.weight", 500, 64),
                                          parameter_of(&parameters, "position.weight", 300, 64)};
    const double deviations[] = {1.0 / 8, 0.02};
    for (int k = 0; k < 2; k++) {
        double n = (double)tensors[k]->size, sum = 0, squares = 0, variance = deviations[k] * deviations[k];
        for (size_t i = 0; i < tensors[k]->size; i++) {
            sum += (double)tensors[k]->data[i] / n;
            squares += (double)tensors[k]->data[i] * (double)tensors[k]->data[i] / n;
        }
        cr_assert_float_eq(sum, 0, 5 * deviations[k] / sqrt(n)); /* five standard deviations */
        cr_assert_float_eq(squares, variance, 5 * variance * sqrt(2 / n));
    }
    tap_parameters_clear(&parameters);
    tap_embedding_layer_clear(&layer);
}

Test(embedding_layer, the_mean_of_a_tokens_character_ngrams_and_its_bigram_are_added)
{
    struct tap_tape *tape = test_tape();
    struct tap_context context = layer_context(tape, false);
    struct layer_run run;
    struct tap_error error = {0};
    layer_set_up(&run, &tap_embedding_layer_cases, &cases[8], &error);
    const struct tap_embedding_layer *layer = &run.layer.embedding;
    size_t d = layer->options.d_model;
    tap_real positions[5 * 8];
    struct tap_tensor *y = tap_embedding_layer_forward(&run.layer.embedding, &context, layer_tokens, LAYER_TOKENS);
    tap_sinusoidal_positions(5, d, positions);
    for (size_t j = 0; j < d; j++) { /* token 2, the third of its sequence: characters 2, 1, 1, bigram 0 */
        double mean = ((double)layer->characters->data[2 * d + j] + 2 * (double)layer->characters->data[d + j]) / 3;
        double sum = (double)layer->weight->data[layer_tokens[2] * d + j] + mean + (double)layer->bigrams->data[j];
        cr_assert_float_eq((double)y->data[2 * d + j], sum * sqrt((double)d) + (double)positions[2 * d + j], 20 * TAP_REAL_EPSILON);
    }
    context.ngrams = NULL;
    cr_assert_null(tap_embedding_layer_forward(&run.layer.embedding, &context, layer_tokens, LAYER_TOKENS));
    cr_assert_str_eq(tap_tape_error(tape)->message, "tap_embedding_bag: the bags of 9 rows are missing");
    layer_tear_down(&run, &tap_embedding_layer_cases);
    tap_tape_free(tape);
}

Test(embedding_layer, tables_of_ngrams_start_at_zero)
{
    struct tap_parameters parameters = {0};
    struct tap_error error = {0};
    struct tap_embedding_layer layer;
    const struct tap_embedding_options options = {.vocabulary = 3, .d_model = 4, .max_length = 5, .character_buckets = 6, .bigram_buckets = 7};
    tap_embedding_layer_add(&layer, &parameters, &options, &error);
    initialize_all(&parameters, &error);
    const struct tap_tensor *tables[] = {parameter_of(&parameters, "character_ngrams.weight", 6, 4),
                                         parameter_of(&parameters, "bigrams.weight", 7, 4)};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < tables[i]->size; k++)
            cr_assert_eq(tables[i]->data[k], 0);
    tap_embedding_layer_clear(&layer);
    tap_parameters_clear(&parameters);
}
