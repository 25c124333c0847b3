/* predict_fixture.h: a trained model, and ./predict run with it. */
#ifndef PREDICT_FIXTURE_H
#define PREDICT_FIXTURE_H

#include "run_program.h"

#define MODEL work_path("run/last.npz")

/* A model of the words of the tiny data, in MODEL; the .init of a suite. Its labels: bad, good, so so. */
void make_model(void);

/* Trains MODEL on a file that is there, with more `data` keys ("format: csv, text_column: text"). */
void make_model_of(const char *path, const char *data_keys);

/* Line i of a text, from 0, with its end. */
const char *line_of(const char *text, int i);

/* ./predict with input and further arguments; it must succeed. */
#define PREDICT(text, ...) predict_with(text, (const char *const[]){"--model", MODEL, __VA_ARGS__, NULL})
const char *predict_with(const char *input, const char *const *arguments);

/* The same, but the result is the caller's. */
#define TRY_PREDICT(text, ...) try_predict(text, (const char *const[]){"--model", MODEL, __VA_ARGS__, NULL})
struct program_result try_predict(const char *input, const char *const *arguments);

#endif
