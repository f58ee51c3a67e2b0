#include <inttypes.h>
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
    /* long names of settings may break at their dots */
    for (const char *dot; (dot = strchr(text, '.')) && dot[1]; text = dot + 1) {
        cr_html_n(to, text, (size_t)(dot + 1 - text));
        cr_buf_str(to, "<wbr>");
    }
    cr_html(to, text);
    cr_buf_str(to, "</th>");
}

void cr_html_cell(struct cr_buf *to, const char *text)
{
    cr_buf_str(to, "<td>");
    cr_html(to, text);
    cr_buf_str(to, "</td>");
}

const char *cr_html_grouped(struct cr_arena *arena, const char *digits)
{
    struct cr_buf b = { .arena = arena };
    size_t sign = *digits == '-', n = strspn(digits + sign, "0123456789");

    cr_buf_add(&b, digits, sign);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && n > 4 && (n - i) % 3 == 0)
            cr_buf_char(&b, ',');
        cr_buf_char(&b, digits[sign + i]);
    }
    cr_buf_str(&b, digits + sign + n);
    return cr_buf_text(&b);
}

const char *cr_html_count(struct cr_arena *arena, int64_t n)
{
    return cr_html_grouped(arena, cr_strf(arena, "%" PRId64, n));
}

const char *cr_html_format(double largest)
{
    double a = fabs(largest);

    return a >= 1e5    ? "%.0f"
           : a >= 1000 ? "%.1f"
           : a >= 100  ? "%.2f"
           : a >= 0.01 || a == 0 || isnan(a) ? "%.4f"
                                             : "%.3g";
}

/* A number in a format of the sections. */
static const char *html_number(struct cr_arena *arena, double value,
                               const char *format)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return cr_html_grouped(arena, cr_strf(arena, format, value));
#pragma GCC diagnostic pop
}

void cr_html_value(struct cr_buf *to, double value)
{
    cr_html(to, html_number(to->arena, value, cr_html_format(value)));
}

void cr_html_number(struct cr_buf *to, double value, const char *format)
{
    if (isnan(value)) {
        cr_buf_str(to, "<td class=\"n\">\xe2\x80\x93</td>");
        return;
    }
    cr_buf_f(to, "<td class=\"n\" data-v=\"%.17g\">", value);
    cr_html(to, html_number(to->arena, value, format));
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
                              .height = 270,
                              .names_at_ends = true,
                              .for_script = true };
}

void cr_report_figure(struct cr_report *r, int min_width)
{
    r->wide = min_width > 0;
    cr_buf_f(r->to, "<figure class=\"fig%s\">\n", r->wide ? " wide" : "");
    /* a wide chart scrolls on a narrow screen; the keyboard must reach it */
    if (r->wide)
        cr_buf_f(r->to, "<div class=\"scroll\" tabindex=\"0\" "
                        "role=\"region\" aria-label=\"Chart %d\">\n"
                        "<div style=\"min-width:%dpx\">\n",
                 r->charts + 1, min_width);
}

void cr_report_figure_end(struct cr_report *r, const char *caption)
{
    if (r->wide)
        cr_buf_str(r->to, "</div></div>\n");
    if (caption) {
        cr_buf_str(r->to, "<figcaption>");
        cr_html(r->to, caption);
        cr_buf_str(r->to, "</figcaption>");
    }
    cr_buf_str(r->to, "</figure>\n");
}
