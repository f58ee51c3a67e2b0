/* Samples with several labels: precision, recall and F1 of each label. */
#include <inttypes.h>

#include "report/section.h"

static void labels_row(struct cr_report *r, const struct cr_report_run *run,
                       int64_t label)
{
    const struct cr_run_outcomes *o = &run->outcomes;
    double both = 0, real = 0, found = 0;

    for (int64_t i = 0; i < o->n; i++) {
        int64_t is = o->true_labels[i] >> label & 1;
        int64_t was = o->found_labels[i] >> label & 1;

        real += (double)is;
        found += (double)was;
        both += (double)(is & was);
    }
    cr_buf_str(r->to, "<tr><th scope=\"row\">");
    cr_html(r->to, cr_report_class(r, run, label));
    cr_buf_str(r->to, "</th>");
    cr_html_number(r->to, found > 0 ? both / found : 0, "%.4f");
    cr_html_number(r->to, real > 0 ? both / real : 0, "%.4f");
    cr_html_number(r->to, real + found > 0 ? 2 * both / (real + found) : 0,
                   "%.4f");
    cr_html_number(r->to, real, "%.0f");
    cr_html_number(r->to, found, "%.0f");
    cr_buf_str(r->to, "</tr>\n");
}

static bool labels_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;

    if (o->n == 0 || o->labels == 0)
        return false;
    cr_html_table(r->to, "Each label", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "label", false);
    cr_html_head(r->to, "precision", true);
    cr_html_head(r->to, "recall", true);
    cr_html_head(r->to, "F1", true);
    cr_html_head(r->to, "support", true);
    cr_html_head(r->to, "predicted", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int64_t k = 0; k < o->labels; k++)
        labels_row(r, run, k);
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    cr_buf_str(r->to, "<p class=\"note\">A label is predicted where its "
                      "probability is at least 0.5.</p>\n");
    return true;
}

const struct cr_report_section cr_report_labels = {
    .id = "labels",
    .title = "Labels",
    .write = labels_write,
};
