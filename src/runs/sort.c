/* The order of runs by a column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runs/runs.h"
#include "score/metric.h"

bool cr_runs_is_number(const struct cr_node *node)
{
    return node && (node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL);
}

/* Whether larger values of the metric are better; *known: whether the name is
 * a metric. */
static bool sort_maximize(const char *name, bool *known)
{
    bool maximize;

    name = cr_run_bare(name);
    if (cr_starts(name, "best."))
        name += 5;
    *known = cr_metric_named(name, &maximize);
    return *known && maximize;
}

bool cr_runs_is_metric(const char *name)
{
    bool known;

    sort_maximize(name, &known);
    return known;
}

bool cr_runs_larger(const struct cr_runs_job *job, const char *name)
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
    return sort_maximize(name, &known);
}

/* A run and the value it is sorted by. */
struct sort_key {
    struct cr_run run;
    const struct cr_node *value;
    bool down;
};

/* Numbers, then text, then no value. */
static int sort_rank(const struct cr_node *value)
{
    if (cr_runs_is_number(value))
        return isnan(value->real) ? 2 : 0;
    return value && value->kind != CR_NODE_NULL && value->text ? 1 : 2;
}

static int sort_compare(const struct sort_key *x, const struct sort_key *y)
{
    const struct cr_node *a = x->value, *b = y->value;
    int rank = sort_rank(a), order = 0;

    if (rank != sort_rank(b))
        return rank - sort_rank(b); /* in both directions */
    if (rank == 0)
        order = (a->real > b->real) - (a->real < b->real);
    else if (rank == 1)
        order = strcmp(a->text, b->text);
    return x->down ? -order : order;
}

static int sort_by_key(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    int order = sort_compare(x, y);

    return order ? order : cr_runs_oldest(&x->run, &y->run);
}

void cr_runs_sort(struct cr_runs_job *job)
{
    const char *name = job->o->sort;
    struct cr_runs *runs = &job->found;
    struct sort_key *key;
    bool down, flip;

    if (!name || runs->n == 0)
        return;
    flip = name[0] == '-';
    name += flip;
    down = cr_runs_larger(job, name) != flip;
    key = CR_NEWS(job->arena, struct sort_key, runs->n);
    for (int i = 0; i < runs->n; i++) {
        key[i].value = cr_run_value(runs, &runs->run[i], name);
        key[i].run = runs->run[i];
        key[i].down = down;
    }
    qsort(key, (size_t)runs->n, sizeof *key, sort_by_key);
    for (int i = 0; i < runs->n; i++)
        runs->run[i] = key[i].run;
}
