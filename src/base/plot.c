#include "base/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/canvas.h"
#include "base/compiler.h"

#define ROWS 12                 /* of a panel */
#define LABEL 10                /* columns before the y axis */
#define TICKS 4                 /* intervals of an axis */

int cr_plot_columns(void)
{
    const char *text = getenv("COLUMNS");
    long n = text ? strtol(text, NULL, 10) : 0;
    struct winsize size;

    if (n <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    if (n <= 0)
        n = 80;
    return n < 40 ? 40 : n > 400 ? 400 : (int)n;
}

bool cr_plot_braille(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < CR_LEN(names); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* ---- Scales */

struct range {
    double low, high;
};

static struct range plot_range(const struct cr_plot *p, int from, int to)
{
    struct range r = { INFINITY, -INFINITY };

    for (int c = from; c < to; c++)
        for (int64_t i = 0; i < p->n; i++)
            if (isfinite(p->curve[c].y[i])) {
                r.low = fmin(r.low, p->curve[c].y[i]);
                r.high = fmax(r.high, p->curve[c].y[i]);
            }
    if (r.low > r.high)
        r = (struct range){ 0, 1 };
    if (p->from_zero && r.low > 0)
        r.low = 0;
    if (r.low == r.high) {
        double d = r.high != 0 ? fabs(r.high) : 1;

        r.high += d;
        r.low -= p->from_zero && r.low == 0 ? 0 : d;
    }
    return r;
}

/* The position of a value along its axis, 0 to 1. */
static double plot_y(const struct range *r, double y)
{
    return (y - r->low) / (r->high - r->low);
}

static double plot_tick(const struct cr_plot_axis *rule, double at)
{
    return rule->log ? rule->from * pow(rule->to / rule->from, at)
                     : rule->from + at * (rule->to - rule->from);
}

static const char *plot_number(struct cr_arena *arena, double x)
{
    return cr_strf(arena, "%.4g", fabs(x) < 1e-300 ? 0 : x);
}

/* The indices that fall into slot k of `slots`; at least one. */
static void plot_places(const struct cr_plot *p, int64_t k, int64_t slots,
                        int64_t *from, int64_t *to)
{
    double each = (double)(p->n - 1) / (double)(slots > 1 ? slots - 1 : 1);

    *from = (int64_t)floor(((double)k - 0.5) * each + 0.5);
    *to = (int64_t)floor(((double)k + 0.5) * each + 0.5);
    if (*to <= *from) {
        *from = (int64_t)floor((double)k * each + 0.5);
        *to = *from + 1;
    }
    if (*from < 0)
        *from = 0;
    if (*to > p->n)
        *to = p->n;
}

/* The minimum and the maximum of a slot; false: no value is finite. */
static bool plot_span(const struct cr_plot *p, const double *y, int64_t k,
                      int64_t slots, struct range *to)
{
    int64_t i, end;

    *to = (struct range){ INFINITY, -INFINITY };
    for (plot_places(p, k, slots, &i, &end); i < end; i++)
        if (isfinite(y[i])) {
            to->low = fmin(to->low, y[i]);
            to->high = fmax(to->high, y[i]);
        }
    return to->low <= to->high;
}

/* ---- Text */

/* A dot for each column, and a line up or down to it from the one before. */
static void canvas_curve(struct cr_canvas *c, const struct cr_plot *p,
                         const double *y, const struct range *scale)
{
    int last_low = -1, last_high = -1;

    for (int x = 0; x < c->width; x++) {
        struct range at;
        int low, high;

        if (!plot_span(p, y, x, c->width, &at)) {
            last_low = last_high = -1;
            continue;
        }
        low = (int)floor(plot_y(scale, at.low) * (c->height - 1) + 0.5);
        high = (int)floor(plot_y(scale, at.high) * (c->height - 1) + 0.5);
        cr_canvas_line(c, x, low, x, high, 1);
        if (last_low > high)
            cr_canvas_line(c, x, high, x, last_low - 1, 1);
        else if (last_low >= 0 && last_high < low)
            cr_canvas_line(c, x, last_high + 1, x, low, 1);
        last_low = low;
        last_high = high;
    }
}

/* Removes blanks at the end of the line. */
static void plot_end_line(struct cr_buf *b)
{
    while (b->len > 0 && b->text[b->len - 1] == ' ')
        b->len--;
    cr_buf_char(b, '\n');
}

static void plot_rule_text(struct cr_buf *b, const struct cr_plot_axis *rule,
                           int width)
{
    int at = 0;

    cr_buf_f(b, "%*s ", LABEL, "");
    for (int i = 0; i <= TICKS; i++) {
        const char *text = plot_number(b->arena,
                                       plot_tick(rule, (double)i / TICKS));
        int want = (width - 1) * i / TICKS - (int)strlen(text) / 2;

        if (i == TICKS)
            want = width - (int)strlen(text);
        if (want < at)
            want = at;
        cr_buf_f(b, "%*s%s", want - at, "", text);
        at = want + (int)strlen(text) + 1;
        cr_buf_char(b, ' ');
    }
    cr_buf_str(b, rule->unit);
    plot_end_line(b);
}

static void plot_panel(struct cr_buf *b, const struct cr_plot *p, int curve,
                       int columns, bool braille)
{
    struct range scale = plot_range(p, curve, curve + 1);
    int width = columns - LABEL - 1 - 8; /* 8: the units */
    struct cr_canvas c = cr_canvas_make(p->arena, width, ROWS, braille);

    canvas_curve(&c, p, p->curve[curve].y, &scale);
    cr_buf_f(b, "%s\n", p->curve[curve].name);
    for (int row = 0; row < ROWS; row++) {
        double at = 1 - (double)row / (ROWS - 1);
        bool tick = row == 0 || row == ROWS - 1;

        cr_buf_f(b, "%*s%s", LABEL,
                 tick ? plot_number(p->arena, scale.low +
                                    at * (scale.high - scale.low))
                      : "",
                 !braille ? "|" : tick ? "\xe2\x94\xa4" : "\xe2\x94\x82");
        cr_canvas_row(b, &c, row);
        plot_end_line(b);
    }
    if (p->mark >= 0 && p->n > 1) {
        int at = (int)((double)(width - 1) * (double)p->mark /
                           (double)(p->n - 1) + 0.5);

        cr_buf_f(b, "%*s %*s^\n", LABEL, "", at, "");
    }
    for (int i = 0; i < p->n_rules; i++)
        plot_rule_text(b, &p->rule[i], width);
}

const char *cr_plot_text(const struct cr_plot *plot, int columns, bool braille)
{
    struct cr_buf b = { .arena = plot->arena };

    for (int i = 0; i < plot->n_curves; i++)
        plot_panel(&b, plot, i, columns, braille);
    return cr_buf_text(&b);
}
