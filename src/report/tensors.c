/* Tensors that the section watch or log.histograms observed: their statistics
 * over the steps. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/section.h"

#define CHARTS 60 /* of a page */
#define ROWS 400  /* of the table */
#define MARKED 40 /* values of a curve that has points */
#define TITLE 44  /* characters of a title, next to the buttons */

/* The statistics of cellrun-formats(7), in the order of the table. */
enum { MEAN, STD, MIN, MAX, NORM, ZERO_FRACTION, NAN_COUNT, STATS };

static const char *const stat_key[] = {
    "mean", "std", "min", "max", "norm", "zero_fraction", "nan_count"
};
static const char *const stat_name[] = {
    "mean",
    "standard deviation",
    "minimum",
    "maximum",
    "norm",
    "fraction of zeros",
    "NaN or infinite"
};

struct tensor {
    const char *name; /* "fc1.grad" */
    int64_t n;
    double *step;
    double *value[STATS]; /* [n] each, NAN: none; NULL: in no record */
};

/* Copies the statistics of a series. Records of one step become one: several
 * entries can observe the same tensor, each with its own statistics. Of the
 * batches of an evaluation, the first one counts. */
static struct tensor tensor_of(struct cr_arena *arena,
                               const struct cr_series *s)
{
    const struct cr_series_column *c[STATS];
    const struct cr_series_column *batch = cr_series_column(s, "batch");
    struct tensor t = { .name = s->name + strlen("watch.") };
    int64_t first = 0; /* record of this step */

    t.step = CR_NEWS(arena, double, s->n + 1);
    for (int k = 0; k < STATS; k++) {
        c[k] = cr_series_column(s, stat_key[k]);
        if (c[k])
            t.value[k] = CR_NEWS(arena, double, s->n + 1);
    }
    for (int64_t i = 0; i < s->n; i++) {
        bool again = t.n > 0 && s->step[i] == t.step[t.n - 1];

        if (!isfinite(s->step[i]) ||
            (again && batch && batch->value[i] != batch->value[first]))
            continue;
        first = again ? first : i;
        t.n += !again;
        t.step[t.n - 1] = s->step[i];
        for (int k = 0; k < STATS; k++)
            if (c[k] && (!again || isnan(t.value[k][t.n - 1])))
                t.value[k][t.n - 1] = c[k]->value[i];
    }
    return t;
}

/* Whether a statistic has at least two different values. */
static bool tensor_changes(const struct tensor *t, int stat)
{
    const double *y = t->value[stat];
    double first = NAN;

    for (int64_t i = 0; y && i < t->n; i++) {
        if (isfinite(first) && isfinite(y[i]) && y[i] != first)
            return true;
        first = isfinite(first) ? first : y[i];
    }
    return false;
}

/* The last value of a statistic; NAN: none. */
static double tensor_last(const struct tensor *t, int stat)
{
    int64_t i = t->n;

    while (t->value[stat] && i > 0 && !isfinite(t->value[stat][i - 1]))
        i--;
    return t->value[stat] && i > 0 ? t->value[stat][i - 1] : (double)NAN;
}

/* ---- Charts */

/* A curve of the steps at which the statistic is known. */
static struct cr_chart_curve tensor_curve(struct cr_report *r,
                                          const struct tensor *t, int stat)
{
    double *x = CR_NEWS(r->arena, double, t->n + 1);
    double *y = CR_NEWS(r->arena, double, t->n + 1);
    struct cr_chart_curve curve = { .name = stat_name[stat], .color = 1 };
    int64_t n = 0;

    for (int64_t i = 0; i < t->n; i++)
        if (isfinite(t->value[stat][i])) {
            x[n] = t->step[i];
            y[n++] = t->value[stat][i];
        }
    curve.marked = n <= MARKED;
    curve.n = cr_report_thin(r->arena, x, y, n, CR_REPORT_POINTS, &curve.x,
                             &curve.y);
    return curve;
}

/* The mean with a band of one standard deviation on each side, where that is
 * known. Beyond CR_REPORT_POINTS steps each point stands for several: their
 * mean, and the outer limits of their bands. */
static struct cr_chart_curve tensor_mean(struct cr_report *r,
                                         const struct tensor *t)
{
    int64_t points = t->n < CR_REPORT_POINTS ? t->n : CR_REPORT_POINTS, n = 0;
    double *x = CR_NEWS(r->arena, double, points + 1);
    double *y = CR_NEWS(r->arena, double, points + 1);
    double *low = CR_NEWS(r->arena, double, points + 1);
    double *high = CR_NEWS(r->arena, double, points + 1);

    for (int64_t k = 0; k < points; k++) {
        int64_t from = k * t->n / points, end = (k + 1) * t->n / points;
        double sum = 0, least = INFINITY, most = -INFINITY;
        int64_t some = 0;

        for (int64_t i = from; i < end; i++) {
            double mean = t->value[MEAN][i];
            double std = t->value[STD] ? t->value[STD][i] : 0;

            if (!isfinite(mean))
                continue;
            std = isfinite(std) ? std : 0;
            sum += mean;
            some++;
            least = fmin(least, mean - std);
            most = fmax(most, mean + std);
        }
        if (some == 0)
            continue;
        x[n] = t->step[end - 1];
        y[n] = sum / (double)some;
        low[n] = least;
        high[n++] = most;
    }
    return (struct cr_chart_curve){ .name = stat_name[MEAN],
                                    .color = 1,
                                    .marked = n <= MARKED,
                                    .n = n,
                                    .x = x,
                                    .y = y,
                                    .low = t->value[STD] ? low : NULL,
                                    .high = t->value[STD] ? high : NULL };
}

