/*
 * Moving statistics of a step that fails or is skipped.
 *
 * A forward pass updates them in place, so that a later micro-batch of the
 * step sees them. Parameters change at the end of a step alone; so that the
 * statistics belong to the same step, they are copied at its start.
 */
#include "graph/graph.h"

#include <string.h>

/* Copies all of them, away or back. */
static void statistics_copy(const struct cr_net *net, bool back)
{
    cr_real *at = net->statistics;
    int i;

    for (i = 0; i < net->n_params; i++) {
        const struct cr_param *p = &net->params[i];
        size_t n = (size_t)cr_count(&p->spec);

        if (!p->statistic)
            continue;
        memcpy(back ? p->data : at, back ? at : p->data, n * sizeof *at);
        at += n;
    }
}

void cr_net_statistics_save(struct cr_net *net)
{
    int64_t n = 1;
    int i;

    if (!net->statistics) {
        for (i = 0; i < net->n_params; i++)
            if (net->params[i].statistic)
                n += cr_count(&net->params[i].spec);
        net->statistics = CR_NEWS(net->arena, cr_real, n);
    }
    statistics_copy(net, false);
}

void cr_net_statistics_restore(struct cr_net *net)
{
    statistics_copy(net, true);
}
