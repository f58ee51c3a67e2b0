/* Curves of several runs over one another. */
#include <math.h>
#include <string.h>

#include "report/section.h"

#define NAMED 7 /* the best runs, with a colour of their own */

/* Points of a curve, so that a page of 100 runs stays small. */
static int64_t overlay_points(const struct cr_report *r)
{
    return r->n > 10 ? 8000 / r->n + 20 : CR_REPORT_POINTS;
}

static bool overlay_chart(struct cr_report *r, const char *split,
                          const char *name, const char *title)
{
    struct cr_chart_curve *curve =
        CR_NEWS(r->arena, struct cr_chart_curve, r->n);
    struct cr_chart chart;
    int n = 0;

    /* the pale ones below, the best last: it is drawn above the others */
    for (int k = r->n - 1; k >= 0; k--) {
        const struct cr_report_run *run = &r->run[r->order[k]];
        const struct cr_series *s = cr_series_find(&run->series, split);
        const struct cr_series_column *c = cr_series_column(s, name);
        bool named = k < NAMED;

        if (!c || s->n == 0)
            continue;
        curve[n] = (struct cr_chart_curve){
            .name = named ? run->label : NULL,
            .color = named ? k + 1 : 8,
            .faint = !named,
        };
        curve[n].n = cr_report_thin(r->arena, s->step, c->value, s->n,
                                    overlay_points(r), &curve[n].x,
                                    &curve[n].y);
        n++;
    }
    if (n == 0)
        return false;
    cr_report_figure(r, 0);
    chart = cr_report_chart(r, title);
    chart.x.label = "step";
    cr_chart_curves(r->to, &chart, curve, n);
    cr_report_figure_end(r, NULL);
    return true;
}

/* Whether the numbers of a run change in training. */
static bool overlay_changes(const struct cr_report *r, const char *name)
{
    for (int i = 0; i < r->n; i++) {
        const struct cr_series *s = cr_series_find(&r->run[i].series, "train");
        const struct cr_series_column *c = cr_series_column(s, name);

        for (int64_t k = 1; c && k < s->n; k++)
            if (c->value[k] != c->value[0])
                return true;
    }
    return false;
}

static bool overlay_has(const struct cr_report *r, const char *split,
                        const char *name)
{
    for (int i = 0; i < r->n; i++) {
        const struct cr_series *s = cr_series_find(&r->run[i].series, split);

        if (cr_series_column(s, name) && s->n > 1)
            return true;
    }
    return false;
}

static bool overlay_write(struct cr_report *r, const struct cr_report_run *run)
{
    int n = 0;

    (void)run;
    cr_buf_str(r->to, "<div class=\"grid\">\n");
    n += overlay_chart(r, "eval", r->metric,
                       cr_strf(r->arena, "Evaluation: %s", r->metric));
    if (strcmp(r->metric, "loss") != 0)
        n += overlay_chart(r, "eval", "loss", "Evaluation: loss");
    if (overlay_has(r, "eval", "train_loss"))
        n += overlay_chart(r, "eval", "train_loss",
                           "Training: mean loss of each epoch");
    else
        n += overlay_chart(r, "train", "loss", "Training: loss");
    if (overlay_changes(r, "lr"))
        n += overlay_chart(r, "train", "lr", "Learning rate");
    cr_buf_str(r->to, "</div>\n");
    if (r->n > NAMED) {
        cr_buf_str(r->to, "<p class=\"note\">");
        cr_html_f(r->to, "The %d best runs have colours; the others are pale.",
                  NAMED);
        cr_buf_str(r->to, "</p>\n");
    }
    return n > 0;
}

const struct cr_report_section cr_report_overlay = {
    .id = "overlay",
    .title = "Curves",
    .several = true,
    .write = overlay_write,
};
