/* Rows in order: a radix sort of the indices, least significant digit first,
 * which keeps the order of equal ones. */
#include "families/row_gradient.h"

#include "base/thread_pool.h"
#include "families/low.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"
#include "num/low_precision.h"

#include <math.h>
#include <string.h>

#define DIGIT 11 /* bits */

size_t cr_row_gradient_scratch(int64_t n)
{
    return 2 * (size_t)n * sizeof(uint64_t);
}

/* The rows, in the order of the indices; the number of them. */
static int64_t rows_list(const struct cr_op_ctx *s, int first, int step,
                         uint64_t *to)
{
    const struct cr_gather *o = s->attr;
    const int32_t *index = s->x[1];
    int64_t i, n = 0, count = cr_count(&s->in[1]), rows = s->in[0].dim[0];

    for (i = 0; i < count; i++) {
        int64_t row = index[i];

        if (row < 0 && o->negative == CR_INDEX_WRAP)
            row += rows;
        if (row >= 0 && row < rows && row % step == first)
            to[n++] = (uint64_t)row << 32 | (uint64_t)i;
    }
    return n;
}

static void sort_digit(const uint64_t *from, uint64_t *to, int64_t n, int shift)
{
    int64_t at[(1 << DIGIT) + 1] = { 0 }, i;
    const uint64_t mask = (1 << DIGIT) - 1;

    for (i = 0; i < n; i++)
        at[(from[i] >> shift & mask) + 1]++;
    for (i = 1; i <= 1 << DIGIT; i++)
        at[i] += at[i - 1];
    for (i = 0; i < n; i++)
        to[at[from[i] >> shift & mask]++] = from[i];
}

struct cr_row_gradient cr_row_gradient_of(const struct cr_op_ctx *s, int first,
                                          int step)
{
    uint64_t *a = s->scratch, *b = a + cr_count(&s->in[1]), *swap;
    int64_t n = rows_list(s, first, step, a), rows = s->in[0].dim[0];
    int shift;

    for (shift = 0; rows > (int64_t)1 << shift; shift += DIGIT) {
        sort_digit(a, b, n, 32 + shift);
        swap = a;
        a = b;
        b = swap;
    }
    return (struct cr_row_gradient){ .dy = s->dy[0],
                                     .order = a,
                                     .room = (double *)(void *)b,
                                     .n = n,
                                     .width = cr_count(&s->in[0]) / rows,
                                     .rounds = cr_low_rounds_dx(s, 0)
                                                   ? s->low
                                                   : CR_REAL };
}

struct each {
    const struct cr_row_gradient *g;
    void *ctx;
    cr_row_gradient_fn *each;
};

/* Rows that begin at from .. to-1. */
static void each_range(void *ctx, int64_t from, int64_t to)
{
    const struct each *e = ctx;
    const struct cr_row_gradient *g = e->g;
    size_t bytes = (size_t)g->width * sizeof(cr_real);
    cr_real *sum = cr_thread_scratch(bytes);
    int64_t i = from, k;

    while (i > 0 && i < to && g->order[i] >> 32 == g->order[i - 1] >> 32)
        i++;
    while (i < to) {
        uint64_t row = g->order[i] >> 32;
        int64_t at = i;

        memset(sum, 0, bytes);
        for (; i < g->n && g->order[i] >> 32 == row; i++) {
            const cr_real *dy =
                g->dy + (int64_t)(g->order[i] & UINT32_MAX) * g->width;

            for (k = 0; k < g->width; k++)
                sum[k] += dy[k];
        }
        if (g->rounds != CR_REAL)
            cr_round_to_type(g->rounds, g->width, sum, sum);
        e->each(e->ctx, at, (int64_t)row, sum);
    }
}

void cr_row_gradient_each(const struct cr_row_gradient *g, void *ctx,
                          cr_row_gradient_fn *each)
{
    struct each all = { g, ctx, each };

    cr_parallel_for(g->n, 10 + (double)g->width, &all, each_range);
}

/* The sum of fn of every row, in order. */
static double sum_of(struct cr_row_gradient *g, cr_row_gradient_fn *fn)
{
    double sum = 0;
    int64_t i;

    for (i = 0; i < g->n; i++)
        g->room[i] = 0;
    cr_row_gradient_each(g, g, fn);
    for (i = 0; i < g->n; i++)
        sum += g->room[i];
    return sum;
}

static void row_squares(void *ctx, int64_t at, int64_t row, const cr_real *sum)
{
    const struct cr_row_gradient *g = ctx;
    int64_t k;

    (void)row;
    for (k = 0; k < g->width; k++)
        g->room[at] += (double)sum[k] * (double)sum[k];
}

double cr_row_gradient_squares(struct cr_row_gradient *g)
{
    return sum_of(g, row_squares);
}

static void row_bad(void *ctx, int64_t at, int64_t row, const cr_real *sum)
{
    const struct cr_row_gradient *g = ctx;
    int64_t k;

    (void)row;
    for (k = 0; k < g->width; k++)
        if (!isfinite(sum[k]))
            g->room[at] = 1;
}

bool cr_row_gradient_finite(struct cr_row_gradient *g)
{
    return sum_of(g, row_bad) == 0;
}
