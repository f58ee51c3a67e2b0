/*
 * Modifiers that say how a cell runs: `mode` and `recompute`.
 *
 * Cells that stay in predict mode while the network is trained: the control
 * word `mode` and freeze.predict_mode, MindSpore's set_train(False) of a
 * subcell.
 *
 * The nodes that such a cell emits are planned as in prediction, in every
 * plan. Gradients flow through them, and their parameters are trained.
 *
 * The values of a cell with `recompute: true` are computed again for its
 * backward pass, call by call (plan/recompute.c).
 */
#include <string.h>

#include "base/str.h"
#include "graph/graph.h"

bool cr_modes_read(struct cr_net *net)
{
    const struct cr_node *freeze = cr_section(net->config, "freeze");
    const struct cr_node *node = freeze && freeze->kind == CR_NODE_MAP
                                     ? cr_node_get(freeze, "predict_mode")
                                     : NULL;
    int before = net->diag->errors;

    if (node)
        net->predict_mode = cr_patterns_read(net->config, node);
    return net->diag->errors == before;
}

bool cr_mode_of(struct cr_build *b, const struct cr_node *word)
{
    if (b->net->predict_mode && !b->loss &&
        cr_cell_matches(b, b->net->predict_mode))
        b->predict = true;
    if (word)
        b->predict =
            word->kind == CR_NODE_STR && strcmp(word->text, "train") != 0;
    b->net->cells[b->row].predict = b->predict;
    if (!word ||
        (word->kind == CR_NODE_STR && (strcmp(word->text, "predict") == 0 ||
                                       strcmp(word->text, "train") == 0)))
        return true;
    return cr_error(b->net->diag, word->pos, CR_E_OUT_OF_RANGE,
                    "mode: found %s, expected predict or train",
                    cr_node_what(b->net->arena, word));
}

bool cr_recompute_of(struct cr_build *b, const struct cr_node *word)
{
    if (word && word->kind != CR_NODE_BOOL)
        return cr_error(b->net->diag, word->pos, CR_E_WRONG_TYPE,
                        "recompute: found %s, expected true or false",
                        cr_node_what(b->net->arena, word));
    if (word && !word->boolean)
        b->recompute = 0;
    else if (word && !b->recompute)
        b->recompute = ++b->net->graph->n_recomputed;
    b->net->cells[b->row].recompute = b->recompute > 0;
    return true;
}

bool cr_modes_used(struct cr_net *net)
{
    return !net->predict_mode || cr_cells_used(net, net->predict_mode);
}
