/* Overview of a run: network, data, result. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/section.h"
#include "rundir/run_status.h"

static const char *overview_type(const struct cr_node *config, const char *key)
{
    const struct cr_node *args, *node = cr_node_get(config, key);
    const char *type = node ? cr_node_type(node, &args) : NULL;

    return type ? type : node && node->text ? node->text : NULL;
}

static const char *overview_data(struct cr_report *r,
                                 const struct cr_report_run *run)
{
    struct cr_buf b = { .arena = r->arena };

    for (CR_EACH(m, cr_node_get(run->record, "data"))) {
        const struct cr_node *set = cr_node_get(
            cr_node_get(run->config, "dataset"), m->key), *args;
        const char *type = set ? cr_node_type(set, &args) : NULL;

        cr_buf_f(&b, "%s%s: %s samples%s%s", b.len ? "; " : "", m->key,
                 cr_html_count(r->arena, cr_json_int(m, "samples", 0)),
                 type ? " of " : "", type ? type : "");
    }
    return cr_buf_text(&b);
}

/* "2026-11-23T06:03:52Z" as "2026-11-23 06:03:52 UTC"; others as they are. */
static const char *overview_time(struct cr_report *r, const char *iso)
{
    if (iso && strlen(iso) == 20 && iso[10] == 'T' && iso[19] == 'Z')
        return cr_strf(r->arena, "%.10s %.8s UTC", iso, iso + 11);
    return iso;
}

static bool overview_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *rec = run->record;
    const struct cr_node *best = cr_node_get(rec, "best");
    const char *metric = cr_json_str(best, "metric", NULL);
    double seconds = cr_json_real(rec, "seconds", NAN);

    if (metric) {
        cr_buf_str(r->to, "<p class=\"hero\"><span>");
        cr_html_value(r->to, cr_json_real(best, "value", NAN));
        cr_buf_str(r->to, "</span> ");
        cr_html_f(r->to, "best %s, after epoch %" PRId64 ", step %s", metric,
                  cr_json_int(best, "epoch", 0),
                  cr_html_count(r->arena, cr_json_int(best, "step", 0)));
        cr_buf_str(r->to, "</p>\n");
    }
    if (*cr_json_str(rec, "error", "")) {
        cr_buf_str(r->to, "<p class=\"alert\">");
        cr_html(r->to, cr_json_str(rec, "error", ""));
        cr_buf_str(r->to, "</p>\n");
    }
    cr_buf_str(r->to, "<dl class=\"facts\">\n");
    cr_html_fact(r->to, "Status", cr_run_status(run->run));
    cr_html_fact(r->to, "Config", cr_json_str(rec, "config", NULL));
    cr_html_fact(r->to, "Id", cr_json_str(rec, "id", NULL));
    cr_html_fact(r->to, "Started",
                 overview_time(r, cr_json_str(rec, "started", NULL)));
    cr_html_fact(r->to, "Duration", cr_report_duration(r->arena, seconds));
    if (cr_json_int(rec, "epochs", 0) > 0)
        cr_html_fact(r->to, "Epochs",
                     cr_html_count(r->arena, cr_json_int(rec, "epochs", 0)));
    cr_html_fact(r->to, "Steps",
                 cr_html_count(r->arena, cr_json_int(rec, "steps", 0)));
    cr_html_fact(r->to, "Trainable values",
                 cr_html_count(r->arena, cr_json_int(rec, "trained", 0)));
    cr_html_fact(r->to, "Loss", overview_type(run->config, "loss"));
    cr_html_fact(r->to, "Optimizer", overview_type(run->config, "optimizer"));
    cr_html_fact(r->to, "Data", overview_data(r, run));
    if (run->outcomes.seen > 0)
        cr_html_fact(r->to, "Evaluated samples",
                     cr_html_count(r->arena, run->outcomes.seen));
    cr_buf_str(r->to, "</dl>\n");
    return true;
}

const struct cr_report_section cr_report_overview = {
    .id = "overview",
    .title = "Overview",
    .write = overview_write,
};
