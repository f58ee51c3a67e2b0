/* runs ls: a table of runs. */
#include <string.h>

#include "base/table.h"
#include "rundir/run_column.h"
#include "rundir/run_groups.h"
#include "runs/runs.h"

#define VARIED_MAX 8 /* columns for settings that differ */
#define FLOW_MAX 40  /* characters of such a setting */

static bool ls_is_scalar(const struct cr_node *node)
{
    return node && node->kind != CR_NODE_MAP && node->kind != CR_NODE_LIST;
}

/* A typed node with long arguments by its type alone: "Adam". Its arguments
 * have columns of their own. */
static const char *ls_type(struct cr_arena *arena, const struct cr_node *node)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);

    return type && args && strlen(cr_node_flow(arena, node)) > FLOW_MAX ? type
                                                                        : NULL;
}

static const char *ls_flow(struct cr_arena *arena, const struct cr_node *node)
{
    const char *type = ls_type(arena, node);

    return !node                       ? "-"
           : type                      ? type
           : node->kind == CR_NODE_STR ? node->text
                                       : cr_node_flow(arena, node);
}

/* Text of a value: metrics with 4 decimals in tables, all digits with --tsv. */
static const char *ls_text(struct cr_runs_job *job, const struct cr_node *node,
                           bool metric, bool exact)
{
    if (!node || node->kind == CR_NODE_NULL)
        return exact ? "" : "-";
    if (node->kind == CR_NODE_REAL && !exact)
        return cr_strf(job->arena, metric ? "%.4f" : "%.6g", node->real);
    if (!exact && ls_type(job->arena, node))
        return ls_type(job->arena, node);
    return cr_run_text(job->arena, node);
}

struct ls_columns {
    int n, cap;
    const char **name;
};

static void ls_column(struct cr_runs_job *job, struct ls_columns *c,
                      const char *name)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->name[i], name) == 0)
            return;
    if (c->n == c->cap) {
        c->cap = 2 * c->cap + 16;
        c->name = cr_grow(job->arena, c->name, (size_t)c->n, (size_t)c->cap,
                          sizeof *c->name);
    }
    c->name[c->n++] = name;
}

/* Whether two runs with a config have different values at the path. Long texts
 * describe structure, not settings. */
static bool ls_differ(struct cr_runs_job *job, const char *path)
{
    const struct cr_node *first = NULL, *node, *other = NULL;
    const char *a = "-", *b;
    bool some = false;

    for (int i = 0; i < job->found.n; i++) {
        struct cr_run *run = &job->found.run[i];

        node = cr_run_setting(&job->found, run, path);
        if (!run->settings.sheet || (some && (node == first || node == other)))
            continue;
        b = ls_flow(job->arena, node);
        if (!some) {
            some = true;
            first = node;
            a = b;
            if (strlen(a) > FLOW_MAX)
                return false;
        } else if (strcmp(a, b) != 0 && strlen(b) <= FLOW_MAX) {
            return true;
        }
        other = node;
    }
    return false;
}

static void ls_varied(struct cr_runs_job *job, struct ls_columns *c)
{
    const char *const *path;
    int n, left = VARIED_MAX;

    cr_runs_read_settings(&job->found);
    path = cr_run_sheets_differences(job->arena, job->found.sheets, &n);
    for (int i = 0; i < n && left > 0; i++)
        if (!cr_starts(path[i], "run.") && ls_differ(job, path[i])) {
            ls_column(job, c, path[i]);
            left--;
        }
}

static void ls_columns(struct cr_runs_job *job, struct ls_columns *c)
{
    if (job->o->cols) {
        char *text = cr_strdup(job->arena, job->o->cols), *save = NULL;

        for (char *p = strtok_r(text, ",", &save); p;
             p = strtok_r(NULL, ",", &save))
            ls_column(job, c, cr_run_trim(p));
        return;
    }
    ls_column(job, c, "run");
    ls_column(job, c, "status");
    ls_column(job, c, "epochs");
    ls_varied(job, c);
    for (int i = 0; i < job->found.n; i++)
        for (CR_EACH(m, job->found.run[i].eval))
            if (ls_is_scalar(m))
                ls_column(job, c, cr_strf(job->arena, "eval.%s", m->key));
    ls_column(job, c, "seconds");
}

struct ls_column {
    bool metric, path, words, numbers;
};

/* Adds the cells of the runs. A run's cells are made together: thousands of
 * records do not fit the cache. Returns the alignment of the columns: numbers
 * to the right. */
static char *ls_cells(struct cr_runs_job *job, const struct ls_columns *c,
                      struct cr_table *to)
{
    struct ls_column *column = CR_NEWS(job->arena, struct ls_column, c->n);
    char *align = CR_NEWS(job->arena, char, c->n + 1);

    for (int k = 0; k < c->n; k++) {
        cr_table_add(to, c->name[k]);
        column[k].metric = cr_runs_is_metric(c->name[k]);
        column[k].words = column[k].path = cr_run_is_path(c->name[k]);
    }
    for (int i = 0; i < job->found.n; i++)
        for (int k = 0; k < c->n; k++) {
            struct cr_run *run = &job->found.run[i];
            const struct cr_node *node;

            if (column[k].path) {
                cr_table_add(to, run->path);
                continue;
            }
            node = cr_run_value(&job->found, run, c->name[k]);
            column[k].numbers |= cr_runs_is_number(node);
            column[k].words |=
                node && node->kind != CR_NODE_NULL && !cr_runs_is_number(node);
            cr_table_add(to, ls_text(job, node, column[k].metric, job->o->tsv));
        }
    for (int k = 0; k < c->n; k++)
        align[k] = column[k].numbers && !column[k].words
                       ? (column[k].metric ? 'R' : 'r')
                       : 'l';
    return align;
}

static void ls_run(struct cr_runs_job *job)
{
    struct ls_columns c = { 0 };
    struct cr_table table = { .arena = job->arena };
    struct cr_buf json = { .arena = job->arena };

    if (job->cli->json && job->o->group_by) {
        if (cr_run_groups_json(&job->found, job->o->group_by, &json))
            puts(cr_buf_text(&json));
        return;
    }
    if (job->cli->json) {
        for (int i = 0; i < job->found.n; i++) {
            cr_buf_str(&json, i > 0 ? ", " : "");
            cr_runs_json(job, &job->found.run[i], &json);
        }
        printf("[%s]\n", cr_buf_text(&json));
        return;
    }
    if (job->found.n == 0 && !job->cli->quiet)
        fprintf(stderr, "%s below %s%s\n", job->filtered ? "no run" : "no runs",
                cr_escape(job->arena, job->dir),
                job->filtered ? " matches --where" : "");
    if (job->found.n == 0)
        return;
    if (job->o->group_by) {
        if (cr_run_groups_table(&job->found, job->o->group_by, job->o->tsv,
                                &table))
            cr_table_show(&table, job->o->tsv);
        return;
    }
    ls_columns(job, &c);
    table.align = ls_cells(job, &c, &table);
    if (c.n > 0)
        cr_table_show(&table, job->o->tsv);
}

const struct cr_runs_sub cr_runs_sub_ls = {
    .name = "ls",
    .searches = true,
    .run = ls_run,
};
