/* layers.c: see layers.h. */
#include "layers.h"

const struct tap_layer_entry tap_layers[] = {
#define TAP_LAYER(name, formula) {#name, formula},
#include "layers.def"
#undef TAP_LAYER
};
const size_t tap_n_layers = sizeof tap_layers / sizeof tap_layers[0];
