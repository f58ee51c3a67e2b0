/*
 * The plans of all commands: their options, and the plans for the batches of a
 * data loader. train, eval, predict, sample and trace --as-run use them, and
 * so do tests that compare them with plans that keep all values.
 */
#ifndef CR_RUN_PLANS_H
#define CR_RUN_PLANS_H

#include "data/data_loader.h"
#include "graph/net.h"

/* Whether the config requests plans that run op by op (run.eager). */
bool cr_plans_eager(const struct cr_config *config);
/* Options for a training step. `separate_update`: gradients are separate from
 * their updates. */
struct cr_exec_opts cr_plans_train(bool separate_update, bool eager);
/* Options for a batch of an evaluation. `metrics`: some metrics are blocks. */
struct cr_exec_opts cr_plans_eval(const struct cr_config *config, bool metrics,
                                  bool eager);
/* Options for a batch of a prediction. `fixed`: parameters will not change any
 * more. */
struct cr_exec_opts cr_plans_predict(int64_t batch, bool fixed);

/* The plans for the batches of a data loader: of the full size and of the last
 * batch, in each shape of the data. */
struct cr_plans {
    struct cr_exec *full, *last; /* in the first shape */
    int64_t batch;               /* samples per full batch */
    struct cr_exec *at[CR_SIZES_MAX][2];
};
/* Plans for all batches of a data loader; false after reporting. */
bool cr_plans_make(struct cr_plans *plans, struct cr_net *net,
                   const struct cr_exec_opts *want,
                   struct cr_data_loader *loader);
void cr_plans_free(struct cr_plans *plans);
/* Under mpirun: has the data loader read of each column only what the plans
 * read in this process. from[i] (NULL: i) is the loader's column of the
 * network's column i, of n; `whole` is a column of which all rows are wanted;
 * -1: none. */
void cr_plans_share(const struct cr_plans *plans, struct cr_data_loader *loader,
                    const int *from, int n, int whole);
struct cr_exec *cr_plans_for(const struct cr_plans *plans,
                             const struct cr_batch *batch);

#endif
