/*
 * Warns when a network ends with an activation that its loss applies itself,
 * or without the one that its loss expects, or when output and label
 * broadcast: such a network trains, and badly. What a loss expects is in its
 * descriptor (.expects).
 */
#include <string.h>

#include "build/loss.h"
#include "graph/graph.h"

/* The node that computes the value, ignoring nodes that leave the bytes or
 * only round them; NULL: none, or one of a loss. */
static const struct cr_opnode *node_of(const struct cr_val *v)
{
    const struct cr_opnode *node = v ? v->producer : NULL;

    while (node && (node->same || node->op == &cr_op_fake_cast))
        node = node->in[0]->producer;
    return node && !node->loss ? node : NULL;
}

/* Whether a loss that expects `expects` misunderstands the op's results.
 * log_softmax of log_softmax is log_softmax. */
static bool is_unexpected(const char *op, const char *expects)
{
    static const char *const normalised[] = { "softmax", "sigmoid", NULL };
    static const char *const raw[] = { "linear", "matmul", "relu", "conv2d",
                                       NULL };
    bool logs = strcmp(expects, "logits") != 0;
    int i;

    for (i = 0; normalised[i]; i++)
        if (strcmp(op, normalised[i]) == 0)
            return true;
    for (i = 0; logs && raw[i]; i++)
        if (strcmp(op, raw[i]) == 0)
            return true;
    return false;
}

static void check_activation(const struct cr_net *net)
{
    const struct cr_node *args, *loss = cr_section(net->config, "loss");
    const char *type = loss ? cr_node_type(loss, &args) : NULL;
    const struct cr_cell *cell = type ? cr_loss_find(type) : NULL;
    const struct cr_val *out = net->graph->output;
    const struct cr_opnode *node;

    if (!cell || !cell->expects || !out)
        return;
    while (out->n_members > 0)
        out = out->members[0];
    node = node_of(out);
    if (!node || !is_unexpected(node->op->about.name, cell->expects))
        return;
    cr_warn(net->diag, node->pos, CR_E_LOSS_INPUT,
            "%s expects %s: found the output of %s", type, cell->expects,
            node->op->about.name);
    if (strcmp(cell->expects, "logits") == 0)
        cr_hint(net->diag,
                "remove it: %s applies its own, and predict --probs gives "
                "probabilities",
                type);
    else
        cr_hint(net->diag, "LogSoftmax gives log-probabilities");
}

/* In a loss written in the config a user may broadcast as they like; (n, 1)
 * with (n) to (n, n) is a mistake. */
static void check_columns(const struct cr_net *net)
{
    const struct cr_opnode *node;

    for (node = net->graph->nodes; node; node = node->next) {
        const struct cr_spec *a, *b;

        if (!node->loss || node->n_in != 2 || !node->in[0] || !node->in[1] ||
            !cr_is_elementwise(node->op))
            continue;
        a = &node->in[0]->spec;
        b = &node->in[1]->spec;
        if (a->rank + b->rank != 3 || !cr_loss_is_column(a, b))
            continue;
        cr_warn(net->diag, node->pos, CR_E_SHAPE,
                "%s and %s broadcast to %s: each sample is compared with all "
                "others",
                cr_diag_format(net->arena, a), cr_diag_format(net->arena, b),
                cr_diag_format(net->arena, &node->out[0]->spec));
        cr_hint(
            net->diag,
            "give both the same shape: squeeze(x, -1) or expand_dims(x, -1)");
    }
}

void cr_net_check_loss_input(const struct cr_net *net)
{
    check_activation(net);
    check_columns(net);
    if (!net->broadcast.text)
        return;
    cr_warn(net->diag, net->broadcast.pos, CR_E_SHAPE, "%s: they broadcast",
            net->broadcast.text);
    cr_hint(net->diag,
            "give them the same shape unless broadcasting is intended");
}
