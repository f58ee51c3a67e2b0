/*
 * runs diff: what differs between two runs, as a tree of nested keys with the
 * values of the first run after '-' and those of the second after '+'.
 *
 * Maps are compared key by key. Elements of lists are aligned by a longest
 * common subsequence; elements between equal ones are compared in order.
 */
#include <string.h>

#include "base/compiler.h"
#include "base/table.h"
#include "base/terminal.h"
#include "runs/runs.h"

#define DEPTH_MAX 64  /* deeper values are compared as a whole */
#define ALIGN_MAX 400 /* longer lists are aligned by their indices */
#define FLOW_MAX 64   /* characters of a map or list on one line */

struct diff {
    struct cr_arena *arena;
    /* Called for each difference; the path is key[0] to key[n - 1]. a or b is
     * NULL where the run has no such value. */
    void (*differ)(struct diff *d, const struct cr_node *a,
                   const struct cr_node *b);
    int n;
    const char *key[DEPTH_MAX];
    struct cr_table *table; /* of rows path, a, b */
    struct cr_buf out;      /* the tree */
    int shown;              /* keys whose lines are in the tree */
    bool color;
};

static const char *diff_flow(struct cr_arena *arena, const struct cr_node *node)
{
    return !node                       ? "-"
           : node->kind == CR_NODE_STR ? node->text
                                       : cr_node_flow(arena, node);
}

/* ---- Comparing */

static void diff_nodes(struct diff *d, const struct cr_node *a,
                       const struct cr_node *b);

static void diff_below(struct diff *d, const char *key, const struct cr_node *a,
                       const struct cr_node *b)
{
    d->key[d->n++] = key;
    diff_nodes(d, a, b);
    d->n--;
    if (d->shown > d->n)
        d->shown = d->n;
}

static void diff_maps(struct diff *d, const struct cr_node *a,
                      const struct cr_node *b)
{
    for (CR_EACH(m, a))
        diff_below(d, m->key, m, cr_node_get(b, m->key));
    for (CR_EACH(m, b))
        if (!cr_node_get(a, m->key))
            diff_below(d, m->key, NULL, m);
}

/* The elements of a list, with their texts. */
struct diff_list {
    int n;
    const struct cr_node **node;
    const char **text;
};

static struct diff_list diff_elements(struct cr_arena *arena,
                                      const struct cr_node *list)
{
    int n = cr_node_count(list);
    struct diff_list to = { .node =
                                CR_NEWS(arena, const struct cr_node *, n + 1),
                            .text = CR_NEWS(arena, const char *, n + 1) };

    for (CR_EACH(m, list)) {
        to.node[to.n] = m;
        to.text[to.n++] = cr_node_flow(arena, m);
    }
    return to;
}

/* Compares the elements between two equal ones. */
static void diff_gap(struct diff *d, const struct diff_list *a, int a0, int a1,
                     const struct diff_list *b, int b0, int b1)
{
    for (; a0 < a1 || b0 < b1; a0 += a0 < a1, b0 += b0 < b1)
        diff_below(d, cr_strf(d->arena, "%d", a0 < a1 ? a0 : b0),
                   a0 < a1 ? a->node[a0] : NULL, b0 < b1 ? b->node[b0] : NULL);
}

static void diff_lists(struct diff *d, const struct cr_node *x,
                       const struct cr_node *y)
{
    struct diff_list a = diff_elements(d->arena, x);
    struct diff_list b = diff_elements(d->arena, y);
    int *len, w = b.n + 1, i = 0, j = 0, a0 = 0, b0 = 0;

    if (a.n == b.n || a.n > ALIGN_MAX || b.n > ALIGN_MAX) {
        diff_gap(d, &a, 0, a.n, &b, 0, b.n);
        return;
    }
    /* len[i * w + j]: length of the longest common subsequence of the elements
     * from i and from j on */
    len = CR_NEWS(d->arena, int, (a.n + 1) * w);
    for (i = a.n - 1; i >= 0; i--)
        for (j = b.n - 1; j >= 0; j--) {
            int down = len[(i + 1) * w + j], right = len[i * w + j + 1];

            len[i * w + j] = strcmp(a.text[i], b.text[j]) == 0
                                 ? len[(i + 1) * w + j + 1] + 1
                             : down > right ? down
                                            : right;
        }
    for (i = j = 0; i < a.n && j < b.n;) {
        if (strcmp(a.text[i], b.text[j]) == 0) {
            diff_gap(d, &a, a0, i, &b, b0, j);
            a0 = ++i;
            b0 = ++j;
        } else if (len[(i + 1) * w + j] >= len[i * w + j + 1]) {
            i++;
        } else {
            j++;
        }
    }
    diff_gap(d, &a, a0, a.n, &b, b0, b.n);
}

static void diff_nodes(struct diff *d, const struct cr_node *a,
                       const struct cr_node *b)
{
    bool deep = d->n == DEPTH_MAX;

    if (!deep && a && b && a->kind == CR_NODE_MAP && b->kind == CR_NODE_MAP)
        diff_maps(d, a, b);
    else if (!deep && a && b && a->kind == CR_NODE_LIST &&
             b->kind == CR_NODE_LIST)
        diff_lists(d, a, b);
    else if (!a || !b ||
             strcmp(diff_flow(d->arena, a), diff_flow(d->arena, b)) != 0)
        d->differ(d, a, b);
}

