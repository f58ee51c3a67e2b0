/*
 * A table of distinct strings, each with an index. Private to src/data.
 */
#ifndef CR_DATA_CATEGORY_TABLE_H
#define CR_DATA_CATEGORY_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define CR_CATEGORIES_MAX 10000 /* strings of a table */

struct cr_category_table {
    struct cr_arena *arena;
    int32_t n;
    const char **word;
    int32_t *slot; /* hash table of index + 1; 0: free */
    uint32_t cap;
    bool broken_int, broken_real; /* some string is not an int32, not a
                                     float32 */
};

/* Returns the index of a string. If the string is not in the table and `add` is
 * set, it is copied into the table. -1: not found, or the table is full. */
int32_t cr_category_table_code(struct cr_category_table *words,
                               const char *text, size_t len, bool add);
/* "setosa, versicolor and 3 more" */
const char *cr_category_table_list(struct cr_arena *arena,
                                   const struct cr_category_table *words);

#endif
