/*
 * runs: lists, sorts, compares and shows runs. Reads record.json, and
 * metrics.jsonl of runs under way.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/table.h"
#include "ckpt/run_index.h"
#include "conf/command_line.h"
#include "rundir/export.h"
#include "rundir/run_groups.h"
#include "rundir/run_names.h"
#include "rundir/run_where.h"
#include "train/metric.h"
#include "train/run_lock.h"

#define RUNS_VARIED 8 /* maximum number of columns for settings that differ */

struct runs {
    const char *sort, *cols, *group_by, *where, *metric, *dir, *out;
    bool tsv, path;
};

static const struct cr_opt runs_opts[] = {
    CR_STR_OPTIONAL(
        struct runs, sort,
        "Sort by this column, metrics with the best first; '-' before the "
        "name reverses the order. Default: oldest first.",
        .text = "COLUMN"),
    CR_STR_OPTIONAL(
        struct runs, cols,
        "Columns, separated by commas: metrics, keys of record.json and "
        "of the config.",
        .text = "NAMES"),
    CR_STR_OPTIONAL(struct runs, group_by,
                    "One row per group of runs with the same values of these "
                    "columns: mean and standard deviation of the metrics.",
                    .text = "NAMES"),
    CR_STR_OPTIONAL(struct runs, where,
                    "Only runs that satisfy this condition: "
                    "'eval.accuracy>0.9', 'status=completed and seed!=3'.",
                    .text = "EXPR"),
    CR_STR_OPTIONAL(struct runs, metric, "best: by this metric.",
                    .text = "NAME"),
    CR_STR_OPTIONAL(
        struct runs, dir,
        "Folder to search, two levels deep. Default: CELLRUN_RUNS, or "
        "`runs`.",
        .text = "DIR"),
    CR_BOOL_DEFAULT(struct runs, tsv, false, "Separate columns by tabs."),
    CR_STR_OPTIONAL(struct runs, out,
                    "export: file to write. Default: standard output.",
                    .flag = 'o', .text = "FILE"),
    CR_BOOL_DEFAULT(struct runs, path, false,
                    "best: print only its directory."),
    { 0 },
};

struct runs_job {
    struct cr_cli *cli;
    struct cr_arena *arena;
    const struct runs *o;
    const char *dir;
    struct cr_runs found;
    bool filtered; /* no run matches --where */
};

/* ---- Finding runs */

/* A missing folder is an error only if --dir names it: the default one is
 * created by the first run. */
static bool runs_find(struct runs_job *job)
{
    const char *env = getenv("CELLRUN_RUNS");
    struct stat st;

    job->dir = job->o->dir ? job->o->dir : env && *env ? env : "runs";
    if (job->o->dir && stat(job->dir, &st) != 0)
        return cr_error(job->cli->diag, cr_at_file(job->arena, job->dir),
                        CR_E_USAGE, "--dir: cannot open: %s", strerror(errno));
    cr_runs_search(&job->found, job->dir);
    cr_runs_note_killed(&job->found);
    return true;
}

/* Finds one run by its directory, its path below the folder, or its id or the
 * beginning of its id. Returns NULL after reporting an error. */
static struct cr_run *runs_named(struct runs_job *job, int operand)
{
    const char *name = job->cli->operands[operand];
    struct cr_runs one = { .arena = job->arena, .diag = job->cli->diag };
    const char *below = cr_path_join(job->arena, job->dir, name);
    struct cr_run *found = NULL;
    int n = 0;

    if (cr_runs_add(&one, name) || cr_runs_add(&one, below)) {
        cr_runs_note_killed(&one);
        return one.n > 0 ? one.run : NULL;
    }
    for (int i = 0; i < job->found.n; i++) {
        const char *id = cr_json_str(job->found.run[i].record, "id", "");

        if (*name && strncmp(id, name, strlen(name)) == 0) {
            found = &job->found.run[i];
            n++;
        }
    }
    if (n == 1)
        return found;
    cr_error(job->cli->diag, job->cli->operand_pos[operand], CR_E_RUN_DIR,
             n == 0 ? "'%s' is not a run directory, and no run below '%s' has "
                      "such an id"
                    : "'%s' is the beginning of several ids below '%s'",
             cr_quote(job->arena, name, strlen(name)), job->dir);
    return NULL;
}

