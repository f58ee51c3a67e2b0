/*
 * Bars of groups, and histograms.
 */
#include <inttypes.h>
#include <math.h>

#include "chart/svg.h"

#define BINS_MAX 200

static void bar_rect(struct cr_svg *svg, double x, double width, double value,
                     int color, const char *title)
{
    double y = cr_svg_y(svg, value), zero = cr_svg_y(svg, 0);

    cr_buf_f(svg->to, "<rect class=\"bar c%d\"", color);
    cr_svg_attr(svg->to, "x", x);
    cr_svg_attr(svg->to, "y", fmin(y, zero));
    cr_svg_attr(svg->to, "width", width);
    cr_svg_attr(svg->to, "height", fabs(y - zero));
    cr_buf_char(svg->to, '>');
    cr_svg_title(svg->to, title);
    cr_buf_str(svg->to, "</rect>\n");
}

/* The line from low to high with a short one at each end. */
static void bar_error(struct cr_svg *svg, double x, double low, double high)
{
    double y = cr_svg_y(svg, high), height = cr_svg_y(svg, low) - y;

    if (isfinite(y) && isfinite(height))
        cr_buf_f(svg->to,
                 "<path class=\"error\" d=\"M%.1f %.1fv%.1fm-3 0h6M%.1f "
                 "%.1fh6\"/>\n", x, y, height, x - 3, y);
}

static void bars_group(struct cr_svg *svg, const struct cr_chart_bars *b,
                       int group)
{
    struct cr_arena *arena = svg->chart->arena;
    double slot = svg->plot_width / b->n_groups;
    double width = 0.8 * slot / b->n, left = svg->left + slot * (group + 0.1);

    for (int k = 0; k < b->n; k++) {
        int i = group * b->n + k;
        double x = left + width * k;
        const char *name = b->name ? b->name[k] : NULL;

        if (!isfinite(b->value[i]))
            continue;
        bar_rect(svg, x, fmax(width - (b->n > 1), 0.5), b->value[i],
                 k % CR_CHART_COLORS + 1,
                 cr_strf(arena, "%s%s%s: %s", b->group[group],
                         name ? ", " : "", name ? name : "",
                         cr_chart_number(arena, b->value[i], 5)));
        if (b->low && b->high)
            bar_error(svg, x + width / 2, b->low[i], b->high[i]);
    }
}

static const char *bars_desc(const struct cr_chart *chart,
                             const struct cr_chart_bars *b)
{
    struct cr_buf text = { .arena = chart->arena };

    cr_buf_f(&text, "Bar chart of %s.", chart->y.label ? chart->y.label
                                                       : "values");
    for (int g = 0; g < b->n_groups; g++)
        for (int k = 0; k < b->n; k++)
            cr_buf_f(&text, " %s%s%s: %s.", b->group[g], b->name ? ", " : "",
                     b->name ? b->name[k] : "",
                     isfinite(b->value[g * b->n + k])
                         ? cr_chart_number(chart->arena,
                                           b->value[g * b->n + k], 4)
                         : "none");
    return cr_buf_text(&text);
}

/* Names below the groups: all that fit, rotated if they are long. */
static void bars_names(struct cr_svg *svg, const struct cr_chart_bars *b,
                       bool turned)
{
    double slot = svg->plot_width / b->n_groups;
    int every = b->every > 0 ? b->every
                             : (int)ceil((turned ? 14 : 8) / slot);
    double y = svg->top + svg->plot_height + 14;

    for (int g = 0; g < b->n_groups; g += every) {
        double x = svg->left + slot * (g + 0.5);

        if (!turned) {
            cr_svg_text(svg->to, x, y, "middle", NULL, b->group[g]);
            continue;
        }
        cr_buf_f(svg->to, "<text transform=\"translate(%.1f %.1f) "
                          "rotate(-40)\" text-anchor=\"end\">", x + 4, y - 2);
        cr_svg_escape(svg->to,
                      cr_svg_fit(svg->chart->arena, b->group[g], 110));
        cr_buf_str(svg->to, "</text>\n");
    }
}

