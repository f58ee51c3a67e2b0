/*
 * Rungs: lengths at which points are compared before they are complete
 * (Jamieson and Talwalkar, "Non-stochastic best arm identification and
 * hyperparameter optimization", AISTATS 2016). Rung r is at min eta^r, the last
 * one at max, the length of the run. A point is trained to the rung of its
 * target, stops there with a checkpoint and, when it is promoted, continues as
 * if it had not stopped: schedules refer to max.
 *
 * Targets follow from the run directories alone, so all processes of a sweep
 * compute the same ones, and a killed sweep can be continued.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ckpt/run_index.h"
#include "rundir/series.h"
#include "score/metric.h"
#include "sweep/sweep.h"

/* ---- Settings */

const char *cr_sweep_rungs_unit(const struct cr_sweep *sweep)
{
    return sweep->opts.halving.unit == CR_RUNG_STEPS ? "steps" : "epochs";
}

/* The length of the whole run; CR_INT_NONE after reporting that there is
 * none. */
static int64_t rungs_max(struct cr_sweep *sweep)
{
    bool steps = sweep->opts.halving.unit == CR_RUNG_STEPS;
    int64_t max = sweep->opts.halving.max;

    if (max == CR_INT_NONE)
        max = steps ? sweep->steps : sweep->epochs;
    if (max == CR_INT_NONE)
        cr_error(sweep->diag, CR_NOWHERE, CR_E_MISSING_KEY,
                 "the method %s needs 'sweep.halving.max' or 'train.%s'",
                 sweep->method->name, cr_sweep_rungs_unit(sweep));
    return max;
}

bool cr_sweep_rungs_check_length(struct cr_sweep *sweep, int64_t epochs,
                                 int64_t steps)
{
    bool by_steps = sweep->opts.halving.unit == CR_RUNG_STEPS;
    int64_t length = by_steps ? steps : epochs;
    int64_t max = sweep->rung[sweep->n_rungs - 1];

    if (length == max)
        return true;
    return cr_error(sweep->diag, CR_NOWHERE, CR_E_CONFLICT,
                    "train.%s of a point is %s, expected %" PRId64
                    ": the method %s compares points of one length",
                    cr_sweep_rungs_unit(sweep),
                    length == CR_INT_NONE
                        ? "not set"
                        : cr_strf(sweep->arena, "%" PRId64, length),
                    max, sweep->method->name);
}

/* Appends train.epochs=MAX, or steps, to the assignments of all points. */
static void rungs_fix_length(struct cr_sweep *sweep)
{
    int n = 0;
    const char **fixed;
    int *args;

    while (sweep->fixed[n])
        n++;
    fixed = CR_NEWS(sweep->arena, const char *, n + 2);
    args = CR_NEWS(sweep->arena, int, n + 2);
    memcpy(fixed, sweep->fixed, (size_t)n * sizeof *fixed);
    memcpy(args, sweep->fixed_args, (size_t)n * sizeof *args);
    fixed[n] = cr_strf(sweep->arena, "train.%s=%" PRId64,
                       cr_sweep_rungs_unit(sweep), sweep->opts.halving.max);
    sweep->fixed = fixed;
    sweep->fixed_args = args;
}

bool cr_sweep_check_goal(struct cr_sweep *sweep)
{
    bool maximize;

    return sweep->opts.metric.goal != CR_GOAL_AUTO ||
           !sweep->opts.metric.name ||
           cr_metric_named(cr_run_bare(sweep->opts.metric.name), &maximize) ||
           cr_error(sweep->diag, CR_NOWHERE, CR_E_MISSING_KEY,
                    "'sweep.metric': the metric '%s' has no direction; set "
                    "goal: maximize or minimize",
                    sweep->opts.metric.name);
}

