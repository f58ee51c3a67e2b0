#include "rundir/run_groups.h"

#include <math.h>
#include <string.h>

#include "rundir/curves.h"

#define KEYS_MAX 64
#define METRICS_MAX 256

struct groups {
    struct cr_runs *runs;
    int n_keys, n_metrics, n;
    const char *key[KEYS_MAX], *metric[METRICS_MAX];
    const struct cr_run_group *group;
};

struct moments {
    int n;
    double mean, std; /* std: NAN of fewer than two */
};

static bool groups_read(struct groups *g, struct cr_runs *runs,
                        const char *columns)
{
    char *text = cr_strdup(runs->arena, columns), *save = NULL;

    g->runs = runs;
    for (char *p = strtok_r(text, ",", &save); p && g->n_keys < KEYS_MAX;
         p = strtok_r(NULL, ",", &save)) {
        const char *key = cr_run_trim(p);
        int k = 0;

        while (k < g->n_keys && strcmp(g->key[k], key) != 0)
            k++;
        if (k == g->n_keys)
            g->key[g->n_keys++] = key;
    }
    for (int k = 0; k < g->n_keys; k++)
        if (!cr_runs_has(runs, "--group-by", g->key[k]))
            return false;
    for (int i = 0; i < runs->n; i++)
        for (CR_EACH(m, runs->run[i].eval)) {
            int k = 0;

            if (m->kind != CR_NODE_INT && m->kind != CR_NODE_REAL)
                continue;
            while (k < g->n_metrics && strcmp(g->metric[k], m->key) != 0)
                k++;
            if (k == g->n_metrics && k < METRICS_MAX)
                g->metric[g->n_metrics++] = m->key;
        }
    g->group = cr_runs_group_by(runs, g->key, g->n_keys, &g->n);
    return g->group != NULL;
}

static struct moments groups_moments(const struct groups *g,
                                     const struct cr_run_group *group,
                                     const char *metric)
{
    struct moments m = { .std = NAN };
    double squares = 0;

    for (int i = 0; i < group->n; i++) {
        double x = cr_json_real(g->runs->run[group->run[i]].eval, metric, NAN);
        double off = x - m.mean;

        if (isnan(x))
            continue;
        m.mean += off / ++m.n; /* Welford 1962 */
        squares += off * (x - m.mean);
    }
    if (m.n > 1)
        m.std = sqrt(squares / (m.n - 1));
    if (m.n == 0)
        m.mean = NAN;
    return m;
}

static const char *groups_real(struct cr_arena *arena, double value)
{
    return isnan(value) ? "" : cr_real_text(arena, value);
}

bool cr_run_groups_table(struct cr_runs *runs, const char *columns, bool exact,
                         struct cr_table *to)
{
    struct groups g = { 0 };
    char *align;

    if (!groups_read(&g, runs, columns))
        return false;
    align = CR_NEWS(runs->arena, char, g.n_keys + 2 + 2 * g.n_metrics);
    memset(align, 'R', (size_t)(g.n_keys + 1 + (exact + 1) * g.n_metrics));
    memset(align, 'L', (size_t)g.n_keys);
    align[g.n_keys] = 'r';
    to->align = align;
    for (int k = 0; k < g.n_keys; k++)
        cr_table_add(to, g.key[k]);
    cr_table_add(to, "n");
    for (int k = 0; k < g.n_metrics; k++) {
        cr_table_f(to, exact ? "eval.%s.mean" : "eval.%s", g.metric[k]);
        if (exact)
            cr_table_f(to, "eval.%s.std", g.metric[k]);
    }
    for (int i = 0; i < g.n; i++) {
        struct cr_run *first = &runs->run[g.group[i].run[0]];

        for (int k = 0; k < g.n_keys; k++)
            cr_table_add(to, cr_run_is_path(g.key[k])
                                 ? first->path
                                 : cr_run_text(runs->arena,
                                               cr_run_value(runs, first,
                                                            g.key[k])));
        cr_table_f(to, "%d", g.group[i].n);
        for (int k = 0; k < g.n_metrics; k++) {
            struct moments m = groups_moments(&g, &g.group[i], g.metric[k]);

            if (exact) {
                cr_table_add(to, groups_real(runs->arena, m.mean));
                cr_table_add(to, groups_real(runs->arena, m.std));
            } else if (m.n > 1) {
                cr_table_f(to, "%.4f ± %.4f", m.mean, m.std);
            } else if (m.n == 1) {
                cr_table_f(to, "%.4f", m.mean);
            } else {
                cr_table_add(to, "-");
            }
        }
    }
    return true;
}

bool cr_run_groups_json(struct cr_runs *runs, const char *columns,
                        struct cr_buf *to)
{
    struct groups g = { 0 };

    if (!groups_read(&g, runs, columns))
        return false;
    cr_buf_char(to, '[');
    for (int i = 0; i < g.n; i++) {
        struct cr_run *first = &runs->run[g.group[i].run[0]];

        cr_buf_str(to, i > 0 ? ", {" : "{");
        for (int k = 0; k < g.n_keys; k++) {
            cr_buf_json(to, g.key[k]);
            cr_buf_str(to, ": ");
            if (cr_run_is_path(g.key[k]))
                cr_buf_json(to, first->path);
            else
                cr_buf_str(to, cr_node_json(runs->arena,
                                            cr_run_value(runs, first,
                                                         g.key[k])));
            cr_buf_str(to, ", ");
        }
        cr_buf_f(to, "\"n\": %d", g.group[i].n);
        for (int k = 0; k < g.n_metrics; k++) {
            struct moments m = groups_moments(&g, &g.group[i], g.metric[k]);

            cr_buf_str(to, ", ");
            cr_buf_json(to, cr_strf(runs->arena, "eval.%s", g.metric[k]));
            cr_buf_str(to, ": {\"mean\": ");
            cr_buf_real(to, m.mean);
            cr_buf_str(to, ", \"std\": ");
            cr_buf_real(to, m.std);
            cr_buf_f(to, ", \"n\": %d}", m.n);
        }
        cr_buf_char(to, '}');
    }
    cr_buf_char(to, ']');
    return true;
}
