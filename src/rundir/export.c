#include "rundir/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "rundir/metric_names.h"

struct row {
    int64_t line, i; /* of the file; of the series */
    const struct cr_series *series;
};

static int row_by_line(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->line > y->line) - (x->line < y->line);
}

static void export_text(struct cr_buf *to, const char *text, bool tabs)
{
    text = cr_escape(to->arena, text);
    if (tabs || !text[strcspn(text, ",\"")]) {
        cr_buf_str(to, text);
        return;
    }
    cr_buf_char(to, '"');
    for (; *text; text++) {
        if (*text == '"')
            cr_buf_char(to, '"');
        cr_buf_char(to, *text);
    }
    cr_buf_char(to, '"');
}

/* Integers without a point, others in as few digits as give the same. */
static void export_number(struct cr_buf *to, double value)
{
    if (!isfinite(value))
        return;
    if (value == floor(value) && fabs(value) < 1e15)
        cr_buf_f(to, "%.0f", value);
    else
        cr_buf_real(to, value);
}

/* run NULL: no column for it. */
static void export_row(struct cr_buf *to, const char *run,
                       const struct row *row, const struct cr_names *names,
                       bool tabs)
{
    const struct cr_series *s = row->series;
    const double known[] = { s->step[row->i], s->number[row->i],
                             s->samples[row->i] };
    char gap = tabs ? '\t' : ',';

    if (run) {
        if (!tabs && *run && strchr("=+-@", *run))
            cr_buf_str(to, "./"); /* else a formula in a spreadsheet */
        export_text(to, run, tabs);
        cr_buf_char(to, gap);
    }
    export_text(to, s->name, tabs);
    for (int i = 0; i < 3; i++) {
        cr_buf_char(to, gap);
        export_number(to, known[i]);
    }
    cr_buf_char(to, gap);
    if (isfinite(s->t[row->i]))
        cr_buf_f(to, "%.3f", s->t[row->i]);
    for (int i = 0; i < names->n; i++) {
        const struct cr_series_column *c = cr_series_column(s, names->name[i]);

        cr_buf_char(to, gap);
        if (c)
            export_number(to, c->value[row->i]);
    }
    cr_buf_char(to, '\n');
}

static void export_run(struct cr_buf *to, const char *path,
                       const struct cr_run_series *run,
                       const struct cr_names *names, bool tabs)
{
    int64_t total = 0, n = 0;
    struct row *row;

    for (int k = 0; k < run->n; k++)
        total += run->series[k].n;
    row = CR_NEWS(to->arena, struct row, total + 1);
    for (int k = 0; k < run->n; k++)
        for (int64_t i = 0; i < run->series[k].n; i++)
            row[n++] = (struct row){ run->series[k].line[i], i,
                                     &run->series[k] };
    qsort(row, (size_t)n, sizeof *row, row_by_line);
    for (int64_t i = 0; i < n; i++)
        export_row(to, path, &row[i], names, tabs);
}

static void export_header(struct cr_buf *to, bool run,
                          const struct cr_names *names, bool tabs)
{
    static const char *const first[] = { "run",   "split",   "step",
                                         "epoch", "samples", "t" };

    for (int i = run ? 0 : 1; i < (int)CR_LEN(first); i++)
        cr_buf_f(to, "%s%s",
                 i == (run ? 0 : 1) ? ""
                 : tabs             ? "\t"
                                    : ",",
                 first[i]);
    for (int i = 0; i < names->n; i++) {
        cr_buf_char(to, tabs ? '\t' : ',');
        export_text(to, names->name[i], tabs);
    }
    cr_buf_char(to, '\n');
}

static void export_names(struct cr_names *names,
                         const struct cr_run_series *run)
{
    for (int k = 0; k < run->n; k++)
        for (int c = 0; c < run->series[k].n_columns; c++)
            cr_names_add(names, run->series[k].column[c].name);
}

bool cr_run_export_csv(struct cr_arena *arena, struct cr_diag *diag,
                       const char *dir)
{
    struct cr_run_series run = { .arena = arena };
    struct cr_names names = { .arena = arena };
    struct cr_buf csv = { .arena = arena };

    if (!cr_run_series_read(&run, diag, dir))
        return false;
    export_names(&names, &run);
    export_header(&csv, false, &names, false);
    export_run(&csv, NULL, &run, &names, false);
    return cr_write_file(diag, cr_path_join(arena, dir, "metrics.csv"),
                         cr_buf_text(&csv), csv.len);
}

bool cr_runs_export(struct cr_runs *runs, bool tabs, struct cr_buf *to)
{
    struct cr_run_series *run = CR_NEWS(runs->arena, struct cr_run_series,
                                        runs->n + 1);
    struct cr_names names = { .arena = runs->arena };
    bool ok = true, any = false;

    for (int i = 0; i < runs->n; i++) {
        run[i].arena = runs->arena;
        ok = cr_run_series_read(&run[i], runs->diag, runs->run[i].path) && ok;
        export_names(&names, &run[i]);
        any |= run[i].n > 0;
    }
    if (!ok)
        return false;
    if (!any)
        return cr_error(runs->diag,
                        cr_at_file(runs->arena, runs->run[0].path),
                        CR_E_RUN_DIR, "the run has no records");
    export_header(to, true, &names, tabs);
    for (int i = 0; i < runs->n; i++)
        export_run(to, runs->run[i].path, &run[i], &names, tabs);
    return true;
}
