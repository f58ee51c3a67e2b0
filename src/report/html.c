#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/section.h"

void cr_html_n(struct cr_buf *to, const char *text, size_t left)
{
    while (left > 0) {
        uint32_t code;
        int len = cr_utf8(text, left, &code);
        size_t n = len > 0 ? (size_t)len : 1;

        if (len == 0 || (code < ' ' && code != '\n' && code != '\t') ||
            (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff)
            cr_buf_str(to, "\xef\xbf\xbd");
        else if (strchr("<>&\"'", *text))
            cr_buf_f(to, "&#%d;", *text);
        else
            cr_buf_add(to, text, n);
        text += n;
        left -= n;
    }
}

void cr_html(struct cr_buf *to, const char *text)
{
    cr_html_n(to, text, strlen(text));
}

void cr_html_f(struct cr_buf *to, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cr_html(to, cr_vstrf(to->arena, format, args));
    va_end(args);
}

void cr_html_fact(struct cr_buf *to, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    cr_buf_str(to, strlen(text) > 40 ? "<div class=\"long\"><dt>"
                                     : "<div><dt>");
    cr_html(to, name);
    cr_buf_str(to, "</dt><dd>");
    cr_html(to, text);
    cr_buf_str(to, "</dd></div>\n");
}

void cr_html_table(struct cr_buf *to, const char *caption, bool sort)
{
    /* a region that scrolls must be reachable by the keyboard */
    cr_buf_str(to, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"");
    cr_html(to, caption);
    cr_buf_f(to, "\"><table%s>\n<caption>", sort ? " class=\"sort\"" : "");
    cr_html(to, caption);
    cr_buf_str(to, "</caption>\n");
}

void cr_html_table_end(struct cr_buf *to)
{
    cr_buf_str(to, "</table></div>\n");
}

void cr_html_head(struct cr_buf *to, const char *text, bool number)
{
    cr_buf_f(to, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
    cr_html(to, text);
    cr_buf_str(to, "</th>");
}

void cr_html_cell(struct cr_buf *to, const char *text)
{
    cr_buf_str(to, "<td>");
    cr_html(to, text);
    cr_buf_str(to, "</td>");
}

void cr_html_number(struct cr_buf *to, double value, const char *format)
{
    if (isnan(value)) {
        cr_buf_str(to, "<td class=\"n\">\xe2\x80\x93</td>");
        return;
    }
    cr_buf_f(to, "<td class=\"n\" data-v=\"%.17g\">", value);
    /* the formats are those of the sections */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    cr_buf_f(to, format, value);
#pragma GCC diagnostic pop
    cr_buf_str(to, "</td>");
}

bool cr_html_is_base64(const char *text)
{
    return *text && text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijk"
                                      "lmnopqrstuvwxyz0123456789+/=")] == '\0';
}

struct cr_chart cr_report_chart(struct cr_report *r, const char *title)
{
    return (struct cr_chart){ .arena = r->arena,
                              .id = cr_strf(r->arena, "g%d", ++r->charts),
                              .title = title,
                              .width = 440,
                              .height = 270 };
}

void cr_report_figure(struct cr_report *r, bool wide)
{
    cr_buf_f(r->to, "<figure class=\"fig%s\">\n", wide ? " wide" : "");
}

void cr_report_figure_end(struct cr_report *r, const char *caption)
{
    if (caption) {
        cr_buf_str(r->to, "<figcaption>");
        cr_html(r->to, caption);
        cr_buf_str(r->to, "</figcaption>");
    }
    cr_buf_str(r->to, "</figure>\n");
}
