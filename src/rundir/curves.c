#include "rundir/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_map.h"
#include "rundir/run_column.h"

struct cr_curve cr_curve_of(const struct cr_series *s,
                            const struct cr_series_column *column)
{
    return (struct cr_curve){ .split = s->name,
                              .name = column->name,
                              .runs = 1,
                              .n = s->n,
                              .step = s->step,
                              .epoch = s->epoch,
                              .time = s->time,
                              .value = column->value };
}

const double *cr_curve_smooth(struct cr_arena *arena, const double *y,
                              int64_t n, double weight)
{
    double *to = CR_NEWS(arena, double, n + 1), mean = 0, power = 1;

    for (int64_t i = 0; i < n; i++) {
        to[i] = y[i];
        if (!isfinite(y[i]))
            continue;
        mean = weight * mean + (1 - weight) * y[i];
        power *= weight;
        to[i] = mean / (1 - power);
    }
    return to;
}

/* ---- Means */

static int curve_by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The different finite steps of all curves, in order. */
static double *mean_steps(struct cr_arena *arena, const struct cr_curve *curve,
                          int n, int64_t *n_steps)
{
    int64_t total = 0, k = 0;
    double *step;

    for (int i = 0; i < n; i++)
        total += curve[i].n;
    step = CR_NEWS(arena, double, total + 1);
    for (int i = 0; i < n; i++)
        for (int64_t j = 0; j < curve[i].n; j++)
            if (isfinite(curve[i].step[j]))
                step[k++] = curve[i].step[j];
    qsort(step, (size_t)k, sizeof *step, curve_by_number);
    *n_steps = 0;
    for (int64_t j = 0; j < k; j++)
        if (j == 0 || step[j] != step[j - 1])
            step[(*n_steps)++] = step[j];
    return step;
}

/* Sets the value, epoch, time and deviation at a step. at[i]: the first record
 * of curve i that is not before it. */
static void mean_at(const struct cr_curve *curve, int n, double step,
                    const int64_t *at, double to[4])
{
    double sum[3] = { 0 }, square = 0;
    int k = 0;

    for (int i = 0; i < n; i++) {
        const struct cr_curve *c = &curve[i];
        int64_t j = at[i];

        if (j >= c->n || c->step[j] != step || !isfinite(c->value[j]))
            continue;
        sum[0] += c->value[j];
        sum[1] += c->epoch[j];
        sum[2] += c->time[j];
        k++;
    }
    for (int i = 0; i < 3; i++)
        to[i] = k > 0 ? sum[i] / k : (double)NAN;
    for (int i = 0; i < n; i++) {
        const struct cr_curve *c = &curve[i];
        int64_t j = at[i];

        if (j < c->n && c->step[j] == step && isfinite(c->value[j]))
            square += (c->value[j] - to[0]) * (c->value[j] - to[0]);
    }
    to[3] = k > 1 ? sqrt(square / (k - 1)) : (double)NAN;
}

struct cr_curve cr_curve_mean(struct cr_arena *arena,
                              const struct cr_curve *curve, int n)
{
    struct cr_curve mean = curve[0];
    double *step = mean_steps(arena, curve, n, &mean.n);
    double *value = CR_NEWS(arena, double, mean.n + 1);
    double *epoch = CR_NEWS(arena, double, mean.n + 1);
    double *time = CR_NEWS(arena, double, mean.n + 1);
    double *deviation = CR_NEWS(arena, double, mean.n + 1);
    int64_t *at = CR_NEWS(arena, int64_t, n);

    for (int64_t k = 0; k < mean.n; k++) {
        double to[4];

        for (int i = 0; i < n; i++)
            while (at[i] < curve[i].n && !(curve[i].step[at[i]] >= step[k]))
                at[i]++;
        mean_at(curve, n, step[k], at, to);
        value[k] = to[0];
        epoch[k] = to[1];
        time[k] = to[2];
        deviation[k] = to[3];
    }
    mean.runs = n;
    mean.step = step;
    mean.epoch = epoch;
    mean.time = time;
    mean.value = value;
    mean.deviation = deviation;
    return mean;
}

/* ---- Groups */

static const char *group_text(struct cr_runs *runs, struct cr_run *run,
                              const char *key)
{
    const struct cr_node *node = cr_run_value(runs, run, key);

    return cr_run_is_path(key)         ? run->path
           : !node                     ? "-"
           : node->kind == CR_NODE_STR ? node->text
                                       : cr_node_flow(runs->arena, node);
}

/* "learning_rate" of "optimizer.learning_rate". */
static const char *group_key(const char *key)
{
    const char *dot = strrchr(key, '.');

    return dot ? dot + 1 : key;
}

