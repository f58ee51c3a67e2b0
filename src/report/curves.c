/* Curves of training and evaluation. */
#include <math.h>
#include <string.h>

#include "chart/scale.h"
#include "report/section.h"
#include "rundir/curves.h"

#define CURVES 40       /* charts of a page */
#define RECORDS 60      /* of a curve that is not smoothed */
#define MARKED 40       /* records of a curve that has points */
#define DYNAMIC 100.0   /* ratio of losses from which their axis is
                           logarithmic */

struct curves {
    struct cr_report *r;
    const struct cr_report_run *run;
    const struct cr_series *train, *eval;
    double steps, epochs; /* at the end; epochs NAN: not known */
    int n;                /* charts */
    struct cr_buf constant;
};

static bool curves_range(const struct cr_series_column *c, int64_t n,
                         double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t i = 0; c && i < n; i++)
        if (isfinite(c->value[i])) {
            *low = fmin(*low, c->value[i]);
            *high = fmax(*high, c->value[i]);
        }
    return *low <= *high;
}

/* The weight of the moving average: over about a hundredth of the records, at
 * least 10. */
static double curves_weight(int64_t n)
{
    return n > 1000 ? 1 - 100 / (double)n : 0.9;
}

static int curves_add(struct curves *k, struct cr_chart_curve *to,
                      const struct cr_series *s, const char *column,
                      const char *name, int color)
{
    const struct cr_series_column *c = cr_series_column(s, column);
    struct cr_chart_curve curve = { .color = color };
    struct cr_arena *arena = k->r->arena;
    double low, high;

    if (!c || !curves_range(c, s->n, &low, &high))
        return 0;
    if (s->n > RECORDS) {
        curve.n = cr_report_thin(arena, s->step, c->value, s->n,
                                 CR_REPORT_POINTS, &curve.x, &curve.y);
        curve.faint = true;
        to[0] = curve;
        curve.n = cr_report_thin(arena, s->step,
                                 cr_curve_smooth(arena, c->value, s->n,
                                                 curves_weight(s->n)),
                                 s->n, CR_REPORT_POINTS, &curve.x, &curve.y);
        curve.faint = false;
        curve.name = name;
        to[1] = curve;
        return 2;
    }
    curve.name = name;
    curve.n = s->n;
    curve.x = s->step;
    curve.y = c->value;
    curve.marked = s->n <= MARKED;
    to[0] = curve;
    return 1;
}

/* The charts of a run have the same x axis. */
static void curves_draw(struct curves *k, const char *title,
                        const struct cr_chart_curve *curve, int n, bool marked,
                        bool from_zero)
{
    struct cr_report *r = k->r;
    const struct cr_node *best = cr_node_get(k->run->record, "best");
    double low = INFINITY, high = -INFINITY, least = INFINITY;
    struct cr_chart chart;

    for (int i = 0; i < n; i++) {
        cr_range_add(CR_SCALE_LINEAR, &least, &high, curve[i].y, curve[i].n);
        cr_range_add(CR_SCALE_LOG, &low, &high, curve[i].y, curve[i].n);
    }
    cr_report_figure(r, 0);
    chart = cr_report_chart(r, title);
    if (strcmp(title, "Loss") == 0 && least > 0 && high / low >= DYNAMIC) {
        chart.y.scale = CR_SCALE_LOG;
        chart.title = "Loss, logarithmic";
    }
    chart.y.from_zero = from_zero;
    chart.x.label = "step";
    chart.x.max = k->steps;
    if (isfinite(k->epochs)) {
        chart.x.second_label = "epoch";
        chart.x.second_max = k->epochs;
    }
    if (marked && best) {
        chart.has_mark = true;
        chart.mark = (double)cr_json_int(best, "step", 0);
    }
    cr_chart_curves(r->to, &chart, curve, n);
    cr_report_figure_end(r, NULL);
    k->n++;
}

