#include "run/plans.h"

#include "mpi/mpi.h"

#include <assert.h>

bool cr_plans_eager(const struct cr_config *config)
{
    const struct cr_node *node = cr_node_find(config->root, "run.eager");

    return node && node->kind == CR_NODE_BOOL && node->boolean;
}

struct cr_exec_opts cr_plans_train(bool separate_update, bool eager)
{
    return (struct cr_exec_opts){ .training = true,
                                  .loss = true,
                                  .backward = true,
                                  .update = true,
                                  .separate_update = separate_update,
                                  .eager = eager,
                                  .shared = true };
}

struct cr_exec_opts cr_plans_eval(const struct cr_config *config, bool metrics,
                                  bool eager)
{
    return (struct cr_exec_opts){ .loss = cr_section(config, "loss") != NULL,
                                  .metrics = metrics,
                                  .eager = eager || cr_plans_eager(config),
                                  .shared = true };
}

struct cr_exec_opts cr_plans_predict(int64_t batch, bool fixed)
{
    return (struct cr_exec_opts){ .batch = batch,
                                  .const_params = fixed,
                                  .shared = true };
}

/* The elements of a sample in one of the shapes. */
static double sample_elements(const struct cr_data_loader *loader, int size)
{
    int n, i;
    const struct cr_column *c = cr_data_loader_columns(loader, &n);
    double all = 0;

    if (size > 0)
        c = cr_data_loader_columns_of_size(loader, size);
    for (i = 0; i < n; i++)
        all += (double)cr_count(&c[i].spec);
    return all;
}

/* The shapes from the largest on: what others need fits its memory. */
static void sizes_order(const struct cr_data_loader *loader, int n, int *order)
{
    int i, k;

    for (i = 0; i < n; i++) {
        for (k = i; k > 0 && sample_elements(loader, order[k - 1]) <
                                 sample_elements(loader, i);
             k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

bool cr_plans_make(struct cr_plans *plans, struct cr_net *net,
                   const struct cr_exec_opts *want,
                   struct cr_data_loader *loader)
{
    struct cr_exec_opts one = *want;
    int64_t samples = cr_data_loader_samples(loader), rest;
    int scales = cr_data_loader_n_sizes(loader), order[CR_SIZES_MAX], i, k;

    one.in_turn = true;
    plans->batch = cr_data_loader_batch_size(loader);
    rest = samples - (cr_data_loader_batches(loader) - 1) * plans->batch;
    sizes_order(loader, scales, order);
    for (i = 0; i < scales; i++)
        for (k = 0; k < 2; k++) {
            int s = order[i];

            one.batch = k == 0 ? plans->batch : rest;
            if (k == 0 ? samples < plans->batch
                       : rest <= 0 || rest >= plans->batch)
                continue;
            one.columns = s > 0 ? cr_data_loader_columns_of_size(loader, s)
                                : want->columns;
            plans->at[s][k] = cr_net_exec(net, &one);
            if (!plans->at[s][k])
                return false;
        }
    plans->full = plans->at[0][0];
    plans->last = plans->at[0][1];
    return true;
}

void cr_plans_free(struct cr_plans *plans)
{
    int s, k;

    for (s = 0; s < CR_SIZES_MAX; s++)
        for (k = 0; k < 2; k++)
            cr_exec_free(plans->at[s][k]);
    *plans = (struct cr_plans){ 0 };
}

void cr_plans_share(const struct cr_plans *plans, struct cr_data_loader *loader,
                    const int *from, int n, int whole)
{
    bool local[CR_COLUMNS_MAX] = { false };
    int64_t rest = cr_data_loader_samples(loader) % plans->batch;
    int i, s, k, at;

    for (i = 0; i < n && cr_mpi_size() > 1; i++) {
        at = from ? from[i] : i;
        local[at] = at != whole;
        for (s = 0; s < CR_SIZES_MAX; s++)
            for (k = 0; k < 2; k++)
                if (plans->at[s][k] && (k == 0 || cr_mpi_shares(rest)))
                    local[at] = local[at] &&
                                cr_exec_local_column(plans->at[s][k], i);
    }
    cr_data_loader_share(loader, local);
}

struct cr_exec *cr_plans_for(const struct cr_plans *plans,
                             const struct cr_batch *batch)
{
    struct cr_exec *exec =
        plans->at[batch->size_index][batch->n != plans->batch];

    assert(exec);
    return exec;
}
