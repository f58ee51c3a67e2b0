/*
 * Curves in a terminal: a panel with axes of round numbers and a legend.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/canvas.h"
#include "base/table.h"
#include "chart/svg.h"

#define ROWS 14

struct panel {
    struct cr_buf *to;
    const struct cr_chart *chart;
    const struct cr_chart_terminal *terminal;
    struct cr_scale x, y;
    struct cr_canvas canvas;
    int left, columns; /* before the y axis; of the canvas */
};

/* Removes blanks at the end of the line and ends it. */
static void panel_end_line(struct cr_buf *to)
{
    while (to->len > 0 && to->text[to->len - 1] == ' ')
        to->len--;
    cr_buf_char(to, '\n');
}

static int panel_dot(double at, int dots)
{
    return (int)floor(at * (dots - 1) + 0.5);
}

static void panel_curve(struct panel *p, const struct cr_chart_curve *c, int k)
{
    int last_x = 0, last_y = 0;
    bool drawn = false;

    for (int64_t i = 0; i < c->n; i++) {
        double at_x = cr_scale_at(&p->x, c->x[i]);
        double at_y = cr_scale_at(&p->y, c->y[i]);
        int x, y;

        if (!(at_x >= 0 && at_x <= 1 && at_y >= 0 && at_y <= 1)) {
            drawn = false;
            continue;
        }
        x = panel_dot(at_x, p->canvas.width);
        y = panel_dot(at_y, p->canvas.height);
        cr_canvas_line(&p->canvas, drawn && !c->points ? last_x : x,
                       drawn && !c->points ? last_y : y, x, y, k);
        last_x = x;
        last_y = y;
        drawn = true;
    }
}

static void panel_rows(struct panel *p)
{
    const char *plain = p->terminal->braille ? "\xe2\x94\x82" : "|";
    const char *tick = p->terminal->braille ? "\xe2\x94\xa4" : "+";

    for (int row = 0; row < ROWS; row++) {
        const char *text = NULL;

        for (int i = 0; i < p->y.n; i++)
            if (panel_dot(1 - cr_scale_at(&p->y, p->y.tick[i]), ROWS) == row)
                text = p->y.text[i];
        cr_buf_f(p->to, "%*s%s", p->left - 1, text ? text : "",
                 text ? tick : plain);
        cr_canvas_row(p->to, &p->canvas, row);
        panel_end_line(p->to);
    }
}

/* The x axis: its line with ticks, and their texts where they fit. */
static void panel_x_axis(struct panel *p)
{
    bool braille = p->terminal->braille;
    int end = p->left + p->columns, at = 0;
    bool *tick = CR_NEWS(p->to->arena, bool, p->columns + 1);

    for (int i = 0; i < p->x.n; i++)
        tick[panel_dot(cr_scale_at(&p->x, p->x.tick[i]), p->columns)] = true;
    cr_buf_f(p->to, "%*s%s", p->left - 1, "", braille ? "\xe2\x94\x94" : "+");
    for (int i = 0; i < p->columns; i++)
        cr_buf_str(p->to, !braille  ? tick[i] ? "+" : "-"
                          : tick[i] ? "\xe2\x94\xb4"
                                    : "\xe2\x94\x80");
    cr_buf_char(p->to, '\n');
    for (int i = 0; i < p->x.n; i++) {
        int width = (int)strlen(p->x.text[i]);
        int want = p->left - width / 2 +
                   panel_dot(cr_scale_at(&p->x, p->x.tick[i]), p->columns);

        if (want + width > end)
            want = end - width;
        if (want < at)
            continue;
        cr_buf_f(p->to, "%*s%s", want - at, "", p->x.text[i]);
        at = want + width + 1;
        cr_buf_char(p->to, ' ');
    }
    panel_end_line(p->to);
    if (p->chart->x.label)
        cr_buf_f(p->to, "%*s%s\n",
                 p->left + (p->columns - (int)strlen(p->chart->x.label)) / 2,
                 "", p->chart->x.label);
}

/* The number of its colour and character, as a dot of the canvas holds it. */
static int panel_number(const struct cr_chart_curve *curve, int i)
{
    return (curve[i].color > 0 ? curve[i].color - 1 : i) % UCHAR_MAX + 1;
}

/* ---- Legend */

struct summary {
    const char *name, *last, *low, *high;
};