/* ---- Columns */

static bool runs_is_scalar(const struct cr_node *node)
{
    return node && node->kind != CR_NODE_MAP && node->kind != CR_NODE_LIST;
}

/* Whether larger values of the metric are better; *known: whether the name is
 * a metric. */
static bool runs_maximize(const char *name, bool *known)
{
    bool maximize;

    name = cr_run_bare(name);
    if (cr_starts(name, "best."))
        name += 5;
    *known = cr_metric_named(name, &maximize);
    return *known && maximize;
}

/* Whether larger values are better. The records come before the metric's own
 * direction, because a config may set checkpoint.best.mode. */
static bool runs_larger(const struct runs_job *job, const char *name)
{
    const char *bare = cr_run_bare(name);
    bool known;

    if (cr_starts(bare, "best."))
        bare += 5;
    for (int i = 0; i < job->found.n; i++) {
        const struct cr_node *best =
            cr_node_get(job->found.run[i].record, "best");

        if (strcmp(cr_json_str(best, "metric", ""), bare) == 0 &&
            cr_json_str(best, "mode", NULL))
            return strcmp(cr_json_str(best, "mode", ""), "max") == 0;
    }
    return runs_maximize(name, &known);
}

static bool runs_is_number(const struct cr_node *node)
{
    return node && (node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL);
}

/* Text of a value: metrics with 4 decimals in tables, all digits with --tsv. */
static const char *runs_text(struct runs_job *job, const struct cr_node *node,
                             bool metric, bool exact)
{
    if (!node || node->kind == CR_NODE_NULL)
        return exact ? "" : "-";
    if (node->kind == CR_NODE_REAL && !exact)
        return cr_strf(job->arena, metric ? "%.4f" : "%.6g", node->real);
    return cr_run_text(job->arena, node);
}

static bool runs_filter(struct runs_job *job)
{
    int before = job->found.n;

    if (job->o->where && !cr_runs_where(&job->found, job->o->where))
        return false;
    job->filtered = before > 0 && job->found.n == 0;
    return true;
}

/* Whether the runs have the columns that the options name. False after
 * reporting. */
static bool runs_check(struct runs_job *job)
{
    const char *sort = job->o->sort, *cols = job->o->cols;
    char *text = cols ? cr_strdup(job->arena, cols) : NULL, *save = NULL;
    bool ok = true;

    if (sort)
        ok = cr_runs_has(&job->found, "--sort", sort + (*sort == '-'));
    if (job->o->metric)
        ok = cr_runs_has(&job->found, "--metric", job->o->metric) && ok;
    for (char *p = text ? strtok_r(text, ",", &save) : NULL; p;
         p = strtok_r(NULL, ",", &save))
        ok = cr_runs_has(&job->found, "--cols", cr_run_trim(p)) && ok;
    return ok;
}

/* ---- --sort */

/* A run and the value it is sorted by. */
struct runs_key {
    struct cr_run run;
    const struct cr_node *value;
    bool down;
};

static int runs_compare(const struct runs_key *x, const struct runs_key *y)
{
    const struct cr_node *a = x->value, *b = y->value;
    int order;

    if (runs_is_number(a) && runs_is_number(b))
        order = (a->real > b->real) - (a->real < b->real);
    else if (!a || !b || !a->text || !b->text)
        return (!a || !a->text) - (!b || !b->text); /* no value: last */
    else
        order = strcmp(a->text, b->text);
    return x->down ? -order : order;
}

static int runs_by_key(const void *a, const void *b)
{
    const struct runs_key *x = a, *y = b;
    int order = runs_compare(x, y);

    return order ? order : cr_runs_oldest(&x->run, &y->run);
}

