/*
 * Lines with bands, and points, over x and y.
 *
 * A line has at most four points per pixel of its width: the first, the last,
 * the lowest and the highest of the values that fall into a pixel, so that it
 * covers the same pixels as all of its values.
 */
#include <math.h>

#include "base/compiler.h"
#include "chart/svg.h"

static int curve_number(const struct cr_chart_curve *curve, int i)
{
    return curve[i].color > 0 ? curve[i].color - 1 : i;
}

static int curve_color(const struct cr_chart_curve *curve, int i)
{
    return curve_number(curve, i) % CR_CHART_COLORS + 1;
}

/* The classes of the dashes that distinguish curves of one colour. */
static const char *curve_dash(const struct cr_chart_curve *curve, int i)
{
    static const char *const dashes[] = { "", " dashed", " dots", " mixed" };
    size_t round = (size_t)curve_number(curve, i) / CR_CHART_COLORS;

    return curve[i].dashed ? dashes[1] : dashes[round % CR_LEN(dashes)];
}

static bool curve_point(const struct cr_svg *svg,
                        const struct cr_chart_curve *c, const double *y,
                        int64_t i, double *to_x, double *to_y)
{
    *to_x = cr_svg_x(svg, c->x[i]);
    *to_y = cr_svg_y(svg, y[i]);
    return isfinite(*to_x) && isfinite(*to_y);
}

struct point {
    int64_t i;
    double x, y;
};

/* A path under construction, with the points of its last column of pixels. */
struct path {
    struct cr_buf *to;
    bool exact; /* more decimals: a script reads values from it */
    bool drawn; /* the next point continues a line */
    bool some;  /* the column has points */
    struct point first, low, high, last;
};

static void path_point(struct path *p, double x, double y)
{
    cr_buf_char(p->to, p->drawn ? 'L' : 'M');
    if (p->exact) {
        cr_buf_f(p->to, "%.2f %.3f", cr_svg_clamp(x), cr_svg_clamp(y));
    } else {
        cr_svg_number(p->to, x);
        cr_buf_char(p->to, ' ');
        cr_svg_number(p->to, y);
    }
    p->drawn = true;
}

static void path_flush(struct path *p)
{
    bool rises = p->low.i < p->high.i;
    const struct point *order[] = { &p->first, rises ? &p->low : &p->high,
                                    rises ? &p->high : &p->low, &p->last };

    for (size_t k = 0; k < CR_LEN(order) && p->some; k++)
        if (k == 0 || order[k]->i > order[k - 1]->i)
            path_point(p, order[k]->x, order[k]->y);
    p->some = false;
}

static void path_add(struct path *p, double x, double y, int64_t i)
{
    struct point at = { i, x, y };

    if (p->some && floor(x) > floor(p->last.x))
        path_flush(p);
    if (!p->some)
        p->first = p->low = p->high = at;
    if (y < p->low.y)
        p->low = at;
    if (y > p->high.y)
        p->high = at;
    p->last = at;
    p->some = true;
}

static void curve_line(struct cr_svg *svg, const struct cr_chart_curve *c,
                       int color, const char *dash)
{
    struct path path = { .to = svg->to, .exact = svg->chart->for_script };
    double x, y;

    cr_buf_f(svg->to, "<path class=\"curve%s%s c%d\"",
             dash, c->faint ? " faint" : "", color);
    if (c->name && svg->chart->for_script) {
        cr_buf_str(svg->to, " data-n=\"");
        cr_svg_escape(svg->to, c->name);
        cr_buf_char(svg->to, '"');
    }
    cr_buf_str(svg->to, " d=\"");
    for (int64_t i = 0; i < c->n; i++) {
        if (curve_point(svg, c, c->y, i, &x, &y)) {
            path_add(&path, x, y, i);
            continue;
        }
        path_flush(&path);
        path.drawn = false;
    }
    path_flush(&path);
    cr_buf_str(svg->to, "\">");
    if (c->name && !svg->chart->for_script)
        cr_svg_title(svg->to, c->name);
    cr_buf_str(svg->to, "</path>\n");
}

