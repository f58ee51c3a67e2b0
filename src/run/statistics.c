/*
 * Moving statistics of a step that fails or is skipped.
 *
 * A forward pass updates them in place, so that a later micro-batch of the
 * step sees them. Parameters change at the end of a step alone; so that the
 * statistics belong to the same step, they are copied at its start.
 *
 * Where each process normalises its samples on its own, the moving statistics
 * after a step are the means of those of all processes.
 */
#include "graph/graph.h"
#include "mpi/mpi.h"

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

static int64_t statistics_count(const struct cr_net *net)
{
    int64_t n = 0;
    int i;

    for (i = 0; i < net->n_params; i++)
        if (net->params[i].statistic)
            n += cr_count(&net->params[i].spec);
    return n;
}

void cr_net_statistics_save(struct cr_net *net)
{
    if (!net->statistics)
        net->statistics =
            CR_NEWS(net->arena, cr_real, statistics_count(net) + 1);
    statistics_copy(net, false);
    net->statistics_undone = false;
}

void cr_net_statistics_restore(struct cr_net *net)
{
    statistics_copy(net, true);
    net->statistics_undone = true;
}

void cr_net_local_statistics(struct cr_net *net, bool local)
{
    net->local_statistics = local && cr_mpi_size() > 1;
}

void cr_net_statistics_average(struct cr_net *net)
{
    int64_t i, n = statistics_count(net);
    cr_real *x = net->statistics;

    if (!net->local_statistics || net->statistics_undone || n == 0)
        return; /* undone: the same in all already */
    statistics_copy(net, false);
    cr_mpi_sum(x, n, sizeof(cr_real) == sizeof(float) ? CR_MPI_FLOAT
                                                      : CR_MPI_DOUBLE);
    for (i = 0; i < n; i++)
        x[i] /= (cr_real)cr_mpi_size();
    statistics_copy(net, true);
}
