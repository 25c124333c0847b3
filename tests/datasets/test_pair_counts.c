/* test_pair_counts.c: the most frequent pair is the right one while counts rise and fall. */
#include "pair_counts.h"

#include <criterion/criterion.h>

#include <string.h>

Test(pair_counts, the_most_frequent_pair_is_found_while_counts_change)
{
    struct tap_string_table texts = {0};
    uint32_t numbers[4];
    const char *const names[] = {"b", "##a", "a", "##b"};
    for (size_t i = 0; i < 4; i++)
        cr_assert(tap_string_table_add(&texts, names[i], strlen(names[i]), &numbers[i]));
    struct tap_pair_counts pairs = {.texts = &texts, .least = 2};
    uint32_t pair;
    cr_expect_not(tap_pair_counts_pop(&pairs, &pair));
    cr_assert(tap_pair_counts_add(&pairs, 0, 1, 7, 3) && tap_pair_counts_add(&pairs, 0, 3, 7, 5) &&
              tap_pair_counts_add(&pairs, 2, 3, 8, 3) && tap_pair_counts_add(&pairs, 2, 1, 9, 1));
    cr_assert(tap_pair_counts_pop(&pairs, &pair));
    cr_expect(pairs.pairs[pair].left == 0 && pairs.pairs[pair].right == 3 && pairs.pairs[pair].count == 5);
    cr_expect_eq(pairs.places[pairs.pairs[pair].last_place].row, 7);
    tap_pair_counts_take(&pairs, 0, 1, 2); /* falls below `least` */
    cr_assert(tap_pair_counts_add(&pairs, 2, 1, 9, 2));
    cr_assert(tap_pair_counts_pop(&pairs, &pair));
    cr_expect(pairs.pairs[pair].left == 2 && pairs.pairs[pair].right == 1, "a ##a before a ##b, 3 times each");
    tap_pair_counts_take(&pairs, 2, 3, 1); /* falls, and is found as often as it is now */
    cr_assert(tap_pair_counts_pop(&pairs, &pair));
    cr_expect(pairs.pairs[pair].left == 2 && pairs.pairs[pair].right == 3 && pairs.pairs[pair].count == 2);
    cr_expect_not(tap_pair_counts_pop(&pairs, &pair));
    cr_assert(tap_pair_counts_add(&pairs, 0, 1, 9, 1));
    cr_assert(tap_pair_counts_pop(&pairs, &pair));
    cr_expect(pairs.pairs[pair].left == 0 && pairs.pairs[pair].right == 1, "back at 2");
    cr_expect_not(tap_pair_counts_pop(&pairs, &pair));
    tap_pair_counts_clear(&pairs);
    tap_string_table_clear(&texts);
}
