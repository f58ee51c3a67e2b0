/* sweep.tsv, and the table of --status. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "ckpt/json.h"
#include "rundir/series.h"
#include "sweep/sweep.h"

static void table_header(struct cr_sweep *sweep, struct cr_table *t)
{
    cr_table_add(t, "id");
    cr_table_add(t, "status");
    cr_table_add(t, "exit");
    for (int c = 0; c < sweep->n_columns; c++)
        cr_table_add(t, sweep->column[c]);
    cr_table_add(t, sweep->metric ? sweep->metric : "metric");
    if (sweep->n_rungs > 0)
        cr_table_add(t, cr_sweep_rungs_unit(sweep));
    cr_table_add(t, "best_step");
    cr_table_add(t, "seconds");
    cr_table_add(t, "error");
}

/* The state; of a running point with the epochs done, from its records. */
static const char *table_state(struct cr_sweep *sweep,
                               const struct cr_sweep_point *p)
{
    struct cr_diag quiet = { .arena = sweep->arena };
    struct cr_run_series run = { .arena = sweep->arena };
    const struct cr_series *s;

    if (p->state != CR_POINT_RUNNING ||
        !cr_run_series_read(&run, &quiet, p->dir))
        return cr_sweep_state_name(p->state);
    s = cr_series_find(&run, "eval");
    s = s ? s : cr_series_find(&run, "train");
    if (!s || s->n == 0 || !isfinite(s->epoch[s->n - 1]))
        return cr_sweep_state_name(p->state);
    return cr_strf(sweep->arena, "running, %.4g epochs", s->epoch[s->n - 1]);
}

/* A text for sweep.tsv: quoted where a spreadsheet would run it as a formula,
 * which leaves its meaning as YAML. */
static const char *table_cell(struct cr_arena *arena, const char *text)
{
    struct cr_buf quoted = { .arena = arena };
    char *end;

    if (!*text || !strchr("=+-@", *text))
        return text;
    (void)strtod(text, &end);
    if (!*end)
        return text;
    cr_buf_json(&quoted, text);
    return cr_buf_text(&quoted);
}

/* live: for people, with the progress of running points. */
static void table_row(struct cr_sweep *sweep, const struct cr_sweep_point *p,
                      struct cr_table *t, bool live)
{
    bool begun = p->state == CR_POINT_DONE || p->seconds > 0;
    bool scored = begun || p->state == CR_POINT_RUNNING;

    cr_table_add(t, p->id);
    cr_table_add(t, live ? table_state(sweep, p)
                         : cr_sweep_state_name(p->state));
    if (p->exit >= 0)
        cr_table_f(t, "%d", p->exit);
    else
        cr_table_add(t, "");
    for (int c = 0; c < sweep->n_columns; c++)
        cr_table_add(t, !p->value[c] ? ""
                        : live       ? p->value[c]
                                     : table_cell(t->arena, p->value[c]));
    cr_table_add(t, scored && isfinite(p->metric)
                        ? cr_real_text(sweep->arena, p->metric)
                        : "");
    if (sweep->n_rungs > 0)
        cr_table_f(t, "%" PRId64, p->length);
    if (p->best_step > 0)
        cr_table_f(t, "%" PRId64, p->best_step);
    else
        cr_table_add(t, "");
    cr_table_add(t, begun ? cr_strf(sweep->arena, "%.1f", p->seconds) : "");
    cr_table_add(t, p->error ? p->error : "");
}

static struct cr_table table_make(struct cr_sweep *sweep, bool live)
{
    struct cr_buf align = { .arena = sweep->arena };
    struct cr_table t = { .arena = sweep->arena };

    cr_buf_str(&align, "lLr");
    for (int c = 0; c < sweep->n_columns; c++)
        cr_buf_char(&align, 'r');
    cr_buf_str(&align, sweep->n_rungs > 0 ? "rrrrl" : "rrrl");
    t.align = cr_buf_text(&align);
    table_header(sweep, &t);
    for (int64_t i = 0; i < sweep->n; i++)
        table_row(sweep, &sweep->point[i], &t, live);
    return t;
}

