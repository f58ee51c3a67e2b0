/*
 * A list of different words, each with its number. Private to src/data.
 */
#ifndef CR_DATA_WORDS_H
#define CR_DATA_WORDS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Different words, numbered as they come. */
#define CR_WORDS_MAX 10000

struct cr_words {
    struct cr_arena *arena;
    int32_t n;
    const char **word;
    int32_t *slot;          /* by hash, number and one; 0: free */
    uint32_t cap;
    bool broken_int, broken_real; /* some word is no such number */
};

/* The number of a word, which is added if asked for; -1: it is not there,
 * or there are too many. */
int32_t cr_words_code(struct cr_words *words, const char *text, size_t len,
                      bool add);
/* "setosa, versicolor and 3 more" */
const char *cr_words_list(struct cr_arena *arena,
                          const struct cr_words *words);

#endif
