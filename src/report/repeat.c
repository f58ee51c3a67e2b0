/* How to repeat the run: machine, command, config. */
#include <inttypes.h>
#include <string.h>

#include "report/section.h"

#define FILE_MAX ((size_t)16 << 20)

static void repeat_file(struct cr_report *r, const struct cr_report_run *run,
                        const char *name, const char *title, bool folded)
{
    struct cr_diag quiet = { .arena = r->arena };
    const char *path = cr_path_join(r->arena, run->path, name), *text;
    size_t len;

    if (!cr_report_is_file(path))
        return;
    text = cr_read_file(r->arena, &quiet, CR_NOWHERE, path, CR_E_SYSTEM,
                        FILE_MAX, &len);
    if (!text)
        return;
    if (folded)
        cr_buf_str(r->to, "<details><summary>");
    else
        cr_buf_str(r->to, "<h3>");
    cr_html(r->to, title);
    cr_buf_str(r->to, folded ? "</summary>" : "</h3>");
    cr_buf_str(r->to, "<pre tabindex=\"0\">");
    cr_html_n(r->to, text, len);
    cr_buf_str(r->to, folded ? "</pre></details>\n" : "</pre>\n");
}

static bool repeat_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *rec = run->record;

    repeat_file(r, run, "command", "Command", false);
    cr_buf_str(r->to, "<h3>Machine</h3>\n<dl class=\"facts\">\n");
    cr_html_fact(r->to, "cellrun", cr_json_str(rec, "cellrun", NULL));
    cr_html_fact(r->to, "Host", cr_json_str(rec, "host", NULL));
    cr_html_fact(r->to, "Processor", cr_json_str(rec, "cpu", NULL));
    cr_html_fact(r->to, "Kernels", cr_json_str(rec, "kernels", NULL));
    cr_html_fact(r->to, "Threads",
                 cr_strf(r->arena, "%" PRId64,
                         cr_json_int(rec, "threads", 0)));
    if (cr_node_get(rec, "ranks"))
        cr_html_fact(r->to, "Ranks",
                     cr_strf(r->arena, "%" PRId64,
                             cr_json_int(rec, "ranks", 0)));
    cr_html_fact(r->to, "Seed", cr_strf(r->arena, "%" PRId64,
                                        cr_json_int(rec, "seed", 0)));
    cr_html_fact(r->to, "Run directory", run->path);
    cr_buf_str(r->to, "</dl>\n<h3>Config</h3>\n");
    repeat_file(r, run, "config.yaml", "As given: config.yaml", true);
    repeat_file(r, run, "resolved.yaml", "All values: resolved.yaml", true);
    return true;
}

const struct cr_report_section cr_report_repeat = {
    .id = "repeat",
    .title = "Repeat the run",
    .write = repeat_write,
};
