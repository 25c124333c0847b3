/* listops.c: see listops.h. Each open list keeps how often each digit is among its members so far: all that any of the
 * operations needs. */
#include "listops.h"

#include <stdbool.h>
#include <string.h>

enum operation { OPERATION_NONE, OPERATION_MIN, OPERATION_MAX, OPERATION_MED, OPERATION_SM };

struct list {
    enum operation operation;
    size_t n_members;
    size_t counts[10]; /* of members with that value */
};

/* The member at this place when they are sorted. */
static int member_at(const struct list *list, size_t place)
{
    int value = 0;
    for (size_t n = list->counts[0]; n <= place; n += list->counts[value])
        value++;
    return value;
}

static int value_of(const struct list *list)
{
    size_t n = list->n_members;
    size_t sum = 0;
    switch (list->operation) {
    case OPERATION_MIN:
        return member_at(list, 0);
    case OPERATION_MAX:
        return member_at(list, n - 1);
    case OPERATION_MED:
        return (member_at(list, (n - 1) / 2) + member_at(list, n / 2)) / 2;
    case OPERATION_NONE: /* the text itself: a list of one */
    case OPERATION_SM:
        break;
    }
    for (size_t value = 0; value < 10; value++)
        sum += value * list->counts[value];
    return (int)(sum % 10);
}

static enum operation operation_of(const char *token, size_t n_bytes)
{
    static const char *const names[] = {
        [OPERATION_MIN] = "[MIN", [OPERATION_MAX] = "[MAX", [OPERATION_MED] = "[MED", [OPERATION_SM] = "[SM"};
    for (enum operation operation = OPERATION_MIN; operation <= OPERATION_SM; operation++)
        if (strlen(names[operation]) == n_bytes && memcmp(names[operation], token, n_bytes) == 0)
            return operation;
    return OPERATION_NONE;
}

static void add_member(struct list *list, int value)
{
    list->counts[value]++;
    list->n_members++;
}

/* Takes one token; false when it cannot stand here. stack[0] is the text itself. */
static bool take(struct list *stack, size_t *depth, const char *token, size_t n_bytes)
{
    enum operation operation = operation_of(token, n_bytes);
    if (operation != OPERATION_NONE) {
        if (*depth == TAP_LISTOPS_MOST_DEPTH)
            return false;
        stack[++*depth] = (struct list){.operation = operation};
        return true;
    }
    if (n_bytes != 1)
        return false;
    if (token[0] == '(' || token[0] == ')')
        return true;
    if (token[0] >= '0' && token[0] <= '9') {
        add_member(&stack[*depth], token[0] - '0');
        return true;
    }
    if (token[0] != ']' || *depth == 0 || stack[*depth].n_members == 0)
        return false;
    int value = value_of(&stack[(*depth)--]);
    add_member(&stack[*depth], value);
    return true;
}

enum tap_status tap_listops_value(const char *text, size_t n_bytes, int *out_value, struct tap_error *error)
{
    struct list stack[TAP_LISTOPS_MOST_DEPTH + 1] = {{.operation = OPERATION_NONE}};
    size_t depth = 0;
    for (size_t i = 0; i < n_bytes;) {
        size_t start = i;
        while (i < n_bytes && text[i] != ' ')
            i++;
        if (i > start && (!take(stack, &depth, text + start, i - start) || stack[0].n_members > 1))
            return tap_error_set(error, TAP_ERR_FORMAT, "listops: no such token can stand at byte %zu", start + 1);
        i++;
    }
    if (depth != 0 || stack[0].n_members != 1)
        return tap_error_set(error, TAP_ERR_FORMAT, "listops: the text ends before its value is complete");
    *out_value = value_of(&stack[0]);
    return TAP_OK;
}
