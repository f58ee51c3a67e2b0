/*
 * The printer of a plan. What print(...) reads may be fused away, folded or
 * pruned in the plan of a run, and must not be kept alive there, or the run's
 * numbers would change. So a plan that is to print has another one next to it:
 * unfused, of only what the prints need, on the same graph, batch and random
 * numbers. It runs first; the plan itself leaves the nodes out.
 */
#include "graph/op_attrs.h"
#include "run/run.h"

/* Whether some print is among the nodes of a list, and of the backward pass. */
static void find_prints(const struct cr_exec *e, const struct cr_opnode *node,
                        bool *forward, bool *back)
{
    for (; node; node = node->next) {
        if (node->metric ? !e->opts.metrics : node->loss && !e->opts.loss)
            continue;
        if (node->op == &cr_op_print)
            *forward = true;
        if (node->custom && node->custom->node == node && e->opts.backward)
            find_prints(e, node->custom->nodes, back, back);
    }
}

bool cr_exec_printer(struct cr_exec *e)
{
    struct cr_exec_opts want = e->opts;
    bool forward = false, back = false;

    if (!e->print || e->prints)
        return true;
    find_prints(e, e->graph->nodes, &forward, &back);
    if (!forward && !back)
        return true;
    want.backward = back;
    want.update = want.separate_update = want.keep_outputs = want.const_params =
        false;
    want.freeze_stats = want.inputs = true;
    want.in_turn = false;
    want.wrt_columns = want.wrt_params = NULL;
    want.at = NULL;
    want.passes = NULL;
    e->printer = cr_exec_new(e->net, &want, e->graph, true);
    return e->printer != NULL;
}
