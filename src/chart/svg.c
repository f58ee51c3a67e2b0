#include "chart/svg.h"

#include <math.h>
#include <string.h>

#define MARGIN 10.0
#define TITLE 26.0 /* height of the title line */
#define LINE 17.0  /* height of other lines */
#define SIGN 24.0  /* width of a legend's sign and its space */
#define SVG_FAR 1e6
#define BESIDE 18.0 /* from the label of a row of ticks to the plot */

double cr_svg_clamp(double value)
{
    return fmax(-SVG_FAR, fmin(value, SVG_FAR));
}

void cr_svg_number(struct cr_buf *to, double value)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%.1f", cr_svg_clamp(value));

    if (n > 2 && strcmp(text + n - 2, ".0") == 0)
        text[n - 2] = '\0';
    cr_buf_str(to, strcmp(text, "-0") == 0 ? "0" : text);
}

void cr_svg_attr(struct cr_buf *to, const char *name, double value)
{
    cr_buf_f(to, " %s=\"", name);
    cr_svg_number(to, value);
    cr_buf_char(to, '"');
}

void cr_svg_escape(struct cr_buf *to, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        uint32_t code;
        int len = cr_utf8(text, left, &code);
        size_t n = len > 0 ? (size_t)len : 1;

        if (len == 0 || code < ' ' || (code >= 0x7f && code < 0xa0) ||
            code == 0xfffe || code == 0xffff)
            cr_buf_str(to, "\xef\xbf\xbd");
        else if (strchr("<>&\"'", *text))
            cr_buf_f(to, "&#%d;", *text);
        else
            cr_buf_add(to, text, n);
        text += n;
        left -= n;
    }
}

void cr_svg_text(struct cr_buf *to, double x, double y, const char *anchor,
                 const char *class, const char *text)
{
    cr_buf_str(to, "<text");
    if (class)
        cr_buf_f(to, " class=\"%s\"", class);
    cr_svg_attr(to, "x", x);
    cr_svg_attr(to, "y", y);
    if (strcmp(anchor, "start") != 0)
        cr_buf_f(to, " text-anchor=\"%s\"", anchor);
    cr_buf_char(to, '>');
    cr_svg_escape(to, text);
    cr_buf_str(to, "</text>\n");
}

void cr_svg_title(struct cr_buf *to, const char *text)
{
    cr_buf_str(to, "<title>");
    cr_svg_escape(to, text);
    cr_buf_str(to, "</title>");
}

double cr_svg_text_width(const char *text)
{
    return CR_CHART_CHAR * (double)cr_utf8_count(text, strlen(text));
}

const char *cr_svg_fit(struct cr_arena *arena, const char *text, double width)
{
    size_t most = (size_t)fmax(width / CR_CHART_CHAR, 2), len = strlen(text);
    const char *at = text;

    if (cr_utf8_count(text, len) <= most)
        return text;
    for (size_t k = 1; k < most; k++) {
        uint32_t code;
        int n = cr_utf8(at, len - (size_t)(at - text), &code);

        at += n > 0 ? n : 1;
    }
    return cr_strf(arena, "%.*s\xe2\x80\xa6", (int)(at - text), text);
}

/* ---- The element */

static void svg_style(struct cr_buf *to)
{
    cr_buf_f(to, "<style>\n%s@media screen and (prefers-color-scheme:dark)"
                 "{\n%s}\n</style>\n<rect class=\"back\" width=\"100%%\" "
                 "height=\"100%%\"/>\n", cr_chart_css, cr_chart_css_dark);
}

void cr_chart_stack(struct cr_buf *to, const char *const *svg,
                    const double *height, int n, double width)
{
    double top = 0;

    for (int i = 0; i < n; i++)
        top += height[i];
    cr_buf_f(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" "
                 "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
                 "%.0f\">\n", width, top, width, top);
    svg_style(to);
    top = 0;
    for (int i = 0; i < n; i++) {
        cr_buf_f(to, "<g transform=\"translate(0 %.0f)\">\n%s</g>\n", top,
                 svg[i]);
        top += height[i];
    }
    cr_buf_str(to, "</svg>\n");
}

