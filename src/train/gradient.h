/*
 * From a batch to an update: the loss scale, the checks of loss and gradients,
 * clipping and noise, in the order of cellrun-arithmetic(7), OPTIMIZERS.
 * train, trace and watch share these functions, so trace and watch show the
 * gradients of training.
 */
#ifndef CR_TRAIN_GRADIENT_H
#define CR_TRAIN_GRADIENT_H

#include "graph/net.h"
#include "train/loss_scale.h"
#include "train/section.h"

/* How the backward pass of a batch, or its update, ended. */
enum cr_gradient {
    CR_GRADIENT_FINITE,
    CR_GRADIENT_BAD_LOSS,    /* the loss is not finite at any scale */
    CR_GRADIENT_BAD_OUTPUT,  /* the gradient of the loss is not finite */
    CR_GRADIENT_BAD_PARAM,   /* that of a parameter is not finite */
    CR_GRADIENT_NO_FORWARD,  /* cr_exec_check_faults reported why */
    CR_GRADIENT_NO_BACKWARD  /* the same in the backward pass */
};
/* "the loss", "the gradient of the loss" or "the gradient". */
const char *cr_gradient_text(enum cr_gradient bad);

/* The present loss scale; 1 without a loss scaler. */
double cr_gradient_scale(const struct cr_loss_scale_opts *use,
                         const struct cr_loss_scale *scale);

/* Forward and backward pass of the batch that was fed. `t` and `lr` are passed
 * to cr_exec_forward and cr_exec_backward. A loss that is not finite ends it
 * before the backward pass, unless `all` is set. Sets *loss. */
enum cr_gradient cr_gradient_compute(struct cr_exec *exec,
                                     struct cr_diag *diag, int64_t t,
                                     double scale, double lr, bool all,
                                     double *loss);
/* Clips separate gradients, which are `scale` times those of the loss, as
 * train.clip sets, except for the last factor, which it returns. Sets *norm to
 * their global norm; changes nothing if the norm is not finite. */
double cr_gradient_clip(struct cr_exec *exec,
                        const struct cr_train_section *train, double scale,
                        double *norm);
/* Checks and clips separate gradients, which are `scale` times those of the
 * loss, and updates the parameters. `update` counts from 0. Sets *norm to their
 * global norm; NULL: it is not wanted, and computed for clipping alone. Nothing
 * is changed unless it returns CR_GRADIENT_FINITE. */
enum cr_gradient cr_gradient_apply(struct cr_exec *exec,
                                   const struct cr_train_section *train,
                                   double scale, double lr, int64_t update,
                                   double *norm);

/* What training does with a loss or gradient that is not finite. */
enum cr_gradient_action {
    CR_ACTION_RESCALE,       /* the scaler skips it and lowers the scale */
    CR_ACTION_SKIP,          /* train.nan: skip */
    CR_ACTION_DIVERGE        /* the run ends or falls back */
};
enum cr_gradient_action cr_gradient_action(const struct cr_loss_scale_opts *use,
                                           int nan, enum cr_gradient bad);

/* A message: what is not finite at the step, and the first cell whose output,
 * or gradient at the scale `sens`, is not. It is allocated in `arena`. */
const char *cr_gradient_why(struct cr_arena *arena, struct cr_exec *exec,
                            const char *what, int64_t step, double sens);

#endif
