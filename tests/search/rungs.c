/*
 * Successive halving on recorded learning curves, by one worker:
 *
 *   rungs METHOD GOAL ETA MIN MAX < CURVES
 *
 * A line of CURVES has the metric of a point after 1, 2 ... MAX epochs. METHOD
 * is halving or asha, GOAL maximize or minimize. Prints, for each point that is
 * trained to its end, in order: the epochs spent on all points so far, and the
 * number of the point. tests/search/compare_pruner.py runs it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep.h"

static bool read_curves(struct cr_sweep *sweep, double **curve)
{
    int64_t max = sweep->opts.halving.max, cap = 0;
    double value;

    for (int64_t n = 0; scanf("%lf", &value) == 1; n++) {
        if (n == cap) {
            int64_t more = cap ? 2 * cap : 1024;

            *curve = cr_grow(sweep->arena, *curve, (size_t)cap, (size_t)more,
                             sizeof **curve);
            cap = more;
        }
        (*curve)[n] = value;
        sweep->n = (n + 1) / max;
    }
    sweep->point =
        CR_NEWS(sweep->arena, struct cr_sweep_point, sweep->n + 1);
    return feof(stdin) && sweep->n > 0;
}

/* The point that a process with one job starts next: of the highest rung, then
 * the first one. NULL: all are done or stopped. */
static struct cr_sweep_point *next_point(struct cr_sweep *sweep)
{
    cr_sweep_rungs_promote(sweep);
    for (int rung = sweep->n_rungs - 1; rung >= 0; rung--)
        for (int64_t i = 0; i < sweep->n; i++) {
            struct cr_sweep_point *p = &sweep->point[i];

            if (p->target == rung && (p->state == CR_POINT_WAITING ||
                                      p->state == CR_POINT_INTERRUPTED))
                return p;
        }
    return NULL;
}

/* Trains a point to the rung of its target. */
static void train(struct cr_sweep *sweep, struct cr_sweep_point *p,
                  const double *curve)
{
    if (!p->at_rung)
        p->at_rung = CR_NEWS(sweep->arena, double, sweep->n_rungs);
    for (; p->passed <= p->target; p->passed++)
        p->at_rung[p->passed] = curve[sweep->rung[p->passed] - 1];
    p->length = sweep->rung[p->target];
    p->state =
        p->passed == sweep->n_rungs ? CR_POINT_DONE : CR_POINT_STOPPED;
}

static void run(struct cr_sweep *sweep, const double *curve)
{
    struct cr_sweep_point *p;
    int64_t spent = 0;

    while ((p = next_point(sweep)) != NULL) {
        int64_t before = p->length, i = p - sweep->point;

        train(sweep, p, curve + i * sweep->opts.halving.max);
        spent += p->length - before;
        if (p->state == CR_POINT_DONE)
            printf("%" PRId64 " %" PRId64 "\n", spent, i);
    }
}

int main(int argc, char **argv)
{
    static const char *const none[] = { NULL };
    static const int no_args[1];
    struct cr_arena arena = { 0 };
    struct cr_diag diag = { .arena = &arena };
    struct cr_sweep sweep = { .arena = &arena,
                              .diag = &diag,
                              .fixed = none,
                              .fixed_args = no_args };
    double *curve = NULL;
    bool ok;

    if (argc != 6)
        return 2;
    sweep.method =
        strcmp(argv[1], "asha") == 0 ? &cr_sweep_asha : &cr_sweep_halving;
    sweep.opts.metric.name = "eval.metric";
    sweep.opts.metric.goal =
        strcmp(argv[2], "minimize") == 0 ? CR_GOAL_MINIMIZE : CR_GOAL_MAXIMIZE;
    sweep.opts.halving.eta = atoi(argv[3]);
    sweep.opts.halving.min = atoi(argv[4]);
    sweep.opts.halving.max = atoi(argv[5]);
    ok = cr_sweep_rungs_check(&sweep) && read_curves(&sweep, &curve);
    if (ok)
        run(&sweep, curve);
    cr_arena_free(&arena);
    return ok ? 0 : 1;
}
