/* Curves of training and evaluation. */
#include <math.h>
#include <string.h>

#include "report/section.h"
#include "rundir/curves.h"

#define CURVES 40 /* charts of a page */

static int64_t curves_finite(const double *y, int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count += isfinite(y[i]);
    return count;
}

static int curves_add(struct cr_report *r, struct cr_chart_curve *to,
                      const struct cr_series *s,
                      const struct cr_series_column *c, int color)
{
    const char *name = s ? s->name : NULL;
    struct cr_chart_curve curve = { .name = name, .color = color };

    if (!c || curves_finite(c->value, s->n) == 0)
        return 0;
    if (s->n > 60) {
        curve.n = cr_report_thin(r->arena, s->step, c->value, s->n, &curve.x,
                                 &curve.y);
        curve.faint = true;
        curve.name = cr_strf(r->arena, "%s, each record", name);
        to[0] = curve;
        curve.n = cr_report_thin(
            r->arena, s->step, cr_curve_smooth(r->arena, c->value, s->n, 0.9),
            s->n, &curve.x, &curve.y);
        curve.faint = false;
        curve.name = name;
        to[1] = curve;
        return 2;
    }
    curve.n = s->n;
    curve.x = s->step;
    curve.y = c->value;
    to[0] = curve;
    return 1;
}

/* One chart of a number: in training, in evaluations, or both. */
static bool curves_chart(struct cr_report *r, const struct cr_report_run *run,
                         const char *name, const char *title)
{
    const struct cr_series *train = cr_series_find(&run->series, "train");
    const struct cr_series *eval = cr_series_find(&run->series, "eval");
    struct cr_chart_curve curve[4];
    struct cr_chart chart;
    int n;

    n = curves_add(r, curve, train, cr_series_column(train, name), 1);
    n += curves_add(r, curve + n, eval, cr_series_column(eval, name), 2);
    if (n == 0)
        return false;
    cr_report_figure(r, false);
    chart = cr_report_chart(r, title);
    chart.x.label = "step";
    if (cr_node_get(run->record, "best") && cr_series_column(eval, name)) {
        chart.has_mark = true;
        chart.mark = (double)cr_json_int(cr_node_get(run->record, "best"),
                                         "step", 0);
    }
    cr_chart_curves(r->to, &chart, curve, n);
    cr_report_figure_end(r, NULL);
    return true;
}

static const char *const curves_known[][2] = {
    { "loss", "Loss" },
    { "train_loss", "Mean training loss of each epoch" },
    { "lr", "Learning rate" },
    { "grad_norm", "Norm of the gradient" },
    { "samples_per_s", "Throughput, samples per second" },
    { "loss_scale", "Loss scale" },
    { "skipped", "Skipped updates" },
};

static bool curves_is_known(const char *name)
{
    for (size_t i = 0; i < CR_LEN(curves_known); i++)
        if (strcmp(curves_known[i][0], name) == 0)
            return true;
    return false;
}

static bool curves_write(struct cr_report *r, const struct cr_report_run *run)
{
    static const char *const split[] = { "eval", "train" };
    int n = 0;

    cr_buf_str(r->to, "<div class=\"grid\">\n");
    n += curves_chart(r, run, "loss", "Loss");
    for (int s = 0; s < 2; s++) {
        const struct cr_series *series = cr_series_find(&run->series, split[s]);

        for (int c = 0; series && c < series->n_columns && n < CURVES; c++) {
            const char *name = series->column[c].name;

            if (!curves_is_known(name) &&
                !(s == 1 && cr_series_column(
                                cr_series_find(&run->series, "eval"), name)))
                n += curves_chart(r, run, name, name);
        }
    }
    for (size_t i = 1; i < CR_LEN(curves_known); i++)
        n += curves_chart(r, run, curves_known[i][0], curves_known[i][1]);
    cr_buf_str(r->to, "</div>\n<p class=\"note\">A vertical line marks the "
                      "step of the best result. Longer curves are smoothed by "
                      "an exponential moving average of weight 0.9; each "
                      "record is drawn pale.</p>\n");
    return n > 0;
}

const struct cr_report_section cr_report_curves = {
    .id = "curves",
    .title = "Curves",
    .write = curves_write,
};