static void runs_sort(struct runs_job *job)
{
    const char *name = job->o->sort;
    struct cr_runs *runs = &job->found;
    struct runs_key *key;
    bool down, flip;

    if (!name || runs->n == 0)
        return;
    flip = name[0] == '-';
    name += flip;
    down = runs_larger(job, name) != flip;
    key = CR_NEWS(job->arena, struct runs_key, runs->n);
    for (int i = 0; i < runs->n; i++) {
        key[i].value = cr_run_value(runs, &runs->run[i], name);
        key[i].run = runs->run[i];
        key[i].down = down;
    }
    qsort(key, (size_t)runs->n, sizeof *key, runs_by_key);
    for (int i = 0; i < runs->n; i++)
        runs->run[i] = key[i].run;
}

/* ---- ls */

struct runs_columns {
    int n, cap;
    const char **name;
};

static void runs_column(struct runs_job *job, struct runs_columns *c,
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

static const char *runs_flow(struct cr_arena *arena, const struct cr_node *node)
{
    return !node                       ? "-"
           : node->kind == CR_NODE_STR ? node->text
                                       : cr_node_flow(arena, node);
}

/* Reports the leaves in which two trees differ; maps are compared member by
 * member. `plain`: paths omit the types, as --set may. */
struct runs_walk {
    struct cr_arena *arena;
    bool plain;
    void (*differ)(void *ctx, const char *path, const char *a, const char *b);
    void *ctx;
};

static void runs_walk(const struct runs_walk *w, const char *path,
                      const struct cr_node *a, const struct cr_node *b);

static void runs_walk_member(const struct runs_walk *w, const char *path,
                             const char *key, const struct cr_node *a,
                             const struct cr_node *b)
{
    if (!*path)
        path = key;
    else if (!w->plain || key[0] < 'A' || key[0] > 'Z')
        path = cr_strf(w->arena, "%s.%s", path, key);
    runs_walk(w, path, a, b);
}

static void runs_walk(const struct runs_walk *w, const char *path,
                      const struct cr_node *a, const struct cr_node *b)
{
    const char *x, *y;

    if (a && b && a->kind == CR_NODE_MAP && b->kind == CR_NODE_MAP) {
        for (CR_EACH(m, a))
            runs_walk_member(w, path, m->key, m, cr_node_get(b, m->key));
        for (CR_EACH(m, b))
            if (!cr_node_get(a, m->key))
                runs_walk_member(w, path, m->key, NULL, m);
        return;
    }
    x = runs_flow(w->arena, a);
    y = runs_flow(w->arena, b);
    if (strcmp(x, y) != 0)
        w->differ(w->ctx, path, x, y);
}

/* ---- ls: columns for settings that differ between runs */

/* Whether two runs with a config have different values at the path. Long texts
 * describe structure, not settings. */
static bool runs_differ(struct runs_job *job, const char *path)
{
    const struct cr_node *first = NULL, *node, *other = NULL;
    const char *a = "-", *b;
    bool some = false;

    for (int i = 0; i < job->found.n; i++) {
        struct cr_run *run = &job->found.run[i];

        node = cr_run_setting(&job->found, run, path);
        if (!run->settings.sheet || (some && (node == first || node == other)))
            continue;
        b = runs_flow(job->arena, node);
        if (!some) {
            some = true;
            first = node;
            a = b;
            if (strlen(a) > 40)
                return false;
        } else if (strcmp(a, b) != 0 && strlen(b) <= 40) {
            return true;
        }
        other = node;
    }
    return false;
}

static void runs_varied(struct runs_job *job, struct runs_columns *c)
{
    const char *const *path;
    int n, left = RUNS_VARIED;

    cr_runs_read_settings(&job->found);
    path = cr_run_sheets_differences(job->arena, job->found.sheets, &n);
    for (int i = 0; i < n && left > 0; i++)
        if (!cr_starts(path[i], "run.") && runs_differ(job, path[i])) {
            runs_column(job, c, path[i]);
            left--;
        }
}

static void runs_columns(struct runs_job *job, struct runs_columns *c)
{
    if (job->o->cols) {
        char *text = cr_strdup(job->arena, job->o->cols), *save = NULL;

        for (char *p = strtok_r(text, ",", &save); p;
             p = strtok_r(NULL, ",", &save))
            runs_column(job, c, cr_run_trim(p));
        return;
    }
    runs_column(job, c, "run");
    runs_column(job, c, "status");
    runs_column(job, c, "epochs");
    runs_varied(job, c);
    for (int i = 0; i < job->found.n; i++)
        for (CR_EACH(m, job->found.run[i].eval))
            if (runs_is_scalar(m))
                runs_column(job, c, cr_strf(job->arena, "eval.%s", m->key));
    runs_column(job, c, "seconds");
}

struct runs_column {
    bool metric, path, words, numbers;
};

/* Adds the cells of the runs. A run's cells are made together: thousands of
 * records do not fit the cache. Returns the alignment of the columns: numbers
 * to the right. */
static char *runs_cells(struct runs_job *job, const struct runs_columns *c,
                        struct cr_table *to)
{
    struct runs_column *column = CR_NEWS(job->arena, struct runs_column, c->n);
    char *align = CR_NEWS(job->arena, char, c->n + 1);

    for (int k = 0; k < c->n; k++) {
        cr_table_add(to, c->name[k]);
        runs_maximize(c->name[k], &column[k].metric);
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
            column[k].numbers |= runs_is_number(node);
            column[k].words |=
                node && node->kind != CR_NODE_NULL && !runs_is_number(node);
            cr_table_add(to, runs_text(job, node, column[k].metric,
                                       job->o->tsv));
        }
    for (int k = 0; k < c->n; k++)
        align[k] = column[k].numbers && !column[k].words ? 'r' : 'l';
    return align;
}

static void runs_json_one(struct runs_job *job, struct cr_run *run,
                          struct cr_buf *to)
{
    const char *text = cr_node_json(job->arena, run->record);

    cr_buf_str(to, "{\"path\": ");
    cr_buf_json(to, run->path);
    cr_buf_str(to, run->record->child ? ", " : "");
    cr_buf_str(to, text + 1);
}

static void runs_ls(struct runs_job *job)
{
    struct runs_columns c = { 0 };
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
            runs_json_one(job, &job->found.run[i], &json);
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
            cr_table_print(&table, stdout, job->o->tsv);
        return;
    }
    runs_columns(job, &c);
    table.align = runs_cells(job, &c, &table);
    if (c.n > 0)
        cr_table_print(&table, stdout, job->o->tsv);
}

