/*
 * Curves, as text for a terminal or as a picture (SVG).
 *
 * All curves of a plot run over the same places 0 .. n-1, which lie evenly
 * along the x axis. What a place means is said by one or more rules below it:
 * steps, and the epochs that they are. Where more places fall into a column
 * than it can show, it shows all values between their least and largest.
 */
#ifndef CR_BASE_PLOT_H
#define CR_BASE_PLOT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct cr_plot_curve {
    const char *name;           /* above it */
    const double *y;            /* not finite: a gap */
};

struct cr_plot_axis {
    const char *unit;           /* "steps" */
    double from, to;            /* at the first and the last place */
    bool log;                   /* between them by equal factors */
};

struct cr_plot {
    struct cr_arena *arena;
    int64_t n;
    int n_curves, n_rules;
    const struct cr_plot_curve *curve;
    const struct cr_plot_axis *rule;
    bool from_zero;             /* the y axis begins at 0 */
    int64_t mark;               /* a place to mark; -1: none */
};

/* One panel for each curve, `columns` wide (40 or more), in dots of Braille or
 * in ASCII. Lines end with \n. */
const char *cr_plot_text(const struct cr_plot *plot, int columns, bool braille);
/* All curves in one frame. */
const char *cr_plot_svg(const struct cr_plot *plot);

/* How wide standard output is: COLUMNS, else the terminal's width, else 80;
 * 40 to 400. */
int cr_plot_columns(void);
/* Whether the locale's texts are UTF-8: LC_ALL, LC_CTYPE or LANG says so. */
bool cr_plot_braille(void);

#endif
