/*
 * asha: asynchronous successive halving (Li et al., "A system for massively
 * parallel hyperparameter tuning", MLSys 2020, algorithm 2). A point is
 * promoted as soon as it is among the best one in eta of the results of its
 * rung so far, so that no process waits for others; while no point can be
 * promoted, new ones are started.
 */
#include "base/arena.h"
#include "sweep/sweep.h"

static void asha_promote(struct cr_sweep *sweep)
{
    struct cr_arena arena = { 0 };
    int64_t *list = CR_NEWS(&arena, int64_t, sweep->n + 1);

    for (int r = 0; r + 1 < sweep->n_rungs; r++) {
        int64_t n = 0;

        for (int64_t i = 0; i < sweep->n; i++)
            if (cr_sweep_rungs_has_result(&sweep->point[i], r))
                list[n++] = i;
        cr_sweep_rungs_rank(sweep, r, list, n);
        for (int64_t i = 0; i < n / sweep->opts.halving.eta; i++) {
            struct cr_sweep_point *p = &sweep->point[list[i]];

            if (p->passed == r + 1 && p->target <= r)
                p->target = r + 1;
        }
    }
    cr_arena_free(&arena);
}

const struct cr_sweep_method cr_sweep_asha = {
    .name = "asha",
    .check = cr_sweep_rungs_check,
    .candidate = cr_sweep_rungs_candidate,
    .promote = asha_promote,
};
