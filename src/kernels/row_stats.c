#include "kernels/row_stats.h"

#include <stddef.h>

#include "base/compiler.h"
#include "kernels/parallel_for.h"

#define LANES 16
#define RUN 1024 /* elements summed in cr_real */
#define BLOCKS 256

/* Lanes are added in pairs, so that errors stay small. */
CR_INLINE double lanes_sum(cr_real *v, const cr_real *w)
{
    int k;

    CR_SIMD
    for (k = 0; k < LANES; k++)
        v[k] += w[k];
    CR_SIMD
    for (k = 0; k < 8; k++)
        v[k] += v[k + 8];
    CR_SIMD
    for (k = 0; k < 4; k++)
        v[k] += v[k + 4];
    return (double)((v[0] + v[2]) + (v[1] + v[3]));
}

CR_INLINE void lanes_add(const cr_real *x, cr_real from, int power, cr_real *v)
{
    int k;

    CR_SIMD
    for (k = 0; k < LANES; k++) {
        cr_real d = x[k] - from;

        v[k] += power == 2 ? d * d : d;
    }
}

/* Two rows of lanes: one sum would have to wait for the one before. */
CR_INLINE double run_sum(int64_t n, const cr_real *x, cr_real from, int power)
{
    cr_real v[LANES] = { 0 }, w[LANES] = { 0 };
    int64_t i;
    int k;

    for (i = 0; i + 2 * LANES <= n; i += 2 * LANES) {
        lanes_add(x + i, from, power, v);
        lanes_add(x + i + LANES, from, power, w);
    }
    for (; i + LANES <= n; i += LANES)
        lanes_add(x + i, from, power, v);
    for (k = 0; i < n; i++, k++) {
        cr_real d = x[i] - from;

        v[k] += power == 2 ? d * d : d;
    }
    return lanes_sum(v, w);
}

CR_CLONES
void cr_row_moments(int64_t n, const cr_real *x, double *mean, double *variance)
{
    double sum = 0, square = 0;
    int64_t at;

    for (at = 0; at < n; at += RUN)
        sum += run_sum(n - at < RUN ? n - at : RUN, x + at, 0, 1);
    *mean = sum / (double)n;
    for (at = 0; at < n; at += RUN)
        square +=
            run_sum(n - at < RUN ? n - at : RUN, x + at, (cr_real)*mean, 2);
    *variance = square / (double)n;
}

CR_INLINE void lanes_add2(const cr_real *x, cr_real mean, const cr_real *dy,
                          const cr_real *weight, bool weighs, cr_real *s,
                          cr_real *q)
{
    int k;

    CR_SIMD
    for (k = 0; k < LANES; k++) {
        cr_real d = dy[k];

        if (weighs)
            d *= weight[k];
        s[k] += d;
        q[k] += d * (x[k] - mean);
    }
}

CR_INLINE void run_sums(int64_t n, const cr_real *x, cr_real mean,
                        const cr_real *dy, const cr_real *weight, bool weighs,
                        double *sum, double *dot)
{
    cr_real s[LANES] = { 0 }, q[LANES] = { 0 };
    cr_real s1[LANES] = { 0 }, q1[LANES] = { 0 };
    int64_t i;
    int k;

    for (i = 0; i + 2 * LANES <= n; i += 2 * LANES) {
        int64_t at = i + LANES;

        lanes_add2(x + i, mean, dy + i, weighs ? weight + i : weight, weighs, s,
                   q);
        lanes_add2(x + at, mean, dy + at, weighs ? weight + at : weight, weighs,
                   s1, q1);
    }
    for (; i + LANES <= n; i += LANES)
        lanes_add2(x + i, mean, dy + i, weighs ? weight + i : weight, weighs, s,
                   q);
    for (k = 0; i < n; i++, k++) {
        cr_real d = weighs ? dy[i] * weight[i] : dy[i];

        s[k] += d;
        q[k] += d * (x[i] - mean);
    }
    *sum += lanes_sum(s, s1);
    *dot += lanes_sum(q, q1);
}

CR_CLONES
void cr_row_sums(int64_t n, const cr_real *x, cr_real mean, const cr_real *dy,
                 const cr_real *weight, double *sum, double *dot)
{
    int64_t at;

    *sum = *dot = 0;
    for (at = 0; at < n; at += RUN) {
        int64_t run = n - at < RUN ? n - at : RUN;

        if (weight)
            run_sums(run, x + at, mean, dy + at, weight + at, true, sum, dot);
        else
            run_sums(run, x + at, mean, dy + at, NULL, false, sum, dot);
    }
}

CR_CLONES
void cr_row_affine(int64_t n, const cr_real *x, cr_real mean, cr_real scale,
                   const cr_real *weight, const cr_real *shift, cr_real *y)
{
    int64_t i;

    if (weight) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = (x[i] - mean) * scale * weight[i] + shift[i];
    } else {
        cr_real plus = shift[0];

        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = (x[i] - mean) * scale + plus;
    }
}

CR_CLONES
void cr_row_backward(int64_t n, const cr_real *x, cr_real mean,
                     const cr_real *dy, const cr_real *weight, cr_real by,
                     cr_real scale, cr_real shift, cr_real slope, bool add,
                     cr_real *dx)
{
    int64_t i;

#define BACK_LOOP(d, to)    \
    CR_SIMD                 \
    for (i = 0; i < n; i++) \
        dx[i] = to scale * ((d)-shift - (x[i] - mean) * slope);
    if (weight && add)
        BACK_LOOP(dy[i] * weight[i], dx[i] +)
    else if (weight)
        BACK_LOOP(dy[i] * weight[i], )
    else if (add)
        BACK_LOOP(dy[i] * by, dx[i] +)
    else
        BACK_LOOP(dy[i] * by, )
#undef BACK_LOOP
}

CR_CLONES
void cr_row_gather(int64_t n, const cr_real *x, cr_real mean, cr_real scale,
                   const cr_real *dy, cr_real *dot, cr_real *sum)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++) {
        dot[i] += dy[i] * ((x[i] - mean) * scale);
        sum[i] += dy[i];
    }
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
