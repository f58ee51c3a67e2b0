/* Samples of the training data. */
#include <inttypes.h>
#include <math.h>

#include "report/section.h"

static const char *data_label(struct cr_report *r,
                              const struct cr_report_run *run,
                              const struct cr_node *s)
{
    double label = cr_json_real(s, "label", NAN);

    if (!cr_node_get(s, "label"))
        return "";
    return label >= -1 && label < 1e9 &&
                   (run->outcomes.classes > 0 ||
                    cr_node_count(cr_node_get(run->samples, "classes")) > 0)
               ? cr_report_class(r, run, (int64_t)label)
               : cr_strf(r->arena, "%.6g", label);
}

static bool data_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *list = cr_node_get(run->samples, "first");
    bool pictures = false;

    if (!list || list->kind != CR_NODE_LIST || !list->child)
        return false;
    for (CR_EACH(m, cr_report_columns(list->child)))
        pictures = pictures || cr_json_str(m, "png", NULL);
    cr_buf_str(r->to, "<p>Samples of the first batch, as they are stored.</p>");
    cr_buf_f(r->to, "<ul class=\"%s\">\n", pictures ? "tiles" : "rows");
    for (CR_EACH(s, list)) {
        const char *label = data_label(r, run, s);

        cr_buf_str(r->to, "<li>");
        cr_report_sample(r, s, cr_strf(r->arena, "Sample %" PRId64,
                                       cr_json_int(s, "sample", 0)));
        if (*label) {
            cr_buf_str(r->to, "<span class=\"label\">");
            cr_html(r->to, label);
            cr_buf_str(r->to, "</span>");
        }
        cr_buf_str(r->to, "</li>\n");
    }
    cr_buf_str(r->to, "</ul>\n");
    return true;
}

const struct cr_report_section cr_report_data = {
    .id = "data",
    .title = "Training data",
    .write = data_write,
};
