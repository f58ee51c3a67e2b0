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

/* What the backward pass through a bprop reads: all results, and, in low
 * precision, their casts, which come after them. True if one is new. */
static bool custom_wants(const struct cr_custom_grad *c, bool *wanted)
{
    const struct cr_opnode *node;
    bool any = false;
    int i;

    for (i = 0; i < c->n_out; i++) {
        any = any || !wanted[c->out[i]->id];
        wanted[c->out[i]->id] = true;
    }
    for (node = c->nodes; node; node = node->next)
        for (i = 0; i < node->n_in; i++)
            if (node->in[i]) {
                any = any || !wanted[node->in[i]->id];
                wanted[node->in[i]->id] = true;
            }
    return any;
}

/* Marks the nodes of what is wanted, and what these read. True if nodes that
 * were passed already may be wanted too. */
static bool mark_live(const struct cr_exec *e, const struct cr_opnode **nodes,
                      int n, bool *wanted, bool *live)
{
    bool again = false;
    int i;

    while (n-- > 0) {
        const struct cr_opnode *node = nodes[n];
        const struct cr_val *same = cr_plan_shortcut(e, node);

        if (node->metric ? !e->opts.metrics : node->loss && !e->opts.loss)
            continue;
        live[n] = e->prints ? node->op->prints
                            : (e->opts.eager && node->op != &cr_op_print) ||
                                  (e->opts.training && !e->opts.freeze_stats &&
                                   node->op == &cr_op_assign);
        for (i = 0; i < node->n_out; i++)
            live[n] = live[n] || wanted[node->out[i]->id];
        if (!live[n])
            continue;
        if (same) {
            wanted[same->id] = true;
            continue;
        }
        for (i = 0; i < node->n_in; i++)
            if (node->in[i])
                wanted[node->in[i]->id] = true;
        if (node->custom && e->opts.backward)
            again = custom_wants(node->custom, wanted) || again;
    }
    return again;
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
    int i, n = 0;

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
    while (mark_live(e, nodes, n, wanted, live))
        ;
    return live;
}
