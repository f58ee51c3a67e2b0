/* Outputs that are numbers: against the labels, and their residuals. */
#include <inttypes.h>
#include <math.h>

#include "report/section.h"

#define POINTS 1500
#define OUTPUTS 4

static void regression_scatter(struct cr_report *r,
                               const struct cr_run_outcomes *o, int64_t k,
                               const char *title)
{
    int64_t n = o->n < POINTS ? o->n : POINTS;
    double *x = CR_NEWS(r->arena, double, n), *y = CR_NEWS(r->arena, double, n);
    double ends[2] = { INFINITY, -INFINITY };
    struct cr_chart chart = cr_report_chart(r, title);
    struct cr_chart_curve curve[] = {
        { .name = "label", .n = 2, .x = ends, .y = ends, .dashed = true,
          .color = 8 },
        { .name = "output", .n = n, .x = x, .y = y, .points = true,
          .color = 1 },
    };

    for (int64_t i = 0; i < n; i++) {
        int64_t at = i * o->n / n * o->width + k;

        x[i] = o->truth[at];
        y[i] = o->output[at];
        ends[0] = fmin(ends[0], x[i]);
        ends[1] = fmax(ends[1], x[i]);
    }
    chart.x.label = "label";
    chart.y.label = "output";
    cr_report_figure(r, 0);
    cr_chart_curves(r->to, &chart, curve, 2);
    cr_report_figure_end(r, n < o->n ? cr_strf(r->arena, "%" PRId64 " of %"
                                               PRId64 " samples, at equal "
                                               "distances.", n, o->n)
                                     : "One point for each sample.");
}

static void regression_residuals(struct cr_report *r,
                                 const struct cr_run_outcomes *o, int64_t k)
{
    double *error = CR_NEWS(r->arena, double, o->n), mean = 0, square = 0;
    struct cr_chart chart = cr_report_chart(r, "Residuals");
    double n = (double)o->n;

    for (int64_t i = 0; i < o->n; i++) {
        error[i] = o->output[i * o->width + k] - o->truth[i * o->width + k];
        mean += error[i] / n;
    }
    for (int64_t i = 0; i < o->n; i++)
        square += (error[i] - mean) * (error[i] - mean);
    chart.x.label = "output - label";
    chart.y.label = "samples";
    cr_report_figure(r, 0);
    cr_chart_histogram(r->to, &chart, error, o->n, 0);
    cr_report_figure_end(
        r, cr_strf(r->arena, "Mean %.4g, standard deviation %.4g.", mean,
                   n > 1 ? sqrt(square / (n - 1)) : 0));
}

static bool regression_write(struct cr_report *r,
                             const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;

    if (o->n == 0 || o->width == 0)
        return false;
    cr_buf_str(r->to, "<div class=\"grid\">\n");
    for (int64_t k = 0; k < o->width && k < OUTPUTS; k++) {
        regression_scatter(r, o, k, o->width == 1
                                        ? "Output against label"
                                        : cr_strf(r->arena, "Output %" PRId64
                                                  " against label", k));
        regression_residuals(r, o, k);
    }
    cr_buf_str(r->to, "</div>\n");
    if (o->width > OUTPUTS) {
        cr_buf_str(r->to, "<p class=\"note\">");
        cr_html_f(r->to, "The first %d of %" PRId64 " outputs.", OUTPUTS,
                  o->width);
        cr_buf_str(r->to, "</p>\n");
    }
    return true;
}

const struct cr_report_section cr_report_regression = {
    .id = "regression",
    .title = "Outputs and residuals",
    .write = regression_write,
};
