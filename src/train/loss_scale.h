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

/* Initial value and updates of a scale, from the options of a scaler. */
struct cr_loss_scale_rule {
    double start;
    double factor;  /* multiplies after `window` finite updates, divides */
    int64_t window; /* after one that is not; 0: constant */
    bool unchecked; /* gradients are not tested; the optimizer divides */
};

struct cr_scaler {
    struct cr_descriptor about;
    void (*rule)(const void *opts, struct cr_loss_scale_rule *to);
};

/* The current scale; part of the run's state. */
struct cr_loss_scale {
    double value;       /* 0: not started */
    int64_t n_finite;   /* consecutive finite updates */
    int64_t n_overflow; /* consecutive skipped updates */
    int64_t skipped;    /* all skipped updates */
};

/* The settings of a config. */
struct cr_loss_scale_opts {
    bool on; /* the loss is scaled */
    struct cr_loss_scale_rule rule;
    bool skip; /* skip overflows; if false they end the run */
    int64_t give_up_after;
};

/* Reads the loss scale from the section amp; false after reporting. */
bool cr_loss_scale_section(struct cr_config *config,
                           struct cr_loss_scale_opts *to);
/* The same, and checks `loss_scale` of the optimizer, at `pos`: it must equal
 * that of an unchecked scaler, and be 1 otherwise. False after reporting. */
bool cr_loss_scale_read(struct cr_config *config, struct cr_pos pos,
                        const char *optimizer, double loss_scale,
                        struct cr_loss_scale_opts *to);
/* Adjusts the scale after an update (finite) or a skipped one. */
void cr_loss_scale_adjust(const struct cr_loss_scale_rule *rule,
                          struct cr_loss_scale *scale, bool finite);

#endif
