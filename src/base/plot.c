#include "base/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/str.h"

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

struct canvas {
    int width, height;          /* dots */
    bool *dot;
};

/* A dot for each column, and a line up or down to it from the one before. */
static void canvas_curve(const struct canvas *c, const struct cr_plot *p,
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
        for (int k = low; k <= high; k++)
            c->dot[k * c->width + x] = true;
        for (int k = high + 1; last_low >= 0 && k < last_low; k++)
            c->dot[k * c->width + x] = true;
        for (int k = last_high + 1; last_low >= 0 && k < low; k++)
            c->dot[k * c->width + x] = true;
        last_low = low;
        last_high = high;
    }
}

/* Four rows of two dots make a character (Unicode 28xx). */
static void canvas_braille(struct cr_buf *b, const struct canvas *c, int row)
{
    static const unsigned char bit[4][2] = {
        { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
    };

    for (int x = 0; x < c->width; x += 2) {
        unsigned code = 0;

        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 2; k++)
                if (c->dot[(c->height - 1 - (4 * row + i)) * c->width + x + k])
                    code |= bit[i][k];
        if (code == 0)
            cr_buf_char(b, ' ');
        else
            cr_buf_f(b, "\xe2%c%c", (int)(0xa0 + (code >> 6)),
                     (int)(0x80 + (code & 63)));
    }
}

static void canvas_ascii(struct cr_buf *b, const struct canvas *c, int row)
{
    for (int x = 0; x < c->width; x++)
        cr_buf_char(b, c->dot[(c->height - 1 - row) * c->width + x] ? '*'
                                                                    : ' ');
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
    struct canvas c = { .width = braille ? 2 * width : width,
                        .height = braille ? 4 * ROWS : ROWS };

    c.dot = CR_NEWS(p->arena, bool, c.width * c.height);
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
        if (braille)
            canvas_braille(b, &c, row);
        else
            canvas_ascii(b, &c, row);
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

/* ---- SVG */

#define LEFT 70.0
#define TOP 16.0
#define WIDTH 640.0
#define HEIGHT 300.0
#define LINE 16.0
#define SLOTS 1280 /* points of a curve */

static const char *const svg_colors[] = { "#1f6fb4", "#d1622b", "#3a8a3a",
                                          "#b3382f", "#7a57a8", "#6d6d6d" };

static void svg_text(struct cr_buf *b, double x, double y, const char *anchor,
                     const char *text)
{
    cr_buf_f(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
             anchor);
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&')
            cr_buf_f(b, "&#%d;", *text);
        else
            cr_buf_char(b, *text);
    cr_buf_str(b, "</text>\n");
}

static void svg_frame(struct cr_buf *b, const struct cr_plot *p,
                      const struct range *scale)
{
    cr_buf_f(b, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" "
                "fill=\"none\" stroke=\"#999\"/>\n", LEFT, TOP, WIDTH, HEIGHT);
    for (int i = 0; i <= TICKS; i++) {
        double at = (double)i / TICKS, y = TOP + HEIGHT * (1 - at);
        double x = LEFT + WIDTH * at;

        if (i > 0 && i < TICKS)
            cr_buf_f(b, "<path d=\"M%.1f %.1fh%.0fM%.1f %.1fv%.0f\" "
                        "stroke=\"#ddd\"/>\n", LEFT, y, WIDTH, x, TOP, HEIGHT);
        svg_text(b, LEFT - 6, y + 4, "end",
                 plot_number(p->arena,
                             scale->low + at * (scale->high - scale->low)));
        for (int k = 0; k < p->n_rules; k++)
            svg_text(b, x, TOP + HEIGHT + LINE * (k + 1), "middle",
                     plot_number(p->arena, plot_tick(&p->rule[k], at)));
    }
    for (int k = 0; k < p->n_rules; k++)
        svg_text(b, LEFT + WIDTH + 28, TOP + HEIGHT + LINE * (k + 1), "start",
                 p->rule[k].unit);
}

static void svg_curve(struct cr_buf *b, const struct cr_plot *p, int curve,
                      const struct range *scale)
{
    int64_t slots = p->n < SLOTS ? p->n : SLOTS;
    bool on = false;

    cr_buf_str(b, "<path d=\"");
    for (int64_t k = 0; k < slots; k++) {
        double x = LEFT + WIDTH * (slots > 1 ? (double)k / (double)(slots - 1)
                                             : 0.5);
        struct range at;

        if (!plot_span(p, p->curve[curve].y, k, slots, &at)) {
            on = false;
            continue;
        }
        cr_buf_f(b, "%s%.1f %.1f", on ? "L" : "M", x,
                 TOP + HEIGHT * (1 - plot_y(scale, at.high)));
        if (at.low < at.high)
            cr_buf_f(b, "V%.1f", TOP + HEIGHT * (1 - plot_y(scale, at.low)));
        on = true;
    }
    cr_buf_f(b, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
             svg_colors[(size_t)curve % CR_LEN(svg_colors)]);
}

const char *cr_plot_svg(const struct cr_plot *plot)
{
    struct cr_buf b = { .arena = plot->arena };
    struct range scale = plot_range(plot, 0, plot->n_curves);
    double below = TOP + HEIGHT + LINE * plot->n_rules;

    cr_buf_f(&b,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
             "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
             "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
             LEFT + WIDTH + 100, below + LINE * (plot->n_curves + 1));
    svg_frame(&b, plot, &scale);
    if (plot->mark >= 0 && plot->n > 1)
        cr_buf_f(&b, "<path d=\"M%.1f %.1fv%.0f\" stroke=\"#b3382f\" "
                     "stroke-dasharray=\"4 3\"/>\n",
                 LEFT + WIDTH * (double)plot->mark / (double)(plot->n - 1),
                 TOP, HEIGHT);
    for (int i = 0; i < plot->n_curves; i++) {
        double y = below + LINE * (i + 1);

        svg_curve(&b, plot, i, &scale);
        cr_buf_f(&b, "<path d=\"M%.1f %.1fh20\" stroke=\"%s\" "
                     "stroke-width=\"2\"/>\n", LEFT, y - 4,
                 svg_colors[(size_t)i % CR_LEN(svg_colors)]);
        svg_text(&b, LEFT + 26, y, "start", plot->curve[i].name);
    }
    cr_buf_str(&b, "</svg>\n");
    return cr_buf_text(&b);
}
