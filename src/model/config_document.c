/* config_document.c: docs/config.md, made from the table, so that the page and the code cannot differ. */
#include <string.h>

#include "config_value.h"

static const char introduction[] =
    "# Config\n"
    "\n"
    "<!-- Made by `make docs/config.md` from src/model/config.def; `make test` fails when it is out of date. -->\n"
    "\n"
    "A config is a YAML file of two levels, in UTF-8: groups, and in each group keys with their values. What is left\n"
    "out has its default; an empty file is all defaults.\n"
    "\n"
    "```\n"
    "model:\n"
    "  heads: 4        # a comment\n"
    "optim:\n"
    "  lr: 2e-3\n"
    "```\n"
    "\n"
    "`--set group.key=value` sets a key after the file was read; of one key the last value holds. The value is taken\n"
    "as it stands, without the blanks around it; one that begins with a quote or `[` is read as YAML:\n"
    "`--set train.class_weights=\"[1, 2.5]\"`.\n"
    "\n"
    "- An integer is decimal digits after an optional sign: no point, no exponent (`1e2`), no leading zero (`08`,\n"
    "  `-0`), no hexadecimal, up to 2147483647.\n"
    "- A number is decimal digits with at most one point, after an optional sign, before an optional exponent: "
    "`1e-3`,\n"
    "  `.001`, `+1E-3`, `10`. No nan, no inf, no hexadecimal; neither what is too large for a double (`1e400`) nor "
    "what\n"
    "  is nearer to 0 than any double (`1e-400`). The decimal point is a point under every locale.\n"
    "- A flag is `true` or `false`. Quotes around a value make no difference. `~` and `null` are texts.\n"
    "- A list is `[a, b]`, or lines that begin with `- `.\n"
    "- Paths are relative to the current folder, and stored absolute; \"\" is none.\n"
    "- No anchors, aliases, tags or second document; a group or key given twice is an error. All errors are listed.\n"
    "- What is \"not supported yet\" is known by name and refused; defaults are always accepted.\n"
    "- \\* marks the keys that may change when a run is resumed.\n";

/* Appends text with what a Markdown table would take as a border escaped. */
static void add_cell(const char *text, struct tap_config_text *out)
{
    for (const char *c = text; *c != '\0'; c++)
        tap_config_text_add(out, *c == '|' ? "\\%c" : "%c", *c);
}

static void add_key(const struct tap_config_key *key, struct tap_config_text *out)
{
    struct tap_config_text accepted = {0};
    tap_config_accepted(key, true, &accepted);
    tap_config_text_add(out, "| %s%s | ", key->name, key->may_change ? " \\*" : "");
    if (key->follows != NULL)
        tap_config_text_add(out, "as %s", key->follows);
    else
        tap_config_text_add(out, "`%s`", key->initial[0] != '\0' ? key->initial : "\"\"");
    tap_config_text_add(out, " | ");
    if (accepted.out_of_memory)
        out->out_of_memory = true;
    else
        add_cell(accepted.bytes, out);
    tap_config_text_add(out, " | ");
    add_cell(key->about, out);
    tap_config_text_add(out, " |\n");
    tap_config_text_clear(&accepted);
}

void tap_config_document(struct tap_config_text *out)
{
    tap_config_text_add(out, "%s", introduction);
    for (size_t g = 0; g < TAP_CONFIG_N_GROUPS; g++) {
        const struct tap_config_group *group = &tap_config_groups[g];
        tap_config_text_add(out, "\n## %s\n\n%s\n\n", group->name, group->about);
        tap_config_text_add(out, "| key | default | accepted | meaning |\n|---|---|---|---|\n");
        for (size_t i = group->first_key; i < group->first_key + group->n_keys; i++)
            add_key(&tap_config_keys[i], out);
    }
}
