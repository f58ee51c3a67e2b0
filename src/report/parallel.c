/* Several runs as lines across their settings and the metric. */
#include <math.h>
#include <string.h>

#include "report/section.h"

#define AXES 8
#define WORDS 12

struct axes {
    int n;
    struct cr_chart_axis axis[AXES];
    const char *const *category[AXES];
    int n_categories[AXES];
    double *column[AXES]; /* of each run */
};

/* A setting of numbers, or of a few words, becomes an axis. */
static void parallel_axis(struct cr_report *r, struct axes *a, const char *key)
{
    double *v = CR_NEWS(r->arena, double, r->n), low = INFINITY,
           high = -INFINITY;
    const char **word = CR_NEWS(r->arena, const char *, WORDS);
    int words = 0, numbers = 0;

    for (int i = 0; i < r->n; i++) {
        const char *text = cr_report_setting_text(r, &r->run[i], key);
        int at = 0;

        v[i] = cr_report_setting(r, &r->run[i], key);
        numbers += !isnan(v[i]);
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        while (at < words && strcmp(word[at], text) != 0)
            at++;
        if (at == words && words < WORDS)
            word[words++] = text;
    }
    if (numbers < r->n) {
        if (words >= WORDS)
            return;
        for (int i = 0; i < r->n; i++)
            for (int k = 0; k < words; k++)
                if (strcmp(word[k], cr_report_setting_text(r, &r->run[i],
                                                           key)) == 0)
                    v[i] = k;
        a->category[a->n] = word;
        a->n_categories[a->n] = words;
    } else if (low == high) {
        return;
    }
    a->axis[a->n] = cr_report_axis(r, key);
    a->column[a->n++] = v;
}

static bool parallel_write(struct cr_report *r, const struct cr_report_run *run)
{
    struct axes a = { 0 };
    struct cr_chart chart;
    int width;
    const char **name = CR_NEWS(r->arena, const char *, r->n);
    double *value;
    struct cr_chart_parallel all = { .axis = a.axis,
                                     .category = a.category,
                                     .n_categories = a.n_categories,
                                     .name = name,
                                     .minimize = !r->maximize };

    (void)run;
    for (int k = 0; k < r->n_settings && a.n < AXES - 1; k++)
        if (strcmp(r->setting[k], "seed") != 0)
            parallel_axis(r, &a, r->setting[k]);
    if (a.n == 0)
        return false;
    a.axis[a.n++].label = r->metric;
    value = CR_NEWS(r->arena, double, r->n * a.n);
    for (int i = 0; i < r->n; i++) {
        if (!isfinite(r->value[i]))
            continue;
        for (int k = 0; k < a.n - 1; k++)
            value[all.n_lines * a.n + k] = a.column[k][i];
        value[all.n_lines * a.n + a.n - 1] = r->value[i];
        name[all.n_lines++] = r->run[i].label;
    }
    if (all.n_lines < 2)
        return false;
    all.n_axes = a.n;
    all.value = value;
    width = 150 * a.n > 900 ? 150 * a.n : 900;
    cr_report_figure(r, width * 4 / 5);
    chart = cr_report_chart(r, "Settings of each run");
    chart.width = width;
    chart.height = 360;
    cr_chart_parallel(r->to, &chart, &all);
    cr_report_figure_end(r, "One line for each run; the better its result, "
                            "the stronger the line. The best one is orange.");
    return true;
}

const struct cr_report_section cr_report_parallel = {
    .id = "parallel",
    .title = "Parallel coordinates",
    .several = true,
    .write = parallel_write,
};
