/* The page around the sections: head, style, script, contents. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/version.h"
#include "report/section.h"
#include "rundir/run_names.h"
#include "train/train.h"

/* In the order of the page. */
static const struct cr_report_section *const sections[] = {
    &cr_report_overview, &cr_report_ranking,     &cr_report_results,
    &cr_report_curves,   &cr_report_overlay,     &cr_report_settings,
    &cr_report_parallel, &cr_report_seeds,       &cr_report_classes,
    &cr_report_labels,   &cr_report_positions,   &cr_report_worst,
    &cr_report_calibration, &cr_report_regression, &cr_report_texts,
    &cr_report_data,     &cr_report_network,     &cr_report_tensors,
    &cr_report_timing,   &cr_report_warnings,    &cr_report_repeat,
};

/* ---- Head */

/* The hash of the script as Content-Security-Policy has it: sha256-BASE64. */
static void page_hash(struct cr_buf *to)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                                "uvwxyz0123456789+/";
    struct cr_sha256 hash;
    char hex[CR_SHA256_DIGITS + 1];
    unsigned bits = 0, n = 0;

    cr_sha256_start(&hash);
    for (int i = 0; cr_report_script[i]; i++)
        cr_sha256_add(&hash, cr_report_script[i], strlen(cr_report_script[i]));
    cr_sha256_end(&hash, hex);
    cr_buf_str(to, "sha256-");
    for (int i = 0; i < CR_SHA256_DIGITS; i++) {
        unsigned c = (unsigned char)hex[i];

        bits = bits << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
        for (n += 4; n >= 6; n -= 6)
            cr_buf_char(to, digit[bits >> (n - 6) & 63]);
        bits &= (1u << n) - 1;
    }
    /* 256 bits leave 4, which are filled with zeros */
    cr_buf_char(to, digit[bits << (6 - n) & 63]);
    cr_buf_char(to, '=');
}

static void page_head(struct cr_buf *to, const char *title, int refresh)
{
    cr_buf_str(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                   "<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\""
                   "default-src 'none'; img-src data:; style-src "
                   "'unsafe-inline'; base-uri 'none'; form-action 'none'; "
                   "script-src '");
    page_hash(to);
    cr_buf_str(to, "'\">\n<meta name=\"viewport\" content=\"width=device-width,"
                   "initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n");
    if (refresh > 0)
        cr_buf_f(to, "<meta http-equiv=\"refresh\" content=\"%d\">\n", refresh);
    cr_buf_str(to, "<title>");
    cr_html(to, title);
    cr_buf_str(to, "</title>\n<style>\n");
    cr_buf_str(to, cr_chart_css);
    for (int i = 0; cr_report_css[i]; i++)
        cr_buf_str(to, cr_report_css[i]);
    cr_buf_str(to, "@media screen and (prefers-color-scheme:dark){\n");
    cr_buf_str(to, cr_report_css_dark);
    cr_buf_str(to, cr_chart_css_dark);
    cr_buf_str(to, "}\n</style>\n</head>\n<body>\n"
                   "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
                   "<header>\n<h1>");
    cr_html(to, title);
    cr_buf_str(to, "</h1>\n");
}

size_t cr_report_end_refresh(char *page, size_t len)
{
    static const char meta[] = "<meta http-equiv=\"refresh\"";
    char *from = memmem(page, len, meta, strlen(meta));
    char *end = from ? memchr(from, '\n', len - (size_t)(from - page)) : NULL;

    if (!end)
        return len;
    memmove(from, end + 1, len - (size_t)(end + 1 - page));
    return len - (size_t)(end + 1 - from);
}

/* ---- Body */

/* Appends the sections to `body`, their links to the contents in `nav`. */
static void page_sections(struct cr_report *r, struct cr_buf *body,
                          struct cr_buf *nav)
{
    r->to = body;
    for (size_t i = 0; i < CR_LEN(sections); i++) {
        const struct cr_report_section *s = sections[i];
        size_t before = body->len;

        if (s->several != (r->n > 1))
            continue;
        cr_buf_f(body,
                 "<section id=\"%s\" aria-labelledby=\"%s-h\">\n"
                 "<h2 id=\"%s-h\">%s</h2>\n",
                 s->id, s->id, s->id, s->title);
        if (!s->write(r, r->run)) {
            body->len = before;
            if (body->text)
                body->text[before] = '\0';
            continue;
        }
        cr_buf_str(body, "</section>\n");
        cr_buf_f(nav, "<li><a href=\"#%s\">%s</a></li>\n", s->id, s->title);
    }
}

static const char *page_title(struct cr_report *r)
{
    if (r->n > 1)
        return cr_strf(r->arena, "%d runs", r->n);
    return cr_strf(r->arena, "Run %s",
                   cr_json_str(r->run->record, "name", r->run->path));
}

void cr_report_page(struct cr_cli *cli, struct cr_runs *runs, int refresh,
                    struct cr_buf *to)
{
    struct cr_arena *arena = to->arena;
    struct cr_report r = { .cli = cli,
                           .arena = arena,
                           .diag = cli->diag,
                           .runs = runs,
                           .n = runs->n,
                           .run = CR_NEWS(arena, struct cr_report_run,
                                          runs->n) };
    struct cr_buf body = { .arena = arena }, nav = { .arena = arena };
    const char *const *label = cr_runs_labels(runs);

    for (int i = 0; i < r.n; i++) {
        r.run[i].run = &runs->run[i];
        r.run[i].label = label[i];
        cr_report_read(&r, &r.run[i]);
    }
    if (r.n > 1)
        cr_report_compare(&r);
    page_head(to, page_title(&r), refresh);
    page_sections(&r, &body, &nav);
    cr_buf_str(to, "<nav aria-label=\"Contents\"><ul>\n");
    cr_buf_str(to, cr_buf_text(&nav));
    cr_buf_str(to, "</ul></nav>\n</header>\n<main id=\"main\">\n");
    cr_buf_str(to, cr_buf_text(&body));
    cr_buf_str(to, "</main>\n<footer>Written by cellrun " CR_VERSION
                   ".</footer>\n<script>");
    for (int i = 0; cr_report_script[i]; i++)
        cr_buf_str(to, cr_report_script[i]);
    cr_buf_str(to, "</script>\n</body>\n</html>\n");
}

int cr_report_of_train(const struct cr_train *t, int status)
{
    struct cr_cli *cli = t->cli;
    struct cr_buf page = { .arena = cli->arena };
    struct cr_runs runs = { .arena = cli->arena, .diag = cli->diag };

    if (!t->opts.log.report || !t->dir.path || t->history.old_record ||
        cr_run_lock_lost(&t->dir.lock) || !cr_runs_add(&runs, t->dir.path) ||
        runs.n != 1)
        return status;
    cr_report_page(cli, &runs, 0, &page);
    return cr_write_file(cli->diag, cr_rundir_file(&t->dir, "report.html"),
                         page.text, page.len) ||
                   status != 0
               ? status
               : cr_diag_exit(cli->diag);
}