/* ---- show, diff */

static void runs_show_node(struct runs_job *job, const char *path,
                           const struct cr_node *node)
{
    if (node->kind != CR_NODE_MAP) {
        printf("%s: %s\n", cr_escape(job->arena, path),
               cr_escape(job->arena, node->kind == CR_NODE_STR
                                         ? node->text
                                         : cr_node_json(job->arena, node)));
        return;
    }
    for (CR_EACH(m, node))
        runs_show_node(
            job, *path ? cr_strf(job->arena, "%s.%s", path, m->key) : m->key,
            m);
}

static void runs_show(struct runs_job *job)
{
    struct cr_run *run = runs_named(job, 1);
    struct cr_buf json = { .arena = job->arena };

    if (!run)
        return;
    if (job->cli->json) {
        runs_json_one(job, run, &json);
        puts(cr_buf_text(&json));
        return;
    }
    printf("path: %s\n", cr_escape(job->arena, run->path));
    runs_show_node(job, "", run->record);
}

static void runs_diff_row(void *ctx, const char *path, const char *a,
                          const char *b)
{
    cr_table_add(ctx, path);
    cr_table_add(ctx, a);
    cr_table_add(ctx, b);
}

static void runs_diff_json(struct runs_job *job, const struct cr_table *table)
{
    struct cr_buf to = { .arena = job->arena };

    for (int i = 3; i < table->cells; i += 3) {
        cr_buf_str(&to, i > 3 ? ", " : "");
        cr_buf_json(&to, table->cell[i]);
        cr_buf_str(&to, ": [");
        cr_buf_json(&to, table->cell[i + 1]);
        cr_buf_str(&to, ", ");
        cr_buf_json(&to, table->cell[i + 2]);
        cr_buf_char(&to, ']');
    }
    printf("{%s}\n", cr_buf_text(&to));
}

