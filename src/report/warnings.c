/* Warnings and errors of the log. */
#include <inttypes.h>
#include <string.h>

#include "report/section.h"

#define WARNINGS 50

static bool warnings_write(struct cr_report *r, const struct cr_report_run *run)
{
    static const char *const word[] = { "warning: ", "error: " };
    int64_t n = 0;

    for (const char *line = run->log; *line;) {
        size_t len = strcspn(line, "\n");
        bool found = false;

        for (size_t k = 0; k < CR_LEN(word); k++)
            found = found ||
                    memmem(line, len, word[k], strlen(word[k])) != NULL;
        if (found && n++ < WARNINGS) {
            cr_buf_str(r->to, n == 1 ? "<ul class=\"warnings\">\n<li>"
                                     : "<li>");
            cr_html_n(r->to, line, len);
            cr_buf_str(r->to, "</li>\n");
        }
        line += len + (line[len] == '\n');
    }
    if (n > 0)
        cr_buf_str(r->to, "</ul>\n");
    if (n > WARNINGS) {
        cr_buf_str(r->to, "<p class=\"note\">");
        cr_html_f(r->to, "The first %d of %" PRId64 "; log.txt has all.",
                  WARNINGS, n);
        cr_buf_str(r->to, "</p>\n");
    }
    return n > 0;
}

const struct cr_report_section cr_report_warnings = {
    .id = "warnings",
    .title = "Warnings",
    .write = warnings_write,
};
