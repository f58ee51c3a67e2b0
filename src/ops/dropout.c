/* dropout: y = x mask / keep, mask 1 with probability keep, in training;
 * y = x in prediction.  dx = dy mask / keep.
 * The mask is a function of seed, cell, call, update and element: backward
 * makes it again. */
#include "base/compiler.h"
#include "families/low.h"
#include "kernels/parallel_for.h"

#define RUN 2048 /* elements per call of the generator */

struct dropout {
    double keep;
};

static const struct cr_opt dropout_opts[] = {
    CR_REAL_DEFAULT(struct dropout, keep, 0.5, 0, 1,
                    "Probability that an element is kept."),
    { 0 },
};

static bool dropout_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    p->same = !p->training || ((const struct dropout *)p->attr)->keep == 1;
    return true;
}

static double dropout_drops(const void *attr)
{
    return ((const struct dropout *)attr)->keep;
}

CR_CLONES_WIDE
static void dropout_mask(int64_t n, const unsigned char *mask, cr_real scale,
                         const cr_real *x, bool add, cr_real *y)
{
    int64_t i;

    if (!mask) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = add ? y[i] + x[i] : x[i];
    } else if (add) {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] += mask[i] ? x[i] * scale : 0;
    } else {
        CR_SIMD
        for (i = 0; i < n; i++)
            y[i] = mask[i] ? x[i] * scale : 0;
    }
}

/* Of dropout after a ReLU, whose result y tells what was kept. */
CR_CLONES_WIDE
static void dropout_relu(int64_t n, cr_real scale, const cr_real *y,
                         const cr_real *dy, cr_real *d)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = y[i] <= 0 ? 0 : dy[i] * scale;
}

static void dropout_relu_grad(const void *attr, int64_t n, const cr_real *x,
                              const cr_real *y, const cr_real *dy, cr_real *d)
{
    double keep = ((const struct dropout *)attr)->keep;

    (void)x;
    dropout_relu(n, keep > 0 ? (cr_real)(1 / keep) : 0, y, dy, d);
}

/* Elements of the batch before these. */
static int64_t dropout_before(const struct cr_op_ctx *s)
{
    return s->rows_before > 0
               ? cr_count(&s->in[0]) / s->batch * s->rows_before
               : 0;
}

/* The masks of elements from `from` on; NULL: all are kept. */
static const unsigned char *dropout_draw(const struct cr_op_ctx *s,
                                         int64_t from, int64_t n,
                                         unsigned char *mask)
{
    double keep = ((const struct dropout *)s->attr)->keep;

    if (!s->training || keep == 1)
        return NULL;
    cr_rng_bernoulli(&s->rng, (uint64_t)(dropout_before(s) + from), n, keep,
                     mask);
    return mask;
}

static cr_real dropout_scale(const struct cr_op_ctx *s)
{
    double keep = ((const struct dropout *)s->attr)->keep;

    return s->training && keep > 0 ? (cr_real)(1 / keep) : 1;
}

static void dropout_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    unsigned char mask[RUN];
    cr_real x[RUN], room[RUN], *y;
    int64_t n;

    for (; from < to; from += n) { /* ranges start at multiples of 16 */
        n = to - from < RUN ? to - from : RUN;
        y = cr_low_y_open(s, from, room);
        dropout_mask(n, dropout_draw(s, from, n, mask), dropout_scale(s),
                     cr_low_x(s, 0, from, n, x), false, y);
        cr_low_y_close(s, from, n, y);
    }
}

static void dropout_forward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 1, (void *)(uintptr_t)s,
                    dropout_range);
}

static void dropout_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    bool low = cr_low_any(s);
    unsigned char mask[RUN];
    cr_real room[RUN], dy[RUN], *dx;
    int64_t n;

    for (; from < to; from += n) {
        n = to - from < RUN ? to - from : RUN;
        dx = low ? cr_low_dx_open(s, 0, from, room)
                 : cr_reals(s->dx[0]) + from;
        dropout_mask(n, dropout_draw(s, from, n, mask), dropout_scale(s),
                     cr_low_dy(s, from, n, dy), s->accumulate[0] && !low, dx);
        if (low)
            cr_low_dx_close(s, 0, from, n, dx);
    }
}

static void dropout_backward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 1, (void *)(uintptr_t)s,
                    dropout_back_range);
}

const struct cr_op cr_op_dropout = {
    .about = { .name = "dropout",
               .summary = "Dropout: zeroes elements at random in training.",
               .opts = dropout_opts,
               .size = sizeof(struct dropout) },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .signature = "input, p=0.5, training=True",
    .text = "if p == 1:\n"
            "    return dropout(input, keep=1 - training)\n"
            "return cell('Dropout', input, p=p * training)",
    .algebra = { .drops = dropout_drops, .map_grad = dropout_relu_grad },
    .low = CR_X(0) | CR_Y(0),
    .plan = dropout_plan,
    .forward = dropout_forward,
    .bprop = "return again(dy)",
    .backward = dropout_backward,
};
