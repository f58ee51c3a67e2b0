/* Each setting in which runs differ, against the metric. */
#include <math.h>
#include <string.h>

#include "report/section.h"

#define CHARTS 16
#define WORDS 30 /* rows of a setting of words */

static bool settings_chart(struct cr_report *r, const char *key)
{
    double *x = CR_NEWS(r->arena, double, r->n);
    double *y = CR_NEWS(r->arena, double, r->n), low = INFINITY;
    double high = -INFINITY;
    const char **label = CR_NEWS(r->arena, const char *, r->n);
    struct cr_chart_curve points = {
        .x = x, .y = y, .points = true, .labels = label, .color = 1
    };
    struct cr_chart chart;

    for (int i = 0; i < r->n; i++) {
        double value = cr_report_setting(r, &r->run[i], key);

        if (isnan(value) || !isfinite(r->value[i]))
            continue;
        x[points.n] = value;
        y[points.n] = r->value[i];
        label[points.n++] = cr_strf(r->arena, "%s: %s %.6g, %s %.4f",
                                    r->run[i].label, key, value, r->metric,
                                    r->value[i]);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    if (points.n < 2 || low == high)
        return false;
    cr_report_figure(r, 0);
    chart = cr_report_chart(r, cr_strf(r->arena, "%s against %s", r->metric,
                                       cr_report_short(r, key)));
    chart.x = cr_report_axis(r, key);
    chart.x.label = key;
    cr_chart_curves(r->to, &chart, &points, 1);
    cr_report_figure_end(r, NULL);
    return true;
}

/* A setting of words: number of runs, mean and best for each of its values. */
static bool settings_words(struct cr_report *r, const char *key)
{
    const char *word[WORDS];
    double sum[WORDS] = { 0 }, best[WORDS];
    int count[WORDS] = { 0 }, n = 0;
    double largest = 0;
    const char *format;

    for (int i = 0; i < r->n; i++) {
        const char *text = cr_report_setting_text(r, &r->run[i], key);
        int at = 0;

        if (!isfinite(r->value[i]) || !*text)
            continue;
        while (at < n && strcmp(word[at], text) != 0)
            at++;
        if (at == WORDS || strlen(text) > 80)
            return false;
        if (at == n) {
            word[n] = text;
            best[n++] = r->value[i];
        }
        sum[at] += r->value[i];
        count[at]++;
        if ((r->value[i] > best[at]) == r->maximize)
            best[at] = r->value[i];
    }
    if (n < 2)
        return false;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(sum[k] / count[k]));
    format = cr_html_format(largest);
    cr_html_table(r->to, key, true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "value", false);
    cr_html_head(r->to, "runs", true);
    cr_html_head(r->to, cr_strf(r->arena, "mean %s", r->metric), true);
    cr_html_head(r->to, "best", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int k = 0; k < n; k++) {
        cr_buf_str(r->to, "<tr>");
        cr_html_cell(r->to, word[k]);
        cr_html_number(r->to, count[k], "%.0f");
        cr_html_number(r->to, sum[k] / count[k], format);
        cr_html_number(r->to, best[k], format);
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    return true;
}

static bool settings_write(struct cr_report *r, const struct cr_report_run *run)
{
    int n = 0;

    (void)run;
    cr_buf_str(r->to, "<div class=\"grid\">\n");
    for (int k = 0; k < r->n_settings && n < CHARTS; k++)
        if (strcmp(r->setting[k], "seed") != 0)
            n += settings_chart(r, r->setting[k]) ||
                 settings_words(r, r->setting[k]);
    cr_buf_str(r->to, "</div>\n");
    return n > 0;
}

const struct cr_report_section cr_report_settings = {
    .id = "settings",
    .title = "Settings and result",
    .several = true,
    .write = settings_write,
};
