/* error.h: how the library says no. A request that cannot be met (shape, value, file, memory) gives a status and one
 * message with the actual values; nothing here prints or exits. TAP_CHECK is for our own broken invariants alone. */
#ifndef TAP_ERROR_H
#define TAP_ERROR_H

enum tap_status {
    TAP_OK = 0,
    TAP_ERR_SHAPE,     /* shapes that do not fit one another */
    TAP_ERR_VALUE,     /* a value outside what is accepted, in a call, a config or a data file */
    TAP_ERR_MEMORY,    /* no memory */
    TAP_ERR_IO,        /* the operating system refused: open, read, write, disk full */
    TAP_ERR_FORMAT,    /* a file that is not what it claims to be: damaged, truncated, another kind */
    TAP_ERR_NONFINITE, /* NaN or infinity where a number is needed */
};

#define TAP_ERROR_MESSAGE_BYTES 1024

/* The first error is kept; later ones do not overwrite it. Zero-initialise before use. */
struct tap_error {
    enum tap_status status;
    char message[TAP_ERROR_MESSAGE_BYTES];
};

/* Marks `error` (NULL: nothing is kept) with a status and a printf message of one line, unless it is marked already.
 * Returns `status`, so that `return tap_error_set(...)` reads well. */
enum tap_status tap_error_set(struct tap_error *error, enum tap_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Marks `error` as out of memory, naming what was being made. */
enum tap_status tap_error_memory(struct tap_error *error, const char *what);

void tap_error_clear(struct tap_error *error);

#ifdef TAP_CHECKS
void tap_check_failed(const char *file, int line, const char *expression) __attribute__((noreturn));
#define TAP_CHECK(expression) ((expression) ? (void)0 : tap_check_failed(__FILE__, __LINE__, #expression))
#else
#define TAP_CHECK(expression) ((void)sizeof(!(expression)))
#endif

#endif
