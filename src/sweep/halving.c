/*
 * halving: successive halving. When all points of a rung have a result, the
 * best one in eta of them is promoted to the next rung, and at least one point.
 */
#include "base/arena.h"
#include "sweep/sweep.h"

static void halving_promote(struct cr_sweep *sweep)
{
    struct cr_arena arena = { 0 };
    int64_t *list = CR_NEWS(&arena, int64_t, sweep->n + 1), n = sweep->n;

    for (int64_t i = 0; i < n; i++)
        list[i] = i;
    for (int r = 0; r + 1 < sweep->n_rungs; r++) {
        bool complete = true;

        for (int64_t i = 0; i < n && complete; i++)
            complete = cr_sweep_rungs_has_result(&sweep->point[list[i]], r);
        if (!complete)
            break;
        cr_sweep_rungs_rank(sweep, r, list, n);
        n = n > sweep->opts.halving.eta ? n / sweep->opts.halving.eta : 1;
        for (int64_t i = 0; i < n; i++) {
            struct cr_sweep_point *p = &sweep->point[list[i]];

            if (p->target <= r)
                p->target = r + 1;
        }
    }
    cr_arena_free(&arena);
}

const struct cr_sweep_method cr_sweep_halving = {
    .name = "halving",
    .check = cr_sweep_rungs_check,
    .candidate = cr_sweep_rungs_candidate,
    .promote = halving_promote,
};