/* Values alone between gaps have no line: they are points. */
static void curve_alone(struct cr_svg *svg, const struct cr_chart_curve *c,
                        int color)
{
    double x, y, other;

    for (int64_t i = 0; i < c->n; i++) {
        if (!curve_point(svg, c, c->y, i, &x, &y))
            continue;
        if (!c->points && !c->marked &&
            ((i > 0 && curve_point(svg, c, c->y, i - 1, &other, &other)) ||
             (i + 1 < c->n &&
              curve_point(svg, c, c->y, i + 1, &other, &other))))
            continue;
        cr_buf_f(svg->to, "<circle class=\"dot%s c%d\"",
                 c->faint ? " faint" : "", color);
        cr_svg_attr(svg->to, "cx", x);
        cr_svg_attr(svg->to, "cy", y);
        cr_buf_f(svg->to, " r=\"%s\">", c->points ? "3" : "2.5");
        if (c->labels && c->labels[i])
            cr_svg_title(svg->to, c->labels[i]);
        cr_buf_str(svg->to, "</circle>\n");
    }
}

/* The area between low and high, one polygon between two gaps. */
static void curve_band(struct cr_svg *svg, const struct cr_chart_curve *c,
                       int color)
{
    double x, y;

    if (!c->low || !c->high)
        return;
    cr_buf_f(svg->to, "<path class=\"band c%d\" d=\"", color);
    for (int64_t i = 0, end; i < c->n; i = end + 1) {
        struct path path = { .to = svg->to, .exact = svg->chart->for_script };

        for (end = i; end < c->n && curve_point(svg, c, c->low, end, &x, &y) &&
                      curve_point(svg, c, c->high, end, &x, &y);
             end++)
            path_point(&path, x, y);
        for (int64_t k = end - 1; k >= i; k--) {
            curve_point(svg, c, c->low, k, &x, &y);
            path_point(&path, x, y);
        }
        if (path.drawn)
            cr_buf_char(svg->to, 'Z');
    }
    cr_buf_str(svg->to, "\"/>\n");
}

/* ---- Description */

static void describe(struct cr_buf *to, const struct cr_chart *chart,
                     const struct cr_chart_curve *c)
{
    int64_t first = -1, last = -1, low = -1, high = -1;

    for (int64_t i = 0; i < c->n; i++)
        if (isfinite(c->x[i]) && isfinite(c->y[i])) {
            first = first < 0 ? i : first;
            last = i;
            low = low < 0 || c->y[i] < c->y[low] ? i : low;
            high = high < 0 || c->y[i] > c->y[high] ? i : high;
        }
    cr_buf_f(to, " %s%s", c->name ? c->name : "", c->name ? ": " : "");
    if (first < 0) {
        cr_buf_str(to, "No values.");
        return;
    }
    cr_buf_f(to, "%s at %s", cr_chart_number(chart->arena, c->y[first], 4),
             cr_chart_number(chart->arena, c->x[first], 6));
    if (last != first)
        cr_buf_f(to, " to %s at %s, minimum %s, maximum %s",
                 cr_chart_number(chart->arena, c->y[last], 4),
                 cr_chart_number(chart->arena, c->x[last], 6),
                 cr_chart_number(chart->arena, c->y[low], 4),
                 cr_chart_number(chart->arena, c->y[high], 4));
    cr_buf_char(to, '.');
}

static const char *curves_desc(const struct cr_chart *chart,
                               const struct cr_chart_curve *curve, int n)
{
    struct cr_buf b = { .arena = chart->arena };

    cr_buf_f(&b, "%s of %s over %s.",
             n > 0 && curve[0].points ? "Scatter plot" : "Line chart",
             chart->y.label ? chart->y.label
             : chart->title ? chart->title
                            : "y",
             chart->x.label ? chart->x.label : "x");
    for (int i = 0; i < n; i++)
        if (curve[i].name || n == 1)
            describe(&b, chart, &curve[i]);
    return cr_buf_text(&b);
}

