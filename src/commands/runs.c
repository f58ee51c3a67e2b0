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
#include "rundir/run_names.h"
#include "train/metric.h"

#define RUNS_VARIED 8 /* maximum number of columns for settings that differ */

struct runs {
    const char *sort, *cols, *where, *metric, *dir, *out;
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

    if (cr_runs_add(&one, name) || cr_runs_add(&one, below))
        return one.n > 0 ? one.run : NULL;
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
static const char *runs_text(struct runs_job *job, struct cr_run *run,
                             const char *name, bool exact)
{
    const struct cr_node *node;
    bool metric;

    if (strcmp(name, "run") == 0 || strcmp(name, "path") == 0)
        return run->path;
    node = cr_run_value(&job->found, run, name);
    if (!node || node->kind == CR_NODE_NULL)
        return exact ? "" : "-";
    runs_maximize(name, &metric);
    if (node->kind == CR_NODE_REAL && !exact)
        return cr_strf(job->arena, metric ? "%.4f" : "%.6g", node->real);
    if (node->kind == CR_NODE_REAL)
        return cr_real_text(job->arena, node->real);
    return node->text ? node->text : cr_node_json(job->arena, node);
}

/* ---- --where */

struct runs_term {
    const char *name, *op, *value;
    bool number;
    double real;
};

struct runs_where {
    int n;
    struct runs_term *term;
};

static char *runs_trim(char *text)
{
    size_t n;

    text += strspn(text, " \t");
    for (n = strlen(text); n > 0 && strchr(" \t", text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

/* The end of a term is a comma or the word `and`; *next is the text after
 * it. */
static char *runs_term_end(char *text, char **next)
{
    char *comma = strchr(text, ','), *word = strstr(text, " and ");

    if (word && (!comma || word < comma)) {
        *next = word + 5;
        return word;
    }
    *next = comma ? comma + 1 : NULL;
    return comma;
}

/* Reads one comparison. */
static bool runs_term_read(struct runs_job *job, char *text,
                           struct runs_term *t)
{
    static const char *const ops[] = { ">=", "<=", "!=", "==", ">", "<", "=" };
    const char *whole = cr_quote(job->arena, text, strlen(text));
    char *at = strpbrk(text, "<>=!"), *rest;

    for (size_t i = 0; at && !t->op && i < CR_LEN(ops); i++)
        if (cr_starts(at, ops[i]))
            t->op = ops[i];
    if (t->op) {
        t->value = runs_trim(at + strlen(t->op));
        *at = '\0';
        t->name = runs_trim(text);
    }
    if (!t->op || !*t->name || (*t->value && strchr("<>=!", *t->value)))
        return cr_error(job->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--where: found '%s', expected a comparison "
                        "such as accuracy>0.9",
                        whole);
    t->real = strtod(t->value, &rest);
    t->number = rest != t->value && *rest == '\0';
    if (!t->number && (*t->op == '<' || *t->op == '>'))
        return cr_error(job->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--where: found '%s', but %s compares with a number",
                        whole, t->op);
    return true;
}

static bool runs_where_read(struct runs_job *job, struct runs_where *to)
{
    char *text, *next, *end;

    if (!job->o->where)
        return true;
    text = cr_strdup(job->arena, job->o->where);
    to->term = CR_NEWS(job->arena, struct runs_term, strlen(text) + 1);
    for (; text; text = next) {
        end = runs_term_end(text, &next);
        if (end)
            *end = '\0';
        if (!runs_term_read(job, text, &to->term[to->n++]))
            return false;
    }
    return true;
}

/* A run without the value fails every comparison except "!=". */
static bool runs_holds(struct runs_job *job, struct cr_run *run,
                       const struct runs_term *t)
{
    const struct cr_node *node = cr_run_value(&job->found, run, t->name);
    char op = t->op[0];
    double order;

    if (t->number && runs_is_number(node))
        order = node->real - t->real;
    else if (op == '<' || op == '>')
        return false;
    else
        order = strcmp(runs_text(job, run, t->name, true), t->value);
    if (op == '=')
        return order == 0;
    if (op == '!')
        return order != 0;
    if (t->op[1] == '=' && order == 0)
        return true;
    return op == '<' ? order < 0 : order > 0;
}

static bool runs_filter(struct runs_job *job)
{
    struct runs_where where = { 0 };
    int n = 0;

    if (!runs_where_read(job, &where))
        return false;
    for (int i = 0; i < job->found.n; i++) {
        bool holds = true;

        for (int k = 0; holds && k < where.n; k++)
            holds = runs_holds(job, &job->found.run[i], &where.term[k]);
        if (holds)
            job->found.run[n++] = job->found.run[i];
    }
    job->filtered = job->found.n > 0 && n == 0;
    job->found.n = n;
    return true;
}

/* ---- --sort */

struct runs_key {
    struct cr_runs *runs;
    const char *name;
    bool down;
};

static int runs_compare(struct cr_run *x, struct cr_run *y,
                        const struct runs_key *key)
{
    const struct cr_node *a = cr_run_value(key->runs, x, key->name);
    const struct cr_node *b = cr_run_value(key->runs, y, key->name);
    int order;

    if (runs_is_number(a) && runs_is_number(b))
        order = (a->real > b->real) - (a->real < b->real);
    else if (!a || !b || !a->text || !b->text)
        return (!a || !a->text) - (!b || !b->text); /* no value: last */
    else
        order = strcmp(a->text, b->text);
    return key->down ? -order : order;
}

static int runs_by_key(const void *a, const void *b, void *key)
{
    /* The values are cached: comparing writes nothing. */
    int order = runs_compare((struct cr_run *)a, (struct cr_run *)b, key);

    return order ? order : cr_runs_oldest(a, b);
}

static void runs_sort(struct runs_job *job)
{
    struct runs_key key = { .runs = &job->found, .name = job->o->sort };
    bool flip, found = false;

    if (!key.name || job->found.n == 0)
        return;
    flip = key.name[0] == '-';
    key.name += flip;
    key.down = runs_larger(job, key.name) != flip;
    for (int i = 0; i < job->found.n; i++)
        found =
            cr_run_value(&job->found, &job->found.run[i], key.name) || found;
    if (!found)
        cr_warn(job->cli->diag, CR_NOWHERE, CR_E_UNKNOWN_KEY,
                "no run has a '%s' to be sorted by", key.name);
    qsort_r(job->found.run, (size_t)job->found.n, sizeof *job->found.run,
            runs_by_key, &key);
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

struct runs_varied {
    struct runs_job *job;
    struct runs_columns *columns;
    int left;
};

static void runs_varied(void *ctx, const char *path, const char *a,
                        const char *b)
{
    struct runs_varied *v = ctx;
    int before = v->columns->n;

    /* long texts describe structure, not settings */
    if (cr_starts(path, "run.") || strlen(a) > 40 || strlen(b) > 40 ||
        v->left == 0)
        return;
    runs_column(v->job, v->columns, path);
    v->left -= v->columns->n - before;
}

static void runs_columns(struct runs_job *job, struct runs_columns *c)
{
    struct runs_varied varied = { job, c, RUNS_VARIED };
    struct runs_walk walk = { job->arena, true, runs_varied, &varied };

    if (job->o->cols) {
        char *text = cr_strdup(job->arena, job->o->cols), *save = NULL;

        for (char *p = strtok_r(text, ",", &save); p;
             p = strtok_r(NULL, ",", &save))
            runs_column(job, c, runs_trim(p));
        return;
    }
    runs_column(job, c, "run");
    runs_column(job, c, "status");
    runs_column(job, c, "epochs");
    for (int i = 1; i < job->found.n; i++) {
        const struct cr_node *a =
            cr_run_config(&job->found, &job->found.run[0]);
        const struct cr_node *b =
            cr_run_config(&job->found, &job->found.run[i]);

        if (a && b)
            runs_walk(&walk, "", a, b);
    }
    for (int i = 0; i < job->found.n; i++)
        for (CR_EACH(m, cr_node_get(job->found.run[i].record, "eval")))
            if (runs_is_scalar(m))
                runs_column(job, c, cr_strf(job->arena, "eval.%s", m->key));
    runs_column(job, c, "seconds");
}

/* Numeric columns are right-aligned. */
static bool runs_is_numeric(struct runs_job *job, const char *name)
{
    bool some = false;

    for (int i = 0; i < job->found.n; i++) {
        const struct cr_node *node =
            cr_run_value(&job->found, &job->found.run[i], name);

        if (node && node->kind != CR_NODE_NULL && !runs_is_number(node))
            return false;
        some |= runs_is_number(node);
    }
    return some;
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
    char *align;

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
    runs_columns(job, &c);
    align = CR_NEWS(job->arena, char, c.n + 1);
    for (int k = 0; k < c.n; k++) {
        align[k] = runs_is_numeric(job, c.name[k]) ? 'r' : 'l';
        table.align = align;
        cr_table_add(&table, c.name[k]);
    }
    for (int i = 0; i < job->found.n; i++)
        for (int k = 0; k < c.n; k++)
            cr_table_add(&table, runs_text(job, &job->found.run[i], c.name[k],
                                           job->o->tsv));
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
    if (!runs_find(&job) || !runs_filter(&job))
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
            "differ, and the metrics of the last evaluation. best prints the "
            "run with the best value of a metric; --ckpt accepts its path. "
            "export prints the records of metrics.jsonl as CSV, or with --tsv "
            "separated by tabs. A run is given by its directory or the "
            "beginning of its id. "
            "Columns are metrics (eval.accuracy, or accuracy; "
            "best.accuracy), keys of record.json (status, epochs, steps, "
            "seconds, started) and keys of the config "
            "(optimizer.learning_rate).",
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
