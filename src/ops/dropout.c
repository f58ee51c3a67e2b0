/* dropout: y = x mask / keep, mask 1 with probability keep, in training;
 * y = x in prediction.  dx = dy mask / keep.
 * The mask is a function of seed, cell, call, update and element. */
#include "math/each.h"
#include "net/op.h"

#include <string.h>

struct dropout {
    double keep;
};

static const struct cr_opt dropout_opts[] = {
    CR_REAL_OR(struct dropout, keep, 0.5, 0, 1,
               "Probability that an element stays."),
    { 0 },
};

static bool dropout_plan(struct cr_plan *p)
{
    p->out[0] = p->in[0];
    p->same = !p->training || ((const struct dropout *)p->attr)->keep == 1;
    if (!p->same)
        p->keep = (size_t)cr_count(&p->in[0]);
    return true;
}

static void dropout_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    double keep = ((const struct dropout *)s->attr)->keep;
    cr_real scale = keep > 0 ? (cr_real)(1 / keep) : 0;
    const cr_real *x = s->x[0];
    cr_real *y = s->y[0];
    unsigned char *mask = s->keep;
    /* u < keep as integers: u is a word out of 2^32 */
    uint64_t below = (uint64_t)(keep * 4294967296.0);
    uint32_t word[4];
    int64_t i;

    for (i = from; i < to; i++) { /* ranges begin at multiples of 16 */
        if (i % 4 == 0)
            cr_rng_block(&s->rng, (uint64_t)i / 4, word);
        mask[i] = word[i % 4] < below;
        y[i] = mask[i] ? x[i] * scale : 0;
    }
}

static void dropout_forward(const struct cr_step *s)
{
    if (!s->keep)
        memcpy(s->y[0], s->x[0], cr_bytes(&s->in[0]));
    else
        cr_each(cr_count(&s->in[0]), 5, (void *)(uintptr_t)s, dropout_range);
}

static void dropout_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_step *s = ctx;
    double keep = ((const struct dropout *)s->attr)->keep;
    cr_real scale = keep > 0 && s->keep ? (cr_real)(1 / keep) : 1;
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    const unsigned char *mask = s->keep;
    int64_t i;

    for (i = from; i < to; i++) {
        cr_real d = !mask || mask[i] ? dy[i] * scale : 0;

        dx[i] = s->add[0] ? dx[i] + d : d;
    }
}

static void dropout_backward(const struct cr_step *s)
{
    cr_each(cr_count(&s->in[0]), 1, (void *)(uintptr_t)s, dropout_back_range);
}

const struct cr_op cr_op_dropout = {
    .about = { .name = "dropout",
               .summary = "Zeroes elements at random, in training only.",
               .opts = dropout_opts,
               .size = sizeof(struct dropout) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = dropout_plan,
    .forward = dropout_forward,
    .backward = dropout_backward,
};