/* ---- Scales */

/* Adds a margin, so that no point is on an axis. */
static void curves_pad(enum cr_chart_scale kind, double *min, double *max)
{
    double by = kind == CR_SCALE_LOG ? pow(*max / *min, 0.04)
                                     : (*max - *min) * 0.04;

    if (!(*min < *max))
        return;
    *min = kind == CR_SCALE_LOG ? *min / by : *min - by;
    *max = kind == CR_SCALE_LOG ? *max * by : *max + by;
}

static void curves_scales(struct cr_svg *svg,
                          const struct cr_chart_curve *curve, int n)
{
    const struct cr_chart *chart = svg->chart;
    double x[2] = { INFINITY, -INFINITY }, y[2] = { INFINITY, -INFINITY };
    bool points = false;

    for (int i = 0; i < n; i++) {
        const struct cr_chart_curve *c = &curve[i];

        cr_range_add(chart->x.scale, &x[0], &x[1], c->x, c->n);
        cr_range_add(chart->y.scale, &y[0], &y[1], c->y, c->n);
        if (c->low)
            cr_range_add(chart->y.scale, &y[0], &y[1], c->low, c->n);
        if (c->high)
            cr_range_add(chart->y.scale, &y[0], &y[1], c->high, c->n);
        points |= c->points;
    }
    if (points)
        curves_pad(chart->x.scale, &x[0], &x[1]);
    svg->x = cr_scale_make(chart->arena, &chart->x, x[0], x[1],
                           (int)(svg->width / 90), false);
    svg->y = cr_scale_make(chart->arena, &chart->y, y[0], y[1],
                           (int)(svg->height / 60), true);
}

/* ---- Names at the ends of curves */

#define END_WIDTH 0.3 /* of the chart: maximum width of the names */
#define END_LINE 14.0
#define ENDS_MAX 8

struct end {
    const char *name;
    int color;
    double y; /* of the last value, then of the name */
};

/* Whether all names fit; *width is the width of the longest with its sign. */
static bool curves_ends_fit(const struct cr_svg *svg,
                            const struct cr_svg_legend *item, int n,
                            double *width)
{
    int named = 0;

    *width = 0;
    for (int i = 0; i < n; i++)
        if (item[i].name) {
            named++;
            *width = fmax(*width, cr_svg_text_width(item[i].name) + 18);
        }
    return named > 0 && named <= ENDS_MAX &&
           named * END_LINE < svg->height - 100 &&
           *width <= END_WIDTH * svg->width;
}

static int curves_end(const struct cr_svg *svg,
                      const struct cr_chart_curve *curve, int n,
                      struct end *end)
{
    int m = 0;

    for (int i = 0; i < n; i++) {
        struct end e = { curve[i].name, curve_color(curve, i), NAN };
        double x, y;
        int at = m;

        for (int64_t k = curve[i].n - 1; k >= 0 && isnan(e.y); k--)
            if (curve_point(svg, &curve[i], curve[i].y, k, &x, &y))
                e.y = y;
        if (!e.name || isnan(e.y))
            continue;
        for (; at > 0 && end[at - 1].y > e.y; at--)
            end[at] = end[at - 1];
        end[at] = e;
        m++;
    }
    return m;
}

/* Names at the heights of the last values, moved apart where they would
 * overlap. */