static void runs_diff(struct runs_job *job)
{
    static const char *const keys[] = { "status", "epochs", "steps",
                                        "eval",   "best",   "seconds" };
    struct cr_table table = { .arena = job->arena, .align = "lll" };
    struct runs_walk walk = { job->arena, false, runs_diff_row, &table };
    struct cr_run *a = runs_named(job, 1), *b = runs_named(job, 2);

    if (!a || !b)
        return;
    cr_table_add(&table, "");
    cr_table_add(&table, a->path);
    cr_table_add(&table, b->path);
    runs_walk(&walk, "", cr_run_config(&job->found, a),
              cr_run_config(&job->found, b));
    for (size_t i = 0; i < CR_LEN(keys); i++)
        runs_walk(&walk, keys[i], cr_node_get(a->record, keys[i]),
                  cr_node_get(b->record, keys[i]));
    if (job->cli->json)
        runs_diff_json(job, &table);
    else
        cr_table_print(&table, stdout, job->o->tsv);
}

/* ---- best */

/* The value of the run's best checkpoint if it was selected by this metric;
 * otherwise that of the last evaluation. */
static const struct cr_node *runs_best_value(struct cr_run *run,
                                             const char *metric)
{
    const struct cr_node *best = cr_node_get(run->record, "best"), *found;

    found = cr_node_get(best, "value");
    if (strcmp(cr_json_str(best, "metric", ""), metric) == 0 &&
        runs_is_number(found))
        return found;
    return cr_node_get(cr_node_get(run->record, "eval"), metric);
}

static void runs_best(struct runs_job *job)
{
    const char *metric = job->o->metric ? cr_run_bare(job->o->metric) : NULL;
    struct cr_run *best = NULL;
    struct cr_buf json = { .arena = job->arena };
    const char *ckpt;
    double value = 0;
    bool max;

    for (int i = 0; i < job->found.n && !metric; i++)
        metric = cr_json_str(cr_node_get(job->found.run[i].record, "best"),
                             "metric", NULL);
    max = metric && runs_larger(job, metric);
    for (int i = 0; metric && i < job->found.n; i++) {
        const struct cr_node *v = runs_best_value(&job->found.run[i], metric);

        if (!runs_is_number(v) || isnan(v->real))
            continue;
        if (!best || (max ? v->real > value : v->real < value)) {
            best = &job->found.run[i];
            value = v->real;
        }
    }
    if (!best) {
        cr_error(job->cli->diag, cr_at_file(job->arena, job->dir),
                 CR_E_CKPT_MISSING, "no run below this folder has %s%s",
                 metric ? "a value of " : "been evaluated",
                 metric ? cr_quote(job->arena, metric, strlen(metric)) : "");
        return;
    }
    if (job->o->path) {
        puts(best->path);
    } else if (job->cli->json) {
        runs_json_one(job, best, &json);
        puts(cr_buf_text(&json));
    } else {
        printf("run: %s\n%s: %.4f\n", cr_escape(job->arena, best->path),
               cr_escape(job->arena, metric), value);
        ckpt = cr_json_str(best->record, "ckpt", NULL);
        if (ckpt)
            printf("ckpt: %s\n",
                   cr_escape(job->arena,
                             cr_path_join(job->arena, best->path, ckpt)));
    }
}

/* ---- export */