double cr_chart_bars(struct cr_buf *to, const struct cr_chart *chart,
                     const struct cr_chart_bars *b)
{
    struct cr_svg_legend *item =
        CR_NEWS(chart->arena, struct cr_svg_legend, b->n + 1);
    double low = INFINITY, high = -INFINITY, widest = 0, names;
    int64_t total = (int64_t)b->n * b->n_groups;
    struct cr_chart_axis y_axis = chart->y;
    struct cr_svg svg;
    bool turned;

    for (int k = 0; k < b->n && b->name; k++)
        item[k] = (struct cr_svg_legend){ .name = b->name[k],
                                          .color = k % CR_CHART_COLORS + 1,
                                          .point = true };
    cr_svg_begin(&svg, to, chart, bars_desc(chart, b),
                 cr_svg_legend_height(chart, item, b->n));
    y_axis.from_zero = true;
    y_axis.scale = CR_SCALE_LINEAR;
    cr_range_add(CR_SCALE_LINEAR, &low, &high, b->value, total);
    if (b->low && b->high) {
        cr_range_add(CR_SCALE_LINEAR, &low, &high, b->low, total);
        cr_range_add(CR_SCALE_LINEAR, &low, &high, b->high, total);
    }
    svg.y = cr_scale_make(chart->arena, &y_axis, low, high,
                          (int)(svg.height / 60), true);
    for (int g = 0; g < b->n_groups && b->every == 0; g++)
        widest = fmax(widest, cr_svg_text_width(b->group[g]));
    turned = b->n_groups > 0 && widest > (svg.width - 60) / b->n_groups - 6;
    names = turned ? 24 + 0.64 * fmin(widest, 110) : 18;
    cr_svg_axes(&svg, false, names);
    for (int g = 0; g < b->n_groups; g++)
        bars_group(&svg, b, g);
    if (b->n_groups > 0)
        bars_names(&svg, b, turned);
    cr_svg_legend(&svg, item, b->n, svg.height - 6);
    return cr_svg_end(&svg);
}

/* ---- Histograms */

static void histogram_bars(struct cr_svg *svg, const double *count, int bins,
                           double low, double step)
{
    struct cr_arena *arena = svg->chart->arena;

    for (int i = 0; i < bins; i++) {
        double x = cr_svg_x(svg, low + step * i);

        if (count[i] > 0 && isfinite(x))
            bar_rect(svg, x,
                     fmax(cr_svg_x(svg, low + step * (i + 1)) - x - 0.5, 0.5),
                     count[i], 1,
                     cr_strf(arena, "%s to %s: %.0f",
                             cr_chart_number(arena, low + step * i, 4),
                             cr_chart_number(arena, low + step * (i + 1), 4),
                             count[i]));
    }
}

double cr_chart_histogram(struct cr_buf *to, const struct cr_chart *chart,
                          const double *value, int64_t n, int bins)
{
    double low = INFINITY, high = -INFINITY, most = 0, from, step;
    struct cr_chart_axis x_axis = chart->x, y_axis = chart->y;
    double *count = CR_NEWS(chart->arena, double, BINS_MAX);
    struct cr_svg svg;
    int64_t finite = 0;

    x_axis.scale = y_axis.scale = CR_SCALE_LINEAR;
    y_axis.from_zero = true;
    cr_range_add(CR_SCALE_LINEAR, &low, &high, value, n);
    if (low > high)
        low = high = 0;
    if (low == high) {
        double space = fmax(0.5, 1e-3 * fabs(low));

        low -= space;
        high += space;
    }
    for (int64_t i = 0; i < n; i++)
        finite += isfinite(value[i]);
    if (bins <= 0)
        bins = 1 + (int)ceil(log2((double)(finite > 1 ? finite : 1)));
    bins = bins > BINS_MAX ? BINS_MAX : bins;
    from = chart->x.min < chart->x.max ? chart->x.min : low;
    step = ((chart->x.min < chart->x.max ? chart->x.max : high) - from) / bins;
    for (int64_t i = 0; i < n; i++) {
        double at = (value[i] - from) / step; /* NAN: the range overflows */

        if (isfinite(value[i]) && at >= 0 && at <= bins)
            most = fmax(most, ++count[at < bins ? (int)at : bins - 1]);
    }
    cr_svg_begin(&svg, to, chart,
                 cr_strf(chart->arena,
                         "Histogram of %" PRId64 " values from %s to %s in %d "
                         "intervals; the highest has %.0f.", finite,
                         cr_chart_number(chart->arena, low, 4),
                         cr_chart_number(chart->arena, high, 4), bins, most),
                 0);
    svg.x = cr_scale_make(chart->arena, &x_axis, low, high,
                          (int)(svg.width / 90), false);
    svg.y = cr_scale_make(chart->arena, &y_axis, 0, most,
                          (int)(svg.height / 60), true);
    cr_svg_axes(&svg, true, 0);
    histogram_bars(&svg, count, bins, from, step);
    return cr_svg_end(&svg);
}
