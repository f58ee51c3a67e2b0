/*
 * The learning rates of a whole run, before anything runs: what
 * `config --plot lr` draws.
 */
#ifndef CR_TRAIN_LR_CURVE_H
#define CR_TRAIN_LR_CURVE_H

#include "base/plot.h"
#include "train/optim.h"

#define CR_LR_CURVE_MAX 1000000 /* places of a curve */

struct cr_lr_curves {
    struct cr_run_steps run;    /* per_epoch 0: no data tell */
    int64_t n;                  /* values of each: one for each update, or for
                                   every `stride`-th */
    int64_t stride;
    int n_curves;
    struct cr_plot_curve *curve; /* the optimizer's, then groups' own */
};

/* Reads what they depend on. The data are asked for the length of an epoch;
 * where they are not there, a run whose steps are given and whose schedule
 * counts in steps needs none. False after reporting. */
bool cr_lr_curves_read(struct cr_config *config, struct cr_lr_curves *to);

#endif
