/*
 * The loss scale (Micikevicius et al., arXiv:1710.03740): the gradient of the
 * loss is multiplied by it, gradients of parameters are divided by it before
 * their update. An update whose gradient is not finite is skipped, and the
 * scale is divided by its factor.
 */
#ifndef CR_TRAIN_LOSS_SCALE_H
#define CR_TRAIN_LOSS_SCALE_H

#include "conf/config.h"

/* A scale is a float32, as MindSpore's is. */
#define CR_LOSS_SCALE_MAX 3.4028234663852886e38

/* How a scaler begins and goes on; filled in from its options. */
struct cr_loss_scale_rule {
    double start;
    double factor;  /* up after `window` good updates in a row, down */
    int64_t window; /* after one that is not; 0: it stays */
    bool unchecked; /* nothing is tested: the optimizer divides */
};

struct cr_scaler {
    struct cr_descriptor about;
    void (*rule)(const void *opts, struct cr_loss_scale_rule *to);
};

/* Where it stands; part of the run's state. */
struct cr_loss_scale {
    double value;    /* 0: not begun */
    int64_t n_finite;   /* updates in a row since the last that was bad */
    int64_t n_overflow; /* left out in a row */
    int64_t skipped; /* left out in all */
};

/* What a config wants. */
struct cr_loss_scale_opts {
    bool on; /* the loss is scaled */
    struct cr_loss_scale_rule rule;
    bool skip; /* else an overflow ends the run */
    int64_t give_up_after;
};

/* Reads the section amp; false after reporting. */
bool cr_loss_scale_section(struct cr_config *config,
                           struct cr_loss_scale_opts *to);
/* `loss_scale` is that of the optimizer, at `pos`: it must be that of a
 * trusting scaler, else 1. False after reporting. */
bool cr_loss_scale_read(struct cr_config *config, struct cr_pos pos,
                        const char *optimizer, double loss_scale,
                        struct cr_loss_scale_opts *to);
/* After an update, or one that was left out. */
void cr_loss_scale_adjust(const struct cr_loss_scale_rule *rule,
                          struct cr_loss_scale *scale, bool finite);

#endif
