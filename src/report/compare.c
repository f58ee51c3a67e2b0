/*
 * The basis on which runs are compared: the metric that selects the best
 * checkpoint of most of them, and the settings in which they differ.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"
#include "rundir/curves.h"

#define SETTINGS 40
#define LEVELS 8 /* values of a setting that become ticks of its axis */

static const char *compare_metric(const struct cr_report *r)
{
    const char *found = NULL;
    int most = 0;

    for (int i = 0; i < r->n; i++) {
        int n = 0;

        for (int k = 0; r->run[i].best && k < r->n; k++)
            n += r->run[k].best && strcmp(r->run[i].best, r->run[k].best) == 0;
        if (n > most) {
            most = n;
            found = r->run[i].best;
        }
    }
    return found;
}

/* The best value, as checkpoints are chosen by, else the last one. */
static double compare_value(const struct cr_report *r,
                            const struct cr_report_run *run)
{
    const struct cr_node *best = cr_node_get(run->record, "best");

    if (!r->metric)
        return cr_json_real(run->record, "loss", NAN);
    if (strcmp(cr_json_str(best, "metric", ""), r->metric) == 0)
        return cr_json_real(best, "value", NAN);
    return cr_json_real(cr_node_get(run->record, "eval"), r->metric, NAN);
}

static int compare_order(const void *a, const void *b, void *ctx)
{
    const struct cr_report *r = ctx;
    int i = *(const int *)a, k = *(const int *)b;
    double x = r->value[i], y = r->value[k];

    if (isnan(x) || isnan(y) || x == y)
        return isnan(x) != isnan(y) ? (isnan(x) ? 1 : -1) : (i > k) - (i < k);
    return (x > y) == r->maximize ? -1 : 1;
}

void cr_report_compare(struct cr_report *r)
{
    double *value = CR_NEWS(r->arena, double, r->n);
    int *order = CR_NEWS(r->arena, int, r->n);

    r->metric = compare_metric(r);
    for (int i = 0; i < r->n; i++) {
        value[i] = compare_value(r, &r->run[i]);
        order[i] = i;
        if (r->metric && r->run[i].best &&
            strcmp(r->run[i].best, r->metric) == 0)
            r->maximize = cr_report_maximize(&r->run[i], r->metric);
    }
    r->value = value;
    qsort_r(order, (size_t)r->n, sizeof *order, compare_order, r);
    r->order = order;
    r->setting = cr_runs_varied(r->runs, "", &r->n_settings);
    if (r->n_settings > SETTINGS)
        r->n_settings = SETTINGS;
    if (!r->metric)
        r->metric = "loss";
}

const char *cr_report_setting_text(struct cr_report *r,
                                   const struct cr_report_run *run,
                                   const char *key)
{
    const struct cr_node *node =
        run->config ? cr_node_find(run->config, key) : NULL;

    if (!node)
        return "";
    return node->kind == CR_NODE_STR ? node->text
                                     : cr_node_flow(r->arena, node);
}

double cr_report_setting(struct cr_report *r, const struct cr_report_run *run,
                         const char *key)
{
    const struct cr_node *node =
        run->config ? cr_node_find(run->config, key) : NULL;

    (void)r;
    return node && (node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL)
               ? node->real
               : (double)NAN;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

const double *cr_report_levels(struct cr_report *r, const char *key, int *n)
{
    double *level = CR_NEWS(r->arena, double, r->n);

    *n = 0;
    for (int i = 0; i < r->n; i++) {
        level[i] = cr_report_setting(r, &r->run[i], key);
        if (!isfinite(level[i]))
            return level;
    }
    qsort(level, (size_t)r->n, sizeof *level, compare_numbers);
    for (int i = 0; i < r->n; i++)
        if (i == 0 || level[i] != level[i - 1])
            level[(*n)++] = level[i];
    return level;
}

struct cr_chart_axis cr_report_axis(struct cr_report *r, const char *key)
{
    struct cr_chart_axis axis = { .label = cr_report_short(r, key) };
    int n;
    const double *level = cr_report_levels(r, key, &n);

    if (n > 1 && level[0] > 0 && level[n - 1] / level[0] >= 8)
        axis.scale = CR_SCALE_LOG;
    if (n > 0 && n <= LEVELS) {
        axis.tick = level;
        axis.n_ticks = n;
    }
    return axis;
}

const char *cr_report_short(const struct cr_report *r, const char *key)
{
    const char *at = key + strlen(key);

    while (at > key) {
        size_t len;
        int same = 0;

        while (at > key && *--at != '.')
            continue;
        at += *at == '.';
        len = strlen(at);
        for (int k = 0; k < r->n_settings; k++) {
            size_t other = strlen(r->setting[k]);

            same += other >= len &&
                    strcmp(r->setting[k] + other - len, at) == 0 &&
                    (other == len || r->setting[k][other - len - 1] == '.');
        }
        if (same <= 1)
            return at;
        at -= at > key;
    }
    return key;
}

bool cr_report_is_number(struct cr_report *r, const char *key)
{
    bool some = false;

    for (int i = 0; i < r->n; i++) {
        if (!*cr_report_setting_text(r, &r->run[i], key))
            continue;
        if (isnan(cr_report_setting(r, &r->run[i], key)))
            return false;
        some = true;
    }
    return some;
}
