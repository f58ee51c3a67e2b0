/*
 * Curves as text for a terminal.
 *
 * All curves of a plot have the same n points, evenly spaced along the x axis.
 * One or more x axes give their meaning, such as steps and epochs. Where
 * several points fall into one column, it shows the range from their minimum to
 * their maximum.
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
    double from, to;            /* at the first and the last point */
    bool log;                   /* logarithmic */
};

struct cr_plot {
    struct cr_arena *arena;
    int64_t n;
    int n_curves, n_rules;
    const struct cr_plot_curve *curve;
    const struct cr_plot_axis *rule;
    bool from_zero;             /* the y axis begins at 0 */
    int64_t mark;               /* index of a point to mark; -1: none */
};

/* One panel for each curve, `columns` wide (40 or more), in dots of Braille or
 * in ASCII. Lines end with \n. */
const char *cr_plot_text(const struct cr_plot *plot, int columns, bool braille);

/* The width of standard output: COLUMNS, else that of the terminal, else 80;
 * limited to 40 to 400. */
int cr_plot_columns(void);
/* Whether the locale uses UTF-8, by LC_ALL, LC_CTYPE or LANG. */
bool cr_plot_braille(void);

#endif
