/* Runs that differ only in their seed: mean and standard deviation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"
#include "rundir/curves.h"

#define CURVES 8

/* The keys but the seeds; *n is their number. */
static const char *const *seeds_keys(struct cr_report *r, int *n)
{
    const char **key = CR_NEWS(r->arena, const char *, r->n_settings + 1);

    *n = 0;
    for (int k = 0; k < r->n_settings; k++)
        if (strcmp(r->setting[k], "seed") != 0)
            key[(*n)++] = r->setting[k];
    return key;
}

/* The mean and sample standard deviation of a group; NAN without values. */
static void seeds_moments(const struct cr_report *r,
                          const struct cr_run_group *g, int *n, double *mean,
                          double *deviation)
{
    double sum = 0, square = 0;

    *n = 0;
    for (int i = 0; i < g->n; i++)
        if (isfinite(r->value[g->run[i]])) {
            sum += r->value[g->run[i]];
            ++*n;
        }
    *mean = *n > 0 ? sum / *n : (double)NAN;
    for (int i = 0; i < g->n; i++)
        if (isfinite(r->value[g->run[i]]))
            square += (r->value[g->run[i]] - *mean) *
                      (r->value[g->run[i]] - *mean);
    *deviation = *n > 1 ? sqrt(square / (*n - 1)) : (double)NAN;
}

static int seeds_order(const void *a, const void *b, void *ctx)
{
    const struct cr_report *r = ctx;
    double x, y, deviation;
    int n;

    seeds_moments(r, a, &n, &x, &deviation);
    seeds_moments(r, b, &n, &y, &deviation);
    if (isnan(x) || isnan(y) || x == y)
        return isnan(x) - isnan(y);
    return (x > y) == r->maximize ? -1 : 1;
}

static void seeds_row(struct cr_report *r, const struct cr_run_group *g,
                      const char *const *key, int n_keys, double largest)
{
    const struct cr_report_run *first = &r->run[g->run[0]];
    const char *format = cr_html_format(largest);
    double mean, deviation;
    int n;

    seeds_moments(r, g, &n, &mean, &deviation);
    cr_buf_str(r->to, "<tr>");
    for (int k = 0; k < n_keys; k++) {
        double value = cr_report_setting(r, first, key[k]);

        if (isnan(value))
            cr_html_cell(r->to, cr_report_setting_text(r, first, key[k]));
        else
            cr_html_number(r->to, value, "%.6g");
    }
    cr_html_number(r->to, n, "%.0f");
    cr_html_number(r->to, mean, format);
    cr_html_number(r->to, deviation, format);
    cr_buf_str(r->to, "</tr>\n");
}

/* The mean curve of the metric of each group, with a band. */
static void seeds_curves(struct cr_report *r, const struct cr_run_group *group,
                         int n_groups)
{
    struct cr_chart_curve to[CURVES];
    struct cr_chart chart;
    int n = 0;

    for (int g = 0; g < n_groups && n < CURVES; g++) {
        struct cr_curve *all = CR_NEWS(r->arena, struct cr_curve, group[g].n),
                        mean;
        int m = 0;
        double *low, *high;

        for (int i = 0; i < group[g].n; i++) {
            const struct cr_series *s = cr_series_find(
                &r->run[group[g].run[i]].series, "eval");
            const struct cr_series_column *c = cr_series_column(s, r->metric);

            if (c)
                all[m++] = cr_curve_of(s, c);
        }
        if (m < 2)
            continue;
        mean = cr_curve_mean(r->arena, all, m);
        low = CR_NEWS(r->arena, double, mean.n + 1);
        high = CR_NEWS(r->arena, double, mean.n + 1);
        for (int64_t i = 0; i < mean.n; i++) {
            low[i] = mean.value[i] - mean.deviation[i];
            high[i] = mean.value[i] + mean.deviation[i];
        }
        to[n++] = (struct cr_chart_curve){ .name = group[g].label,
                                           .n = mean.n,
                                           .x = mean.step,
                                           .y = mean.value,
                                           .low = low,
                                           .high = high };
    }
    if (n == 0)
        return;
    cr_report_figure(r, 700);
    chart = cr_report_chart(r, cr_strf(r->arena, "Mean %s over seeds",
                                       r->metric));
    chart.width = 900;
    chart.x.label = "step";
    cr_chart_curves(r->to, &chart, to, n);
    cr_report_figure_end(r, n_groups > CURVES
                                ? "The best 8. The band is one standard "
                                  "deviation wide on each side."
                                : "The band is one standard deviation wide on "
                                  "each side.");
}

static bool seeds_write(struct cr_report *r, const struct cr_report_run *run)
{
    int n_keys, n, most = 0;
    const char *const *key = seeds_keys(r, &n_keys);
    const struct cr_run_group *group;
    struct cr_run_group *sorted;
    double largest = 0;

    (void)run;
    if (n_keys == r->n_settings)
        return false;
    group = cr_runs_group_by(r->runs, key, n_keys, &n);
    for (int g = 0; group && g < n; g++)
        most = group[g].n > most ? group[g].n : most;
    if (most < 2)
        return false;
    for (int i = 0; i < r->n; i++)
        if (isfinite(r->value[i]))
            largest = fmax(largest, fabs(r->value[i]));
    sorted = CR_NEWS(r->arena, struct cr_run_group, n);
    memcpy(sorted, group, (size_t)n * sizeof *sorted);
    qsort_r(sorted, (size_t)n, sizeof *sorted, seeds_order, r);
    cr_html_table(r->to, cr_strf(r->arena, "Best %s over seeds", r->metric),
                  true);
    cr_buf_str(r->to, "<thead><tr>");
    for (int k = 0; k < n_keys; k++)
        cr_html_head(r->to, cr_report_short(r, key[k]),
                     cr_report_is_number(r, key[k]));
    cr_html_head(r->to, "runs", true);
    cr_html_head(r->to, "mean", true);
    cr_html_head(r->to, "standard deviation", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int g = 0; g < n; g++)
        seeds_row(r, &sorted[g], key, n_keys, largest);
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    seeds_curves(r, sorted, n);
    return true;
}

const struct cr_report_section cr_report_seeds = {
    .id = "seeds",
    .title = "Over seeds",
    .several = true,
    .write = seeds_write,
};
