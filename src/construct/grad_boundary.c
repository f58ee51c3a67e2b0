/*
 * Gradient boundaries: nodes at which a `bprop` text or a hook replaces the
 * gradients of ops.
 *
 * In the graph each value passes an identity node that blocks gradients. The
 * nodes of the text are in a separate list, to which the first of these nodes
 * refers, with placeholders for the incoming gradients. A plan with a backward
 * pass runs them once all incoming gradients are available (custom_grad.c); a
 * step of the same op then passes on their results.
 */
#include "construct/script_interp.h"
#include "families/data_movement.h"

/* ---- the ops ---- */

/* x: a value, then all that may get a gradient */
static bool boundary_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    p->same = true;
    return true;
}

static void boundary_forward(const struct cr_op_ctx *s)
{
    cr_data_move_bytes(s->x[0], s->y[0], cr_bytes(&s->out[0]));
}

/* The planner's step: dy[i] is the gradient of input i. */
static void boundary_backward(const struct cr_op_ctx *s)
{
    int i;

    for (i = 0; i < CR_OP_MAX; i++) {
        struct cr_spec flat = { .type = CR_REAL, .rank = 1 };
        struct cr_data_move m;

        if (!s->dx[i])
            continue;
        flat.dim[0] = cr_count(&s->in[i]);
        cr_data_move_open(&m, &flat, (const int64_t[]){ 1 }, 0);
        cr_data_move_scatter_add(&m, s->dy[i], s->dx[i], s->accumulate[i]);
    }
}

#define BOUNDARY(text)                                                         \
    {                                                                          \
        .about = { .name = (text) }, .min_inputs = 1, .max_inputs = CR_OP_MAX, \
        .outputs = 1, .int_inputs = CR_X(CR_OP_MAX) - 1,                       \
        .algebra = { .kind = CR_ELEMENTWISE }, .exact = true,                  \
        .plan = boundary_plan, .forward = boundary_forward,                    \
        .backward = boundary_backward,                                         \
    }

const struct cr_op cr_op_bprop = BOUNDARY("bprop");
const struct cr_op cr_op_hook = BOUNDARY("hook");

/* An identity as any other, for gradients that are looked at. */
const struct cr_op cr_op_observe = {
    .about = { .name = "look" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .int_inputs = CR_X(0),
    .algebra = { .kind = CR_ELEMENTWISE },
    .exact = true,
    .bprop = "return dy",
    .plan = boundary_plan,
    .forward = cr_view_forward,
    .backward = cr_view_backward,
};

/* ---- the text's own nodes ---- */

struct cr_graph_lists cr_graph_detach(struct cr_net *net)
{
    struct cr_graph *g = net->graph;
    struct cr_graph_lists l = { .nodes = g->nodes,
                                .last_node = g->last_node,
                                .named = g->named,
                                .calls = g->calls,
                                .last_call = g->last_call,
                                .n_seen = net->n_cells };

    l.cell_calls = cr_grow(net->arena, net->cell_calls, (size_t)l.n_seen,
                           (size_t)l.n_seen + 1, sizeof *l.cell_calls);
    g->nodes = g->last_node = NULL;
    g->named = (struct cr_names){ 0 };
    g->calls = g->last_call = NULL;
    for (int i = 0; i < l.n_seen; i++)
        memset(net->cell_calls[i].emitted, 0,
               sizeof net->cell_calls[i].emitted);
    net->in_backward = true;
    return l;
}

struct cr_opnode *cr_graph_restore(struct cr_net *net,
                                   const struct cr_graph_lists *l)
{
    struct cr_graph *g = net->graph;
    struct cr_opnode *nodes = g->nodes;

    g->nodes = l->nodes;
    g->last_node = l->last_node;
    g->named = l->named;
    g->calls = l->calls;
    g->last_call = l->last_call;
    memcpy(net->cell_calls, l->cell_calls,
           (size_t)l->n_seen * sizeof *l->cell_calls);
    for (int i = l->n_seen; i < net->n_cells; i++)
        memset(net->cell_calls[i].emitted, 0,
               sizeof net->cell_calls[i].emitted);
    net->in_backward = false;
    return nodes;
}

/* ---- what the text begins with ---- */

bool cr_grad_boundary_dout(struct cr_build *b, struct cr_custom_grad *c)
{
    int i;

    for (i = 0; i < c->n_out; i++) {
        if (c->out[i]->spec.type != CR_REAL)
            continue; /* has no gradient */
        c->dout[i] = cr_val_detached(b->net, &c->out[i]->spec, c->node);
        c->dout[i]->low_type = c->out[i]->low_type; /* precision rounds it */
        c->dout[i]->cast = c->out[i]->cast;
        /* one node, that needs no rounding: custom_grad.c looks for it */
        c->zero[i] =
            cr_emit_as_is(b, cr_op_find("zeros_like"), NULL, 1, &c->out[i]);
        if (!c->zero[i])
            return false;
    }
    return true;
}
