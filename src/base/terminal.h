/*
 * Standard output as a terminal: its width, the pager, and text in columns.
 *
 * Where standard output is not a terminal nothing is shortened or paged. The
 * state is static because a process has one standard output.
 */
#ifndef CR_BASE_TERMINAL_H
#define CR_BASE_TERMINAL_H

#include "base/arena.h"

#include <stdbool.h>

/* --wide: lines may be wider than the terminal. --no-pager. */
void cr_terminal_options(bool wide, bool no_pager);

/* The columns that a line may take: COLUMNS, else those of the terminal; 0:
 * any number. */
int cr_terminal_width(void);

/* Sends what is written to standard output from now on through the pager if it
 * is a terminal with fewer rows than these lines: PAGER, by default
 * `less -FRX`; none if PAGER is empty or `cat`. */
void cr_terminal_page(long lines);
/* Prints a text to standard output, through the pager if it is long. */
void cr_terminal_text(const char *text);
/* Waits for the pager, if there is one, and gives standard output back to the
 * terminal. */
void cr_terminal_end(void);

/* The columns that a UTF-8 text takes: 2 for East Asian wide characters and
 * most emoji, 0 for combining ones, 1 for others and for invalid bytes. */
int cr_text_columns(const char *text);

/* Where a text that is too wide is cut. */
enum cr_text_cut {
    CR_CUT_END,
    CR_CUT_START,
    CR_CUT_MIDDLE
};

/* The text itself if it takes at most `columns` columns; otherwise a part of it
 * with an ellipsis, in the arena. */
const char *cr_text_shorten(struct cr_arena *arena, const char *text,
                            int columns, enum cr_text_cut cut);

#endif
