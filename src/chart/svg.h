/*
 * Parts that all charts share: numbers, texts, the frame with its axes, the
 * legend.
 */
#ifndef CR_CHART_SVG_H
#define CR_CHART_SVG_H

#include "chart/scale.h"

#define CR_CHART_CHAR 6.4 /* mean width of a character */
#define CR_CHART_COLORS 8

/* The chart and the place of its plot, to which x and y belong. */
struct cr_svg {
    struct cr_buf *to;
    const struct cr_chart *chart;
    double width, height; /* of the element without its legend */
    double full_height;
    double left, top, plot_width, plot_height;
    double right; /* space for texts on the right of the plot */
    struct cr_scale x, y;
};

struct cr_svg_legend {
    const char *name; /* NULL: none */
    int color;
    const char *dash; /* its class, such as " dashed"; NULL: none */
    bool point;
};

/* A coordinate, or one far outside of every chart on its side: viewers need no
 * more, and numbers stay short. */
double cr_svg_clamp(double value);
/* A number with one decimal, without ".0". */
void cr_svg_number(struct cr_buf *to, double value);
/* " name=\"value\"" */
void cr_svg_attr(struct cr_buf *to, const char *name, double value);
/* The text with XML's special characters replaced; control characters and
 * bytes that are not UTF-8 become U+FFFD. */
void cr_svg_escape(struct cr_buf *to, const char *text);
/* A <text>; anchor: start, middle or end; class: NULL or its name. */
void cr_svg_text(struct cr_buf *to, double x, double y, const char *anchor,
                 const char *class, const char *text);
/* A <title>, shown by browsers when pointed at. */
void cr_svg_title(struct cr_buf *to, const char *text);

double cr_svg_text_width(const char *text);
/* The text cut to a width, with an ellipsis. */
const char *cr_svg_fit(struct cr_arena *arena, const char *text, double width);

/* Begins the element: size, title, description `kind` and `desc` (where the
 * chart has none of its own), style, background, title line. top and left
 * are set; extra_height is added below the chart's own. */
void cr_svg_begin(struct cr_svg *svg, struct cr_buf *to,
                  const struct cr_chart *chart, const char *desc,
                  double extra_height);
/* Ends the element; returns its height. */
double cr_svg_end(struct cr_svg *svg);

/* The rows of a legend as high as it needs. */
double cr_svg_legend_height(const struct cr_chart *chart,
                            const struct cr_svg_legend *item, int n);
void cr_svg_legend(struct cr_svg *svg, const struct cr_svg_legend *item, int n,
                   double top);

/* Reserves space for labels and ticks, then draws the grid, both axes and their
 * texts. Sets the place of the plot. x_ticks false: the caller writes what is
 * below the x axis, in x_height. */
void cr_svg_axes(struct cr_svg *svg, bool x_ticks, double x_height);

/* Pixels of a value; NAN without a place. */
double cr_svg_x(const struct cr_svg *svg, double value);
double cr_svg_y(const struct cr_svg *svg, double value);

#endif