bool cr_sweep_rungs_check(struct cr_sweep *sweep)
{
    int64_t at = sweep->opts.halving.min, max = rungs_max(sweep);

    for (int a = 0; a < sweep->n_axes; a++)
        sweep->counted |= sweep->axis[a].distribution != CR_DIST_NONE;
    if (max == CR_INT_NONE || !cr_sweep_check_goal(sweep) ||
        (!sweep->counted && !cr_sweep_grid_check(sweep)))
        return false;
    if (at > max)
        return cr_error(sweep->diag, CR_NOWHERE, CR_E_OUT_OF_RANGE,
                        "'sweep.halving': min is %" PRId64
                        ", expected at most max, %" PRId64,
                        at, max);
    for (int c = 0; c < sweep->n_columns; c++)
        if (strcmp(sweep->column[c], "train.epochs") == 0 ||
            strcmp(sweep->column[c], "train.steps") == 0)
            return cr_error(sweep->diag, CR_NOWHERE, CR_E_CONFLICT,
                            "'%s' cannot be a parameter of the method %s, "
                            "which compares points of one length",
                            sweep->column[c], sweep->method->name);
    sweep->rung = CR_NEWS(sweep->arena, int64_t, 64);
    for (; at < max; at = at > max / sweep->opts.halving.eta
                              ? max
                              : at * sweep->opts.halving.eta)
        sweep->rung[sweep->n_rungs++] = at;
    sweep->rung[sweep->n_rungs++] = max;
    if (sweep->opts.halving.max != CR_INT_NONE)
        rungs_fix_length(sweep);
    return true;
}

bool cr_sweep_rungs_candidate(struct cr_sweep *sweep, int64_t k,
                              const char **value)
{
    return (sweep->counted ? cr_sweep_random : cr_sweep_grid)
        .candidate(sweep, k, value);
}

const char *cr_sweep_rungs_stop(struct cr_sweep *sweep,
                                const struct cr_sweep_point *point)
{
    if (point->target + 1 >= sweep->n_rungs)
        return NULL;
    return cr_strf(sweep->arena, "train.stop_after=%" PRId64 " %s",
                   sweep->rung[point->target], cr_sweep_rungs_unit(sweep));
}

/* ---- Results */

/* What the metric is of: the name of a series. */
static const char *rungs_split(const struct cr_sweep *sweep,
                               const struct cr_run_series *run)
{
    const char *metric = sweep->metric ? sweep->metric : "";
    const char *bare = cr_run_bare(metric);

    return bare == metric ? "eval"
                          : cr_strndup(run->arena, metric,
                                       (size_t)(bare - metric) - 1);
}

/* The series that has the metric, and its column; NULL after reporting that
 * the run has no such metric. */
static const struct cr_series *
rungs_series(struct cr_sweep *sweep, const struct cr_run_series *run,
             const struct cr_series_column **column)
{
    const char *metric = sweep->metric ? sweep->metric : "";
    const char *bare = cr_run_bare(metric);
    const struct cr_series *s = cr_series_find(run, rungs_split(sweep, run));

    *column = cr_series_column(s, bare);
    if (*column)
        return s;
    if (sweep->diag->errors == 0) {
        cr_error(sweep->diag, CR_NOWHERE, CR_E_NO_MATCH,
                 "the method %s compares points by %s%s%s, which the runs do "
                 "not have",
                 sweep->method->name, *metric ? "'" : "",
                 *metric ? metric : "a metric of their evaluation",
                 *metric ? "'" : "");
        cr_hint(sweep->diag, "add dataset.eval or dataset.split, and the "
                             "metric to the section metrics");
    }
    return NULL;
}

/* The metric of the last evaluation up to that length; NAN: there is none. */
static double rungs_value(struct cr_sweep *sweep,
                          const struct cr_run_series *run, int64_t length)
{
    const struct cr_series_column *column;
    const struct cr_series *s = rungs_series(sweep, run, &column);
    bool steps = sweep->opts.halving.unit == CR_RUNG_STEPS;
    const double *at = !s ? NULL : steps ? s->step : s->epoch;
    double value = NAN;

    for (int64_t i = 0; s && i < s->n; i++)
        if (at[i] <= (double)length * (1 + 1e-9))
            value = column->value[i];
    return value;
}

/* Whether the run was evaluated at its present length. */
static bool rungs_evaluated(struct cr_sweep *sweep,
                            const struct cr_run_series *run,
                            const struct cr_sweep_point *point)
{
    const struct cr_series *s = cr_series_find(run, rungs_split(sweep, run));
    bool steps = sweep->opts.halving.unit == CR_RUNG_STEPS;

    return s && s->n > 0 && (steps ? s->step : s->epoch)[s->n - 1] >=
                                (double)point->length * (1 - 1e-9);
}

