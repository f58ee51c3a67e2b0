#include "kernels/parallel_for.h"

#include "base/thread_pool.h"

/* Work below which waking the others costs more than it brings. */
#define EACH_NS 8000

/* A piece takes at least so long, or fetching it would cost more. */
#define PIECE_NS 3000

struct each {
    int64_t n, block, min_piece; /* of elements; of blocks */
    void *ctx;
    void (*fn)(void *ctx, int64_t from, int64_t to);
};

static void each_part(void *ctx, int task, int n_tasks)
{
    const struct each *e = ctx;
    int64_t blocks = (e->n + e->block - 1) / e->block, from, to;
    struct cr_range range;

    cr_range_split(&range, task, n_tasks, blocks, e->min_piece);
    while (cr_range_next(&range, &from, &to)) {
        from *= e->block;
        to = to * e->block < e->n ? to * e->block : e->n;
        e->fn(e->ctx, from, to);
    }
}

static void each_run(int64_t n, int64_t block, int64_t min_piece, double cost,
                     void *ctx, void (*fn)(void *ctx, int64_t from, int64_t to))
{
    struct each e = { n, block, min_piece, ctx, fn };

    if (n <= 0)
        return;
    if ((double)n * cost < EACH_NS)
        fn(ctx, 0, n);
    else
        cr_parallel_run(each_part, &e, cr_thread_count());
}

static int64_t min_blocks(int64_t n, int64_t block, double cost)
{
    double blocks = PIECE_NS / (cost * (double)block);

    return blocks < 1 ? 1 : blocks < (double)n ? (int64_t)blocks : n;
}

void cr_parallel_for(int64_t n, double cost, void *ctx,
                     void (*fn)(void *ctx, int64_t from, int64_t to))
{
    each_run(n, 16, min_blocks(n, 16, cost), cost, ctx, fn);
}

void cr_parallel_for_coarse(int64_t n, double cost, void *ctx,
                            void (*fn)(void *ctx, int64_t from, int64_t to))
{
    each_run(n, 1, min_blocks(n, 1, cost), cost, ctx, fn);
}

void cr_parallel_for_static(int64_t n, int64_t block, double cost, void *ctx,
                            void (*fn)(void *ctx, int64_t from, int64_t to))
{
    each_run(n, block, n, cost, ctx, fn);
}
