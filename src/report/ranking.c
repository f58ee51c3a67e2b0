/* Several runs as a table, the best first. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/section.h"
#include "rundir/run_status.h"

#define ERRORS 20  /* maximum number of runs whose errors are listed */
#define COLUMNS 14 /* settings of a table */

static bool ranking_shows(const struct cr_node *m)
{
    return m->kind != CR_NODE_LIST && strcmp(m->key, "samples") != 0 &&
           strcmp(m->key, "train_loss") != 0;
}

/* The format of the last values of a metric. */
static const char *ranking_format(const struct cr_report *r, const char *metric)
{
    double largest = 0, least = INFINITY;

    for (int i = 0; i < r->n; i++) {
        double value = fabs(cr_json_real(cr_node_get(r->run[i].record, "eval"),
                                         metric, NAN));

        if (!isfinite(value))
            continue;
        largest = fmax(largest, value);
        least = value > 0 ? fmin(least, value) : least;
    }
    /* a fixed number of decimals, unless small values would become 0 */
    return largest >= 100 && largest > 1e4 * least ? "%.4g"
                                                   : cr_html_format(largest);
}

/* The formats of the best value, and of each last value that is shown. */
static const char *const *ranking_formats(struct cr_report *r, double largest,
                                          const struct cr_node *of)
{
    const struct cr_node *eval = cr_node_get(of, "eval");
    const char **format =
        CR_NEWS(r->arena, const char *, cr_node_count(eval) + 1);
    int n = 0;

    format[n++] = cr_html_format(largest);
    for (CR_EACH(m, eval))
        if (ranking_shows(m))
            format[n++] = ranking_format(r, m->key);
    return format;
}

static void ranking_head(struct cr_report *r, const struct cr_node *of)
{
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "run", false);
    cr_html_head(r->to, "status", false);
    cr_html_head(r->to, cr_strf(r->arena, "best %s", r->metric), true);
    for (CR_EACH(m, cr_node_get(of, "eval")))
        if (ranking_shows(m))
            cr_html_head(r->to, cr_strf(r->arena, "last %s", m->key), true);
    for (int k = 0; k < r->n_settings && k < COLUMNS; k++)
        cr_html_head(r->to, cr_report_short(r, r->setting[k]),
                     cr_report_is_number(r, r->setting[k]));
    cr_html_head(r->to, "epochs", true);
    cr_html_head(r->to, "seconds", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
}

static void ranking_row(struct cr_report *r, int i, const struct cr_node *of,
                        const char *const *format)
{
    const struct cr_report_run *run = &r->run[i];

    cr_buf_str(r->to, "<tr><th scope=\"row\">");
    cr_html(r->to, run->label);
    cr_buf_str(r->to, "</th>");
    cr_html_cell(r->to, cr_run_status(run->run));
    cr_html_number(r->to, r->value[i], *format++);
    for (CR_EACH(m, cr_node_get(of, "eval")))
        if (ranking_shows(m))
            cr_html_number(r->to, cr_json_real(cr_node_get(run->record, "eval"),
                                               m->key, NAN),
                           *format++);
    for (int k = 0; k < r->n_settings && k < COLUMNS; k++) {
        double value = cr_report_setting(r, run, r->setting[k]);

        if (isnan(value))
            cr_html_cell(r->to, cr_report_setting_text(r, run, r->setting[k]));
        else
            cr_html_number(r->to, value, "%.6g");
    }
    cr_html_number(r->to, (double)cr_json_int(run->record, "epochs", 0),
                   "%.0f");
    cr_html_number(r->to, cr_json_real(run->record, "seconds", NAN), "%.1f");
    cr_buf_str(r->to, "</tr>\n");
}

/* Why runs failed. */
static void ranking_errors(struct cr_report *r)
{
    int n = 0;

    for (int i = 0; i < r->n; i++) {
        const char *error = cr_json_str(r->run[i].record, "error", "");

        if (!*error || n++ >= ERRORS)
            continue;
        cr_buf_str(r->to, n == 1 ? "<h3>Errors</h3>\n<ul class=\"warnings\">\n"
                                 : "");
        cr_buf_str(r->to, "<li><strong>");
        cr_html(r->to, r->run[i].label);
        cr_buf_str(r->to, "</strong>: ");
        cr_html(r->to, error);
        cr_buf_str(r->to, "</li>\n");
    }
    if (n > 0)
        cr_buf_str(r->to, "</ul>\n");
    if (n > ERRORS) {
        cr_buf_str(r->to, "<p class=\"note\">");
        cr_html_f(r->to, "%d of %d runs with errors.", ERRORS, n);
        cr_buf_str(r->to, "</p>\n");
    }
}

static bool ranking_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_report_run *best = &r->run[r->order[0]];
    int ended = 0;
    double largest = 0;
    const char *const *format;

    (void)run;
    for (int i = 0; i < r->n; i++)
        if (isfinite(r->value[i])) {
            ended++;
            largest = fmax(largest, fabs(r->value[i]));
        }
    format = ranking_formats(r, largest, best->record);
    if (isfinite(r->value[r->order[0]])) {
        cr_buf_str(r->to, "<p class=\"hero\"><span>");
        cr_html_value(r->to, r->value[r->order[0]]);
        cr_buf_str(r->to, "</span> ");
        cr_html_f(r->to, "best %s, of %s", r->metric, best->label);
        cr_buf_str(r->to, "</p>\n");
    }
    cr_buf_str(r->to, "<p>");
    cr_html_f(r->to, "%d runs, %d with a result; they differ in %d setting%s.",
              r->n, ended, r->n_settings, r->n_settings == 1 ? "" : "s");
    cr_buf_str(r->to, "</p>\n");
    cr_html_table(r->to, "Runs, the best first", true);
    ranking_head(r, best->record);
    for (int k = 0; k < r->n; k++)
        ranking_row(r, r->order[k], best->record, format);
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    ranking_errors(r);
    return true;
}

const struct cr_report_section cr_report_ranking = {
    .id = "runs",
    .title = "Runs",
    .several = true,
    .write = ranking_write,
};
