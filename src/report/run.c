/*
 * The files of a run, and values from them that several sections show.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "report/section.h"
#include "score/metric.h"

#define LOG_MAX ((size_t)64 << 20)
#define METRICS_MAX ((size_t)1 << 30)
#define SAMPLES_MAX ((size_t)64 << 20)

/* ---- Reading */

bool cr_report_is_file(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Turns the errors of a damaged file into warnings of the report. */
static void run_warn(struct cr_report *r, const struct cr_diag *quiet)
{
    for (const struct cr_message *m = quiet->first; m; m = m->next)
        cr_warn(r->diag, m->pos, m->code, "%s; omitted from the report",
                m->text);
}

static const char *run_text(struct cr_report *r, const char *dir,
                            const char *name, size_t max)
{
    struct cr_diag quiet = { .arena = r->arena };
    const char *path = cr_path_join(r->arena, dir, name), *text;
    size_t len;

    if (!cr_report_is_file(path))
        return "";
    text = cr_read_file(r->arena, &quiet, CR_NOWHERE, path, CR_E_SYSTEM, max,
                        &len);
    run_warn(r, &quiet);
    return text ? text : "";
}

static const struct cr_node *run_json(struct cr_report *r, const char *dir,
                                      const char *name, size_t max)
{
    const char *text = run_text(r, dir, name, max), *why;
    const struct cr_node *node;
    size_t at;

    if (!*text)
        return NULL;
    node = cr_json_read(r->arena, text, strlen(text), &why, &at);
    if (node && node->kind == CR_NODE_MAP)
        return node;
    cr_warn(r->diag,
            cr_at_file(r->arena, cr_path_join(r->arena, dir, name)),
            CR_E_RUN_DIR, "not a JSON object; omitted from the report");
    return NULL;
}

void cr_report_read(struct cr_report *r, struct cr_report_run *run)
{
    struct cr_diag quiet = { .arena = r->arena };

    run->path = run->run->path;
    run->record = run->run->record;
    run->config = cr_run_config(r->runs, run->run);
    run->series.arena = r->arena;
    cr_run_series_read(&run->series, &quiet, run->path);
    run_warn(r, &quiet);
    quiet = (struct cr_diag){ .arena = r->arena };
    if (r->n == 1)
        cr_run_outcomes_read(r->arena, &quiet, run->path, &run->outcomes);
    run_warn(r, &quiet);
    run->log = run->metrics = "";
    if (r->n == 1) {
        run->log = run_text(r, run->path, "log.txt", LOG_MAX);
        run->samples = run_json(r, run->path, "samples.json", SAMPLES_MAX);
    }
    if (cr_series_find(&run->series, "sample") && r->n == 1)
        run->metrics = run_text(r, run->path, "metrics.jsonl", METRICS_MAX);
    run->best = cr_json_str(cr_node_get(run->record, "best"), "metric", NULL);
}

/* ---- Names and numbers */

const char *cr_report_class(struct cr_report *r,
                            const struct cr_report_run *run, int64_t class)
{
    const struct cr_node *names = cr_node_get(run->samples, "classes");
    const struct cr_node *name =
        class >= 0 && class < cr_node_count(names)
            ? cr_node_at(names, (int)class)
            : NULL;

    return name && name->kind == CR_NODE_STR && *name->text
               ? name->text
               : cr_strf(r->arena, "%" PRId64, class);
}

bool cr_report_maximize(const struct cr_report_run *run, const char *metric)
{
    const struct cr_node *best = cr_node_get(run->record, "best");
    bool maximize;

    if (strcmp(cr_json_str(best, "metric", ""), metric) == 0)
        return strcmp(cr_json_str(best, "mode", ""), "max") == 0;
    return cr_metric_named(metric, &maximize) && maximize;
}

const char *cr_report_duration(struct cr_arena *arena, double s)
{
    if (!isfinite(s))
        return "";
    if (s < 60)
        return cr_strf(arena, s < 10 ? "%.2f s" : "%.1f s", s);
    if (s < 3600)
        return cr_strf(arena, "%.0f min %.0f s", floor(s / 60),
                       floor(fmod(s, 60)));
    return cr_strf(arena, "%.0f h %.0f min", floor(s / 3600),
                   floor(fmod(s, 3600) / 60));
}

int64_t cr_report_thin(struct cr_arena *arena, const double *x, const double *y,
                       int64_t n, int64_t points, const double **to_x,
                       const double **to_y)
{
    double *a, *b;
    int64_t m = 0, intervals = points / 2;

    *to_x = x;
    *to_y = y;
    if (n <= points)
        return n;
    *to_x = a = CR_NEWS(arena, double, points);
    *to_y = b = CR_NEWS(arena, double, points);
    for (int64_t k = 0; k < intervals; k++) {
        int64_t from = k * n / intervals, end = (k + 1) * n / intervals;
        int64_t low = from, high = from;

        for (int64_t i = from; i < end; i++) {
            low = !(y[i] >= y[low]) ? i : low;
            high = !(y[i] <= y[high]) ? i : high;
        }
        for (int at = 0; at < 2; at++) {
            int64_t i = (at == 0) == (low < high) ? low : high;

            if (at == 1 && low == high)
                break;
            a[m] = x[i];
            b[m++] = y[i];
        }
    }
    return m;
}

/* ---- Samples */

static void run_value(struct cr_buf *to, const struct cr_node *value)
{
    if (value->kind == CR_NODE_INT || value->kind == CR_NODE_REAL)
        cr_html_f(to, "%.6g", value->real);
    else
        cr_html(to, value->text ? value->text : "\xe2\x80\x93");
}

static void run_values(struct cr_buf *to, const struct cr_node *value)
{
    int i = 0;

    if (value->kind != CR_NODE_MAP && value->kind != CR_NODE_LIST) {
        run_value(to, value);
        return;
    }
    for (CR_EACH(m, value)) {
        cr_buf_str(to, i++ ? ", " : "");
        if (value->kind == CR_NODE_MAP) {
            cr_html(to, m->key);
            cr_buf_str(to, "\xc2\xa0=\xc2\xa0");
        }
        run_value(to, m);
    }
}

const struct cr_node *cr_report_columns(const struct cr_node *sample)
{
    const struct cr_node *columns = cr_node_get(sample, "columns");

    return columns && columns->kind == CR_NODE_MAP ? columns : NULL;
}

void cr_report_sample(struct cr_report *r, const struct cr_node *sample,
                      const char *alt)
{
    for (CR_EACH(m, cr_report_columns(sample))) {
        const char *png = cr_json_str(m, "png", NULL);

        if (png && cr_html_is_base64(png)) {
            cr_buf_f(r->to,
                     "<img width=\"%d\" height=\"%d\" src=\"data:image/png;"
                     "base64,%s\" alt=\"",
                     (int)cr_json_int(m, "width", 28) & 1023,
                     (int)cr_json_int(m, "height", 28) & 1023, png);
            cr_html(r->to, alt);
            cr_buf_str(r->to, "\">");
            continue;
        }
        cr_buf_str(r->to, "<span class=\"value\">");
        if (m->next || m != cr_report_columns(sample)->child) {
            cr_html(r->to, m->key);
            cr_buf_str(r->to, ": ");
        }
        run_values(r->to, m);
        cr_buf_str(r->to, "</span>");
    }
}