void cr_svg_begin(struct cr_svg *svg, struct cr_buf *to,
                  const struct cr_chart *chart, const char *desc,
                  double extra_height)
{
    const char *id = chart->id ? chart->id : "chart";

    *svg = (struct cr_svg){ .to = to, .chart = chart };
    svg->width = chart->width > 0 ? chart->width : 720;
    svg->height = chart->height > 0 ? chart->height : 380;
    svg->full_height = svg->height + extra_height;
    svg->left = svg->top = MARGIN;
    cr_buf_str(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" "
                   "role=\"img\"");
    cr_svg_attr(to, "width", svg->width);
    cr_svg_attr(to, "height", svg->full_height);
    cr_buf_f(to, " viewBox=\"0 0 %.0f %.0f\"", svg->width,
             svg->full_height);
    if (chart->for_script && chart->x.label) {
        cr_buf_str(to, " data-x-name=\"");
        cr_svg_escape(to, chart->x.label);
        cr_buf_char(to, '"');
    }
    cr_buf_f(to, " aria-labelledby=\"%s-t %s-d\">\n", id, id);
    cr_buf_f(to, "<title id=\"%s-t\">", id);
    cr_svg_escape(to, chart->title ? chart->title
                      : chart->y.label ? chart->y.label
                                       : "Chart");
    cr_buf_f(to, "</title>\n<desc id=\"%s-d\">", id);
    cr_svg_escape(to, chart->desc ? chart->desc : desc);
    cr_buf_str(to, "</desc>\n");
    if (chart->file)
        svg_style(to);
    if (chart->title) {
        cr_svg_text(to, MARGIN, MARGIN + 14, "start", "title",
                    cr_svg_fit(chart->arena, chart->title,
                               (svg->width - 2 * MARGIN) * 0.82));
        svg->top += TITLE;
    }
}

double cr_svg_end(struct cr_svg *svg)
{
    cr_buf_str(svg->to, "</svg>\n");
    return svg->full_height;
}

/* ---- Legend */

/* Moves on to the next item; true if it begins a row. */
static bool legend_next(const struct cr_chart *chart, const char *name,
                        double *x)
{
    double full = chart->width > 0 ? chart->width : 720;
    double width = SIGN + 12 + fmin(cr_svg_text_width(name),
                                    full - 2 * MARGIN - SIGN);
    bool wraps = *x < 0 || *x + width > full - MARGIN + 12;

    *x = wraps ? MARGIN + width : *x + width;
    return wraps;
}

double cr_svg_legend_height(const struct cr_chart *chart,
                            const struct cr_svg_legend *item, int n)
{
    double x = -1, height = 0;

    for (int i = 0; i < n; i++)
        if (item[i].name && legend_next(chart, item[i].name, &x))
            height += LINE;
    return height > 0 ? height + 4 : 0;
}

void cr_svg_legend(struct cr_svg *svg, const struct cr_svg_legend *item, int n,
                   double top)
{
    double x = -1, y = top;

    for (int i = 0; i < n; i++) {
        double at;

        if (!item[i].name)
            continue;
        at = x;
        if (legend_next(svg->chart, item[i].name, &x)) {
            at = MARGIN;
            y += LINE;
        }
        if (item[i].point)
            cr_buf_f(svg->to, "<circle class=\"dot c%d\" cx=\"%.0f\" "
                              "cy=\"%.0f\" r=\"4\"/>\n", item[i].color,
                     at + 9, y - 4);
        else
            cr_buf_f(svg->to, "<path class=\"curve%s c%d\" d=\"M%.1f "
                              "%.1fh18\"/>\n",
                     item[i].dash ? item[i].dash : "", item[i].color, at,
                     y - 4);
        cr_svg_text(svg->to, at + SIGN, y, "start", NULL,
                    cr_svg_fit(svg->chart->arena, item[i].name,
                               svg->width - 2 * MARGIN - SIGN));
    }
}

/* ---- Axes */

double cr_svg_x(const struct cr_svg *svg, double value)
{
    return svg->left + svg->plot_width * cr_scale_at(&svg->x, value);
}

double cr_svg_y(const struct cr_svg *svg, double value)
{
    return svg->top + svg->plot_height * (1 - cr_scale_at(&svg->y, value));
}