/* ---- Rows: --tsv and --json */

static void diff_row(struct diff *d, const struct cr_node *a,
                     const struct cr_node *b)
{
    struct cr_buf path = { .arena = d->arena };

    for (int i = 0; i < d->n; i++)
        cr_buf_f(&path, "%s%s", i > 0 ? "." : "", d->key[i]);
    cr_table_add(d->table, cr_buf_text(&path));
    cr_table_add(d->table, diff_flow(d->arena, a));
    cr_table_add(d->table, diff_flow(d->arena, b));
}

static void diff_json(const struct cr_table *table)
{
    struct cr_buf to = { .arena = table->arena };

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

/* ---- The tree */

/* A line: mark, two blanks for each level, key, value. */
static void tree_line(struct diff *d, char mark, int level, const char *key,
                      const char *value)
{
    const char *begin = !d->color     ? ""
                        : mark == '-' ? "\033[31m"
                        : mark == '+' ? "\033[32m"
                                      : "";

    cr_buf_f(&d->out, "%s%c %*s%s:%s%s%s\n", begin, mark, 2 * level, "",
             cr_escape(d->arena, key), *value ? " " : "",
             cr_escape(d->arena, value), *begin ? "\033[0m" : "");
}

/* A value of one of the runs: nested if its text is long. */
static void tree_value(struct diff *d, char mark, int level, const char *key,
                       const struct cr_node *node)
{
    bool nested = node->kind == CR_NODE_MAP || node->kind == CR_NODE_LIST;
    const char *flow = diff_flow(d->arena, node);
    int i = 0;

    if (!nested || strlen(flow) <= FLOW_MAX || level == DEPTH_MAX) {
        tree_line(d, mark, level, key, flow);
        return;
    }
    tree_line(d, mark, level, key, "");
    for (CR_EACH(m, node)) {
        tree_value(d, mark, level + 1,
                   m->key ? m->key : cr_strf(d->arena, "%d", i), m);
        i++;
    }
}

static void tree_differ(struct diff *d, const struct cr_node *a,
                        const struct cr_node *b)
{
    int last = d->n - 1;

    for (; d->shown < last; d->shown++)
        tree_line(d, ' ', d->shown, d->key[d->shown], "");
    if (a)
        tree_value(d, '-', last, d->key[last], a);
    if (b)
        tree_value(d, '+', last, d->key[last], b);
}

/* ---- The subcommand */

/* The results of a run. */
static struct cr_node *diff_results(struct cr_arena *arena,
                                    const struct cr_run *run)
{
    static const char *const keys[] = { "status", "epochs", "steps",
                                        "eval",   "best",   "seconds" };
    struct cr_node *map = CR_NEW(arena, struct cr_node), **last = &map->child;

    map->kind = CR_NODE_MAP;
    for (size_t i = 0; i < CR_LEN(keys); i++) {
        const struct cr_node *m = cr_node_get(run->record, keys[i]);

        if (!m)
            continue;
        *last = CR_NEW(arena, struct cr_node);
        **last = *m;
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    return map;
}

static void diff_tree(struct diff *d, const struct cr_run *a,
                      const struct cr_run *b)
{
    d->differ = tree_differ;
    d->out.arena = d->arena;
    cr_buf_f(&d->out, "%s--- %s%s\n", d->color ? "\033[31m" : "",
             cr_escape(d->arena, a->path), d->color ? "\033[0m" : "");
    cr_buf_f(&d->out, "%s+++ %s%s\n", d->color ? "\033[32m" : "",
             cr_escape(d->arena, b->path), d->color ? "\033[0m" : "");
}

static void diff_run(struct cr_runs_job *job)
{
    struct cr_table table = { .arena = job->arena, .align = "lll" };
    struct diff d = { .arena = job->arena,
                      .differ = diff_row,
                      .table = &table,
                      .color = job->cli->color_out };
    struct cr_run *a = cr_runs_operand(job, 1), *b = cr_runs_operand(job, 2);
    bool rows = job->cli->json || job->o->tsv;

    if (!a || !b)
        return;
    if (!rows)
        diff_tree(&d, a, b);
    cr_table_add(&table, "");
    cr_table_add(&table, a->path);
    cr_table_add(&table, b->path);
    diff_maps(&d, cr_run_config(&job->found, a), cr_run_config(&job->found, b));
    if (rows)
        diff_maps(&d, diff_results(job->arena, a), diff_results(job->arena, b));
    else
        diff_below(&d, "result", diff_results(job->arena, a),
                   diff_results(job->arena, b));
    if (job->cli->json)
        diff_json(&table);
    else if (rows)
        cr_table_print(&table, stdout, true);
    else
        cr_terminal_text(cr_buf_text(&d.out));
}

const struct cr_runs_sub cr_runs_sub_diff = {
    .name = "diff",
    .min = 2,
    .max = 2,
    .run = diff_run,
};