static bool group_keys_known(struct cr_runs *runs, const char *const *keys,
                             int n_keys)
{
    for (int k = 0; k < n_keys && runs->n > 0; k++) {
        bool known = false;

        for (int i = 0; i < runs->n && !known; i++)
            known = cr_run_is_path(keys[k]) ||
                    cr_run_value(runs, &runs->run[i], keys[k]) != NULL;
        if (!known)
            return cr_error(runs->diag, CR_NOWHERE, CR_E_UNKNOWN_KEY,
                            "no run has a '%s' to be grouped by",
                            cr_quote(runs->arena, keys[k], strlen(keys[k])));
    }
    return true;
}

const struct cr_run_group *cr_runs_group_by(struct cr_runs *runs,
                                            const char *const *keys,
                                            int n_keys, int *n_groups)
{
    struct cr_run_group *group = CR_NEWS(runs->arena, struct cr_run_group,
                                         runs->n + 1);
    int *all = CR_NEWS(runs->arena, int, runs->n + 1), *run = all;
    int *member = CR_NEWS(runs->arena, int, runs->n + 1), n = 0;
    struct cr_name_map number = { 0 };

    if (!group_keys_known(runs, keys, n_keys))
        return NULL;
    for (int i = 0; i < runs->n; i++) {
        struct cr_buf label = { .arena = runs->arena };
        int g;

        for (int k = 0; k < n_keys; k++)
            cr_buf_f(&label, "%s%s=%s", k > 0 ? ", " : "", group_key(keys[k]),
                     group_text(runs, &runs->run[i], keys[k]));
        g = cr_name_map_get(&number, cr_buf_text(&label));
        if (g < 0) {
            g = n++;
            group[g].label = cr_buf_text(&label);
            cr_name_map_add(runs->arena, &number, group[g].label, g);
        }
        member[i] = g;
        group[g].n++;
    }
    for (int g = 0; g < n; g++) {
        group[g].run = run;
        run += group[g].n;
        group[g].n = 0;
    }
    for (int i = 0; i < runs->n; i++) {
        struct cr_run_group *g = &group[member[i]];

        all[g->run - all + g->n++] = i;
    }
    *n_groups = n;
    return group;
}

struct paths {
    struct cr_arena *arena;
    int n, cap;
    const char **path;
};

/* Adds the paths of the leaves of a config, without types, as a command line
 * writes them. */
static void paths_add(struct paths *to, const char *path,
                      const struct cr_node *node)
{
    if (node->kind == CR_NODE_MAP) {
        for (CR_EACH(m, node))
            paths_add(to,
                      !*path                              ? m->key
                      : m->key[0] >= 'A' && m->key[0] <= 'Z'
                          ? path
                          : cr_strf(to->arena, "%s.%s", path, m->key),
                      m);
        return;
    }
    /* a list of cells or ops: member by member, by position */
    if (node->kind == CR_NODE_LIST && node->child &&
        node->child->kind == CR_NODE_MAP) {
        int k = 0;

        for (CR_EACH(m, node))
            paths_add(to, cr_strf(to->arena, "%s.%d", path, k++), m);
        return;
    }
    for (int i = 0; i < to->n; i++)
        if (strcmp(to->path[i], path) == 0)
            return;
    if (to->n == to->cap) {
        to->cap = 2 * to->cap + 64;
        to->path = cr_grow(to->arena, to->path, (size_t)to->n,
                           (size_t)to->cap, sizeof *to->path);
    }
    to->path[to->n++] = path;
}

static bool paths_differ(struct cr_runs *runs, const char *path)
{
    const char *first = NULL;

    for (int i = 0; i < runs->n; i++) {
        const struct cr_node *config = cr_run_config(runs, &runs->run[i]);
        const struct cr_node *node = cr_node_find(config, path);
        const char *text = node ? cr_node_flow(runs->arena, node) : "";

        if (first && strcmp(text, first) != 0)
            return true;
        first = text;
    }
    return false;
}

const char *const *cr_runs_varied(struct cr_runs *runs, const char *except,
                                  int *n)
{
    struct paths all = { .arena = runs->arena };

    for (int i = 0; i < runs->n; i++) {
        const struct cr_node *config = cr_run_config(runs, &runs->run[i]);

        if (config)
            paths_add(&all, "", config);
    }
    *n = 0;
    for (int i = 0; i < all.n; i++)
        if (!cr_starts(all.path[i], "run.") &&
            strcmp(all.path[i], except) != 0 &&
            paths_differ(runs, all.path[i]))
            all.path[(*n)++] = all.path[i];
    return all.path;
}
