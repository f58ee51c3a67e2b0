/*
 * Which nodes of a graph a plan has.
 */
#include "families/nhwc.h"
#include "plan/plan.h"

bool cr_plan_keeps_all(const struct cr_exec *e)
{
    return e->opts.keep_outputs || e->opts.eager;
}

const struct cr_val *cr_plan_shortcut(const struct cr_exec *e,
                                      const struct cr_opnode *node)
{
    return cr_plan_keeps_all(e) ? NULL : cr_nhwc_source(node);
}

bool cr_plan_ends(const struct cr_exec *e)
{
    return !e->prints || e->opts.backward;
}

bool *cr_plan_live(struct cr_exec *e)
{
    const struct cr_graph *g = e->graph;
    bool *live = CR_NEWS(&e->arena, bool, g->n_nodes + 1);
    bool *wanted = CR_NEWS(&e->arena, bool, g->n_vals + 1);
    const struct cr_opnode **nodes =
        CR_NEWS(&e->arena, const struct cr_opnode *, g->n_nodes + 1);
    const struct cr_opnode *node;
    const struct cr_named *name;
    const struct cr_val *at = cr_graph_at(g, e->opts.at);
    bool ends = cr_plan_ends(e);
    int i, k, n = 0;

    for (node = g->nodes; node; node = node->next)
        nodes[n++] = node;
    if (at)
        wanted[at->id] = true;
    for (name = g->results.first; name && ends; name = name->next)
        wanted[name->val->id] = true;
    if (e->opts.loss && ends)
        wanted[g->loss->id] = true;
    for (name = g->aux.first; name && ends && cr_plan_aux(e); name = name->next)
        wanted[name->val->id] = true;
    for (i = 0; i < g->n_metrics && e->opts.metrics && ends; i++)
        wanted[g->metrics[i]->id] = true;
    for (name = g->named.first; name && cr_plan_keeps_all(e); name = name->next)
        wanted[name->val->id] = true;
    for (name = g->seen.first; name; name = name->next)
        wanted[name->val->id] = true;
    while (n-- > 0) {
        if (nodes[n]->metric ? !e->opts.metrics
                             : nodes[n]->loss && !e->opts.loss)
            continue;
        live[n] = e->prints ? nodes[n]->op->prints
                            : (e->opts.eager && nodes[n]->op != &cr_op_print) ||
                                  (e->opts.training && !e->opts.freeze_stats &&
                                   nodes[n]->op == &cr_op_assign);
        for (i = 0; i < nodes[n]->n_out; i++)
            live[n] = live[n] || wanted[nodes[n]->out[i]->id];
        /* the backward pass through a bprop reads all other results */
        for (i = 0; nodes[n]->custom && i < nodes[n]->custom->n_out; i++)
            live[n] = live[n] || wanted[nodes[n]->custom->out[i]->id];
        if (live[n] && cr_plan_shortcut(e, nodes[n])) {
            wanted[cr_plan_shortcut(e, nodes[n])->id] = true;
            continue;
        }
        for (k = 0; k < nodes[n]->n_in && live[n]; k++)
            if (nodes[n]->in[k])
                wanted[nodes[n]->in[k]->id] = true;
    }
    return live;
}
