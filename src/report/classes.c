/* The confusion matrix; precision, recall and F1 of each class. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/section.h"

#define MATRIX 30    /* classes of a matrix that can be read */
#define CONFUSED 10  /* rows of the list of confusions */

struct pair {
    int64_t label, predicted, n;
};

static int classes_more(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    if (x->label != y->label)
        return x->label > y->label ? 1 : -1;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static int classes_order(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->label != y->label)
        return x->label > y->label ? 1 : -1;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static void classes_matrix(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;
    int n = (int)o->classes;
    double *count = CR_NEWS(r->arena, double, n * n);
    const char **name = CR_NEWS(r->arena, const char *, n);
    struct cr_chart_heatmap map = {
        .n_rows = n, .n_columns = n, .by_row = true, .diagonal = true,
        .row = name, .column = name, .value = count,
    };
    struct cr_chart chart = cr_report_chart(r, "Confusion matrix");

    for (int c = 0; c < n; c++)
        name[c] = cr_report_class(r, run, c);
    for (int64_t i = 0; i < o->n; i++)
        if (o->label[i] >= 0)
            count[o->label[i] * n + o->predicted[i]]++;
    chart.width = n > 12 ? 900 : 560;
    chart.height = 140 + (n > 12 ? 22 : 32) * n;
    chart.x.label = "predicted";
    chart.y.label = "label";
    cr_report_figure(r, n > 12 ? 700 : 0);
    cr_chart_heatmap(r->to, &chart, &map);
    cr_report_figure_end(r, "Number of samples. Blue: right, relative to the "
                            "samples of the class. Orange: confusions, "
                            "relative to the most frequent one.");
}

/* The pairs of label and prediction that differ, the most frequent first. */
static void classes_confused(struct cr_report *r,
                             const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;
    struct pair *pair = CR_NEWS(r->arena, struct pair, o->n + 1);
    int64_t n = 0, m = 0;

    for (int64_t i = 0; i < o->n; i++)
        if (o->label[i] >= 0 && o->label[i] != o->predicted[i])
            pair[n++] = (struct pair){ o->label[i], o->predicted[i], 1 };
    if (n == 0)
        return;
    qsort(pair, (size_t)n, sizeof *pair, classes_order);
    for (int64_t i = 1; i < n; i++)
        if (classes_order(&pair[i], &pair[m]) == 0)
            pair[m].n++;
        else
            pair[++m] = pair[i];
    n = m + 1;
    qsort(pair, (size_t)n, sizeof *pair, classes_more);
    cr_html_table(r->to, "Most frequent confusions", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "label", false);
    cr_html_head(r->to, "predicted", false);
    cr_html_head(r->to, "samples", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int64_t i = 0; i < n && i < CONFUSED; i++) {
        cr_buf_str(r->to, "<tr>");
        cr_html_cell(r->to, cr_report_class(r, run, pair[i].label));
        cr_html_cell(r->to, cr_report_class(r, run, pair[i].predicted));
        cr_html_number(r->to, (double)pair[i].n, "%.0f");
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
}

static void classes_table(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;
    int64_t *hit = CR_NEWS(r->arena, int64_t, o->classes);
    int64_t *actual = CR_NEWS(r->arena, int64_t, o->classes);
    int64_t *found = CR_NEWS(r->arena, int64_t, o->classes);
    struct cr_buf *to = r->to;

    for (int64_t i = 0; i < o->n; i++) {
        if (o->label[i] < 0)
            continue;
        actual[o->label[i]]++;
        found[o->predicted[i]]++;
        hit[o->label[i]] += o->label[i] == o->predicted[i];
    }
    cr_html_table(to, "Each class", true);
    cr_buf_str(to, "<thead><tr>");
    cr_html_head(to, "class", false);
    cr_html_head(to, "precision", true);
    cr_html_head(to, "recall", true);
    cr_html_head(to, "F1", true);
    cr_html_head(to, "support", true);
    cr_html_head(to, "predicted", true);
    cr_buf_str(to, "</tr></thead>\n<tbody>\n");
    for (int64_t c = 0; c < o->classes; c++) {
        double h = (double)hit[c], a = (double)actual[c], p = (double)found[c];

        if (a + p == 0 && o->classes > 100)
            continue;
        cr_buf_str(to, "<tr><th scope=\"row\">");
        cr_html(to, cr_report_class(r, run, c));
        cr_buf_str(to, "</th>");
        cr_html_number(to, p > 0 ? h / p : 0, "%.4f");
        cr_html_number(to, a > 0 ? h / a : 0, "%.4f");
        cr_html_number(to, a + p > 0 ? 2 * h / (a + p) : 0, "%.4f");
        cr_html_number(to, a, "%.0f");
        cr_html_number(to, p, "%.0f");
        cr_buf_str(to, "</tr>\n");
    }
    cr_buf_str(to, "</tbody>");
    cr_html_table_end(to);
}

static bool classes_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;

    if (o->n == 0 || o->classes == 0)
        return false;
    if (o->classes > 12 && o->classes <= MATRIX)
        classes_matrix(r, run);
    cr_buf_str(r->to, "<div class=\"pair\">\n");
    if (o->classes <= 12)
        classes_matrix(r, run);
    cr_buf_str(r->to, "<div>\n");
    classes_table(r, run);
    if (o->classes > 2)
        classes_confused(r, run);
    cr_buf_str(r->to, "</div></div>\n");
    return true;
}

const struct cr_report_section cr_report_classes = {
    .id = "classes",
    .title = "Classes",
    .write = classes_write,
};
