/* The time of the run, by phase. */
#include <math.h>
#include <string.h>

#include "report/section.h"

static double timing_value(const struct cr_node *phase)
{
    return (phase->kind == CR_NODE_REAL || phase->kind == CR_NODE_INT) &&
                   phase->real > 0
               ? phase->real
               : 0;
}

/* A bar of the width of its cell for 100 percent. */
static void timing_bar(struct cr_report *r, double percent)
{
    cr_buf_f(r->to, "<td class=\"bar\"><svg class=\"chart\" width=\"100%%\" "
                    "height=\"12\" aria-hidden=\"true\"><rect class=\"bar c1\" "
                    "width=\"%.2f%%\" height=\"12\"/></svg></td>", percent);
}

static bool timing_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *phases = cr_node_get(run->record, "phases");
    double sum = 0;

    for (CR_EACH(m, phases))
        sum += timing_value(m);
    if (!(sum > 0))
        return false;
    cr_html_table(r->to, "Time of the phases of the last process", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "phase", false);
    cr_html_head(r->to, "seconds", true);
    cr_html_head(r->to, "percent", true);
    cr_buf_str(r->to, "<td></td></tr></thead>\n<tbody>\n");
    for (CR_EACH(m, phases)) {
        double seconds = timing_value(m);

        if (seconds == 0)
            continue;
        cr_buf_str(r->to, "<tr><th scope=\"row\">");
        cr_html(r->to, m->key);
        cr_buf_str(r->to, "</th>");
        cr_html_number(r->to, seconds, "%.3f");
        cr_html_number(r->to, 100 * seconds / sum, "%.1f");
        timing_bar(r, 100 * seconds / sum);
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    return true;
}

const struct cr_report_section cr_report_timing = {
    .id = "timing",
    .title = "Time",
    .write = timing_write,
};
