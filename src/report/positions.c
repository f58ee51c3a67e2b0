/* Losses of the positions of samples, such as the tokens of texts. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"

#define BIN 0.25
#define BINS_MAX 256
#define CLASSES 30 /* rows of the table */

struct hard {
    int64_t class, n;
    double loss; /* sum */
};

static int positions_order(const void *a, const void *b)
{
    const struct hard *x = a, *y = b;

    if (x->loss != y->loss)
        return x->loss < y->loss ? 1 : -1;
    return (x->class > y->class) - (x->class < y->class);
}

static void positions_histogram(struct cr_report *r,
                                const struct cr_run_outcomes *o)
{
    struct cr_chart chart = cr_report_chart(r, "Losses of the positions");
    int n = o->n_bins < BINS_MAX ? (int)o->n_bins : BINS_MAX;
    double value[BINS_MAX];
    const char *name[BINS_MAX];
    struct cr_chart_bars bars = { .n = 1, .group = name, .value = value };

    while (n > 1 && o->bins[n - 1] == 0)
        n--;
    for (int i = 0; i < n; i++) {
        value[i] = (double)o->bins[i];
        name[i] = i % 4 == 0 ? cr_strf(r->arena, "%d", i / 4)
                             : cr_strf(r->arena, "%.2f", i * BIN);
    }
    bars.n_groups = n;
    bars.every = 4;
    chart.y.label = "positions";
    chart.x.label = "loss, -ln p";
    cr_report_figure(r, 0);
    cr_chart_bars(r->to, &chart, &bars);
    cr_report_figure_end(r, "Number of positions by the loss of their true "
                            "class, in intervals of 0.25.");
}

/* A class with white space and control characters made visible. */
static const char *positions_class(struct cr_report *r,
                                   const struct cr_report_run *run, int64_t c)
{
    const char *name = cr_report_class(r, run, c);

    if (strcmp(name, " ") == 0)
        return "space";
    if (strcmp(name, "\n") == 0)
        return "line feed";
    return strcmp(name, "\t") == 0 ? "tab" : name;
}

static void positions_classes(struct cr_report *r,
                              const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;
    struct hard *hard = CR_NEWS(r->arena, struct hard, o->n_classes);
    double sum = 0;
    int64_t n = 0;

    for (int64_t c = 0; c < o->n_classes; c++)
        if (o->class_positions[c] > 0 && isfinite(o->class_loss[c])) {
            hard[n++] = (struct hard){ c, o->class_positions[c],
                                       o->class_loss[c] };
            sum += o->class_loss[c];
        }
    qsort(hard, (size_t)n, sizeof *hard, positions_order);
    cr_html_table(r->to, "Classes by their fraction of the loss", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "class", false);
    cr_html_head(r->to, "positions", true);
    cr_html_head(r->to, "mean loss", true);
    cr_html_head(r->to, "percent of the loss", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int64_t i = 0; i < n && i < CLASSES; i++) {
        cr_buf_str(r->to, "<tr><th scope=\"row\">");
        cr_html(r->to, positions_class(r, run, hard[i].class));
        cr_buf_str(r->to, "</th>");
        cr_html_number(r->to, (double)hard[i].n, "%.0f");
        cr_html_number(r->to, hard[i].loss / (double)hard[i].n, "%.4f");
        cr_html_number(r->to, sum > 0 ? 100 * hard[i].loss / sum : (double)NAN,
                       "%.1f");
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    if (n > CLASSES) {
        cr_buf_str(r->to, "<p class=\"note\">");
        cr_html_f(r->to, "%d of %" PRId64 " classes.", CLASSES, n);
        cr_buf_str(r->to, "</p>\n");
    }
}

static bool positions_write(struct cr_report *r,
                            const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;
    double loss = 0, n = 0;

    if (o->n == 0 || !o->right)
        return false;
    for (int64_t c = 0; c < o->n_classes; c++) {
        loss += o->class_loss[c];
        n += (double)o->class_positions[c];
    }
    if (n == 0 || !isfinite(loss))
        return false;
    cr_buf_str(r->to, "<p>");
    cr_html_f(r->to, "%s positions: mean loss %.4f nats, which is %.4f bits.",
              cr_html_grouped(r->arena, cr_strf(r->arena, "%.0f", n)),
              loss / n, loss / n / log(2));
    cr_buf_str(r->to, "</p>\n<div class=\"pair\">\n");
    positions_histogram(r, o);
    cr_buf_str(r->to, "<div>\n");
    positions_classes(r, run);
    cr_buf_str(r->to, "</div></div>\n");
    return true;
}

const struct cr_report_section cr_report_positions = {
    .id = "positions",
    .title = "Positions",
    .write = positions_write,
};