static struct summary panel_summary(const struct cr_chart *chart,
                                    const struct cr_chart_curve *c)
{
    struct cr_arena *arena = chart->arena;
    double low = INFINITY, high = -INFINITY;
    struct summary s = { .name = cr_escape(arena, c->name ? c->name : ""),
                         .last = "-", .low = "-", .high = "-" };
    int64_t i = c->n - 1;

    while (i >= 0 && !isfinite(c->y[i]))
        i--;
    if (i < 0)
        return s;
    s.last = cr_chart_number(arena, c->y[i], 4);
    if (c->high && isfinite(c->high[i]))
        s.last = cr_strf(arena, "%s +- %s", s.last,
                         cr_chart_number(arena, c->high[i] - c->y[i], 2));
    cr_range_add(CR_SCALE_LINEAR, &low, &high, c->y, c->n);
    s.low = cr_chart_number(arena, low, 4);
    s.high = cr_chart_number(arena, high, 4);
    return s;
}

static int panel_width(int width, const char *text)
{
    int n = (int)cr_utf8_count(text, strlen(text));

    return n > width ? n : width;
}

/* The end of a name that is too long: names of runs differ there. */
static const char *panel_name(struct cr_arena *arena, const char *name,
                              int width)
{
    int n = panel_width(0, name);

    if (n <= width)
        return name;
    for (n -= width - 3; n > 0; n--)
        for (name++; (*name & 0xc0) == 0x80; name++)
            ;
    return cr_strf(arena, "...%s", name);
}

static void panel_legend(struct panel *p, const struct cr_chart_curve *curve,
                         int n)
{
    struct summary *s = CR_NEWS(p->to->arena, struct summary, n + 1);
    int name = 0, last = 0, low = 0, high = 0, space = p->terminal->columns;
    bool range;

    for (int i = 0; i < n; i++) {
        s[i] = panel_summary(p->chart, &curve[i]);
        name = panel_width(name, s[i].name);
        last = panel_width(last, s[i].last);
        low = panel_width(low, s[i].low);
        high = panel_width(high, s[i].high);
    }
    space -= last + 11; /* "  * NAME  last " */
    range = name + low + high + 12 <= space;
    name = range || name < space ? name : space;
    for (int i = 0; i < n; i++) {
        int k = panel_number(curve, i);
        char mark[2] = { p->canvas.marks ? cr_canvas_mark(k) : '*', '\0' };
        const char *sign = p->canvas.braille ? "\xe2\x94\x81" : mark;

        s[i].name = panel_name(p->to->arena, s[i].name, name);
        cr_buf_f(p->to, "  %s%s%s %s%*s  last %s",
                 p->canvas.color ? cr_canvas_color(k) : "", sign,
                 p->canvas.color ? CR_COLOR_END : "", s[i].name,
                 name - panel_width(0, s[i].name), "", s[i].last);
        if (range)
            cr_buf_f(p->to, "%*s  min %s%*s  max %s",
                     last - panel_width(0, s[i].last), "", s[i].low,
                     low - panel_width(0, s[i].low), "", s[i].high);
        cr_buf_char(p->to, '\n');
    }
}

void cr_chart_text(struct cr_buf *to, const struct cr_chart *chart,
                   const struct cr_chart_curve *curve, int n,
                   const struct cr_chart_terminal *terminal)
{
    struct panel p = { .to = to, .chart = chart, .terminal = terminal };
    double x[2] = { INFINITY, -INFINITY }, y[2] = { INFINITY, -INFINITY };
    int widest = 0;

    for (int i = 0; i < n; i++) {
        cr_range_add(chart->x.scale, &x[0], &x[1], curve[i].x, curve[i].n);
        cr_range_add(chart->y.scale, &y[0], &y[1], curve[i].y, curve[i].n);
    }
    p.y = cr_scale_make(chart->arena, &chart->y, y[0], y[1], 5, true);
    for (int i = 0; i < p.y.n; i++)
        widest = panel_width(widest, p.y.text[i]);
    p.left = widest + 2;
    p.columns = terminal->columns - p.left;
    p.x = cr_scale_make(chart->arena, &chart->x, x[0], x[1], p.columns / 10,
                        false);
    /* without enough colours, only characters distinguish several curves */
    p.canvas = cr_canvas_make(chart->arena, p.columns, ROWS,
                              terminal->braille &&
                                  (n <= 1 || (terminal->color &&
                                              n <= CR_CHART_COLORS)));
    p.canvas.color = terminal->color;
    p.canvas.marks = n > 1 && !p.canvas.braille;
    for (int i = n - 1; i >= 0; i--)
        panel_curve(&p, &curve[i], panel_number(curve, i));
    if (chart->title)
        cr_buf_f(to, "%s\n", cr_escape(chart->arena, chart->title));
    panel_rows(&p);
    panel_x_axis(&p);
    panel_legend(&p, curve, n);
}
