/*
 * A network to look at or to time, without its data: summary, bench.
 *
 * Shapes come from `inputs` of the network, from the headers of the data set,
 * or, where neither is there, from the first cell that tells.
 */
#ifndef CR_TRAIN_VIEW_H
#define CR_TRAIN_VIEW_H

#include "ckpt/checkpoint.h"
#include "conf/verb.h"
#include "train/optim.h"

struct cr_view {
    struct cr_config *config;
    struct cr_store *store; /* NULL: the line names configs */
    const struct cr_column *columns; /* may be set where there is no data */
    int n_columns;
    int64_t batch;   /* of the datapipe; 32 */
    int64_t classes; /* of the data; 0: not known */
    uint64_t seed;
    bool loss;              /* there is one, and a label for it */
    struct cr_diag missing; /* why the data set cannot be opened */
    struct cr_net *net;
    struct cr_optim_use optim; /* where an update can be planned */
};

/* Reads the line's configs or checkpoint; false after reporting. */
bool cr_view_open(struct cr_cli *cli, struct cr_view *to);
void cr_view_close(struct cr_view *view);

/* Builds the network for `batch` samples (<= 0: the datapipe's), with its
 * loss and optimizer where the config has them. Without `values` nothing is
 * allocated or initialised. False after reporting. */
bool cr_view_net(struct cr_view *view, int64_t batch, bool values);
/* Whether an update can be planned: there are loss and optimizer. */
bool cr_view_trains(const struct cr_view *view);

#endif
