/*
 * The backward pass through a boundary (grad_boundary.c): the nodes of its text
 * become steps that run forward, after whatever writes the gradients of the
 * values there; then one step hands on what they give.
 */
#include "plan/plan.h"

/* Marks those of the text's values that the wanted gradients are made of. */
static bool *needed(struct cr_exec *e, const struct cr_custom_grad *c,
                    const bool *want, int n)
{
    bool *need = CR_NEWS(&e->arena, bool, e->graph->n_vals + 1);
    const struct cr_opnode *node, **nodes;
    int i, k, count = 0;

    for (node = c->nodes; node; node = node->next)
        count++;
    nodes = CR_NEWS(&e->arena, const struct cr_opnode *, count + 1);
    for (node = c->nodes, i = 0; node; node = node->next)
        nodes[i++] = node;
    for (i = 0; i < n; i++)
        if (want[i])
            need[c->grad[i]->id] = true;
    while (count-- > 0) {
        bool live = e->prints && nodes[count]->op->prints;

        for (i = 0; i < nodes[count]->n_out; i++)
            live = live || need[nodes[count]->out[i]->id];
        for (k = 0; k < nodes[count]->n_in && live; k++)
            if (nodes[count]->in[k])
                need[nodes[count]->in[k]->id] = true;
    }
    return need;
}

/* The gradients of the results, zeros where none arrives. False where none
 * does at all. */
static bool arrivals(struct cr_exec *e, const struct cr_custom_grad *c,
                     bool *need)
{
    bool any = false;
    int i;

    for (i = 0; i < c->n_out; i++)
        if (c->dout[i]) {
            struct cr_pval *g = e->of[c->out[i]->id]->grad;

            any = any || g;
            e->of[c->dout[i]->id] = g;
            if (!g && need[c->dout[i]->id])
                need[c->zero[i]->id] = true;
        }
    return any;
}

static bool text_nodes(struct cr_exec *e, const struct cr_custom_grad *c,
                       const bool *need)
{
    const struct cr_opnode *node;
    int i;

    for (node = c->nodes; node; node = node->next) {
        bool live = e->prints && node->op->prints;

        for (i = 0; i < node->n_out; i++)
            live = live || need[node->out[i]->id];
        if (live && !cr_plan_node(e, node))
            return false;
        for (i = 0; i < c->n_out; i++)
            if (live && c->dout[i] && node->out[0] == c->zero[i])
                e->of[c->dout[i]->id] = e->of[node->out[0]->id];
    }
    return true;
}

bool cr_plan_custom_grad(struct cr_exec *e, const struct cr_exec_step *f,
                         bool *cut)
{
    const struct cr_custom_grad *c = f->node->custom;
    bool want[CR_OP_MAX] = { false }, wanted = false, *need;
    int i;
    struct cr_exec_step *s;

    *cut = false;
    if (f->node != c->node)
        return true; /* the first one, to come, has all gradients */
    for (i = 0; i < f->n_in; i++) {
        want[i] = c->grad[i] && f->x[i].val->needs;
        wanted = wanted || want[i];
    }
    need = needed(e, c, want, f->n_in);
    *cut = !wanted && (f->node->hook || arrivals(e, c, need));
    if (!wanted || !arrivals(e, c, need))
        return true;
    if (!text_nodes(e, c, need))
        return false;
    s = cr_step_new(e, CR_BACKWARD, f->op, f->n_in, f->n_in);
    s->node = f->node;
    s->attr = f->attr;
    s->in = f->in;
    s->out = f->out;
    for (i = 0; i < f->n_in; i++)
        if (want[i])
            cr_operand_set(&s->dy[i],
                           cr_plan_in_layout(e, e->of[c->grad[i]->id],
                                             f->x[i].val->spec.layout));
    cr_step_append(e, s);
    for (i = 0; i < f->n_in; i++)
        if (want[i])
            cr_plan_write(e, s, i, f->x[i].val);
    return true;
}
