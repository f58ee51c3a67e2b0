/*
 * The learning rates of a whole run, computed without running it, for `config
 * --plot lr`.
 */
#ifndef CR_TRAIN_LR_CURVE_H
#define CR_TRAIN_LR_CURVE_H

#include "base/plot.h"
#include "train/optim.h"

#define CR_LR_CURVE_MAX 1000000 /* points of a curve */

struct cr_lr_curves {
    struct cr_run_steps run; /* per_epoch 0: not known */
    int64_t n; /* values of each curve: one for every `stride`-th update */
    int64_t stride;
    int n_curves;
    struct cr_plot_curve *curve; /* the optimizer's, then those of groups */
};

/* Computes the curves. The length of an epoch comes from the data set, which
 * is not needed if the run and its schedule count in steps. False after
 * reporting. */
bool cr_lr_curves_read(struct cr_config *config, struct cr_lr_curves *to);

#endif
