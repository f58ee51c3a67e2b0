#include "kernels/parallel_for.h"

#include "base/thread_pool.h"

/* Work below which waking the others costs more than it brings. */
#define EACH_NS 8000

struct each {
    int64_t n, block;
    void *ctx;
    void (*fn)(void *ctx, int64_t from, int64_t to);
};

static void each_part(void *ctx, int task, int n_tasks)
{
    const struct each *e = ctx;
    int64_t blocks = (e->n + e->block - 1) / e->block;
    int64_t from = blocks * task / n_tasks * e->block;
    int64_t to = blocks * (task + 1) / n_tasks * e->block;

    if (to > e->n)
        to = e->n;
    if (from < to)
        e->fn(e->ctx, from, to);
}

static void each_run(int64_t n, int64_t block, double cost, void *ctx,
                     void (*fn)(void *ctx, int64_t from, int64_t to))
{
    struct each e = { n, block, ctx, fn };

    if (n <= 0)
        return;
    if ((double)n * cost < EACH_NS)
        fn(ctx, 0, n);
    else
        cr_parallel_run(each_part, &e, cr_thread_count());
}

void cr_parallel_for(int64_t n, double cost, void *ctx,
                     void (*fn)(void *ctx, int64_t from, int64_t to))
{
    each_run(n, 16, cost, ctx, fn);
}

void cr_parallel_for_coarse(int64_t n, double cost, void *ctx,
                            void (*fn)(void *ctx, int64_t from, int64_t to))
{
    each_run(n, 1, cost, ctx, fn);
}