/* One row of ticks below the x axis, with its label at the left end. */
static void axes_second(struct cr_svg *svg, double y)
{
    const struct cr_chart_axis *axis = &svg->chart->x;
    struct cr_chart_axis second = { .min = axis->second_min,
                                    .max = axis->second_max };
    struct cr_scale s =
        cr_scale_make(svg->chart->arena, &second, axis->second_min,
                      axis->second_max, (int)(svg->plot_width / 80), false);

    if (svg->chart->for_script)
        cr_buf_f(svg->to, "<g class=\"t2\" data-r=\"%.9g %.9g\">\n",
                 axis->second_min, axis->second_max);
    for (int i = 0; i < s.n; i++)
        cr_svg_text(svg->to,
                    svg->left + svg->plot_width * cr_scale_at(&s, s.tick[i]),
                    y, "middle", NULL, s.text[i]);
    if (svg->chart->for_script)
        cr_buf_str(svg->to, "</g>\n");
    cr_svg_text(svg->to, svg->left - BESIDE, y, "end", NULL,
                axis->second_label);
}

static void axes_ticks(struct cr_svg *svg, bool x_ticks, double bottom)
{
    bool script = svg->chart->for_script;

    cr_buf_str(svg->to, script ? "<g class=\"ty\">\n" : "");
    for (int i = 0; i < svg->y.n; i++) {
        double y = cr_svg_y(svg, svg->y.tick[i]);

        cr_buf_f(svg->to, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>\n",
                 svg->left, y, svg->plot_width);
        cr_svg_text(svg->to, svg->left - 6, y + 4, "end", NULL,
                    svg->y.text[i]);
    }
    cr_buf_str(svg->to, script ? "</g>\n<g class=\"tx\">\n" : "");
    for (int i = 0; i < svg->x.n && x_ticks; i++) {
        double x = cr_svg_x(svg, svg->x.tick[i]);

        cr_buf_f(svg->to, "<path class=\"grid\" d=\"M%.1f %.1fv%.1f\"/>\n", x,
                 svg->top, svg->plot_height);
        cr_svg_text(svg->to, x, bottom + 16, "middle", NULL, svg->x.text[i]);
    }
    cr_buf_str(svg->to, script ? "</g>\n" : "");
}

void cr_svg_axes(struct cr_svg *svg, bool x_ticks, double x_height)
{
    const struct cr_chart *chart = svg->chart;
    bool two = chart->x.second_label != NULL;
    double bottom, widest = 0;

    for (int i = 0; i < svg->y.n; i++)
        widest = fmax(widest, cr_svg_text_width(svg->y.text[i]));
    svg->left = MARGIN + widest + 6;
    if (two)
        svg->left = fmax(svg->left,
                         MARGIN + BESIDE +
                             fmax(cr_svg_text_width(chart->x.second_label),
                                  cr_svg_text_width(chart->x.label
                                                        ? chart->x.label
                                                        : "")));
    if (chart->y.label) {
        cr_svg_text(svg->to, MARGIN, svg->top + 10, "start", NULL,
                    chart->y.label);
        svg->top += LINE;
    }
    svg->top += 4;
    bottom = svg->height - MARGIN - x_height - (x_ticks ? LINE : 0) -
             (chart->x.label || two ? LINE : 0);
    svg->plot_width = svg->width - svg->left - MARGIN - 8 - svg->right;
    svg->plot_height = bottom - svg->top;
    axes_ticks(svg, x_ticks, bottom);
    cr_buf_f(svg->to, "<path class=\"axis\" d=\"M%.1f %.1fv%.1fh%.1f\"/>\n",
             svg->left, svg->top, svg->plot_height, svg->plot_width);
    bottom += x_ticks ? LINE : x_height;
    if (two) {
        if (chart->x.label)
            cr_svg_text(svg->to, svg->left - BESIDE, bottom - 1, "end", NULL,
                        chart->x.label);
        axes_second(svg, bottom + LINE - 1);
    } else if (chart->x.label) {
        cr_svg_text(svg->to, svg->left + svg->plot_width / 2,
                    bottom + LINE - 2, "middle", NULL, chart->x.label);
    }
}
