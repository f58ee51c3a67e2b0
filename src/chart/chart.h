/*
 * Charts as SVG: curves, points, bars, histograms, heat maps and parallel
 * coordinates.
 *
 * Each function appends one <svg> element, the same bytes for the same data,
 * and returns its height.
 * Colours are CSS classes (c1 to c8) with a value for light and one for dark
 * screens: a page that contains charts includes cr_chart_css once, and a chart
 * with `file` set contains it itself. <title> and <desc> say to screen readers
 * what is drawn. Lengths are pixels (SVG user units).
 *
 * Called by report/ and the commands; what a chart shows comes as arrays of
 * numbers and names. Knows nothing of runs.
 *
 * Includes: base.
 */
#ifndef CR_CHART_CHART_H
#define CR_CHART_CHART_H

#include "base/str.h"

enum cr_chart_scale {
    CR_SCALE_LINEAR,
    CR_SCALE_LOG,      /* values that are not positive are gaps */
    CR_SCALE_DURATION, /* seconds, with ticks in s, min, h or d */
};

struct cr_chart_axis {
    const char *label; /* NULL: none */
    enum cr_chart_scale scale;
    bool from_zero;  /* the range of the data is extended to 0 */
    double min, max; /* both 0: the range of the data */
    const double *tick; /* values with ticks, ascending; NULL: round ones */
    int n_ticks;
    /* A second axis below the x axis, linear, with these values at its ends;
     * NULL: none. */
    const char *second_label;
    double second_min, second_max;
};

struct cr_chart {
    struct cr_arena *arena; /* must be set */
    const char *id;         /* prefix of the ids, unique in a page; NULL:
                               "chart" */
    const char *title;      /* above the chart; NULL: none */
    const char *desc;       /* for screen readers; NULL: made from the data */
    struct cr_chart_axis x, y;
    double width, height; /* of the whole element without its legend; 0: 720
                             and 380 */
    bool has_mark;        /* a vertical line at x = mark */
    double mark;
    bool file; /* a file of its own, with style and background */
    /* Curves have their names at their ends instead of in a legend, if they
     * fit. */
    bool names_at_ends;
    /* Curves, ticks and scales have the attributes from which the script of a
     * page shows values and zooms. */
    bool for_script;
};

struct cr_chart_curve {
    const char *name; /* in the legend; NULL: not there */
    int64_t n;
    const double *x, *y;       /* not finite: a gap */
    const double *low, *high;  /* limits of a band around it; NULL: none */
    int color;                 /* from 1; 0: by its position. From 9 on the
                                  colours repeat, with dashes */
    bool points;               /* points instead of a line */
    bool marked; /* a line with points */
    bool dashed, faint; /* dashed: whatever its colour */
    const char *const *labels; /* of points, shown when pointed at; NULL */
};

/* Lines, bands and points over x and y. */
double cr_chart_curves(struct cr_buf *to, const struct cr_chart *chart,
                         const struct cr_chart_curve *curve, int n);

/* The same for a terminal: braille or ASCII in `columns` columns, with the
 * last, the smallest and the largest value of each curve. Bands are not drawn,
 * but the last deviation is printed. */
struct cr_chart_terminal {
    int columns; /* 40 or more */
    bool braille, color;
};
void cr_chart_text(struct cr_buf *to, const struct cr_chart *chart,
                   const struct cr_chart_curve *curve, int n,
                   const struct cr_chart_terminal *terminal);

/* A file of several charts below one another: their elements with their
 * heights. */
void cr_chart_stack(struct cr_buf *to, const char *const *svg,
                    const double *height, int n, double width);

/* Converts an SVG to a PNG of `scale` pixels per unit by librsvg, which is
 * opened at first need. False after reporting. */
bool cr_chart_png(struct cr_diag *diag, const char *svg, size_t len,
                  double scale, struct cr_buf *png);

struct cr_chart_bars {
    int n, n_groups;          /* bars of a group, groups along the x axis */
    const char *const *group; /* names below the groups */
    const char *const *name;  /* of the n bars, in the legend; NULL: none */
    const double *value;      /* [n_groups][n]; not finite: no bar */
    const double *low, *high; /* ends of error bars; NULL: none */
    int every;                /* groups from one with its name below it to the
                                 next; 0: as many names as fit */
};

/* Vertical bars from 0. */
double cr_chart_bars(struct cr_buf *to, const struct cr_chart *chart,
                     const struct cr_chart_bars *bars);

/* The number of values in each of `bins` intervals of equal width, of the range
 * of the x axis if it is set, else of that of the values; 0: the number of
 * intervals follows from n by Sturges' rule, 1 + log2 n. */
double cr_chart_histogram(struct cr_buf *to, const struct cr_chart *chart,
                          const double *value, int64_t n, int bins);

struct cr_chart_heatmap {
    int n_rows, n_columns;
    const char *const *row, *const *column; /* names */
    const double *value; /* [n_rows][n_columns]; not finite: empty */
    bool by_row;         /* colours relative to the maximum of the row */
    /* The diagonal is as it should be: other values have a second colour,
     * relative to the largest of them, and zeros are left empty. */
    bool diagonal;
};

/* A matrix as rectangles with numbers, such as a confusion matrix: the larger
 * the stronger the colour. The y axis runs downwards. */
double cr_chart_heatmap(struct cr_buf *to, const struct cr_chart *chart,
                        const struct cr_chart_heatmap *map);

struct cr_chart_parallel {
    int n_axes, n_lines;
    const struct cr_chart_axis *axis;
    const char *const *const *category; /* [n_axes]: names of the values 0, 1
                                           ...; NULL: numbers */
    const int *n_categories;            /* [n_axes]; NULL with category */
    const double *value;                /* [n_lines][n_axes] */
    const char *const *name; /* of the lines, shown when pointed at; NULL */
    bool minimize;           /* small values of the last axis are good */
};

/* Parallel coordinates: one line for each run, say, across all axes. The
 * better the value on the last axis, the stronger the line. */
double cr_chart_parallel(struct cr_buf *to, const struct cr_chart *chart,
                         const struct cr_chart_parallel *parallel);

/* CSS rules of all charts, for light screens and print. They set no lengths: a
 * page that scales charts adds max-width and height: auto to its own elements
 * of class chart, since nested ones and librsvg read them differently. */
extern const char cr_chart_css[];
/* CSS rules that replace colours of these on dark screens, without the media
 * query around them. */
extern const char cr_chart_css_dark[];

#endif
