/* config.c: making and clearing a config. */
#include "config.h"

#include <string.h>

#include "config_assign.h"

/* Gives a key its default from the table; a key that follows another gets that key's default. */
static bool assign_default(struct tap_config *config, size_t i, struct tap_config_errors *errors)
{
    const struct tap_config_key *key = &tap_config_keys[i];
    const char *initial = key->initial;
    if (key->follows != NULL)
        initial = tap_config_keys[tap_config_key_index(key->group, key->follows)].initial;
    struct tap_config_value value = {.text = initial, .n_bytes = strlen(initial)};
    if (strcmp(initial, "[]") == 0)
        value.text = NULL;
    return tap_config_assign(config, i, &value, (struct tap_config_place){0}, errors);
}

bool tap_config_init(struct tap_config *config, struct tap_error *error)
{
    struct tap_config_errors errors = {0};
    *config = (struct tap_config){0};
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS && tap_config_errors_count(&errors) == 0; i++)
        assign_default(config, i, &errors);
    bool is_good = tap_config_errors_count(&errors) == 0;
    TAP_CHECK(errors.n_messages == 0); /* the table accepts its own defaults */
    tap_config_errors_clear(&errors);
    if (!is_good) {
        tap_config_clear(config);
        tap_error_memory(error, "the config");
    }
    return is_good;
}

void tap_config_clear(struct tap_config *config)
{
    for (size_t i = 0; i < TAP_CONFIG_N_KEYS; i++)
        tap_config_value_free(&tap_config_keys[i], tap_config_field(config, i));
    struct tap_config_texts sources = {config->sources, config->n_sources};
    tap_config_texts_clear(&sources);
    *config = (struct tap_config){0};
}
