/* Where the time of the run went. */
#include <math.h>
#include <string.h>

#include "report/section.h"

#define PHASES 16

static bool timing_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *phases = cr_node_get(run->record, "phases");
    const char *name[PHASES];
    double seconds[PHASES], sum = 0;
    struct cr_chart_bars bars = { .n = 1, .group = name, .value = seconds };
    struct cr_chart chart;

    for (CR_EACH(m, phases))
        if ((m->kind == CR_NODE_REAL || m->kind == CR_NODE_INT) &&
            m->real > 0 && bars.n_groups < PHASES) {
            name[bars.n_groups] = m->key;
            seconds[bars.n_groups++] = m->real;
            sum += m->real;
        }
    if (bars.n_groups == 0)
        return false;
    cr_buf_str(r->to, "<div class=\"pair\">\n");
    cr_report_figure(r, false);
    chart = cr_report_chart(r, "Time of the phases");
    chart.y.label = "seconds";
    cr_chart_bars(r->to, &chart, &bars);
    cr_report_figure_end(r, NULL);
    cr_html_table(r->to, "Time of the phases of the last process", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "phase", false);
    cr_html_head(r->to, "seconds", true);
    cr_html_head(r->to, "percent", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < bars.n_groups; i++) {
        cr_buf_str(r->to, "<tr><th scope=\"row\">");
        cr_html(r->to, name[i]);
        cr_buf_str(r->to, "</th>");
        cr_html_number(r->to, seconds[i], "%.3f");
        cr_html_number(r->to, 100 * seconds[i] / sum, "%.1f");
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    cr_buf_str(r->to, "</div>\n");
    return true;
}

const struct cr_report_section cr_report_timing = {
    .id = "timing",
    .title = "Time",
    .write = timing_write,
};
