/* The network: a diagram, and a table of its cells. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw/draw.h"
#include "model/model.h"
#include "report/section.h"

#define OPEN 40 /* rows of a table that is not folded */
#define BOXES_MAX 1500 /* of a diagram that a browser shows at once */

/* The diagram without its own style, which would apply to the whole page. */
static void network_diagram(struct cr_report *r, const struct cr_net *net,
                            const char *title)
{
    struct cr_diagram *d =
        cr_net_draw((struct cr_net *)(uintptr_t)net, "", NULL, 0);
    const char *svg, *style, *end;

    if (d->n_boxes > BOXES_MAX) {
        cr_buf_str(r->to, "<p class=\"note\">The network has too many cells "
                          "for a diagram in a page: <code>cellrun summary "
                          "RUN --svg FILE</code> draws it.</p>\n");
        return;
    }
    svg = cr_diagram_svg(d, "");
    style = strstr(svg, "<style>");
    end = style ? strstr(style, "</style>\n") : NULL;
    if (!end || !cr_starts(svg, "<svg "))
        return;
    cr_buf_str(r->to, "<figure class=\"fig diagram\">"
                      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                      "aria-label=\"Diagram of the network\">\n"
                      "<svg role=\"img\" aria-label=\"");
    cr_html(r->to, title);
    cr_buf_str(r->to, "\" ");
    cr_buf_add(r->to, svg + 5, (size_t)(style - svg - 5));
    cr_buf_str(r->to, end + strlen("</style>\n"));
    cr_buf_str(r->to, "</div></figure>\n");
}

static void network_cells(struct cr_report *r, const struct cr_net *net)
{
    int n;
    const struct cr_cell_row *cell = cr_net_cells(net, &n);

    if (n > OPEN)
        cr_buf_str(r->to, "<details><summary>Table of the cells</summary>\n");
    cr_html_table(r->to, "Cells of the network", true);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "cell", false);
    cr_html_head(r->to, "type", false);
    cr_html_head(r->to, "output", false);
    cr_html_head(r->to, "parameters", true);
    cr_html_head(r->to, "trained", true);
    cr_html_head(r->to, "multiply-adds per sample", true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < n; i++) {
        cr_buf_str(r->to, "<tr><th scope=\"row\">");
        cr_html(r->to, *cell[i].name ? cell[i].name : "(network)");
        cr_buf_str(r->to, "</th>");
        cr_html_cell(r->to, cell[i].type);
        cr_html_cell(r->to, cr_diag_format(r->arena, &cell[i].out));
        cr_html_number(r->to, (double)cell[i].params, "%.0f");
        cr_html_number(r->to, (double)cell[i].trained, "%.0f");
        cr_html_number(r->to, cell[i].macs, "%.0f");
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    if (n > OPEN)
        cr_buf_str(r->to, "</details>\n");
}

static bool network_write(struct cr_report *r, const struct cr_report_run *run)
{
    static const char *const none[] = { NULL };
    const char *ckpt = cr_json_str(run->record, "ckpt", NULL), *path;
    struct cr_diag quiet = { .arena = r->arena };
    struct cr_cli cli = *r->cli; /* without the assignments of its line */
    struct cr_model model = { 0 };
    struct cr_buf title = { .arena = r->arena };
    double macs = 0;
    int64_t params = 0;
    int n;
    const struct cr_cell_row *cell;

    if (!ckpt || *ckpt == '/' || strstr(ckpt, ".."))
        return false;
    path = cr_path_join(r->arena, run->path, ckpt);
    if (access(path, F_OK) != 0)
        return false;
    cli.diag = &quiet;
    cli.operands = cli.sets = none;
    cli.n_operands = 0;
    cli.seed = NULL;
    if (cr_model_open(&cli, path, NULL, &model) && (model.no_data = true) &&
        (model.no_optim = true) && cr_model_inspect(&model, 0, false)) {
        cell = cr_net_cells(model.net, &n);
        for (int i = 0; i < n; i++) {
            macs += cell[i].macs;
            params += cell[i].params;
        }
        cr_buf_f(&title, "%s parameters, %s multiply-adds per sample, %d cells",
                 cr_html_count(r->arena, params),
                 cr_html_grouped(r->arena, cr_strf(r->arena, "%.0f", macs)),
                 n);
        cr_buf_str(r->to, "<p>");
        cr_html(r->to, cr_buf_text(&title));
        cr_buf_str(r->to, ".</p>\n");
        cr_buf_str(r->to, "<div class=\"pair\">\n");
        network_diagram(r, model.net, cr_buf_text(&title));
        network_cells(r, model.net);
        cr_buf_str(r->to, "</div>\n");
        cr_model_close(&model);
        return true;
    }
    cr_model_close(&model);
    if (!quiet.first)
        return false;
    cr_buf_str(r->to, "<p class=\"note\">The network cannot be shown: ");
    cr_html(r->to, quiet.first->text);
    cr_buf_str(r->to, ".</p>\n");
    return true;
}

const struct cr_report_section cr_report_network = {
    .id = "network",
    .title = "Network",
    .write = network_write,
};