static void curves_ends(struct cr_svg *svg, const struct cr_chart_curve *curve,
                        int n)
{
    struct end end[ENDS_MAX];
    int m = curves_end(svg, curve, n, end);
    double least = svg->top + 4, x = svg->left + svg->plot_width + 10;
    double most = svg->top + svg->plot_height;

    for (int i = 0; i < m; i++) {
        end[i].y = fmax(end[i].y, least);
        least = end[i].y + END_LINE;
    }
    for (int i = m - 1; i >= 0; i--) {
        end[i].y = fmin(end[i].y, most);
        most = end[i].y - END_LINE;
    }
    for (int i = 0; i < m; i++) {
        cr_buf_f(svg->to, "<circle class=\"dot c%d\" cx=\"%.1f\" cy=\"%.1f\" "
                          "r=\"3.5\"/>\n", end[i].color, x, end[i].y);
        cr_svg_text(svg->to, x + 8, end[i].y + 4, "start", NULL, end[i].name);
    }
}

/* ---- The chart */

static const char *curves_kind(enum cr_chart_scale kind)
{
    return kind == CR_SCALE_LOG        ? "log"
           : kind == CR_SCALE_DURATION ? "time"
                                       : "linear";
}

static void curves_group(struct cr_svg *svg, const char *id)
{
    cr_buf_f(svg->to, "<clipPath id=\"%s-c\"><rect x=\"%.1f\" y=\"%.1f\" "
                      "width=\"%.1f\" height=\"%.1f\"/></clipPath>\n"
                      "<g clip-path=\"url(#%s-c)\"", id, svg->left - 2,
             svg->top - 2, svg->plot_width + 4, svg->plot_height + 4, id);
    if (svg->chart->for_script)
        cr_buf_f(svg->to, " class=\"plot\" data-box=\"%.1f %.1f %.1f %.1f\" "
                          "data-x=\"%.9g %.9g %s\" data-y=\"%.9g %.9g %s\"",
                 svg->left, svg->top, svg->plot_width, svg->plot_height,
                 svg->x.min, svg->x.max, curves_kind(svg->x.kind), svg->y.min,
                 svg->y.max, curves_kind(svg->y.kind));
    cr_buf_str(svg->to, ">\n");
}

double cr_chart_curves(struct cr_buf *to, const struct cr_chart *chart,
                       const struct cr_chart_curve *curve, int n)
{
    struct cr_svg_legend *item = CR_NEWS(chart->arena, struct cr_svg_legend,
                                         n + 1);
    struct cr_svg svg = { .width = chart->width > 0 ? chart->width : 720,
                          .height = chart->height > 0 ? chart->height : 380 };
    double width = 0;
    bool ends;

    for (int i = 0; i < n; i++)
        item[i] = (struct cr_svg_legend){ curve[i].name, curve_color(curve, i),
                                          curve_dash(curve, i),
                                          curve[i].points };
    ends = chart->names_at_ends && curves_ends_fit(&svg, item, n, &width);
    cr_svg_begin(&svg, to, chart, curves_desc(chart, curve, n),
                 ends ? 0 : cr_svg_legend_height(chart, item, n));
    svg.right = ends ? width : 0;
    curves_scales(&svg, curve, n);
    cr_svg_axes(&svg, true, 0);
    curves_group(&svg, chart->id ? chart->id : "chart");
    for (int i = 0; i < n; i++)
        curve_band(&svg, &curve[i], curve_color(curve, i));
    if (chart->has_mark && isfinite(cr_svg_x(&svg, chart->mark)))
        cr_buf_f(to, "<path class=\"mark\" d=\"M%.1f %.1fv%.1f\"/>\n",
                 cr_svg_x(&svg, chart->mark), svg.top, svg.plot_height);
    for (int i = 0; i < n; i++) {
        if (!curve[i].points)
            curve_line(&svg, &curve[i], curve_color(curve, i),
                       curve_dash(curve, i));
        curve_alone(&svg, &curve[i], curve_color(curve, i));
    }
    cr_buf_str(to, "</g>\n");
    if (ends)
        curves_ends(&svg, curve, n);
    else
        cr_svg_legend(&svg, item, n, svg.height - 6);
    return cr_svg_end(&svg);
}
