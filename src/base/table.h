/*
 * Rows and columns of text: aligned for people, or separated by tabs.
 *
 * On a terminal an aligned table takes its width, unless --wide is set: columns
 * become narrower, first those whose header is wider than their values, then
 * other text, then the key columns; numbers are never shortened. Where that is
 * not enough, columns are omitted, the last one first, and named below.
 */
#ifndef CR_BASE_TABLE_H
#define CR_BASE_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

struct cr_table {
    struct cr_arena *arena; /* must be set */
    const char *align;      /* per column 'l' (text) or 'r' (numbers); 'L',
                               'R': a key column, as the first one is */
    bool headless;          /* the first row is not a header */
    int cells, cap;
    const char **cell; /* row by row */
};

/* Adds the next cell, row by row; control bytes are escaped. */
void cr_table_add(struct cr_table *table, const char *text);
void cr_table_f(struct cr_table *table, const char *format, ...)
    CR_PRINTF(2, 3);
/* Aligned with two blanks between columns, or with tabs (TSV). */
void cr_table_print(const struct cr_table *table, FILE *to, bool tabs);
/* The same for standard output; a long aligned table goes through the pager. */
void cr_table_show(const struct cr_table *table, bool tabs);

/* Escapes control bytes and invalid UTF-8 in a text of a file or user, for a
 * terminal. */
const char *cr_escape(struct cr_arena *arena, const char *text);

#endif
