/*
 * Metrics written in the config: cells of the graph after the network, with
 * the network's results first and columns after them, as a loss has them;
 * or what the loss returns next to it.
 * Only plans that ask for them compute them, and they train nothing.
 */
#include "base/str.h"
#include "graph/graph.h"

#include <string.h>

bool cr_is_metric_aux(const struct cr_node *root, const struct cr_node *metric)
{
    const struct cr_node *aux = cr_node_get(cr_node_get(root, "loss"), "aux");

    if (metric->kind != CR_NODE_STR || !aux || aux->kind != CR_NODE_LIST)
        return false;
    for (CR_EACH(m, aux))
        if (m->kind == CR_NODE_STR && strcmp(m->text, metric->text) == 0)
            return true;
    return false;
}

bool cr_is_metric_block(const struct cr_node *root,
                        const struct cr_node *metric)
{
    return cr_node_get(metric, "construct") != NULL ||
           cr_is_metric_aux(root, metric);
}

const char *cr_metric_block_name(const struct cr_node *metric)
{
    const struct cr_node *name = cr_node_get(metric, "name");

    if (metric->kind == CR_NODE_STR)
        return metric->text;
    return name && name->kind == CR_NODE_STR && name->text[0] ? name->text
                                                              : NULL;
}

/* What the loss returns next to it; NULL: no such name. */
static struct cr_val *judge_aux(struct cr_net *net, const char *name)
{
    const struct cr_named *aux = net->graph->aux.first;

    while (aux && strcmp(aux->name, name) != 0)
        aux = aux->next;
    return aux ? aux->val : NULL;
}

static struct cr_val *judge_input(struct cr_net *net, const char *name,
                                  struct cr_pos pos)
{
    struct cr_val *aux = judge_aux(net, name);

    return aux ? aux : cr_net_feed(net, name, pos);
}

static int judge_inputs(struct cr_net *net, const struct cr_node *node,
                        struct cr_val **in)
{
    struct cr_cell_inputs inputs = cr_cell_inputs(net, node);
    struct cr_val *output = net->graph->output;
    int results = output->n_members > 0 ? output->n_members : 1;

    int i = 0, n = 0;

    while (inputs.names[n])
        n++;
    if (n > CR_OP_MAX) {
        cr_error(net->diag, node->pos, CR_E_NETWORK,
                 "a metric has at most %d inputs", CR_OP_MAX);
        return 0;
    }
    if (inputs.max < results) {
        cr_error(net->diag, node->pos, CR_E_NETWORK,
                 "the network returns %d results, but the metric expects %d",
                 results, inputs.max);
        return 0;
    }
    for (; i < results; i++)
        in[i] = output->n_members > 0 ? output->members[i] : output;
    for (; i < n; i++) {
        in[i] = judge_input(net, inputs.names[i], node->pos);
        if (!in[i])
            return 0;
    }
    return cr_rest_label(net, &inputs, n, i, in);
}

/* One number, or one (or more, then their mean) for each sample. */
static bool judge_shape(struct cr_net *net, const struct cr_node *node,
                        const struct cr_val *v)
{
    const struct cr_spec *spec = &v->spec;

    if (v->n_members == 0 && spec->type == CR_REAL &&
        (cr_count(spec) == 1 || spec->dim[0] == net->graph->batch))
        return true;
    return cr_error(net->diag, node->pos, CR_E_SHAPE,
                    "metric: found %s, expected one number, or one or more "
                    "numbers for each sample",
                    v->n_members > 0 ? "a tuple"
                    : spec->type != CR_REAL
                        ? cr_strf(net->arena, "%s of type %s",
                                  cr_diag_format(net->arena, spec),
                                  cr_type_name(spec->type))
                        : cr_diag_format(net->arena, spec));
}

static struct cr_val *metric_build(struct cr_net *net, struct cr_build *root,
                                   const struct cr_node *node, int number)
{
    struct cr_val *in[CR_OP_MAX], *v;
    const char *name = cr_metric_block_name(node);
    int n, params = net->n_params;

    if (cr_is_metric_aux(net->config->root, node))
        return judge_aux(net, name);
    n = judge_inputs(net, node, in);
    if (n == 0)
        return NULL;
    if (!name)
        name = cr_strf(net->arena, "%d", number);
    v = cr_child(root, cr_strf(net->arena, "metrics.%s", name), node, n, in);
    if (!v || !judge_shape(net, node, v))
        return NULL;
    if (net->n_params > params) {
        cr_error(net->diag, node->pos, CR_E_NETWORK,
                 "a metric cannot have parameters, but this one has %s",
                 net->params[params].name);
        return NULL;
    }
    return v;
}

bool cr_metric_blocks_build(struct cr_net *net, const struct cr_build *root)
{
    const struct cr_node *metrics = cr_section(net->config, "metrics");
    struct cr_graph *g = net->graph;
    struct cr_build b = *root;
    bool leaf = net->n_cells > 0 && net->cells[0].leaf, ok = true;

    if (!net->opts.metrics || !metrics)
        return true;
    b.loss = b.metric = true;
    g->metrics =
        CR_NEWS(net->arena, struct cr_val *, cr_node_count(metrics) + 1);
    if (cr_is_metric_block(net->config->root, metrics))
        g->metrics[g->n_metrics++] = metric_build(net, &b, metrics, 0);
    else
        for (CR_EACH(m, metrics->kind == CR_NODE_LIST ? metrics : NULL))
            if (cr_is_metric_block(net->config->root, m)) {
                g->metrics[g->n_metrics] =
                    metric_build(net, &b, m, g->n_metrics);
                g->n_metrics++;
            }
    for (int i = 0; i < g->n_metrics; i++)
        ok = ok && g->metrics[i];
    if (net->n_cells > 0)
        net->cells[0].leaf = leaf; /* they are no members of the network */
    return ok;
}
