/*
 * With y = L(x_0, x_1), which is linear in each of the two, and <.,.> the sum
 * of products, the node A_0(x_1, dy) for input 0 has
 *
 *   <u, A_0(x_1, dy)> = <L(u, x_1), dy> = <A_1(u, dy), x_1>
 *
 * for all u. So where u is the gradient that arrives at A_0, L(u, x_1) is the
 * gradient of dy, and A_1(u, dy) that of x_1: kernels of L are all it takes.
 */
#include "construct/adjoint.h"

#include <assert.h>
#include <string.h>

#include "families/data_movement.h"

/* Room for what is added to a gradient; the primal's scratch is after it. */
static size_t own_scratch(const struct cr_adjoint *o)
{
    return (cr_bytes(&o->out) + 63) / 64 * 64;
}

static bool primal_plan(const struct cr_op_plan *p, struct cr_op_plan *to,
                        struct cr_spec *out)
{
    const struct cr_adjoint *o = p->attr;

    memset(out, 0, CR_OP_MAX * sizeof *out);
    *to = *p;
    to->attr = o->attr;
    to->n_in = o->n_in;
    to->in = o->in;
    to->out = out;
    to->n_out = 1;
    return o->primal->plan(to);
}

static bool adjoint_plan(struct cr_op_plan *p)
{
    const struct cr_adjoint *o = p->attr;
    struct cr_spec out[CR_OP_MAX];
    struct cr_op_plan primal;
    int i;

    if (!primal_plan(p, &primal, out))
        return false;
    assert(primal.saved == 0 && primal.n_out == 1);
    p->out[0] = o->in[o->of];
    p->scratch = own_scratch(o) + primal.scratch;
    p->thread_scratch = primal.thread_scratch;
    p->macs = primal.macs;
    for (i = 0; i < o->n_in; i++)
        if (i != o->of)
            p->bound[i] = primal.bound[i];
    return true;
}

/* What the primal's kernels see. */
static struct cr_op_ctx primal_step(const struct cr_op_ctx *s)
{
    const struct cr_adjoint *o = s->attr;
    struct cr_op_ctx p = { .attr = o->attr,
                           .scale = 1,
                           .in = o->in,
                           .out = &o->out,
                           .scratch = (char *)s->scratch + own_scratch(o),
                           .rng = s->rng,
                           .training = s->training,
                           .stop = s->stop };
    int i;

    for (i = 0; i < CR_OP_MAX; i++)
        p.alpha[i] = 1;
    for (i = 0; i < o->n_in; i++)
        p.x[i] = s->x[i];
    return p;
}

static void adjoint_forward(const struct cr_op_ctx *s)
{
    const struct cr_adjoint *o = s->attr;
    struct cr_op_ctx p = primal_step(s);

    p.dy[0] = s->x[o->n_in];
    p.dx[o->of] = s->y[0];
    o->primal->backward(&p);
}

/* The gradient of dy: the primal of what arrives. */
static void of_dy(const struct cr_op_ctx *s)
{
    const struct cr_adjoint *o = s->attr;
    struct cr_op_ctx p = primal_step(s);
    struct cr_spec flat = { .type = CR_REAL, .rank = 1 };
    struct cr_data_move m;
    cr_real *to = s->dx[o->n_in];

    p.x[o->of] = s->dy[0];
    p.y[0] = to;
    if (s->accumulate[o->n_in])
        p.y[0] = s->scratch;
    o->primal->forward(&p);
    if (!s->accumulate[o->n_in])
        return;
    flat.dim[0] = cr_count(&o->out);
    cr_data_move_open(&m, &flat, (const int64_t[]){ 1 }, 0);
    cr_data_move_scatter_add(&m, p.y[0], to, true);
}

static void adjoint_backward(const struct cr_op_ctx *s)
{
    const struct cr_adjoint *o = s->attr;
    int i;

    if (s->dx[o->n_in])
        of_dy(s);
    for (i = 0; i < o->n_in; i++) {
        struct cr_op_ctx p = primal_step(s);

        if (!s->dx[i])
            continue;
        p.x[o->of] = s->dy[0];
        p.dy[0] = s->x[o->n_in];
        p.dx[i] = s->dx[i];
        p.accumulate[i] = s->accumulate[i];
        o->primal->backward(&p);
    }
}

const struct cr_op cr_op_adjoint = {
    .about = { .name = "adjoint", .internal = true },
    .min_inputs = 1,
    .max_inputs = CR_OP_MAX,
    .outputs = 1,
    .saved_for_backward = CR_X(CR_OP_MAX) - 1,
    .int_inputs = CR_X(CR_OP_MAX) - 1,
    .plan = adjoint_plan,
    .forward = adjoint_forward,
    .backward = adjoint_backward,
};
