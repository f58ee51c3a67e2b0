/* Texts that were generated during training, by step. */
#include <inttypes.h>
#include <string.h>

#include "report/section.h"

#define TEXTS 60 /* the last ones */

static bool texts_write(struct cr_report *r, const struct cr_report_run *run)
{
    const struct cr_node *text[TEXTS];
    int64_t n = 0;

    for (const char *line = run->metrics, *end; *line; line = end + 1) {
        const struct cr_node *node;
        const char *why;
        size_t at;

        end = strchr(line, '\n');
        if (!end)
            break;
        if (!memmem(line, (size_t)(end - line), "\"sample\"", 8))
            continue;
        node = cr_json_read(r->arena, line, (size_t)(end - line), &why, &at);
        if (strcmp(cr_json_str(node, "split", ""), "sample") == 0 &&
            cr_json_str(node, "text", NULL))
            text[n++ % TEXTS] = node;
    }
    for (int64_t i = n > TEXTS ? n - TEXTS : 0; i < n; i++) {
        const struct cr_node *node = text[i % TEXTS];

        cr_buf_f(r->to, "<details%s><summary>", i + 1 == n ? " open" : "");
        cr_html_f(r->to, "After step %" PRId64, cr_json_int(node, "step", 0));
        cr_buf_str(r->to, "</summary><pre tabindex=\"0\">");
        cr_html(r->to, cr_json_str(node, "text", ""));
        cr_buf_str(r->to, "</pre></details>\n");
    }
    return n > 0;
}

const struct cr_report_section cr_report_texts = {
    .id = "texts",
    .title = "Generated texts",
    .write = texts_write,
};
