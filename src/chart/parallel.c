/*
 * Parallel coordinates: one vertical axis for each setting, one line for each
 * set of values (Inselberg, "The plane with parallel coordinates", 1985).
 */
#include <math.h>

#include "chart/svg.h"

#define NAMES 70.0 /* space on both sides of the axes */

struct parallel {
    struct cr_svg *svg;
    const struct cr_chart_parallel *data;
    struct cr_scale *scale; /* of each axis */
};

static bool parallel_is_named(const struct cr_chart_parallel *d, int axis)
{
    return d->category && d->category[axis];
}

static void parallel_scale(struct parallel *p, int axis)
{
    const struct cr_chart_parallel *d = p->data;
    struct cr_scale *s = &p->scale[axis];
    double low = INFINITY, high = -INFINITY;

    if (parallel_is_named(d, axis)) {
        int n = d->n_categories[axis];

        *s = (struct cr_scale){ .min = -0.5, .max = n - 0.5 };
        for (; s->n < n && s->n < CR_TICKS_MAX; s->n++) {
            s->tick[s->n] = s->n;
            s->text[s->n] = d->category[axis][s->n];
        }
        return;
    }
    for (int i = 0; i < d->n_lines; i++)
        cr_range_add(d->axis[axis].scale, &low, &high,
                     &d->value[(int64_t)i * d->n_axes + axis], 1);
    *s = cr_scale_make(p->svg->chart->arena, &d->axis[axis], low, high, 5,
                       !d->axis[axis].tick);
}

static double parallel_x(const struct parallel *p, int axis)
{
    return p->svg->left + (p->data->n_axes > 1
                               ? p->svg->plot_width * axis /
                                     (p->data->n_axes - 1)
                               : 0);
}

static double parallel_y(const struct parallel *p, int axis, double value)
{
    return p->svg->top +
           p->svg->plot_height * (1 - cr_scale_at(&p->scale[axis], value));
}

static void parallel_axis(const struct parallel *p, int axis)
{
    struct cr_svg *svg = p->svg;
    const struct cr_scale *s = &p->scale[axis];
    double x = parallel_x(p, axis);
    bool last = axis > 0 && axis == p->data->n_axes - 1;
    double space = p->data->n_axes > 1 ? svg->plot_width /
                                            (p->data->n_axes - 1)
                                      : svg->plot_width;

    cr_buf_f(svg->to, "<path class=\"axis\" d=\"M%.1f %.1fv%.1f", x, svg->top,
             svg->plot_height);
    for (int i = 0; i < s->n; i++)
        cr_buf_f(svg->to, "M%.1f %.1fh-4", x, parallel_y(p, axis, s->tick[i]));
    cr_buf_str(svg->to, "\"/>\n");
    if (p->data->axis[axis].label)
        cr_svg_text(svg->to, x, svg->top - 12, "middle", "name",
                    cr_svg_fit(svg->chart->arena, p->data->axis[axis].label,
                               fmin(space - 12, 2 * NAMES)));
    for (int i = 0; i < s->n; i++)
        cr_svg_text(svg->to, last ? x + 5 : x - 7,
                    parallel_y(p, axis, s->tick[i]) + 4,
                    last ? "start" : "end", "over",
                    cr_svg_fit(svg->chart->arena, s->text[i],
                               axis == 0 || last ? NAMES - 12 : space / 2));
}

/* The strength of a line: 0.15 for the worst value of the last axis, 1 for
 * the best. */
static double parallel_strength(const struct parallel *p, int line)
{
    int last = p->data->n_axes - 1;
    double at = cr_scale_at(
        &p->scale[last],
        p->data->value[(int64_t)line * p->data->n_axes + last]);

    if (!isfinite(at))
        return 0.15;
    return 0.15 + 0.85 * pow(p->data->minimize ? 1 - at : at, 2);
}

static void parallel_line(const struct parallel *p, int line, bool best)
{
    const struct cr_chart_parallel *d = p->data;
    struct cr_svg *svg = p->svg;
    bool drawn = false;

    cr_buf_f(svg->to, "<path class=\"curve c%d\" stroke-opacity=\"%.2f\" "
                      "d=\"", best ? 2 : 1,
             best ? 1 : parallel_strength(p, line));
    for (int a = 0; a < d->n_axes; a++) {
        double y = parallel_y(p, a, d->value[(int64_t)line * d->n_axes + a]);

        if (isfinite(y))
            cr_buf_f(svg->to, "%c%.1f %.1f", drawn ? 'L' : 'M',
                     parallel_x(p, a), y);
        drawn = isfinite(y);
    }
    cr_buf_str(svg->to, "\">");
    if (d->name && d->name[line])
        cr_svg_title(svg->to, d->name[line]);
    cr_buf_str(svg->to, "</path>\n");
}

static int parallel_best(const struct cr_chart_parallel *d)
{
    int best = -1;
    double value = 0;

    for (int i = 0; i < d->n_lines; i++) {
        double v = d->value[(int64_t)(i + 1) * d->n_axes - 1];

        if (isfinite(v) &&
            (best < 0 || (d->minimize ? v < value : v > value))) {
            best = i;
            value = v;
        }
    }
    return best;
}

static const char *parallel_desc(const struct cr_chart *chart,
                                 const struct cr_chart_parallel *d, int best)
{
    struct cr_buf b = { .arena = chart->arena };

    cr_buf_f(&b, "Parallel coordinates of %d lines over", d->n_lines);
    for (int a = 0; a < d->n_axes; a++)
        cr_buf_f(&b, "%s %s", a > 0 ? "," : "",
                 d->axis[a].label ? d->axis[a].label : "an axis");
    cr_buf_char(&b, '.');
    if (best < 0)
        return cr_buf_text(&b);
    cr_buf_f(&b, " The best%s%s:", d->name && d->name[best] ? " is " : "",
             d->name && d->name[best] ? d->name[best] : "");
    for (int a = 0; a < d->n_axes; a++) {
        double v = d->value[(int64_t)best * d->n_axes + a];
        bool named = parallel_is_named(d, a) && v >= 0 &&
                     v < d->n_categories[a];

        cr_buf_f(&b, "%s %s %s", a > 0 ? "," : "",
                 d->axis[a].label ? d->axis[a].label : "",
                 named ? d->category[a][(int)v]
                       : cr_chart_number(chart->arena, v, 5));
    }
    cr_buf_char(&b, '.');
    return cr_buf_text(&b);
}

double cr_chart_parallel(struct cr_buf *to, const struct cr_chart *chart,
                         const struct cr_chart_parallel *data)
{
    struct cr_svg svg;
    struct parallel p = { .svg = &svg, .data = data };
    int best = data->n_axes > 0 ? parallel_best(data) : -1;

    p.scale = CR_NEWS(chart->arena, struct cr_scale, data->n_axes + 1);
    cr_svg_begin(&svg, to, chart, parallel_desc(chart, data, best), 0);
    svg.top += 22;
    svg.left = NAMES;
    svg.plot_width = svg.width - svg.left - NAMES;
    svg.plot_height = svg.height - svg.top - 14;
    for (int a = 0; a < data->n_axes; a++)
        parallel_scale(&p, a);
    cr_buf_str(to, "<g class=\"lines\">\n");
    for (int i = 0; i < data->n_lines; i++)
        if (i != best)
            parallel_line(&p, i, false);
    if (best >= 0)
        parallel_line(&p, best, true);
    cr_buf_str(to, "</g>\n");
    for (int a = 0; a < data->n_axes; a++)
        parallel_axis(&p, a);
    return cr_svg_end(&svg);
}
