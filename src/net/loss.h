/*
 * Settings that losses (cells) hand to their ops.
 */
#ifndef CR_NET_LOSS_H
#define CR_NET_LOSS_H

#include "conf/opt.h"

enum cr_reduction { CR_MEAN, CR_SUM, CR_NONE };

struct cr_cross_entropy {
    struct cr_reals weight;     /* per class; n == 0: all 1 */
    int64_t ignore_index;
    int reduction;              /* enum cr_reduction */
    double label_smoothing;
    int64_t axis;               /* of the classes */
};

struct cr_mse {
    int reduction;
};

#endif
