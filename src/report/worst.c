/* The evaluated samples with the largest loss. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/section.h"

static bool worst_is_picture(const struct cr_node *sample)
{
    for (CR_EACH(m, cr_node_get(sample, "columns")))
        if (cr_json_str(m, "png", NULL))
            return true;
    return false;
}

static const char *worst_list(struct cr_arena *arena,
                              const struct cr_node *list)
{
    struct cr_buf b = { .arena = arena };

    for (CR_EACH(m, list))
        cr_buf_f(&b, "%s%.4g", b.len ? ", " : "", m->real);
    return cr_buf_text(&b);
}

static bool worst_classified(const struct cr_node *sample)
{
    return cr_node_get(sample, "predicted") != NULL;
}

static const char *worst_truth(struct cr_report *r,
                               const struct cr_report_run *run,
                               const struct cr_node *s)
{
    return worst_classified(s)
               ? cr_report_class(r, run, cr_json_int(s, "label", -1))
               : worst_list(r->arena, cr_node_get(s, "truth"));
}

static const char *worst_output(struct cr_report *r,
                                const struct cr_report_run *run,
                                const struct cr_node *s)
{
    return worst_classified(s)
               ? cr_report_class(r, run, cr_json_int(s, "predicted", -1))
               : worst_list(r->arena, cr_node_get(s, "output"));
}

/* "predicted   7": the value at the right end. */
static void worst_line(struct cr_report *r, const char *class,
                       const char *name, const char *value)
{
    cr_buf_f(r->to, "<span class=\"line %s\"><span>%s</span> <span>", class,
             name);
    cr_html(r->to, value);
    cr_buf_str(r->to, "</span></span>");
}

static void worst_pictures(struct cr_report *r, const struct cr_report_run *run,
                           const struct cr_node *list)
{
    cr_buf_str(r->to, "<ul class=\"tiles\">\n");
    for (CR_EACH(s, list)) {
        const char *truth = worst_truth(r, run, s);
        const char *output = worst_output(r, run, s);
        bool wrong = strcmp(truth, output) != 0;
        double p = cr_json_real(s, "probability", NAN);

        cr_buf_str(r->to, "<li>");
        cr_report_sample(r, s, cr_strf(r->arena, "Sample %" PRId64,
                                       cr_json_int(s, "sample", 0)));
        worst_line(r, wrong ? "wrong" : "right", "predicted", output);
        worst_line(r, "", "truth", truth);
        if (isfinite(p))
            worst_line(r, "dim", "probability",
                       cr_strf(r->arena, "%.0f\xc2\xa0%%", 100 * p));
        worst_line(r, "dim", "loss",
                   cr_strf(r->arena, "%.2f", cr_json_real(s, "loss", NAN)));
        cr_buf_str(r->to, "</li>\n");
    }
    cr_buf_str(r->to, "</ul>\n");
}

static void worst_rows(struct cr_report *r, const struct cr_report_run *run,
                       const struct cr_node *list)
{
    bool classes = worst_classified(cr_node_at(list, 0));

    cr_html_table(r->to, "Samples with the largest loss", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "sample", true);
    cr_html_head(r->to, "content", false);
    cr_html_head(r->to, "truth", !classes);
    cr_html_head(r->to, classes ? "predicted" : "output", !classes);
    if (classes)
        cr_html_head(r->to, "probability", true);
    cr_html_head(r->to, "loss", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (CR_EACH(s, list)) {
        cr_buf_str(r->to, "<tr>");
        cr_html_number(r->to, (double)cr_json_int(s, "sample", 0), "%.0f");
        cr_buf_str(r->to, "<td class=\"content\">");
        cr_report_sample(r, s, "");
        cr_buf_str(r->to, "</td>");
        cr_html_cell(r->to, worst_truth(r, run, s));
        cr_html_cell(r->to, worst_output(r, run, s));
        if (classes)
            cr_html_number(r->to, cr_json_real(s, "probability", NAN), "%.3f");
        cr_html_number(r->to, cr_json_real(s, "loss", NAN), "%.4g");
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
}

static bool worst_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *list = cr_node_get(run->samples, "worst");

    if (!list || list->kind != CR_NODE_LIST || !list->child)
        return false;
    cr_buf_str(r->to, "<p>");
    cr_html_f(r->to, "The %d samples with the largest loss in the evaluation "
              "after step %" PRId64 ", the largest first.", cr_node_count(list),
              cr_json_int(run->samples, "step", 0));
    cr_buf_str(r->to, "</p>\n");
    if (worst_is_picture(list->child))
        worst_pictures(r, run, list);
    else
        worst_rows(r, run, list);
    return true;
}

const struct cr_report_section cr_report_worst = {
    .id = "worst",
    .title = "Worst samples",
    .write = worst_write,
};