static void runs_export(struct runs_job *job)
{
    struct cr_cli *cli = job->cli;
    struct cr_runs runs = { .arena = job->arena, .diag = cli->diag };
    struct cr_buf to = { .arena = job->arena };
    bool ok = true;

    for (int i = 1; i < cli->n_operands; i++)
        ok = cr_runs_add_named(&runs, job->dir, cli->operands[i],
                               cli->operand_pos[i]) && ok;
    if (!ok || !cr_runs_export(&runs, job->o->tsv, &to))
        return;
    if (job->o->out && strcmp(job->o->out, "-") != 0)
        cr_write_file(cli->diag, job->o->out, to.text, to.len);
    else
        fwrite(cr_buf_text(&to), 1, to.len, stdout);
}

/* ---- The command */

static const struct runs_sub {
    const char *name;
    int runs; /* operands; -1: one or more */
    void (*run)(struct runs_job *job);
} runs_subs[] = {
    { "ls", 0, runs_ls },
    { "show", 1, runs_show },
    { "best", 0, runs_best },
    { "diff", 2, runs_diff },
    { "export", -1, runs_export },
};

static int runs_run(struct cr_cli *cli)
{
    static const char *const names[] = { "ls",   "show",   "best",
                                         "diff", "export", NULL };
    struct runs_job job = { .cli = cli,
                            .arena = cli->arena,
                            .o = cr_cli_opts(cli),
                            .found = { .arena = cli->arena,
                                       .diag = cli->diag } };
    const char *name = cli->n_operands > 0 ? cli->operands[0] : "ls", *guess;
    const struct runs_sub *sub = NULL;
    int n = cli->n_operands > 0 ? cli->n_operands - 1 : 0;

    for (size_t i = 0; i < CR_LEN(runs_subs); i++)
        if (strcmp(runs_subs[i].name, name) == 0)
            sub = &runs_subs[i];
    if (!sub) {
        cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                 "runs: found '%s', expected ls, show, best, diff or export",
                 cr_quote(cli->arena, name, strlen(name)));
        guess = cr_closest_name(name, names);
        if (guess)
            cr_hint(cli->diag, "did you mean '%s'?", guess);
        return 0;
    }
    if (sub->runs < 0 ? n == 0 : n != sub->runs) {
        cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                 "runs %s: found %d run%s, expected %d%s", name, n,
                 n == 1 ? "" : "s", abs(sub->runs),
                 sub->runs < 0 ? " or more" : "");
        if (sub->runs == 0)
            cr_hint(cli->diag, "--dir %s lists the runs of another folder",
                    cli->operands[1]);
        return 0;
    }
    if (!runs_find(&job) || !runs_check(&job) || !runs_filter(&job))
        return 0;
    runs_sort(&job);
    sub->run(&job);
    return 0;
}

const struct cr_command cr_command_runs = {
    .about = {
        .name = "runs",
        .summary = "List, show, rank and compare runs.",
        .detail =
            "ls, the default, prints a table: status, the settings that "
            "differ, and the metrics of the last evaluation; a run whose "
            "process is gone is interrupted. best prints the "
            "run with the best value of a metric; --ckpt accepts its path. "
            "export prints the records of metrics.jsonl as CSV, or with --tsv "
            "separated by tabs. A run is given by its directory or the "
            "beginning of its id. "
            "Columns are metrics (eval.accuracy, or accuracy; "
            "best.accuracy), keys of record.json (status, epochs, steps, "
            "seconds, started), variables of the config (vars.width) and keys "
            "of the config (optimizer.learning_rate). A column that no run "
            "has is an error.",
        .example = "cellrun runs --sort eval.accuracy --tsv\n"
                   "cellrun runs best --metric eval.accuracy --path\n"
                   "cellrun runs export runs/digits -o digits.csv\n"
                   "cellrun runs ls --where 'status=completed and "
                   "accuracy>0.9' --cols run,accuracy\n",
        .opts = runs_opts,
        .size = sizeof(struct runs),
    },
    .usage = "[ls] | show RUN | best | diff RUN RUN | export RUN... "
             "[-o FILE]",
    .min_operands = 0,
    .max_operands = -1,
    .run = runs_run,
};
