/*
 * What the network gives, by name: its results, and values inside it.
 */
#include <string.h>

#include "construct/script.h"
#include "construct/script_interp.h"
#include "graph/graph.h"

/* Whether it is a weight, or one that is rounded for low precision. */
static bool results_weight(const struct cr_val *v)
{
    if (v && v->producer && v->producer->op == &cr_op_fake_cast)
        v = v->producer->in[0];
    return v && v->param >= 0 && v->spec.rank >= 2;
}

/* The input of the last op of the network, not of its loss, that has a weight
 * of at least two dimensions. */
static const struct cr_val *results_embed(const struct cr_graph *g)
{
    const struct cr_val *found = NULL;

    for (const struct cr_opnode *n = g->nodes; n; n = n->next)
        for (int i = 1; i < n->n_in && !n->loss && !n->metric; i++)
            if (results_weight(n->in[i]) && n->in[0] &&
                !results_weight(n->in[0]))
                found = n->in[0];
    return found;
}

const struct cr_val *cr_graph_at(const struct cr_graph *g, const char *at)
{
    const struct cr_val *found = NULL;

    if (at && strcmp(at, CR_EMBED) == 0)
        return results_embed(g);
    for (const struct cr_named *n = g->named.first; n && at; n = n->next)
        if (strcmp(n->name, at) == 0)
            found = n->val;
    return found;
}

const char *const *cr_net_at_names(const struct cr_net *net)
{
    const struct cr_names *named = &net->graph->named;
    const char **v = CR_NEWS(net->arena, const char *, named->n + 1);
    int n = 0;

    for (const struct cr_named *m = named->first; m; m = m->next)
        if (*m->name)
            v[n++] = m->name;
    return v;
}

const char *cr_net_result_name(const struct cr_net *net, int i)
{
    const struct cr_node *node = cr_section(net->config, "network");
    const struct cr_node *text = cr_node_get(node, "construct");
    struct cr_diag quiet = { .arena = net->arena };
    const struct cr_script_line *line;
    const struct cr_script *e;

    if (!text || cr_node_type(node, &(const struct cr_node *){ NULL }))
        return NULL;
    line = cr_script_parse(net->arena, &quiet, text);
    while (line && line->next)
        line = line->next;
    if (!line || !line->expr || line->kind != CR_SCRIPT_RETURN)
        return NULL;
    e = line->expr;
    if (e->op == CR_SCRIPT_TUPLE) {
        e = e->args;
        while (e && i-- > 0)
            e = e->next;
    } else if (i > 0) {
        return NULL;
    }
    return e && e->op == CR_SCRIPT_NAME ? e->name : NULL;
}

/* Whether an op gives its first input on: in another shape or type, or to
 * somebody who looks at it. */
static bool results_passes(const struct cr_opnode *n)
{
    return n->same || n->op == &cr_op_fake_cast || n->op == &cr_op_observe ||
           n->op == &cr_op_hook || n->op == &cr_op_bprop ||
           n->op == &cr_op_print || strcmp(n->op->about.name, "cast") == 0;
}

const struct cr_spec *cr_net_result_spec(const struct cr_net *net, int i)
{
    const struct cr_named *n = net->graph->results.first;

    while (n && i-- > 0)
        n = n->next;
    return n ? &n->val->spec : NULL;
}

const char *cr_net_result_op(const struct cr_net *net, int i)
{
    const struct cr_named *n = net->graph->results.first;
    const struct cr_val *v;

    while (n && i-- > 0)
        n = n->next;
    v = n ? n->val : NULL;
    while (v && v->producer && results_passes(v->producer))
        v = v->producer->in[0];
    return v && v->producer ? v->producer->op->about.name : "";
}

bool cr_net_has_loss(const struct cr_net *net)
{
    return net->opts.loss;
}
