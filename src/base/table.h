/*
 * Rows and columns of text: aligned for people, or separated by tabs.
 */
#ifndef CR_BASE_TABLE_H
#define CR_BASE_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

struct cr_table {
    struct cr_arena *arena; /* must be set */
    const char *align;      /* one of 'l', 'r' per column */
    int cells, cap;
    const char **cell; /* row by row */
};

/* Adds the next cell, row by row; control bytes are escaped. */
void cr_table_add(struct cr_table *table, const char *text);
void cr_table_f(struct cr_table *table, const char *format, ...)
    CR_PRINTF(2, 3);
/* Aligned with two blanks between columns, or with tabs (TSV). */
void cr_table_print(const struct cr_table *table, FILE *to, bool tabs);

/* Escapes control bytes and invalid UTF-8 in a text of a file or user, for a
 * terminal. */
const char *cr_escape(struct cr_arena *arena, const char *text);

#endif