/* One chart of a number: in training, in evaluations, or both. A number of
 * training that never changes is listed below the charts instead. */
static void curves_chart(struct curves *k, const char *name, const char *title)
{
    struct cr_chart_curve curve[6]; /* two for each of three columns */
    double low, high;
    int n = curves_add(k, curve, k->train, name, "train", 1);
    int of_eval = curves_add(k, curve + n, k->eval, name, "eval", 2);

    if (n > 0 && of_eval == 0 && strcmp(name, "loss") != 0 &&
        curves_range(cr_series_column(k->train, name), k->train->n, &low,
                     &high) && low == high) {
        cr_buf_f(&k->constant, "%s%s %s", k->constant.len ? "; " : "", name,
                 cr_chart_number(k->r->arena, low, 6));
        return;
    }
    n += of_eval;
    if (strcmp(name, "loss") == 0 && k->eval && k->eval->n > 1)
        n += curves_add(k, curve + n, k->eval, "train_loss", "epoch mean", 3);
    if (n > 0)
        curves_draw(k, title, curve, n, of_eval > 0,
                    strcmp(name, "lr") == 0 ||
                        strcmp(name, "samples_per_s") == 0);
}

static const char *const curves_known[][2] = {
    { "loss", "Loss" },
    { "lr", "Learning rate" },
    { "grad_norm", "Norm of the gradient" },
    { "samples_per_s", "Throughput, samples per second" },
    { "loss_scale", "Loss scale" },
    { "skipped", "Skipped updates" },
    { "train_loss", NULL }, /* a curve of Loss */
};

static bool curves_is_known(const char *name)
{
    for (size_t i = 0; i < CR_LEN(curves_known); i++)
        if (strcmp(curves_known[i][0], name) == 0)
            return true;
    return false;
}

static void curves_end(struct curves *k, const struct cr_series *s)
{
    for (int64_t i = 0; s && i < s->n; i++)
        if (s->step[i] >= k->steps) {
            k->steps = s->step[i];
            k->epochs = s->step[i] > 0 ? s->epoch[i] : (double)NAN;
        }
}

static bool curves_write(struct cr_report *r, const struct cr_report_run *run)
{
    struct curves k = {
        .r = r,
        .run = run,
        .train = cr_series_find(&run->series, "train"),
        .eval = cr_series_find(&run->series, "eval"),
        .epochs = NAN,
        .constant = { .arena = r->arena },
    };
    const struct cr_series *split[] = { k.eval, k.train };

    curves_end(&k, k.train);
    curves_end(&k, k.eval);
    cr_buf_str(r->to, "<div class=\"grid\">\n");
    curves_chart(&k, "loss", "Loss");
    for (int s = 0; s < 2; s++)
        for (int c = 0; split[s] && c < split[s]->n_columns && k.n < CURVES;
             c++) {
            const char *name = split[s]->column[c].name;

            if (!curves_is_known(name) &&
                !(s == 1 && cr_series_column(k.eval, name)))
                curves_chart(&k, name, name);
        }
    for (size_t i = 1; i < CR_LEN(curves_known); i++)
        if (curves_known[i][1])
            curves_chart(&k, curves_known[i][0], curves_known[i][1]);
    cr_buf_str(r->to, "</div>\n<p class=\"note\">A vertical line marks the "
                      "step of the best result. The epoch mean is the mean "
                      "training loss of an epoch. Curves of more than 60 "
                      "records are smoothed by an exponential moving average "
                      "over about a hundredth of them, at least 10; the "
                      "records are drawn pale.");
    if (k.constant.len > 0) {
        cr_buf_str(r->to, " Unchanged during the run: ");
        cr_html(r->to, cr_buf_text(&k.constant));
        cr_buf_char(r->to, '.');
    }
    cr_buf_str(r->to, "</p>\n");
    return k.n > 0;
}

const struct cr_report_section cr_report_curves = {
    .id = "curves",
    .title = "Curves",
    .write = curves_write,
};
