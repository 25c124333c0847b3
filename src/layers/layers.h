/* layers.h: the table of all layers, expanded from layers.def, for tests and documentation. */
#ifndef TAP_LAYERS_H
#define TAP_LAYERS_H

#include <stddef.h>

struct tap_layer_entry {
    const char *name; /* "tap_linear_layer" */
    const char *formula;
};
extern const struct tap_layer_entry tap_layers[];
extern const size_t tap_n_layers;

#endif
