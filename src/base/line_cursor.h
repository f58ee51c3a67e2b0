/*
 * The lines of a text, for searches that mostly begin at the last place.
 */
#ifndef CR_BASE_LINE_CURSOR_H
#define CR_BASE_LINE_CURSOR_H

#include <stddef.h>

/* A zeroed cursor is ready to use. */
struct cr_line_cursor {
    const char *text;
    const char *start; /* of the line */
    int line;          /* its number, from 1 */
};

/* The lines of a text that stands in a file, those of the file, and the line of
 * the file where the text begins. */
struct cr_text_place {
    struct cr_line_cursor text, file, begin;
};

/* Moves to the line that has the byte `at` of the text. */
void cr_line_cursor_at(struct cr_line_cursor *c, const char *text,
                       const char *at);
/* Moves to line number `line` of a text of `len` bytes, and returns its start;
 * NULL: the text has fewer lines. */
const char *cr_line_cursor_to(struct cr_line_cursor *c, const char *text,
                              size_t len, int line);

#endif
