/*
 * Output of a run: lines on standard error and in log.txt. On a terminal a
 * table with a row for each epoch, and below it a progress bar.
 *
 * Lines have the form of MindSpore's tutorial: `loss: 2.302088  [  0/938]`,
 * and `Test: ` followed by ` Accuracy: 83.8%, Avg loss: 0.529534 `. Table and
 * bar replace them on the terminal; log.txt has them all, without carriage
 * returns.
 *
 * The cursor rests at the start of the bar. When a terminal is resized and
 * wraps the bar anew, the cursor stays there, so that clearing from the cursor
 * to the end of the screen removes all of the bar and nothing else.
 *
 * Called by train/, which has the numbers, and by commands with work that takes
 * long. Knows nothing of networks and of files of runs but the log.
 *
 * Includes: base conf.
 */
#ifndef CR_CONSOLE_CONSOLE_H
#define CR_CONSOLE_CONSOLE_H

#include "base/append_file.h"
#include "base/diag.h"

#define CR_CONSOLE_CELLS 32 /* cells of a row */

enum cr_progress {
    CR_PROGRESS_AUTO,
    CR_PROGRESS_BAR,
    CR_PROGRESS_PLAIN,
    CR_PROGRESS_NONE
};

/* Column widths of the table so far, and the cells that its header shows. */
struct cr_table_layout {
    int width[CR_CONSOLE_CELLS];
    uint32_t shown;
};

struct cr_console {
    enum cr_progress style; /* never AUTO */
    struct cr_append_file log; /* log.txt, once it is open */
    struct cr_diag_format show; /* how problems are printed */
    bool bar_shown;
    bool utf8;       /* the locale has more than ASCII characters */
    double bar_next; /* earliest time to draw the bar again */
    struct cr_table_layout table;
};


/* AUTO is a bar if standard error is a terminal that can erase lines. */
void cr_console_open(struct cr_console *console, enum cr_progress style,
                     struct cr_diag_format show);

/* Prints a line to standard error and the log. */
void cr_console_log(struct cr_console *console, const char *format, ...)
    CR_PRINTF(2, 3);
/* Writes a line to the log only. */
void cr_console_log_file(struct cr_console *console, const char *line);
/* Writes a line to the log, and in the style plain to standard error. */
void cr_console_detail(struct cr_console *console, const char *format, ...)
    CR_PRINTF(2, 3);
/* Prints the problems not printed yet. */
void cr_console_problems(struct cr_console *console, struct cr_diag *diag);

/* ---- The table */

struct cr_row_cell {
    const char *name; /* in the header */
    const char *text;
    int min;    /* minimum width */
    int rank;   /* of two cells the one with the larger rank is omitted first
                   where the terminal is narrow */
    bool repeats; /* the text is that of the row before: shown only below a
                     header */
    bool right; /* right-aligned */
    bool green;
};

/* A row as text of at most `width` characters, with the header above it if it
 * is the first one or shows other cells than the last one; in the arena. */
const char *cr_row_text(struct cr_arena *arena, struct cr_table_layout *layout,
                        const struct cr_row_cell *cell, int n, int width,
                        bool color);
/* In the style bar: prints a row of the table. */
void cr_console_row(struct cr_console *console, const struct cr_row_cell *cell,
                    int n);

/* ---- The bar */

struct cr_bar {
    const char *label, *short_label; /* "epoch 3/10", "3/10" */
    int64_t at, of;                  /* of 0: unknown */
    double loss;                     /* NAN: none */
    double rate;                     /* samples per second; 0: unknown */
    double left;                     /* seconds; NAN: unknown */
    const double *trend;             /* for the sparkline; n_trend 0: none */
    int n_trend;
};

/* The bar as text of at most `width` characters, in the arena. Parts that do
 * not fit are omitted, the least important ones first. */
const char *cr_bar_text(struct cr_arena *arena, const struct cr_bar *bar,
                        int width, bool utf8);
/* A duration such as "0.4s", "12s", "3:05" or "1:02:03". */
const char *cr_duration(struct cr_arena *arena, double seconds);

/* Whether the style has a bar that is due to be drawn again. */
bool cr_console_bar_due(const struct cr_console *console, double now);
void cr_console_bar(struct cr_console *console, double now,
                    const struct cr_bar *bar);
/* Removes the bar. */
void cr_console_clear(struct cr_console *console);

#endif
