/*
 * Rungs of sweeps: their lengths, and whom halving and asha promote, by the
 * definitions of the papers on made-up results.
 */
#include "sweep/sweep.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POINTS 27

struct made {
    struct cr_arena arena;
    struct cr_diag diag;
    struct cr_sweep s;
    struct cr_sweep_point points[POINTS];
    double values[POINTS][8];
};

static const char *const none[] = { NULL };
static const int no_args[1];

static void make(struct made *m, const struct cr_sweep_method *method,
                 int64_t min, int64_t max, int64_t eta)
{
    *m = (struct made){ 0 };
    m->diag.arena = &m->arena;
    m->s = (struct cr_sweep){
        .arena = &m->arena,
        .diag = &m->diag,
        .method = method,
        .opts = { .halving = { .min = min, .max = max, .eta = eta },
                  .metric = { .name = "eval.x", .goal = CR_GOAL_MAXIMIZE } },
        .fixed = none,
        .fixed_args = no_args,
        .point = m->points,
        .n = POINTS,
        .epochs = CR_INT_NONE,
        .steps = CR_INT_NONE,
    };
    for (int i = 0; i < POINTS; i++)
        m->points[i].at_rung = m->values[i];
}

static const char *lengths(int64_t min, int64_t max, int64_t eta)
{
    static char text[256];
    struct made m;
    size_t n = 0;

    make(&m, &cr_sweep_halving, min, max, eta);
    *text = '\0';
    if (cr_sweep_rungs_check(&m.s))
        for (int r = 0; r < m.s.n_rungs; r++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld",
                                  r ? " " : "", (long long)m.s.rung[r]);
    cr_arena_free(&m.arena);
    return text;
}

/* The merit of a point at all rungs: a permutation of 0 .. 26. */
static double merit(int i)
{
    return (i * 10 + 3) % POINTS;
}

/* Trains a point to the rung of its target. */
static void run(struct made *m, int i)
{
    struct cr_sweep_point *p = &m->points[i];

    p->passed = p->target + 1;
    p->length = m->s.rung[p->target];
    for (int r = 0; r < p->passed; r++)
        p->at_rung[r] = merit(i);
    p->state = p->passed == m->s.n_rungs ? CR_POINT_DONE : CR_POINT_STOPPED;
}

static int count(const struct made *m, int passed)
{
    int n = 0;

    for (int i = 0; i < POINTS; i++)
        n += m->points[i].passed >= passed;
    return n;
}

/* Whether those that have passed `passed` rungs are the n best. */
static bool are_best(const struct made *m, int passed, int n)
{
    for (int i = 0; i < POINTS; i++)
        if ((m->points[i].passed >= passed) != (merit(i) >= POINTS - n))
            return false;
    return true;
}

static bool open_point(const struct cr_sweep_point *p)
{
    return p->state == CR_POINT_WAITING || p->state == CR_POINT_INTERRUPTED;
}

static void halving(void)
{
    struct made m;
    int started = 0;

    make(&m, &cr_sweep_halving, 1, 9, 3);
    cr_sweep_rungs_check(&m.s);
    for (int i = 0; i < POINTS; i++) {
        cr_sweep_rungs_promote(&m.s);
        for (int k = 0; k < i; k++)
            started += open_point(&m.points[k]);
        run(&m, i);
    }
    ok(started == 0, "halving promotes no point before a rung is complete");
    for (int r = 0; r < 3; r++) {
        cr_sweep_rungs_promote(&m.s);
        for (int i = 0; i < POINTS; i++)
            if (open_point(&m.points[i]))
                run(&m, i);
    }
    ok(are_best(&m, 2, 9) && are_best(&m, 3, 3),
       "of 27 points the 9 best are promoted, of these the 3 best");
    m.points[26].state = CR_POINT_STOPPED;
    cr_sweep_rungs_promote(&m.s);
    ok(count(&m, 3) == 3, "then no point is promoted");
    cr_arena_free(&m.arena);
}

/* Failed points count as results, after all others. */
static void failures(void)
{
    struct made m;
    int best = 0, second = 0;

    make(&m, &cr_sweep_halving, 1, 3, 3);
    cr_sweep_rungs_check(&m.s);
    m.s.n = 3;
    for (int i = 0; i < 3; i++)
        best = merit(i) > merit(best) ? i : best;
    second = (best + 1) % 3;
    if (merit((best + 2) % 3) > merit(second))
        second = (best + 2) % 3;
    for (int i = 0; i < 3; i++)
        run(&m, i);
    m.points[best].state = CR_POINT_FAILED;
    m.points[best].passed = 0;
    cr_sweep_rungs_promote(&m.s);
    ok(open_point(&m.points[second]) && m.points[second].target == 1 &&
           m.points[best].target == 0,
       "a failed point is not promoted, and no process waits for it");
    cr_arena_free(&m.arena);
}

/* One worker, points in order, promotions first: Li et al., algorithm 2. */
static void asha(void)
{
    struct made m;
    bool good = true;
    int runs = 0, i;

    make(&m, &cr_sweep_asha, 1, 9, 3);
    cr_sweep_rungs_check(&m.s);
    for (;;) {
        int next = -1, results = 0, better = 0;

        cr_sweep_rungs_promote(&m.s);
        for (int r = 2; r >= 0 && next < 0; r--)
            for (i = 0; i < POINTS && next < 0; i++)
                if (open_point(&m.points[i]) && m.points[i].target == r)
                    next = i;
        if (next < 0)
            break;
        if (m.points[next].target > 0) {
            for (i = 0; i < POINTS; i++)
                if (m.points[i].passed >= m.points[next].target) {
                    results++;
                    better += merit(i) > merit(next);
                }
            good = good && better < results / 3;
        }
        run(&m, next);
        runs++;
    }
    ok(good, "asha promotes only points of the best third of the results");
    ok(count(&m, 1) == POINTS && count(&m, 2) >= 9 && count(&m, 3) >= 3 &&
           runs == count(&m, 1) + count(&m, 2) + count(&m, 3),
       "and does not end before the best third of each rung is promoted");
    for (i = 0; i < POINTS; i++)
        good = good && (merit(i) < POINTS - 9 || m.points[i].passed >= 2);
    ok(good, "the best nine of all are among the promoted");
    cr_arena_free(&m.arena);
}

static void interrupted(void)
{
    struct made m;

    make(&m, &cr_sweep_halving, 1, 9, 3);
    cr_sweep_rungs_check(&m.s);
    for (int i = 0; i < POINTS; i++)
        run(&m, i);
    m.points[0].length = 2; /* killed on the way to the next rung */
    m.points[0].at_rung[0] = NAN;
    cr_sweep_rungs_promote(&m.s);
    ok(m.points[0].state == CR_POINT_INTERRUPTED && m.points[0].target == 1,
       "a point that was on its way to a rung continues to it");
    cr_arena_free(&m.arena);
}

int main(void)
{
    same(lengths(1, 9, 3), "1 3 9", "rungs of min 1, max 9, eta 3");
    same(lengths(1, 10, 3), "1 3 9 10", "the last rung is max");
    same(lengths(2, 7, 2), "2 4 7", "the last rung is at most eta times");
    same(lengths(5, 5, 2), "5", "min and max may be equal");
    same(lengths(1, 1000000000000000, 1000),
         "1 1000 1000000 1000000000 1000000000000 1000000000000000",
         "large lengths do not overflow");
    same(lengths(6, 5, 2), "", "min above max is refused");
    halving();
    failures();
    asha();
    interrupted();
    return done();
}