/* Sets the metric at each rung that the point has passed; returns their
 * number. A run that ended early has passed all. One that was killed between
 * the last step before a rung and the evaluation is evaluated when it is
 * resumed. */
static int rungs_passed(struct cr_sweep *sweep, const struct cr_run_series *run,
                        struct cr_sweep_point *point)
{
    int r;

    for (r = 0; r < sweep->n_rungs; r++) {
        if (point->length < sweep->rung[r] && point->state != CR_POINT_DONE)
            break;
        if (point->length == sweep->rung[r] && !point->evaluated &&
            !rungs_evaluated(sweep, run, point))
            break;
        point->at_rung[r] = rungs_value(sweep, run, sweep->rung[r]);
    }
    return r;
}

void cr_sweep_rungs_read(struct cr_sweep *sweep, struct cr_sweep_point *point)
{
    struct cr_arena arena = { 0 };
    struct cr_diag quiet = { .arena = &arena };
    struct cr_run_series run = { .arena = &arena };

    if (!point->at_rung)
        point->at_rung = CR_NEWS(sweep->arena, double, sweep->n_rungs);
    if (cr_run_series_read(&run, &quiet, point->dir))
        point->passed = rungs_passed(sweep, &run, point);
    cr_arena_free(&arena);
}

/* ---- Ranking */

bool cr_sweep_maximize(const struct cr_sweep *sweep)
{
    bool maximize = sweep->best_maximize;

    if (sweep->opts.metric.goal != CR_GOAL_AUTO)
        return sweep->opts.metric.goal == CR_GOAL_MAXIMIZE;
    if (sweep->metric)
        cr_metric_named(cr_run_bare(sweep->metric), &maximize);
    return maximize;
}

/* What the ranking compares: larger is better. */
static double rungs_merit(const struct cr_sweep *sweep,
                          const struct cr_sweep_point *point, int rung)
{
    double value = rung < point->passed ? point->at_rung[rung] : NAN;

    if (isnan(value))
        return -INFINITY;
    return cr_sweep_maximize(sweep) ? value : -value;
}

struct rungs_order {
    const struct cr_sweep *sweep;
    int rung;
};

static int rungs_compare(const void *a, const void *b, void *ctx)
{
    const struct rungs_order *o = ctx;
    int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    double x = rungs_merit(o->sweep, &o->sweep->point[i], o->rung);
    double y = rungs_merit(o->sweep, &o->sweep->point[k], o->rung);

    if (x != y)
        return x > y ? -1 : 1;
    return i < k ? -1 : i > k;
}

void cr_sweep_rungs_rank(struct cr_sweep *sweep, int rung, int64_t *list,
                         int64_t n)
{
    struct rungs_order order = { sweep, rung };

    qsort_r(list, (size_t)n, sizeof *list, rungs_compare, &order);
}

bool cr_sweep_rungs_has_result(const struct cr_sweep_point *point, int rung)
{
    return point->passed > rung ||
           (point->state == CR_POINT_FAILED && point->passed == rung);
}

/* ---- Promotion */

/* The target of a point that is not promoted: the last rung that it has passed,
 * or the next one if it has begun to train for it. */
static int rungs_target(const struct cr_sweep *sweep,
                        const struct cr_sweep_point *point)
{
    int passed = point->passed;

    if (passed == 0 || passed == sweep->n_rungs)
        return passed == 0 ? 0 : passed - 1;
    return point->length > sweep->rung[passed - 1] ? passed : passed - 1;
}

void cr_sweep_rungs_settle(const struct cr_sweep *sweep,
                           struct cr_sweep_point *p)
{
    if (sweep->n_rungs > 0 && (p->state == CR_POINT_INTERRUPTED ||
                               p->state == CR_POINT_STOPPED))
        p->state = p->passed > p->target ? CR_POINT_STOPPED
                                         : CR_POINT_INTERRUPTED;
}

void cr_sweep_rungs_promote(struct cr_sweep *sweep)
{
    if (sweep->n_rungs == 0)
        return;
    for (int64_t i = 0; i < sweep->n; i++)
        sweep->point[i].target = rungs_target(sweep, &sweep->point[i]);
    sweep->method->promote(sweep);
    for (int64_t i = 0; i < sweep->n; i++)
        cr_sweep_rungs_settle(sweep, &sweep->point[i]);
}
