/*
 * What a loss written in the config returns next to the loss:
 *
 *   loss:
 *     inputs: [logits, label]
 *     aux: [penalty]
 *     construct: |
 *       ...
 *       return loss, penalty
 *
 * As in MindSpore's value_and_grad with has_aux=True such values contribute
 * nothing to gradients; `has_aux: false` differentiates the sum of all that
 * the loss returns, which MindSpore does without it.
 */
#include "graph/graph.h"

#include <string.h>

/* Members of a training record, so no names of others. */
static const char *const taken[] = {
    "t",  "step",      "epoch",      "samples", "split",         "loss",
    "lr", "grad_norm", "loss_scale", "skipped", "samples_per_s", NULL
};

static bool aux_name(struct cr_net *net, const struct cr_node *node,
                     const struct cr_node *list)
{
    const char *c = node->kind == CR_NODE_STR ? node->text : "";
    int i;

    if (*c >= 'a' && *c <= 'z')
        while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
               (*c >= '0' && *c <= '9') || *c == '_')
            c++;
    if (node->kind != CR_NODE_STR || *c || c == node->text)
        return cr_error(net->diag, node->pos, CR_E_FORM,
                        "aux: found %s, expected a name: a lower-case letter, "
                        "then letters, digits and _",
                        cr_node_what(net->arena, node));
    for (i = 0; taken[i]; i++)
        if (strcmp(taken[i], node->text) == 0)
            return cr_error(net->diag, node->pos, CR_E_CONFLICT,
                            "aux: '%s' is a member of training records: choose "
                            "another name",
                            node->text);
    for (CR_EACH(m, list)) {
        if (m == node)
            return true;
        if (m->kind == CR_NODE_STR && strcmp(m->text, node->text) == 0)
            return cr_error(net->diag, node->pos, CR_E_CONFLICT,
                            "aux: duplicate name '%s'", node->text);
    }
    return true;
}

static bool aux_names(struct cr_net *net, const struct cr_node *list)
{
    bool ok = true;

    if (list && list->kind != CR_NODE_LIST)
        return cr_error(net->diag, list->pos, CR_E_WRONG_TYPE,
                        "aux: found %s, expected a list of names",
                        cr_node_what(net->arena, list));
    for (CR_EACH(m, list))
        ok = aux_name(net, m, list) && ok;
    return ok;
}

static bool aux_switch(struct cr_net *net, const struct cr_node *node)
{
    if (!node)
        return true;
    if (node->kind != CR_NODE_BOOL)
        return cr_error(net->diag, node->pos, CR_E_WRONG_TYPE,
                        "has_aux: found %s, expected true or false",
                        cr_node_what(net->arena, node));
    net->joint = !node->boolean;
    return true;
}

bool cr_aux_read(struct cr_net *net, const struct cr_node *node,
                 struct cr_val *out)
{
    const struct cr_node *list = cr_node_get(node, "aux"), *name;
    const struct cr_node *has_aux = cr_node_get(node, "has_aux");
    int n = out->n_members > 0 ? out->n_members : 1, i;
    struct cr_graph *g = net->graph;

    net->joint = false;
    if (!aux_names(net, list) || !aux_switch(net, has_aux))
        return false;
    if (n != 1 + cr_node_count(list))
        return cr_error(net->diag, list ? list->pos : node->pos, CR_E_NETWORK,
                        list ? "aux: found %d name%s, expected %d: the loss "
                               "returns %d value%s"
                             : "the loss: found %d name%s of further values, "
                               "expected %d: it returns %d value%s; name those "
                               "after the first, `aux: [NAME]`",
                        cr_node_count(list),
                        cr_node_count(list) == 1 ? "" : "s", n - 1, n,
                        n == 1 ? "" : "s");
    g->loss = out->n_members > 0 ? out->members[0] : out;
    name = list ? list->child : NULL;
    for (i = 1; i < n; i++, name = name->next) {
        if (out->members[i]->n_members > 0 ||
            out->members[i]->spec.type != CR_REAL)
            return cr_error(net->diag, name->pos, CR_E_NETWORK,
                            "aux: '%s' is %s, expected a float tensor",
                            name->text,
                            out->members[i]->n_members > 0
                                ? "a tuple"
                                : cr_type_name(out->members[i]->spec.type));
        cr_name_values(net, &g->aux, name->text, out->members[i]);
    }
    if (g->loss->n_members > 0)
        return cr_error(net->diag, node->pos, CR_E_NETWORK,
                        "the loss: found a tuple of %d first, expected a "
                        "tensor",
                        g->loss->n_members);
    return true;
}

const char *const *cr_net_aux(const struct cr_net *net, int *n)
{
    const struct cr_names *aux = &net->graph->aux;
    const char **names = CR_NEWS(net->arena, const char *, aux->n + 1);
    const struct cr_named *name;

    *n = 0;
    for (name = aux->first; name; name = name->next)
        names[(*n)++] = name->name;
    return names;
}
