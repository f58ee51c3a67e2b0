/*
 * A matrix as rectangles: colour by opacity, so that it suits light and dark.
 */
#include <math.h>

#include "chart/svg.h"

#define LABELS 120.0 /* maximum width of the names of rows */
#define SOLID 0.55   /* opacity from which numbers are drawn in the other
                        colour */

struct heat {
    struct cr_svg *svg;
    const struct cr_chart_heatmap *map;
    double cell_width, cell_height;
    bool numbers;
    double confusion; /* the largest value off the diagonal */
};

static void heat_range(const struct cr_chart_heatmap *m, int row, double *low,
                       double *high)
{
    *low = 0;
    *high = 0;
    for (int i = 0; i < m->n_rows; i++)
        if (!m->by_row || i == row)
            cr_range_add(CR_SCALE_LINEAR, low, high,
                         m->value + (int64_t)i * m->n_columns, m->n_columns);
}

static double heat_confusion(const struct cr_chart_heatmap *m)
{
    double most = 0;

    for (int i = 0; i < m->n_rows; i++)
        for (int k = 0; k < m->n_columns; k++)
            if (i != k)
                most = fmax(most, m->value[(int64_t)i * m->n_columns + k]);
    return most;
}

static void heat_cell(const struct heat *h, int row, int column, double low,
                      double high)
{
    const struct cr_chart_heatmap *m = h->map;
    struct cr_svg *svg = h->svg;
    struct cr_arena *arena = svg->chart->arena;
    double value = m->value[(int64_t)row * m->n_columns + column];
    double x = svg->left + h->cell_width * column;
    double y = svg->top + h->cell_height * row;
    bool other = m->diagonal && row != column;
    double strength = high > low ? (value - low) / (high - low) : 0;
    const char *text = cr_chart_number(arena, value, 4);

    if (!isfinite(value))
        return;
    if (other)
        strength = h->confusion > 0 ? 0.9 * value / h->confusion : 0;
    cr_buf_f(svg->to, "<rect class=\"heat c%d\" x=\"%.1f\" y=\"%.1f\" "
                      "width=\"%.1f\" height=\"%.1f\" fill-opacity=\"%.3f\">",
             other && value != 0 ? 2 : 1, x, y, h->cell_width - 0.5,
             h->cell_height - 0.5, 0.03 + 0.97 * strength);
    cr_svg_title(svg->to, cr_strf(arena, "%s, %s: %s", m->row[row],
                                  m->column[column], text));
    cr_buf_str(svg->to, "</rect>\n");
    if (h->numbers && !(other && value == 0))
        cr_svg_text(svg->to, x + h->cell_width / 2,
                    y + h->cell_height / 2 + 4, "middle",
                    strength > SOLID ? "on" : NULL, text);
}

/* Whether every number fits in its cell. */
static bool heat_numbers(const struct heat *h)
{
    const struct cr_chart_heatmap *m = h->map;
    double widest = 0;

    for (int64_t i = 0; i < (int64_t)m->n_rows * m->n_columns; i++)
        widest = fmax(widest,
                      cr_svg_text_width(cr_chart_number(
                          h->svg->chart->arena, m->value[i], 4)));
    return widest + 4 <= h->cell_width && h->cell_height >= 13;
}

static void heat_names(const struct heat *h)
{
    const struct cr_chart_heatmap *m = h->map;
    struct cr_svg *svg = h->svg;
    struct cr_arena *arena = svg->chart->arena;
    int every = (int)ceil(13 / h->cell_height);
    double widest = 0, y = svg->top + svg->plot_height + 14;
    bool turned;

    for (int i = 0; i < m->n_rows; i += every)
        cr_svg_text(svg->to, svg->left - 6,
                    svg->top + h->cell_height * (i + 0.5) + 4, "end", NULL,
                    cr_svg_fit(arena, m->row[i], LABELS));
    for (int k = 0; k < m->n_columns; k++)
        widest = fmax(widest, cr_svg_text_width(m->column[k]));
    turned = widest > h->cell_width - 4;
    every = turned ? (int)ceil(14 / h->cell_width) : 1;
    for (int k = 0; k < m->n_columns; k += every) {
        double x = svg->left + h->cell_width * (k + 0.5);

        if (!turned) {
            cr_svg_text(svg->to, x, y, "middle", NULL, m->column[k]);
            continue;
        }
        cr_buf_f(svg->to, "<text transform=\"translate(%.1f %.1f) "
                          "rotate(-40)\" text-anchor=\"end\">", x + 4, y - 2);
        cr_svg_escape(svg->to, cr_svg_fit(arena, m->column[k], LABELS));
        cr_buf_str(svg->to, "</text>\n");
    }
}

double cr_chart_heatmap(struct cr_buf *to, const struct cr_chart *chart,
                        const struct cr_chart_heatmap *map)
{
    struct heat h = { .map = map, .confusion = heat_confusion(map) };
    double rows = 0, columns = 0, low, high, bottom;
    struct cr_svg svg;

    heat_range(&(struct cr_chart_heatmap){ .n_rows = map->n_rows,
                                           .n_columns = map->n_columns,
                                           .value = map->value },
               0, &low, &high);
    cr_svg_begin(&svg, to, chart,
                 cr_strf(chart->arena,
                         "Matrix of %d rows%s%s%s and %d columns%s%s%s, "
                         "largest value %s.", map->n_rows,
                         chart->y.label ? " (" : "",
                         chart->y.label ? chart->y.label : "",
                         chart->y.label ? ")" : "", map->n_columns,
                         chart->x.label ? " (" : "",
                         chart->x.label ? chart->x.label : "",
                         chart->x.label ? ")" : "",
                         cr_chart_number(chart->arena, high, 4)),
                 0);
    h.svg = &svg;
    for (int i = 0; i < map->n_rows; i++)
        rows = fmax(rows, fmin(LABELS, cr_svg_text_width(map->row[i])));
    for (int k = 0; k < map->n_columns; k++)
        columns = fmax(columns,
                       fmin(LABELS, cr_svg_text_width(map->column[k])));
    if (chart->y.label) {
        cr_svg_text(to, svg.left, svg.top + 10, "start", NULL, chart->y.label);
        svg.top += 18;
    }
    bottom = svg.height - 10 - (chart->x.label ? 17 : 0);
    if (chart->x.label)
        cr_svg_text(to, svg.width / 2, bottom + 14, "middle", NULL,
                    chart->x.label);
    svg.left += rows + 8;
    svg.plot_width = svg.width - svg.left - 10;
    bottom -= columns > svg.plot_width / fmax(map->n_columns, 1) - 4
                  ? 24 + 0.64 * columns
                  : 20;
    svg.plot_height = fmax(bottom - svg.top, 10);
    if (map->n_rows > 0 && map->n_columns > 0) {
        h.cell_width = svg.plot_width / map->n_columns;
        h.cell_height = svg.plot_height / map->n_rows;
        h.numbers = heat_numbers(&h);
        heat_names(&h);
    }
    for (int i = 0; i < map->n_rows; i++) {
        if (i == 0 || map->by_row)
            heat_range(map, i, &low, &high);
        for (int k = 0; k < map->n_columns; k++)
            heat_cell(&h, i, k, low, high);
    }
    return cr_svg_end(&svg);
}