struct tensors {
    struct cr_report *r;
    double steps; /* of the run: the x axes of all charts end there */
    int n;        /* charts drawn */
    int more;     /* charts omitted */
};

static void tensors_draw(struct tensors *k, const char *title,
                         const struct cr_chart_curve *curve, int n,
                         bool from_zero)
{
    struct cr_chart chart;

    if (k->n == CHARTS) {
        k->more++;
        return;
    }
    cr_report_figure(k->r, 0);
    chart = cr_report_chart(k->r, title);
    chart.x.label = "step";
    chart.x.max = k->steps;
    chart.y.from_zero = from_zero;
    cr_chart_curves(k->r->to, &chart, curve, n);
    cr_report_figure_end(k->r, NULL);
    k->n++;
}

/* The title of a chart; stat NULL: of the values. Of a long name the end is
 * shown, where tensors differ. */
static const char *tensor_title(struct cr_arena *arena, const struct tensor *t,
                                const char *stat)
{
    const char *end = stat ? cr_strf(arena, ": %s", stat) : "", *name = t->name;
    size_t n = cr_utf8_count(name, strlen(name)), used = strlen(end);

    if (n + used <= TITLE)
        return cr_strf(arena, "%s%s", name, end);
    for (n -= TITLE - used - 1; n > 0; n--)
        for (name++; (*name & 0xc0) == 0x80; name++)
            ;
    return cr_strf(arena, "\u2026%s%s", name, end);
}

/* One chart of the values of a tensor; one of each other statistic that
 * changes. */
static void tensors_charts(struct tensors *k, const struct tensor *t)
{
    struct cr_chart_curve curve[4];
    bool changes = false;
    int n = 0;

    for (int s = MEAN; s <= MAX; s++)
        changes |= tensor_changes(t, s);
    if (changes && t->value[MEAN])
        curve[n++] = tensor_mean(k->r, t);
    if (changes && t->value[STD] && !t->value[MEAN])
        curve[n++] = tensor_curve(k->r, t, STD);
    for (int s = MIN; changes && s <= MAX; s++)
        if (t->value[s]) {
            curve[n] = tensor_curve(k->r, t, s);
            curve[n++].color = s == MIN ? 7 : 2;
        }
    if (n > 0)
        tensors_draw(k, tensor_title(k->r->arena, t, NULL), curve, n, false);
    for (int s = NORM; s < STATS; s++)
        if (tensor_changes(t, s)) {
            curve[0] = tensor_curve(k->r, t, s);
            tensors_draw(k, tensor_title(k->r->arena, t, stat_name[s]), curve,
                         1, true);
        }
}

/* ---- Table */

static void tensors_table(struct cr_report *r, const struct tensor *t, int n)
{
    bool has[STATS] = { false };

    for (int i = 0; i < n; i++)
        for (int s = 0; s < STATS; s++)
            has[s] |= isfinite(tensor_last(&t[i], s));
    cr_html_table(r->to, "Watched tensors: last values", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "tensor", false);
    cr_html_head(r->to, "step", true);
    for (int s = 0; s < STATS; s++)
        if (has[s])
            cr_html_head(r->to, stat_name[s], true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < n && i < ROWS; i++) {
        cr_buf_str(r->to, "<tr><th scope=\"row\">");
        cr_html(r->to, t[i].name);
        cr_buf_str(r->to, "</th>");
        cr_html_number(r->to, t[i].step[t[i].n - 1], "%.0f");
        for (int s = 0; s < STATS; s++)
            if (has[s])
                cr_html_number(r->to, tensor_last(&t[i], s), "%.4g");
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
}

static void tensors_note(const struct tensors *k, const struct tensor *t,
                         int n)
{
    struct cr_buf *to = k->r->to;
    bool band = false, batches = false;

    for (int i = 0; i < n; i++) {
        band |= t[i].value[MEAN] && t[i].value[STD];
        batches |= cr_ends(t[i].name, ".eval");
    }
    if (k->n == 0 && n <= ROWS && !batches)
        return;
    cr_buf_str(to, "<p class=\"note\">");
    if (k->n > 0 && band)
        cr_buf_str(to, "The band around the mean is one standard deviation "
                       "wide on each side. ");
    if (k->n > 0)
        cr_buf_str(to, "Statistics that never change have no chart. ");
    if (batches)
        cr_buf_str(to, "Of an evaluation the first recorded batch is shown. ");
    if (k->more > 0)
        cr_html_f(to, "%d more charts are omitted. ", k->more);
    if (n > ROWS)
        cr_html_f(to, "%d more tensors are omitted from the table. ", n - ROWS);
    cr_buf_str(to, "</p>\n");
}

static bool tensors_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_run_series *all = &run->series;
    struct tensor *t = CR_NEWS(r->arena, struct tensor, all->n + 1);
    struct tensors k = { .r = r };
    int n = 0;

    for (int i = 0; i < all->n; i++) {
        const struct cr_series *s = &all->series[i];

        for (int64_t j = 0; j < s->n; j++)
            k.steps = s->step[j] > k.steps ? s->step[j] : k.steps;
        if (!cr_starts(s->name, "watch."))
            continue;
        t[n] = tensor_of(r->arena, s);
        for (int c = 0; c < STATS; c++)
            if (isfinite(tensor_last(&t[n], c))) {
                n++;
                break;
            }
    }
    if (n == 0)
        return false;
    cr_buf_str(r->to, "<div class=\"grid\">\n");
    for (int i = 0; i < n; i++)
        tensors_charts(&k, &t[i]);
    cr_buf_str(r->to, "</div>\n");
    tensors_note(&k, t, n);
    tensors_table(r, t, n);
    return true;
}

const struct cr_report_section cr_report_tensors = {
    .id = "tensors",
    .title = "Watched tensors",
    .write = tensors_write,
};
