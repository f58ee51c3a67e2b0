#include "kernels/row_stats.h"

#include <stddef.h>

#include "kernels/parallel_for.h"

#define LANES 16
#define BLOCKS 256

static const struct cr_kernel *const row_kernels[] = {
#ifndef CR_DOUBLE
    &cr_row_onednn.head,
#endif
#ifdef __x86_64__
    &cr_row_avx2.head,
#endif
    &cr_row_portable.head, NULL
};

const struct cr_kernels cr_kernels_row = { row_kernels };

const struct cr_row_kernel *cr_row_norm_kernel(const struct cr_row_norm *norm)
{
    return (const struct cr_row_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_row, norm);
}

const struct cr_row_kernel *cr_row_kernel(void)
{
    return cr_row_norm_kernel(NULL);
}

/* ---- over rows ---- */

int64_t cr_row_block(int64_t rows)
{
    int64_t per = (rows + BLOCKS - 1) / BLOCKS;

    return per < 16 ? 16 : per;
}

int64_t cr_row_blocks(int64_t rows)
{
    int64_t per = cr_row_block(rows);

    return (rows + per - 1) / per;
}

struct collect {
    int64_t blocks, stride;
    const cr_real *part;
    bool add;
    cr_real *to;
};

static void collect_range(void *ctx, int64_t from, int64_t to)
{
    const struct collect *c = ctx;
    double sum[LANES];
    int64_t at, b;
    int k, n;

    for (at = from; at < to; at += n) {
        n = to - at < LANES ? (int)(to - at) : LANES;
        for (k = 0; k < n; k++)
            sum[k] = c->add ? (double)c->to[at + k] : 0;
        for (b = 0; b < c->blocks; b++)
            for (k = 0; k < n; k++)
                sum[k] += (double)c->part[b * c->stride + at + k];
        for (k = 0; k < n; k++)
            c->to[at + k] = (cr_real)sum[k];
    }
}

void cr_row_reduce(int64_t blocks, int64_t stride, int64_t n,
                   const cr_real *part, bool add, cr_real *to)
{
    struct collect c = { blocks, stride, part, add, to };

    cr_parallel_for(n, 0.5 * (double)blocks, &c, collect_range);
}