bool cr_sweep_write_table(struct cr_sweep *sweep)
{
    const char *path = cr_path_join(sweep->arena, sweep->dir, CR_SWEEP_TABLE);
    struct cr_arena *outer = sweep->arena, arena = { 0 };
    struct cr_table t;
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    bool ok = f != NULL;

    sweep->arena = &arena;
    t = table_make(sweep, false);
    sweep->arena = outer;
    if (ok) {
        cr_table_print(&t, f, true);
        ok = fclose(f) == 0 && cr_write_file(sweep->diag, path, text, len);
    }
    free(text);
    cr_arena_free(&arena);
    return ok;
}

/* A value of a parameter: as JSON if its text is that, else as a string. */
static void table_value(struct cr_buf *to, const char *text)
{
    const char *why;
    size_t at;

    if (cr_json_read(to->arena, text, strlen(text), &why, &at))
        cr_buf_str(to, text);
    else
        cr_buf_json(to, text);
}

static void table_object(struct cr_sweep *sweep, const struct cr_sweep_point *p,
                         struct cr_buf *to)
{
    const char *comma = "";

    cr_buf_str(to, "{\"id\": ");
    cr_buf_json(to, p->id);
    cr_buf_f(to, ", \"status\": \"%s\", \"exit\": ",
             cr_sweep_state_name(p->state));
    cr_buf_str(to, p->exit < 0 ? "null" : cr_strf(to->arena, "%d", p->exit));
    cr_buf_str(to, ", \"parameters\": {");
    for (int c = 0; c < sweep->n_columns; c++)
        if (p->value[c]) {
            cr_buf_str(to, comma);
            cr_buf_json(to, sweep->column[c]);
            cr_buf_str(to, ": ");
            table_value(to, p->value[c]);
            comma = ", ";
        }
    cr_buf_str(to, "}, \"metric\": ");
    cr_buf_str(to, isfinite(p->metric) ? cr_real_text(to->arena, p->metric)
                                       : "null");
    if (sweep->n_rungs > 0)
        cr_buf_f(to, ", \"%s\": %" PRId64, cr_sweep_rungs_unit(sweep),
                 p->length);
    cr_buf_f(to, ", \"best_step\": %s",
             p->best_step > 0 ? cr_strf(to->arena, "%" PRId64, p->best_step)
                              : "null");
    cr_buf_f(to, ", \"seconds\": %.1f, \"error\": ", p->seconds);
    if (p->error && *p->error)
        cr_buf_json(to, p->error);
    else
        cr_buf_str(to, "null");
    cr_buf_str(to, ", \"path\": ");
    cr_buf_json(to, p->dir);
    cr_buf_char(to, '}');
}

void cr_sweep_print_json(struct cr_sweep *sweep, FILE *to)
{
    struct cr_arena arena = { 0 };
    struct cr_buf json = { .arena = &arena };

    for (int64_t i = 0; i < sweep->n; i++) {
        cr_buf_str(&json, i > 0 ? ", " : "");
        table_object(sweep, &sweep->point[i], &json);
    }
    fprintf(to, "[%s]\n", sweep->n > 0 ? cr_buf_text(&json) : "");
    cr_arena_free(&arena);
}

void cr_sweep_print_table(struct cr_sweep *sweep, FILE *to)
{
    int64_t count[CR_POINT_FAILED + 1] = { 0 };
    struct cr_arena *outer = sweep->arena, arena = { 0 };
    struct cr_table t;

    sweep->arena = &arena;
    t = table_make(sweep, true);
    sweep->arena = outer;
    for (int64_t i = 0; i < sweep->n; i++)
        count[sweep->point[i].state]++;
    cr_table_print(&t, to, false);
    cr_arena_free(&arena);
    fprintf(to, "%" PRId64 " point%s:", sweep->n, sweep->n == 1 ? "" : "s");
    for (int s = 0; s <= CR_POINT_FAILED; s++)
        if (count[s] > 0)
            fprintf(to, " %" PRId64 " %s", count[s],
                    cr_sweep_state_name((enum cr_sweep_state)s));
    fputc('\n', to);
}
